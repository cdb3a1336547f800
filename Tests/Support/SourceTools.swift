import Foundation
internal import Synchronization

/// The program that tells tests about source text, one for all tests of a run. It is built for the machine that builds, as
/// macros are, so that swift-syntax is compiled once.
public enum SourceTools {
    /// Asks the program. Questions wait for each other.
    /// - Parameters:
    ///   - verb: `expand` or `undocumented`.
    ///   - input: what it reads as JSON.
    /// - Returns: what it writes as JSON.
    /// - Throws: an error of Foundation if the program is not built, or cannot be started or understood.
    public static func answer<Answer: Decodable>(to verb: String, _ input: some Encodable) throws -> Answer {
        let question = try Data("\(verb) ".utf8) + JSONEncoder().encode(input) + Data("\n".utf8)
        let answer = try running.withLock { process in
            if process == nil { process = try RunningTool() }
            do {
                return try process?.answer(to: question)
            } catch {
                // It has ended: to write to it would end this process too. The next question starts another one.
                process = nil
                throw error
            }
        }
        return try JSONDecoder().decode(Answer.self, from: answer ?? Data())
    }

    private static let running = Mutex<RunningTool?>(nil)

    fileprivate static func program() throws -> URL {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let folders = [
            Bundle.main.executableURL?.deletingLastPathComponent(),
            URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
            package.appending(path: ".build/debug"),
        ]
        let candidates = folders.compactMap { $0?.appending(path: "SourceTools-tool") }
        guard let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
            throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: "SourceTools-tool"])
        }
        return found
    }
}

/// The started program. It ends when its input does, which is with this process.
private struct RunningTool {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var rest = Data()

    init() throws {
        process.executableURL = try SourceTools.program()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// The line that answers a line.
    mutating func answer(to question: Data) throws -> Data {
        try input.fileHandleForWriting.write(contentsOf: question)
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { rest = Data(rest[rest.index(after: end)...]) }
                return Data(rest[..<end])
            }
            let more = output.fileHandleForReading.availableData
            // It has ended, and said why on the standard error.
            if more.isEmpty { throw CocoaError(.fileReadCorruptFile) }
            rest += more
        }
    }
}
