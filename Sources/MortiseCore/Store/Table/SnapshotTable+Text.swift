import Foundation

/// Records as rows of text: what CSV files, the sheets of a workbook or a line-by-line protocol hold.
extension SnapshotTable {
    /// All content as named tables: one for each entity that has records, as `texts(of:)` makes it, and one called
    /// `_store`. That holds the identifier of the store, the number of its next record, the schema as `storedSchema(among:reading:)`
    /// reads it, and, after the name of each entity, the kinds of its columns and the original names of those that were renamed.
    public var texts: [(name: String, rows: AnySequence<[String?]>)] {
        let names = schema.entities.map(\.name).filter { records[$0]?.isEmpty == false }
        var about: [[String?]] = [["identifier", "next"], [storeIdentifier, "\(nextNumber)"]]
        about[0].append("schema")
        about[1].append(
            Self.text(of: StoredSchema(version: schema.version, entities: schema.entities + foreignEntities)))
        about += names.map {
            [$0, (layouts[$0]?.slots ?? []).filter(\.hasColumn).map(\.kindText).joined(separator: " ")]
        }
        about += foreign.map { [$0.key, $0.value.kinds] }
        return [(aboutName, AnySequence(about))] + names.map { ($0, AnySequence(texts(of: $0))) }
            + foreign.sorted { $0.key < $1.key }.map { ($0.key, AnySequence($0.value.rows)) }
    }

    /// Reads the tables that `texts` made; without any, makes a new table with a new identifier.
    ///
    /// Tables of entities that the schema does not have are kept and returned by `texts`. Properties that were renamed since are
    /// found by their original names.
    /// - Throws: `SnapshotTableError`, as `load(texts:of:)`, and for a property of another kind than it was written
    ///   with.
    public init(_ schema: StoredSchema, texts: [String: [[String?]]]) throws(SnapshotTableError) {
        self.init(schema)
        if texts.isEmpty { return }
        let name = aboutName
        guard let about = texts[name], about.count > 1, about.dropFirst(2).allSatisfy({ $0.count == 2 }),
            about[0].count == about[1].count, (2...3).contains(about[0].count),
            let identifier = about[1][0],
            let next = about[1][1].flatMap({ UInt64($0) })
        else { throw .unreadable(source: name, row: 2) }
        self.init(schema, storeIdentifier: identifier, nextNumber: next)
        let stored = try Self.storedSchema(in: about, named: name)
        foreignEntities = (stored?.entities ?? []).filter { layouts[$0.name] == nil && texts[$0.name] != nil }
        let kinds = Dictionary(about.dropFirst(2).map { ($0[0], $0[1] ?? "") }, uniquingKeysWith: { first, _ in first })
        for (entity, rows) in texts where entity != name {
            if layouts[entity] == nil {
                foreign[entity] = Foreign(kinds: kinds[entity] ?? "", rows: rows)
            } else {
                let columns = (kinds[entity] ?? "").split(separator: " ").map(Column.init)
                let names = names(of: columns, in: entity)
                try checkKinds(columns, names, of: entity)
                try load(texts: Self.naming(rows, names), of: entity)
            }
        }
    }

    // MARK: The schema

    /// The schema under which tables were written that `texts` made, with the entities that it had only kept.
    /// - Parameters:
    ///   - names: the names of the tables.
    ///   - read: reads one of them; called once at most.
    /// - Returns: the schema; nil for tables that tell none: there are no tables yet, or they were written before they had it.
    /// - Throws: `SnapshotTableError.unreadable` for a schema that cannot be parsed; what `read` throws.
    public static func storedSchema(
        among names: some Sequence<String>, reading read: (_ name: String) throws -> [[String?]]
    ) throws -> StoredSchema? {
        // Where an entity has that name, the table's is longer.
        let about = names.filter { $0.hasSuffix("_store") && $0.dropLast(5).allSatisfy { $0 == "_" } }
        guard let name = about.max(by: { $0.count < $1.count }) else { return nil }
        return try storedSchema(in: try read(name), named: name)
    }

    private static func storedSchema(
        in about: [[String?]], named name: String
    ) throws(SnapshotTableError) -> StoredSchema? {
        guard about.count > 1, about[1].count > 2, let text = about[1][2] else { return nil }
        do {
            return try JSONDecoder().decode(StoredSchema.self, from: Data(text.utf8))
        } catch {
            throw .unreadable(source: name, row: 2)
        }
    }

