import Foundation
import PackageTestSupport
import Testing

@testable import MortiseCore
@testable import MortiseEngine

/// Queries and aggregates over an entity with subentities, whose records are in several tables, against going through all
/// records in the order in which they were inserted.
@Suite struct FamilyQueryTests {
    private struct Fixture {
        let engine: Engine
        let reader: RecordReader
        let records: [RecordReference]
        let layout: RecordLayout
        let seed = testSeed()
        var random: SeededGenerator

        init() throws {
            var world = EngineWorld(seed: seed)
            world.runLength = 7
            for step in 0..<7 { try world.save(inserting: 120, updating: 20, deleting: step == 0 ? 0 : 15) }
            engine = world.engine
            random = world.random
            let version = world.engine.version
            let reader = RecordReader(schema: world.catalog.schema, layouts: world.catalog.layouts) {
                version.rows(ofEntity: $0)
            }
            self.reader = reader
            layout = try #require(world.catalog.layouts["Thing"])
            records = ["Thing", "Special"].flatMap { name in
                let number = reader.table(named: name) ?? 0
                let rows = reader.tables[number].rows
                return (0..<rows.endRow).filter(rows.contains(row:)).map { RecordReference(table: number, row: $0) }
            }
            .sorted { reader.sequence($0) < reader.sequence($1) }
            #expect(Set(records.map(\.table)).count == 2 && records.count > Chunk.capacity, "seed \(seed)")
        }

        func property(_ name: String) throws -> QueryExpression {
            .property(
                .variable(0),
                QueryProperty(entity: "Thing", name: name, slot: try #require(layout.slot(named: name))))
        }

        func run(_ query: StoreQuery) throws -> (records: [PersistentIdentifier], scanned: Int) {
            let planned = EngineQuery(query, engine.catalog)
            let found = try planned.run(planned.plan(), in: engine.version)
            let identifiers = found.rows.map { record in
                engine.version.tables[found.entities[record.table]]?.identifier(ofRow: record.row)
            }
            return (identifiers.compactMap { $0 }, found.report.scanned)
        }

        func identifiers(_ records: some Sequence<RecordReference>) -> [PersistentIdentifier] {
            records.map(reader.identifier)
        }
    }

    @Test func recordsComeInTheOrderOfInsertionAndAreReadNoFurtherThanWanted() throws {
        let fixture = try Fixture()
        #expect(try fixture.run(StoreQuery("Thing")).records == fixture.identifiers(fixture.records))
        var few = StoreQuery("Thing", limit: 5)
        few.offset = 3
        let found = try fixture.run(few)
        #expect(found.records == fixture.identifiers(fixture.records.dropFirst(3).prefix(5)), "seed \(fixture.seed)")
        #expect(found.scanned <= 2 * Chunk.capacity)
        few.limit = 0
        #expect(try fixture.run(few).records.isEmpty)
        few.limit = fixture.records.count
        #expect(try fixture.run(few).records == fixture.identifiers(fixture.records.dropFirst(3)))
    }

    @Test(arguments: 0..<3) func rowsOfAllTablesAreSortedTogether(round: Int) throws {
        var fixture = try Fixture()
        let evaluator = QueryEvaluator(reader: fixture.reader)
        let names = fixture.layout.slots.filter { slot in
            slot.role == .attribute && slot.name != "passing" && slot.property.attribute?.kind != .coded
        }.map(\.name)
        for _ in 0..<24 {
            let order = try names.shuffled(using: &fixture.random).prefix(.random(in: 1...2, using: &fixture.random))
                .map {
                    StoreQuery.Order(
                        try fixture.property($0), isAscending: .random(using: &fixture.random), stringOrder: nil)
                }
            let keyed = try fixture.records.map { record in
                (record: record, keys: try order.map { try evaluator.sortKey($0.expression, record) })
            }
            let expected = keyed.enumerated().sorted { a, b in
                for (index, key) in order.enumerated() {
                    let result = key.compare(a.element.keys[index], b.element.keys[index])
                    if result != .orderedSame { return result == .orderedAscending }
                }
                return a.offset < b.offset
            }.map(\.element.record)
            var query = StoreQuery("Thing", order: order)
            let text: Comment = "seed \(fixture.seed): \(order.map { "\($0.expression) \($0.isAscending)" })"
            #expect(try fixture.run(query).records == fixture.identifiers(expected), text)
            query.limit = .random(in: 1...40, using: &fixture.random)
            query.offset = .random(in: 0...10, using: &fixture.random)
            #expect(
                try fixture.run(query).records == fixture.identifiers(expected[query.window(of: expected.count)]), text)
        }
    }

    @Test func aggregatesAreThoseOfAllRecordsInTheirOrder() throws {
        let fixture = try Fixture()
        let (group, double) = (try fixture.property("group"), try fixture.property("may_double"))
        let (text, float) = (try fixture.property("may_string"), try fixture.property("must_float"))
        let functions: [AggregateFunction] = [
            .count, .sum(float, .float), .average(double, .double), .minimum(text), .maximum(float),
        ]
        // With NaN and the infinite among them, sums would be the same in any order.
        let finite = QueryExpression.contains(
            .range(.constant(.float(-5)), .constant(.float(5)), isClosed: true), float)
        let evaluator = QueryEvaluator(reader: fixture.reader)
        let records = try fixture.records.filter { try evaluator.matches(finite, $0) }
        for keys in [[], [group], [text], [.isEmpty(text), group]] {
            let asked = AggregateQuery(StoreQuery("Thing", conjuncts: [finite]), by: keys, functions)
            let states = functions.map(AggregateState.init)
            var groups = AggregateGroups()
            if keys.isEmpty { _ = groups.number(of: []) }
            for record in records {
                let number = groups.number(of: try keys.map { try evaluator.sortKey($0, record) })
                for (state, function) in zip(states, functions) {
                    state.reserve(groups: groups.count)
                    if let expression = function.expression {
                        try state.add(evaluator.sortKey(expression, record), group: number)
                    } else {
                        state.add(count: 1, group: number)
                    }
                }
            }
            let query = EngineQuery(asked.query, fixture.engine.catalog)
            let answer = try #require(try query.aggregate(asked, in: fixture.engine.version))
            let expected = try groups.results(states)
            // Sums of floating-point numbers depend on the order in which they are added.
            #expect("\(answer.groups)" == "\(expected)", "seed \(fixture.seed)")
            #expect(answer.report.scanned == fixture.records.count)
        }
    }
}
