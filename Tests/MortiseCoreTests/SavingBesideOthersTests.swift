import Foundation
import MortiseCore
import MortiseInMemory
import Observation
import Synchronization
import Testing

/// Saves on top of what others have saved meanwhile.
@Suite struct SavingBesideOthersTests {
    // MARK: Delete rules

    @Test(arguments: [false, true]) func lateChildIsDeletedWithItsParent(inAStoreOfSnapshots: Bool) throws {
        let container =
            inAStoreOfSnapshots
            ? try ModelContainer(
                for: Schema([Author.self, Book.self, Shelf.self]), configurations: [DictionaryConfiguration()])
            : try makeLibrary()
        let here = ModelContext(container)
        let author = Author(name: "Lem")
        here.insert(Book(title: "Solaris", author: author))
        try here.save()
        here.delete(author)
        #expect(here.hasChanges)
        let there = ModelContext(container)
        let same = try #require(try there.fetch(FetchDescriptor<Author>()).first)
        let shelf = Shelf(label: "s")
        let late = Book(title: "Fiasco", author: same)
        late.shelves = [shelf]
        there.insert(late)
        try there.save()
        try here.save()
        let after = ModelContext(container)
        #expect(try after.fetchCount(FetchDescriptor<Author>()) == 0)
        #expect(try after.fetch(FetchDescriptor<Book>()).map(\.title) == [])
        #expect(try after.fetch(FetchDescriptor<Shelf>()).map(\.books.count) == [0])
    }

    @Test func aMemberThatCameMeanwhileIsReleased() throws {
        let container = try ModelContainer(for: Schema([Team.self]), configurations: [InMemoryConfiguration()])
        let here = ModelContext(container)
        let team = Team()
        team.name = "t"
        team.players = [Player(number: 1)]
        here.insert(team)
        try here.save()
        here.delete(team)
        #expect(here.hasChanges)
        let there = ModelContext(container)
        try #require(try there.fetch(FetchDescriptor<Team>()).first).players.append(Player(number: 2))
        try there.save()
        try here.save()
        let players = try ModelContext(container).fetch(FetchDescriptor<Player>())
        #expect(players.map(\.number).sorted() == [1, 2] && players.allSatisfy { $0.team == nil })
    }

    // MARK: Observers

    /// Two contexts, and a model of the first that somebody looks at.
    private struct Pair {
        let container: ModelContainer
        let here: ModelContext
        let there: ModelContext
        let mine: Book
        let theirs: Book

        init() throws {
            container = try makeLibrary()
            here = ModelContext(container)
            there = ModelContext(container)
            mine = Book(title: "draft", pages: 1)
            here.insert(mine)
            try here.save()
            theirs = try #require(try there.fetch(FetchDescriptor<Book>()).first)
        }

        func observe(_ onChange: @escaping @Sendable () -> Void) {
            withObservationTracking {
                mine._modelState.noteAccess(to: \Book.title, of: mine)
                _ = mine.title
            } onChange: {
                onChange()
            }
        }
    }

