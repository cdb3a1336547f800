import Foundation
import PackageTestSupport
import Testing

@testable import MortiseCore
@testable import MortiseEngine

/// Queries carried out on columns against the reference evaluator, row by row, on tables of several chunks in which
/// records were changed and deleted and strings are partly coded.
@Suite struct ColumnQueryTests {
    private func world(_ seed: UInt64) throws -> EngineWorld {
        var world = EngineWorld(seed: seed)
        for step in 0..<24 {
            try world.save(
                inserting: .random(in: 60...160, using: &world.random),
                updating: .random(in: 0...20, using: &world.random),
                deleting: step == 0 ? 0 : .random(in: 0...20, using: &world.random))
        }
        return world
    }

    private func property(_ slot: Int, _ layout: RecordLayout) -> QueryExpression {
        .property(.variable(0), QueryProperty(entity: "Thing", name: layout.slots[slot].name, slot: slot))
    }

    /// A condition of every form that columns evaluate, and of some that they do not.
    private func condition(_ world: inout EngineWorld, _ layout: RecordLayout, depth: Int = 0) -> QueryExpression {
        let slots = layout.slots.indices.filter { layout.slots[$0].role == .attribute }
        let slot = slots.randomElement(using: &world.random) ?? 0
        let kind = layout.slots[slot].property.attribute?.kind ?? .coded
        let isEphemeral = layout.slots[slot].property.attribute?.options.contains(.ephemeral) == true
        if isEphemeral || kind == .coded { return condition(&world, layout, depth: depth) }
        let own = property(slot, layout)
        let comparisons: [QueryExpression.Comparison] = [
            .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
        ]
        let comparison = comparisons.randomElement(using: &world.random) ?? .equal
        switch Int.random(in: 0..<(depth < 3 ? 12 : 8), using: &world.random) {
        case 0: return .compare(comparison, own, .constant(.null))
        case 1: return .compare(comparison, .constant(world.value(kind)), own)
        case 2:
            let count = Int.random(in: 0...6, using: &world.random)
            return .contains(.list((0..<count).map { _ in .constant(world.value(kind)) }), own)
        case 3:
            let bounds = (world.value(kind), world.value(kind))
            guard ValueSemantics.holds(.lessOrEqual, bounds.0, bounds.1) else { break }
            return .contains(
                .range(.constant(bounds.0), .constant(bounds.1), isClosed: .random(using: &world.random)), own)
        case 8: return .not(condition(&world, layout, depth: depth + 1))
        case 9, 10:
            return .and(
                (0..<Int.random(in: 0...3, using: &world.random)).map { _ in
                    condition(&world, layout, depth: depth + 1)
                })
        case 11:
            return .or(
                (0..<Int.random(in: 0...3, using: &world.random)).map { _ in
                    condition(&world, layout, depth: depth + 1)
                })
        default: break
        }
        return .compare(comparison, own, .constant(world.value(kind)))
    }

