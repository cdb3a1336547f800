#if Tool
import ArgumentParser
import MortiseCore

/// How records are printed.
enum RecordFormat: String, ExpressibleByArgument, CaseIterable {
    /// Aligned columns.
    case table
    /// One property in each line, for records with much text.
    case record
    /// One array of objects.
    case json
    /// One object in each line, written as soon as it is known.
    case lines
    case csv
}

/// What is printed of each record.
struct RecordColumns {
    struct Column {
        let name: String
        let path: ColumnPath
        let isNumeric: Bool
    }

    let columns: [Column]

    /// Parses a list of columns: names separated by commas. Nil means the record's number and all its properties.
    /// - Throws: `PredicateTextError`; `UnknownEntity`.
    init(_ text: String?, entity: String, _ store: OpenStore) throws {
        let reading = PredicateText(schema: store.schema, storeIdentifier: store.store.identifier)
        try reading.check(entity)
        let names: [String]
        if let text {
            names = text.split(separator: ",", omittingEmptySubsequences: false).map { part in
                String(part.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
            }
        } else {
            let slots = store.layouts[entity]?.slots ?? []
            names =
                ["$id"]
                + slots.filter { $0.property.attribute?.options.contains(.ephemeral) != true }.map { "`\($0.name)`" }
        }
        columns = try names.map { name in
            let path = try reading.column(name, entity: entity)
            return Column(
                name: name.filter { $0 != "`" }, path: path,
                isNumeric: path.lists.isEmpty && Self.isNumeric(path.value, store.layouts))
        }
    }

    private static func isNumeric(_ expression: QueryExpression, _ layouts: [String: RecordLayout]) -> Bool {
        switch expression {
        case .identifier, .count: return true
        case .property(_, let property):
            guard let slot = layouts[property.entity]?.slots[property.slot] else { return false }
            return slot.property.attribute?.kind.isNumber ?? (slot.role == .toOne)
        default: return false
        }
    }
}

/// Prints records to the standard output.
struct RecordPrinter {
    private let columns: [RecordColumns.Column]
    private let evaluator: QueryEvaluator
    private let reader: RecordReader
    private let version: any StoreVersion
    private let rows: RowPrinter

    /// Creates a printer. `version` is what the reader reads from.
    init(
        _ columns: RecordColumns, _ reader: RecordReader, _ format: RecordFormat, checking version: any StoreVersion
    ) {
        self.version = version
        self.reader = reader
        self.columns = columns.columns
        evaluator = QueryEvaluator(reader: reader)
        rows = RowPrinter(self.columns.map { ($0.name, $0.isNumeric) }, format, "record")
    }

    /// Stops before the first record with a value that cannot be read.
    /// - Throws: `ToolError.output`; `QueryEvaluationError`; what `StoreVersion.check()` throws.
    func print(_ records: [RecordReference]) throws {
        try rows.print(records.count) { try values(records[$0]) }
    }

    private func values(_ record: RecordReference) throws -> [StoredValue] {
        let values = try columns.map { column in
            // A relationship's value is a list of records there, and is printed as their numbers.
            let value = try column.path.value(of: record, evaluator, reader)
            guard case .array(let elements) = value else { return value }
            let identifiers = elements.compactMap { element -> PersistentIdentifier? in
                if case .identifier(let identifier) = element { identifier } else { nil }
            }
            return !elements.isEmpty && identifiers.count == elements.count ? .identifiers(identifiers) : value
        }
        try version.check()
        return values
    }
}
#endif
