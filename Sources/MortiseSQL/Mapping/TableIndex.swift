import MortiseCore

/// An index of a table.
package struct TableIndex: Sendable, Hashable {
    /// The name of the index, made of what it is on.
    package let name: String
    /// The table.
    package let table: String
    /// The columns, most significant first.
    package let columns: [String]
    /// Whether no two records share the values of all columns.
    package let isUnique: Bool
    /// The entities whose records the index has; nil for all.
    package let family: [Int]?
    /// The columns that are numbers in the records that the index has, and not NaN.
    package let numbers: [String]
    private let dialect: SQLDialect

    init(
        name: String = "", table: String, columns: [String], isUnique: Bool = false, family: [Int]? = nil,
        numbers: [String] = [], dialect: SQLDialect
    ) {
        self.name = name
        self.table = table
        self.columns = columns
        self.isUnique = isUnique
        self.family = family
        self.numbers = numbers
        self.dialect = dialect
    }

    /// What a record fulfils that the index has, in words of SQL; nil for all.
    package var condition: String? {
        var parts = numbers.map { SQLName.quoted($0) + SQLText.isNumber(dialect) }
        if let family { parts.insert(SQLName.quoted(TableMapping.Column.entity) + SQLText.isAmong(family), at: 0) }
        return parts.isEmpty ? nil : parts.joined(separator: " AND ")
    }
}

extension TableMapping {
    /// The indexes of a table: of the targets of relationships, of what the schema declares, of unique constraints, and of the
    /// entity where there are several.
    package func indexes(ofTable table: String) -> [TableIndex] {
        var found: [TableIndex] = []
        var known: Set<[String]> = []
        let members = entities.values.filter { $0.table == table }.sorted { $0.number < $1.number }
        func add(_ index: TableIndex) {
            let words = (index.isUnique ? ["unique", table] : ["index", table]) + index.columns
            var name = "mortise_" + words.joined(separator: "_")
            // Databases take names for the same that differ in upper and lower case, and another table may have the rest of a name.
            let isTaken = found.contains { $0.name.lowercased() == name.lowercased() }
            if name.utf8.count > 60 || isTaken || table.contains("_") || name.utf8.contains(0) {
                let hash = (words.joined(separator: "\0") + (index.condition ?? "")).utf8.reduce(
                    UInt64(14_695_981_039_346_656_037)
                ) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
                name = "mortise_\(words[0])_\(String(hash, radix: 16))"
            }
            found.append(
                TableIndex(
                    name: name, table: table, columns: index.columns, isUnique: index.isUnique, family: index.family,
                    numbers: index.numbers, dialect: dialect))
        }
        func add(_ columns: [String]) {
            guard !columns.isEmpty, known.insert(columns).inserted else { return }
            add(TableIndex(table: table, columns: columns, dialect: dialect))
        }
        var constraints: Set<TableIndex> = []
        for entity in members {
            for names in schema.entity(named: entity.name)?.uniquenessConstraints ?? [] {
                if let index = unique(entity, names), constraints.insert(index).inserted { add(index) }
            }
        }
        for entity in members {
            for slot in entity.slots where slot.slot.declaringEntity == entity.name {
                if case .reference(let column, _) = slot.place { add([column]) }
            }
            for index in schema.entity(named: entity.name)?.indices ?? [] {
                add(
                    index.properties.compactMap { name in
                        entity.layout.slot(named: name).flatMap { comparedColumn(entity.slots[$0].place) }
                    })
            }
        }
        if members.count > 1 { add([Column.entity]) }
        return found
    }

    /// The index of a unique constraint, without a name; nil if the database cannot enforce it.
    private func unique(_ entity: Entity, _ names: [String]) -> TableIndex? {
        let slots = names.compactMap(entity.layout.slot(named:))
        // It is about all records of the entity that has all of its properties, whichever declares it.
        guard slots.count == names.count, let last = slots.max(),
            let owner = entities[entity.layout.slots[last].declaringEntity]
        else { return nil }
        var columns: [String] = []
        var numbers: [String] = []
        for slot in slots {
            guard let column = comparedColumn(entity.slots[slot].place) else { return nil }
            columns.append(column)
            // NaN is equal to nothing.
            if entity.slots[slot].slot.property.attribute?.kind.hasNaN == true { numbers.append(column) }
        }
        return TableIndex(
            table: entity.table, columns: columns, isUnique: true,
            family: owner.ownsTable ? nil : owner.family.sorted(), numbers: numbers, dialect: dialect)
    }

    /// The column by which a property is found; nil for one that is in none, or is compared by its type's own code.
    package func comparedColumn(_ place: Place) -> String? {
        switch place {
        case .attribute(let columns): columns.kind == .coded ? nil : columns.compared
        case .reference(let column, _): column
        default: nil
        }
    }
}