    @Test(arguments: 0..<3)
    func columnsSayOfEveryRowWhatTheReferenceEvaluatorSays(round: Int) throws {
        let seed = testSeed()
        var world = try world(seed)
        let version = world.engine.version
        let catalog = world.engine.catalog
        let layout = try #require(catalog.layouts["Thing"])
        let reader = RecordReader(schema: catalog.schema, layouts: catalog.layouts) { version.rows(ofEntity: $0) }
        let number = try #require(reader.table(named: "Thing"))
        let table = try #require(reader.tables[number].rows as? TableVersion)
        #expect(table.endRow > Chunk.capacity, "seed \(seed)")
        let evaluator = QueryEvaluator(reader: reader)
        let all = (0..<table.endRow).filter(table.contains(row:)).map { RecordReference(table: number, row: $0) }
        var (hits, undecided) = (0, 0)
        for _ in 0..<120 {
            let conjuncts = (0..<Int.random(in: 1...3, using: &world.random)).map { _ in condition(&world, layout) }
            let expected = try all.filter { record in
                try conjuncts.allSatisfy { try evaluator.matches($0, record) }
            }
            hits += expected.isEmpty ? 0 : 1
            if all.contains(where: { isUndecided($0, conjuncts, table) }) {
                undecided += 1
                continue
            }
            var query = StoreQuery("Thing", includesSubentities: false, conjuncts: conjuncts)
            let text = "seed \(seed): \(conjuncts.map(\.description).joined(separator: " && "))"
            #expect(try run(query, catalog, version).rows == expected, "\(text)")
            query.purpose = .count
            #expect(try run(query, catalog, version).count == expected.count, "\(text)")
            query.purpose = .rows
            query.limit = Int.random(in: 0...20, using: &world.random)
            query.offset = Int.random(in: 0...5, using: &world.random)
            #expect(
                try run(query, catalog, version).rows == Array(expected[query.window(of: expected.count)]), "\(text)")
        }
        #expect(hits > 24, "seed \(seed)")
        #expect(undecided < 24, "seed \(seed)")
    }

    /// Whether a condition asks for the order of a row's string and another that Swift does not tell: neither is before the
    /// other, and they are not equal. Stores may differ there, as `ValueSemantics` says.
    private func isUndecided(_ record: RecordReference, _ conjuncts: [QueryExpression], _ table: TableVersion) -> Bool {
        var texts: [String] = []
        for conjunct in conjuncts {
            conjunct.forEachPart { part in
                if case .constant(.string(let text)) = part { texts.append(text) }
            }
        }
        guard !texts.isEmpty else { return false }
        return table.layout.slots.indices.contains { slot in
            guard case .string(let own) = table.value(row: record.row, slot: slot) else { return false }
            return texts.contains { !(own < $0) && !($0 < own) && own != $0 }
        }
    }

    @Test(arguments: 0..<3)
    func rowsComeInTheOrderOfTheReferenceSort(round: Int) throws {
        let seed = testSeed()
        var world = try world(seed)
        let version = world.engine.version
        let catalog = world.engine.catalog
        let layout = try #require(catalog.layouts["Thing"])
        let reader = RecordReader(schema: catalog.schema, layouts: catalog.layouts) { version.rows(ofEntity: $0) }
        let number = try #require(reader.table(named: "Thing"))
        let rows = reader.tables[number].rows
        let all = (0..<rows.endRow).filter(rows.contains(row:)).map { RecordReference(table: number, row: $0) }
        let slots = layout.slots.indices.filter {
            layout.slots[$0].role == .attribute && layout.slots[$0].property.attribute?.kind != .coded
                && layout.slots[$0].name != "passing"
        }
        let evaluator = QueryEvaluator(reader: reader)
        for _ in 0..<30 {
            let order = slots.shuffled(using: &world.random).prefix(Int.random(in: 1...2, using: &world.random)).map {
                StoreQuery.Order(
                    property($0, layout), isAscending: .random(using: &world.random), stringOrder: nil)
            }
            let keyed = try all.map { record in
                (record: record, keys: try order.map { try evaluator.sortKey($0.expression, record) })
            }
            let expected = keyed.sorted { precedes($0, $1, order) }.map(\.record)
            var query = StoreQuery("Thing", includesSubentities: false, order: order)
            let text = "seed \(seed): \(order.map { "\($0.expression) \($0.isAscending)" })"
            #expect(try run(query, catalog, version).rows == expected, "\(text)")
            query.limit = Int.random(in: 1...40, using: &world.random)
            query.offset = Int.random(in: 0...10, using: &world.random)
            #expect(
                try run(query, catalog, version).rows == Array(expected[query.window(of: expected.count)]), "\(text)")
        }
    }

    private func precedes(
        _ a: (record: RecordReference, keys: [StoredValue]), _ b: (record: RecordReference, keys: [StoredValue]),
        _ order: [StoreQuery.Order]
    ) -> Bool {
        for (index, key) in order.enumerated() {
            switch key.compare(a.keys[index], b.keys[index]) {
            case .orderedAscending: return true
            case .orderedDescending: return false
            case .orderedSame: continue
            }
        }
        return a.record.row < b.record.row
    }

    private func run(_ query: StoreQuery, _ catalog: Catalog, _ version: EngineVersion) throws -> VersionRows {
        let planned = EngineQuery(query, catalog)
        let found = try planned.run(planned.plan(), in: version)
        // The query's own reader may number its tables otherwise.
        let number = found.entities.firstIndex(of: "Thing") ?? 0
        #expect(found.rows.allSatisfy { $0.table == number })
        return VersionRows(
            entities: ["Thing"], rows: found.rows.map { RecordReference(table: 0, row: $0.row) },
            count: found.count, report: found.report)
    }
}
