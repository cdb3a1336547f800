import MortiseCore

/// The columns that an aggregation reads.
package struct AggregateColumns {
    /// What is read for one expression.
    package struct Source {
        /// What is read.
        package enum Content {
            /// The columns of an attribute.
            case attribute(AttributeColumns)
            /// A column with the number of a record.
            case reference(TableMapping.Entity)

            /// The kind of an attribute; nil for a reference.
            var kind: StorageKind? {
                switch self {
                case .attribute(let columns): columns.kind
                case .reference: nil
                }
            }
        }
        /// What is read.
        package let content: Content
        /// The name of the property.
        package let name: String
        /// The column, as a statement has it.
        package let mainText: String
        /// The place of the column after the word SELECT.
        package let main: Int32
        /// The place of the column beside it; -1 without one.
        package let other: Int32
    }

    /// The keys.
    package let keys: [Source]
    /// Nil for the number of records.
    package let functions: [Source?]
    /// After the word SELECT.
    package let text: String
    /// Whether something is read of records that to-one relationships lead to.
    package let hasHops: Bool

    /// Nil where an expression is more than an attribute or a to-one relationship, of the records or of what their to-one relationships
    /// lead to.
    package init?(_ query: AggregateQuery, _ mapping: TableMapping) {
        guard let entity = mapping.entities[query.query.entity] else { return nil }
        var names: [String] = []
        func place(_ column: String) -> Int32 {
            if let known = names.firstIndex(of: column) { return Int32(known) }
            names.append(column)
            return Int32(names.count - 1)
        }
        var hasHops = false
        func source(_ expression: QueryExpression) -> Source? {
            var part = expression
            if case .identifier(let record) = part { part = record }
            guard case .property(let base, let property) = part, let record = Record(base, of: entity, mapping),
                let slot = record.slot(property, mapping)
            else { return nil }
            if record.hops > 0 { hasHops = true }
            switch slot.place {
            case .attribute(let columns) where part == expression:
                if columns.kind == .coded { return nil }
                let main = record.column(columns.main)
                return Source(
                    content: .attribute(columns), name: property.name, mainText: main, main: place(main),
                    other: columns.kind == .string ? columns.other.map { place(record.column($0)) } ?? -1 : -1)
            case .reference(let column, let other):
                guard let destination = mapping.entities[slot.destination] else { return nil }
                let main = record.column(column)
                return Source(
                    content: .reference(destination), name: property.name, mainText: main, main: place(main),
                    other: other.map { place(record.column($0)) } ?? -1)
            default: return nil
            }
        }
        var keys: [Source] = []
        for key in query.keys {
            guard let found = source(key) else { return nil }
            keys.append(found)
        }
        var functions: [Source?] = []
        for function in query.functions {
            guard let expression = function.expression else {
                functions.append(nil)
                continue
            }
            guard let found = source(expression) else { return nil }
            functions.append(found)
        }
        self.keys = keys
        self.functions = functions
        self.hasHops = hasHops
        text = names.joined(separator: ", ")
    }

    /// Whether all are integers, which databases add and compare exactly; keys may be Booleans and UUIDs, too.
    package var areWhole: Bool {
        for case let source? in functions where source.content.kind?.integerRange == nil { return false }
        for key in keys {
            guard let kind = key.content.kind else { return false }
            switch kind {
            case .bool, .uuid, .uint64: continue
            default: if kind.integerRange == nil { return false }
            }
        }
        return true
    }
}

/// Records whose columns are read: those of the query, or what a to-one relationship of theirs leads to, by any number of hops.
private struct Record {
    let hops: Int
    private let entity: TableMapping.Entity
    /// For each hop the table, and the column that leads to its records.
    private let path: [(table: String, column: String)]

    /// Nil for an expression that is no such record.
    init?(_ expression: QueryExpression, of entity: TableMapping.Entity, _ mapping: TableMapping) {
        switch expression {
        case .variable(0): (hops, self.entity, path) = (0, entity, [])
        case .property(let base, let property):
            guard let record = Record(base, of: entity, mapping), let slot = record.slot(property, mapping),
                case .reference(let column, _) = slot.place, let destination = mapping.entities[slot.destination]
            else { return nil }
            (hops, self.entity) = (record.hops + 1, destination)
            path = record.path + [(destination.table, column)]
        default: return nil
        }
    }

    /// Where a property of these records is; nil for one that not all of them have.
    func slot(_ property: QueryProperty, _ mapping: TableMapping) -> TableMapping.Slot? {
        guard let owner = mapping.entities[property.entity], entity.family.isSubset(of: owner.family),
            owner.slots.indices.contains(property.slot)
        else { return nil }
        return owner.slots[property.slot]
    }

    /// A column as a statement has it: null where a relationship on the way leads nowhere.
    func column(_ name: String) -> String {
        var text = SQLText.alias(0)
        // From the records on: each hop asks for the one record that the text so far has the number of.
        for (number, hop) in path.enumerated() {
            let from = number == 0 ? "\(text).\(SQLName.quoted(hop.column))" : Self.select(hop.column, number - 1, text)
            text =
                "\(SQLName.quoted(hop.table)) h\(number) WHERE h\(number).\(SQLName.quoted(TableMapping.Column.id)) = \(from)"
        }
        return path.isEmpty ? "\(text).\(SQLName.quoted(name))" : Self.select(name, path.count - 1, text)
    }

    /// A column of the records that the text behind FROM has.
    private static func select(_ column: String, _ hop: Int, _ from: String) -> String {
        "(SELECT h\(hop).\(SQLName.quoted(column)) FROM \(from))"
    }
}
