import Foundation
import MortiseCore

/// Values as text that is equal exactly when the values are, bit for bit: strings by scalars, numbers and dates by bit
/// pattern. Swift's `==` holds two strings for equal that are stored differently, and NaN for unequal to itself.
enum ExactForm {
    private static let shownBytes = 24

    static func text(_ value: Any) -> String {
        switch value {
        case let value as String: string(value)
        case let value as Double: "\(value) (bits \(hex(value.bitPattern)))"
        case let value as Float: "\(value) (bits \(hex(value.bitPattern)))"
        case let value as Date: date(value)
        case let value as Data: data(value)
        case let value as Decimal: value.description
        case let value as URL:
            "URL \(string(value.absoluteString))" + (value.baseURL.map { " based on \(text($0))" } ?? "")
        case let value as UUID: value.uuidString
        case let value as PersistentIdentifier: "\(value)"
        case let value as any OptionalForm: value.exactForm
        case let value as [Any]: "[" + value.map(text).joined(separator: ", ") + "]"
        case let value as [String: Any]: dictionary(value)
        case let value as Place:
            "Place(\(text(value.name)), \(text(value.latitude)), \(text(value.tags)), \(text(value.note as Any)))"
        default: parts(of: value) ?? "\(value)"
        }
    }

    /// A value of another type by its parts; nil if it has none.
    private static func parts(of value: Any) -> String? {
        let mirror = Mirror(reflecting: value)
        let parts = mirror.children.map { (label: $0.label, text: text($0.value)) }
        switch mirror.displayStyle {
        case .dictionary, .set: return "[" + parts.map(\.text).sorted().joined(separator: ", ") + "]"
        case .enum: return parts.first.map { "\($0.label ?? "")\($0.text)" }
        case .struct, .tuple:
            if parts.isEmpty { return nil }
            let all = parts.map { part in (part.label.map { "\($0): " } ?? "") + part.text }
            return (mirror.displayStyle == .struct ? "\(mirror.subjectType)" : "") + "(" + all.joined(separator: ", ")
                + ")"
        default: return nil
        }
    }

    private static func string(_ value: String) -> String {
        let scalars = value.unicodeScalars
        if value.utf8.count > 400 {
            return "\(value.utf8.count) bytes of UTF-8, checksum \(hex(checksum(value.utf8))), \"\(value.prefix(16))…\""
        }
        if scalars.allSatisfy({ $0.isASCII && $0.value >= 0x20 && $0 != "\"" }) { return "\"\(value)\"" }
        return "\""
            + scalars.map { scalar in
                scalar.isASCII && scalar.value >= 0x20
                    ? String(Character(scalar)) : "\\u{\(String(scalar.value, radix: 16))}"
            }.joined() + "\""
    }

    private static func date(_ value: Date) -> String {
        let seconds = value.timeIntervalSinceReferenceDate
        return "\(seconds) s since 2001 (bits \(hex(seconds.bitPattern)))"
    }

    private static func data(_ value: Data) -> String {
        let shown = value.prefix(shownBytes).map { hex($0) }.joined()
        let more = value.count > shownBytes ? "…, checksum \(hex(checksum(value)))" : ""
        return "\(value.count) bytes \(shown)\(more)"
    }

    private static func dictionary(_ value: [String: Any]) -> String {
        let members = value.map { "\(string($0.key)): \(text($0.value))" }
        return "[" + (members.isEmpty ? ":" : members.sorted().joined(separator: ", ")) + "]"
    }

    private static func hex(_ value: some FixedWidthInteger & UnsignedInteger) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: max(0, value.bitWidth / 4 - digits.count)) + digits
    }

    /// FNV-1a, 64 bits: the same in every process, unlike `hashValue`.
    private static func checksum(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}

private protocol OptionalForm { var exactForm: String { get } }

extension Optional: OptionalForm {
    fileprivate var exactForm: String { map { ExactForm.text($0) } ?? "nil" }
}
