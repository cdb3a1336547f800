import Foundation

/// A place in an order of models, before or after which a page begins. Pages of a context give it, and take it back.
///
/// It is text of the letters, digits, `-` and `_`, for URLs and forms. It holds the values by which the model beside it was sorted,
/// and its identifier: the place stays what it is when that model is changed or deleted, and in other processes. It is no secret,
/// and nothing keeps those who get it from making up another one; that is a place in the same order, and shows nothing that the
/// descriptor does not let through.
///
/// A cursor beside a model that was not saved counts in that model's context alone, as a value and not as text: until the save after
/// the one that stores the model, or until the model is deleted. Everywhere else it is `PageError.unsavedPlace`.
public struct PageCursor: Sendable, Hashable {
    let entity: String
    let store: String
    /// Digests of the conditions and of the sort keys.
    let conditions: String
    let order: String
    let keys: [StoredValue]
    /// The identifier of the model beside the place: as it is, or as the text that it came in.
    private let place: Place

    private enum Place {
        case identifier(PersistentIdentifier)
        case text(String)
        case nothing
    }

    /// The text of the identifier; nil for a model that was not saved.
    var record: String? {
        switch place {
        case .identifier(let identifier): identifier.string
        case .text(let text): text
        case .nothing: nil
        }
    }
    /// The identifier, where the cursor was made in this process.
    var identifier: PersistentIdentifier? { if case .identifier(let identifier) = place { identifier } else { nil } }
    /// The identifier of a model that was not saved, in this process.
    var temporary: PersistentIdentifier? { identifier.flatMap { $0.isTemporary ? $0 : nil } }

    /// The longest text that is read, in bytes.
    private static let longest = 1 << 20
    private static let form = 1

    private struct Payload: Codable {
        let form: Int
        let entity: String
        let store: String
        let conditions: String
        let order: String
        let keys: [String]
        let record: String?
    }

    init(
        entity: String, store: String, conditions: String, order: String, keys: [StoredValue],
        record: PersistentIdentifier
    ) {
        (self.entity, self.store, self.conditions, self.order) = (entity, store, conditions, order)
        self.keys = keys
        place = .identifier(record)
    }

    /// The cursor as text.
    public var string: String {
        let payload = Payload(
            form: Self.form, entity: entity, store: store, conditions: conditions, order: order,
            keys: keys.map(PageKeyText.text), record: record)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Names, numbers and strings: nothing that the encoder refuses.
        return ((try? encoder.encode(payload)) ?? Data()).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Reads what `string` gave. The text may come from anywhere.
    /// - Throws: `PageError.invalidCursor`.
    public init(string: String) throws {
        guard string.utf8.count <= Self.longest else { throw PageError.invalidCursor("it is longer than 1 MiB") }
        let isText = string.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        let padded =
            string.replacing("-", with: "+").replacing("_", with: "/")
            + String(repeating: "=", count: (4 - string.utf8.count % 4) % 4)
        guard isText, let data = Data(base64Encoded: padded) else {
            throw PageError.invalidCursor("it has other characters, or some are missing")
        }
        guard let payload = try? JSONDecoder().decode(Payload.self, from: data), payload.form == Self.form else {
            throw PageError.invalidCursor("it is no cursor, or one of a later version")
        }
        (entity, store, conditions, order) = (payload.entity, payload.store, payload.conditions, payload.order)
        keys = try payload.keys.map { text in
            guard let value = PageKeyText.value(text) else {
                throw PageError.invalidCursor("one of its values cannot be read")
            }
            return value
        }
        place = payload.record.map { .text($0) } ?? .nothing
    }
}

extension PageCursor {
    /// Whether two cursors are the same place in the same order; one that was text is the one that the text was made of.
    public static func == (a: PageCursor, b: PageCursor) -> Bool {
        (a.entity, a.store, a.conditions, a.order) == (b.entity, b.store, b.conditions, b.order) && a.keys == b.keys
            && a.temporary == b.temporary && a.record == b.record
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(entity)
        hasher.combine(keys)
        hasher.combine(record)
        hasher.combine(temporary)
    }
}

extension PageCursor: Codable {
    /// Decodes the text.
    /// - Throws: `PageError.invalidCursor`; what the decoder throws.
    public init(from decoder: any Decoder) throws {
        try self.init(string: try decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(string)
    }
}

extension PageCursor: CustomStringConvertible {
    /// The text.
    public var description: String { string }
}

/// Sort keys as text, to the last bit. No identifiers: names of stores from anywhere must not become known.
private enum PageKeyText {
    static func text(_ value: StoredValue) -> String {
        switch value {
        case .bool(let value): value ? "b1" : "b0"
        case .integer(let value): "i\(value)"
        case .unsigned(let value): "u\(value)"
        case .float(let value): "f\(value.bitPattern)"
        case .double(let value): "d\(value.bitPattern)"
        case .date(let value): "t\(value.timeIntervalSinceReferenceDate.bitPattern)"
        case .decimal(let value): "c\(value.description)"
        case .string(let value): "s\(value)"
        case .uuid(let value): "g\(value.uuidString)"
        default: "n"
        }
    }

    static func value(_ text: String) -> StoredValue? {
        // Scalars: the letter and what follows may be one character.
        let scalars = text.unicodeScalars
        let rest = String(scalars.dropFirst())
        switch scalars.first {
        case "n": return rest.isEmpty ? .null : nil
        case "b": return rest == "1" ? .bool(true) : rest == "0" ? .bool(false) : nil
        case "i": return Int64(rest).map(StoredValue.integer)
        case "u": return UInt64(rest).map(StoredValue.unsigned)
        case "f": return UInt32(rest).map { .float(Float(bitPattern: $0)) }
        case "d": return UInt64(rest).map { .double(Double(bitPattern: $0)) }
        case "t":
            return UInt64(rest).map { .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0))) }
        case "c": return Decimal(storedText: rest).map(StoredValue.decimal)
        case "s": return .string(rest)
        case "g": return UUID(uuidString: rest).map(StoredValue.uuid)
        default: return nil
        }
    }
}
