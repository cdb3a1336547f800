import Foundation
import MortiseCore

/// Rows of cells as bytes (RFC 4180). An empty cell without quotation marks is nil.
enum CSV {
    static func data(_ rows: some Sequence<[String?]>) -> Data {
        var text = ""
        for cells in rows { text += cells.map { $0.map(cell) ?? "" }.joined(separator: ",") + "\n" }
        return Data(text.utf8)
    }

    private static func cell(_ text: String) -> String {
        func has(_ byte: UInt8) -> Bool {
            text.utf8.withContiguousStorageIfAvailable { memchr($0.baseAddress!, Int32(byte), $0.count) != nil } ?? true
        }
        guard text.isEmpty || ",\"\r\n".utf8.contains(where: has) else { return text }
        return "\"" + text.replacingOccurrences(of: "\"", with: "\"\"", options: .literal) + "\""
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
