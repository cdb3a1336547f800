import Foundation

/// One of the built sample programs, run as a process of its own.
struct SampleProgram: Sendable {
    let name: String

    static let fileCatalog = SampleProgram(name: "file-catalog")
    static let musicLibrary = SampleProgram(name: "music-library")
    static let trips = SampleProgram(name: "trips")

    /// What a process left behind.
    struct Outcome: Sendable {
        let status: Int32
        let output: String
        let errors: String
    }

    /// Runs the program to its end.
    ///
    /// Output goes through files, so that no amount of it blocks the process.
    ///
    /// - Parameters:
    ///   - dataFolder: the folder that the program takes for the user's data folder.
    ///   - workingFolder: the folder in which it runs; nil for that of the tests.
    /// - Throws: an error of Foundation if the program is not built or cannot be started.
    func run(_ arguments: String..., dataFolder: URL? = nil) async throws -> Outcome {
        try await run(arguments, dataFolder: dataFolder)
    }

    func run(_ arguments: [String], dataFolder: URL? = nil, workingFolder: URL? = nil) async throws -> Outcome {
        let scratch = try Sandbox()
        let (output, errors) = (try scratch.write("", to: "output"), try scratch.write("", to: "errors"))
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        if let workingFolder { process.currentDirectoryURL = workingFolder }
        var environment = ProcessInfo.processInfo.environment
        environment["XDG_DATA_HOME"] = (dataFolder ?? scratch.folder).path
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        return Outcome(
            status: process.terminationStatus,
            output: String(decoding: try Data(contentsOf: output), as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self))
    }

    /// The program beside the running test bundle, where the package manager puts both.
    var executable: URL {
        let folders = [
            Bundle.main.executableURL?.deletingLastPathComponent(),
            URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
            Package.root.appending(path: ".build/debug"),
        ]
        let candidates = folders.compactMap { $0?.appending(path: name) }
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) } ?? candidates[0]
    }
}

/// The package that this test belongs to.
enum Package {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}
