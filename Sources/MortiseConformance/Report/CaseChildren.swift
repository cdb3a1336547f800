import Dispatch
import Foundation
import MortiseCore
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Runs cases in processes of their own, one after the other, so that a store which traps or hangs costs one case.
struct CaseChildren {
    /// What a child tells, one line each.
    enum Message: Codable {
        case claims([StoreCapability])
        case began(caseID: String)
        case did(operation: String)
        case ended(ConformanceReport.Result)
    }

    let subject: ConformanceSubject
    let program: URL
    let cases: [ConformanceCase]
    var endsAtFailure = false

    static let childArgument = "--run-cases"
    /// Among the child's cases: the first failure ends it.
    private static let endingArgument = "--until-failure"
    /// How many seconds more than a case a child may take until it says something.
    private static let patience = 30.0

    // MARK: The child

    /// Runs what the arguments name: the time limit of a case in seconds, then the cases. The result is the exit status.
    static func child(_ subject: ConformanceSubject, _ arguments: [String]) -> Int32 {
        guard let seconds = arguments.first.flatMap(Double.init) else { return 2 }
        let limited = subject.limitingCases(to: .seconds(seconds))
        send(.claims(limited.capabilities.all.sorted()))
        let run = ConformanceRun(limited, only: [])
        for conformanceCase in arguments.dropFirst().compactMap(ConformanceCase.named) {
            send(.began(caseID: conformanceCase.id))
            let attempt = CaseAttempt(conformanceCase, on: limited, shrinks: true) { send(.did(operation: $0)) }
            let result = run.result(of: attempt, conformanceCase)
            send(.ended(result))
            if result.status == .failed, arguments.contains(endingArgument) { exit(0) }
            // Its thread would be in the way of the others.
            if attempt.isStuck { exit(0) }
        }
        return 0
    }

    private static func send(_ message: Message) {
        guard let data = try? JSONEncoder().encode(message) else { return }
        ChildOutput.tell(String(decoding: data, as: UTF8.self))
    }

    #if os(Linux) || os(macOS)

    // MARK: The parent

    /// The subject with what its store says of itself, asked in another process: opening it may end that.
    static func askingClaims(of subject: ConformanceSubject, _ program: URL) -> ConformanceSubject {
        var claims: StoreCapabilities = []
        _ = try? Self(subject: subject, program: program, cases: []).runChild([]) { message in
            if case .claims(let found) = message { claims = StoreCapabilities(found) }
        }
        return subject.claiming(claims)
    }

    /// - Parameter take: is called with each result, in the order of the cases.
    func run(_ take: (ConformanceReport.Result) -> Void) {
        var rest = cases
        var hasFailed = false
        func end(_ result: ConformanceReport.Result) {
            take(result)
            if result.status == .failed { hasFailed = true }
        }
        while !rest.isEmpty, !(endsAtFailure && hasFailed) {
            let count = rest.count
            var current: ConformanceCase?
            var operations: [String] = []
            var ending: String
            do {
                ending = try runChild(rest.map(\.id)) { message in
                    switch message {
                    case .claims: break
                    case .began(let id): (current, operations) = (ConformanceCase.named(id), [])
                    case .did(let operation): operations.append(operation)
                    case .ended(let result):
                        end(result)
                        rest.removeAll { $0.id == result.caseID }
                        current = nil
                    }
                }
            } catch {
                ending = "\(program.path) cannot be started: \(error)"
            }
            // A child ends itself after a case that hangs, and leaves the others to the next one.
            guard let failing = current ?? (rest.count == count ? rest.first : nil) else { continue }
            let failure = ConformanceFailure(
                of: failing, expected: "a result", found: ending, operations: OperationLog.shown(operations),
                hint:
                    "The store ended the process: an index out of range, a failed precondition or a forced unwrap. What the "
                    + "process printed last names the line.")
            end(ConformanceReport.Result(failing, on: subject, .failed(failure), seconds: 0))
            rest.removeAll { $0.id == failing.id }
        }
    }

    /// - Returns: how the child ended.
    private func runChild(_ ids: [String], _ handle: (Message) -> Void) throws -> String {
        let files = FileManager.default
        // What a dead child has left there goes with it.
        let folder = files.temporaryDirectory.appending(path: "conformance-cases-\(UUID().uuidString)")
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? files.removeItem(at: folder) }
        let (seconds, attoseconds) = subject.timeLimit.components
        let limit = Double(seconds) + Double(attoseconds) / 1e18
        let process = Process()
        let output = Pipe()
        process.executableURL = program
        process.arguments =
            [Self.childArgument, subject.name, "\(limit)"] + (endsAtFailure ? [Self.endingArgument] : []) + ids
        process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path]) { $1 }
        process.standardOutput = output
        process.standardError = FileHandle.standardError
        try process.run()
        // What hangs so that even its own clock stands still.
        let patience = limit + Self.patience
        let lastWord = Mutex(ContinuousClock.now)
        let isLate = Atomic(false)
        let watch = DispatchSource.makeTimerSource()
        watch.schedule(deadline: .now() + 1, repeating: 1)
        watch.setEventHandler { [identifier = process.processIdentifier] in
            guard lastWord.withLock({ $0.duration(to: .now) > .seconds(patience) }) else { return }
            isLate.store(true, ordering: .relaxed)
            kill(identifier, SIGKILL)
        }
        watch.activate()
        defer { watch.cancel() }
        var text = Data()
        let handleOfOutput = output.fileHandleForReading
        while case let data = handleOfOutput.availableData, !data.isEmpty {
            lastWord.withLock { $0 = .now }
            text += data
            while let end = text.firstIndex(of: UInt8(ascii: "\n")) {
                let line = text[text.startIndex..<end]
                text.removeSubrange(text.startIndex...end)
                if let text = ChildOutput.message(in: line),
                    let message = try? JSONDecoder().decode(Message.self, from: Data(text.utf8))
                {
                    handle(message)
                }
            }
        }
        process.waitUntilExit()
        if isLate.load(ordering: .relaxed) { return "no word of its process for \(Int(patience)) seconds" }
        return ProcessEnding.text(process)
    }
    #else
    static func askingClaims(of subject: ConformanceSubject, _ program: URL) -> ConformanceSubject { subject }

    /// This system lets no program start another.
    func run(_ take: (ConformanceReport.Result) -> Void) {
        let run = ConformanceRun(subject, only: [])
        for conformanceCase in cases {
            take(run.result(of: CaseAttempt(conformanceCase, on: subject, shrinks: true), conformanceCase))
        }
    }
    #endif
}

#if os(Linux) || os(macOS)
enum ProcessEnding {
    /// Says how a process ended.
    static func text(_ process: Process) -> String {
        let status = process.terminationStatus
        if process.terminationReason != .uncaughtSignal { return "the end of the process with status \(status)" }
        let name =
            switch status {
            case SIGILL, SIGTRAP: ", a trap"
            case SIGABRT: ", an abort"
            case SIGSEGV, SIGBUS: ", an access to memory that is not there"
            default: ""
            }
        return "the end of the process with signal \(status)\(name)"
    }
}
#endif
