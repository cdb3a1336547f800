import Foundation
import MortiseCore
import MortiseSQL
import SQLSupport
import PackageTestSupport
import Testing

/// The translation of conditions, compared with the reference evaluator without a database.
@Suite struct TranslatorTests {
    private static let count =
        ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"] == "full" ? 100_000 : 4_000

    private static func mapping() -> TableMapping {
        var catalog = TableCatalog()
        catalog.add(NodeSchema.stored)
        return TableMapping(NodeSchema.stored, catalog)
    }

    @Test func randomConditionsSelectWhatTheReferenceEvaluatorSelects() throws {
        var numbers = SeededGenerator(seed: testSeed())
        let mapping = Self.mapping()
        var (exact, superset, unknown, thrown) = (0, 0, 0, 0)
        var records = NodeRecords(0, store: "s", &numbers)
        var interpreter = try SQLInterpreter([], mapping)
        for round in 0..<Self.count {
            if round % 200 == 0 {
                records = NodeRecords(12, store: "s", &numbers)
                interpreter = try SQLInterpreter(records.records, mapping)
            }
            var maker = RandomCondition(numbers, store: "s")
            let entity = maker.numbers.pick(["Node", "Special", "Box"])
            let condition = maker.condition(of: entity, depth: maker.numbers.below(4))
            numbers = maker.numbers
            let query = StoreQuery(entity, conjuncts: [condition])
            let plan = try #require(SelectionPlan(query, mapping, store: "s"))
            let found = interpreter.numbers(plan.selection)
            guard let wanted = Self.matches(condition, of: entity, records) else {
                thrown += 1
                continue
            }
            switch plan.claims[0] {
            case .exact:
                exact += 1
                guard found != wanted else { continue }
                Issue.record("\(condition)\nexpected \(wanted.sorted())\nfound \(found.sorted())\n\(plan.rows().text)")
                return
            case .superset:
                superset += 1
                guard !found.isSuperset(of: wanted) else { continue }
                Issue.record("\(condition)\nexpected at least \(wanted.sorted())\nfound \(found.sorted())")
                return
            default: unknown += 1
            }
        }
        print("exact \(exact), superset \(superset), left out \(unknown), thrown \(thrown)")
        #expect(exact > Self.count / 2)
        #expect(superset > 0)
    }

    /// The numbers of the records for which a condition holds; nil where evaluation throws.
    private static func matches(
        _ condition: QueryExpression, of entity: String, _ records: NodeRecords
    ) -> Set<Int64>? {
        let reader = records.reader()
        let evaluator = QueryEvaluator(reader: reader)
        let family = NodeSchema.stored.subtree(of: entity)
        var found: Set<Int64> = []
        for record in records.records where family.contains(record.persistentIdentifier.entityName) {
            guard let reference = reader.record(record.persistentIdentifier) else { return nil }
            do {
                if try evaluator.matches(condition, reference) {
                    found.insert(Int64(record.persistentIdentifier.sequenceNumber ?? 0))
                }
            } catch {
                return nil
            }
        }
        return found
    }
}
