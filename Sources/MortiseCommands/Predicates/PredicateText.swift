#if Tool
public import MortiseCore

/// Reads predicates and orders from text into the expressions that `#Predicate` and `SortDescriptor` are lowered to.
///
/// The grammar is in `GRAMMAR.md`. Names are checked against the schema, and every literal becomes a value of the kind of
/// what it is compared with: text is never pasted into another language, so that nothing in it can be injected. Any text
/// at all gives a result or a `PredicateTextError`, in time and depth that are bounded.
public struct PredicateText: Sendable {
    let schema: StoredSchema
    let layouts: [String: RecordLayout]
    /// Names the store in the identifiers that a predicate mentions.
    let storeIdentifier: String

    /// Prepares parsing predicates on a store.
    /// - Parameters:
    ///   - schema: the store's schema.
    ///   - storeIdentifier: the store whose record numbers `$id` compares with.
    public init(schema: StoredSchema, storeIdentifier: String) {
        self.schema = schema
        self.storeIdentifier = storeIdentifier
        layouts = schema.recordLayouts()
    }

    /// The conditions that all have to hold for a record of the entity.
    /// - Throws: `PredicateTextError`; `UnknownEntity`.
    public func conditions(_ text: String, entity: String) throws -> [QueryExpression] {
        try check(entity)
        var parser = try PredicateParser(text, self, entity: entity)
        let condition = try parser.wholeCondition()
        if case .and(let parts) = condition { return parts }
        return [condition]
    }

    /// Keys of an order, most significant first: `-price, name` sorts by price, highest first, then by name.
    /// - Throws: `PredicateTextError`; `UnknownEntity`.
    public func order(_ text: String, entity: String) throws -> [StoreQuery.Order] {
        try check(entity)
        var parser = try PredicateParser(text, self, entity: entity)
        return try parser.wholeOrder()
    }

    /// What a column of output shows: a property, or one of records that relationships lead to.
    /// - Throws: `PredicateTextError`; `UnknownEntity`.
    func column(_ text: String, entity: String) throws -> ColumnPath {
        try check(entity)
        var parser = try PredicateParser(text, self, entity: entity)
        return try parser.wholeColumn()
    }

    /// - Throws: `UnknownEntity`.
    func check(_ entity: String) throws(UnknownEntity) {
        if layouts[entity] == nil {
            throw UnknownEntity(name: entity, known: schema.entities.map(\.name))
        }
    }
}

/// The store has no entity of that name.
public struct UnknownEntity: Error, Hashable, Sendable, CustomStringConvertible, ClassifiedStoreError {
    /// The name that no entity has.
    public let name: String
    /// The names of the store's entities.
    public let known: [String]

    /// The unknown name, the most similar one, and the known ones, in one line.
    public var description: String {
        let names = known.prefix(20).joined(separator: ", ") + (known.count > 20 ? ", …" : "")
        return "the store has no entity \"\(name.shown())\"" + Suggestion.text(name, among: known)
            + "; its entities are \(known.isEmpty ? "none" : names)"
    }
    /// `usage`: the name is at fault.
    public var errorClass: StoreErrorClass { .usage }
}

/// Finds a name that may have been meant.
enum Suggestion {
    /// `, did you mean "price"?`, or nothing where nothing is near.
    static func text(_ name: String, among known: [String]) -> String {
        let wanted = Array(name.lowercased().prefix(64))
        let near = known.prefix(1_000).map { ($0, slips(wanted, Array($0.lowercased().prefix(64)))) }
            .min { $0.1 < $1.1 }
        guard let near, near.1 <= max(1, wanted.count / 3) else { return "" }
        return " (did you mean \"\(near.0.shown())\"?)"
    }

    /// How many characters have to be exchanged, added or removed, where two neighbors in each other's place are one slip.
    private static func slips(_ a: [Character], _ b: [Character]) -> Int {
        var rows = [Array(0...b.count)]
        for (i, x) in a.enumerated() {
            var row = [i + 1]
            for (j, y) in b.enumerated() {
                var least = min(rows[i][j] + (x == y ? 0 : 1), rows[i][j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, x == b[j - 1], a[i - 1] == y { least = min(least, rows[i - 1][j - 1] + 1) }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }

    /// How many characters have to be exchanged, added or removed.
    static func distance(_ a: [Character], _ b: [Character]) -> Int {
        var row = Array(0...b.count)
        for (i, x) in a.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, y) in b.enumerated() {
                let above = row[j + 1]
                row[j + 1] = x == y ? diagonal : min(diagonal, above, row[j]) + 1
                diagonal = above
            }
        }
        return row[b.count]
    }
}
#endif
