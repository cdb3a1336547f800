import Foundation

/// The built tool, run as a process of its own.
struct ToolRun: Sendable {
    let status: Int32
    let output: String
    let errors: String
    /// The most memory that the process had, in bytes, as far as was seen; nil where the system does not tell.
    let peakMemory: Int?

    /// The lines of the standard error.
    var errorLines: [String] { errors.split(separator: "\n").map(String.init) }

    /// Runs the tool to its end.
    ///
    /// Output goes through files, so that no amount of it blocks the process.
    /// - Parameters:
    ///   - input: what the tool reads; nothing by default.
    ///   - body: is handed the process while it runs, again and again, with what it has printed as errors and as output.
    /// - Throws: an error of Foundation if the tool is not built or cannot be started; what the body throws.
    init(
        _ arguments: [String], in folder: ToolFolder? = nil, environment: [String: String] = [:], input: String? = nil,
        while body: (_ process: Process, _ errors: String, _ output: String) throws -> Void = { _, _, _ in }
    ) throws {
        let scratch = try ToolFolder()
        let (output, errors) = (scratch.path("output"), scratch.path("errors"))
        for path in [output, errors] { try Data().write(to: URL(fileURLWithPath: path)) }
        let process = Process()
        process.executableURL = try Self.executable()
        process.arguments = arguments
        if let folder { process.currentDirectoryURL = folder.url }
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        if let input {
            try Data(input.utf8).write(to: URL(fileURLWithPath: scratch.path("input")))
            process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: scratch.path("input")))
        }
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: errors))
        try process.run()
        var peak: Int?
        while process.isRunning {
            if let now = Self.memory(of: process.processIdentifier) { peak = max(peak ?? 0, now) }
            let printed = [errors, output].map { (try? String(contentsOfFile: $0, encoding: .utf8)) ?? "" }
            try body(process, printed[0], printed[1])
            // Its memory and its output are looked at now and then: nothing announces them.
            Thread.sleep(forTimeInterval: 0.005)
        }
        process.waitUntilExit()
        status = process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus
        self.output = try String(contentsOfFile: output, encoding: .utf8)
        self.errors = try String(contentsOfFile: errors, encoding: .utf8)
        peakMemory = peak
    }

    init(_ arguments: String...) throws { try self.init(arguments) }

    /// The highest resident size so far, which Linux tells.
    private static func memory(of process: Int32) -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
        else { return nil }
        return Int(line.filter(\.isNumber)).map { $0 << 10 }
    }

    /// The tool that `MORTISE_TOOL` names, such as one of a release build; else the one beside the running test bundle,
    /// where the package manager puts both.
    static func executable() throws -> URL {
        if let path = ProcessInfo.processInfo.environment["MORTISE_TOOL"], !path.isEmpty {
            return URL(fileURLWithPath: path)
        }
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let folders = [
            Bundle.main.executableURL?.deletingLastPathComponent(),
            URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
            package.appending(path: ".build/debug"),
        ]
        let candidates = folders.compactMap { $0?.appending(path: "mortise") }
        guard let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
            throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: "mortise"])
        }
        return found
    }
}

/// A temporary folder that goes with its last reference.
final class ToolFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "mortise-tool-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name).path }

    /// The bytes of every file but the lock files, which say nothing.
    func contents() throws -> [String: Data] {
        var found: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: url.path) where !name.hasSuffix(".lock") {
            found[name] = try Data(contentsOf: url.appending(path: name))
        }
        return found
    }

    /// Makes a store of trips and gives its URL: `json:` for a name that ends so, else `log:`.
    func trips(_ name: String, _ count: Int = 40) throws -> String {
        try TripStore.make(path(name), trips: count)
        return storeURL(name)
    }

    func storeURL(_ name: String) -> String { (name.hasSuffix(".json") ? "json:" : "log:") + path(name) }
}
