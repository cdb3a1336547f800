#if Tool
import ArgumentParser
import Foundation
import MortiseCore

/// `mortise set`
struct SetValues: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Changes values of records, after showing what would change.",
        discussion: """
            A value is written as in a CSV file: nothing after the equals sign is nil, "" an empty text. A relationship takes \
            the numbers of records, separated by commas: tags=3,4 replaces, tags+=5 adds, tags-=3 removes. Both sides \
            change. The store checks what it always checks, such as unique values, \
            and saves all or nothing.

            EXAMPLES
              mortise set log:library.log Track --where '$id == 7' unitPrice=1.29 composer=
              mortise set log:library.log Track --where 'unitPrice == 0.99' unitPrice=1.09 --yes
              mortise set log:library.log Playlist --where '$id == 3' tracks+=7,9 tracks-=12
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
        var relationships: [RelationshipEdit] = []
        for text in assignments {
            if let relationship = try Self.relationship(text, layout, edit) {
                guard !values.contains(where: { $0.slot == relationship.slot }) else {
                    throw ToolError.usage("\(layout.slots[relationship.slot].name) is set twice")
                }
                relationships.append(relationship)
                continue
            }
            let assignment = try Self.assignment(text, layout, edit)
            guard !values.contains(where: { $0.slot == assignment.slot }) else {
                throw ToolError.usage("\(layout.slots[assignment.slot].name) is set twice")
            }
            values.append(assignment)
        }
        try Self.checkOnce(relationships, layout)
        if !relationships.isEmpty {
            if let exclusive = relationships.first(where: \.isExclusive), edit.run.records.count > 1 {
                throw ToolError.usage(
                    "\(layout.slots[exclusive.slot].name): its records belong to one record each, and "
                        + "\(edit.run.records.count) are to get them; choose one with --where")
            }
            try edit.carryOut(options, .update([])) { try Self.change($0, values, relationships) }
            return try edit.close()
        }
        let update = values.map { slot, value in
            StoreBatch.Assignment(
                property: QueryProperty(entity: options.entity, name: layout.slots[slot].name, slot: slot),
                value: .constant(value))
        }
        try edit.carryOut(options, .update(update)) { Self.change($0, values) }
        try edit.close()
    }

    /// A relationship may gain and lose records at once, but is replaced alone.
    private static func checkOnce(_ relationships: [RelationshipEdit], _ layout: RecordLayout) throws {
        for (place, one) in relationships.enumerated() {
            let others = relationships[..<place].filter { $0.slot == one.slot }
            if others.contains(where: {
                $0.operation == one.operation || [$0.operation, one.operation].contains(.replace)
            }) {
                throw ToolError.usage("\(layout.slots[one.slot].name) is set twice")
            }
        }
    }

    private static func change(
        _ run: StoreQueryRun, _ values: [(slot: Int, value: StoredValue)], _ relationships: [RelationshipEdit]
    ) throws -> RecordEdit.Change {
        var draft = EditDraft(run.reader)
        for record in run.records {
            for (slot, value) in values where draft.value(record, slot) != value { draft.set(record, slot, value) }
            for relationship in relationships { try relationship.apply(to: record, &draft) }
        }
        let changes = draft.changes
        return RecordEdit.Change(changes: changes, records: changes.updated.map(\.record), isByRecord: true)
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

    /// What happens to a to-many relationship, or to a to-one relationship with an inverse; nil for anything else.
    /// - Throws: `ToolError.usage`; the error of a read that failed.
    private static func relationship(
        _ text: String, _ layout: RecordLayout, _ edit: RecordEdit
    ) throws -> RelationshipEdit? {
        guard let sign = text.firstIndex(of: "=") else { return nil }
        var name = text[..<sign]
        var operation = RelationshipEdit.Operation.replace
        if name.last == "+" || name.last == "-" {
            operation = name.last == "+" ? .add : .remove
            name = name.dropLast()
        }
        guard let place = layout.slot(named: String(name)) else { return nil }
        let slot = layout.slots[place]
        guard let relationship = slot.property.relationship else {
            if operation == .replace { return nil }
            throw ToolError.usage(
                "\(slot.name.shown()): \(operation.rawValue) is for relationships; write \(slot.name.shown())=value")
        }
        if !slot.role.isToMany, relationship.inverse == nil, operation == .replace { return nil }
        do {
            let members = try text[text.index(after: sign)...].split(separator: ",").map {
                try member(String($0), relationship, edit)
            }
            return try RelationshipEdit(layout, place, operation, members, edit.layouts)
        } catch let error as BadLine { throw ToolError.usage("\(slot.name.shown()): \(error.reason)") }
    }

    private static func target(
        _ text: String, _ slot: RecordLayout.Slot, _ edit: RecordEdit
    ) throws -> StoredValue {
        guard let relationship = slot.property.relationship else { throw BadLine(reason: "it is no relationship") }
        if text.isEmpty {
            guard slot.property.isOptional else { throw BadLine(reason: "it is not optional") }
            return .null
        }
        return .identifier(try member(text, relationship, edit))
    }

    /// The record with a number.
    private static func member(
        _ text: String, _ relationship: StoredRelationship, _ edit: RecordEdit
    ) throws -> PersistentIdentifier {
        guard let number = UInt64(text.trimmingCharacters(in: .whitespaces)) else {
            throw BadLine(reason: "expected the number of a record, found \"\(text.shown(limit: 60))\"")
        }
        for entity in edit.schema.family(of: relationship.destination) {
            let identifier = PersistentIdentifier.numbered(
                number, storeIdentifier: edit.storeIdentifier, entityName: entity)
            if edit.run.reader.record(identifier) != nil { return identifier }
        }
        try edit.run.version.check()
        throw BadLine(reason: "there is no \(relationship.destination) with the number \(number)")
    }
}
#endif
