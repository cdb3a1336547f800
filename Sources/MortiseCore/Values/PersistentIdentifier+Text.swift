import Foundation

extension PersistentIdentifier {
    /// A short text for URLs and files, of the letters, digits, `-` and `_`; nil while the identifier is temporary, and for a key
    /// whose text would be longer than 8,192 bytes.
    ///
    /// It names the store, the entity and the key, and is valid in every process that opens the store, as long as the record exists and
    /// its entity has that name, or says with `originalEntityName` that it had it. It is no secret: a reader can tell
    /// the key.
    public var string: String? {
        guard !isTemporary, let store = storeIdentifier else { return nil }
        var bytes: [UInt8] = []
        if let uuid = UUID(uuidString: store), uuid.uuidString == store {
            bytes.append(Form.storeOfUUID)
            withUnsafeBytes(of: uuid.uuid) { bytes += $0 }
        } else {
            bytes.append(Form.storeOfText)
            bytes.append(text: store)
        }
        bytes.append(text: entityName)
        switch id.key {
        case .temporary: return nil
        case .sequence(let number):
            bytes.append(Form.number)
            bytes.append(varint: number)
        case .other(let box):
            if case .string(let text) = box.value {
                bytes.append(Form.text)
                bytes.append(text: text)
            } else {
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                guard let data = try? encoder.encode(CodedForm(value: box.value)) else { return nil }
                bytes.append(Form.coded)
                bytes += data
            }
        }
        let check = Form.check(bytes)
        bytes += [UInt8(check >> 8), UInt8(truncatingIfNeeded: check)]
        let text = Data(bytes).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        return text.utf8.count <= Form.longest ? text : nil
    }

    /// Reads what `string` gave.
    ///
    /// The text may come from anywhere: it is taken only if this process knows the store and the entity, which it does once a
    /// container has opened the store, or somebody has decoded another identifier of these. Whether there is such a record is not looked at; `ModelContext.existingModel(for:as:)` does that.
    /// - Throws: `IdentifierTextError`.
    public init(string: String) throws {
        guard string.utf8.count <= Form.longest else { throw IdentifierTextError.malformed }
        let alphabet = string.replacing("-", with: "+").replacing("_", with: "/")
        let padded = alphabet + String(repeating: "=", count: (4 - alphabet.utf8.count % 4) % 4)
        guard !string.contains(where: { "+/=".contains($0) }), let data = Data(base64Encoded: padded), data.count > 4
        else { throw IdentifierTextError.malformed }
        var bytes = [UInt8](data)[...]
        let check = UInt16(bytes.removeLast()) | UInt16(bytes.removeLast()) << 8
        guard Form.check(Array(bytes)) == check else { throw IdentifierTextError.malformed }
        let store: String
        switch bytes.popFirst() {
        case Form.storeOfUUID?:
            guard bytes.count >= 16 else { throw IdentifierTextError.malformed }
            var uuid = UUID().uuid
            withUnsafeMutableBytes(of: &uuid) { $0.copyBytes(from: bytes.prefix(16)) }
            bytes = bytes.dropFirst(16)
            store = UUID(uuid: uuid).uuidString
        case Form.storeOfText?: store = try bytes.text()
        default: throw IdentifierTextError.malformed
        }
        let entity = try bytes.text()
        let key: Key
        switch bytes.popFirst() {
        case Form.number?: key = .sequence(try bytes.varint())
        case Form.text?: key = .other(KeyBox(.string(try bytes.text())))
        case Form.coded?:
            guard let form = try? JSONDecoder().decode(CodedForm.self, from: Data(bytes)) else {
                throw IdentifierTextError.malformed
            }
            bytes = []
            key = Key(storedKey: form.value)
        default: throw IdentifierTextError.malformed
        }
        guard bytes.isEmpty else { throw IdentifierTextError.malformed }
        // Names are kept for the life of the process, and hostile texts could name any number of them.
        guard let namespace = NamespaceNames.table.known(storeIdentifier: store, entityName: entity) else {
            throw IdentifierTextError.unknown(store: store, entity: entity)
        }
        self.init(id: ID(namespace: namespace, key: key))
        guard self.string == string else { throw IdentifierTextError.malformed }
    }

    private enum Form {
        static let storeOfUUID: UInt8 = 0x10
        static let storeOfText: UInt8 = 0x11
        static let number: UInt8 = 0
        static let text: UInt8 = 1
        static let coded: UInt8 = 2
        /// In bytes of the text.
        static let longest = 8_192

        /// So that a text that was cut or mistyped names no other record.
        static func check(_ bytes: [UInt8]) -> UInt16 {
            // FNV-1a, folded.
            let hash = bytes.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
            return UInt16(truncatingIfNeeded: hash ^ hash >> 16)
        }
    }
}

/// Why a text is no identifier of a record.
public enum IdentifierTextError: Error, Hashable, Sendable {
    /// No identifier has this text: it was cut, changed or made up.
    case malformed
    /// The process has opened no such store, or has not used the entity.
    case unknown(store: String, entity: String)
}

extension IdentifierTextError: CustomStringConvertible {
    /// What happened and what to do.
    public var description: String {
        switch self {
        case .malformed: "The text is not an identifier of a record. Take it from PersistentIdentifier.string."
        case .unknown(_, let entity):
            "The identifier names a record of \(entity.harmless) in a store that was not opened here. Open the store first."
        }
    }
}

extension String {
    /// The beginning of a text from anywhere, without what a terminal or a log would obey.
    fileprivate var harmless: String {
        let shown = unicodeScalars.prefix(80).map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned:
                "\\u{\(String(scalar.value, radix: 16))}"
            default: String(scalar)
            }
        }
        return shown.joined() + (unicodeScalars.dropFirst(80).isEmpty ? "" : "…")
    }
}

extension [UInt8] {
    fileprivate mutating func append(varint number: UInt64) {
        var number = number
        while number >= 0x80 {
            append(UInt8(truncatingIfNeeded: number) | 0x80)
            number >>= 7
        }
        append(UInt8(number))
    }

    fileprivate mutating func append(text: String) {
        append(varint: UInt64(text.utf8.count))
        append(contentsOf: text.utf8)
    }
}

extension ArraySlice<UInt8> {
    fileprivate mutating func varint() throws(IdentifierTextError) -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard let byte = popFirst() else { throw .malformed }
            let part = UInt64(byte & 0x7F)
            guard shift < 63 || part < 2 else { throw .malformed }
            number |= part << shift
            if byte < 0x80 { return number }
        }
        throw .malformed
    }

    fileprivate mutating func text() throws(IdentifierTextError) -> String {
        guard let count = Int(exactly: try varint()), count <= self.count,
            let text = String(validating: prefix(count), as: UTF8.self)
        else { throw .malformed }
        self = dropFirst(count)
        return text
    }
}
