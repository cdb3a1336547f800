#if Tool
import Foundation
import MortiseCore

/// Records that are saved together.
struct CopyBatch {
    private let schema: StoredSchema
    private let layouts: [RecordLayout]
    private(set) var elements: [IdentityWalk.Element] = []
    private var values: [ContiguousArray<StoredValue>] = []
    /// New identifiers by those of the source.
    private var temporaries: [PersistentIdentifier: PersistentIdentifier] = [:]
    /// Records that others in here require and that are neither in here nor saved.
    private var awaited: Set<PersistentIdentifier> = []
    /// About how much memory the values take.
    private(set) var bytes = 0

    init(_ schema: StoredSchema, _ layouts: [String: RecordLayout]) {
        self.schema = schema
        self.layouts = schema.entities.map { layouts[$0.name] ?? RecordLayout.empty($0.name) }
    }

    var count: Int { elements.count }

    /// Whether all that is required is in here or saved.
    var isComplete: Bool { awaited.isEmpty }

    mutating func append(_ element: IdentityWalk.Element, _ rows: RowSource, _ map: RecordMap) {
        let layout = layouts[element.entity]
        var row = ContiguousArray<StoredValue>()
        row.reserveCapacity(layout.slots.count)
        bytes += 64
        temporaries[element.identifier] = .temporary(entityName: layout.entityName)
        awaited.remove(element.identifier)
        for (slot, property) in layout.slots.enumerated() {
            let isLeftOut =
                property.role == .toManyDerived || property.property.attribute?.options.contains(.ephemeral) == true
            let value: StoredValue =
                property.role == .toManyDerived
                ? .identifiers([]) : isLeftOut ? .null : rows.value(row: element.row, slot: slot)
            if property.role == .toOne, !property.property.isOptional, case .identifier(let target) = value,
                temporaries[target] == nil, map.target(of: target) == nil
            {
                awaited.insert(target)
            }
            bytes += value.approximateBytes
            row.append(value)
        }
        elements.append(element)
        values.append(row)
    }

    /// The records as the target takes them, and whether relationships to later records were left out.
    func snapshots(_ map: RecordMap) -> (snapshots: [DefaultSnapshot], leftOut: Bool) {
        var leftOut = false
        func target(_ identifier: PersistentIdentifier) -> PersistentIdentifier? {
            if let found = map.target(of: identifier) ?? temporaries[identifier] { return found }
            leftOut = true
            return nil
        }
        let snapshots = zip(elements, values).map { element, row in
            let layout = layouts[element.entity]
            var row = row
            for (slot, property) in layout.slots.enumerated() where property.role.isRelationship {
                row[slot] = row[slot].mapped(target)
            }
            let identifier = temporaries[element.identifier] ?? .temporary(entityName: layout.entityName)
            return DefaultSnapshot(persistentIdentifier: identifier, layout: layout, values: row)
        }
        return (snapshots, leftOut)
    }

    mutating func removeAll() {
        elements.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
        temporaries.removeAll(keepingCapacity: true)
        awaited = []
        bytes = 0
    }
}
#endif
