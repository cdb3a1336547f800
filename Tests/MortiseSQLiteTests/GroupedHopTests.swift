#if SQLite
import Foundation
import MortiseCore
@testable import MortiseSQLite
import PackageTestSupport
import SQLSupport
import Testing

/// Groups by what to-one relationships lead to, made of the columns of the database, compared with the reference evaluator.
@Suite struct GroupedHopTests {
    private static func property(_ entity: String, _ name: String, of base: QueryExpression) -> QueryExpression {
        .property(
            base,
            QueryProperty(entity: entity, name: name, slot: NodeSchema.layouts[entity]?.slot(named: name) ?? -1))
    }

    @Test func groupsOverRelationshipsAreThoseOfTheReferenceEvaluator() throws {
        let seed = testSeed()
        var numbers = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let node = QueryExpression.variable(0)
        let box = Self.property("Node", "box", of: node)
        let outer = Self.property("Box", "outer", of: box)
        let next = Self.property("Node", "next", of: node)
        let keys: [QueryExpression] = [
            Self.property("Box", "rank", of: box), Self.property("Box", "rank", of: outer),
            Self.property("Box", "label", of: box), Self.property("Box", "level", of: outer),
            Self.property("Node", "state", of: next), Self.property("Node", "name", of: next),
            Self.property("Node", "tiny", of: node), .identifier(outer),
            .identifier(Self.property("Node", "box", of: next)),
        ]
        let functions: [[AggregateFunction]] = [
            [.count, .sum(Self.property("Box", "rank", of: box), .int32)],
            [
                .count, .minimum(Self.property("Box", "rank", of: outer)),
                .maximum(Self.property("Node", "tiny", of: next)),
            ],
            [.count, .average(Self.property("Box", "rank", of: box), .int32)],
            [.count, .maximum(Self.property("Box", "label", of: outer))],
        ]
        for round in 0..<40 {
            let records = NodeRecords(60, store: "s", &numbers)
            var configuration = SQLiteConfiguration(path: folder.path("\(round).sqlite"), durability: .none)
            configuration.schema = Schema(stored: NodeSchema.stored)
            let store = try SQLiteStore(configuration, migrationPlan: nil)
            try store.restore(records.records, ofStore: "s", nextNumber: 61)
            for _ in 0..<8 {
                let chosen = (0..<numbers.below(3)).map { _ in numbers.pick(keys) }
                let query = AggregateQuery(StoreQuery("Node"), by: chosen, numbers.pick(functions))
                let wanted = Result { try Self.groups(query, records) }
                let found = Result { try store.aggregate(query, in: nil) }
                switch (wanted, found) {
                case (.success(let wanted), .success(let found)):
                    // Nil would say that the store leaves it to the framework.
                    #expect(found?.groups.count == wanted.count, "seed \(seed): \(query)")
                    for (a, b) in zip(wanted, found?.groups ?? []) {
                        #expect(
                            zip(a.keys + a.values, b.keys + b.values).allSatisfy { $0.isIdentical(to: $1) },
                            "seed \(seed): \(query)\nexpected \(a)\nfound \(b)")
                    }
                case (.failure, .failure): break
                default: Issue.record("seed \(seed): \(query)\nexpected \(wanted)\nfound \(found)")
                }
            }
            try store.close()
        }
    }

    /// The groups of the values that the reference evaluator finds.
    private static func groups(_ query: AggregateQuery, _ records: NodeRecords) throws -> [AggregateGroup] {
        let reader = records.reader()
        let family = NodeSchema.stored.subtree(of: query.query.entity)
        let evaluator = QueryEvaluator(reader: reader)
        var groups = AggregateGroups()
        let states = query.functions.map { AggregateState($0) }
        if query.keys.isEmpty {
            _ = groups.number(of: [])
            for state in states { state.reserve(groups: 1) }
        }
        for record in records.records.map(\.persistentIdentifier) where family.contains(record.entityName) {
            guard let reference = reader.record(record) else { continue }
            let group = groups.number(of: try query.keys.map { try evaluator.sortKey($0, reference) })
            for (state, function) in zip(states, query.functions) {
                state.reserve(groups: groups.count)
                guard let expression = function.expression else {
                    state.add(count: 1, group: group)
                    continue
                }
                try state.add(try evaluator.sortKey(expression, reference), group: group)
            }
        }
        return try groups.results(states)
    }
}
#endif
