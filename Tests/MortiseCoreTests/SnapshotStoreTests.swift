import Foundation
import MortiseCore
import Testing

/// A context over a store that only fetches and saves snapshots, as the smallest adapter does.
@Suite struct SnapshotStoreTests {
    let container: ModelContainer
    let context: ModelContext
    let store: DictionaryStore

    init() throws {
        container = try ModelContainer(
            for: Schema([Author.self, Book.self, Shelf.self, Team.self, Leaflet.self]),
            configurations: [DictionaryConfiguration()])
        context = ModelContext(container)
        store = try #require(container.store(DictionaryStore.self))
    }

    private func titles() throws -> [String] {
        try ModelContext(container).fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)])).map {
            "\($0.title):\($0.author?.name ?? "-")"
        }
    }

    @Test func bothSidesOfARelationshipAreStored() throws {
        let author = Author(name: "Lem")
        context.insert(Book(title: "Solaris", author: author))
        context.insert(Book(title: "Fiasco", author: author))
        try context.save()
        #expect(try titles() == ["Fiasco:Lem", "Solaris:Lem"])
        let other = ModelContext(container)
        let twin = try #require(try other.fetch(FetchDescriptor<Author>()).first)
        #expect(Set(twin.books.map(\.title)) == ["Solaris", "Fiasco"])
        #expect(twin.books[0].author === twin)
        twin.books[0].author = nil
        try other.save()
        #expect(try ModelContext(container).fetch(FetchDescriptor<Author>()).first?.books.count == 1)
    }

    @Test func deleteRulesAreFollowedAndDeletedModelsKeepTheirValues() throws {
        let author = Author(name: "Lem")
        let book = Book(title: "Solaris", author: author)
        let shelf = Shelf(label: "s")
        shelf.books = [book]
        context.insert(shelf)
        try context.save()
        context.delete(author)
        try context.save()
        #expect(try titles().isEmpty)
        #expect(author.isDeleted && book.isDeleted && book.title == "Solaris")
        #expect(book.author === author)
        #expect(author.books.map(\.title) == ["Solaris"])
        #expect(shelf.books.isEmpty)
        #expect(try ModelContext(container).fetch(FetchDescriptor<Shelf>()).first?.books.isEmpty == true)
        let team = Team()
        team.name = "t"
        let player = Player(number: 1)
        team.players = [player]
        context.insert(team)
        try context.save()
        context.delete(team)
        try context.save()
        #expect(player.team == nil)
        #expect(try ModelContext(container).fetch(FetchDescriptor<Player>()).map { $0.team?.name } == [nil])
    }

    /// A save used to be tried again for ever.
    @Test func aStoreThatAlwaysSaysItWasChangedIsToldSo() throws {
        context.insert(Author(name: "Lem"))
        store.failure = VersionSuperseded()
        #expect {
            try context.save()
        } throws: { error in
            guard case ModelContextError.storeContract(store: "dictionary", let fault) = error else { return false }
            return fault.contains("VersionSuperseded") && fault.contains("DictionaryStore")
        }
        #expect(context.hasChanges)
        store.failure = nil
        try context.save()
        #expect(try ModelContext(container).fetch(FetchDescriptor<Author>()).map(\.name) == ["Lem"])
    }

    @Test func uniqueValuesUpsertSwapAndMakeRoom() throws {
        let a = Author(name: "a", born: 1)
        let b = Author(name: "b", born: 2)
        context.insert(a)
        context.insert(b)
        try context.save()
        a.name = "b"
        b.name = "a"
        try context.save()
        context.delete(a)
        context.insert(Author(name: "b", born: 3))
        context.insert(Author(name: "a", born: 4))
        try context.save()
        let authors = try ModelContext(container).fetch(FetchDescriptor<Author>(sortBy: [SortDescriptor(\.name)]))
        #expect(authors.map(\.name) == ["a", "b"])
        #expect(authors.map(\.born) == [4, 3])
        #expect(b.born == 4)
    }

    @Test func aFailedSaveLeavesEverythingUnsavedAndCanBeRepeated() throws {
        let author = Author(name: "Lem")
        context.insert(author)
        try context.save()
        author.born = 1921
        context.insert(Book(title: "Solaris", author: author))
        store.failure = CocoaError(.fileWriteOutOfSpace)
        #expect(throws: CocoaError.self) { try context.save() }
        #expect(context.insertedModelsArray.count == 1 && context.changedModelsArray.count == 1)
        #expect(try titles().isEmpty)
        store.failure = nil
        try context.save()
        #expect(try titles() == ["Solaris:Lem"])
        author.born = 1
        context.rollback()
        #expect(author.born == 1921)
        #expect(!context.hasChanges)
    }

    @Test func aSaveElsewhereIsSeenByTheNextFetchAndItsObservers() throws {
        let author = Author(name: "Lem", born: 1)
        context.insert(author)
        try context.save()
        let other = ModelContext(container)
        try other.fetch(FetchDescriptor<Author>()).first?.born = 2
        try other.save()
        #expect(author.born == 1)
        _ = try context.fetch(FetchDescriptor<Author>())
        #expect(author.born == 2)
    }

    @Test func aStoreThatForgetsARecordItJustStoredIsReported() throws {
        context.insert(Author(name: "Lem"))
        store.forgetsIdentifiers = true
        #expect {
            try context.save()
        } throws: { error in
            guard case .storeContract(let store, _)? = error as? ModelContextError else { return false }
            return store == "dictionary" && "\(error)".contains("permanent identifier")
        }
    }

    @Test func aRequiredReferenceToNothingReadsAsAStandInAndTheNextFetchThrows() throws {
        let book = Book(title: "t")
        context.insert(Leaflet(book: book))
        try context.save()
        let missing = book.persistentModelID
        store.records[missing] = nil
        let other = ModelContext(container)
        let leaflet = try #require(try other.fetch(FetchDescriptor<Leaflet>()).first)
        #expect(leaflet.book.persistentModelID == missing)
        #expect(leaflet.book.isDeleted && leaflet.book.modelContext == nil)
        #expect(throws: ModelContextError.noSuchModel(missing)) { try other.fetch(FetchDescriptor<Leaflet>()) }
        #expect(try other.fetchCount(FetchDescriptor<Leaflet>()) == 1)
    }

    @Test func aValueThatThePropertyDoesNotKnowIsReportedWithItsPlace() throws {
        let book = Book(title: "t")
        context.insert(book)
        try context.save()
        let identifier = book.persistentModelID
        store.records[identifier] = store.records[identifier]?.replacing("genre", .string("recipe"))
        #expect {
            _ = try ModelContext(container).fetch(FetchDescriptor<Book>())
        } throws: { error in
            guard case SwiftDataError.modelValidationFailure = error else { return false }
            return error as? ModelContextError
                == .invalidStoredValue(entity: "Book", property: "genre", model: identifier, found: "\"recipe\"")
                && "\(error)".contains("Book.genre")
        }
        store.records[identifier] = store.records[identifier]?.replacing("genre", .null)
        #expect {
            _ = try ModelContext(container).fetch(FetchDescriptor<Book>())
        } throws: { error in
            guard case .storeContract? = error as? ModelContextError else { return false }
            return "\(error)".contains("\"genre\" is null") && "\(error)".contains("\(identifier)")
        }
    }
}

