#if Tool
/// A reader of XML for files that somebody else wrote: elements, attributes and text, one after another.
///
/// It takes no document type, knows five entities and numbers, follows nothing outside of the text, and refuses what is too long or
/// too deep. Comments and processing instructions are skipped.
struct XMLCursor {
    /// The longest file that is read.
    static let limit = 16 << 20
    static let depth = 16

    enum Event: Equatable {
        case open(String, [String: String])
        case close(String)
        case text(String)
    }

    private let bytes: [UInt8]
    private var position = 0
    private var open: [String] = []
    private var hasRoot = false
    /// The end of an element without content comes right after its beginning.
    private var isEmpty = false

    init(_ bytes: [UInt8]) throws(XMLFault) {
        self.bytes = bytes
        if bytes.count > Self.limit { throw XMLFault(line: 1, what: "more than \(Self.limit) bytes") }
        if String(validating: bytes, as: UTF8.self) == nil { throw XMLFault(line: 1, what: "is not UTF-8") }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// The line in which what was read last begins.
    private(set) var line = 1
    private var counted = 0

    private func fault(_ what: String) -> XMLFault {
        XMLFault(line: bytes[..<min(position, bytes.count)].count { $0 == 0x0A } + 1, what: what)
    }

    /// What comes next; nil at the end.
    mutating func next() throws(XMLFault) -> Event? {
        if isEmpty {
            isEmpty = false
            return .close(open.removeLast())
        }
        line += bytes[counted..<position].count { $0 == 0x0A }
        counted = position
        while position < bytes.count {
            if bytes[position] != UInt8(ascii: "<") {
                let text = try self.text()
                if open.isEmpty {
                    guard text.allSatisfy(\.isWhitespace) else { throw fault("expected an element, found text") }
                    continue
                }
                return .text(text)
            }
            if starts("<!--") {
                try skip(to: "-->", after: 4)
                continue
            }
            if starts("<?") {
                try skip(to: "?>", after: 2)
                continue
            }
            if starts("<![CDATA[") { throw fault("a CDATA section, which is not read") }
            if starts("<!") {
                // That of property lists says where their grammar is, which nobody looks at.
                guard !hasRoot, starts("<!DOCTYPE plist"),
                    let end = bytes[position...].firstIndex(of: UInt8(ascii: ">")),
                    !bytes[position..<end].contains(UInt8(ascii: "["))
                else { throw fault("a document type, which is not read") }
                position = end + 1
                continue
            }
            return starts("</") ? try close() : try element()
        }
        if let last = open.last { throw fault("the end within <\(last)>") }
        if !hasRoot { throw fault("no element") }
        return nil
    }

    private func starts(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard bytes.count - position >= count else { return false }
        return (0..<count).allSatisfy { bytes[position + $0] == text.utf8Start[$0] }
    }

    private mutating func skip(to end: StaticString, after start: Int) throws(XMLFault) {
        let first = position
        position += start
        while position < bytes.count {
            if starts(end) {
                position += end.utf8CodeUnitCount
                return
            }
            position += 1
        }
        position = first
        throw fault("no end of what begins here")
    }

    private mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x0A, 0x0D, 0x09].contains(bytes[position]) { position += 1 }
    }

    private mutating func name() throws(XMLFault) -> String {
        let start = position
        while position < bytes.count {
            let byte = bytes[position]
            guard
                byte >= 0x80 || byte == 0x5F || byte == 0x2D || byte == 0x2E || byte == 0x3A
                    || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            else { break }
            position += 1
        }
        guard position > start, position - start <= 1_024 else { throw fault("expected a name") }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func element() throws(XMLFault) -> Event {
        if open.isEmpty, hasRoot { throw fault("a second element at the top") }
        position += 1
        let name = try name()
        var attributes: [String: String] = [:]
        while true {
            let before = position
            skipSpace()
            guard position < bytes.count else { throw fault("the end within <\(name)>") }
            if starts("/>") || starts(">") { break }
            guard position > before else { throw fault("expected a space between attributes") }
            let key = try self.name()
            skipSpace()
            guard starts("=") else { throw fault("expected = behind \(key)") }
            position += 1
            skipSpace()
            guard position < bytes.count, bytes[position] == 0x22 || bytes[position] == 0x27 else {
                throw fault("expected a value in quotes for \(key)")
            }
            let quote = bytes[position]
            position += 1
            let start = position
            while position < bytes.count, bytes[position] != quote {
                if bytes[position] == UInt8(ascii: "<") { throw fault("< in the value of \(key)") }
                position += 1
            }
            guard position < bytes.count else { throw fault("no end of the value of \(key)") }
            let value = try decoded(start..<position)
            position += 1
            guard attributes.updateValue(value, forKey: key) == nil else {
                throw fault("\(key) appears twice in <\(name)>")
            }
        }
        guard open.count < Self.depth else { throw fault("more than \(Self.depth) levels") }
        hasRoot = true
        open.append(name)
        isEmpty = starts("/>")
        position += isEmpty ? 2 : 1
        return .open(name, attributes)
    }

    private mutating func close() throws(XMLFault) -> Event {
        position += 2
        let name = try name()
        skipSpace()
        guard starts(">") else { throw fault("expected > behind </\(name)") }
        guard open.last == name else { throw fault("</\(name)> within <\(open.last ?? "")>") }
        position += 1
        open.removeLast()
        return .close(name)
    }

    private mutating func text() throws(XMLFault) -> String {
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: "<") { position += 1 }
        return try decoded(start..<position)
    }

    /// The text with its entities replaced; each gives one character.
    private func decoded(_ range: Range<Int>) throws(XMLFault) -> String {
        guard bytes[range].contains(UInt8(ascii: "&")) else { return String(decoding: bytes[range], as: UTF8.self) }
        var result = ""
        var rest = bytes[range]
        while let start = rest.firstIndex(of: UInt8(ascii: "&")) {
            result += String(decoding: rest[..<start], as: UTF8.self)
            guard let end = rest[start...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else {
                throw fault("& without an entity")
            }
            let name = String(decoding: rest[(start + 1)..<end], as: UTF8.self)
            switch name {
            case "amp": result += "&"
            case "lt": result += "<"
            case "gt": result += ">"
            case "quot": result += "\""
            case "apos": result += "'"
            default:
                let digits = name.dropFirst(name.hasPrefix("#x") ? 2 : 1)
                guard name.hasPrefix("#"), digits.utf8.allSatisfy({ UnicodeScalar($0).properties.isASCIIHexDigit }),
                    let number = UInt32(digits, radix: name.hasPrefix("#x") ? 16 : 10), number > 0,
                    let scalar = Unicode.Scalar(number)
                else { throw fault("the entity &\(name);, which is not read") }
                result.unicodeScalars.append(scalar)
            }
            rest = rest[(end + 1)...]
        }
        return result + String(decoding: rest, as: UTF8.self)
    }
}

/// Why a text is not XML that is read here.
struct XMLFault: Error {
    let line: Int
    let what: String
}
#endif
