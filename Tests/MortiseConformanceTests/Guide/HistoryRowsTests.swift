import Foundation
import MortiseConformance
import MortiseCore
import Synchronization
import Testing

/// What the guide shows of a history, in a store of rows: every case of the kit about a history runs on it.
@Suite struct HistoryRowsTests {
    private static let subject = ConformanceSubject("a history of rows") {
        let storage = HistoryRowsStorage()
        return SubjectStorage(open: { HistoryRowsConfiguration(storage: storage) })
    }

    private static let cases = ConformanceCase.all.filter { $0.capability == .history && !$0.isLarge }

    @Test(arguments: cases) func keepsAHistory(_ conformanceCase: ConformanceCase) throws {
        try Self.subject.check(conformanceCase)
    }

    /// Without a claim, the cases above would test that it refuses.
    @Test func itsHistoryIsClaimedAndTried() {
        #expect(Self.cases.count >= 20)
        #expect(Self.cases.count { $0.testsRefusal(by: Self.subject) } < Self.cases.count / 3)
    }
}

/// What the rows of the guide are kept in.
private final class HistoryRowsStorage: Sendable {
    struct Transaction: Sendable {
        var number: Int64
        var time: Date
        var author: String?
        var rows: [HistoryRow]
    }
    struct Content: Sendable {
        var table: SnapshotTable?
        var last: Int64 = 0
        var transactions: [Transaction] = []
    }
    let content = Mutex(Content())
}

private struct HistoryRowsConfiguration: DataStoreConfiguration {
    typealias Store = HistoryRowsStore
    var name = "rows"
    var schema: Schema?
    let storage: HistoryRowsStorage

    static func == (lhs: Self, rhs: Self) -> Bool { lhs.storage === rhs.storage }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(storage)) }
}

private final class HistoryRowsStore: DataStore {
    typealias Snapshot = DefaultSnapshot
    let configuration: HistoryRowsConfiguration
    let schema: Schema
    let identifier: String
    var capabilities: StoreCapabilities { StoreCapabilities(conformances: self).union([.reopening]) }

    init(_ configuration: HistoryRowsConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        (self.configuration, self.schema) = (configuration, schema)
        identifier = configuration.storage.content.withLock { content in
            let table = content.table ?? SnapshotTable(schema.stored)
            content.table = table
            return table.storeIdentifier
        }
    }

    private var content: HistoryRowsStorage.Content { configuration.storage.content.withLock { $0 } }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        guard let table = content.table else { throw DataStoreError.unsupportedFeature }
        return try table.fetch(request)
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        var new = content
        guard let before = new.table, var table = new.table else { throw DataStoreError.unsupportedFeature }
        let result = try table.apply(request)
        new.table = table
        var rows = request.inserted.map(\.persistentIdentifier).map {
            HistoryRow(kind: .insertion, record: result.remappedIdentifiers[$0] ?? $0)
        }
        for (place, snapshot) in request.updated.enumerated() {
            let all = SlotSet(snapshot.values.indices)
            let changed = request.changedSlots.isEmpty ? all : request.changedSlots[place]
            rows.append(HistoryRow(kind: .update, record: snapshot.persistentIdentifier, changed: changed))
        }
        // The request has what a context may have changed without saving it.
        for record in request.deleted.map(\.persistentIdentifier) {
            rows.append(HistoryRow(kind: .deletion, record: record, last: before[record]?.values ?? []))
        }
        if !rows.isEmpty {
            new.last += 1
            new.transactions.append(
                .init(number: new.last, time: .now, author: request.editingState.author, rows: rows))
        }
        configuration.storage.content.withLock { $0 = new }
        return result
    }
}

extension HistoryRowsStore: HistoryProviding {
    static var historyType: DefaultHistoryTransaction.Type { DefaultHistoryTransaction.self }

    func fetchHistory(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] {
        var found = content.transactions.map {
            transaction($0.number, at: $0.time, by: $0.author, $0.rows, schema, store: identifier)
        }
        if let predicate = descriptor.predicate { found = try found.filter { try predicate.evaluate($0) } }
        if !descriptor.sortBy.isEmpty { found.sort(using: descriptor.sortBy) }
        return descriptor.fetchLimit == 0 ? found : Array(found.prefix(Int(clamping: descriptor.fetchLimit)))
    }

    func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        let gone = Set(try fetchHistory(descriptor).map(\.transactionIdentifier))
        configuration.storage.content.withLock { $0.transactions.removeAll { gone.contains($0.number) } }
    }
}
