#if Tool
import Foundation
import MortiseCore

/// Values of attributes as Swift writes them.
struct SwiftLiteral {
    /// A type's name, with its module where an entity has that name.
    let type: (String) -> String

    /// An expression that gives exactly that value; nil if no literal does.
    func expression(_ value: StoredValue, kind: StorageKind) -> String? {
        guard value.fits(kind), !value.isNull else { return nil }
        switch value {
        case _ where kind == .coded:
            guard let json = CodedTree(value).json else { return nil }
            let tree = type("CodedTree")
            return "\(tree)(json: \(SwiftName.literal(json))) ?? \(tree)(.null)"
        case .bool(let flag): return flag ? "true" : "false"
        case .integer(let number): return "\(number)"
        case .unsigned(let number): return "\(number)"
        case .float(let number):
            if number.isNaN || number.isSubnormal {
                return "\(type("Float"))(bitPattern: 0x\(String(number.bitPattern, radix: 16)))"
            }
            return number.isInfinite ? "\(number < 0 ? "-" : "")\(type("Float")).infinity" : "\(number)"
        case .double(let number): return self.number(number)
        case .decimal(let number): return decimal(number)
        case .string(let text): return SwiftName.literal(text)
        case .data(let bytes):
            if bytes.isEmpty { return "\(type("Data"))()" }
            if bytes.count > 16 {
                return
                    "\(type("Data"))(base64Encoded: \(SwiftName.literal(bytes.base64EncodedString()))) ?? \(type("Data"))()"
            }
            return "\(type("Data"))([\(bytes.map(Self.hexadecimal).joined(separator: ", "))])"
        case .date(let date):
            return "\(type("Date"))(timeIntervalSinceReferenceDate: \(number(date.timeIntervalSinceReferenceDate)))"
        case .uuid(let identifier):
            let bytes = withUnsafeBytes(of: identifier.uuid) { $0.map(Self.hexadecimal) }
            return "\(type("UUID"))(uuid: (\(bytes.joined(separator: ", "))))"
        case .url(let url): return self.url(url)
        default: return nil
        }
    }

    private static func hexadecimal(_ byte: UInt8) -> String { "0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    private func number(_ number: Double) -> String {
        if number.isNaN || number.isSubnormal {
            return "\(type("Double"))(bitPattern: 0x\(String(number.bitPattern, radix: 16)))"
        }
        return number.isInfinite ? "\(number < 0 ? "-" : "")\(type("Double")).infinity" : "\(number)"
    }

    private func decimal(_ number: Decimal) -> String? {
        let name = type("Decimal")
        if number.isNaN { return "\(name).nan" }
        let text = number.description
        if let small = Int64(text) { return "\(small)" }
        guard Decimal(string: text, locale: nil) == number else { return nil }
        return "\(name)(string: \(SwiftName.literal(text)), locale: nil) ?? \(name).nan"
    }

    private func url(_ url: URL) -> String? {
        let name = type("URL")
        let (text, made): (String, URL?)
        if let base = url.baseURL {
            // A base of its own base is a text that nobody writes.
            guard base.baseURL == nil else { return nil }
            made = URL(string: url.relativeString, relativeTo: URL(string: base.absoluteString))
            text =
                "\(name)(string: \(SwiftName.literal(url.relativeString)), relativeTo: "
                + "\(name)(string: \(SwiftName.literal(base.absoluteString))))"
        } else {
            made = URL(string: url.absoluteString)
            text = "\(name)(string: \(SwiftName.literal(url.absoluteString)))"
        }
        guard let made, StoredValue.url(made).isIdentical(to: .url(url)) else { return nil }
        return "\(text) ?? \(name)(fileURLWithPath: \"/\")"
    }

    /// A value of a generated structure, by its initializer with all members; nil if that would be another tree.
    func expression(_ tree: StoredValue, of structure: NestedStructure) -> String? {
        guard case .object(let values) = tree else { return nil }
        guard Set(values.keys).isSubset(of: structure.members.map(\.member.name)) else { return nil }
        var arguments: [String] = []
        for (member, nested) in structure.members {
            let text: String
            switch values[member.name] {
            case nil:
                guard member.isOptional else { return nil }
                text = "nil"
            case let value?:
                if let nested {
                    guard let inner = expression(value, of: nested) else { return nil }
                    text = inner
                } else if member.kind == .coded {
                    guard !value.isNull, let inner = expression(value, kind: .coded) else { return nil }
                    text = inner
                } else {
                    guard let inner = plain(value, member.kind) else { return nil }
                    text = inner
                }
            }
            arguments.append("\(SwiftName.label(member.name)): \(text)")
        }
        return "\(structure.name)(\(arguments.joined(separator: ", ")))"
    }

    /// A leaf of a tree for a member of a kind that trees have as well.
    private func plain(_ value: StoredValue, _ kind: StorageKind) -> String? {
        switch (kind, value) {
        case (.bool, .bool), (.string, .string), (.double, .double): expression(value, kind: kind)
        case (.int8, .integer), (.int16, .integer), (.int32, .integer), (.int64, .integer), (.uint8, .integer),
            (.uint16, .integer), (.uint32, .integer):
            expression(value, kind: kind)
        default: nil
        }
    }
}
#endif
