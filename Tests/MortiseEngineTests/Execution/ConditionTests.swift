import Foundation
import PackageTestSupport
import Testing

@testable import MortiseCore
@testable import MortiseEngine

/// Conditions as they are carried out (in simpler forms, as closures, column by column) against the reference evaluator,
/// which says what they mean and what they throw.
@Suite struct ConditionTests {
    private struct Fixture {
        var random: RandomConditions
        let reader: RecordReader
        let table: TableVersion
        let records: [RecordReference]
        let seed = testSeed()

        init() throws {
            var world = EngineWorld(seed: seed)
            for step in 0..<5 { try world.save(inserting: 170, updating: 30, deleting: step == 0 ? 0 : 15) }
            let version = world.engine.version
            random = RandomConditions(world)
            reader = RecordReader(schema: world.catalog.schema, layouts: world.catalog.layouts) {
                version.rows(ofEntity: $0)
            }
            let number = try #require(reader.table(named: "Thing"))
            let table = try #require(reader.tables[number].rows as? TableVersion)
            self.table = table
            records = (0..<table.endRow).filter(table.contains(row:)).map { RecordReference(table: number, row: $0) }
            #expect(table.endRow > Chunk.capacity, "seed \(seed)")
        }
    }

    private func outcome(_ body: () throws -> Bool) -> String {
        do { return try body() ? "holds" : "does not hold" } catch { return "\(error)" }
    }

    /// The rows that a test of columns leaves.
    private func rows(_ test: ColumnTest, _ table: TableVersion) -> Set<Int> {
        var found: Set<Int> = []
        let selection = ChunkSelection()
        for chunk in 0..<((table.endRow + Chunk.mask) >> Chunk.shift) {
            let place = table.place(ofChunk: chunk)
            let count = min(Chunk.capacity, table.endRow - chunk << Chunk.shift)
            selection.selectAll(place, count)
            test.narrow(place, SelectedRows(words: selection.words, count: count))
            selection.forEach { found.insert(chunk << Chunk.shift + $0) }
        }
        return found
    }

