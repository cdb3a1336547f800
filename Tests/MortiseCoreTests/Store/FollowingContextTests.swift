import Foundation
import Synchronization
import PackageTestSupport
import Testing

@testable import MortiseCore

/// Contexts of stores without versions, which learn from the store's feed what others have changed.
@Suite struct FollowingContextTests {
    private static let schema = Schema([Author.self, Book.self, Shelf.self])

    /// Who posts what is committed.
    enum Feed: CaseIterable {
        /// The framework, to the contexts of one container.
        case ofContainer
        /// The store, to all that are connected to the same records.
        case ofStore
    }

    /// Records that two contexts read and write.
    private struct Pair {
        let records: QueriedRecords
        let here: ModelContext
        let there: ModelContext

        init(_ feed: Feed, books: Int = 3) throws {
            records = try QueriedRecords(schema, announces: feed == .ofStore)
            let container = try Self.container(records)
            here = ModelContext(container)
            there = ModelContext(feed == .ofStore ? try Self.container(records) : container)
            for number in 0..<books { there.insert(Book(title: "book \(number)", pages: number)) }
            try there.save()
            _ = records.takeQueries()
        }

        private static func container(_ records: QueriedRecords) throws -> ModelContainer {
            let container = try ModelContainer(for: schema, configurations: [QueriedConfiguration(records)])
            container.verifiesPushDown = false
            return container
        }

