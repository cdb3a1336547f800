import MortiseCore

/// How the values of one slot lie in a chunk.
struct ColumnForm: RawRepresentable, Hashable, Sendable {
    let rawValue: UInt8
    /// No values: derived or ephemeral.
    static let none = ColumnForm(rawValue: 0)
    static let bool = ColumnForm(rawValue: 1)
    static let int8 = ColumnForm(rawValue: 2)
    static let int16 = ColumnForm(rawValue: 3)
    static let int32 = ColumnForm(rawValue: 4)
    static let int64 = ColumnForm(rawValue: 5)
    static let uint8 = ColumnForm(rawValue: 6)
    static let uint16 = ColumnForm(rawValue: 7)
    static let uint32 = ColumnForm(rawValue: 8)
    static let uint64 = ColumnForm(rawValue: 9)
    static let float = ColumnForm(rawValue: 10)
    static let double = ColumnForm(rawValue: 11)
    static let date = ColumnForm(rawValue: 12)
    static let uuid = ColumnForm(rawValue: 13)
    static let decimal = ColumnForm(rawValue: 14)
    /// The number of the target record.
    static let reference = ColumnForm(rawValue: 15)
    /// The number of the target record and that of its entity.
    static let wideReference = ColumnForm(rawValue: 16)
    /// UTF-8, inline or in the heap.
    static let text = ColumnForm(rawValue: 17)
    /// The number of a string in the table's dictionary.
    static let code = ColumnForm(rawValue: 18)
    /// Bytes, inline or in the heap.
    static let bytes = ColumnForm(rawValue: 19)

    /// The bytes that each row has in the column.
    var width: Int { Int(rawValue) < Self.widths.count ? Self.widths[Int(rawValue)] : 0 }
    private static let widths = [0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 16, 20, 8, 10, 16, 2, 16]

    var isInHeap: Bool { self == .text || self == .bytes }

    /// Whether a value is a word that means the same in all chunks of a table.
    var isWord: Bool {
        switch self {
        case .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double, .date,
            .reference,
            .code:
            true
        default: false
        }
    }
}

/// One slot of an entity's records as its tables keep it.
final class Column: Sendable {
    let slot: Int
    let kind: StorageKind?
    let role: RecordLayout.Role
    /// The form of new chunks; strings have `text` here and may be coded.
    let form: ColumnForm
    let isOptional: Bool
    let isEphemeral: Bool
    /// Whether longer values go into external files, where the store has a place for them.
    let storesExternally: Bool
    /// Whether values are keys of an index, for which they have to be in the record.
    let isIndexed: Bool
    let defaultValue: StoredValue?
    /// The entities at the other end of a relationship, by their numbers: the destination first, then its subentities.
    let targets: [Int]

    init(_ slot: RecordLayout.Slot, at index: Int, targets: [Int], isIndexed: Bool) {
        self.slot = index
        self.targets = targets
        role = slot.role
        isOptional = slot.property.isOptional
        let attribute = slot.property.attribute
        kind = attribute?.kind
        defaultValue = attribute?.defaultValue
        isEphemeral = attribute?.options.contains(.ephemeral) == true
        self.isIndexed = isIndexed
        // What is preserved on deletion has to outlive the record, and with it the file.
        storesExternally =
            kind == .data && attribute?.options.contains(.externalStorage) == true && !isIndexed && !isEphemeral
            && attribute?.options.contains(.preserveValueOnDeletion) != true
        switch slot.role {
        case .toManyStored, .toManyDerived: form = .none
        case .toOne: form = targets.count > 1 ? .wideReference : .reference
        case .attribute: form = isEphemeral ? .none : attribute.map { ColumnForm($0.kind) } ?? .none
        }
    }
}

extension ColumnForm {
    init(_ kind: StorageKind) {
        switch kind {
        case .bool: self = .bool
        case .int8: self = .int8
        case .int16: self = .int16
        case .int32: self = .int32
        case .int64: self = .int64
        case .uint8: self = .uint8
        case .uint16: self = .uint16
        case .uint32: self = .uint32
        case .uint64: self = .uint64
        case .float: self = .float
        case .double: self = .double
        case .decimal: self = .decimal
        case .string: self = .text
        case .date: self = .date
        case .uuid: self = .uuid
        case .data, .url, .coded: self = .bytes
        }
    }
}
