import Foundation
import MortiseTestSupport
import PackageTestSupport
import Synchronization

@testable import MortiseCore
@testable import MortiseEngine

/// A world whose records are partly in a packed version and partly in the tail of a log behind it.
struct TailWorld {
    /// Every kind of attribute in an index of its own, some in several together, families of which some have no records at
    /// first, and entities without columns.
    static let schema: StoredSchema = {
        var entities = EngineWorld.schema.entities
        let kinds = EngineWorld.kinds.filter { $0 != .coded }
        let thing = entities.firstIndex { $0.name == "Thing" } ?? 0
        entities[thing].uniquenessConstraints = [["code"], ["may_uuid", "code"]]
        entities[thing].indices =
            kinds.flatMap { ["must_\($0.rawValue)", "may_\($0.rawValue)"] }.map { StoredIndex(properties: [$0]) }
            + [
                StoredIndex(properties: ["group"]), StoredIndex(properties: ["group", "must_date"]),
                StoredIndex(properties: ["may_string", "must_int64"]), StoredIndex(properties: ["owner"]),
            ]
        entities += [
            StoredEntity(name: "Rare", superentity: "Thing", properties: []),
            StoredEntity(name: "Mark", properties: []), StoredEntity(name: "Knot", superentity: "Mark", properties: []),
        ]
        return StoredSchema(entities: entities)
    }()

    /// The world, which goes on while its versions stay.
    var world: EngineWorld
    /// The packed version, with nothing of it in memory.
    private(set) var base: EngineVersion
    let tail: EngineTail
    let file: PackedBytesOfVersion
    private var last: EngineVersion

    /// Packs what a world has by now.
    init(_ world: EngineWorld) throws {
        self.world = world
        last = world.engine.version
        file = try PackedBytesOfVersion(last)
        base = try file.open(last)
        tail = try EngineTail(base) { $0 }.unwrapped
    }

    /// Brings what was saved since into the tail.
    mutating func follow() throws {
        let next = world.engine.version
        try tail.append(from: last, to: next)
        last = next
    }

    var overlaid: EngineVersion {
        get throws { try tail.overlaid(number: last.number, nextSequence: last.nextSequence) }
    }
}

struct Missing: Error {}
extension Optional {
    var unwrapped: Wrapped {
        get throws {
            guard let self else { throw Missing() }
            return self
        }
    }
}

/// The bytes of a packed version, and how many of them were read.
final class PackedBytesOfVersion {
    let tables: [PackedTable]
    let disk = SimulatedFileSystem()
    let count: Int

    init(_ version: EngineVersion) throws {
        var bytes: [UInt8] = Array(repeating: 0, count: 64)
        var packer = VersionPacker { region in
            while bytes.count % 8 != 0 { bytes.append(0) }
            let offset = UInt64(bytes.count)
            bytes.append(contentsOf: region)
            var sum = CRC32C(resuming: 7)
            sum.update(region)
            return PackedRegion(offset: offset, length: UInt32(region.count), checksum: sum.value)
        }
        tables = try packer.pack(version)
        count = bytes.count
        try disk.install(bytes, at: "/packed")
    }

    func open(_ version: EngineVersion) throws -> EngineVersion {
        let file = PackedFile(try disk.open("/packed", mode: .read), end: UInt64(count), seed: 7) { $0 }
        return try EngineVersion.unpack(
            tables, from: file, number: version.number, nextSequence: version.nextSequence,
            catalog: Catalog(schema: version.catalog.schema, storeIdentifier: version.catalog.storeIdentifier))
    }

    /// How many regions were read so far.
    var reads: Int { disk.trace.count { $0.operation == .read } }
}

extension EngineTail {
    /// Takes in what leads from one version to the next, as a log has it.
    func append(from old: EngineVersion, to new: EngineVersion) throws {
        for (entity, plan) in new.catalog.plans.enumerated() {
            guard let table = old.tables[plan.entityName] else { continue }
            for row in 0..<table.endRow where table.contains(row: row) {
                if new.tables[plan.entityName]?.row(ofSequence: table.sequence(ofRow: row)) == nil {
                    try delete(entity: entity, sequence: table.sequence(ofRow: row))
                }
            }
        }
        for (entity, plan) in new.catalog.plans.enumerated() {
            guard let table = new.tables[plan.entityName] else { continue }
            let slots = plan.columns.filter { $0.role != .toManyDerived }.map(\.slot)
            for row in 0..<table.endRow where table.contains(row: row) {
                let sequence = table.sequence(ofRow: row)
                guard let before = old.tables[plan.entityName], let place = before.row(ofSequence: sequence) else {
                    let values = plan.columns.map {
                        $0.role == .toManyDerived ? StoredValue.null : table.storedForm(row: row, slot: $0.slot)
                    }
                    try insert(entity: entity, sequence: sequence, ContiguousArray(values))
                    continue
                }
                let differing = slots.filter {
                    !table.storedForm(row: row, slot: $0).isIdentical(to: before.storedForm(row: place, slot: $0))
                }
                if differing.isEmpty { continue }
                try update(
                    entity: entity, sequence: sequence, differing.map { ($0, table.storedForm(row: row, slot: $0)) })
            }
        }
    }
}

// MARK: Comparing

