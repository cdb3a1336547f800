import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseJSONFile
import MortiseTestSupport

/// Whatever becomes of the history beside a file, the records are there and can be saved. What calls for the history return is the
/// history, or that none is known, or an error that names its file.
struct HistoryDamageCheck {
    /// Whether checksums are made to agree with what was changed, as they would for a reader that looks at none.
    var isResealed = false
    private static let path = Depot.path + ".history"
    private static let last = 4

    /// What is told of each transaction, with its mark and time.
    private static func described(_ store: JSONFileStore) throws -> [String] {
        try store.fetchHistory(HistoryDescriptor()).map { transaction in
            let changes = transaction.changes.map { "\($0.changedPersistentIdentifier)" }
            return "\(transaction.transactionIdentifier) \(transaction.token.marks) \(transaction.timestamp) "
                + "\(transaction.author ?? "") \(transaction.processIdentifier) \(changes)"
        }
    }

    private static func filled() throws -> Depot {
        let depot = try Depot()
        let container = try depot.open()
        for state in 1...last { try container.advance(to: state) }
        try container.close()
        return depot
    }

    /// Frames whose checksums are those of what they hold now.
    private static func resealed(_ bytes: [UInt8]) -> [UInt8] {
        guard let header = try? HistoryHeader(Array(bytes.prefix(HistoryHeader.size))) else { return bytes }
        var result = Array(bytes.prefix(HistoryHeader.size))
        var offset = HistoryHeader.size
        while offset + HistoryFrame.size <= bytes.count {
            let old = Array(bytes[offset..<(offset + HistoryFrame.size)])
            guard var frame = HistoryFrame(old, seed: header.seed) else { return bytes }
            let end = offset + HistoryFrame.size + Int(frame.length)
            guard end <= bytes.count else { return bytes }
            let payload = Array(bytes[(offset + HistoryFrame.size)..<end])
            frame.length = Int64(payload.count)
            result += frame.bytes(payload, seed: header.seed)
            offset = end
        }
        return result
    }

    func run() throws -> Findings {
        var findings = Findings()
        let depot = try Self.filled()
        let history = depot.disk.contents(at: Self.path) ?? []
        let whole = try Workload.openStore(JSONFileConfiguration(path: Depot.path, in: depot.disk))
        let expected = try Self.described(whole)
        try whole.close()
        findings.expect(expected.count == Self.last, "\(expected.count) transactions")
        var others: [(name: String, bytes: [UInt8]?)] = [("none", nil), ("empty", [])]
        others.append(("another store's", try Self.filled().disk.contents(at: Self.path)))
        others.append(("text", Array("not a history".utf8)))
        for place in stride(from: 0, to: history.count, by: isFullSize ? 1 : 11) {
            var flipped = history
            flipped[place] ^= 1 << UInt8(place % 8)
            others.append(("flipped at \(place)", isResealed ? Self.resealed(flipped) : flipped))
            others.append(("cut at \(place)", Array(history.prefix(place))))
        }
        for (name, bytes) in others {
            findings.inject()
            let disk = depot.disk.crashed(after: .max, losing: .nothing)
            if let bytes { try disk.install(bytes, at: Self.path) } else { try disk.unlink(Self.path) }
            let configuration = JSONFileConfiguration(path: Depot.path, in: disk)
            let store = try Workload.openStore(configuration)
            findings.expect(Workload.state(of: store) == Self.last, "\(name): not the records")
            do {
                let found = try Self.described(store)
                // Without its frame, the file is one that somebody else has written.
                findings.expect(found == expected || found.isEmpty, "\(name): told \(found)")
            } catch let damage as HistoryDamaged {
                findings.expect(damage.path == Self.path, "\(name): \(damage)")
            } catch {
                findings.expect(false, "\(name): told that \(error)")
            }
            try store.close()
            let container = try Workload.open(configuration)
            try container.advance(to: Self.last + 1)
            try container.close()
            let again = try Workload.openStore(configuration)
            findings.expect(Workload.state(of: again) == Self.last + 1, "\(name): not what was saved then")
            try again.close()
        }
        return findings
    }
}

@Suite struct HistoryFaultTests {
    @Test func damageToTheHistoryNeverHarmsTheRecords() throws { try HistoryDamageCheck().run().verify("F36") }
}
