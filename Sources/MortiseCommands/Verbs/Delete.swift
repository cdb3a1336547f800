#if Tool
import ArgumentParser
import MortiseCore

/// `mortise delete`
struct Delete: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Deletes records with all that delete rules take along, after showing what would go.",
        discussion: """
            Related records are deleted, kept, or prevent the deletion, as the delete rules of the schema say. Everything is \
            saved as one transaction, or nothing is.

            EXAMPLES
              mortise delete log:library.log Customer --where '$id == 7'
              mortise delete log:library.log Playlist --where 'tracks.isEmpty' --yes
            """)

    @OptionGroup var store: StoreOption
    @OptionGroup var options: EditOptions

    func run() throws {
        let edit = try RecordEdit(try store.argument(), options)
        try edit.carryOut(options, .delete) { run in
            let changes = try Deletion(of: run.records, run.reader).changes
            return RecordEdit.Change(changes: changes, records: changes.deleted.map(\.record))
        }
        try edit.close()
    }
}

/// What a deletion comes to by the delete rules of a schema.
struct Deletion {
    /// The deleted records with their names, and the records that lose a relationship.
    private(set) var changes = ChangeSet(author: "mortise")

    /// - Throws: `ModelValidationError.deletionDenied`, where a rule denies it.
    init(of records: [RecordReference], _ reader: RecordReader) throws {
        var gone: Set<PersistentIdentifier> = []
        var pending = Array(records.reversed())
        var denials: [(record: PersistentIdentifier, slot: RecordLayout.Slot, related: [PersistentIdentifier])] = []
        var cleared: [(record: PersistentIdentifier, property: String)] = []
        while let record = pending.popLast() {
            let table = reader.tables[record.table]
            let identifier = table.rows.identifier(ofRow: record.row)
            guard gone.insert(identifier).inserted else { continue }
            changes.deleted.append(Self.deletion(record, identifier, table, reader))
            for (place, slot) in table.layout.slots.enumerated() {
                guard let relationship = slot.property.relationship else { continue }
                let related = Self.identifiers(reader.value(record, slot: place))
                switch relationship.deleteRule {
                case .cascade: pending += related.compactMap { reader.record($0) }
                case .deny: if !related.isEmpty { denials.append((identifier, slot, related)) }
                default:
                    if let inverse = relationship.inverse { cleared += related.map { ($0, inverse) } }
                }
            }
        }
        for (record, slot, related) in denials {
            let left = related.filter { !gone.contains($0) }
            if left.isEmpty { continue }
            throw ModelValidationError.deletionDenied(
                entity: record.entityName, property: slot.name, model: record, count: left.count)
        }
        note(cleared.filter { !gone.contains($0.record) }, reader)
    }

    /// The records of which a stored side of a relationship loses what is deleted.
    private mutating func note(_ cleared: [(record: PersistentIdentifier, property: String)], _ reader: RecordReader) {
        var places: [PersistentIdentifier: Int] = [:]
        for (record, property) in cleared {
            guard let reference = reader.record(record) else { continue }
            let layout = reader.tables[reference.table].layout
            guard let slot = layout.slot(named: property), layout.slots[slot].role != .toManyDerived else { continue }
            if let place = places[record] {
                changes.updated[place].slots.insert(slot)
            } else {
                places[record] = changes.updated.count
                changes.updated.append(ChangeSet.Update(record: record, layout: layout, slots: SlotSet([slot])))
            }
        }
    }

    private static func identifiers(_ value: StoredValue) -> [PersistentIdentifier] {
        switch value {
        case .identifier(let identifier): [identifier]
        case .identifiers(let identifiers): Array(identifiers)
        default: []
        }
    }

    /// Its first texts and numbers tell people which record it is.
    private static func deletion(
        _ record: RecordReference, _ identifier: PersistentIdentifier, _ table: RecordReader.Table,
        _ reader: RecordReader
    ) -> ChangeSet.Deletion {
        var values = ContiguousArray<StoredValue>(repeating: .null, count: table.layout.slots.count)
        var shown = SlotSet()
        for (place, slot) in table.layout.slots.enumerated() {
            guard shown.slots.count < 3, let kind = slot.property.attribute?.kind, kind == .string || kind.isNumber
            else {
                continue
            }
            values[place] = reader.value(record, slot: place)
            if !values[place].isNull { shown.insert(place) }
        }
        return ChangeSet.Deletion(record: identifier, layout: table.layout, values: values, preserved: shown)
    }
}
#endif
