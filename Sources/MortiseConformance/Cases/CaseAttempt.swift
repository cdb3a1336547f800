import Dispatch
import Foundation
import MortiseCore
import Synchronization

/// One run of a case, on its own thread, so that a store that never answers is a failure and does not end the run.
final class CaseAttempt: Sendable {
    private let conformanceCase: ConformanceCase
    private let subject: ConformanceSubject
    private let shrinks: Bool
    private let log: OperationLog
    private let found = Mutex<ConformanceCase.Outcome?>(nil)
    private let ended = DispatchSemaphore(value: 0)
    /// What threads of processes have from the system at first; predicates are evaluated recursively.
    private static let stackSize = 8 << 20

    /// Makes a run. `noting` is called with each operation before it is done.
    init(
        _ conformanceCase: ConformanceCase, on subject: ConformanceSubject, shrinks: Bool,
        noting: (@Sendable (String) -> Void)? = nil
    ) {
        self.conformanceCase = conformanceCase
        self.subject = subject
        self.shrinks = shrinks
        log = OperationLog(noting)
    }

    /// Whether the time limit has passed and the case is still at work.
    var isStuck: Bool { found.withLock { $0 } == nil }

    /// Runs the case, once.
    func outcome() -> ConformanceCase.Outcome {
        let thread = Thread { [self] in
            let outcome = run()
            found.withLock { $0 = outcome }
            ended.signal()
        }
        thread.stackSize = Self.stackSize
        thread.start()
        let (seconds, attoseconds) = subject.timeLimit.components
        _ = ended.wait(timeout: .now() + Double(seconds) + Double(attoseconds) / 1e18)
        return found.withLock { $0 } ?? .failed(standstill)
    }

    private var standstill: ConformanceFailure {
        ConformanceFailure(
            of: conformanceCase, expected: "an end within \(subject.timeLimit)",
            found: "no end; the call after the last of these operations has not returned",
            operations: log.shown,
            hint: "A lock is taken twice, or is not released when an error is thrown. The storage is left as it is.")
    }

    private func run() -> ConformanceCase.Outcome {
        let storage: SubjectStorage
        do {
            storage = try subject.storage()
        } catch {
            return .failed(
                ConformanceFailure(
                    of: conformanceCase, expected: "a fresh storage",
                    found: "an error from the subject's storage closure: \(error)",
                    hint: "The subject could not be set up; the store itself was not tested."))
        }
        let context = CaseContext(
            case: conformanceCase, subject: subject, storage: storage, shrinks: shrinks, log: log)
        var failure: ConformanceFailure?
        var untried: Untried?
        do {
            try conformanceCase.run(in: context)
        } catch let error as ConformanceFailure {
            failure = error
        } catch let error as Untried {
            untried = error
        } catch {
            failure = context.failure(expected: "no error", found: "\(type(of: error)): \(error)")
        }
        do {
            try context.finish()
        } catch {
            failure =
                failure
                ?? context.failure(
                    expected: "that the storage can be closed and removed", found: "\(type(of: error)): \(error)")
        }
        if let failure { return .failed(failure) }
        return untried.map { .untried($0.reason) } ?? .passed
    }
}

/// What was done to a store, in order. It can be read while the case is still at work.
final class OperationLog: Sendable {
    private let operations = Mutex<[String]>([])
    private let noting: (@Sendable (String) -> Void)?
    /// Only the last operations are shown: the first ones of a long case say little.
    private static let shownOperations = 24

    init(_ noting: (@Sendable (String) -> Void)? = nil) { self.noting = noting }

    func note(_ operation: String) {
        operations.withLock { $0.append(operation) }
        noting?(operation)
    }

    var shown: [String] { Self.shown(operations.withLock { $0 }) }

    static func shown(_ all: [String]) -> [String] {
        if all.count <= Self.shownOperations { return all }
        return ["… \(all.count - Self.shownOperations) operations"] + all.suffix(Self.shownOperations)
    }
}

/// What a case throws that cannot be tried on this subject or in this process.
struct Untried: Error {
    let reason: String
}
