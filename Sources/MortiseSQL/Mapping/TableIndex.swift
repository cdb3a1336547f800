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
    /// What a record fulfils that the index has, in words of SQL; nil for all.
    package let condition: String?
}

extension TableMapping {
    /// The indexes of a table: of the targets of relationships, of what the schema declares, of unique constraints, and of the
    /// entity where there are several.
    package func indexes(ofTable table: String) -> [TableIndex] {
        var found: [TableIndex] = []
        var known: Set<[String]> = []
        let members = entities.values.filter { $0.table == table }.sorted { $0.number < $1.number }
        func add(_ columns: [String], isUnique: Bool = false, where condition: String? = nil) {
            guard !columns.isEmpty, isUnique || known.insert(columns).inserted else { return }
            let words = (isUnique ? ["unique", table] : ["index", table]) + columns
            var name = "mortise_" + words.joined(separator: "_")
            if name.utf8.count > 60 || found.contains(where: { $0.name == name }) || name.utf8.contains(0) {
                let hash = (name + (condition ?? "")).utf8.reduce(UInt64(14_695_981_039_346_656_037)) {
                    ($0 ^ UInt64($1)) &* 1_099_511_628_211
                }
                name = "mortise_\(words[0])_\(String(hash, radix: 16))"
            }
            found.append(
                TableIndex(name: name, table: table, columns: columns, isUnique: isUnique, condition: condition))
        }
        for entity in members {
            let declared = schema.entity(named: entity.name)
            for (constraint, names) in (declared?.uniquenessConstraints ?? []).enumerated() {
                guard let index = unique(entity, names) else { continue }
                _ = constraint
                add(index.columns, isUnique: true, where: index.condition)
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

    /// The columns of a unique constraint and the records that it is about; nil if the database cannot enforce it.
    private func unique(
        _ entity: Entity, _ names: [String]
    ) -> (columns: [String], condition: String?)? {
        var columns: [String] = []
        var conditions: [String] = []
        if !entity.ownsTable {
            let numbers = entity.family.sorted().map(String.init).joined(separator: ", ")
            conditions.append("\(SQLName.quoted(Column.entity)) IN (\(numbers))")
        }
        for name in names {
            guard let slot = entity.layout.slot(named: name), let column = comparedColumn(entity.slots[slot].place)
            else {
                return nil
            }
            columns.append(column)
            // NaN is equal to nothing.
            if let kind = entity.slots[slot].slot.property.attribute?.kind, kind.hasNaN {
                let column = SQLName.quoted(column)
                conditions.append(dialect == .sqlite ? "typeof(\(column)) <> 'text'" : "\(column) <> 'NaN'::float8")
            }
        }
        return columns.isEmpty ? nil : (columns, conditions.isEmpty ? nil : conditions.joined(separator: " AND "))
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
