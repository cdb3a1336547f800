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
        let expression: QueryExpression
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
            let expression = try reading.column(name, entity: entity)
            return Column(
                name: name.filter { $0 != "`" }, expression: expression,
                isNumeric: Self.isNumeric(expression, store.layouts))
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
    private let version: any StoreVersion
    private let format: RecordFormat
    private let output = ToolContext.current.output

    /// Creates a printer. `version` is what the reader reads from.
    init(
        _ columns: RecordColumns, _ reader: RecordReader, _ format: RecordFormat, checking version: any StoreVersion
    ) {
        self.version = version
        self.columns = columns.columns
        evaluator = QueryEvaluator(reader: reader)
        self.format = format
    }

    /// Stops before the first record with a value that cannot be read.
    /// - Throws: `ToolError.output`; `QueryEvaluationError`; what `StoreVersion.check()` throws.
    func print(_ records: [RecordReference]) throws {
        switch format {
        case .table: try table(records)
        case .record: try paragraphs(records)
        case .json: try json(records)
        case .lines:
            for record in records {
                try output.line(try object(record))
                try output.flush()
            }
        case .csv:
            try output.line(csv: columns.map { ValueText.csv($0.name) })
            for record in records { try output.line(csv: try values(record).map(ValueText.csv)) }
        }
    }

    private func values(_ record: RecordReference) throws -> [StoredValue] {
        let values = try columns.map { column in
            // A relationship's value is a list of records there, and is printed as their numbers.
            let value = try evaluator.sortKey(column.expression, record)
            guard case .array(let elements) = value else { return value }
            let identifiers = elements.compactMap { element -> PersistentIdentifier? in
                if case .identifier(let identifier) = element { identifier } else { nil }
            }
            return !elements.isEmpty && identifiers.count == elements.count ? .identifiers(identifiers) : value
        }
        try version.check()
        return values
    }

    private func json(_ records: [RecordReference]) throws {
        try output.write("[")
        for (index, record) in records.enumerated() {
            try output.write(index == 0 ? "\n" : ",\n")
            try output.write(try object(record))
        }
        try output.line(records.isEmpty ? "]" : "\n]")
    }

    private func object(_ record: RecordReference) throws -> String {
        let members = zip(columns, try values(record)).map { column, value in
            ValueText.quoted(column.name) + ":" + ValueText.json(value)
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    /// Names in one column, values beside them in as many lines as they need, an empty line between records.
    private func paragraphs(_ records: [RecordReference]) throws {
        let names = columns.map { $0.name.shown() }
        let margin = (names.map(\.columns).max() ?? 0) + 2
        let width = max((output.width ?? 100) - margin, 20)
        for (index, record) in records.enumerated() {
            if index > 0 { try output.line() }
            for (name, value) in zip(names, try values(record)) {
                let text = value.isNull ? "nil" : ValueText.plain(value).shown(limit: .max)
                let padding = String(repeating: " ", count: margin - name.columns)
                for (number, line) in text.wrapped(to: width).enumerated() {
                    let start =
                        number == 0 ? output.styled(name, .bold) + padding : String(repeating: " ", count: margin)
                    try output.line(line.isEmpty && number == 0 ? output.styled(name, .bold) : start + line)
                }
            }
        }
    }

    private func table(_ records: [RecordReference]) throws {
        var table = TextTable(columns.map { $0.name.shown() }, numeric: columns.map(\.isNumeric))
        func cells(_ record: RecordReference) throws -> [String] {
            try values(record).map { value in
                if case .array(let elements) = value, elements.isEmpty { return "" }
                return ValueText.plain(value).shown(limit: 200)
            }
        }
        for record in records { table.measure(try cells(record)) }
        if let width = output.width { table.fit(width) }
        try output.line(output.styled(table.heading(), .bold))
        for record in records { try output.line(table.line(try cells(record))) }
        try output.line(output.styled(FigureText.plural(records.count, "record"), .dim))
    }
}
#endif