    private static func text(of schema: StoredSchema) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // A schema has names, flags and stored values, all of which can be encoded. An empty cell would be refused as unreadable.
        return (try? encoder.encode(schema)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    // MARK: Columns

    /// A column as it was written.
    private struct Column {
        let name: String
        let originalName: String
        let kind: String

        /// Parses a part of a line of `_store`.
        init(_ text: Substring) {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let colon = parts[0].firstIndex(of: ":") ?? parts[0].endIndex
            name = String(parts[0][..<colon])
            kind = String(parts[0][colon...].dropFirst())
            originalName = parts.count > 1 ? String(parts[1]) : name
        }
    }

    /// The name of the property that each column belongs to now, by the name that it was written with.
    private func names(of columns: [Column], in entity: String) -> [String: String] {
        let slots = (layouts[entity]?.slots ?? []).filter(\.hasColumn)
        let origins = RecordLayout.origins(
            of: slots.map { .init(name: $0.name, originalName: $0.property.originalName) },
            in: columns.map { .init(name: $0.name, originalName: $0.originalName) })
        let pairs = zip(slots, origins).compactMap { slot, origin in origin.map { (columns[$0].name, slot.name) } }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    private func checkKinds(
        _ columns: [Column], _ names: [String: String], of entity: String
    ) throws(SnapshotTableError) {
        for column in columns {
            let name = names[column.name] ?? column.name
            guard let slot = layouts[entity]?.slots.first(where: { $0.name == name }), slot.kind != column.kind else {
                continue
            }
            throw .changedKind(entity: entity, property: slot.name, written: column.kind, asked: slot.kind)
        }
    }

    /// Rows whose columns have other names. What no property has kept under its name is left with that: it is refused as
    /// unknown.
    private static func naming(_ rows: [[String?]], _ names: [String: String]) -> [[String?]] {
        guard let head = rows.first, names.contains(where: { $0.key != $0.value }) else { return rows }
        let new = head.enumerated().map { place, name in place == 0 ? name : name.map { names[$0] ?? $0 } }
        return [new] + rows.dropFirst()
    }

    /// Not the name of any entity.
    private var aboutName: String {
        var name = "_store"
        while layouts[name] != nil { name = "_" + name }
        return name
    }

    /// The records of exactly one entity as rows, after a row with the names of their columns.
    ///
    /// The first cell of a row is the record's number. Each further one is the value of a property, as
    /// `StoredValue.text(as:)` writes it; nil is null. A relationship is `Entity/number`, with a space between members.
    /// Properties that are derived or never stored have no column. Each row is made when it is accessed.
    public func texts(of entity: String) -> some RandomAccessCollection<[String?]> {
        let rows = records[entity] ?? []
        let columns = (layouts[entity]?.slots ?? []).enumerated().filter(\.element.hasColumn)
        return (-1..<rows.count).lazy.map { number in
            if number < 0 { return [Self.numberColumn] + columns.map(\.element.name) }
            return ["\(rows[number].persistentIdentifier.sequenceNumber ?? 0)"]
                + columns.map { place, slot in slot.text(of: rows[number].values[place]) }
        }
    }

    /// Adds the records of rows in the form of `texts(of:)`: the first row names the columns, in any order after the
    /// first. A property without a column has its default, or nil.
    /// - Throws: `SnapshotTableError`, which names the row, counted from 1 as in spreadsheets, and the column at fault;
    ///   also for a column that the entity lacks, whose values would be lost. The table does not change then.
    public mutating func load(texts: some Sequence<[String?]>, of entity: String) throws(SnapshotTableError) {
        guard let layout = layouts[entity] else { throw .unknownEntity(entity) }
        var places: [Int?] = []
        var width = 0
        var found: [DefaultSnapshot] = []
        for (line, row) in texts.enumerated() {
            if line == 0 {
                width = row.count
                places = try columns(row.dropFirst().map { $0 ?? "" }, in: layout)
                continue
            }
            let number = line + 1
            guard row.count == width, let key = row.first.flatMap({ $0 }).flatMap({ UInt64($0) }) else {
                throw .malformedRow(entity: entity, row: number, cells: row.count, expected: width)
            }
            var values: ContiguousArray<StoredValue> = []
            for (slot, place) in zip(layout.slots, places) {
                let value =
                    place.map { slot.value(ofText: row[$0], storeIdentifier: storeIdentifier) } ?? slot.missingValue
                guard let value else {
                    throw .doesNotFit(
                        entity: entity, property: slot.name, row: number, found: place.flatMap { row[$0] })
                }
                values.append(value)
            }
            found.append(
                DefaultSnapshot(
                    persistentIdentifier: .numbered(key, storeIdentifier: storeIdentifier, entityName: entity),
                    layout: layout, values: values))
        }
        try load(found, of: entity)
    }

    private static let numberColumn = "record"

    /// For each slot the index of its column in a row; nil if it has no column.
    private func columns(
        _ names: [String], in layout: RecordLayout
    ) throws(SnapshotTableError) -> [Int?] {
        let isKnown = Set(layout.slots.filter(\.hasColumn).map(\.name))
        var places: [String: Int] = [:]
        for (place, name) in names.enumerated() {
            guard isKnown.contains(name), places.updateValue(place + 1, forKey: name) == nil else {
                throw .unknownColumn(entity: layout.entityName, column: name)
            }
        }
        for slot in layout.slots where places[slot.name] == nil && !slot.mayBeMissing {
            throw .missingColumn(entity: layout.entityName, property: slot.name)
        }
        return layout.slots.map { places[$0.name] }
    }
}

extension RecordLayout.Slot {
    private var isEphemeral: Bool { property.attribute?.options.contains(.ephemeral) == true }

    /// Whether a store that writes text has a column for the property: it is neither derived nor ephemeral.
    public var hasColumn: Bool { role != .toManyDerived && !isEphemeral }

    /// The name and what a cell holds, such as `size:int64`, `team:Team` and `projects:[Project]`: a kind of value, or the
    /// entity that a relationship leads to. A column that was written under another text holds other values.
    public var columnText: String { "\(name):\(kind)" }

    /// What a cell holds: a kind of value, or an entity to which it leads.
    fileprivate var kind: String {
        if let kind = property.attribute?.kind { return kind.rawValue }
        let destination = property.relationship?.destination ?? ""
        return role.isToMany ? "[\(destination)]" : destination
    }

    /// The name and the kind, and the name from which the property was renamed.
    fileprivate var kindText: String {
        columnText + (property.originalName == name ? "" : "=\(property.originalName)")
    }

    fileprivate var mayBeMissing: Bool {
        !hasColumn || property.isOptional || role.isToMany || property.attribute?.defaultValue != nil
    }

    /// The cell for a value of this property: `StoredValue.text(as:)`, or `Entity/number` of every target with a space between
    /// them. Nil for null, for an empty list, and for a value that would not come back to the last bit.
    public func text(of value: StoredValue) -> String? {
        if let kind = property.attribute?.kind { return value.text(as: kind) }
        let targets = value.targets
        return targets.isEmpty ? nil : targets.map(\.description).joined(separator: " ")
    }

    /// The value of a missing column.
    fileprivate var missingValue: StoredValue {
        role.isToMany ? .identifiers([]) : property.attribute?.defaultValue ?? .null
    }

    /// The value of a cell that `text(of:)` has made; nil if it is not valid. An empty cell of an optional property is null, and
    /// of a list an empty list.
    public func value(ofText cell: String?, storeIdentifier store: String) -> StoredValue? {
        guard let text = cell else {
            return role.isToMany ? .identifiers([]) : property.isOptional ? .null : nil
        }
        if let kind = property.attribute?.kind { return StoredValue(text: text, as: kind) }
        let parts = text.split(separator: " ")
        let targets = parts.compactMap { PersistentIdentifier(cell: $0, store: store) }
        guard targets.count == parts.count else { return nil }
        if role.isToMany { return .identifiers(targets) }
        return targets.count == 1 ? .identifier(targets[0]) : nil
    }
}

extension PersistentIdentifier {
    /// Parses a reference of the form `Entity/number`.
    fileprivate init?(cell: Substring, store: String) {
        guard let slash = cell.lastIndex(of: "/"), let number = UInt64(cell[cell.index(after: slash)...]) else {
            return nil
        }
        self = .numbered(number, storeIdentifier: store, entityName: String(cell[..<slash]))
    }
}
