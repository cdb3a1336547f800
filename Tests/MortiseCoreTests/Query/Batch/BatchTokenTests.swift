import Foundation
import MortiseCore
import Testing

/// What `didSave` tells of batches in stores of other packages: the token that the store's save returned, and that of what the container
/// records where the store keeps no history.
@Suite struct BatchTokenTests {
    /// The tokens of every `didSave` while the body runs.
    private func tokens(of context: ModelContext, _ body: () throws -> Void) throws -> [[String: any HistoryToken]?] {
        let posted = PostedTokens()
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContext.didSave, object: context, queue: nil
        ) { note in
            let key = ModelContext.NotificationKey.historyTokens.rawValue
            posted.tokens.append(note.userInfo?[key] as? [String: any HistoryToken])
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try body()
        return posted.tokens
    }

    private func makeContext(_ configuration: any DataStoreConfiguration) throws -> ModelContext {
        ModelContext(try ModelContainer(for: Schema([Parcel.self]), configurations: [configuration]))
    }

    /// What the three batches of a context, and a save, tell.
    private func tokensOfBatches(_ context: ModelContext) throws -> [[String: any HistoryToken]?] {
        var found: [[String: any HistoryToken]?] = []
        found += try tokens(of: context) {
            try context.insert(Parcel.self, from: ["a", "b", "c"]) { parcel, code in try parcel.set(\.code, to: code) }
        }
        found += try tokens(of: context) {
            try context.update(Parcel.self, where: #Predicate { $0.code == "a" }) { $0.set(\.code, to: "d") }
        }
        found += try tokens(of: context) {
            try context.delete(model: Parcel.self, where: #Predicate { $0.code == "b" })
        }
        found += try tokens(of: context) {
            context.insert(Parcel("e"))
            try context.save()
        }
        #expect(found.map { $0?.count } == [1, 1, 1, 1])
        #expect(try context.fetch(FetchDescriptor<Parcel>()).map(\.code).sorted() == ["c", "d", "e"])
        return found
    }

    /// Defect: batches that were saved record by record told none.
    @Test func aBatchTellsTheTokenThatTheStoreReturned() throws {
        let found = try tokensOfBatches(makeContext(CountingTokensConfiguration()))
        #expect(found.map { ($0?["counting"] as? CountToken)?.tokenValue } == [1, 2, 3, 4])
    }

    @Test(arguments: BatchStore.allCases) func whatIsRecordedTellsThePlaceOfEachBatch(_ store: BatchStore) throws {
        let context = try makeContext(store.configuration)
        let found = try tokensOfBatches(context).map { $0?.values.first as? DefaultHistoryToken }
        let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        #expect(found == history.map(\.token))
        #expect(found.map { $0?.marks.count } == [1, 1, 1, 1])
    }
}

private final class PostedTokens: @unchecked Sendable {
    // @unchecked: notifications are posted on the thread that saves, which is the test's.
    var tokens: [[String: any HistoryToken]?] = []
}

private final class Parcel: PersistentModel {
    var persistentBackingData: any BackingData<Parcel> = Parcel.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "code", keypath: \Parcel.code)] }
    init(backingData: any BackingData<Parcel>) { persistentBackingData = backingData }
    init(_ code: String) { self.code = code }

    var code: String {
        get { getValue(forKey: \.code) }
        set { setValue(forKey: \.code, to: newValue) }
    }
}

private struct CountToken: HistoryToken {
    var tokenValue: Int?
    var storeIdentifier: String? { "counting" }
    var id: Int? { tokenValue }
    static func < (a: CountToken, b: CountToken) -> Bool { (a.tokenValue ?? 0) < (b.tokenValue ?? 0) }
}

private struct CountingTokensConfiguration: DataStoreConfiguration {
    typealias Store = CountingTokensStore
    var name = "counting"
    var schema: Schema?
}

/// A store of another package's making that numbers its saves.
private final class CountingTokensStore: DataStore {
    typealias Snapshot = DefaultSnapshot
    let identifier = "counting"
    let schema: Schema
    let configuration: CountingTokensConfiguration
    private var records = KeptRecords()
    private var saves = 0

    init(_ configuration: CountingTokensConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.schema = schema
        self.configuration = configuration
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
        if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
        let found = records.all(under: Schema.entityName(for: T.self), in: schema)
        return DataStoreFetchResult(
            descriptor: request.descriptor, fetchedSnapshots: Array(found[request.descriptor.window(of: found.count)]))
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        saves += 1
        let result = try records.save(request, identifier)
        return DataStoreSaveChangesResult(
            for: identifier, remappedIdentifiers: result.remappedIdentifiers,
            historyToken: CountToken(tokenValue: saves))
    }
}
