import Foundation

/// A run of a program that was built with the tests, in an empty folder of its own.
struct SampleRun {
    let status: Int32
    let output: String
    /// The names of the files that it left behind, sorted.
    let files: [String]

    /// Runs the program to its end. A second run with the same `folder` finds what the first one left.
    ///
    /// - Throws: what Foundation throws if the program is not built or the folder cannot be made.
    init(of program: String, in folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let pipe = Pipe()
        let process = Process()
        process.executableURL = try Self.executable(program)
        process.currentDirectoryURL = folder
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        status = process.terminationStatus
        output = String(decoding: data, as: UTF8.self)
        files = try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false)).sorted()
    }

    static func temporaryFolder() -> URL {
        FileManager.default.temporaryDirectory.appending(path: "mortise-readme-\(UUID().uuidString)")
    }

    private static func executable(_ program: String) throws -> URL {
        let folders = [
            Bundle.main.executableURL?.deletingLastPathComponent(),
            URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
            Document.package.appending(path: ".build/debug"),
        ]
        let candidates = folders.compactMap { $0?.appending(path: program) }
        guard let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
            throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: program])
        }
        return found
    }
}
