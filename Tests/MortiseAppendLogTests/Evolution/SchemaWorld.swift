import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import PackageTestSupport

@testable import MortiseAppendLog
import MortiseTestSupport

/// Records by entity, number and property, as they come out of a store.
typealias Records = [String: [UInt64: [String: StoredValue]]]

/// One store on a simulated disk that programs with several schemas open in turn.
struct SchemaWorld {
    enum Kind: CaseIterable { case json, log }

    let kind: Kind
    let disk: SimulatedFileSystem
    let path: String

    init(_ kind: Kind, on disk: SimulatedFileSystem? = nil, at path: String = "/data/store") throws {
        self.kind = kind
        self.path = path
        self.disk = try disk ?? makeDisk()
    }

    func open(
        _ schema: StoredSchema, dropping: [String] = [], allowsSave: Bool = true,
        sharing: AppendLogSharing = .exclusive, at other: String? = nil
    ) throws -> any EngineDataStore {
        switch kind {
        case .json:
            return try JSONFileStore(
                JSONFileConfiguration(
                    schema: Schema(stored: schema), path: other ?? path, allowsSave: allowsSave, dropping: dropping,
                    in: disk), migrationPlan: nil)
        case .log:
            var configuration = AppendLogConfiguration(
                schema: Schema(stored: schema), path: other ?? path, allowsSave: allowsSave, sharing: sharing,
                compaction: .onCall, dropping: dropping, in: disk)
            configuration.allocationStep = 4_096
            configuration.leastReplay = 1
            return try AppendLogStore(configuration, migrationPlan: nil)
        }
    }

    func close(_ store: any EngineDataStore) throws {
        try (store as? JSONFileStore)?.close()
        try (store as? AppendLogStore)?.close()
    }

    func storedSchema(at other: String? = nil) throws -> StoredSchema? {
        switch kind {
        case .json: try JSONFileConfiguration(path: other ?? path, in: disk).storedSchema()
        case .log: try AppendLogConfiguration(path: other ?? path, in: disk).storedSchema()
        }
    }

    /// What is in the folder, with its bytes; locks apart, which hold no data.
    func files() throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for folder in ["/data", path + ".external"] where try disk.infoIfPresent(folder, followingLinks: false) != nil {
            for name in try disk.list(folder) where !name.hasSuffix(".lock") && !name.hasSuffix(".turn") {
                found["\(folder)/\(name)"] = disk.contents(at: "\(folder)/\(name)")
            }
        }
        return found
    }

    /// The copies that were made of the store as it was.
    func copies() throws -> Set<String> {
        let start = PathText.name(of: path) + ".schema-"
        return Set(
            try disk.list("/data").filter {
                $0.hasPrefix(start) && $0.split(separator: "-").last?.count == 16
            }.map { "/data/\($0)" })
    }

    /// Saves new records with values that no other has; each slot is left at its default one time in three.
    func fill(_ store: any EngineDataStore, _ schema: StoredSchema, using random: inout TestGenerator) throws {
        let layouts = schema.recordLayouts()
        var made: [PersistentIdentifier] = []
        for (place, entity) in schema.entities.enumerated() {
            // At least one, so that something is written.
            for _ in 0..<Int.random(in: (place == 0 ? 1 : 0)..<5, using: &random) {
                made.append(.temporary(entityName: entity.name))
            }
        }
        let inserted = made.compactMap { record -> DefaultSnapshot? in
            guard let layout = layouts[record.entityName] else { return nil }
            let values = layout.slots.map { slot -> StoredValue in
                let isGiven = !random.chance(3)
                if let relationship = slot.property.relationship {
                    let targets = made.filter { $0.entityName == relationship.destination && !random.chance(2) }
                    if relationship.isToMany { return .identifiers(isGiven ? targets : []) }
                    return isGiven ? targets.first.map { .identifier($0) } ?? .null : .null
                }
                guard isGiven, let kind = slot.property.attribute?.kind else {
                    return slot.property.attribute?.defaultValue ?? .null
                }
                let word = Int64.random(in: 1 ... .max, using: &random)
                switch kind {
                case .int64: return .integer(word)
                case .data:
                    return .data(Data("\(word)".utf8 + Array(repeating: 7, count: random.chance(2) ? 6_000 : 10)))
                default: return .string("text \(word)")
                }
            }
            return DefaultSnapshot(persistentIdentifier: record, layout: layout, values: ContiguousArray(values))
        }
        _ = try store.save(
            DataStoreSaveChangesRequest(inserted: inserted, editingState: EditingState(author: "test")))
    }

    /// All that a store shows.
    func records(_ store: any EngineDataStore, _ schema: StoredSchema) throws -> Records {
        var found: Records = [:]
        let version = store.engine.version
        for (name, layout) in schema.recordLayouts() {
            guard let rows = version.rows(ofEntity: name) else { continue }
            for row in 0..<rows.endRow where rows.contains(row: row) {
                let number = rows.identifier(ofRow: row).sequenceNumber ?? 0
                for (slot, property) in layout.slots.enumerated() {
                    found[name, default: [:]][number, default: [:]][property.name] =
                        try rows.readValue(row: row, slot: slot)
                }
            }
        }
        try version.check()
        return found
    }
}

/// What a program with another schema should see, and what it should lose, by the generator's word.
struct Expectation {
    var records: Records = [:]
    var entities: [String: Int] = [:]
    var properties: [String: Int] = [:]

    init(_ old: Records, _ before: StoredSchema, _ grown: GrownSchema) {
        let kept = Set(grown.schema.entities.map(\.name))
        let layouts = grown.layouts
        let oldLayouts = before.recordLayouts()
        for (entity, rows) in old {
            guard kept.contains(entity), let layout = layouts[entity] else {
                entities[entity] = rows.count
                continue
            }
            let origins = grown.origins[entity] ?? [:]
            for (number, values) in rows {
                for slot in layout.slots {
                    let value =
                        origins[slot.name].flatMap { values[$0] } ?? slot.property.attribute?.defaultValue
                        ?? (slot.role.isToMany ? .identifiers([]) : .null)
                    records[entity, default: [:]][number, default: [:]][slot.name] = value
                }
                let taken = Set(origins.values)
                for slot in oldLayouts[entity]?.slots ?? [] where !taken.contains(slot.name) {
                    let value = values[slot.name] ?? .null
                    let isDefault = value.isNull || value == .identifiers([])
                    if !isDefault, value != slot.property.attribute?.defaultValue {
                        properties["\(entity).\(slot.name)", default: 0] += 1
                    }
                }
            }
        }
    }

    var isLossless: Bool { entities.isEmpty && properties.isEmpty }

    func matches(_ loss: SchemaLoss?) -> Bool {
        Dictionary(uniqueKeysWithValues: (loss?.entities ?? []).map { ($0.name, $0.records) }) == entities
            && Dictionary(uniqueKeysWithValues: (loss?.properties ?? []).map { ("\($0.entity).\($0.name)", $0.values) })
                == properties
    }
}
