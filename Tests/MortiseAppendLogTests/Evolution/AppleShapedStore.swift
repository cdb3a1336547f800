import Foundation
import MortiseCore
import MortiseEngine
import Synchronization

/// Where the stores of this kind lie: tables by path, with the schema that each was written under.
final class AppleShapedDisk: Sendable {
    let tables = Mutex<[String: (schema: StoredSchema, table: SnapshotTable)]>([:])
    /// What happens to records on their way into a store: what a wrong store does.
    let spoil = Mutex<(@Sendable (DefaultSnapshot) -> DefaultSnapshot?)?>(nil)
    /// The number of the save that fails, counted down.
    let failingSave = Mutex<Int?>(nil)
    let mostInserted = Mutex<Int>(0)
    /// Called after each save, with the path of the store.
    let saved = Mutex<(@Sendable (String) -> Void)?>(nil)
    /// Whether the schema of what is stored is not told, identifiers are left out, and replacing fails.
    let hidesSchema = Mutex<Bool>(false)
    let hidesIdentifiers = Mutex<Bool>(false)
    let failsToReplace = Mutex<Bool>(false)
}

/// Of Apple's contract and no more: asked by classes, with snapshots of a type of its own, and numbers that it gives itself.
struct AppleShapedConfiguration: DataStoreConfiguration {
    typealias Store = AppleShapedStore
    var name = "apple"
    var schema: Schema?
    let disk: AppleShapedDisk
    var path = "store"

    static func == (one: Self, other: Self) -> Bool { one.disk === other.disk && one.path == other.path }
    func hash(into hasher: inout Hasher) { hasher.combine(path) }
}

/// The same, as one that can be replaced.
struct ReplaceableAppleShapedConfiguration: ReplaceableConfiguration {
    typealias Store = ReplaceableAppleShapedStore
    var name = "apple"
    var schema: Schema?
    let disk: AppleShapedDisk
    var path = "store"

    func storedSchema() throws -> StoredSchema? {
        if disk.hidesSchema.withLock({ $0 }) { return nil }
        return disk.tables.withLock { $0[path]?.schema }
    }

    func sibling() throws -> Self {
        var sibling = self
        sibling.path += ".new"
        discard(sibling)
        return sibling
    }

    func replace(with sibling: Self, keepingCopy keepsCopy: Bool) throws {
        if disk.failsToReplace.withLock({ $0 }) { throw CocoaError(.fileWriteUnknown) }
        disk.tables.withLock { tables in
            if keepsCopy {
                let number = (copies(tables.keys).last.flatMap { Int($0.split(separator: ".").last ?? "") } ?? 0) + 1
                tables["\(path).old.\(number)"] = tables[path]
            }
            tables[path] = tables.removeValue(forKey: sibling.path)
        }
    }

    private func copies(_ paths: some Collection<String>) -> [String] {
        paths.filter { $0.hasPrefix(path + ".old.") }.sorted()
    }

    func removeCopies(exceptNewest most: Int) {
        disk.tables.withLock { tables in
            for copy in copies(tables.keys).reversed().dropFirst(most) { tables[copy] = nil }
        }
    }

    /// Nothing is written when it is opened, and nothing is locked.
    var readingOnly: Self { self }

    func discard(_ sibling: Self) { disk.tables.withLock { $0[sibling.path] = nil } }

    static func == (one: Self, other: Self) -> Bool { one.disk === other.disk && one.path == other.path }
    func hash(into hasher: inout Hasher) { hasher.combine(path) }
}

/// Goes into and out of the store by its `Codable` form alone.
struct AppleShapedSnapshot: DataStoreSnapshot {
    let record: DefaultSnapshot
    var persistentIdentifier: PersistentIdentifier { record.persistentIdentifier }

    init(_ record: DefaultSnapshot) { self.record = record }

    init(from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData]) {
        record = DefaultSnapshot(from: backingData, relatedBackingDatas: &relatedBackingDatas)
    }

    func copy(
        persistentIdentifier: PersistentIdentifier,
        remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
    ) -> Self {
        Self(record.copy(persistentIdentifier: persistentIdentifier, remappedIdentifiers: remappedIdentifiers))
    }

    init(from decoder: any Decoder) throws { record = try DefaultSnapshot(from: decoder) }
    func encode(to encoder: any Encoder) throws { try record.encode(to: encoder) }
}

/// What both kinds do.
private struct AppleShapedWork {
    let disk: AppleShapedDisk
    let path: String
    let schema: Schema

