#if Tool
import Foundation
import MortiseCore

/// A record as a line of a file has it. Relationships name other records by the numbers that the file gives them.
struct ImportedRecord {
    let entity: String
    /// The number that the file gives the record; nil if it gives none.
    let key: String?
    /// The values by slot; relationships are empty.
    var values: ContiguousArray<StoredValue>
    /// The targets of relationships by slot.
    var targets: [(slot: Int, keys: [String])]
}

/// Makes records of what lines hold, by the schema of the store.
struct RecordReading {
    private let schema: StoredSchema
    private let layouts: [String: RecordLayout]
    /// The entity of lines that name none.
    private let entity: String?

    init(_ schema: StoredSchema, _ layouts: [String: RecordLayout], entity: String?) {
        self.schema = schema
        self.layouts = layouts
        self.entity = entity
    }

    /// - Throws: `BadLine`.
    func record(_ members: [(String, LineValue)]) throws(BadLine) -> ImportedRecord {
        var named: String?
        var key: String?
        for (name, value) in members where name.hasPrefix("$") {
            switch (name, value) {
            case ("$entity", _) where named != nil, ("$id", _) where key != nil:
                throw BadLine(reason: "\(name) is given twice")
            case ("$entity", .literal(.text(let text))): named = text
            case ("$id", .literal(.text(let text))), ("$id", .literal(.number(let text))): key = text
            case ("$id", .literal(.null)): break
            case ("$entity", _): throw BadLine(reason: "$entity: expected text, found \(value.sortText)")
            case ("$id", _): throw BadLine(reason: "$id: expected a number or text, found \(value.sortText)")
            default:
                throw BadLine(
                    reason: "\(name.shown(limit: 100)) means nothing here"
                        + Suggestion.text(name, among: ["$entity", "$id"]))
            }
        }
        guard let entity = named ?? entity else {
            throw BadLine(reason: "the line has no $entity; name the entity on the command line")
        }
        guard let layout = layouts[entity] else {
            throw BadLine(reason: "\(UnknownEntity(name: entity, known: schema.entities.map(\.name)))")
        }
        var record = ImportedRecord(
            entity: entity, key: key,
            values: ContiguousArray(layout.slots.map { $0.role.isToMany ? .identifiers([]) : .null }), targets: [])
        var given = SlotSet()
        for (name, value) in members where !name.hasPrefix("$") {
            guard let slot = layout.slots.firstIndex(where: { $0.name == name }) else {
                throw BadLine(
                    reason: "\(entity) has no property \"\(name.shown(limit: 100))\""
                        + Suggestion.text(name, among: layout.slots.map(\.name)))
            }
            guard !given.contains(slot) else { throw BadLine(reason: "\(name.shown()) is given twice") }
            given.insert(slot)
            do {
                try set(value, slot, layout, &record)
            } catch { throw BadLine(reason: "\(name.shown()): \(error.reason)") }
        }
        for (slot, property) in layout.slots.enumerated() where !property.property.isOptional && !property.role.isToMany
        {
            let isMissing =
                property.role == .toOne ? !record.targets.contains { $0.slot == slot } : record.values[slot].isNull
            if isMissing, property.property.attribute?.options.contains(.ephemeral) != true {
                throw BadLine(reason: "\(property.name) has no value, and is not optional")
            }
        }
        return record
    }

    private func set(
        _ value: LineValue, _ slot: Int, _ layout: RecordLayout, _ record: inout ImportedRecord
    ) throws(BadLine) {
        let property = layout.slots[slot]
        if property.role == .toManyDerived { return }
        if property.role.isRelationship {
            let keys = try Self.keys(value)
            guard property.role.isToMany || keys.count < 2 else {
                throw BadLine(reason: "expected one record, found \(keys.count)")
            }
            if !keys.isEmpty { record.targets.append((slot, keys)) }
        } else if let attribute = property.property.attribute {
            record.values[slot] = try Self.value(value, attribute.kind)
        }
    }

    private static func keys(_ value: LineValue) throws(BadLine) -> [String] {
        switch value {
        case .literal(.null): return []
        case .literal(.number(let text)), .literal(.text(let text)): return [text]
        case .list(let values):
            var found: [String] = []
            for value in values { found += try keys(value) }
            return found
        default: throw BadLine(reason: "expected the number of a record, found \(value.sortText)")
        }
    }

