#if PostgreSQL
import Foundation
import MortiseCore
@testable import MortisePostgreSQL
import SQLSupport
import PackageTestSupport
import Testing

/// Random conditions and orders on a server, compared with the reference evaluator.
@Suite(.enabled(if: TestServer.url != nil, "\(TestServer.reason)")) struct ServerQueryTests {
    private static let count =
        ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"] == "full" ? 100_000 : 3_000

    @Test func randomQueriesFindWhatTheReferenceEvaluatorFinds() throws {
        var numbers = SeededGenerator(seed: testSeed())
        var space = try TestSpace()
        var (exact, superset, unknown, thrown, sorted) = (0, 0, 0, 0, 0)
        var (records, opened) = (NodeRecords(0, store: "s", &numbers), PostgreSQLStore?.none)
        for round in 0..<Self.count {
            if round % 500 == 0 {
                try opened?.close()
                records = NodeRecords(12, store: "s", &numbers)
                let another = try TestSpace()
                let store = try another.open(NodeSchema.stored.entities)
                try store.restore(records.records, ofStore: "s", nextNumber: 13)
                (opened, space) = (store, another)
            }
            let store = try #require(opened)
            var maker = RandomCondition(numbers, store: "s")
            let entity = maker.numbers.pick(["Node", "Special", "Box"])
            let condition = maker.condition(of: entity, depth: maker.numbers.below(4))
            var query = StoreQuery(
                entity, includesSubentities: !maker.numbers.chance(4), conjuncts: [condition],
                order: maker.numbers.chance(2) ? maker.order(of: entity) : [])
            if maker.numbers.chance(3) { query.offset = maker.numbers.below(4) }
            if maker.numbers.chance(3) { query.limit = maker.numbers.below(5) }
            numbers = maker.numbers
            let plan = store.plan(query)
            let wanted: [PersistentIdentifier]
            do {
                wanted = try Self.matches(query, records)
            } catch {
                thrown += 1
                continue
            }
            let found = try store.rows(for: plan).snapshots.map(\.persistentIdentifier)
            switch plan.claims[0] {
            case .exact:
                exact += 1
                if plan.order == .total {
                    sorted += query.order.isEmpty ? 0 : 1
                    let window = plan.appliesLimit ? Array(wanted[query.window(of: wanted.count)]) : wanted
                    guard found != window else { break }
                    Issue.record("\(query)\nexpected \(window)\nfound \(found)\n\(plan.detail)")
                    return
                }
                guard Set(found) != Set(wanted) || found.count != wanted.count else { break }
                Issue.record("\(query)\nexpected \(wanted)\nfound \(found)\n\(plan.detail)")
                return
            case .superset:
                superset += 1
                guard !Set(found).isSuperset(of: wanted) else { break }
                Issue.record("\(query)\nexpected at least \(wanted)\nfound \(found)\n\(plan.detail)")
                return
            default: unknown += 1
            }
        }
        try opened?.close()
        _ = space
        print("exact \(exact), of them sorted \(sorted), superset \(superset), left out \(unknown), thrown \(thrown)")
        #expect(exact > Self.count / 2 && sorted > 0 && superset > 0)
    }

    /// What the reference evaluator and the framework's own order make of the query, before offset and limit.
    private static func matches(_ query: StoreQuery, _ records: NodeRecords) throws -> [PersistentIdentifier] {
        let reader = records.reader()
        let family = query.includesSubentities ? NodeSchema.stored.subtree(of: query.entity) : [query.entity]
        let references = records.records.map(\.persistentIdentifier).filter { family.contains($0.entityName) }
            .compactMap { reader.record($0) }
        let evaluator = QueryEvaluator(reader: reader)
        let matches = try references.filter { try evaluator.matches(query.conjuncts[0].expression, $0) }
        return try QueryExecutor(reader: reader).sort(matches, by: query.order).map { reader.identifier($0) }
    }

    @Test func whatIsRestoredComesBackToTheLastBit() throws {
        var numbers = SeededGenerator(seed: testSeed())
        let space = try TestSpace()
        let records = NodeRecords(200, store: "s", &numbers)
        let store = try space.open(NodeSchema.stored.entities)
        try store.restore(records.records, ofStore: "s", nextNumber: 201)
        for entity in ["Node", "Box"] {
            let lists = NodeSchema.stored.subtree(of: entity).flatMap { NodeSchema.layouts[$0]?.slots ?? [] }
                .filter(\.role.isToMany).map(\.name)
            let found = try store.rows(for: store.plan(StoreQuery(entity, prefetch: lists))).snapshots
            let wanted = records.records.filter {
                NodeSchema.stored.subtree(of: entity).contains($0.persistentIdentifier.entityName)
            }
            #expect(found.map(\.persistentIdentifier) == wanted.map(\.persistentIdentifier))
            for (found, wanted) in zip(found, wanted) {
                for (slot, (a, b)) in zip(wanted.layout.slots, zip(found.values, wanted.values))
                where !a.isIdentical(to: b) {
                    Issue.record("\(slot.name) of \(wanted.persistentIdentifier): expected \(b), found \(a)")
                }
            }
        }
        try store.close()
    }
}
#endif
