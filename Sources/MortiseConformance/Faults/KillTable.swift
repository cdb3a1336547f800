import Dispatch
public import Foundation
import Synchronization

/// Which cases catch which faults: the kit's proof of itself.
///
/// Large cases are run on the stores without a fault and on those whose fault is one of size, and on no others: on hundreds of
/// stores they would take hours, and find what smaller ones find too.
public struct KillTable: Sendable {
    /// A faulty store and the cases that it fails.
    public struct Row: Sendable {
        /// The fault.
        public let fault: StoreFault
        /// The ids of the cases that a store with the fault fails. Those that the fewest other faults fail come first:
        /// they describe the fault best.
        public let caughtBy: [String]
    }

    /// What the cases say of one store, as soon as all were run on it.
    public struct Trial: Sendable, CustomStringConvertible {
        /// The store's name: that of the fault, or of a store without one.
        public let store: String
        /// Nil for a store without a fault.
        public let fault: StoreFault?
        /// The ids of the cases that the store fails, in the order of the cases.
        public let failed: [String]
        /// How many stores were tried, this one included, and how many there are.
        public let progress: (tried: Int, of: Int)

        /// One line: how far the table is, the store, and by which cases it is caught.
        public var description: String {
            let shown = failed.prefix(3).joined(separator: ", ") + (failed.count > 3 ? ", …" : "")
            let result =
                switch (fault, failed.isEmpty) {
                case (nil, true): "passes every case, as it should"
                case (nil, false): "FALSE ALARM by \(failed.count): \(shown)"
                case (_, true): "NOT CAUGHT"
                case (_, false): "caught by \(failed.count): \(shown)"
                }
            return "\(progress.tried) of \(progress.of)  \(store)  \(result)"
        }
    }

    /// One row for each fault.
    public let rows: [Row]
    /// The cases that a store without a fault fails, as `store: case`; should be empty.
    public let falseAlarms: [String]
    /// The ids of the cases that no fault fails. They prove nothing until one does; should be empty.
    public let unproved: [String]
    private let cases: [ConformanceCase]

    /// Runs every case on every faulty store, and on those without a fault, on all cores at once. Large cases are left out of
    /// the stores whose faults are not of size.
    /// - Parameters:
    ///   - faults: the faulty stores.
    ///   - cases: the cases to run on each.
    ///   - program: the kit's program, for cases that need another process; nil leaves them untried.
    ///   - whenTried: called with the result of each store when its cases have ended, on one thread at a time.
    public init(
        faults: [StoreFault] = StoreFault.all, cases: [ConformanceCase] = ConformanceCase.all, program: URL? = nil,
        whenTried: @Sendable (Trial) -> Void = { _ in }
    ) {
        self.cases = cases
        let references = ConformanceSubject.references
        let subjects = (references + faults.map(\.subject)).map { $0.startingProcesses(of: program) }
        let failing = Mutex<[Int: [String]]>([:])
        DispatchQueue.concurrentPerform(iterations: subjects.count) { place in
            let takesLarge = place < references.count || faults[place - references.count].isOfSize
            let failed = cases.filter { takesLarge || !$0.isLarge }.compactMap { conformanceCase in
                if case .failed = conformanceCase.outcome(on: subjects[place], shrinks: false) {
                    conformanceCase.id
                } else {
                    nil
                }
            }
            failing.withLock { found in
                found[place] = failed
                let fault = place < references.count ? nil : faults[place - references.count]
                whenTried(
                    Trial(
                        store: fault?.id ?? references[place].name, fault: fault, failed: failed,
                        progress: (found.count, subjects.count)))
            }
        }
        let found = failing.withLock { $0 }
        // A case that fails on the correct store says nothing about a faulty one.
        let alarms = references.indices.flatMap { place in
            (found[place] ?? []).map { "\(references[place]): \($0)" }
        }
        let alarmed = Set(references.indices.flatMap { found[$0] ?? [] })
        let caught = faults.indices.map { (found[references.count + $0] ?? []).filter { !alarmed.contains($0) } }
        let order = Dictionary(uniqueKeysWithValues: cases.enumerated().map { ($0.element.id, $0.offset) })
        var breadth: [String: Int] = [:]
        for id in caught.joined() { breadth[id, default: 0] += 1 }
        func rank(_ id: String) -> (Int, Int) { (breadth[id] ?? 0, order[id] ?? 0) }
        rows = faults.enumerated().map { place, fault in
            Row(fault: fault, caughtBy: caught[place].sorted { rank($0) < rank($1) })
        }
        falseAlarms = alarms
        let proved = Set(rows.flatMap(\.caughtBy))
        unproved = cases.map(\.id).filter { !proved.contains($0) }
    }

    /// Whether a store with the fault fails the case: one cell of the table.
    public static func isCaught(
        _ fault: StoreFault, by conformanceCase: ConformanceCase, program: URL? = nil
    ) -> Bool {
        let subject = fault.subject.startingProcesses(of: program)
        return if case .failed = conformanceCase.outcome(on: subject, shrinks: false) { true } else { false }
    }

    /// The faults that no case catches.
    public var uncaught: [StoreFault] { rows.filter(\.caughtBy.isEmpty).map(\.fault) }

    /// The two tables of the documentation: each fault with the cases that catch it, and each case with a fault that
    /// few other cases catch.
    public var markdown: String {
        var lines = ["| a store that … | fault | is caught by, for one |", "|---|---|---|"]
        lines += rows.map { row in
            let shown = row.caughtBy.prefix(3).map { "`\($0)`" }.joined(separator: ", ")
            return "| \(row.fault.summary) | `\(row.fault.id)` | \(shown.isEmpty ? "nothing" : shown) |"
        }
        lines += ["", "| case | level | fails on |", "|---|---|---|"]
        let bySharpness = rows.sorted { $0.caughtBy.count < $1.caughtBy.count }
        lines += cases.map { conformanceCase in
            let killer = bySharpness.first { $0.caughtBy.contains(conformanceCase.id) }
            let name = killer.map { "`\($0.fault.id)`" } ?? "nothing"
            return "| `\(conformanceCase.id)` | \(conformanceCase.level) | \(name) |"
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
