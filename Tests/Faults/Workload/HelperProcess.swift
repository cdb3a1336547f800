public import Foundation

/// The fault helper as a process of its own, on request under strace.
public struct HelperProcess {
    /// What it said before it ended.
    public let lines: [String]
    public let status: Int32
    public let wasKilled: Bool

    /// Where strace is; nil where it is not.
    public static let strace = ["/usr/bin/strace", "/bin/strace", "/usr/local/bin/strace"]
        .first(where: FileManager.default.isExecutableFile)

    public static let program = program(named: "fault-helper")

    /// A program beside the test bundle, where the package manager puts both.
    public static func program(named name: String) -> URL? {
        let folders = [
            Bundle.main.executableURL?.deletingLastPathComponent(),
            URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
        ]
        return folders.compactMap { $0?.appending(path: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// Runs it to its end.
    ///
    /// - Parameter injection: What strace does to it, such as `fsync:error=EIO:when=2`.
    /// - Throws: what Foundation throws if it cannot be started.
    public init(_ arguments: String..., injecting injection: String? = nil, before: [String] = []) throws {
        let process = try Self.process(arguments, injecting: injection, before: before)
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        lines = String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
        status = process.terminationStatus
        wasKilled = process.terminationReason == .uncaughtSignal
    }

    /// How many calls of a kind its busiest thread makes; strace counts by thread.
    public static func calls(_ arguments: String..., of call: String) throws -> Int {
        let log = FileManager.default.temporaryDirectory.appending(path: "mortise-calls-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: log) }
        let process = try process(
            arguments, before: [strace ?? "strace", "-f", "-qq", "-e", "trace=\(call)", "-o", log.path])
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        var counts: [Substring: Int] = [:]
        for line in try String(contentsOf: log, encoding: .utf8).split(separator: "\n")
        where line.contains(call + "(") {
            counts[line.prefix { $0 != " " }, default: 0] += 1
        }
        return counts.values.max() ?? 0
    }

    public static func process(
        _ arguments: [String], injecting injection: String? = nil, before: [String] = []
    ) throws -> Process {
        guard let program else { throw CocoaError(.fileNoSuchFile) }
        var command = before + [program.path] + arguments
        if let injection, let strace {
            // Without --seccomp-bpf, with which strace 6.1 injects no signals.
            let call = String(injection.prefix { $0 != ":" })
            command =
                [strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e", "inject=\(injection)"] + command
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        return process
    }

    /// The last state that it was told is saved.
    public var acknowledged: Int? { last("acknowledged ") }
    /// The last state that it tried to save.
    public var tried: Int? { last("trying ") }
    public var isClosed: Bool { lines.last == "closed" }
    /// Whether a save, or the opening, failed.
    public var wasRefused: Bool { lines.contains { $0.hasPrefix("refused") || $0.hasPrefix("error") } }

    private func last(_ word: String) -> Int? {
        lines.last { $0.hasPrefix(word) }.flatMap { Int($0.dropFirst(word.count)) }
    }
}
