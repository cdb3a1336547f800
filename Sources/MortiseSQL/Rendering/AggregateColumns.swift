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

    /// Nil where an expression is more than an attribute or a to-one relationship of the records.
    package init?(_ query: AggregateQuery, _ mapping: TableMapping) {
        guard let entity = mapping.entities[query.query.entity] else { return nil }
        var names: [String] = []
        func place(_ column: String) -> Int32 {
            let text = "\(SQLText.alias(0)).\(SQLName.quoted(column))"
            if let known = names.firstIndex(of: text) { return Int32(known) }
            names.append(text)
            return Int32(names.count - 1)
        }
        func source(_ expression: QueryExpression) -> Source? {
            var property: QueryProperty?
            switch expression {
            case .property(.variable(0), let found), .identifier(.property(.variable(0), let found)): property = found
            default: return nil
            }
            guard let property, let owner = mapping.entities[property.entity],
                entity.family.isSubset(of: owner.family), owner.slots.indices.contains(property.slot)
            else { return nil }
            let slot = owner.slots[property.slot]
            func text(_ column: String) -> String { "\(SQLText.alias(0)).\(SQLName.quoted(column))" }
            switch (slot.place, expression) {
            case (.attribute(let columns), .property):
                if columns.kind == .coded { return nil }
                return Source(
                    content: .attribute(columns), name: property.name, mainText: text(columns.main),
                    main: place(columns.main), other: columns.kind == .string ? columns.other.map(place) ?? -1 : -1)
            case (.reference(let column, let other), _):
                guard let destination = mapping.entities[slot.destination] else { return nil }
                return Source(
                    content: .reference(destination), name: property.name, mainText: text(column), main: place(column),
                    other: other.map(place) ?? -1)
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
