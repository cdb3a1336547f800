import Foundation
import MortiseCore
import MortiseEngine
import PackageTestSupport

@testable import MortiseAppendLog

/// A log with every kind of attribute, required and optional and indexed, and with every kind of relationship, written
/// without models.
final class KindsLog {
    let store: AppendLogStore
    private var records: [String: [PersistentIdentifier]] = [:]
    /// A record to which nothing refers, with values that outlive it: the next save deletes it.
    private var doomed: PersistentIdentifier?
    private let layouts: [String: RecordLayout]

    private static let kinds = StorageKind.allCases
    private static let indexed = kinds.filter { $0 != .coded }
    /// Those of `Kind`: one for each kind, required and optional, one over two properties, and one to-one.
    static let indexCount = 2 * indexed.count + 3

    static var schema: StoredSchema {
        func attribute(
            _ name: String, _ kind: StorageKind, isOptional: Bool, _ options: StoredAttribute.Options = [],
            was original: String? = nil, default value: StoredValue? = nil, hash: String? = nil
        ) -> StoredProperty {
            StoredProperty(
                name: name, originalName: original, isOptional: isOptional,
                content: .attribute(.init(kind: kind, options: options, defaultValue: value, hashModifier: hash)))
        }
        func relationship(
            _ name: String, _ to: String, toMany: Bool, inverse: String? = nil,
            _ rule: Schema.Relationship.DeleteRule = .nullify, counts: ClosedRange<Int>? = nil, isUnique: Bool = false
        ) -> StoredProperty {
            StoredProperty(
                name: name, isOptional: true,
                content: .relationship(
                    .init(
                        destination: to, isToMany: toMany, inverse: inverse, deleteRule: rule,
                        minimumCount: counts?.lowerBound, maximumCount: counts?.upperBound, isUnique: isUnique)))
        }
        let attributes = kinds.flatMap { kind in
            [false, true].map { attribute("\($0 ? "o" : "r")_\(kind.rawValue)", kind, isOptional: $0) }
        }
        let kind = StoredEntity(
            name: "Kind",
            properties: attributes + [
                attribute("serial", .int64, isOptional: false, .unique),
                attribute("blob", .data, isOptional: true, .externalStorage),
                attribute("scratch", .string, isOptional: true, .ephemeral),
                attribute("trace", .string, isOptional: true, .preserveValueOnDeletion),
                attribute("kept", .data, isOptional: true, [.preserveValueOnDeletion, .externalStorage]),
                attribute(
                    "label", .string, isOptional: false, [.spotlight, .allowsCloudEncryption], was: "title",
                    default: .string("none"), hash: "second"),
                relationship("tags", "Tag", toMany: true, inverse: "members", counts: 0...9),
                relationship("first", "Tag", toMany: false, inverse: "leaders", .deny),
                relationship("lonely", "Kind", toMany: false, .noAction),
                relationship("badge", "Tag", toMany: false, .cascade, isUnique: true),
            ],
            uniquenessConstraints: [["serial"], ["label", "serial"]],
            indices: [["o_string", "r_int16"], ["lonely"]].map { StoredIndex(properties: $0) }
                + indexed.flatMap { kind in
                    ["r", "o"].map { StoredIndex(properties: ["\($0)_\(kind.rawValue)"]) }
                })
        let sub = StoredEntity(
            name: "Sub", superentity: "Kind",
            properties: [
                attribute("extra", .string, isOptional: true), relationship("crowd", "Kind", toMany: true),
                relationship("friends", "Sub", toMany: true, inverse: "friendOf"),
                relationship("friendOf", "Sub", toMany: true, inverse: "friends"),
            ], indices: [StoredIndex(kind: .rtree, properties: ["extra"])])
        let tag = StoredEntity(
            name: "Tag",
            properties: [
                attribute("name", .string, isOptional: false),
                relationship("members", "Kind", toMany: true, inverse: "tags"),
                relationship("leaders", "Kind", toMany: true, inverse: "first"),
            ])
        return StoredSchema(version: Schema.Version(2, 1, 7), entities: [tag, sub, kind])
    }

