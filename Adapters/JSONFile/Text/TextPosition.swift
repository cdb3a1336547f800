/// A position in a text, as editors name it.
public struct TextPosition: Hashable, Sendable, CustomStringConvertible {
    /// The number of bytes before the position.
    public let offset: Int
    /// The line, counted from 1. Lines end with a line feed.
    public let line: Int
    /// The column, counted from 1, in UTF-8 bytes (not characters).
    public let column: Int

    package init(offset: Int, line: Int, column: Int) {
        self.offset = offset
        self.line = line
        self.column = column
    }

    /// Line and column, as in `line 3, column 7`.
    public var description: String { "line \(line), column \(column)" }
}

/// Finds line, column and path of an offset by reading the text once more, so that reading without errors pays nothing
/// for them.
enum TextLocator {
    /// The position of `offset`, and the path of the innermost value that is open or has just been read there, such as
    /// `$.records.Trip[3].name`. The bytes before `offset` have been read without an error.
    static func locate(_ offset: Int, in bytes: UnsafeRawBufferPointer) -> (position: TextPosition, path: String) {
        let offset = min(max(offset, 0), bytes.count)
        var line = 1
        var lineStart = 0
        for index in 0..<offset where bytes[index] == UInt8(ascii: "\n") {
            line += 1
            lineStart = index + 1
        }
        let position = TextPosition(offset: offset, line: line, column: offset - lineStart + 1)
        return (position, path(of: offset, in: bytes))
    }

    private struct Level {
        var isObject: Bool
        var index = 0
        var key: Range<Int>?
    }

    private static func path(of offset: Int, in bytes: UnsafeRawBufferPointer) -> String {
        var levels: [Level] = []
        var lastString = 0..<0
        var index = 0
        while index < offset {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "{"): levels.append(Level(isObject: true))
            case UInt8(ascii: "["): levels.append(Level(isObject: false))
            case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = levels.popLast()
            case UInt8(ascii: ":"):
                if let top = levels.indices.last { levels[top].key = lastString }
            case UInt8(ascii: ","):
                if let top = levels.indices.last {
                    levels[top].index += 1
                    levels[top].key = nil
                }
            case UInt8(ascii: "\""):
                let start = index - 1
                while index < offset, bytes[index] != UInt8(ascii: "\"") {
                    index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
                }
                index += 1
                lastString = start..<min(index, bytes.count)
            default: break
            }
        }
        return levels.reduce(into: "$") { path, level in
            if !level.isObject {
                path += "[\(level.index)]"
            } else if let range = level.key {
                path += member(named: range, in: bytes)
            }
        }
    }

    /// Keys beyond this are left out of the path, so that an error stays small.
    private static let longestKey = 256

    private static func member(named range: Range<Int>, in bytes: UnsafeRawBufferPointer) -> String {
        var reader = JSONReader(UnsafeRawBufferPointer(rebasing: bytes[range]))
        guard range.count <= longestKey, let name = try? reader.readString() else { return "[…]" }
        let isPlain =
            !name.isEmpty
            && name.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || $0 == "_" || $0 == "$" || ("0"..."9") ~= $0
            }
        return isPlain ? ".\(name)" : "[\(JSONWriter.quoted(name))]"
    }
}
