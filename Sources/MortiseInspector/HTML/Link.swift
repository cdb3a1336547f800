#if Inspector
import Foundation
import MortiseCommands
import MortiseCore

/// An address within the inspector: its path, and what of a page it shows.
struct Link: Sendable {
    private(set) var path: String
    private(set) var query: [(name: String, value: String)]
    private(set) var fragment: String?

    private init(_ parts: [String], _ query: [(String, String)] = []) {
        path = "/" + parts.map(Self.part).joined(separator: "/")
        self.query = query.map { (name: $0.0, value: $0.1) }
    }

    static let stores = Link([])
    static func page(_ parts: [String]) -> Link { Link(parts) }
    static func style(_ version: String) -> Link { Link(["-", "inspector.css"], [("v", version)]) }
    static func script(_ version: String) -> Link { Link(["-", "inspector.js"], [("v", version)]) }
    static func compare(_ a: Int, _ b: Int) -> Link { Link(["compare"], [("a", "\(a)"), ("b", "\(b)")]) }
    static let compare = Link(["compare"])
    static func store(_ store: Int) -> Link { Link(["s", "\(store)"]) }
    static func part(_ store: Int, _ part: String) -> Link { Link(["s", "\(store)", part]) }
    static func verify(_ store: Int) -> Link { part(store, "verify") }
    static func history(_ store: Int) -> Link { part(store, "history") }
    static func explain(_ store: Int) -> Link { part(store, "explain") }
    static func statement(_ store: Int) -> Link { part(store, "sql") }
    static func difference(_ store: Int) -> Link { part(store, "difference") }
    static func storage(_ store: Int, _ entity: String, _ key: String) -> Link {
        Link(["s", "\(store)", "storage", entity, key])
    }
    static func undo(_ store: Int, _ number: UInt64) -> Link { transaction(store, number).appending("undo") }
    static func changes(_ store: Int) -> Link { part(store, "changes") }
    static func transaction(_ store: Int, _ number: UInt64) -> Link { Link(["s", "\(store)", "history", "\(number)"]) }
    static func records(_ store: Int, _ entity: String) -> Link { Link(["s", "\(store)", "e", entity]) }
    static func export(_ store: Int, _ entity: String, _ format: String) -> Link {
        Link(["s", "\(store)", "export", entity, format])
    }
    static func record(_ store: Int, _ entity: String, _ key: String) -> Link {
        Link(["s", "\(store)", "e", entity, key])
    }
    static func record(_ store: Int, _ record: PersistentIdentifier) -> Link {
        self.record(store, record.entityName, InspectedText.key(record))
    }
    func appending(_ parts: String...) -> Link {
        var link = self
        link.path += parts.map { "/" + Self.part($0) }.joined()
        return link
    }

    /// The address with a value; without the name where the value is empty.
    func with(_ name: String, _ value: String?) -> Link {
        var link = self
        link.query.removeAll { $0.name == name }
        if let value, !value.isEmpty { link.query.append((name, value)) }
        return link
    }

    func at(_ fragment: String) -> Link {
        var link = self
        link.fragment = fragment
        return link
    }

    var text: String {
        path + (query.isEmpty ? "" : "?")
            + query.map { Self.encoded($0.name) + "=" + Self.encoded($0.value) }.joined(separator: "&")
            + (fragment.map { "#" + Self.encoded($0) } ?? "")
    }

    /// A part of a path. A browser takes one of nothing but dots for a step upwards, however it is encoded, and leaves out an empty
    /// one, so these begin with a tilde.
    private static func part(_ text: String) -> String {
        (text.isEmpty || text.hasPrefix(".") || text.hasPrefix("~") ? "~" : "") + encoded(text)
    }

    /// The parts of a path; nil where one of them is no text.
    static func parts(ofPath path: String) -> [String]? {
        var parts: [String] = []
        for part in path.split(separator: "/", omittingEmptySubsequences: true) {
            guard let text = decoded(part.hasPrefix("~") ? part.dropFirst() : part, plusIsSpace: false) else {
                return nil
            }
            parts.append(text)
        }
        return parts
    }

    /// The names and values of a query or of a form; nil where one of them is no text.
    static func values(ofQuery text: String) -> [String: String]? {
        var values: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decoded(sides[0], plusIsSpace: true),
                let value = decoded(sides.count > 1 ? sides[1] : "", plusIsSpace: true)
            else { return nil }
            if values[name] == nil { values[name] = value }
        }
        return values
    }

    /// What stays as it is has no meaning in any part of an address.
    static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: bytes.append(byte)
            default: bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text that was encoded; nil where it is no text. A plus is a space in what a form sends.
    static func decoded(_ text: Substring, plusIsSpace: Bool) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == 0x25 {
                guard rest.count >= 2, let high = hex(rest.removeFirst()), let low = hex(rest.removeFirst()) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            } else {
                bytes.append(byte == 0x2B && plusIsSpace ? 0x20 : byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hex(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}

extension HTML.Interpolation {
    mutating func appendInterpolation(_ link: Link) { appendInterpolation(link.text) }
}
#endif
