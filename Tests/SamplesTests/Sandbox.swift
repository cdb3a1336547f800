import Foundation

/// A temporary folder that goes with its last reference.
final class Sandbox: Sendable {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "samples-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// The path of an entry of the folder.
    func path(_ name: String) -> String { folder.appending(path: name).path }

    /// Writes `text` to the file called `name`, making the folders on the way, and returns where it is.
    @discardableResult
    func write(_ text: String, to name: String) throws -> URL {
        let file = folder.appending(path: name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        return file
    }

    func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(
            at: folder.appending(path: name), withIntermediateDirectories: true)
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(at: folder.appending(path: name))
    }

    /// The bytes of an entry, or nil if there is none.
    func contents(_ name: String) -> Data? { try? Data(contentsOf: folder.appending(path: name)) }

    /// Runs a shell in the folder, for what Foundation cannot do.
    ///
    /// - Throws: an error of Foundation, also if the script fails.
    func runShell(_ script: String) throws {
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-ec", script]
        shell.currentDirectoryURL = folder
        try shell.run()
        shell.waitUntilExit()
        if shell.terminationStatus != 0 { throw CocoaError(.featureUnsupported) }
    }

    /// All entries of the folder, whatever is in them, sorted.
    func entries() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }
}