    @Test func anObserverThatWaitsForAnotherSaveDoesNotHoldUpTheSave() throws {
        let pair = try Pair()
        let other = Mutex<[String]>([])
        let container = pair.container
        pair.observe {
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                let context = ModelContext(container)
                context.insert(Shelf(label: "other"))
                do { try context.save() } catch { other.withLock { $0.append("\(error)") } }
                done.signal()
            }
            let result = done.wait(timeout: .now() + 5)
            other.withLock { $0.append(result == .success ? "saved" : "timed out") }
        }
        pair.theirs.title = "theirs"
        try pair.there.save()
        pair.here.insert(Shelf(label: "here"))
        try pair.here.save()
        #expect(other.withLock { $0 } == ["saved"])
        #expect(pair.mine.title == "theirs")
        let labels = try ModelContext(container).fetch(FetchDescriptor<Shelf>()).map(\.label)
        #expect(Set(labels) == ["here", "other"])
    }

    @Test func anObserverSeesOneVersionOfEverything() throws {
        let pair = try Pair()
        // Unchecked: observers run on the thread that saves or fetches, which is the test's.
        nonisolated(unsafe) let here = pair.here
        let seen = Mutex<[String]>([])
        pair.observe {
            let found: String
            do {
                let books = try here.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.pages)]))
                let shelves = try here.fetch(FetchDescriptor<Shelf>()).map(\.label)
                found = "\(books.map(\.title)) \(shelves)"
            } catch {
                found = "\(error)"
            }
            seen.withLock { $0.append(found) }
        }
        pair.theirs.title = "theirs"
        let second = Book(title: "second", pages: 2)
        let shelf = Shelf(label: "s")
        second.shelves = [shelf]
        pair.there.insert(second)
        try pair.there.save()
        _ = try pair.here.fetch(FetchDescriptor<Shelf>())
        #expect(seen.withLock { $0 } == [#"["theirs", "second"] ["s"]"#])
    }

    @Test func observersAreToldWhenTheSaveFailsToo() throws {
        let pair = try Pair()
        let told = Mutex(0)
        pair.observe { told.withLock { $0 += 1 } }
        pair.theirs.title = "theirs"
        try pair.there.save()
        pair.here.mergePolicy = .error
        pair.mine.pages = 7
        #expect(throws: SaveConflict.self) { try pair.here.save() }
        #expect(told.withLock { $0 } == 1)
        #expect(pair.mine.title == "theirs")
    }

    // MARK: Several stores

    @Test func whatTheFirstOfSeveralStoresHasSavedIsTold() throws {
        let container = try ModelContainer(
            for: Schema([Shelf.self, Author.self, Book.self, Pebble.self]),
            configurations: [
                InMemoryConfiguration("pebbles", schema: Schema([Pebble.self])), DictionaryConfiguration(),
            ])
        let store = try #require(container.store(DictionaryStore.self))
        let context = ModelContext(container)
        let posted = PostedSaves(of: context)
        context.insert(Pebble(grams: 3))
        context.insert(Shelf(label: "s"))
        store.failure = CocoaError(.fileWriteOutOfSpace)
        #expect(throws: CocoaError.self) { try context.save() }
        #expect(posted.counts == [["insertedIdentifiers": 1]])
        // Nothing more was saved, so nothing more is told.
        #expect(throws: CocoaError.self) { try context.save() }
        #expect(posted.counts.count == 1)
        store.failure = nil
        try context.save()
        posted.stop()
        #expect(posted.counts == [["insertedIdentifiers": 1], ["insertedIdentifiers": 1]])
    }

    // MARK: Unique values in a store of snapshots

    private func badges() throws -> ModelContext {
        ModelContext(
            try ModelContainer(for: Schema([Badge.self, Medal.self]), configurations: [DictionaryConfiguration()]))
    }

    @Test func aSubclassIsComparedWithWhatItsSuperclassHasStored() throws {
        let context = try badges()
        context.insert(Badge(code: "x", note: "first"))
        try context.save()
        context.insert(Medal(code: "x", note: "second"))
        #expect {
            try context.save()
        } throws: {
            if case .notUnique("Medal", ["code"], _, _, _)? = $0 as? ModelContextError { true } else { false }
        }
        context.rollback()
        #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Badge>()) == 1)
    }

    @Test func theSuperclassIsComparedWithAllAfterASubclassWas() throws {
        let context = try badges()
        context.insert(Badge(code: "x", note: "first"))
        try context.save()
        context.insert(Medal(code: "y", note: "medal"))
        context.insert(Badge(code: "x", note: "second"))
        try context.save()
        let found = try ModelContext(context.container).fetch(FetchDescriptor<Badge>())
        #expect(found.map { "\($0.code) \($0.note)" }.sorted() == ["x second", "y medal"])
    }
}

class Badge: PersistentModel {
    typealias Root = Badge

    var _modelState = ModelState()
    var persistentBackingData: any BackingData<Badge> {
        get { _backingData() }
        set { _adopt(backingData: newValue) }
    }
    class var schemaMetadata: [Schema.PropertyMetadata] { ownMetadata(for: Badge.self) }
    class var _inheritedSchemaMetadata: [Schema.PropertyMetadata] { [] }
    static func ownMetadata<M: Badge>(for type: M.Type) -> [Schema.PropertyMetadata] {
        [
            .init(name: "code", keypath: \M.code, metadata: Schema.Attribute(.unique)),
            .init(name: "note", keypath: \M.note),
        ]
    }

    required init(backingData: any BackingData<Badge>) { _modelState = Badge._state(from: backingData) }
    required init(_modelState: consuming ModelState) { self._modelState = _modelState }
    init(code: String, note: String) {
        self.code = code
        self.note = note
    }

    var code: String {
        get { getValue(forKey: \.code) }
        set { setValue(forKey: \.code, to: newValue) }
    }
    var note: String {
        get { getValue(forKey: \.note) }
        set { setValue(forKey: \.note, to: newValue) }
    }
}

final class Medal: Badge {
    override class var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "metal", keypath: \Medal.metal)] }
    override class var _inheritedSchemaMetadata: [Schema.PropertyMetadata] { ownMetadata(for: Medal.self) }

    required init(backingData: any BackingData<Badge>) { super.init(backingData: backingData) }
    required init(_modelState: consuming ModelState) { super.init(_modelState: _modelState) }
    override init(code: String, note: String) {
        super.init(code: code, note: note)
        metal = "gold"
    }

    var metal: String {
        get { getValue(forKey: \.metal) }
        set { setValue(forKey: \.metal, to: newValue) }
    }
}
