public import Foundation
public import MortiseCore

/// Keeps models in a folder of CSV files, one for each entity, which any spreadsheet opens.
public struct CSVConfiguration: DataStoreConfiguration {
    public typealias Store = CSVStore
    public var name = "csv"
    public var schema: Schema?
    public let folder: URL

    public init(folder: URL) { self.folder = folder }
}

/// A store that reads the whole folder when it is opened and writes the whole folder at every save.
///
/// A save writes the files of the next generation into a folder of their own, which counts as soon as it has its name:
/// the folders are numbered, and the highest number is the latest. A save is thus there whole or not at all, also after
/// the process was killed. It does not wait for the disk, so that it does not claim to be durable.
public final class CSVStore: DataStore {
    public typealias Snapshot = DefaultSnapshot
    public let configuration: CSVConfiguration
    public let schema: Schema
    public let identifier: String
    public var capabilities: StoreCapabilities { [.reopening, .queries] }
    private(set) var records: [UInt64: DefaultSnapshot] = [:]
    private var next: UInt64 = 1
    private var generation: Int

    public init(_ configuration: CSVConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        (self.schema, self.configuration) = (schema, configuration)
        let names = try FileManager.default.contentsOfDirectory(atPath: configuration.folder.path)
        generation = names.compactMap { Int($0) }.max() ?? 0
        let folder = configuration.folder.appending(path: "\(generation)")
        let about = generation == 0 ? [] : try CSV.rows(of: folder.appending(path: "about.csv"))
        identifier = about.first?[0].text ?? UUID().uuidString
        next = about.first.flatMap { UInt64($0[1].text) } ?? 1
        for (entity, layout) in schema.stored.recordLayouts() where generation > 0 {
            for snapshot in try CSV.read(entity, layout, store: identifier, from: folder) {
                records[snapshot.persistentIdentifier.sequenceNumber ?? 0] = snapshot
            }
        }
    }

    public func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
        if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
        let found = shown(all(Schema.entityName(for: T.self)))
        return DataStoreFetchResult(
            descriptor: request.descriptor, fetchedSnapshots: Array(found[request.descriptor.window(of: found.count)]))
    }

    /// The records of an entity and, unless told otherwise, of those that inherit from it, in the order of insertion.
    func all(_ entity: String, withSubentities: Bool = true) -> [DefaultSnapshot] {
        let family = withSubentities ? Set(schema.stored.subtree(of: entity)) : [entity]
        return records.sorted { $0.key < $1.key }.map(\.value)
            .filter { family.contains($0.persistentIdentifier.entityName) }
    }

    /// Records as they are handed out: without references to what is gone, and with the to-many sides that follow from the
    /// records at their other end.
    func shown(_ found: [DefaultSnapshot]) -> [DefaultSnapshot] {
        var owners: [String: [PersistentIdentifier: [PersistentIdentifier]]] = [:]
        for record in records.sorted(by: { $0.key < $1.key }).map(\.value) {
            for (slot, value) in zip(record.layout.slots, record.values) where slot.role != .toManyDerived {
                for target in value.targets { owners[slot.name, default: [:]][target, default: []].append(record.id) }
            }
        }
        return found.map { record in
            let values = zip(record.layout.slots, record.values).map { slot, value -> StoredValue in
                let here = value.targets.filter { records[$0.sequenceNumber ?? 0] != nil }
                return switch slot.role {
                case .attribute: value
                case .toOne: here.first.map(StoredValue.identifier) ?? .null
                case .toManyStored: .identifiers(Set(here).sorted())
                case .toManyDerived: .identifiers(owners[slot.property.relationship?.inverse ?? ""]?[record.id] ?? [])
                }
            }
            return DefaultSnapshot(
                persistentIdentifier: record.id, layout: record.layout, values: ContiguousArray(values))
        }
    }

    public func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        var (changed, last) = (records, next)
        var permanent: [PersistentIdentifier: PersistentIdentifier] = [:]
        for snapshot in request.inserted {
            permanent[snapshot.id] = .numbered(last, storeIdentifier: identifier, entityName: snapshot.id.entityName)
            last += 1
        }
        for snapshot in request.updated + request.deleted where changed[snapshot.id.sequenceNumber ?? 0] == nil {
            throw CSVError.noSuchRecord(snapshot.id)
        }
        for snapshot in request.inserted + request.updated {
            let id = permanent[snapshot.id] ?? snapshot.id
            changed[id.sequenceNumber ?? 0] = snapshot.copy(persistentIdentifier: id, remappedIdentifiers: permanent)
        }
        for snapshot in request.deleted { changed[snapshot.id.sequenceNumber ?? 0] = nil }
        let about = [[CSV.Cell(identifier, isQuoted: true), CSV.Cell("\(last)", isQuoted: false)]]
        try CSV.write(
            changed.sorted { $0.key < $1.key }.map(\.value), about: about, as: generation + 1, in: configuration.folder)
        (records, next, generation) = (changed, last, generation + 1)
        return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: permanent)
    }
}

extension DefaultSnapshot {
    var id: PersistentIdentifier { persistentIdentifier }
}
