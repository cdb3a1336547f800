import Foundation
import MortiseCore
import PackageTestSupport
import Testing

@testable import MortiseEngine
import MortiseTestSupport

/// Versions that were filled in every order, packed into a file and read back: every kind of index, link, text and value.
@Suite struct PackingTests {
    /// Every kind of attribute has an index of its own, and some have several together.
    private static let schema: StoredSchema = {
        var schema = EngineWorld.schema
        let kinds = EngineWorld.kinds.filter { $0 != .coded }
        for (number, entity) in schema.entities.enumerated() where entity.name == "Thing" {
            schema.entities[number].uniquenessConstraints = [["code"], ["may_uuid", "code"]]
            schema.entities[number].indices =
                kinds.flatMap { ["must_\($0.rawValue)", "may_\($0.rawValue)"] }.map { StoredIndex(properties: [$0]) }
                + [
                    StoredIndex(properties: ["group", "must_date"]),
                    StoredIndex(properties: ["may_string", "must_int64"]),
                    StoredIndex(properties: ["owner"]),
                ]
        }
        return schema
    }()

    /// What comes back of a version out of its regions, with nothing of it in memory.
    private func packed(_ version: EngineVersion) throws -> EngineVersion {
        let read = try PackedBytesOfVersion(version).open(version)
        try read.checkReadable(as: version)
        return read
    }

    /// The indexes as they are when they are made at once from the rows.
    private func hasIndexesOfItsRows(_ version: EngineVersion) throws -> Bool {
        let loader = EngineLoader(version.catalog)
        for (name, table) in version.tables {
            for row in 0..<table.endRow where table.contains(row: row) {
                let values = ContiguousArray(table.plan.columns.indices.map { table.storedForm(row: row, slot: $0) })
                try loader.append(entity: name, sequence: table.sequence(ofRow: row), values)
            }
        }
        let rebuilt = try loader.finish(number: version.number, nextSequence: version.nextSequence)
        func sequences(_ table: TableVersion, _ index: OrderedIndex) -> [UInt64] {
            var found: [UInt64] = []
            index.forEachRun(from: nil, to: nil) { node, run in
                for entry in run { found.append(table.sequence(ofRow: Int(node.row(entry)))) }
                return true
            }
            return found
        }
        return version.tables.allSatisfy { name, table in
            guard let other = rebuilt.tables[name] else { return table.count == 0 }
            return table.indexes.indices.allSatisfy {
                sequences(table, table.indexes[$0]) == sequences(other, other.indexes[$0])
            } && zip(table.links, other.links).allSatisfy { $0.pairs.count == $1.pairs.count }
        }
    }

    /// Whether each branch has its entries in order, the first among them, as readers of version 1 demand.
    private func hasAscendingSeparators(_ version: EngineVersion) throws -> Bool {
        func ascends(_ node: IndexNode) throws -> Bool {
            if node.isLeaf { return true }
            for (index, cell) in node.cells.enumerated() {
                if index > 0, node.head(index - 1) > node.head(index) { return false }
                let child: IndexNode =
                    switch cell {
                    case .node(let node): node
                    case .packed(let packed): try packed.read()
                    }
                if try !ascends(child) { return false }
            }
            return true
        }
        return try version.tables.values.flatMap { $0.indexes + $0.links.map(\.pairs) }.allSatisfy { tree in
            try tree.root.map(ascends) ?? true
        }
    }

    @Test(arguments: [-1, -7, 1, nil] as [Int?])
    func whatIsPackedComesBackWhateverTheOrderWas(step: Int?) throws {
        let seed = testSeed()
        let isFull = ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"] == "full"
        var world = EngineWorld(seed: seed, schema: Self.schema)
        world.step = step
        for round in 0..<(isFull ? 12 : 1) {
            for _ in 0..<40 {
                let size = [1, 1, 3, 12, 40].randomElement(using: &world.random) ?? 1
                try world.save(
                    inserting: size, updating: .random(in: 0...4, using: &world.random),
                    deleting: .random(in: 0...3, using: &world.random))
            }
            let read = try packed(world.engine.version)
            #expect(difference(between: read, and: world.records) == nil, "seed \(seed), round \(round)")
            #expect(read.inconsistencies() == [], "seed \(seed), round \(round)")
            #expect(try hasIndexesOfItsRows(read), "seed \(seed), round \(round)")
            #expect(try hasAscendingSeparators(read), "seed \(seed), round \(round)")
            // On top of what is still in the file.
            let catalog = try packed(world.engine.version)
            var next = EngineWorld(Engine(catalog), world.records, seed: ~seed &+ UInt64(round))
            next.step = step
            next.last = world.last
            try next.save(inserting: 30, updating: 5, deleting: 5)
            #expect(difference(between: next.engine.version, and: next.records) == nil, "seed \(seed), round \(round)")
            #expect(
                difference(between: try packed(next.engine.version), and: next.records) == nil,
                "seed \(seed), round \(round), packed again")
        }
    }
}
