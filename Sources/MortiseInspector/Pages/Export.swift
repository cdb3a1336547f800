#if Inspector
import Foundation
import MortiseCommands
import MortiseCore

/// Records as a file: CSV, JSON or a line of JSON for each.
struct Export {
    private let site: Site
    private let number: Int
    private let entity: String
    private let format: String
    private static let types = [
        "csv": "text/csv; charset=utf-8", "json": "application/json", "jsonl": "application/jsonl",
    ]

    init(_ site: Site, _ number: Int, entity: String, format: String) {
        self.site = site
        self.number = number
        self.entity = entity
        self.format = format
    }

    func answer(_ request: InspectorRequest) throws -> InspectorAnswer {
        guard let type = Self.types[format] else { throw NoSuchPage(what: "Records come as csv, json or jsonl.") }
        let store = site.stores[number]
        let query = RecordsPage.query(request, entity)
        // What is wrong with the query is said by a page, not in a file.
        try store.check(query)
        let limit = request.number("rows").map { max(0, $0) }
        let offset = request.number("offset") ?? 0
        let format = format
        return .stream(type: type, name: "\(entity).\(format)") { send in
            var writer = ExportWriter(format)
            try store.enumerate(query, limit: limit, offset: offset, after: nil) {
                writer.begin($0)
            } _: { row in
                writer.write(row)
                if writer.isFull { try send(writer.take()) }
            }
            writer.end()
            try send(writer.take())
        }
    }
}

/// Writes rows.
private struct ExportWriter {
    private let format: String
    private var columns: [InspectedColumn] = []
    private var text = ""
    private var count = 0

    init(_ format: String) { self.format = format }

    var isFull: Bool { text.utf8.count > 1 << 16 }

    mutating func take() -> Data {
        defer { text = "" }
        return Data(text.utf8)
    }

    mutating func begin(_ columns: [InspectedColumn]) {
        self.columns = columns
        switch format {
        case "csv": text += (["$id"] + columns.map(\.name)).map(Self.field).joined(separator: ",") + "\r\n"
        case "json": text += "["
        default: break
        }
    }

    mutating func write(_ row: InspectedPage.Row) {
        switch format {
        case "csv":
            let fields = row.values.map { value in
                switch value.value {
                case .null: ""
                case .string, .url, .array, .object, .identifier, .identifiers:
                    Self.field(InspectedText.plain(value.value))
                // Numbers may begin with a minus.
                default: InspectedText.csv(InspectedText.plain(value.value))
                }
            }
            text += ([Self.field(row.key)] + fields).joined(separator: ",") + "\r\n"
        default:
            if format == "json" { text += count > 0 ? ",\n" : "\n" }
            let members = zip(columns, row.values).map { column, value in
                InspectedText.quoted(column.name) + ":" + InspectedText.json(value.value)
            }
            text +=
                "{" + (["\"$id\":" + InspectedText.json(.identifier(row.record))] + members).joined(separator: ",")
                + "}"
            if format == "jsonl" { text += "\n" }
        }
        count += 1
    }

    mutating func end() { if format == "json" { text += count > 0 ? "\n]\n" : "]\n" } }

    /// A field that no spreadsheet takes for a formula: those that begin as one have an apostrophe before them.
    private static func field(_ text: String) -> String {
        let first = text.unicodeScalars.first { $0 != " " }
        let isFormula = first.map { "=+-@\t\r\n|%＝＋－＠".unicodeScalars.contains($0) } ?? false
        return InspectedText.csv(isFormula ? "'" + text : text)
    }
}
#endif
