import Foundation
import MortiseCore

/// Puts the rows of one table in order by keys taken out of its columns first.
struct RowSort {
    private struct Entry {
        var head: UInt64
        var row: Int
    }
    private let heads: SortHeads
    private let order: [StoreQuery.Order]
    private let reader: RecordReader
    private let number: Int

    /// Nil where the first key is no column of the table.
    init?(_ order: [StoreQuery.Order], _ table: TableVersion, reader: RecordReader, number: Int) {
        guard let first = order.first, let heads = SortHeads(first, table) else { return nil }
        self.heads = heads
        self.order = order
        self.reader = reader
        self.number = number
    }

    private var isExact: Bool { heads.isExact && order.count == 1 }

    /// The rows of a scan in order, those that the query's window leaves.
    func rows(of scan: TableScan, _ query: StoreQuery, takesWindow: Bool) throws -> [RecordReference] {
        if takesWindow, let limit = query.limit {
            let (end, overflows) = limit.addingReportingOverflow(query.offset)
            if !overflows, end <= max(1024, scan.scanned / 16) {
                return Array(try first(end, of: scan).dropFirst(query.offset))
            }
        }
        var entries: [Entry] = []
        entries.reserveCapacity(min(scan.scanned, 1 << 20))
        try scan.forEachChunk { place, first, _, selection in
            heads.forEach(place, selection) { entries.append(Entry(head: $1, row: first + $0)) }
        }
        if isExact { radixSort(&entries) } else { try sort(&entries) }
        let rows = entries.map { RecordReference(table: number, row: $0.row) }
        return takesWindow && query.hasWindow ? Array(rows[query.window(of: rows.count)]) : rows
    }

    // MARK: The first few

    /// Keeps a heap of the best so far, whose worst is at the top; takes no memory that grows with the scan.
    private func first(_ count: Int, of scan: TableScan) throws -> [RecordReference] {
        if count == 0 { return [] }
        var heap: [Entry] = []
        heap.reserveCapacity(min(count, 1 << 16))
        try scan.forEachChunk { place, first, rows, selection in
            if heap.count == count { heads.narrow(place, rows, notBehind: heap[0].head) }
            try heads.forEach(place, selection) { offset, head in
                let entry = Entry(head: head, row: first + offset)
                if heap.count < count {
                    heap.append(entry)
                    try rise(&heap)
                } else if head <= heap[0].head, try precedes(entry, heap[0]) {
                    heap[0] = entry
                    try sink(&heap)
                }
            }
        }
        try sort(&heap)
        return heap.map { RecordReference(table: number, row: $0.row) }
    }

    private func rise(_ heap: inout [Entry]) throws {
        var place = heap.count - 1
        while place > 0 {
            let parent = (place - 1) / 2
            if try !precedes(heap[parent], heap[place]) { return }
            heap.swapAt(parent, place)
            place = parent
        }
    }

    private func sink(_ heap: inout [Entry]) throws {
        var place = 0
        while true {
            var last = place
            for child in [2 * place + 1, 2 * place + 2] where child < heap.count {
                if try precedes(heap[last], heap[child]) { last = child }
            }
            if last == place { return }
            heap.swapAt(last, place)
            place = last
        }
    }

    // MARK: Order

    private func precedes(_ a: Entry, _ b: Entry) throws -> Bool {
        if a.head != b.head { return a.head < b.head }
        if !isExact {
            let evaluator = QueryEvaluator(reader: reader)
            for (index, key) in order.enumerated() where index > 0 || !heads.isExact {
                let left = try evaluator.sortKey(key.expression, RecordReference(table: number, row: a.row))
                let right = try evaluator.sortKey(key.expression, RecordReference(table: number, row: b.row))
                switch key.compare(left, right) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
        }
        return a.row < b.row
    }

    private func sort(_ entries: inout [Entry]) throws { try entries.sort(by: precedes) }

    /// Sorts by the heads; rows, which ascend, stay so among equal ones. Eleven bits at a time, leaving out those in which
    /// all heads agree.
    private func radixSort(_ entries: inout [Entry]) {
        if entries.count < 256 {
            entries.sort { $0.head != $1.head ? $0.head < $1.head : $0.row < $1.row }
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
