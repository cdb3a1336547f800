import Foundation
import PackageTestSupport
import Testing

@testable import MortiseCore
@testable import MortiseEngine

/// Questions to a table's indexes against going through its rows.
@Suite struct TableIndexTests {
    private struct Fixture {
        var world: EngineWorld
        let table: TableVersion
        init(seed: UInt64) throws {
            world = EngineWorld(seed: seed)
            for _ in 0..<6 { try world.save(inserting: 120, updating: 20, deleting: 10) }
            table = try #require(world.engine.version.tables["Thing"])
        }
        func rows(_ isIncluded: (Int) -> Bool) -> [Int] {
            (0..<table.endRow).filter { table.contains(row: $0) && isIncluded($0) }
        }
        func index(_ names: String...) throws -> (TableIndex, Int) {
            let slots = try names.map { try #require(table.layout.slot(named: $0)) }
            return (try #require(table.indexes(leadingWith: slots).first), slots[slots.count - 1])
        }
    }

    private func rows(_ index: TableIndex, _ range: IndexRange?) -> [Int] {
        guard let range else { return [] }
        var rows: [Int] = []
        index.forEachRow(in: range) { row in
            rows.append(row)
            return true
        }
        if index.count(in: range) != rows.count {
            Issue.record("counted \(index.count(in: range)), read \(rows.count)")
        }
        return rows.sorted()
    }

    @Test func equalityAndRangesOfNumbers() throws {
        let seed = testSeed()
        var fixture = try Fixture(seed: seed)
        let (index, slot) = try fixture.index("must_double")
        for _ in 0..<100 {
            guard case .double(let low) = fixture.world.value(.double),
                case .double(let high) = fixture.world.value(.double)
            else { continue }
            let table = fixture.table
            let value: (Int) -> Double = { table.double(row: $0, slot: slot) ?? .nan }
            #expect(rows(index, index.equal(to: [.double(low)])) == fixture.rows { value($0) == low }, "seed \(seed)")
            #expect(
                rows(
                    index,
                    index.between(
                        .init(value: .double(low), isIncluded: true), .init(value: .double(high), isIncluded: false)))
                    == fixture.rows { value($0) >= low && value($0) < high }, "\(low)..<\(high), seed \(seed)")
            #expect(
                rows(
                    index,
                    index.between(
                        .init(value: .double(low), isIncluded: false), .init(value: .double(high), isIncluded: true)))
                    == fixture.rows { value($0) > low && value($0) <= high }, "seed \(seed)")
            #expect(
                rows(index, index.between(nil, .init(value: .double(high), isIncluded: true)))
                    == fixture.rows { value($0) <= high }, "seed \(seed)")
            #expect(
                rows(index, index.between(.init(value: .double(low), isIncluded: false), nil))
                    == fixture.rows { value($0) > low }, "seed \(seed)")
        }
    }

    @Test func optionalStringsAndTheirPrefixes() throws {
        let seed = testSeed()
        var fixture = try Fixture(seed: seed)
        let table = fixture.table
        let (index, slot) = try fixture.index("may_string")
        #expect(rows(index, index.equal(to: [.null])) == fixture.rows { table.isNull(row: $0, slot: slot) })
        for _ in 0..<100 {
            guard case .string(let text) = fixture.world.value(.string) else { continue }
            let value: (Int) -> String? = { table.string(row: $0, slot: slot) }
            #expect(rows(index, index.equal(to: [.string(text)])) == fixture.rows { value($0) == text }, "seed \(seed)")
            #expect(
                rows(index, index.between(.init(value: .string(text), isIncluded: false), nil))
                    == fixture.rows { value($0).map { CanonicalText.precedes(text, $0) } ?? false }, "seed \(seed)")
            #expect(
                rows(index, index.between(nil, .init(value: .string(text), isIncluded: false)))
                    == fixture.rows { value($0).map { CanonicalText.precedes($0, text) } ?? false }, "seed \(seed)")
            let found = Set(rows(index, index.beginning(with: text)))
            let wanted = Set(fixture.rows { value($0).map { $0.starts(with: text) } ?? false })
            #expect(found.isSuperset(of: wanted), "\(text), seed \(seed)")
            let scalars = Array(CanonicalText.composed(text).unicodeScalars)
            #expect(
                found
                    == Set(
                        fixture.rows {
                            value($0).map { CanonicalText.composed($0).unicodeScalars.starts(with: scalars) } ?? false
                        }),
                "seed \(seed)")
        }
    }

    @Test func compoundIndexesOrdersAndOffsets() throws {
        let seed = testSeed()
        let fixture = try Fixture(seed: seed)
        let table = fixture.table
        let (index, date) = try fixture.index("group", "must_date")
        let group = try #require(table.layout.slot(named: "group"))
        for number in 0...4 as ClosedRange<Int64> {
            let inGroup = fixture.rows { table.int64(row: $0, slot: group) == number }
            let range = index.equal(to: [.integer(number)])
            #expect(rows(index, range) == inGroup)
            // Dates that are no number come first.
            func key(_ row: Int) -> Double {
                let seconds = (table.date(row: row, slot: date) ?? .now).timeIntervalSinceReferenceDate
                return seconds.isNaN ? -.infinity : seconds
            }
            let ascending = inGroup.sorted { key($0) == key($1) ? $0 < $1 : key($0) < key($1) }
            let descending = inGroup.sorted { key($0) == key($1) ? $0 < $1 : key($0) > key($1) }
            for (isDescending, expected) in [(false, ascending), (true, descending)] {
                for skipped in [0, 1, 7, inGroup.count, inGroup.count + 5] {
                    var found: [Int] = []
                    index.forEachRow(in: range ?? .all, descending: isDescending, skipping: skipped) { row in
                        found.append(row)
                        return found.count < 20
                    }
                    if range != nil, number < 4 {
                        #expect(
                            found == Array(expected.dropFirst(skipped).prefix(20)), "seed \(seed), skipping \(skipped)")
                    }
                }
            }
            #expect(range.flatMap { index.first(in: $0) } == ascending.first)
            #expect(range.flatMap { index.first(in: $0, descending: true) } == descending.first)
            let later = index.between(
                .init(value: .date(Date(timeIntervalSinceReferenceDate: 0)), isIncluded: false), nil,
                after: [.integer(number)])
            #expect(rows(index, later) == inGroup.filter { key($0) > 0 }, "seed \(seed)")
        }
        let two = [0, 2, 2].compactMap { index.equal(to: [.integer($0)]) }
        #expect(index.rows(in: two) == fixture.rows { [0, 2].contains(table.int64(row: $0, slot: group)) })
        #expect(index.equal(to: [.string("no")]) == nil)
        #expect(fixture.table.indexes(leadingWith: [date]).isEmpty)
    }

    @Test func uniqueRecordsAreFoundAcrossTheFamily() throws {
        var world = EngineWorld(seed: testSeed())
        for _ in 0..<5 { try world.save(inserting: 80, updating: 10, deleting: 5) }
        let version = world.engine.version
        for (identifier, record) in world.records where record.entity == "Thing" || record.entity == "Special" {
            let slot = try #require(world.catalog.layouts[record.entity]?.slot(named: "code"))
            guard !record.values[slot].isNull else { continue }
            #expect(version.identifier(ofEntity: "Thing", constraint: 0, values: [record.values[slot]]) == identifier)
            #expect(version.identifier(ofEntity: "Special", constraint: 0, values: [record.values[slot]]) == identifier)
        }
        #expect(version.identifier(ofEntity: "Thing", constraint: 0, values: [.string("none")]) == nil)
        #expect(version.identifier(ofEntity: "Thing", constraint: 0, values: [.null]) == nil)
    }
}
