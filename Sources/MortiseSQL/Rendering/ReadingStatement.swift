import MortiseCore

/// A statement that a person has typed, understood as far as it takes to know its kind.
///
/// It is the first of two walls: a database is told besides that nothing may change. This one keeps away what changes no table and does
/// harm all the same: settings of the process, other files, programs of the server.
package struct ReadingStatement: Sendable {
    /// The statement as it was typed.
    package let text: String

    private static let reading: Set<String> = ["SELECT", "WITH", "VALUES", "TABLE", "SHOW"]
    /// Functions of PostgreSQL that act on other sessions, files or servers, by what their names have in common.
    private static let reaching = [
        "pg_advisory", "pg_try_advisory", "pg_terminate", "pg_cancel", "pg_read_", "pg_ls_", "pg_reload", "lo_export",
        "lo_import",
        "dblink", "set_config",
    ]
    /// What may come between EXPLAIN and the statement.
    private static let options: Set<String> = ["QUERY", "PLAN", "ANALYZE", "ANALYSE", "VERBOSE"]

    /// - Parameters:
    ///   - text: what was typed.
    ///   - nestsComments: whether a comment may have another in it, as PostgreSQL has it.
    /// - Throws: `StatementError.notOne` for a text without a statement, `.notReadOnly` for one of another kind.
    package init(_ text: String, nestsComments: Bool) throws(StatementError) {
        self.text = text
        if text.unicodeScalars.contains("\0") { throw .refused(message: "it has the character U+0000") }
        var scanner = Scanner(rest: Array(text.utf8)[...], nestsComments: nestsComments)
        var word = scanner.word()
        if word == "EXPLAIN" {
            scanner.skipOptions()
            repeat { word = scanner.word() } while Self.options.contains(word)
        }
        if word.isEmpty, scanner.isAtEnd { throw .notOne }
        guard Self.reading.contains(word) else { throw .notReadOnly }
        // No transaction keeps these from reaching others, or files.
        let lowercased = text.lowercased()
        if nestsComments, Self.reaching.contains(where: { lowercased.contains($0) }) { throw .notReadOnly }
    }
}

private struct Scanner {
    var rest: ArraySlice<UInt8>
    let nestsComments: Bool

    private func at(_ place: Int) -> UInt8 {
        let index = rest.startIndex + place
        return index < rest.endIndex ? rest[index] : 0
    }

    mutating func skipSpace() {
        while let byte = rest.first {
            switch byte {
            case 0x09...0x0D, 0x20: rest.removeFirst()
            case 0x2D where at(1) == 0x2D:
                while !rest.isEmpty, rest.first != 0x0A { rest.removeFirst() }
            case 0x2F where at(1) == 0x2A: skipComment()
            default: return
            }
        }
    }

    private mutating func skipComment() {
        var depth = 0
        while !rest.isEmpty {
            if at(0) == 0x2F, at(1) == 0x2A, nestsComments || depth == 0 {
                depth += 1
                rest.removeFirst(2)
            } else if at(0) == 0x2A, at(1) == 0x2F {
                depth -= 1
                rest.removeFirst(2)
                if depth == 0 { return }
            } else {
                rest.removeFirst()
            }
        }
    }

    /// Whether nothing but space, comments and semicolons is left.
    var isAtEnd: Bool {
        mutating get {
            skipSpace()
            while rest.first == 0x3B {
                rest.removeFirst()
                skipSpace()
            }
            return rest.isEmpty
        }
    }

    /// The next word in capitals, before which a parenthesis may open; empty for anything else.
    mutating func word() -> String {
        skipSpace()
        while rest.first == 0x28 {
            rest.removeFirst()
            skipSpace()
        }
        let word = rest.prefix { (0x41...0x5A).contains($0 & 0xDF) || $0 == 0x5F }
        rest = rest.dropFirst(word.count)
        return String(decoding: word, as: UTF8.self).uppercased()
    }

    /// The options of EXPLAIN in parentheses, unless a statement stands in these.
    mutating func skipOptions() {
        skipSpace()
        guard rest.first == 0x28 else { return }
        var inside = self
        inside.rest.removeFirst()
        guard !["SELECT", "WITH", "VALUES", "TABLE"].contains(inside.word()) else { return }
        rest = rest.drop { $0 != 0x29 }.dropFirst()
    }
}
