import Foundation
import MortiseCore
import Synchronization
import Testing

/// A store that does not promise to be concurrent is called by one thread at a time, however many contexts there are.
@Suite struct SerialisedStoreTests {
    private func mostAtOnce<C: DataStoreConfiguration>(_ configuration: C, _ meter: Meter) throws -> Int {
        let container = try ModelContainer(for: Schema([Book.self]), configurations: [configuration])
        let failures = Notes()
        // Threads of their own: a busy pool would run one after the other.
        let ended = DispatchSemaphore(value: 0)
        for number in 0..<8 {
            Thread.detachNewThread {
                do {
                    let context = ModelContext(container)
                    for _ in 0..<4 {
                        _ = try context.fetch(FetchDescriptor<Book>())
                        _ = try context.fetchCount(FetchDescriptor<Book>(predicate: #Predicate { $0.pages > 1 }))
                        _ = try context.fetchIdentifiers(FetchDescriptor<Book>())
                        _ = try container.compact()
                        let answers = container.health().map(\.answers)
                        #expect(answers == [true])
                        _ = try container.statistics()
                    }
                } catch {
                    failures.value.withLock { $0.append("\(number): \(error)") }
                }
                ended.signal()
            }
        }
        for _ in 0..<8 { ended.wait() }
        #expect(failures.value.withLock { $0 } == [])
        #expect(meter.calls >= 8 * 4 * 5)
        return meter.most
    }

    @Test func callsOnAStoreThatPromisesNothingComeOneAfterTheOther() throws {
        let meter = Meter()
        #expect(try mostAtOnce(MeteredConfiguration(meter), meter) == 1)
    }

    /// Code of the app's may run while a store is called and while a context saves, and use the container again.
    @Test func aStoreMayBeUsedAgainByWhatItCalls() throws {
        let meter = Meter()
        let container = try ModelContainer(for: Schema([Book.self]), configurations: [MeteredConfiguration(meter)])
        let seen = Notes()
        let nest: @Sendable () throws -> Void = {
            let context = ModelContext(container)
            let count = try context.fetchCount(FetchDescriptor<Book>())
            context.insert(Book(title: "inner", pages: 1))
            try context.save()
            seen.value.withLock { $0.append("\(count)") }
        }
        try meter.during(nest) { _ = try container.compact() }
        let context = ModelContext(container)
        context.insert(Book(title: "outer", pages: 1))
        try meter.during(nest) { try context.save() }
        #expect(seen.value.withLock { $0 } == ["0", "0"] && !context.hasChanges)
    }

    /// Which shows that the other test would find calls that overlap.
    @Test func callsOnAConcurrentStoreOverlap() throws {
        let meter = Meter()
        #expect(try mostAtOnce(ConcurrentConfiguration(meter), meter) > 1)
    }
}

private final class Notes: Sendable {
    let value = Mutex<[String]>([])
}

/// Counts who is inside of a store.
private final class Meter: Hashable, Sendable {
    private let counts = Mutex((calls: 0, now: 0, most: 0))
    private let nested = Mutex<(@Sendable () throws -> Void)?>(nil)
    var most: Int { counts.withLock { $0.most } }
    var calls: Int { counts.withLock { $0.calls } }

    func call() {
        counts.withLock {
            $0.calls += 1
            $0.now += 1
            $0.most = max($0.most, $0.now)
        }
        // Time for another thread to come in: where calls must not overlap, nothing announces that none will.
        Thread.sleep(forTimeInterval: 0.001)
        counts.withLock { $0.now -= 1 }
    }

    /// Runs a body, and within the store's next call that may throw, something else.
    func during(_ other: @escaping @Sendable () throws -> Void, _ body: () throws -> Void) throws {
        nested.withLock { $0 = other }
        try body()
    }

    func callNested() throws {
        if let other = nested.withLock({ nested in nested.take() }) { try other() }
    }

    static func == (a: Meter, b: Meter) -> Bool { a === b }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

private struct MeteredConfiguration: DataStoreConfiguration {
    typealias Store = MeteredStore
    var name = "metered"
    var schema: Schema?
    var meter: Meter

    init(_ meter: Meter) { self.meter = meter }
}

private struct ConcurrentConfiguration: DataStoreConfiguration {
    typealias Store = ConcurrentMeteredStore
    var name = "concurrent"
    var schema: Schema?
    var meter: Meter

    init(_ meter: Meter) { self.meter = meter }
}

private protocol MeteringStore: DataStore where Snapshot == DefaultSnapshot {
    var meter: Meter { get }
}

extension MeteringStore {
    var identifier: String { "metered" }
    var capabilities: StoreCapabilities { [.healthChecks] }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        meter.call()
        return DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: [])
    }
    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        meter.call()
        try meter.callNested()
        var identifiers: [PersistentIdentifier: PersistentIdentifier] = [:]
        for snapshot in request.inserted {
            let temporary = snapshot.persistentIdentifier
            identifiers[temporary] = try .identifier(
                for: identifier, entityName: temporary.entityName, primaryKey: UUID())
        }
        return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: identifiers)
    }
    func compactStore() throws -> MaintenanceReport? {
        meter.call()
        try meter.callNested()
        return nil
    }
    func checkHealth() throws { meter.call() }
}

private final class MeteredStore: MeteringStore {
    let schema: Schema
    let configuration: MeteredConfiguration
    var meter: Meter { configuration.meter }

    init(_ configuration: MeteredConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        (self.schema, self.configuration) = (schema, configuration)
    }
}

private final class ConcurrentMeteredStore: MeteringStore, Sendable {
    let schema: Schema
    let configuration: ConcurrentConfiguration
    var capabilities: StoreCapabilities { [.concurrency, .healthChecks] }
    var meter: Meter { configuration.meter }

    init(
        _ configuration: ConcurrentConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?
    ) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        (self.schema, self.configuration) = (schema, configuration)
    }
}
