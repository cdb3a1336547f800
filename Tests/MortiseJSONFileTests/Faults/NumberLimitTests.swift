import FaultWorkload
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing
import MortiseTestSupport

/// A store that has given out almost all numbers: what it saves it can read.
struct NumberLimitCheck {
    var save: (Depot, ModelContext) throws -> Void = { try $1.save() }

    /// The file of a state, of which the next number is another.
    static func document(of state: Int, next: UInt64) throws -> [UInt8] {
        let text = String(decoding: try Depot.document(of: state), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.hasPrefix("  \"nextSequence\": ") ? "  \"nextSequence\": \(next)," : String(line)
        }
        return Array(lines.joined(separator: "\n").utf8)
    }

    func run() throws -> Findings {
        var findings = Findings()
        // A save of the workload brings four records.
        for (left, fits) in [(1, false), (4, false), (5, true)] as [(UInt64, Bool)] {
            let depot = try Depot()
            try depot.disk.install(
                Self.document(of: 2, next: EngineVersion.numberLimit - left), at: Depot.path)
            try JSONFileStore.reseal(Depot.path, in: depot.disk)
            let before = depot.disk.contents(at: Depot.path)
            let container = try depot.open()
            let context = ModelContext(container)
            try Workload.change(context, to: 3)
            findings.inject()
            let error = thrown { try save(depot, context) }
            if fits {
                findings.expect(error == nil, "\(left) left: \(String(describing: error))")
            } else {
                var isTyped = false
                if case EngineError.noMoreNumbers? = error { isTyped = true }
                findings.expect(isTyped, "\(left) left: \(String(describing: error))")
                findings.expect(context.hasChanges, "\(left) left: the context is not dirty")
                findings.expect(depot.disk.contents(at: Depot.path) == before, "\(left) left: the file has changed")
                context.rollback()
                // What needs no numbers goes on.
                try context.fetch(FetchDescriptor<Parcel>()).first?.weight += 1
                findings.expect(thrown { try context.save() } == nil, "\(left) left: an update is refused")
            }
            try container.close()
            let later = thrown { try depot.open().close() }
            findings.expect(later == nil, "\(left) left: what was saved is not read: \(String(describing: later))")
        }
        return findings
    }
}

@Suite struct NumberLimitTests {
    /// A file whose next number the reader refuses was written without complaint.
    @Test func aStoreWithoutNumbersLeftTakesNoNewRecordsAndStaysReadable() throws {
        try NumberLimitCheck().run().verify("F30")
    }
}
