import Foundation
import MortiseSQL
import PackageTestSupport
import Testing

/// The bytes of a transaction in the history.
@Suite struct HistoryCodingTests {
    private func some(_ numbers: inout SeededGenerator) -> HistoryChanges {
        var changes = HistoryChanges()
        changes.isErasure = numbers.chance(4)
        func update() -> HistoryChanges.Update {
            HistoryChanges.Update(
                entity: 1 + numbers.below(300), number: Int64(1 + numbers.below(1 << 40)),
                properties: (0..<numbers.below(4)).map { _ in 1 + numbers.below(200) })
        }
        var number: Int64 = 1
        for _ in 0..<numbers.below(20) {
            changes.insert(number, entity: 1 + numbers.below(2))
            number += numbers.chance(3) ? 5 : 1
        }
        for _ in 0..<numbers.below(5) { changes.updated.append(update()) }
        for _ in 0..<numbers.below(5) { changes.owners.append(update()) }
        for _ in 0..<numbers.below(5) {
            changes.deleted.append(
                HistoryChanges.Deletion(
                    entity: 1 + numbers.below(9), number: Int64(1 + numbers.below(99)),
                    preserved: (0..<numbers.below(3)).map { (1 + $0, numbers.pick(["", "a", "é\0", "👨‍👩‍👧"])) }))
        }
        return changes
    }

    @Test func whatIsWrittenIsRead() throws {
        var numbers = SeededGenerator(seed: testSeed())
        for _ in 0..<500 {
            let changes = some(&numbers)
            let found = try #require(HistoryChanges(changes.data))
            #expect(HistoryChanges.isErasure(changes.data) == changes.isErasure)
            #expect(found.isErasure == changes.isErasure && found.inserted == changes.inserted)
            #expect(found.updated == changes.updated && found.owners == changes.owners)
            #expect(found.deleted.map(\.number) == changes.deleted.map(\.number))
            #expect(
                found.deleted.map { $0.preserved.map { "\($0)" } }
                    == changes.deleted.map { $0.preserved.map { "\($0)" } })
        }
    }

    /// A damaged length made a store that has had ten records tell of billions, one by one.
    @Test func recordsThatAStoreHasNotHadAreRefused() {
        var changes = HistoryChanges()
        changes.inserted = [
            HistoryChanges.Run(entity: 1, first: 1, count: 4), HistoryChanges.Run(entity: 2, first: 5, count: 5),
        ]
        #expect(HistoryChanges(changes.data, below: 10) != nil)
        #expect(HistoryChanges(changes.data, below: 9) == nil)
        changes.inserted[0].count = 1 << 60
        #expect(HistoryChanges(changes.data, below: 10) == nil)
        // Nor does it tell of any of them twice.
        changes.inserted[0].count = 5
        #expect(HistoryChanges(changes.data, below: 10) == nil)
    }

    @Test func otherBytesAreRefusedOrReadAndNeverTrap() {
        var numbers = SeededGenerator(seed: testSeed())
        var refused = 0
        for _ in 0..<5_000 {
            var data = some(&numbers).data
            if numbers.chance(3) {
                data = data.prefix(numbers.below(data.count))
            } else {
                for _ in 0..<(1 + numbers.below(3)) {
                    data[numbers.below(data.count)] = UInt8(truncatingIfNeeded: numbers.next())
                }
            }
            if HistoryChanges(Data(data)) == nil { refused += 1 }
        }
        #expect(refused > 1_000)
        #expect(HistoryChanges(Data([1, 0] + Array(repeating: 0xFF, count: 40))) == nil)
    }
}