    init(path: String) throws {
        var configuration = AppendLogConfiguration(path: path)
        configuration.schema = Schema(stored: Self.schema)
        store = try AppendLogStore(configuration, migrationPlan: nil)
        layouts = Self.schema.recordLayouts()
    }

    private func any(_ entities: [String], _ generator: inout TestGenerator) -> PersistentIdentifier? {
        entities.flatMap { records[$0] ?? [] }.randomElement(using: &generator)
    }

    /// Inserts 80 records, changes and deletes some of the older ones.
    func save(_ generator: inout TestGenerator) throws {
        var request = (inserted: [DefaultSnapshot](), updated: [DefaultSnapshot](), deleted: [DefaultSnapshot]())
        let version = store.engine.version
        for (name, identifiers) in records.sorted(by: { $0.key < $1.key }) {
            guard let rows = version.rows(ofEntity: name), let layout = layouts[name] else { continue }
            for identifier in identifiers where Int.random(in: 0..<12, using: &generator) == 0 {
                guard let row = rows.row(of: identifier) else { continue }
                var values = ContiguousArray(layout.slots.indices.map { rows.value(row: row, slot: $0) })
                let isDeleted =
                    name != "Tag" && Int.random(in: 0..<3, using: &generator) == 0
                    && !isReferenced(identifier, version)
                if !isDeleted {
                    for slot in layout.slots.indices where Bool.random(using: &generator) && layout.isChosen(slot) {
                        values[slot] = value(layout.slots[slot], &generator)
                    }
                }
                let snapshot = DefaultSnapshot(persistentIdentifier: identifier, layout: layout, values: values)
                if isDeleted {
                    request.deleted.append(snapshot)
                    records[name]?.removeAll { $0 == identifier }
                } else {
                    request.updated.append(snapshot)
                }
            }
        }
        if let doomed, let layout = layouts["Kind"], let rows = version.rows(ofEntity: "Kind"),
            let row = rows.row(of: doomed)
        {
            let values = ContiguousArray(layout.slots.indices.map { rows.value(row: row, slot: $0) })
            request.deleted.append(DefaultSnapshot(persistentIdentifier: doomed, layout: layout, values: values))
        }
        let next = PersistentIdentifier.temporary(entityName: "Kind")
        if let layout = layouts["Kind"] {
            var values = ContiguousArray(layout.slots.map { value($0, &generator) })
            if let trace = layout.slot(named: "trace") {
                values[trace] = version.number % 2 == 0 ? .string("last words") : .null
            }
            if let kept = layout.slot(named: "kept") { values[kept] = .data(Data(repeating: 7, count: 4_501)) }
            request.inserted.append(DefaultSnapshot(persistentIdentifier: next, layout: layout, values: values))
        }
        for name in ["Tag", "Kind", "Sub"] {
            guard let layout = layouts[name] else { continue }
            for _ in 0..<(name == "Tag" ? 10 : 35) {
                request.inserted.append(
                    DefaultSnapshot(
                        persistentIdentifier: .temporary(entityName: name), layout: layout,
                        values: ContiguousArray(layout.slots.map { value($0, &generator) })))
            }
        }
        let result = try store.save(
            DataStoreSaveChangesRequest(
                inserted: request.inserted, updated: request.updated, deleted: request.deleted,
                editingState: EditingState(author: Bool.random(using: &generator) ? "somebody" : nil)))
        doomed = result.remappedIdentifiers[next]
        for snapshot in request.inserted where snapshot.persistentIdentifier != next {
            guard let identifier = result.remappedIdentifiers[snapshot.persistentIdentifier] else { continue }
            records[identifier.entityName, default: []].append(identifier)
        }
    }

    /// What no relationship leads to can be deleted as it is.
    private func isReferenced(_ record: PersistentIdentifier, _ version: any StoreVersion) -> Bool {
        for (name, layout) in layouts {
            guard let rows = version.rows(ofEntity: name) else { continue }
            for row in 0..<rows.endRow where rows.contains(row: row) {
                for slot in layout.slots.indices where layout.slots[slot].role.isRelationship {
                    if rows.identifier(row: row, slot: slot) == record { return true }
                    if layout.slots[slot].role.isToMany, rows.identifiers(row: row, slot: slot).contains(record) {
                        return true
                    }
                }
            }
        }
        return false
    }