    private static func value(_ value: LineValue, _ kind: StorageKind) throws(BadLine) -> StoredValue {
        if kind == .coded { return value.coded }
        guard case .literal(let literal) = value else {
            throw BadLine(reason: "expected \(kind.rawValue), found \(value.sortText)")
        }
        // What has no form in JSON is a text.
        if case .text(let text) = literal, kind == .double || kind == .float,
            ["nan", "inf", "-inf"].contains(text.lowercased()), let number = Double(text)
        {
            return kind == .double ? .double(number) : .float(Float(number))
        }
        do { return try literal.value(of: kind) } catch {
            throw BadLine(reason: "expected \(kind.rawValue), found \(shown(literal)): \(error.reason)")
        }
    }

    private static func shown(_ literal: PredicateLiteral) -> String {
        switch literal {
        case .number(let digits): digits.shown(limit: 60)
        case .text(let text): "\"\(text.shown(limit: 60))\""
        case .bool(let value): "\(value)"
        case .null: "nil"
        }
    }

    // MARK: CSV

    /// The value that a field stands for.
    static func storedValue(_ field: CSVLines.Field, _ slot: RecordLayout.Slot) throws(BadLine) -> StoredValue {
        guard let kind = slot.property.attribute?.kind else { throw BadLine(reason: "it is a relationship") }
        return try value(try value(field, slot, slot.name), kind)
    }

    /// The columns of a heading, for one entity.
    /// - Throws: `ToolError.usage` for a name that no property has.
    func columns(_ heading: [String], of entity: String) throws -> [String] {
        let known = schema.family(of: entity).sorted().flatMap { layouts[$0]?.slots.map(\.name) ?? [] }
        for name in heading where !["$id", "$entity"].contains(name) && !known.contains(name) {
            throw ToolError.usage(
                "\(entity) has no property \"\(name.shown(limit: 100))\""
                    + Suggestion.text(name, among: known)
                    + "; the first line of a CSV file names the properties")
        }
        if let twice = Dictionary(grouping: heading, by: { $0 }).first(where: { $1.count > 1 }) {
            throw ToolError.usage("the first line names \(twice.key.shown(limit: 100)) twice")
        }
        return heading
    }

    /// The members that the fields of a CSV file stand for.
    /// - Throws: `BadLine`.
    func members(
        _ fields: [CSVLines.Field], _ columns: [String]
    ) throws(BadLine) -> [(String, LineValue)] {
        guard fields.count == columns.count else {
            throw BadLine(reason: "expected \(FigureText.plural(columns.count, "field")), found \(fields.count)")
        }
        var named = entity
        for (name, field) in zip(columns, fields) where name == "$entity" && !field.text.isEmpty { named = field.text }
        let layout = named.flatMap { layouts[$0] }
        var members: [(String, LineValue)] = []
        for (name, field) in zip(columns, fields) {
            let slot = layout?.slot(named: name).flatMap { layout?.slots[$0] }
            if slot == nil, !name.hasPrefix("$"), field.text.isEmpty { continue }
            members.append((name, try Self.value(field, slot, name)))
        }
        return members
    }

    private static func value(
        _ field: CSVLines.Field, _ slot: RecordLayout.Slot?, _ name: String
    ) throws(BadLine) -> LineValue {
        let text = field.text
        guard let slot else { return .literal(text.isEmpty ? .null : .text(text)) }
        if slot.role.isToMany { return .list(text.split(separator: " ").map { .literal(.text(String($0))) }) }
        let kind = slot.property.attribute?.kind
        if text.isEmpty, !field.isQuoted {
            return .literal(kind == .string && !slot.property.isOptional ? .text("") : .null)
        }
        switch kind {
        case .bool?:
            switch text.lowercased() {
            case "true", "1": return .literal(.bool(true))
            case "false", "0": return .literal(.bool(false))
            default: throw BadLine(reason: "\(name): expected true or false, found \"\(text.shown(limit: 60))\"")
            }
        case .coded?:
            let members: [(String, LineValue)]
            do { members = try JSONObjectLine.members(Array("{\"v\":\(text)}".utf8)[...]) } catch {
                throw BadLine(reason: "\(name): expected JSON, found \"\(text.shown(limit: 60))\"")
            }
            return members.first?.1 ?? .literal(.null)
        case let kind? where kind.isNumber && kind != .decimal:
            let isNumber = Double(text) != nil && text.utf8.allSatisfy { "+-.0123456789eE".utf8.contains($0) }
            return .literal(isNumber ? .number(text) : .text(text))
        default: return .literal(.text(text))
        }
    }
}
#endif
