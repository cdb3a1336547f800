import Foundation
public import MortiseCore
public import PackageTestSupport

/// Records of `NodeSchema`, full of values that databases treat in their own ways: nil, NaN, -0.0, extremes, combining marks.
public final class NodeRecords {
    public let store: String
    /// In the order of their numbers, which begin at 1.
    public private(set) var records: [DefaultSnapshot] = []

    public init(_ count: Int, store: String, _ numbers: inout SeededGenerator) {
        self.store = store
        let entities = (0..<count).map { _ in numbers.pick(["Node", "Node", "Special", "Box"]) }
        let identifiers = entities.enumerated().map { place, entity in
            PersistentIdentifier.numbered(UInt64(place + 1), storeIdentifier: store, entityName: entity)
        }
        func some(_ names: [String], _ numbers: inout SeededGenerator) -> StoredValue {
            let fitting = identifiers.filter { names.contains($0.entityName) }
            return numbers.chance(3) || fitting.isEmpty ? .null : .identifier(numbers.pick(fitting))
        }
        func several(_ names: [String], _ numbers: inout SeededGenerator) -> StoredValue {
            let fitting = identifiers.filter { names.contains($0.entityName) }
            if fitting.isEmpty { return .identifiers([]) }
            let members = Set((0..<numbers.below(4)).map { _ in numbers.pick(fitting) })
            return .identifiers(members.sorted())
        }
        for identifier in identifiers {
            let layout = NodeSchema.layouts[identifier.entityName] ?? .empty("")
            let values = layout.slots.map { slot -> StoredValue in
                if let kind = slot.property.attribute?.kind {
                    return slot.property.isOptional && numbers.chance(3) ? .null : Self.value(kind, &numbers)
                }
                let family = NodeSchema.stored.subtree(of: slot.property.relationship?.destination ?? "")
                switch slot.role {
                case .toOne: return some(family, &numbers)
                case .toManyStored: return several(family, &numbers)
                default: return .identifiers([])
                }
            }
            records.append(
                DefaultSnapshot(persistentIdentifier: identifier, layout: layout, values: ContiguousArray(values)))
        }
        derive()
    }

    /// Fills in the sides of relationships that the other sides decide.
    private func derive() {
        var members: [PersistentIdentifier: [String: [PersistentIdentifier]]] = [:]
        for record in records {
            for (slot, value) in zip(record.layout.slots, record.values) {
                guard let inverse = slot.property.relationship?.inverse else { continue }
                let targets: [PersistentIdentifier] =
                    switch value {
                    case .identifier(let target) where slot.role == .toOne: [target]
                    case .identifiers(let targets) where slot.role == .toManyStored: targets
                    default: []
                    }
                for target in targets {
                    members[target, default: [:]][inverse, default: []].append(record.persistentIdentifier)
                }
            }
        }
        records = records.map { record in
            var values = record.values
            for (place, slot) in record.layout.slots.enumerated() where slot.role == .toManyDerived {
                values[place] = .identifiers((members[record.persistentIdentifier]?[slot.name] ?? []).sorted())
            }
            return DefaultSnapshot(
                persistentIdentifier: record.persistentIdentifier, layout: record.layout, values: values)
        }
    }

    // MARK: Values

    /// Text without two of which Swift's `<` finds neither before the other: there, stores may sort as they compare.
    public static let texts: [String] = {
        var kept: [String] = []
        let all = [
            "", "a", "A", "b", "ab", "é", "e\u{301}", "éa", "q", "q\u{307}", "z", "10", "9", "%", "_", "a%b", "\\", "'",
            "\"", "?", "--", "a\0b", "a\0", "\u{1}", "\r\n", "\n", "a\r\nb", "\u{301}", "\n\u{301}", "Å", "\u{212B}",
            "Ω",
            "\u{2126}", "ﬁ", "fi", "\u{FFFF}", "😀", "👨‍👩‍👧", "👨", "한", "\u{1112}\u{1161}\u{11AB}", "\u{1112}\u{1161}",
            "\u{0F71}\u{0F72}", "\u{0F73}", "\u{09C7}\u{09BE}", "\u{09CB}", "क\u{94D}ष", "ss", "ß", "I", "ı", "İ", "i",
            String(repeating: "x", count: 300), "nan", "NaN",
        ]
        for text in all {
            let agrees = kept.allSatisfy { other in
                text == other
                    || ((text < other) == CanonicalText.precedes(text, other)
                        && (other < text) == CanonicalText.precedes(other, text))
            }
            if agrees { kept.append(text) }
        }
        return kept
    }()

