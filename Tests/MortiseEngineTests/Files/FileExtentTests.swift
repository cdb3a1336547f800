import MortiseEngine
import Testing

struct FileExtentTests {
    /// What is looked at without times is what is looked at with them.
    @Test func anExtentIsAPartOfAllThatIsKnown() throws {
        try withTemporaryDirectory { directory in
            let files = POSIXFileSystem()
            let path = directory + "/file"
            let file = try files.open(path, mode: .create(permissions: 0o600))
            defer { try? file.close() }
            try file.writeAll([1, 2, 3], at: 4_094)
            try link(directory + "/link", to: "file")
            #expect(try file.extent() == file.info().extent)
            #expect(try file.extent().size == 4_097)
            for following in [true, false] {
                for name in ["/file", "/link", ""] {
                    let extent = try files.extent(directory + name, followingLinks: following)
                    #expect(try extent == files.info(directory + name, followingLinks: following).extent)
                }
            }
            #expect(try files.extent(directory + "/link", followingLinks: true).isSameFile(as: file.extent()))
            #expect(try !files.extent(directory + "/link", followingLinks: false).isSameFile(as: file.extent()))
        }
    }

    @Test func whatCannotBeLookedAtIsNamed() throws {
        try withTemporaryDirectory { directory in
            let files = POSIXFileSystem()
            for (path, reason) in [
                (directory + "/missing", FileError.Reason.notFound), ("", .invalidPath),
                (directory + "/a\0b", .invalidPath),
            ] {
                let error = #expect(throws: FileError.self) { try files.extent(path, followingLinks: true) }
                #expect(error?.reason == reason && error?.operation == .info && error?.path == path)
            }
            #expect(try files.extentIfPresent(directory + "/missing", followingLinks: false) == nil)
            let file = try files.open(directory + "/file", mode: .create(permissions: 0o600))
            try file.close()
            #expect(throws: FileError.self) { try file.extent() }
        }
    }

    @Test func beginningToWriteLeavesTheBytesAsTheyAre() throws {
        try withTemporaryDirectory { directory in
            let file = try POSIXFileSystem().open(directory + "/file", mode: .create(permissions: 0o600))
            try file.writeAll([UInt8](repeating: 7, count: 10_000), at: 100)
            try file.startWriting(100..<10_100)
            try file.startWriting(1 << 40..<1 << 41)
            try file.sync(.data)
            #expect(try file.readAll(count: 20_000, at: 100) == [UInt8](repeating: 7, count: 10_000))
            try file.close()
            let error = #expect(throws: FileError.self) { try file.startWriting(0..<1) }
            #expect(error?.reason == .closed && error?.operation == .startWriting)
        }
    }
}
