import PackageTestSupport
import Testing

@testable import MortiseEngine

@Suite struct OrderedIndexTests {
    struct Entry: Comparable, Hashable {
        var key: [UInt8]
        var row: UInt64
        static func < (a: Entry, b: Entry) -> Bool {
            a.key == b.key ? a.row < b.row : a.key.lexicographicallyPrecedes(b.key)
        }
    }

    private func key(_ random: inout SeededGenerator) -> [UInt8] {
        // Short alphabets and shared beginnings: equal keys, keys that differ only in their tails, keys of every length.
        var bytes: [UInt8] = Array(repeating: 7, count: [0, 0, 6, 14, 30].randomElement(using: &random) ?? 0)
        for _ in 0..<Int.random(in: 0...5, using: &random) { bytes.append(.random(in: 0...3, using: &random)) }
        while bytes.last == 0 { bytes.removeLast() }
        return bytes
    }

    private func entries(of index: OrderedIndex) -> [Entry] {
        var result: [Entry] = []
        index.forEachRun(from: nil, to: nil) { node, run in
            for place in run {
                var bytes: [UInt8] = []
                for word in index.isWide ? [node.head(place), node.second(place)] : [node.head(place)] {
                    withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
                }
                bytes.append(contentsOf: node.tail(place))
                while bytes.last == 0 { bytes.removeLast() }
                result.append(Entry(key: bytes, row: node.row(place)))
            }
            return true
        }
        return result
    }

    @Test(arguments: [false, true])
    func insertionsAndRemovalsAgreeWithASortedArray(isWide: Bool) {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        var index = OrderedIndex(isWide: isWide)
        var expected: Set<Entry> = []
        var held: [(OrderedIndex, Set<Entry>)] = []
        for transaction in 1...60 as ClosedRange<UInt64> {
            // Grows, then shrinks to nothing, so that nodes are split and merged at every height.
            for _ in 0..<200 {
                if transaction < 35 || random.chance(5) {
                    let entry = Entry(key: key(&random), row: .random(in: 0...999, using: &random))
                    if expected.insert(entry).inserted {
                        entry.key.withUnsafeBytes { index.insert($0, row: entry.row, owner: transaction) }
                    }
                } else if let entry = expected.randomElement(using: &random) {
                    expected.remove(entry)
                    #expect(entry.key.withUnsafeBytes { index.remove($0, row: entry.row, owner: transaction) })
                }
            }
            let absent = Entry(key: [9, 9], row: 1)
            #expect(!absent.key.withUnsafeBytes { index.remove($0, row: 1, owner: transaction) })
            if transaction % 10 == 0 { held.append((index, expected)) }
            if transaction % 5 == 0 {
                #expect(entries(of: index) == expected.sorted(), "seed \(seed), transaction \(transaction)")
                #expect(index.faults() == [], "seed \(seed), transaction \(transaction)")
            }
        }
        for (old, entries) in held { #expect(self.entries(of: old) == entries.sorted(), "seed \(seed)") }
        for entry in expected { entry.key.withUnsafeBytes { _ = index.remove($0, row: entry.row, owner: 61) } }
        #expect(index.root == nil)
        #expect(index.count == 0)
    }

    /// Keys of the kinds that are sorted by different ways: random, few, alike but for a few bits, and alike for long.
    @Test(arguments: [0, 1, 2, 3, 4])
    func manyEntriesAreSorted(kind: Int) {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        var sorted = SortedEntries(isWide: kind != 4)
        var expected: [Entry] = []
        for row in 0..<5000 {
            let number = Int.random(in: 0..<5000, using: &random)
            let key: [UInt8] =
                switch kind {
                case 0: (0..<15).map { _ in .random(in: 0...255, using: &random) } + [1]
                case 1: Array("destination \(number % 7), which is one of seven".utf8)
                case 2: Array("Trip \(number)".utf8)
                case 3: Array("https://example.com/the/same/beginning/\(number % 2000)".utf8)
                default: (0..<8).map { _ in .random(in: 0...255, using: &random) } + [1]
                }
            // Rows that do not ascend, too.
            let entry = Entry(key: key, row: UInt64(kind % 2 == 0 ? row : 5000 - row))
            expected.append(entry)
            entry.key.withUnsafeBytes { sorted.append($0, row: entry.row) }
        }
        let index = sorted.index(owner: 1)
        #expect(entries(of: index) == expected.sorted(), "seed \(seed)")
        #expect(index.faults() == [])
    }

    @Test(arguments: [false, true])
    func rangesRanksAndDirectionsAgreeWithASortedArray(isWide: Bool) {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        var sorted = SortedEntries(isWide: isWide)
        var expected: Set<Entry> = []
        for _ in 0..<6000 {
            let entry = Entry(key: key(&random), row: .random(in: 0...99999, using: &random))
            if expected.insert(entry).inserted { entry.key.withUnsafeBytes { sorted.append($0, row: entry.row) } }
        }
        let index = sorted.index(owner: 1)
        let all = expected.sorted()
        #expect(entries(of: index) == all, "seed \(seed)")
        #expect(index.faults() == [])
        for _ in 0..<100 {
            let lower = key(&random)
            let upper: [UInt8]? = random.chance(4) ? nil : key(&random)
            let range = all.filter {
                !$0.key.lexicographicallyPrecedes(lower) && upper.map($0.key.lexicographicallyPrecedes) ?? true
            }
            var rows: [UInt64] = []
            var downward: [UInt64] = []
            let bounds = IndexRange(lower: lower, upper: upper)
            bounds.withLower(isWide: isWide) { low in
                bounds.withUpper(isWide: isWide) { high in
                    index.forEachRun(from: low, to: high) { node, run in
                        rows += run.map { node.row($0) }
                        return true
                    }
                    index.forEachRowDescending(from: low, to: high) { row in
                        downward.append(UInt64(row))
                        return true
                    }
                    #expect(index.rank(low) == all.firstIndex { !$0.key.lexicographicallyPrecedes(lower) } ?? all.count)
                }
            }
            #expect(rows == range.map(\.row), "seed \(seed)")
            let groups = Dictionary(grouping: range, by: \.key).sorted { $1.key.lexicographicallyPrecedes($0.key) }
            #expect(downward == groups.flatMap { $0.value.map(\.row).sorted() }, "seed \(seed)")
            if let entry = all.randomElement(using: &random) {
                let first = all.first { $0.key == entry.key }
                #expect(entry.key.withUnsafeBytes { index.firstRow($0) } == first?.row)
            }
            #expect([5, 5, 5].withUnsafeBytes { index.firstRow($0) } == nil)
        }
        for rank in [0, 1, 127, 128, 3000, all.count - 1] {
            #expect(index.entry(at: rank)?.row == all[rank].row)
        }
        #expect(index.entry(at: all.count)?.row == nil)
    }
}