        func book(_ number: Int, _ context: ModelContext) throws -> Book {
            let title = "book \(number)"
            let found = try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == title }))
            return try #require(found.first)
        }
    }

    // MARK: What others change

    @Test(arguments: Feed.allCases, ["fetch", "count", "refresh", "rollback"])
    func whatOthersSaveIsShownAtTheNext(_ feed: Feed, _ call: String) throws {
        let pair = try Pair(feed)
        let (mine, other) = (try pair.book(1, pair.here), try pair.book(2, pair.here))
        let unkept = try pair.book(0, pair.here).persistentModelID
        try pair.book(1, pair.there).pages = 99
        try pair.book(0, pair.there).pages = 98
        try pair.there.save()
        _ = pair.records.takeQueries()
        #expect(mine.pages == 1)
        switch call {
        // None of these reads the book by itself.
        case "fetch": #expect(try pair.here.fetch(FetchDescriptor<Shelf>()).isEmpty)
        case "count": #expect(try pair.here.fetchCount(FetchDescriptor<Shelf>()) == 0)
        case "refresh": try pair.here.refresh()
        default: pair.here.rollback()
        }
        #expect(mine.pages == 99 && other.pages == 2)
        // The book alone, by its identifier: nothing shows the others.
        let asked = pair.records.takeQueries().filter { $0.query.entity == "Book" }
        #expect(asked.map(\.scanned) == [1])
        try pair.here.refresh()
        #expect(pair.records.takeQueries().isEmpty)
        // What nothing showed is read when it is asked for.
        #expect(try pair.here.existingModel(for: unkept, as: Book.self).pages == 98)
    }

    @Test(arguments: Feed.allCases) func modelsOfRecordsThatOthersDeleteLeaveTheContext(_ feed: Feed) throws {
        let pair = try Pair(feed)
        let mine = try pair.book(1, pair.here)
        pair.there.delete(try pair.book(1, pair.there))
        try pair.there.save()
        try pair.here.refresh()
        #expect(mine.modelContext == nil && mine.isDeleted && mine.title == "book 1" && mine.pages == 1)
        #expect(try pair.here.fetchCount(FetchDescriptor<Book>()) == 2)
    }

    @Test(arguments: Feed.allCases, [MergePolicy.propertyWise, .objectWins, .storeWins, .error])
    func unsavedChangesStayAndAreSettledAtTheSave(_ feed: Feed, _ policy: MergePolicy) throws {
        let pair = try Pair(feed)
        pair.here.mergePolicy = policy
        let mine = try pair.book(1, pair.here)
        mine.title = "mine"
        let theirs = try pair.book(1, pair.there)
        theirs.title = "theirs"
        theirs.pages = 99
        try pair.there.save()
        try pair.here.refresh()
        #expect(mine.title == "mine" && mine.pages == 99 && pair.here.hasChanges)
        var conflict: SaveConflict?
        do { try pair.here.save() } catch let error as SaveConflict { conflict = error }
        try pair.there.refresh()
        switch policy {
        case .propertyWise: #expect(theirs.title == "mine" && theirs.pages == 99)
        case .objectWins: #expect(theirs.title == "mine" && theirs.pages == 1)
        case .storeWins: #expect(theirs.title == "theirs" && theirs.pages == 99)
        case .error:
            #expect(conflict?.properties.map(\.name) == ["title", "pages"])
            #expect(theirs.title == "theirs" && pair.here.hasChanges && mine.title == "mine")
        }
        #expect((conflict == nil) == (policy != .error))
    }

    @Test(arguments: Feed.allCases) func theDeletionOfAChangedRecordIsNamedByTheSave(_ feed: Feed) throws {
        let pair = try Pair(feed)
        let mine = try pair.book(1, pair.here)
        let record = mine.persistentModelID
        mine.title = "mine"
        pair.there.delete(try pair.book(1, pair.there))
        try pair.there.save()
        try pair.here.refresh()
        #expect(mine.modelContext == nil && mine.title == "mine" && pair.here.hasChanges)
        do {
            try pair.here.save()
            Issue.record("saved a record that is gone")
        } catch ModelContextError.noSuchModel(let gone) {
            #expect(gone == record)
        }
        pair.here.rollback()
        #expect(!pair.here.hasChanges)
        try pair.here.save()
    }

    /// Others change a record that is deleted here and not yet saved.
    @Test(arguments: Feed.allCases) func aDeletionStaysAfterAnotherChange(_ feed: Feed) throws {
        let pair = try Pair(feed)
        let mine = try pair.book(1, pair.here)
        pair.here.delete(mine)
        try pair.book(1, pair.there).pages = 99
        try pair.there.save()
        try pair.here.refresh()
        #expect(mine.isDeleted && pair.here.hasChanges)
        try pair.here.save()
        #expect(try pair.there.fetchCount(FetchDescriptor<Book>()) == 2)
    }

    // MARK: Batches, erasure, many records

    @Test(arguments: Feed.allCases) func batchesOfOthersAreShown(_ feed: Feed) throws {
        let pair = try Pair(feed)
        let mine = [try pair.book(1, pair.here), try pair.book(2, pair.here)]
        try pair.there.update(Book.self, where: #Predicate { $0.pages > 1 }) { $0.set(\.pages, to: 50) }
        try pair.here.refresh()
        #expect(mine.map(\.pages) == [1, 50])
        try pair.there.delete(model: Book.self)
        try pair.here.refresh()
        #expect(mine.allSatisfy { $0.modelContext == nil } && mine.map(\.pages) == [1, 50])
    }

    @Test(arguments: Feed.allCases) func anErasureTakesAllModels(_ feed: Feed) throws {
        let pair = try Pair(feed)
        let mine = [try pair.book(1, pair.here), try pair.book(2, pair.here)]
        mine[1].title = "unsaved"
        try pair.there.container.erase()
        try pair.here.refresh()
        #expect(mine.allSatisfy { $0.modelContext == nil } && mine.map(\.title) == ["book 1", "unsaved"])
        #expect(pair.here.hasChanges)
    }

    /// More records than are kept: all that is shown is read again.
    @Test(arguments: Feed.allCases) func changesOfManyRecordsAtOnceAreShown(_ feed: Feed) throws {
        let count = SessionFollowing.limit + 50
        let pair = try Pair(feed, books: count)
        let mine = [try pair.book(1, pair.here), try pair.book(count - 1, pair.here), try pair.book(7, pair.here)]
        pair.there.delete(try pair.book(7, pair.there))
        for book in try pair.there.fetch(FetchDescriptor<Book>()) { book.pages += 100_000 }
        try pair.there.save()
        _ = pair.records.takeQueries()
        try pair.here.refresh()
        #expect(mine.map(\.pages) == [100_001, count + 99_999, 7])
        #expect(mine.map { $0.modelContext == nil } == [false, false, true])
        #expect(pair.records.takeQueries().map(\.scanned) == [2])
    }

    // MARK: Own changes

    @Test(arguments: Feed.allCases) func whatAContextSavesItselfIsNotReadAgain(_ feed: Feed) throws {
        let pair = try Pair(feed)
        let mine = [try pair.book(1, pair.here), try pair.book(2, pair.here)]
        pair.here.insert(Book(title: "new"))
        mine[0].pages = 11
        pair.here.delete(mine[1])
        try pair.here.save()
        _ = pair.records.takeQueries()
        try pair.here.refresh()
        #expect(pair.records.takeQueries().isEmpty)
        #expect(mine[0].pages == 11)
    }

    /// What another one saves while a save of this context is under way is not taken for its own.
    @Test(arguments: [false, true], [false, true])
    func whatOthersSaveDuringASaveIsReadAgain(isSameRecord: Bool, isAfterwards: Bool) throws {
        let pair = try Pair(.ofStore)
        let mine = [try pair.book(1, pair.here), try pair.book(2, pair.here)]
        let theirs = UncheckedBox(try pair.book(isSameRecord ? 1 : 2, pair.there))
        mine[0].title = "mine"
        let saveTheirs: @Sendable () throws -> Void = {
            theirs.value.pages = 99
            try theirs.value.modelContext?.save()
        }
        if isAfterwards {
            pair.records.afterSave.withLock { $0 = saveTheirs }
        } else {
            pair.records.beforeSave.withLock { $0 = saveTheirs }
        }
        try pair.here.save()
        try pair.here.refresh()
        #expect(mine[0].title == "mine" && mine[isSameRecord ? 0 : 1].pages == 99)
    }

    /// A save that fails has changed nothing, so that whatever was posted meanwhile is of others.
    @Test func whatOthersSaveDuringASaveThatFailsIsReadAgain() throws {
        let pair = try Pair(.ofStore)
        let mine = [try pair.book(1, pair.here), try pair.book(2, pair.here)]
        let theirs = UncheckedBox(try pair.book(2, pair.there))
        mine[0].title = "mine"
        pair.records.beforeSave.withLock { hook in
            hook = {
                theirs.value.pages = 99
                try theirs.value.modelContext?.save()
                throw CancellationError()
            }
        }
        #expect(throws: CancellationError.self) { try pair.here.save() }
        try pair.here.refresh()
        #expect(mine[0].title == "mine" && mine[1].pages == 99)
    }

    // MARK: Cursors

    /// A cursor that was opened before hands out records as they were.
    @Test(arguments: Feed.allCases) func recordsThatACursorHandedOutAsTheyWereAreReadAgain(_ feed: Feed) throws {
        let pair = try Pair(feed, books: 20)
        let theirs = [try pair.book(15, pair.there), try pair.book(16, pair.there)]
        var kept: [Book] = []
        var isFirst = true
        try pair.here.enumerate(
            FetchDescriptor<Book>(), batchSize: 2, allowEscapingMutations: true
        ) { book in
            if isFirst {
                isFirst = false
                theirs[0].pages = 99
                pair.there.delete(theirs[1])
                try pair.there.save()
                // Takes in what was changed, which the cursor has yet to hand out.
                try pair.here.refresh()
            }
            if ["book 15", "book 16"].contains(book.title) { kept.append(book) }
        }
        try pair.here.refresh()
        #expect(kept.map(\.title) == ["book 15", "book 16"])
        #expect(kept.map(\.pages) == [99, 16])
        #expect(kept.map { $0.modelContext == nil } == [false, true])
    }

    // MARK: Following

    @Test(arguments: Feed.allCases) func aContextThatGoesAwayEndsItsFollowing(_ feed: Feed) throws {
        let pair = try Pair(feed)
        let channel = try #require(pair.here.container.changeFeeds.values.first)
        func isFollowed(by count: Int) -> Bool { channel.followersOfRecords == count }
        let before = channel.followersOfRecords
        var context: ModelContext? = ModelContext(pair.here.container)
        // Nothing was read yet.
        #expect(isFollowed(by: before))
        var book: Book? = try context.map { try pair.book(1, $0) }
        #expect(isFollowed(by: before + 1))
        weak let seen = context
        // On another thread, with a model that outlives it.
        let last = UncheckedBox(context)
        context = nil
        let thread = Thread { last.value = nil }
        thread.start()
        while !thread.isFinished { Thread.sleep(forTimeInterval: 0.001) }
        #expect(seen == nil && isFollowed(by: before))
        #expect(book?.title == "book 1")
        book = nil
    }

    @Test(arguments: Feed.allCases) func contextsDoNotMakeStoresCollectValues(_ feed: Feed) throws {
        let pair = try Pair(feed)
        let mine = try pair.book(1, pair.here)
        let channel = try #require(pair.here.container.changeFeeds.values.first)
        #expect(!channel.isFollowed && channel.isFollowedForRecords)
        let named = Mutex<[ChangeSet]>([])
        let follower = channel.follow(.records) { delivery in named.withLock { $0 += delivery.changes } }
        #expect(!channel.isFollowed)
        try pair.book(1, pair.there).pages = 99
        try pair.there.save()
        channel.settle()
        let told = named.withLock { $0 }
        #expect(told.count == 1 && told.first?.updated.map(\.record) == [mine.persistentModelID])
        if feed == .ofContainer { #expect(told.first?.commit?.number == 2) }
        follower.cancel()
    }

    @Test(arguments: Feed.allCases) func aSaverOnAnotherThreadIsFollowed(_ feed: Feed) throws {
        let pair = try Pair(feed)
        let mine = try pair.book(1, pair.here)
        let last = 100
        let container = UncheckedBox(pair.there.container)
        let failure = Mutex<(any Error)?>(nil)
        let saver = Thread {
            do {
                let context = ModelContext(container.value)
                let books = try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)]))
                for number in 2...last {
                    books[1].pages = number
                    context.insert(Book(title: "another \(number)"))
                    try context.save()
                }
            } catch { failure.withLock { $0 = error } }
        }
        saver.start()
        var (seen, steps) = (1, 0)
        while !saver.isFinished {
            try pair.here.refresh()
            #expect(mine.pages >= seen)
            if mine.pages > seen { steps += 1 }
            seen = mine.pages
        }
        try pair.here.refresh()
        #expect(mine.pages == last && steps > 0)
        #expect(failure.withLock { $0 } == nil)
    }
}

/// @unchecked Sendable: used by one thread at a time.
private final class UncheckedBox<Value>: @unchecked Sendable {
    var value: Value
    init(_ value: Value) { self.value = value }
}
