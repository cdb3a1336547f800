import MortiseEngine
import Testing
import MortiseTestSupport

/// The double must answer like the operating system, or tests on it prove nothing.
@Suite struct FileSystemAgreementTests {
    @Test func theDoubleAnswersEveryStepLikeTheOperatingSystem() throws {
        let simulated = SimulatedFileSystem()
        try simulated.createDirectory("/t", permissions: 0o700)
        try simulated.install(.fifo, at: "/t/fifo")
        try simulated.installLink(to: "missing", at: "/t/dangling")
        try simulated.installLink(to: "loop", at: "/t/loop")
        try simulated.installLink(to: "sub/file", at: "/t/link")
        let expected = try withTemporaryDirectory { directory in
            try makeFIFO(directory + "/fifo")
            try link(directory + "/dangling", to: "missing")
            try link(directory + "/loop", to: "loop")
            try link(directory + "/link", to: "sub/file")
            return answers(of: POSIXFileSystem(), in: directory)
        }
        let given = answers(of: simulated, in: "/t")
        #expect(given.count == expected.count && given.count > 50)
        for (given, expected) in zip(given, expected) { #expect(given == expected) }
    }

    private func answers(of fileSystem: any FileSystem, in root: String) -> [String] {
        var answers: [String] = []
        func step(_ name: String, _ body: () throws -> String) {
            do { answers.append("\(name): \(try body())") } catch let error as FileError {
                answers.append("\(name): \(error.reason) on \(error.operation)")
            } catch { answers.append("\(name): \(error)") }
        }
        func act(_ name: String, _ body: () throws -> Void) {
            step(name) {
                try body()
                return "done"
            }
        }
        func kind(_ path: String, _ follow: Bool) {
            step("info \(path) \(follow)") {
                let info = try fileSystem.info(root + path, followingLinks: follow)
                return "\(info.kind) \(info.kind == .regular ? info.size : 0)"
            }
        }
        func open(_ path: String, _ mode: OpenMode, _ body: (any OpenFile) throws -> String = { _ in "open" }) {
            step("open \(path) \(mode)") { try body(fileSystem.open(root + path, mode: mode)) }
        }
        func list(_ path: String) { step("list \(path)") { "\(try fileSystem.list(root + path).sorted())" } }
        func rename(_ source: String, _ target: String) {
            act("rename \(source) \(target)") { try fileSystem.rename(root + source, to: root + target) }
        }
        func unlink(_ path: String) {
            act("unlink \(path)") { try fileSystem.unlink(root + path) }
        }

        open("/sub/file", .create(permissions: 0o600))
        act("mkdir") { try fileSystem.createDirectory(root + "/sub", permissions: 0o700) }
        act("mkdir again") { try fileSystem.createDirectory(root + "/sub", permissions: 0o700) }
        act("mkdir deep") { try fileSystem.createDirectory(root + "/x/y", permissions: 0o700) }
        kind("/link", true)
        kind("/link", false)
        open("/link", .read)
        open("/link", .createExclusive(permissions: 0o600))
        open("/link", .create(permissions: 0o600)) { file in
            try file.writeAll([1, 2, 3], at: 2)
            let beyond = try file.readAll(count: 9, at: 7)
            return "\(try file.readAll(count: 9, at: 0)) \(beyond) \(try file.info().size)"
        }
        open("/link", .readWrite) { file in
            try file.truncate(to: 7)
            return "\(try file.readAll(count: 9, at: 0))"
        }
        open("/link", .readWrite) { file in
            try file.truncate(to: -1); return ""
        }
        open("/sub/file", .read) { file in
            try file.setPermissions(0o640); return "\(try file.info().permissions)"
        }
        open("/sub/file/x", .read)
        open("/sub/./../sub/file", .read)
        open("/loop", .read)
        open("/loop/x", .create(permissions: 0o600))
        open("/fifo", .read)
        open("/fifo", .readWrite)
        open("/sub", .read)
        open("/sub", .readWrite)
        open("/sub", .createExclusive(permissions: 0o600))
        open("/dangling", .read)
        open("/dangling", .createExclusive(permissions: 0o600))
        open("/" + String(repeating: "n", count: 300), .create(permissions: 0o600))
        open("/a\0b", .read)
        kind("/dangling", true)
        kind("/dangling", false)
        kind("/loop", true)
        kind("/nothing", true)
        step("readlink") { try fileSystem.readLink(root + "/link") }
        step("readlink file") { try fileSystem.readLink(root + "/sub/file") }
        step("readlink nothing") { try fileSystem.readLink(root + "/nothing") }
        list("")
        list("/sub/file")
        list("/nothing")
        open("/b", .create(permissions: 0o600))
        rename("/sub/file", "/b")
        rename("/sub/file", "/b")
        rename("/b", "/nothing/b")
        rename("/b", "/sub")
        rename("/b", "/b")
        kind("/b", true)
        unlink("/nothing")
        unlink("/sub")
        unlink("/link")
        act("sync directory") { try fileSystem.syncDirectory(root) }
        act("sync no directory") { try fileSystem.syncDirectory(root + "/b") }
        act("sync nothing") { try fileSystem.syncDirectory(root + "/nothing") }
        open("/b", .read) { file in
            try fileSystem.unlink(root + "/b")
            return "\(try file.readAll(count: 9, at: 0))"
        }
        open("/c", .create(permissions: 0o600)) { first in
            let second = try fileSystem.open(root + "/c", mode: .read)
            let locks = [
                try first.tryLock(.shared), try second.tryLock(.shared), try first.tryLock(.exclusive),
            ]
            try second.close()
            return "\(locks) \(try first.tryLock(.exclusive)) \(try first.tryLock(.exclusive))"
        }
        list("")
        return answers
    }
}
