/// Which cases catch which faults: the kit's proof of itself.
public struct KillTable: Sendable {
    public struct Row: Sendable {
        public let fault: StoreFault
        /// The ids of the cases that a store with the fault fails.
        public let caughtBy: [String]
    }

    public let rows: [Row]
    /// The ids of the cases that the store without a fault fails, which none should be.
    public let falseAlarms: [String]
    /// The ids of the cases that no fault fails: they do not count until one does.
    public let unproved: [String]

    /// Runs every case on every faulty store, and on the one without a fault.
    public init(faults: [StoreFault] = StoreFault.all, cases: [ConformanceCase] = ConformanceCase.all) {
        func failing(on subject: ConformanceSubject) -> [String] {
            cases.compactMap { conformanceCase in
                if case .failed = conformanceCase.outcome(on: subject) { conformanceCase.id } else { nil }
            }
        }
        // A case that fails on the correct store says nothing about a faulty one.
        let alarms = failing(on: .reference)
        rows = faults.map { fault in
            Row(fault: fault, caughtBy: failing(on: fault.subject).filter { !alarms.contains($0) })
        }
        falseAlarms = alarms
        let proved = Set(rows.flatMap(\.caughtBy))
        unproved = cases.map(\.id).filter { !proved.contains($0) }
    }

    /// The faults that no case catches.
    public var uncaught: [StoreFault] { rows.filter(\.caughtBy.isEmpty).map(\.fault) }

    /// The table as it stands in the documentation.
    public var markdown: String {
        var lines = ["| a store that … | is caught by |", "|---|---|"]
        lines += rows.map { row in
            let shown = row.caughtBy.prefix(6).map { "`\($0)`" }.joined(separator: ", ")
            let more = row.caughtBy.count > 6 ? " and \(row.caughtBy.count - 6) more" : ""
            return "| \(row.fault.summary) | \(shown.isEmpty ? "nothing" : shown + more) |"
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
