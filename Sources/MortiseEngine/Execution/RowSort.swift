import Foundation
import MortiseCore

/// Puts the rows of one table, or of a family's tables, in order by keys taken out of their columns first.
struct RowSort {
    private struct Entry {
        var head: UInt64
        /// The row's number and, above it, the place of its table among the scans.
        var place: Int

        init(_ head: UInt64, scan: Int, row: Int) {
            self.head = head
            place = scan << Self.shift | row
        }

        static let shift = 48
        var scan: Int { place >> Self.shift }
        var row: Int { place & (1 << Self.shift - 1) }
    }
    private let scans: [TableScan]
    private let heads: [SortHeads]
    private let order: [StoreQuery.Order]
    private let evaluator: QueryEvaluator
    private let isExact: Bool

    /// Nil if the first key is not a column of the tables.
    init?(_ order: [StoreQuery.Order], _ scans: [TableScan], reader: RecordReader) {
        guard let first = order.first, !scans.isEmpty else { return nil }
        heads = scans.compactMap { SortHeads(first, $0.table, isOneOfSeveral: scans.count > 1) }
        guard heads.count == scans.count else { return nil }
        self.scans = scans
        self.order = order
        evaluator = QueryEvaluator(reader: reader)
        isExact = order.count == 1 && heads.allSatisfy(\.isExact)
    }

    private var isFamily: Bool { scans.count > 1 }

    /// The rows of the scans in order, those that the query's window leaves.
    func rows(_ query: StoreQuery, appliesLimit: Bool) throws -> [RecordReference] {
        let scanned = scans.reduce(0) { $0 + $1.scanned }
        if appliesLimit, let limit = query.limit {
            let (end, overflows) = limit.addingReportingOverflow(query.offset)
            if !overflows, end <= max(1024, scanned / 16) {
                return Array(try first(end).dropFirst(query.offset))
            }
        }
        var entries: [Entry] = []
        entries.reserveCapacity(min(scanned, 1 << 20))
        // Sorting by heads alone leaves equal ones as they come, which has to be in identity order.
        if isFamily, isExact {
            try FamilyRows(scans).forEachRun { run in
                heads[run.scan].forEach(run) { entries.append(Entry($1, scan: run.scan, row: run.first + $0)) }
                return true
            }
        } else {
            for (number, scan) in scans.enumerated() {
                try scan.forEachChunk(reading: heads[number].slot) { place, first, _, selection in
                    heads[number].forEach(place, selection) {
                        entries.append(Entry($1, scan: number, row: first + $0))
                    }
                }
            }
        }
        if isExact { radixSort(&entries) } else { try entries.sort(by: precedes) }
        let rows = entries.map(record)
        return appliesLimit && query.isLimited ? Array(rows[query.window(of: rows.count)]) : rows
    }

    private func record(_ entry: Entry) -> RecordReference {
        RecordReference(table: scans[entry.scan].number, row: entry.row)
    }

    private func first(_ count: Int) throws -> [RecordReference] {
        if count == 0 { return [] }
        var few = FirstFew<Entry>(count)
        for (number, scan) in scans.enumerated() {
            try scan.forEachChunk(reading: heads[number].slot) { place, first, rows, selection in
                if let last = few.last { heads[number].narrow(place, rows, notBehind: last.head) }
                try heads[number].forEach(place, selection) { offset, head in
                    if let last = few.last, head > last.head { return }
                    try few.add(Entry(head, scan: number, row: first + offset), by: precedes)
                }
            }
        }
        return try few.sorted(by: precedes).map(record)
    }

    // MARK: Order

    private func precedes(_ a: Entry, _ b: Entry) throws -> Bool {
        if a.head != b.head { return a.head < b.head }
        if !isExact {
            let isFirstExact = heads[a.scan].isExact && heads[b.scan].isExact
            for (index, key) in order.enumerated() where index > 0 || !isFirstExact {
                let left = try evaluator.sortKey(key.expression, record(a))
                let right = try evaluator.sortKey(key.expression, record(b))
                switch key.compare(left, right) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
        }
        if isFamily {
            return scans[a.scan].table.sequence(ofRow: a.row) < scans[b.scan].table.sequence(ofRow: b.row)
        }
        return a.place < b.place
    }

    /// Sorts by the heads; equal ones stay in the order in which they came. Eleven bits at a time, leaving out those in which
    /// all heads agree. Measured against `sort(by:)`: 1.1 to 2.7 times as fast, most so at 100,000 rows.
    private func radixSort(_ entries: inout [Entry]) {
        if entries.count < 256 {
            // Few are put in one by one, each after its equals.
            for index in entries.indices.dropFirst() {
                let moved = entries[index]
                var gap = index
                while gap > 0, moved.head < entries[gap - 1].head {
                    entries[gap] = entries[gap - 1]
                    gap -= 1
                }
                entries[gap] = moved
            }
            return
        }
        var differing: UInt64 = 0
        for entry in entries { differing |= entry.head ^ entries[0].head }
        var other = entries
        var counts = [Int](repeating: 0, count: 2048)
        var shift: UInt64 = 0
        while shift < 64 {
            defer { shift += 11 }
            if differing >> shift & 2047 == 0 { continue }
            for index in counts.indices { counts[index] = 0 }
            for entry in entries { counts[Int(entry.head >> shift & 2047)] += 1 }
            var start = 0
            for index in counts.indices {
                let count = counts[index]
                counts[index] = start
                start += count
            }
            for entry in entries {
                let digit = Int(entry.head >> shift & 2047)
                other[counts[digit]] = entry
                counts[digit] += 1
            }
            swap(&entries, &other)
        }
    }
}
