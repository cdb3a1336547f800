import Foundation
@testable import MortiseCore
@testable import MortiseEngine

/// Holds a version of an engine against the plain model that it should agree with.
/// - Returns: the first difference.
func difference(
    between version: EngineVersion, and records: [PersistentIdentifier: EngineWorld.Record]
) -> String? {
    let catalog = version.catalog
    var found = 0
    for (name, table) in version.tables {
        var last: UInt64 = 0
        for row in 0..<table.endRow {
            guard table.contains(row: row) else { continue }
            found += 1
            let identifier = table.identifier(ofRow: row)
            guard let record = records[identifier] else { return "\(identifier) should not be there" }
            if table.row(of: identifier) != row { return "\(identifier) is not found by its identifier" }
            if table.sequence(ofRow: row) <= last { return "\(name) is out of order at row \(row)" }
            last = table.sequence(ofRow: row)
            for (slot, description) in table.layout.slots.enumerated() {
                let expected = expectation(records, identifier, record, slot, description, catalog)
                let actual = table.value(row: row, slot: slot)
                if actual != expected { return "\(identifier).\(description.name) is \(actual), not \(expected)" }
                if let text = typedDifference(table, row, slot, expected) {
                    return "\(identifier).\(description.name): \(text)"
                }
            }
        }
        if let text = indexDifference(table) { return "\(name): \(text)" }
    }
    return found == records.count ? nil : "\(found) records, not \(records.count)"
}

private func expectation(
    _ records: [PersistentIdentifier: EngineWorld.Record], _ identifier: PersistentIdentifier,
    _ record: EngineWorld.Record, _ slot: Int, _ description: RecordLayout.Slot, _ catalog: Catalog
) -> StoredValue {
    switch description.role {
    case .attribute:
        return description.property.attribute?.options.contains(.ephemeral) == true ? .null : record.values[slot]
    case .toOne: return record.values[slot]
    case .toManyStored:
        guard case .identifiers(let members) = record.values[slot] else { return .identifiers([]) }
        return .identifiers(Set(members).sorted())
    case .toManyDerived:
        guard let relationship = description.property.relationship, let inverse = relationship.inverse else {
            return .null
        }
        var owners: [PersistentIdentifier] = []
        for (owner, other) in records {
            guard let place = catalog.layouts[other.entity]?.slot(named: inverse),
                catalog.schema.subtree(of: relationship.destination).contains(other.entity)
            else { continue }
            switch other.values[place] {
            case .identifier(let target) where target == identifier: owners.append(owner)
            case .identifiers(let targets) where targets.contains(identifier): owners.append(owner)
            default: break
            }
        }
        return .identifiers(owners.sorted())
    }
}

private func typedDifference(_ table: TableVersion, _ row: Int, _ slot: Int, _ expected: StoredValue) -> String? {
    if table.isNull(row: row, slot: slot) != expected.isNull { return "isNull disagrees" }
    let read: StoredValue? =
        switch expected {
        case .null:
            [
                table.bool(row: row, slot: slot) == nil, table.int64(row: row, slot: slot) == nil,
                table.uint64(row: row, slot: slot) == nil, table.float(row: row, slot: slot) == nil,
                table.double(row: row, slot: slot) == nil, table.date(row: row, slot: slot) == nil,
                table.uuid(row: row, slot: slot) == nil, table.decimal(row: row, slot: slot) == nil,
                table.string(row: row, slot: slot) == nil, table.data(row: row, slot: slot) == nil,
                table.url(row: row, slot: slot) == nil, table.identifier(row: row, slot: slot) == nil,
            ].allSatisfy { $0 } ? .null : nil
        case .bool: table.bool(row: row, slot: slot).map { .bool($0) }
        case .integer where table.plan.columns[slot].kind != .coded:
            table.int64(row: row, slot: slot).map { .integer($0) }
        case .unsigned: table.uint64(row: row, slot: slot).map { .unsigned($0) }
        case .float: table.float(row: row, slot: slot).map { .float($0) }
        case .double: table.double(row: row, slot: slot).map { .double($0) }
        case .date: table.date(row: row, slot: slot).map { .date($0) }
        case .uuid: table.uuid(row: row, slot: slot).map { .uuid($0) }
        case .decimal: table.decimal(row: row, slot: slot).map { .decimal($0) }
        case .string where table.plan.columns[slot].kind != .coded:
            table.string(row: row, slot: slot).map { .string($0) }
        case .data: table.data(row: row, slot: slot).map { .data($0) }
        case .url: table.url(row: row, slot: slot).map { .url($0) }
        case .identifier: table.identifier(row: row, slot: slot).map { .identifier($0) }
        case .identifiers: .identifiers(table.identifiers(row: row, slot: slot))
        default: expected
        }
    return read == expected ? nil : "typed read gives \(read.map { "\($0)" } ?? "nil"), not \(expected)"
}

/// Every live row stands once in every index, under its own key, in ascending order, and nothing else does.
private func indexDifference(_ table: TableVersion) -> String? {
    let key = KeyBuffer()
    for (number, definition) in table.plan.indexes.enumerated() {
        let index = table.indexes[number]
        if index.count != table.count {
            return "index \(definition.slots) has \(index.count) entries, not \(table.count)"
        }
        for row in 0..<table.endRow where table.contains(row: row) {
            key.setKey(table.place(ofChunk: row >> Chunk.shift), row & Chunk.mask, definition, table.dictionaries)
            if !index.contains(IndexProbe(key.key, row: UInt64(row), isWide: index.isWide)) {
                return "index \(definition.slots) lacks row \(row)"
            }
        }
        if let text = index.faults().first { return "index \(definition.slots): \(text)" }
    }
    return nil
}

extension OrderedIndex {
    /// What is wrong with the tree's structure.
    func faults() -> [String] {
        var faults: [String] = []
        var last: (key: [UInt8], row: UInt64)?
        var total = 0
        forEachRun(from: nil, to: nil) { node, run in
            for index in run {
                var key: [UInt8] = []
                for word in isWide ? [node.head(index), node.second(index)] : [node.head(index)] {
                    withUnsafeBytes(of: word.bigEndian) { key.append(contentsOf: $0) }
                }
                key.append(contentsOf: node.tail(index))
                while key.last == 0 { key.removeLast() }
                if let last, !(last.key.lexicographicallyPrecedes(key) || last.key == key && last.row < node.row(index))
                {
                    faults.append("entries out of order")
                }
                last = (key, node.row(index))
                total += 1
            }
            return true
        }
        if total != count { faults.append("\(total) entries found, \(count) counted") }
        func check(_ node: IndexNode) {
            guard !node.isLeaf else { return }
            for child in 0..<node.count {
                if node.counts[child] != node.children[child].total { faults.append("a branch miscounts a child") }
                check(node.children[child])
            }
        }
        if let root { check(root) }
        return faults
    }
}