    @Test func everyFormSaysWhatTheReferenceEvaluatorSays() throws {
        var fixture = try Fixture()
        let evaluator = QueryEvaluator(reader: fixture.reader)
        var (onColumns, simplified, threw, held) = (0, 0, 0, 0)
        // How common a form is depends on what the seed makes the records hold, so the rarest one decides when to stop.
        func isEveryFormTried() -> Bool { onColumns > 100 && simplified > 40 && threw > 5 && held > 200 }
        for step in 0..<5000 where step < 500 || !isEveryFormTried() {
            let condition = fixture.random.condition()
            let simple = condition.simplified
            let filter = CompiledFilter([condition], reader: fixture.reader, table: fixture.records[0].table)
            let expected = fixture.records.map { record in outcome { try evaluator.matches(condition, record) } }
            let comment: Comment = "seed \(fixture.seed): \(condition)"
            let compiled = fixture.records.map { record in outcome { try filter.matches(record) } }
            #expect(compiled == expected, comment)
            if simple != condition {
                simplified += 1
                let found = fixture.records.map { record in outcome { try evaluator.matches(simple, record) } }
                #expect(found == expected, "\(comment), simplified \(simple)")
            }
            if expected.contains("holds") { held += 1 }
            if condition.mayThrow {
                if expected.contains(where: { $0.contains("Write") || $0.contains("Calculate") }) { threw += 1 }
            } else if let test = ColumnTest(simple, fixture.table) {
                onColumns += 1
                let found = rows(test, fixture.table)
                let wanted = zip(fixture.records, expected).filter { $1 == "holds" }.map(\.0.row)
                #expect(found == Set(wanted), comment)
            }
        }
        #expect(
            isEveryFormTried(),
            "A form is lost: \(onColumns) on columns, \(simplified) simplified, \(threw) threw, \(held) held; seed \(fixture.seed)"
        )
    }

    @Test func whatColumnsTellIsNotAskedRowByRow() throws {
        let fixture = try Fixture()
        func property(_ name: String, of base: QueryExpression = .variable(0)) throws -> QueryExpression {
            let slot = try #require(fixture.table.layout.slot(named: name))
            return .property(base, QueryProperty(entity: "Thing", name: name, slot: slot))
        }
        let (must, may) = (try property("must_string"), try property("may_string"))
        let part = QueryExpression.constant(.string("a"))
        let numbers = (0..<9).map { QueryExpression.constant(.integer($0)) }
        let decimals = (0..<9).map { QueryExpression.constant(.decimal(Decimal($0))) }
        let owner = try property("owner")
        let target = QueryExpression.constant(.identifier(fixture.random.targets[0]))
        let conditions: [QueryExpression] = [
            .startsWith(must, part), .startsWith(may, part), .containsSequence(may, part), .isEmpty(must),
            .localizedStandardContains(must, part), .matches(must, "a"),
            .compare(.equal, .compareStrings(.caseInsensitive, must, part), .constant(.integer(0))),
            .compare(.equal, .flatMap(may, variable: 1, .containsSequence(.variable(1), part)), .constant(.bool(true))),
            .coalesce(.flatMap(may, variable: 1, .startsWith(.variable(1), part)), .constant(.bool(false))),
            .compare(.less, .coalesce(try property("may_double"), .constant(.double(0))), .constant(.double(2))),
            .contains(.list(numbers), try property("must_int16")),
            .contains(.list(decimals), try property("may_decimal")),
            .compare(.less, try property("must_decimal"), .constant(.decimal(1))),
            .compare(.equal, try property("must_data"), .constant(.data(Data([1])))),
            .compare(.equal, owner, target), .compare(.equal, .identifier(owner), .constant(.null)),
            .contains(.list([target, .constant(.null)]), owner),
        ]
        for condition in conditions { #expect(ColumnTest(condition.simplified, fixture.table) != nil, "\(condition)") }
    }

    /// Counts what is read of a slot.
    private final class CountingReader: RecordReader {
        var reads: [Int: Int] = [:]
        override func unchangedRows(ofTable table: Int) -> RowSource? { nil }
        override func value(_ record: RecordReference, slot: Int) -> StoredValue {
            reads[slot, default: 0] += 1
            return super.value(record, slot: slot)
        }
    }

    private func reads(_ names: [String], _ make: ([QueryExpression]) -> [QueryExpression]) throws -> [Int] {
        let fixture = try Fixture()
        let catalog = fixture.random.world.catalog
        let version = fixture.random.world.engine.version
        let reader = CountingReader(schema: catalog.schema, layouts: catalog.layouts) { version.rows(ofEntity: $0) }
        let number = try #require(reader.table(named: "Thing"))
        let slots = try names.map { try #require(fixture.table.layout.slot(named: $0)) }
        let properties = zip(names, slots).map {
            QueryExpression.property(.variable(0), QueryProperty(entity: "Thing", name: $0, slot: $1))
        }
        let scan = TableScan(
            fixture.table, candidates: nil, conjuncts: make(properties), reader: reader, number: number)
        reader.reads = [:]
        _ = try scan.count()
        return slots.map { reader.reads[$0] ?? 0 } + [fixture.records.count]
    }

    @Test func whatLeavesFewRowsIsAskedFirst() throws {
        // Both cost the same, and neither is a test of one column; the second one, as written, holds for no row.
        let found = try reads(["must_int32", "must_int16"]) { properties in
            [.compare(.equal, properties[0], properties[0]), .compare(.notEqual, properties[1], properties[1])]
        }
        #expect(found[0] == 0 && found[1] == 2 * found[2], "\(found)")
    }

    @Test func whatMayThrowIsAskedLastAndInItsOrder() throws {
        func over(_ property: QueryExpression, _ bound: Int64) -> QueryExpression {
            .compare(
                .greater, .arithmetic(.divide, property, .constant(.integer(2)), .int64), .constant(.integer(bound)))
        }
        // The third condition cannot throw and holds for no row, so that the others are never asked.
        let found = try reads(["must_int32", "must_int16", "must_int8"]) { properties in
            [
                over(properties[0], .min), over(properties[1], .min),
                .compare(.notEqual, properties[2], properties[2]),
            ]
        }
        #expect(found[0] == 0 && found[1] == 0, "\(found)")
        // Of two that may throw, the one that is written first is asked first, although it holds for all.
        let ordered = try reads(["must_int32", "must_int16"]) { properties in
            [over(properties[0], .min), over(properties[1], .max)]
        }
        #expect(ordered[0] == ordered[2] && ordered[1] == ordered[2], "\(ordered)")
    }
}