extension DefaultSnapshot {
    fileprivate func replacing(_ property: String, _ value: StoredValue) -> DefaultSnapshot {
        var values = values
        if let slot = layout.slot(named: property) { values[slot] = value }
        return DefaultSnapshot(persistentIdentifier: persistentIdentifier, layout: layout, values: values)
    }
}

final class Leaflet: PersistentModel {
    var persistentBackingData: any BackingData<Leaflet> = Leaflet.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "book", keypath: \Leaflet.book)] }
    init(backingData: any BackingData<Leaflet>) { persistentBackingData = backingData }
    init(book: Book) { self.book = book }

    var book: Book {
        get { getValue(forKey: \.book) }
        set { setValue(forKey: \.book, to: newValue) }
    }
}

struct DictionaryConfiguration: DataStoreConfiguration {
    typealias Store = DictionaryStore
    let name = "dictionary"
    var schema: Schema?
    static func == (a: Self, b: Self) -> Bool { a.name == b.name }
    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// Snapshots by identifier; filters and sorts nothing.
final class DictionaryStore: DataStore {
    typealias Configuration = DictionaryConfiguration
    typealias Snapshot = DefaultSnapshot

    let identifier = "dictionary"
    let schema: Schema
    let configuration: DictionaryConfiguration
    var records: [PersistentIdentifier: DefaultSnapshot] = [:]
    var failure: (any Error)?
    var forgetsIdentifiers = false
    var tellsWhatItKnows = false
    private(set) var contexts: Set<EditingState.ID> = []
    private(set) var endsWithoutBeginning = 0
    private var next = 1

    init(_ configuration: DictionaryConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.schema = schema
    }

    func initializeState(for editingState: EditingState) { contexts.insert(editingState.id) }
    func invalidateState(for editingState: EditingState) {
        if contexts.remove(editingState.id) == nil { endsWithoutBeginning += 1 }
    }

    /// Changes a record as another program does.
    func rename(_ record: PersistentIdentifier, to name: String) {
        guard let known = records[record], let slot = known.layout.slot(named: "name") else { return }
        var values = known.values
        values[slot] = .string(name)
        records[record] = DefaultSnapshot(persistentIdentifier: record, layout: known.layout, values: values)
    }

    func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: DefaultSnapshot] {
        guard tellsWhatItKnows else { return [:] }
        return records.filter { persistentIdentifiers.contains($0.key) }
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
        if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
        let family = schema.stored.subtree(of: Schema.entityName(for: T.self))
        let found = records.keys.sorted().filter { family.contains($0.entityName) }
        return DataStoreFetchResult(
            descriptor: request.descriptor, fetchedSnapshots: found.compactMap { records[$0] })
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        if let failure { throw failure }
        var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
        for snapshot in request.inserted {
            remapped[snapshot.persistentIdentifier] = try .identifier(
                for: identifier, entityName: snapshot.persistentIdentifier.entityName, primaryKey: next)
            next += 1
        }
        for snapshot in request.inserted + request.updated {
            let permanent = remapped[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
            records[permanent] = snapshot.copy(persistentIdentifier: permanent, remappedIdentifiers: remapped)
        }
        for snapshot in request.deleted { records[snapshot.persistentIdentifier] = nil }
        return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: forgetsIdentifiers ? [:] : remapped)
    }
}
