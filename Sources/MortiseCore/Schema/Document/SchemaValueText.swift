import Foundation

/// The values of attributes in a schema's text, in the form that records have in a JSON store.
enum SchemaValueText {
    /// The text of a value of a kind.
    /// - Returns: JSON on one line; nil for a value of another kind, or one that could not be read back.
    static func text(of value: StoredValue, kind: StorageKind) -> String? {
        if value.isNull { return "null" }
        guard value.fits(kind) else { return nil }
        if kind == .coded { return tree(value, depth: 0) }
        switch value {
        case .bool, .integer, .unsigned: return value.text(as: kind)
        case .float(let number): return number.isFinite ? "\(number)" : quoted(value.text(as: kind))
        case .double(let number): return number.isFinite ? "\(number)" : quoted(value.text(as: kind))
        case .date(let date):
            let text = TimestampText.text(of: date)
            let seconds = date.timeIntervalSinceReferenceDate
            return text.contains("T") ? quoted(text) : seconds.isFinite ? "\(seconds)" : quoted(value.text(as: kind))
        case .url(let url):
            guard let base = url.baseURL else { return quoted(value.text(as: kind)) }
            guard StoredValue(text: "\(url.relativeString) \(base.absoluteString)", as: .url) == value else {
                return nil
            }
            return "{\"relative\": \(quoted(url.relativeString)), \"base\": \(quoted(base.absoluteString))}"
        default: return quoted(value.text(as: kind))
        }
    }

    /// The tree of a `coded` value; keys ascend by their code units.
    private static func tree(_ value: StoredValue, depth: Int) -> String? {
        guard depth <= SchemaDocumentLimit.valueDepth else { return nil }
        switch value {
        case .null: return "null"
        case .bool, .integer, .unsigned: return "\(value.plainNumber ?? "null")"
        case .double(let number): return number.isFinite ? "\(number)" : nil
        case .string(let text): return quoted(text)
        case .array(let elements):
            let texts = elements.compactMap { tree($0, depth: depth + 1) }
            return texts.count == elements.count ? "[" + texts.joined(separator: ", ") + "]" : nil
        case .object(let members):
            let texts = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                .compactMap { key, value in tree(value, depth: depth + 1).map { "\(quoted(key)): \($0)" } }
            return texts.count == members.count ? "{" + texts.joined(separator: ", ") + "}" : nil
        default: return nil
        }
    }

    private static func quoted(_ text: String?) -> String? { text.map { quoted($0) } }

    /// A string of JSON. Characters that a terminal may obey are escaped as well.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\u{8}": result += "\\b"
            case "\t": result += "\\t"
            case "\n": result += "\\n"
            case "\u{C}": result += "\\f"
            case "\r": result += "\\r"
            case "\u{0}"..<"\u{20}", "\u{7F}"..."\u{9F}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension StoredValue {
    fileprivate var plainNumber: String? {
        switch self {
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        default: nil
        }
    }
}

// MARK: - Reading

extension SchemaTextCursor {
    /// Reads a value of a kind, or null; `parts` says how many parts of values may still come.
    mutating func value(_ kind: StorageKind, parts: inout Int) throws -> StoredValue {
        let type = try peek()
        let start = position
        if type == .null {
            try null()
            return .null
        }
        if kind == .coded { return try tree(depth: 0, parts: &parts) }
        let value: StoredValue?
        switch (kind, type) {
        case (.bool, .bool): return .bool(try bool())
        case (.url, .object): value = try url()
        case (.string, .string): return .string(try string(limit: SchemaDocumentLimit.textLength))
        case (.decimal, .string), (.data, .string), (.date, .string), (.uuid, .string), (.url, .string):
            value = StoredValue(text: try string(limit: SchemaDocumentLimit.textLength), as: kind)
        case (.double, .string), (.float, .string):
            let text = try string(limit: SchemaDocumentLimit.nameLength)
            value = ["inf", "-inf"].contains(text) || text.hasPrefix("nan") ? StoredValue(text: text, as: kind) : nil
        case (.double, .number), (.float, .number), (.date, .number):
            value = Self.fraction(try number(), kind)
        case (_, .number):
            let text = try number()
            value = kind == .uint64 ? UInt64(text).map(StoredValue.unsigned) : Int64(text).map(StoredValue.integer)
        default: value = nil
        }
        guard let value, value.fits(kind) else { throw error(.invalidValue(kind), at: start) }
        return value
    }

    /// A number that is not rounded to zero or infinity.
    private static func fraction(_ text: String, _ kind: StorageKind) -> StoredValue? {
        let digits = text.prefix { $0 != "e" && $0 != "E" }
        let isZero = !digits.contains { ("1"..."9").contains($0) }
        if kind == .float { return Float(text).flatMap { $0.isFinite && ($0 == 0) == isZero ? .float($0) : nil } }
        guard let number = Double(text), number.isFinite, (number == 0) == isZero else { return nil }
        return kind == .date ? .date(Date(timeIntervalSinceReferenceDate: number)) : .double(number)
    }

    private mutating func url() throws -> StoredValue? {
        var parts: [String: String] = [:]
        try beginObject()
        while let key = try nextKey() {
            guard ["relative", "base"].contains(key) else { throw error(.unknownMember(key), at: keyPosition) }
            guard parts[key] == nil else { throw error(.duplicateMember(key), at: keyPosition) }
            parts[key] = try string(limit: SchemaDocumentLimit.textLength)
        }
        guard let relative = parts["relative"], let base = parts["base"] else { return nil }
        return StoredValue(text: "\(relative) \(base)", as: .url)
    }

    private mutating func tree(depth: Int, parts: inout Int) throws -> StoredValue {
        parts -= 1
        let type = try peek()
        guard parts >= 0 else {
            throw error(.limitExceeded("parts of values", most: SchemaDocumentLimit.parts), at: position)
        }
        guard depth <= SchemaDocumentLimit.valueDepth else {
            throw error(.limitExceeded("levels in a value", most: SchemaDocumentLimit.valueDepth), at: position)
        }
        switch type {
        case .null:
            try null()
            return .null
        case .bool: return .bool(try bool())
        case .string: return .string(try string(limit: SchemaDocumentLimit.textLength))
        case .number:
            let start = position
            let text = try number()
            if text.contains(where: { ".eE".contains($0) }) {
                guard let value = Self.fraction(text, .double) else { throw error(.invalidValue(.coded), at: start) }
                return value
            }
            if let value = Int64(text) { return .integer(value) }
            guard let value = UInt64(text) else { throw error(.invalidValue(.coded), at: start) }
            return .unsigned(value)
        case .array:
            var elements: [StoredValue] = []
            try beginArray()
            while try nextElement() { elements.append(try tree(depth: depth + 1, parts: &parts)) }
            return .array(elements)
        case .object:
            var members: [String: StoredValue] = [:]
            try beginObject()
            while let key = try nextKey() {
                guard members[key] == nil else { throw error(.duplicateMember(key), at: keyPosition) }
                members[key] = try tree(depth: depth + 1, parts: &parts)
            }
            return .object(members)
        }
    }
}
