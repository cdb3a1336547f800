#if Mutants
import Dispatch
import Foundation
import Synchronization

/// Runs the kit on a program with one of its mutants switched on.
struct MutantRun: Sendable {
    /// What came of a mutant.
    enum Outcome: Sendable {
        /// The case that failed, or the kills that left what they should not.
        case caught(by: String)
        case survived
        /// The run did not end within its limit.
        case endless
    }

    let program: URL
    /// For storages and logs.
    let folder: URL
    /// Cases that fail without a mutant. They tell nothing of one.
    var alarms: Set<String> = []

    /// A case that takes longer counts as hanging.
    private static let secondsOfCase = 300
    /// A whole run, which takes a few minutes on a correct store.
    private static let secondsOfRun = 3600.0

    /// In place of the status of a run that had to be ended.
    private static let endless: Int32 = -1

    /// The processes that a process has started, and those that they have; none where the system does not tell.
    private static func descendants(of identifier: Int32) -> [Int32] {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }) ?? []
        var children: [Int32: [Int32]] = [:]
        for number in numbers {
            // The name, in parentheses, may hold anything; then come the state and the parent.
            guard let text = try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8),
                let rest = text.lastIndex(of: ")").map({ text[text.index(after: $0)...] }),
                let parent = rest.split(separator: " ").dropFirst().first.flatMap({ Int32($0) })
            else { continue }
            children[parent, default: []].append(number)
        }
        var found: [Int32] = []
        var rest = [identifier]
        while let next = rest.popLast() {
            let own = children[next] ?? []
            found += own
            rest += own
        }
        return found
    }

    /// Runs the kit without a mutant, or with one until its first failure.
    func output(_ mutant: Int?, arguments: [String]) throws -> (status: Int32, text: String) {
        let files = FileManager.default
        let storages = folder.appending(path: "storages-\(mutant ?? 0)")
        let log = folder.appending(path: "mutant-\(mutant ?? 0).log")
        try? files.removeItem(at: storages)
        try files.createDirectory(at: storages, withIntermediateDirectories: true)
        defer { try? files.removeItem(at: storages) }
        guard files.createFile(atPath: log.path, contents: nil) else {
            throw MutantError(description: "\(log.path) cannot be written.")
        }
        let process = Process()
        process.executableURL = program
        process.arguments = ["--time-limit", "\(Self.secondsOfCase)"] + arguments
        var environment = ProcessInfo.processInfo.environment
        environment["TMPDIR"] = storages.path
        environment["MORTISE_MUTANT"] = mutant.map { "\($0)" }
        process.environment = environment
        let handle = try FileHandle(forWritingTo: log)
        process.standardOutput = handle
        process.standardError = handle
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
        var isEndless = false
        if ended.wait(timeout: .now() + Self.secondsOfRun) == .timedOut {
            isEndless = true
            // Its own processes, too: one that hangs would work beside the next mutants.
            for identifier in [process.processIdentifier] + Self.descendants(of: process.processIdentifier) {
                kill(identifier, SIGKILL)
            }
            ended.wait()
        }
        return (
            isEndless ? Self.endless : process.terminationStatus,
            String(decoding: try Data(contentsOf: log), as: UTF8.self)
        )
    }

    func outcome(of mutant: Mutant) throws -> Outcome {
        let (status, text) = try output(mutant.number, arguments: ["--until-failure"] + chosen())
        if status == Self.endless { return .endless }
        if status == 0 { return .survived }
        let failed = text.split(separator: "\n").first { $0.hasPrefix("  ✗ ") }
        // A machine that has much else to do may be the reason.
        let remark = text.contains("no end; the call") ? ", which did not end" : ""
        return .caught(by: (failed.map { String($0.dropFirst(4)) } ?? "kills") + remark)
    }

    /// The options that leave out the alarms: nothing where there are none, and otherwise every other case by name.
    private func chosen() throws -> [String] {
        if alarms.isEmpty { return [] }
        let (_, list) = try MutantPackage.output([program.path, "--list"])
        let names = list.split(separator: "\n").filter { !$0.hasPrefix(" ") }.compactMap {
            $0.split(separator: " ").first
        }
        return names.map(String.init).filter { !alarms.contains($0) }.flatMap { ["--case", $0] } + ["--kills", "20"]
    }

    /// The outcomes of mutants, some at a time, in no order.
    func run(_ mutants: [Mutant], atOnce count: Int, _ take: @escaping @Sendable (Mutant, Outcome) -> Void) throws {
        let rest = Mutex(mutants[...])
        let errors = Mutex<[any Error]>([])
        DispatchQueue.concurrentPerform(iterations: count) { _ in
            while let mutant = rest.withLock({ $0.popFirst() }) {
                do {
                    take(mutant, try outcome(of: mutant))
                } catch {
                    errors.withLock { $0.append(error) }
                }
            }
        }
        if let error = errors.withLock({ $0.first }) { throw error }
    }
}
#endif
