import CustomStore
import Foundation
import MortiseConformance
import MortiseCore

/// The sample's store as it is before it pushes anything down: its fetches and saves, and no plan.
struct PlainCSVConfiguration: DataStoreConfiguration {
    typealias Store = PlainCSVStore
    var name = "csv"
    var schema: Schema?
    let folder: URL
}

final class PlainCSVStore: DataStore {
    typealias Snapshot = DefaultSnapshot
    let configuration: PlainCSVConfiguration
    private let base: CSVStore
    var schema: Schema { base.schema }
    var identifier: String { base.identifier }
    var capabilities: StoreCapabilities { StoreCapabilities(conformances: self).union([.reopening, .erase]) }

    init(_ configuration: PlainCSVConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        base = try openCSV(configuration.folder, configuration.schema)
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> { try base.fetch(request) }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> { try base.save(request) }

    func erase() throws { try base.erase() }
    func close() { base.close() }
}

/// The sample's store with a plan that claims more than is done.
struct HastyCSVConfiguration: DataStoreConfiguration {
    typealias Store = HastyCSVStore
    var name = "csv"
    var schema: Schema?
    let folder: URL
}

final class HastyCSVStore: QueryableDataStore {
    typealias Snapshot = DefaultSnapshot
    let configuration: HastyCSVConfiguration
    private let base: CSVStore
    var schema: Schema { base.schema }
    var identifier: String { base.identifier }
    var capabilities: StoreCapabilities { StoreCapabilities(conformances: self).union([.reopening]) }

    init(_ configuration: HastyCSVConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        base = try openCSV(configuration.folder, configuration.schema)
    }

    func plan(_ query: StoreQuery) -> FetchPlan {
        var plan = base.plan(query)
        for conjunct in query.conjuncts { plan.claims[conjunct.id] = .exact }
        return plan
    }

    func rows(for plan: FetchPlan) throws -> StoreRows<DefaultSnapshot> { try base.rows(for: plan) }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> { try base.fetch(request) }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> { try base.save(request) }

    func close() { base.close() }
}

private func openCSV(_ folder: URL, _ schema: Schema?) throws -> CSVStore {
    var configuration = CSVConfiguration(folder: folder)
    configuration.schema = schema
    return try CSVStore(configuration, migrationPlan: nil)
}