    private func value(_ slot: RecordLayout.Slot, _ generator: inout TestGenerator) -> StoredValue {
        let property = slot.property
        if property.isOptional, Int.random(in: 0..<4, using: &generator) == 0, !slot.role.isToMany { return .null }
        switch slot.name {
        case "serial": return .integer(Int64.random(in: .min ... .max, using: &generator))
        case "blob": return .data(Data((0..<Int.random(in: 0...9_000, using: &generator)).map { UInt8($0 & 0xFF) }))
        case "badge": return .null
        case "kept": return .data(Data(repeating: 7, count: 4_501))
        case "extra": return .string(String(repeating: "é", count: Int.random(in: 0...40, using: &generator)))
        case "first": return any(["Tag"], &generator).map { .identifier($0) } ?? .null
        case "lonely": return any(["Kind", "Sub"], &generator).map { .identifier($0) } ?? .null
        case "tags", "crowd", "friends":
            let targets = slot.name == "tags" ? ["Tag"] : slot.name == "crowd" ? ["Kind", "Sub"] : ["Sub"]
            let members = (0..<Int.random(in: 0...4, using: &generator)).compactMap { _ in any(targets, &generator) }
            return .identifiers(Set(members).sorted())
        default: break
        }
        return property.attribute.map { Self.value($0.kind, &generator) } ?? .identifiers([])
    }

    private static func value(_ kind: StorageKind, _ generator: inout TestGenerator) -> StoredValue {
        let number = Int64.random(in: .min ... .max, using: &generator)
        let small = number >> 48
        let doubles = [0, -0.0, .nan, .infinity, -.infinity, 0.1, -2.5e-300, Double(small), .leastNonzeroMagnitude]
        let texts = ["", "a", "e\u{301}", "é", "\u{0}\u{1}b", "日本語", "\(small)", String(repeating: "x", count: 70)]
        let double = doubles.randomElement(using: &generator) ?? 0
        let text = (texts.randomElement(using: &generator) ?? "") + (number & 8 == 0 ? "" : "-\(number & 0xFFF)")
        switch kind {
        case .bool: return .bool(number & 1 == 0)
        case .int8: return .integer(Int64(Int8(truncatingIfNeeded: number)))
        case .int16: return .integer(Int64(Int16(truncatingIfNeeded: number)))
        case .int32: return .integer(Int64(Int32(truncatingIfNeeded: number)))
        case .int64: return .integer(number)
        case .uint8: return .integer(Int64(UInt8(truncatingIfNeeded: number)))
        case .uint16: return .integer(Int64(UInt16(truncatingIfNeeded: number)))
        case .uint32: return .integer(Int64(UInt32(truncatingIfNeeded: number)))
        case .uint64: return .unsigned(UInt64(bitPattern: number))
        case .float: return .float(Float(double))
        case .double: return .double(double)
        case .date: return .date(Date(timeIntervalSinceReferenceDate: double))
        case .decimal:
            if number & 15 == 0 { return .decimal(number & 16 == 0 ? .nan : 0) }
            return .decimal(Decimal(string: "\(small).\(UInt64(bitPattern: number) & 0xFFFF_FFFF)") ?? 0)
        case .string: return .string(text)
        case .data: return .data(Data(text.utf8) + [0, 1, UInt8(truncatingIfNeeded: number)])
        case .uuid:
            return .uuid(
                UUID(
                    uuid: withUnsafeBytes(of: (number, ~number)) { $0.loadUnaligned(as: uuid_t.self) }))
        case .url:
            let base = number & 32 == 0 ? nil : URL(string: "https://example.org/\(small)/")
            return URL(string: "page-\(number & 0xFF)", relativeTo: base).map { .url($0) } ?? .null
        case .coded:
            return .object([
                "list": .array([.null, .bool(true), .integer(number), .double(double)]), text: .string(text),
            ])
        }
    }
}

extension RecordLayout {
    /// Whether a change gives the slot another value at random: derived sides follow, and serials stay.
    fileprivate func isChosen(_ slot: Int) -> Bool {
        slots[slot].role != .toManyDerived && slots[slot].name != "serial"
    }
}
