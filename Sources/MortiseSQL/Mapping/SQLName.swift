/// Names of tables and columns.
///
/// A database may take names for the same that differ in upper and lower case, cut long ones, and have names of its own. A
/// property keeps its name where that does no harm; otherwise it gets one that is made of it and a number.
package struct SQLName {
    /// In bytes: what every database keeps whole, with a suffix.
    private static let longest = 50
    private static let reserved = [
        "id", "ent", "rv", "rowid", "oid", "_rowid_", "ctid", "xmin", "xmax", "cmin", "cmax", "tableoid",
    ]
    private static let reservedPrefixes = ["mortise_", "sqlite_", "pg_"]
    private static let suffixes = ["", "__key", "__raw", "__ent"]

    private var taken: Set<String>

    /// Begins with names that are in use.
    package init(taken names: some Sequence<String> = []) {
        taken = Set(Self.reserved)
        for name in names { take(name) }
    }

    private mutating func take(_ name: String) {
        for suffix in Self.suffixes { taken.insert(Self.folded(name + suffix)) }
    }

    private static func folded(_ name: String) -> String { name.lowercased() }

    /// A name for a property or an entity that no other has.
    package mutating func make(for text: String) -> String {
        if isUsable(text) {
            take(text)
            return text
        }
        // FNV-1a: the same in every process.
        let hash = text.utf8.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        var beginning = ""
        for scalar in text.unicodeScalars where scalar.isASCII && scalar.properties.isAlphabetic {
            beginning.unicodeScalars.append(scalar)
            if beginning.utf8.count >= 30 { break }
        }
        var name = "\(beginning)_\(String(hash, radix: 16))"
        var number = 1
        while !isUsable(name) {
            number += 1
            name = "\(beginning)_\(String(hash, radix: 16))_\(number)"
        }
        take(name)
        return name
    }

    private func isUsable(_ name: String) -> Bool {
        let folded = Self.folded(name)
        return !name.isEmpty && name.utf8.count <= Self.longest && !name.utf8.contains(0)
            && Self.suffixes.allSatisfy { !taken.contains(folded + $0) && (folded.hasSuffix($0) == $0.isEmpty) }
            && Self.reservedPrefixes.allSatisfy { !folded.hasPrefix($0) }
    }

    /// The name as a statement has it.
    package static func quoted(_ name: String) -> String {
        "\"" + (name.utf8.contains(UInt8(ascii: "\"")) ? name.replacing("\"", with: "\"\"") : name) + "\""
    }
}
