#if Tool
import MortiseCore

/// Prints rows of values to the standard output.
struct RowPrinter {
    private let columns: [(name: String, isNumeric: Bool)]
    private let format: RecordFormat
    private let what: String
    private let output = ToolContext.current.output

    /// Creates a printer of rows, which a table calls `what`.
    init(_ columns: [(name: String, isNumeric: Bool)], _ format: RecordFormat, _ what: String) {
        self.columns = columns
        self.format = format
        self.what = what
    }

    /// Stops before the first row that cannot be read.
    /// - Throws: `ToolError.output`; what `row` throws.
    func print(_ count: Int, row: (Int) throws -> [StoredValue]) throws {
        switch format {
        case .table: try table(count, row)
        case .record: try paragraphs(count, row)
        case .json: try json(count, row)
        case .lines:
            for number in 0..<count {
                try output.line(try object(row(number)))
                try output.flush()
            }
        case .csv:
            try output.line(csv: columns.map { ValueText.csv($0.name) })
            for number in 0..<count { try output.line(csv: try row(number).map(ValueText.csv)) }
        }
    }

    private func json(_ count: Int, _ row: (Int) throws -> [StoredValue]) throws {
        try output.write("[")
        for number in 0..<count {
            try output.write(number == 0 ? "\n" : ",\n")
            try output.write(try object(row(number)))
        }
        try output.line(count == 0 ? "]" : "\n]")
    }

    private func object(_ values: [StoredValue]) -> String {
        let members = zip(columns, values).map { column, value in
            ValueText.quoted(column.name) + ":" + ValueText.json(value)
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    /// Names in one column, values beside them in as many lines as they need, an empty line between rows.
    private func paragraphs(_ count: Int, _ row: (Int) throws -> [StoredValue]) throws {
        let names = columns.map { $0.name.shown() }
        let margin = (names.map(\.columns).max() ?? 0) + 2
        let width = max((output.width ?? 100) - margin, 20)
        for number in 0..<count {
            if number > 0 { try output.line() }
            for (name, value) in zip(names, try row(number)) {
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

    private func table(_ count: Int, _ row: (Int) throws -> [StoredValue]) throws {
        var table = TextTable(columns.map { $0.name.shown() }, numeric: columns.map(\.isNumeric))
        func cells(_ number: Int) throws -> [String] {
            try row(number).map { value in
                if case .array(let elements) = value, elements.isEmpty { return "" }
                return ValueText.plain(value).shown(limit: 200)
            }
        }
        for number in 0..<count { table.measure(try cells(number)) }
        if let width = output.width { table.fit(width) }
        try output.line(output.styled(table.heading(), .bold))
        for number in 0..<count { try output.line(table.line(try cells(number))) }
        try output.line(output.styled(FigureText.plural(count, what), .dim))
    }
}
#endif