/// The first answer of an index that another one, with the same records, does not give.
func difference(
    between index: OrderedIndex, of table: TableVersion, and other: OrderedIndex, of reference: TableVersion,
    _ random: inout SeededGenerator
) -> String? {
    struct Entry: Equatable {
        let key: [UInt8]
        let sequence: UInt64
    }
    func entry(_ probe: IndexProbe, _ table: TableVersion) -> Entry {
        var key: [UInt8] = []
        for word in [probe.head, probe.second] { withUnsafeBytes(of: word.bigEndian) { key.append(contentsOf: $0) } }
        return Entry(key: key + [UInt8](probe.tail), sequence: table.sequence(ofRow: Int(probe.row)))
    }
    func entries(_ index: OrderedIndex, _ table: TableVersion, descending: Bool) -> [Entry] {
        var found: [Entry] = []
        index.forEachRun(from: nil, to: nil, descending: descending) { node, run in
            for place in descending ? Array(run.reversed()) : Array(run) {
                found.append(entry(node.probe(place), table))
            }
            return true
        }
        return found
    }
    let expected = entries(other, reference, descending: false)
    var steps: [() -> String?] = [
        { entries(index, table, descending: false) == expected ? nil : "entries" },
        { entries(index, table, descending: true) == expected.reversed() ? nil : "entries, descending" },
        { index.count == expected.count ? nil : "count \(index.count), not \(expected.count)" },
    ]
    let ends = (0..<12).map { _ in random.below(expected.count + 1) }
    for (first, second) in zip(ends, ends.dropFirst()) {
        steps.append {
            guard first < expected.count, let probe = other.entry(at: first),
                let row = table.row(ofSequence: expected[first].sequence)
            else { return nil }
            let own = IndexProbe(head: probe.head, second: probe.second, tail: probe.tail, row: UInt64(row))
            if !index.contains(own) { return "contains \(first)" }
            if index.rank(own) != first { return "rank \(index.rank(own)), not \(first)" }
            guard let found = index.entry(at: first), entry(found, table) == expected[first] else {
                return "at \(first)"
            }
            let lowest = index.firstRow(probe).map { table.sequence(ofRow: Int($0)) }
            if lowest != other.firstRow(probe).map({ reference.sequence(ofRow: Int($0)) }) { return "first row" }
            let start = IndexProbe(head: probe.head, second: probe.second, tail: probe.tail, row: 0)
            let end = other.entry(at: max(first, second))
            let upper = end.map { IndexProbe(head: $0.head, second: $0.second, tail: $0.tail, row: 0) }
            if index.count(from: start, to: upper) != other.count(from: start, to: upper) { return "count of a range" }
            var (rows, others): ([UInt64], [UInt64]) = ([], [])
            let limit = second % 30
            index.forEachRowDescending(from: start, to: upper) {
                rows.append(table.sequence(ofRow: $0))
                return rows.count < limit
            }
            other.forEachRowDescending(from: start, to: upper) {
                others.append(reference.sequence(ofRow: $0))
                return others.count < limit
            }
            return rows == others ? nil : "rows, descending"
        }
    }
    // The order decides what is known when something else is asked for.
    for step in steps.shuffled(using: &random) {
        if let text = step() { return text }
    }
    return nil
}

/// The first answer of a version's indexes and links that another one, with the same records, does not give.
func difference(
    between version: EngineVersion, and reference: EngineVersion, _ random: inout SeededGenerator
) -> String? {
    for plan in version.catalog.plans.shuffled(using: &random) {
        guard let other = reference.tables[plan.entityName] else {
            if let table = version.tables[plan.entityName], table.count > 0 { return "\(plan.entityName) has records" }
            continue
        }
        guard let table = version.tables[plan.entityName] else {
            if other.count > 0 { return "\(plan.entityName) is missing" }
            continue
        }
        if table.count != other.count { return "\(plan.entityName) has \(table.count) records, not \(other.count)" }
        for number in plan.indexes.indices.shuffled(using: &random) {
            if let text = difference(
                between: table.indexes[number], of: table, and: other.indexes[number], of: other, &random)
            {
                return "\(plan.entityName), index \(plan.indexes[number].slots): \(text)"
            }
        }
        for number in table.links.indices.shuffled(using: &random) {
            if let text = difference(between: table.links[number], and: other.links[number], &random) {
                return "\(plan.entityName), links \(number): \(text)"
            }
        }
    }
    return nil
}

private func difference(between links: LinkSet, and other: LinkSet, _ random: inout SeededGenerator) -> String? {
    func pairs(_ links: LinkSet) -> [[UInt64]] {
        var pairs: [[UInt64]] = []
        links.pairs.forEachRun(from: nil, to: nil) { node, run in
            for index in run { pairs.append([node.head(index), node.second(index), node.row(index)]) }
            return true
        }
        return pairs
    }
    let expected = pairs(other)
    for owner in Set(expected.map { $0[0] }).shuffled(using: &random).prefix(20) {
        let members = links.members(of: owner).map { [owner, $0.member, UInt64($0.target)] }
        if members != expected.filter({ $0[0] == owner }) { return "members of \(owner)" }
    }
    if random.chance(2), links.pairs.count != expected.count { return "\(links.pairs.count), not \(expected.count)" }
    return pairs(links) == expected ? nil : "pairs"
}
