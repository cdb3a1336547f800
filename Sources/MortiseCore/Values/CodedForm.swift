import Foundation

/// A stored value in the form that any coder can carry without knowing kinds: null, boolean, number, text, array, object.
/// What comes back has lost the kind; the schema gives it back (`StoredValue.coerced(to:)`).
struct CodedForm: Codable, CustomStringConvertible {
    let value: StoredValue

    init(value: StoredValue) { self.value = value }

    private struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { return nil }
    }

    init(from decoder: any Decoder) throws {
        if let keyed = try? decoder.container(keyedBy: Name.self) {
            var members: [String: StoredValue] = [:]
            for key in keyed.allKeys { members[key.stringValue] = try keyed.decode(CodedForm.self, forKey: key).value }
            value = .object(members)
        } else if var unkeyed = try? decoder.unkeyedContainer() {
            var elements: [StoredValue] = []
            while !unkeyed.isAtEnd { elements.append(try unkeyed.decode(CodedForm.self).value) }
            value = .array(elements)
        } else {
            let single = try decoder.singleValueContainer()
            if single.decodeNil() {
                value = .null
            } else if let bool = try? single.decode(Bool.self) {
                value = .bool(bool)
            } else if let integer = try? single.decode(Int64.self) {
                value = .integer(integer)
            } else if let unsigned = try? single.decode(UInt64.self) {
                value = .unsigned(unsigned)
            } else if let double = try? single.decode(Double.self) {
                value = .double(double)
            } else {
                value = .string(try single.decode(String.self))
            }
        }
    }

    func encode(to encoder: any Encoder) throws {
        switch value {
        case .object(let members):
            var keyed = encoder.container(keyedBy: Name.self)
            for (name, member) in members {
                if let key = Name(stringValue: name) { try keyed.encode(CodedForm(value: member), forKey: key) }
            }
        case .array(let elements):
            var unkeyed = encoder.unkeyedContainer()
            for element in elements { try unkeyed.encode(CodedForm(value: element)) }
        case .identifiers(let identifiers):
            var unkeyed = encoder.unkeyedContainer()
            for identifier in identifiers { try unkeyed.encode(identifier) }
        default:
            var single = encoder.singleValueContainer()
            switch value {
            case .bool(let value): try single.encode(value)
            case .integer(let value): try single.encode(value)
            case .unsigned(let value): try single.encode(value)
            case .float(let value): try encode(Double(value), to: &single)
            case .double(let value): try encode(value, to: &single)
            case .decimal(let value): try single.encode(value.description)
            case .string(let value): try single.encode(value)
            case .data(let value): try single.encode(value.base64EncodedString())
            case .date(let value): try encode(value.timeIntervalSinceReferenceDate, to: &single)
            case .uuid(let value): try single.encode(value)
            case .url(let value): try single.encode(value)
            case .identifier(let value): try single.encode(value)
            default: try single.encodeNil()
            }
        }
    }

    private func encode(_ number: Double, to container: inout any SingleValueEncodingContainer) throws {
        if number.isFinite {
            try container.encode(number)
        } else {
            try container.encode(CodedNumber.text(of: number))
        }
    }

    var description: String {
        switch value {
        case .object(let members):
            "{" + members.keys.sorted().map { "\($0):\(CodedForm(value: members[$0] ?? .null))" }.joined(separator: ",")
                + "}"
        case .array(let elements): "[" + elements.map { CodedForm(value: $0).description }.joined(separator: ",") + "]"
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value): "\"\(value)\""
        default: "\(value)"
        }
    }
}

extension StoredValue {
    /// This value converted to the given kind: a coder without kinds of its own turns dates into numbers and UUIDs into
    /// text, and this turns them back. Nil if it cannot be of that kind.
    func coerced(to kind: StorageKind) -> StoredValue? {
        if isNull || fits(kind) { return self }
        switch kind {
        case .bool, .string, .coded: return nil
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32:
            guard let integer: Int64 = asInteger(), kind.integerRange?.contains(integer) == true else { return nil }
            return .integer(integer)
        case .uint64: return asInteger().map { (value: UInt64) in .unsigned(value) }
        case .float: return asDouble.map { .float(Float($0)) }
        case .double: return asDouble.map(StoredValue.double)
        case .decimal: return asDecimal.map(StoredValue.decimal)
        case .data: return asData.map(StoredValue.data)
        case .date: return asDate.map(StoredValue.date)
        case .uuid: return asUUID.map(StoredValue.uuid)
        case .url: return asURL.map(StoredValue.url)
        }
    }
}
