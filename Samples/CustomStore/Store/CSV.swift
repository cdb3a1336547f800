import Foundation
import MortiseCore

/// Rows of cells as bytes (RFC 4180). An empty cell without quotation marks is nil.
enum CSV {
    static func data(_ rows: some Sequence<[String?]>) -> Data {
        var data = Data()
        for cells in rows.lazy.map({ $0.map { $0.map(cell) ?? [] } }) {
            data += cells.dropFirst().reduce(into: cells.first ?? []) { $0 += ",".utf8 + $1 }
            data.append(UInt8(ascii: "\n"))
        }
        return data
    }

    private static func cell(_ text: String) -> [UInt8] {
        guard text.isEmpty || text.utf8.contains(where: ",\"\r\n".utf8.contains) else { return Array(text.utf8) }
        return "\"".utf8 + text.utf8.flatMap { $0 == UInt8(ascii: "\"") ? [$0, $0] : [$0] } + "\"".utf8
    }

    /// Bytes are looked at one by one: a character of Swift may be a line's end and what follows, or a quotation mark with
    /// an accent.
    static func rows(of data: Data, named name: String) throws -> [[String?]] {
        var (rows, row, cell): ([[String?]], [String?], [UInt8]) = ([], [], [])
        var (isQuoted, isOpen) = (false, false)
        func damage() -> SnapshotTableError { .unreadable(source: name, row: rows.count + 1) }
        func endCell() throws {
            guard let text = String(validating: cell, as: UTF8.self) else { throw damage() }
            row.append(text.isEmpty && !isQuoted ? nil : text)
            (cell, isQuoted) = ([], false)
        }
        for byte in data {
            switch byte {
            case UInt8(ascii: "\""):
                // A second one inside of quotation marks is one; the first opens them, or ends them for now.
                if isQuoted, !isOpen { cell.append(byte) }
                (isQuoted, isOpen) = (true, !isOpen)
            case UInt8(ascii: ",") where !isOpen: try endCell()
            case UInt8(ascii: "\r") where !isOpen: continue
            case UInt8(ascii: "\n") where !isOpen:
                try endCell()
                rows.append(row)
                row = []
            default: cell.append(byte)
            }
        }
        guard row.isEmpty, cell.isEmpty, !isOpen else { throw damage() }
        return rows
    }
}