    private static let reals: [Double] = [
        0, -0.0, 1, -1, 1.5, 0.1, .nan, .nan, -.nan, .signalingNaN, .infinity, -.infinity, .leastNonzeroMagnitude,
        .greatestFiniteMagnitude, 9_007_199_254_740_992, 2, 3,
    ]

    private static let decimals = [
        "0", "1", "-1", "1.5", "1.55", "-1.5", "-1.55", "0.05", "0.5", "10", "9", "-10", "-9", "NaN", "100", "1000",
        "12345678901234567890123456789012345678", "-0.00000000000000000000000000000000000001", "0.1", "0.10000001",
    ].map { Decimal(string: $0) ?? 0 }

    public static func value(_ kind: StorageKind, _ numbers: inout SeededGenerator) -> StoredValue {
        switch kind {
        case .bool: return .bool(numbers.chance(2))
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32:
            let range = kind.integerRange ?? 0...0
            return .integer(
                numbers.pick([range.lowerBound, range.upperBound, 0, 1, 2, 3, 2, 3].filter(range.contains)))
        case .uint64: return .unsigned(numbers.pick([0, 1, 2, .max, .max - 1, 1 << 63, 1 << 63 - 1]))
        case .float: return .float(Float(numbers.pick(reals)))
        case .double: return .double(numbers.pick(reals))
        case .date:
            let seconds = numbers.pick(reals + [-63_113_904_000, 63_113_904_000, 0.1234567890123])
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case .decimal: return .decimal(numbers.pick(decimals))
        case .string: return .string(numbers.pick(texts))
        case .data:
            return .data(numbers.pick([Data(), Data([0]), Data([0, 0]), Data([1]), Data([255]), Data([1, 2])]))
        case .uuid:
            let byte = numbers.pick([UInt8(0), 1, 127, 128, 255])
            return .uuid(UUID(uuid: (byte, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, numbers.pick([0, 255]))))
        case .url:
            return .url(numbers.pick(["https://a.b/c", "https://a.b/d", "x", "a:b"].compactMap { URL(string: $0) }))
        case .coded: return .array([.integer(Int64(numbers.below(3))), .string(numbers.pick(texts)), .null])
        }
    }

    // MARK: Reading

    /// The records as the reference evaluator reads them.
    public func reader() -> RecordReader {
        let grouped = Dictionary(grouping: records, by: \.persistentIdentifier.entityName)
        return RecordReader(schema: NodeSchema.stored, layouts: NodeSchema.layouts) { entity in
            grouped[entity].map(FixedRows.init)
        }
    }
}

/// Rows that do not change.
private final class FixedRows: RowSource, @unchecked Sendable {
    // @unchecked: immutable.
    private let records: [DefaultSnapshot]
    private let places: [PersistentIdentifier: Int]

    init(_ records: [DefaultSnapshot]) {
        self.records = records
        places = Dictionary(uniqueKeysWithValues: records.enumerated().map { ($1.persistentIdentifier, $0) })
    }

    override var endRow: Int { records.count }
    override var count: Int { records.count }
    override func contains(row: Int) -> Bool { records.indices.contains(row) }
    override func identifier(ofRow row: Int) -> PersistentIdentifier { records[row].persistentIdentifier }
    override func row(of identifier: PersistentIdentifier) -> Int? { places[identifier] }
    override func value(row: Int, slot: Int) -> StoredValue {
        records[row].values.indices.contains(slot) ? records[row].values[slot] : .null
    }
}
