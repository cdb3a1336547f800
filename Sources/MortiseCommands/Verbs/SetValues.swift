#if Tool
import ArgumentParser
import MortiseCore

/// `mortise set`
struct SetValues: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Changes values of records, after showing what would change.",
        discussion: """
            A value is written as in a CSV file: nothing after the equals sign is nil, "" an empty text. A to-one relationship \
            without an inverse takes the number of a record. The store checks what it always checks, such as unique values, \
            and saves all or nothing.

            EXAMPLES
              mortise set log:library.log Track --where '$id == 7' unitPrice=1.29 composer=
              mortise set log:library.log Track --where 'unitPrice == 0.99' unitPrice=1.09 --yes
            """)

    @OptionGroup var store: StoreOption
    @OptionGroup var options: EditOptions

    @Argument(
        help: ArgumentHelp("Properties and their new values.", valueName: "property=value"),
        completion: .custom(SchemaCompletion.assignments))
    var assignments: [String]

    func run() throws {
        let edit = try RecordEdit(try store.argument(), options)
        let layout = edit.layouts[options.entity] ?? RecordLayout.empty(options.entity)
        var values: [(slot: Int, value: StoredValue)] = []
        for text in assignments {
            let assignment = try Self.assignment(text, layout, edit)
            guard !values.contains(where: { $0.slot == assignment.slot }) else {
                throw ToolError.usage("\(layout.slots[assignment.slot].name) is set twice")
            }
            values.append(assignment)
        }
        let update = values.map { slot, value in
            StoreBatch.Assignment(
                property: QueryProperty(entity: options.entity, name: layout.slots[slot].name, slot: slot),
                value: .constant(value))
        }
        try edit.carryOut(options, .update(update)) { Self.change($0, values) }
        try edit.close()
    }

    private static func change(
        _ run: StoreQueryRun, _ values: [(slot: Int, value: StoredValue)]
    ) -> RecordEdit.Change {
        var changes = ChangeSet(author: "mortise")
        var records: [PersistentIdentifier] = []
        for record in run.records {
            let table = run.reader.tables[record.table]
            var old = ContiguousArray<StoredValue>(repeating: .null, count: table.layout.slots.count)
            var new = old
            var slots = SlotSet()
            for (slot, value) in values {
                old[slot] = run.reader.value(record, slot: slot)
                new[slot] = value
                if old[slot] != value { slots.insert(slot) }
            }
            if slots.isEmpty { continue }
            let identifier = table.rows.identifier(ofRow: record.row)
            records.append(identifier)
            changes.updated.append(
                ChangeSet.Update(record: identifier, layout: table.layout, slots: slots, values: new, oldValues: old))
        }
        return RecordEdit.Change(changes: changes, records: records)
    }

    /// - Throws: `ToolError.usage`, `.unsupported`; the error of a read that failed.
    static func assignment(
        _ text: String, _ layout: RecordLayout, _ edit: RecordEdit
    ) throws -> (slot: Int, value: StoredValue) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else {
            throw ToolError.usage("expected property=value, found \"\(text.shown(limit: 100))\"")
        }
        guard let place = layout.slot(named: parts[0]) else {
            throw ToolError.usage(
                "\(layout.entityName) has no property \"\(parts[0].shown(limit: 100))\""
                    + Suggestion.text(parts[0], among: layout.slots.map(\.name)))
        }
        let slot = layout.slots[place]
        do {
            let field =
                parts[1] == "\"\""
                ? CSVLines.Field(text: "", isQuoted: true)
                : CSVLines.Field(text: parts[1], isQuoted: false)
            guard !slot.role.isRelationship else { return (place, try target(field.text, slot, edit)) }
            let value = try RecordReading.storedValue(field, slot)
            if value.isNull, !slot.property.isOptional { throw BadLine(reason: "it is not optional") }
            return (place, value)
        } catch let error as BadLine { throw ToolError.usage("\(slot.name.shown()): \(error.reason)") }
    }

    private static func target(
        _ text: String, _ slot: RecordLayout.Slot, _ edit: RecordEdit
    ) throws -> StoredValue {
        guard slot.role == .toOne, let relationship = slot.property.relationship, relationship.inverse == nil else {
            throw BadLine(reason: "only to-one relationships without an inverse can be set here")
        }
        if text.isEmpty {
            guard slot.property.isOptional else { throw BadLine(reason: "it is not optional") }
            return .null
        }
        guard let number = UInt64(text) else {
            throw BadLine(reason: "expected the number of a record, found \"\(text.shown(limit: 60))\"")
        }
        for entity in edit.schema.family(of: relationship.destination) {
            let identifier = PersistentIdentifier.numbered(
                number, storeIdentifier: edit.storeIdentifier, entityName: entity)
            if edit.run.reader.record(identifier) != nil { return .identifier(identifier) }
        }
        try edit.run.version.check()
        throw BadLine(reason: "there is no \(relationship.destination) with the number \(number)")
    }
}
#endif
