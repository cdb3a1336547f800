import Foundation
import PackageTestSupport
import Testing

@testable import MortiseCore
@testable import MortiseEngine

/// Groups by one or several keys on columns against evaluating every key for every record.
@Suite struct GroupingTests {
    private struct Fixture {
        let seed: UInt64
        let version: EngineVersion
        let catalog: Catalog
        let reader: RecordReader

        init(_ number: UInt64) throws {
            seed = testSeed() &+ number
            var world = EngineWorld(seed: seed)
            for _ in 0..<4 { try world.save(inserting: 200, updating: 20, deleting: 15) }
            let (version, catalog) = (world.engine.version, world.catalog)
            self.version = version
            self.catalog = catalog
            reader = RecordReader(schema: catalog.schema, layouts: catalog.layouts) { version.rows(ofEntity: $0) }
        }

        func property(_ name: String, of base: QueryExpression = .variable(0), in entity: String = "Thing")
            -> QueryExpression
        {
            let slot = catalog.layouts[entity]?.slot(named: name) ?? 0
            return .property(base, QueryProperty(entity: entity, name: name, slot: slot))
        }

        /// Of every form that a key has: words, texts, what is computed from a word, what is behind a relationship, and what
        /// reads two properties.
        var keys: [QueryExpression] {
            [
                property("group"), property("may_bool"), property("may_string"), property("must_double"),
                property("may_float"), property("must_date"), property("may_uint64"), property("may_int8"),
                property("must_uuid"), property("may_decimal"), property("owner"),
                .flatMap(property("owner"), variable: 1, property("name", of: .variable(1), in: "Owner")),
                .coalesce(property("may_int32"), .constant(.integer(7))),
                .compare(.equal, property("may_string"), property("code")),
                .compare(.equal, property("group"), .constant(.integer(2))),
            ]
        }

        var functions: [AggregateFunction] {
            [
                .count, .sum(property("may_decimal"), .decimal), .average(property("must_decimal"), .decimal),
                .sum(property("must_double"), .double), .sum(property("may_int32"), .int64),
                .maximum(property("must_date")),
            ]
        }

        func expected(_ asked: AggregateQuery) throws -> [AggregateGroup] {
            let evaluator = QueryEvaluator(reader: reader)
            let states = asked.functions.map(AggregateState.init)
            var groups = AggregateGroups()
            let names = asked.query.includesSubentities ? ["Thing", "Special"] : ["Thing"]
            let all = names.flatMap { name in
                let number = reader.table(named: name) ?? 0
                let rows = reader.tables[number].rows
                return (0..<rows.endRow).filter(rows.contains(row:)).map { RecordReference(table: number, row: $0) }
            }
            for record in all.sorted(by: { reader.sequence($0) < reader.sequence($1) }) {
                let group = groups.number(of: try asked.keys.map { try evaluator.sortKey($0, record) })
                for state in states { state.reserve(groups: groups.count) }
                for (state, function) in zip(states, asked.functions) {
                    if let expression = function.expression {
                        try state.add(evaluator.sortKey(expression, record), group: group)
                    } else {
                        state.add(count: 1, group: group)
                    }
                }
            }
            return try groups.results(states)
        }

        func check(_ keys: [QueryExpression], isFamily: Bool) throws {
            let query = StoreQuery("Thing", includesSubentities: isFamily)
            let asked = AggregateQuery(query, by: keys, functions)
            let answer = try #require(try EngineQuery(query, catalog).aggregate(asked, in: version))
            let expected = try expected(asked)
            #expect(
                answer.groups.map(Self.text) == expected.map(Self.text), "seed \(seed): by \(keys)")
        }

        /// Strings by their scalars and numbers by their bits, where `==` sees no difference.
        private static func text(_ group: AggregateGroup) -> String {
            (group.keys + group.values).map { value in
                switch value {
                case .double(let number): "\(number.bitPattern)"
                case .float(let number): "\(number.bitPattern)"
                case .date(let date): "\(date.timeIntervalSinceReferenceDate.bitPattern)"
                case .string(let text): "\(Array(text.utf8))"
                default: "\(value)"
                }
            }.joined(separator: " ")
        }
    }

    @Test(arguments: [false, true]) func oneKeyGroupsAsItsValuesDo(isFamily: Bool) throws {
        let fixture = try Fixture(isFamily ? 1 : 0)
        for key in fixture.keys { try fixture.check([key], isFamily: isFamily) }
    }

    @Test(arguments: 0..<8 as Range<UInt64>) func severalKeysGroupAsTheirValuesDo(number: UInt64) throws {
        let fixture = try Fixture(number)
        var random = SeededGenerator(seed: fixture.seed)
        for _ in 0..<12 {
            let count = Int.random(in: 2...4, using: &random)
            let keys = (0..<count).compactMap { _ in fixture.keys.randomElement(using: &random) }
            try fixture.check(keys, isFamily: Bool.random(using: &random))
        }
    }

    @Test func numbersOfPairsAreKeptNearAndFar() {
        var random = SeededGenerator(seed: testSeed())
        var pairs = PairNumbers()
        var words = WordNumbers()
        var known: [[Int]: Int] = [:]
        for _ in 0..<4_000 {
            let pair = [Int.random(in: 0..<1_100, using: &random), Int.random(in: 200..<300, using: &random)]
            #expect(pairs[pair[0], pair[1]] == known[pair])
            let word = UInt64(pair[0]) << (pair[1] % 2 == 0 ? 0 : 40) | UInt64(pair[1]) << 52
            if known[pair] == nil {
                known[pair] = known.count
                pairs.note(known.count - 1, of: pair[0], pair[1])
                words.note(known.count - 1, of: word)
            }
            #expect(words[word] == known[pair] || pair[1] % 2 == 0)
        }
        #expect(pairs.count == known.count && words[nil] == nil)
        words.note(5, of: nil)
        #expect(words[nil] == 5)
    }
}