    /// Takes any schema: it does not compare.
    init(_ disk: AppleShapedDisk, _ path: String, _ schema: Schema?) throws {
        guard let schema else { throw DataStoreError.unsupportedFeature }
        (self.disk, self.path, self.schema) = (disk, path, schema)
        disk.tables.withLock { tables in
            if tables[path] == nil { tables[path] = (schema.stored, SnapshotTable(schema.stored)) }
        }
    }

    var identifier: String { disk.tables.withLock { $0[path]?.table.storeIdentifier ?? "" } }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, AppleShapedSnapshot> {
        let found = try disk.tables.withLock { try $0[path]?.table.fetch(request) }
        return DataStoreFetchResult(
            descriptor: request.descriptor, fetchedSnapshots: (found?.fetchedSnapshots ?? []).map { .init($0) })
    }

    func save(
        _ request: DataStoreSaveChangesRequest<AppleShapedSnapshot>
    ) throws -> DataStoreSaveChangesResult<AppleShapedSnapshot> {
        let isFailing = disk.failingSave.withLock { left in
            left = left.map { $0 - 1 }
            return left == 0
        }
        if isFailing { throw CocoaError(.fileWriteOutOfSpace) }
        disk.mostInserted.withLock { $0 = max($0, request.inserted.count) }
        let spoil = disk.spoil.withLock { $0 }
        let plain = DataStoreSaveChangesRequest(
            inserted: request.inserted.map(\.record), updated: request.updated.map(\.record),
            deleted: request.deleted.map(\.record), editingState: request.editingState,
            changedSlots: request.changedSlots)
        return try disk.tables.withLock { tables in
            guard var (schema, table) = tables[path] else { throw CocoaError(.fileNoSuchFile) }
            let result = try table.apply(plain)
            var gone: [DefaultSnapshot] = []
            for record in spoil == nil ? [] : plain.inserted {
                guard let spoil, let given = result.remappedIdentifiers[record.persistentIdentifier],
                    let stored = table[given]
                else { continue }
                guard let other = spoil(stored) else {
                    gone.append(stored)
                    continue
                }
                _ = try table.apply(
                    DataStoreSaveChangesRequest(updated: [other], editingState: request.editingState))
            }
            if !gone.isEmpty {
                _ = try table.apply(DataStoreSaveChangesRequest(deleted: gone, editingState: request.editingState))
            }
            schema = self.schema.stored
            tables[path] = (schema, table)
            return DataStoreSaveChangesResult(
                for: table.storeIdentifier, remappedIdentifiers: result.remappedIdentifiers)
        }
    }
}

final class AppleShapedStore: DataStore {
    typealias Configuration = AppleShapedConfiguration
    typealias Snapshot = AppleShapedSnapshot
    let configuration: AppleShapedConfiguration
    private let work: AppleShapedWork
    var schema: Schema { work.schema }
    var identifier: String { work.identifier }

    init(_ configuration: AppleShapedConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        work = try AppleShapedWork(configuration.disk, configuration.path, configuration.schema)
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, AppleShapedSnapshot> { try work.fetch(request) }

    func save(
        _ request: DataStoreSaveChangesRequest<AppleShapedSnapshot>
    ) throws -> DataStoreSaveChangesResult<AppleShapedSnapshot> { try work.save(request) }
}

final class ReplaceableAppleShapedStore: DataStore {
    typealias Configuration = ReplaceableAppleShapedConfiguration
    typealias Snapshot = AppleShapedSnapshot
    let configuration: ReplaceableAppleShapedConfiguration
    private let work: AppleShapedWork
    var schema: Schema { work.schema }
    var identifier: String { work.identifier }

    init(_ configuration: ReplaceableAppleShapedConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        work = try AppleShapedWork(configuration.disk, configuration.path, configuration.schema)
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, AppleShapedSnapshot> { try work.fetch(request) }

    func save(
        _ request: DataStoreSaveChangesRequest<AppleShapedSnapshot>
    ) throws -> DataStoreSaveChangesResult<AppleShapedSnapshot> {
        let result = try work.save(request)
        configuration.disk.saved.withLock { $0 }?(configuration.path)
        return result
    }

    func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] {
        let found = try work.fetch(request).fetchedSnapshots.map(\.persistentIdentifier)
        return configuration.disk.hidesIdentifiers.withLock { $0 } ? found.dropLast() : found
    }
}
