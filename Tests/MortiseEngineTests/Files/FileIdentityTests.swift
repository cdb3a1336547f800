import MortiseEngine
import Testing
import MortiseTestSupport

@Suite struct FileIdentityTests {
    @Test func eachChangeBehindTheBackIsNamed() throws {
        let fileSystem = POSIXFileSystem()
        try withTemporaryDirectory { directory in
            let path = directory + "/store"
            try fileSystem.put([1, 2, 3], at: path)
            let identity = try fileSystem.info(path, followingLinks: true).identity
            #expect(try identity.change(at: path, in: fileSystem) == nil)

            try fileSystem.rename(path, to: directory + "/kept")
            #expect(try identity.change(at: path, in: fileSystem) == .deleted)
            #expect(try identity.change(at: directory + "/kept", in: fileSystem) == nil)

            try fileSystem.put([1, 2, 3], at: path)
            #expect(try identity.change(at: path, in: fileSystem) == .replaced)

            let file = try fileSystem.open(directory + "/kept", mode: .readWrite)
            try file.truncate(to: 1)
            #expect(
                try identity.change(at: directory + "/kept", in: fileSystem) == .truncated(from: 3, to: 1))
            try file.truncate(to: 9)
            #expect(try identity.change(at: directory + "/kept", in: fileSystem) == .extended(from: 3, to: 9))
        }
    }

    @Test func anEditOfTheSameLengthShowsInTheTime() throws {
        let fileSystem = SimulatedFileSystem()
        try fileSystem.install([1, 2, 3], at: "/store")
        let identity = try fileSystem.info("/store", followingLinks: true).identity
        let file = try fileSystem.open("/store", mode: .readWrite)
        try file.writeAll([9], at: 1)
        #expect(try identity.change(at: "/store", in: fileSystem) == .modified)
    }
}
