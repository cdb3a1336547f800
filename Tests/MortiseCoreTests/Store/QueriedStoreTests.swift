import Foundation
import Synchronization
import PackageTestSupport
import Testing

@testable import MortiseCore

/// Stores that do not lie in memory: everything is read by queries of few records, and nothing that others save between a
/// context's reading and its save is overwritten.
@Suite struct QueriedStoreTests {
    private static let schema = Schema([Author.self, Book.self, Shelf.self])

    private func records() throws -> QueriedRecords { try QueriedRecords(Self.schema) }

    private func context(_ records: QueriedRecords) throws -> ModelContext {
        let container = try ModelContainer(for: Self.schema, configurations: [QueriedConfiguration(records)])
        // Checking would ask for all records.
        container.verifiesPushDown = false
        return ModelContext(container)
    }

    /// Authors with a book each.
    private func filled(_ count: Int) throws -> QueriedRecords {
        let records = try records()
        let context = try context(records)
        for number in 0..<count {
            context.insert(Book(title: "book \(number)", pages: number, author: Author(name: "author \(number)")))
        }
        try context.save()
        _ = records.takeQueries()
        return records
    }

    // MARK: What is read

    @Test func aRelationshipIsFollowedByOneQueryForOneRecord() throws {
        let records = try filled(500)
        let context = try context(records)
        let book = try #require(
            try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == "book 77" })).first)
        #expect(records.takeQueries().map(\.scanned) == [1])
        #expect(book.author?.name == "author 77")
        let asked = records.takeQueries()
        #expect(asked.map(\.scanned) == [1] && asked.first?.query.entity == "Author")
    }

    @Test func whatIsPrefetchedTakesAQueryForEveryThousandRecords() throws {
        let records = try filled(2_500)
        let context = try context(records)
        var descriptor = FetchDescriptor<Book>()
        descriptor.relationshipKeyPathsForPrefetching = [\.author]
        let books = try context.fetch(descriptor)
        #expect(records.takeQueries().map(\.scanned) == [2_500, 1_000, 1_000, 500])
        #expect(books.allSatisfy { $0.author?.name == $0.title.replacing("book", with: "author") })
        #expect(records.takeQueries().isEmpty)
    }

    @Test func statisticsCount() throws {
        let records = try filled(30)
        let context = try context(records)
        let statistics = try #require(try context.container.statistics().first)
        #expect(statistics.records["Book"] == 30 && statistics.records["Author"] == 30)
        #expect(records.takeQueries().allSatisfy { $0.query.purpose == .count && !$0.query.includesSubentities })
    }

    /// Bug: each container that had been opened over the store went on recording its changes.
    @Test func aFeedThatContainersShareRecordsForThoseThatAreThere() throws {
        let records = try QueriedRecords(Self.schema, announces: true)
        let feed = try #require(records.feed)
        for _ in 0..<3 {
            #expect(!feed.isRecorded)
            let context = try context(records)
            #expect(feed.isRecorded)
            context.insert(Author(name: "a"))
            try context.save()
        }
        #expect(!feed.isRecorded)
    }

    @Test func aFetchInBatchesReadsABatchWhenItIsAccessed() throws {
        let records = try filled(2_500)
        let context = try context(records)
        var descriptor = FetchDescriptor<Book>()
        descriptor.relationshipKeyPathsForPrefetching = [\.author]
        let books = try context.fetch(descriptor, batchSize: 1_000)
        #expect(records.takeQueries().map(\.query.purpose) == [.identifiers])
        #expect(books.count == 2_500 && books[1_700].title == "book 1700" && books[1_001].title == "book 1001")
        #expect(records.takeQueries().map { "\($0.query.entity) \($0.scanned)" } == ["Book 1000", "Author 1000"])
        #expect(books[1_700].author?.name == "author 1700" && records.takeQueries().isEmpty)
    }

    @Test func aRecordThatIsGoneBeforeItsBatchIsReadHasAModelWithoutValues() throws {
        let records = try filled(30)
        let context = try context(records)
        let books = try context.fetch(FetchDescriptor<Book>(), batchSize: 10)
        let other = try self.context(records)
        try other.delete(model: Book.self, where: #Predicate { $0.pages == 15 })
        let pages = books.map(\.pages)
        #expect(pages == (0..<30).map { $0 == 15 ? 0 : $0 })
        let gone = books[15]
        #expect(gone.isDeleted && gone.title.isEmpty && gone.author == nil)
        #expect(books[15] === gone)
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 29)
    }

    @Test func whatTheContextHasDeletedItselfKeepsItsValuesInABatch() throws {
        let records = try filled(30)
        let context = try context(records)
        let books = try context.fetch(FetchDescriptor<Book>(), batchSize: 10)
        context.delete(books[15])
        try context.save()
        #expect(books[5].title == "book 5" && books[15].isDeleted && books[15].title == "book 15")
        context.insert(Author(name: "new"))
        try context.save()
    }

    /// As an observer does of what the batch reads.
    @Test func otherBatchesMayBeAccessedWhileOneIsMade() {
        final class Access { var others: () -> [Int] = { [] } }
        let access = Access()
        let numbers = FetchResultsCollection(count: 30, batchSize: 10) { range in
            let others = access.others
            access.others = { [] }
            let seen = others()
            #expect(seen.isEmpty || seen == [25, 7])
            return Array(range)
        }
        access.others = { [numbers[25], numbers[7]] }
        #expect(numbers[3] == 3 && numbers[14] == 14 && numbers[7] == 7)
        #expect(Array(numbers) == Array(0..<30))
    }

    @Test func oneRecordThatCannotBeReadHidesNoOtherOfItsBatch() throws {
        let records = try filled(30)
        let context = try context(records)
        let books = try context.fetch(FetchDescriptor<Book>(), batchSize: 10)
        try records.state.withLock { state in
            let record = try #require(
                state.table.snapshots(of: "Book").first { $0[property: "title"] == .string("book 13") })
            var values = record.values
            values[try #require(record.layout.slot(named: "title"))] = .null
            let broken = DefaultSnapshot(
                persistentIdentifier: record.persistentIdentifier, layout: record.layout, values: values)
            _ = try state.table.apply(
                DataStoreSaveChangesRequest(updated: [broken], editingState: EditingState()))
        }
        #expect(books[10..<20].map(\.title) == (10..<20).map { $0 == 13 ? "" : "book \($0)" })
        #expect(books[10..<20].map(\.isDeleted) == (10..<20).map { $0 == 13 })
        #expect(throws: ModelContextError.self) { try context.fetchCount(FetchDescriptor<Author>()) }
    }

    @Test func aBatchThatCannotBeReadIsAnErrorOfTheNextCall() throws {
        let records = try filled(30)
        let context = try context(records)
        let books = try context.fetch(FetchDescriptor<Book>(), batchSize: 10)
        records.failure.withLock { $0 = CocoaError(.fileReadUnknown) }
        #expect(books[15].title.isEmpty)
        records.failure.withLock { $0 = nil }
        #expect(throws: CocoaError.self) { try context.fetch(FetchDescriptor<Book>()) }
    }

    @Test func aSaveReadsTheOwnerOfItsUniqueValueAndNoOther() throws {
        let records = try filled(500)
        let context = try context(records)
        context.insert(Author(name: "author 77", born: 1921))
        context.insert(Author(name: "new", born: 1922))
        try context.save()
        #expect(records.takeQueries().allSatisfy { $0.scanned <= 1 })
        let found = try context.fetch(FetchDescriptor<Author>(predicate: #Predicate { $0.name == "author 77" }))
        #expect(found.map(\.born) == [1921] && found.first?.books.count == 1)
        #expect(try context.fetchCount(FetchDescriptor<Author>()) == 501)
    }

    @Test func aSaveOfManyUniqueValuesAsksForAThousandAtATime() throws {
        let records = try filled(10)
        let context = try context(records)
        for number in 0..<2_500 { context.insert(Author(name: "author \(number)", born: number)) }
        try context.save()
        let asked = records.takeQueries().filter { $0.query.entity == "Author" && !$0.query.conjuncts.isEmpty }
        #expect(asked.count <= 4 && asked.reduce(0) { $0 + $1.scanned } <= 20)
        #expect(try context.fetchCount(FetchDescriptor<Author>()) == 2_500)
    }

    @Test func seventyThousandIdentifiersAreLoadedInOneFetch() throws {
        let records = try filled(1)
        let context = try context(records)
        let shelf = Shelf(label: "all")
        context.insert(shelf)
        shelf.books = (0..<70_000).map { Book(title: "\($0)") }
        try context.save()
        _ = records.takeQueries()
        let other = try self.context(records)
        let found = try #require(try other.fetch(FetchDescriptor<Shelf>()).first)
        #expect(found.books.count == 70_000)
        #expect(records.takeQueries().count <= 72)
    }

    // MARK: Others between the reading and the save

    @Test(arguments: [MergePolicy.propertyWise, .objectWins, .storeWins, .error])
    func nothingThatOthersSaveBetweenReadingAndSavingIsLost(_ policy: MergePolicy) throws {
        let records = try filled(3)
        let (here, there) = (try context(records), try context(records))
        here.mergePolicy = policy
        let title = #Predicate<Book> { $0.title == "book 1" }
        let mine = try #require(try here.fetch(FetchDescriptor(predicate: title)).first)
        let theirs = SendableBox(try #require(try there.fetch(FetchDescriptor(predicate: title)).first))
        mine.title = "mine"
        records.beforeSave.withLock { hook in
            hook = {
                theirs.value.pages = 99
                try theirs.value.modelContext?.save()
            }
        }
        var conflict: SaveConflict?
        do { try here.save() } catch let error as SaveConflict { conflict = error }
        let stored = try #require(
            try context(records).fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title != "book 0" }))
                .first { $0.title != "book 2" })
        switch policy {
        case .propertyWise: #expect(stored.title == "mine" && stored.pages == 99)
        case .objectWins: #expect(stored.title == "mine" && stored.pages == 1)
        case .storeWins: #expect(stored.title == "book 1" && stored.pages == 99)
        case .error:
            #expect(conflict?.properties.map(\.name) == ["pages"])
            #expect(stored.title == "book 1" && stored.pages == 99)
            #expect(here.hasChanges && mine.title == "mine")
        }
        #expect((conflict == nil) == (policy != .error))
    }

    @Test func whatOthersDeleteBetweenReadingAndSavingIsNamed() throws {
        let records = try filled(3)
        let (here, there) = (try context(records), try context(records))
        let title = #Predicate<Book> { $0.title == "book 1" }
        let mine = try #require(try here.fetch(FetchDescriptor(predicate: title)).first)
        let theirs = SendableBox(try #require(try there.fetch(FetchDescriptor(predicate: title)).first))
        let record = mine.persistentModelID
        mine.pages = 7
        records.beforeSave.withLock { hook in
            hook = {
                let context = theirs.value.modelContext
                context?.delete(theirs.value)
                try context?.save()
            }
        }
        #expect(throws: ModelContextError.noSuchModel(record)) { try here.save() }
        #expect(try context(records).fetchCount(FetchDescriptor<Book>()) == 2)
    }

    /// The store's cursor has read all records before the block saves.
    @Test func anEnumerationShowsWhatItsBlockHasSaved() throws {
        let records = try filled(1_500)
        let context = try context(records)
        var seen: [Int: String] = [:]
        var kept: Book?
        try context.enumerate(FetchDescriptor<Book>(), batchSize: 100) { book in
            seen[book.pages] = book.title
            guard book.pages == 0 else { return }
            let some = try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.pages >= 1_200 }))
            for other in some where other.pages < 1_210 { context.delete(other) }
            for other in some where other.pages >= 1_490 { other.title = "new \(other.pages)" }
            kept = some.last
            try context.save()
        }
        #expect(seen.count == 1_490 && !seen.keys.contains { 1_200..<1_210 ~= $0 })
        #expect((1_490..<1_500).allSatisfy { seen[$0] == "new \($0)" })
        #expect(kept?.title == "new 1499" && seen[1_480] == "book 1480")
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 1_490)
    }

    @Test func anEnumerationShowsWhatAnotherWithinItHasSaved() throws {
        let records = try filled(1_500)
        let context = try context(records)
        var seen: [Int: String] = [:]
        try context.enumerate(FetchDescriptor<Book>(), batchSize: 100) { book in
            seen[book.pages] = book.title
            guard book.pages == 0 else { return }
            try context.enumerate(FetchDescriptor<Book>(), allowEscapingMutations: true) { other in
                if 1_200..<1_210 ~= other.pages { context.delete(other) }
                if other.pages >= 1_490 { other.title = "new \(other.pages)" }
            }
            try context.save()
        }
        #expect(seen.count == 1_490 && !seen.keys.contains { 1_200..<1_210 ~= $0 })
        #expect((1_490..<1_500).allSatisfy { seen[$0] == "new \($0)" })
    }

    @Test func anEnumerationShowsWhatABatchWithinItHasChanged() throws {
        let records = try filled(1_500)
        let context = try context(records)
        var seen: [Int: String] = [:]
        try context.enumerate(FetchDescriptor<Book>(), batchSize: 100) { book in
            seen[book.pages] = book.title
            guard book.pages == 0 else { return }
            _ = try context.update(Book.self, where: #Predicate { $0.pages >= 1_400 }) {
                $0.set(\.title, to: "by a batch")
            }
        }
        #expect(seen.count == 1_500)
        #expect((1_400..<1_500).allSatisfy { seen[$0] == "by a batch" } && seen[1_399] == "book 1399")
    }

    /// The store says nothing of what its own deletion took.
    @Test func anEnumerationSkipsWhatTheStoreHasDeletedItself() throws {
        let records = try filled(1_500)
        let context = try context(records)
        var seen: Set<Int> = []
        try context.enumerate(FetchDescriptor<Book>(), batchSize: 100) { book in
            seen.insert(book.pages)
            guard book.pages == 150 else { return }
            try context.delete(model: Book.self)
            for number in 0..<10 { context.insert(Book(title: "late", pages: 9_000 + number)) }
            try context.save()
        }
        #expect(seen == Set(0...150))
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 10)
    }

    /// A batch discards what was read: of the other entities too.
    @Test func anEnumerationGoesOnAfterTheStoreHasDeletedOthersItself() throws {
        let records = try filled(300)
        let context = try context(records)
        var (outer, inner) = (0, 0)
        try context.enumerate(FetchDescriptor<Book>(), batchSize: 100) { book in
            outer += 1
            guard book.pages == 0 else { return }
            try context.enumerate(FetchDescriptor<Author>(), batchSize: 100) { author in
                inner += 1
                if author.name == "author 7" { try context.delete(model: Shelf.self) }
            }
        }
        #expect(outer == 300 && inner == 300)
    }

    @Test func aDeletedModelLeadsToADeletedOneAfterTheEnumeration() throws {
        let records = try filled(300)
        let context = try context(records)
        var kept: Book?
        try context.enumerate(FetchDescriptor<Book>(), batchSize: 100) { book in
            guard book.pages == 5, let author = book.author else { return }
            kept = book
            context.delete(author)
            try context.save()
        }
        #expect(kept?.isDeleted == true && kept?.title == "book 5" && kept?.author?.name == "author 5")
    }

    @Test func anEnumerationWithSavesKeepsNoRowsAfterIt() throws {
        let records = try filled(2_000)
        let context = try context(records)
        try context.enumerate(FetchDescriptor<Book>(), batchSize: 100) { book in
            context.insert(Shelf(label: book.title))
            if book.pages % 100 == 99 { try context.save() }
        }
        let session = try #require(context.state.sessions.first)
        #expect(session.read["Shelf"]?.count ?? 0 <= 100 && session.read["Book"]?.count ?? 0 <= 100)
        #expect(try self.context(records).fetchCount(FetchDescriptor<Shelf>()) == 2_000)
    }

    @Test func aBatchAfterASaveIsBasedOnWhatItReads() throws {
        let records = try filled(3)
        let context = try context(records)
        let book = try #require(
            try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.pages == 1 })).first)
        book.title = "changed"
        try context.save()
        book.title = "dropped"
        context.rollback()
        let count = try context.update(
            Book.self, where: #Predicate { $0.pages == 1 }
        ) { $0.set(\.title, to: "by a batch") }
        #expect(count == 1 && book.title == "by a batch")
        #expect(
            try self.context(records).fetchCount(
                FetchDescriptor<Book>(predicate: #Predicate { $0.title == "by a batch" })) == 1)
    }

    /// A member that others have moved to a deleted owner, and changed again since it was read here.
    @Test(arguments: [false, true]) func whatOnlyADeleteRuleChangesIsReadAgainToo(isWrittenHere: Bool) throws {
        let records = try records()
        let setup = try context(records)
        setup.insert(Author(name: "owner"))
        setup.insert(Book(title: "member", pages: 1))
        try setup.save()
        let (here, there) = (try context(records), try context(records))
        let owner = try #require(try here.fetch(FetchDescriptor<Author>()).first)
        let theirs = try #require(try there.fetch(FetchDescriptor<Book>()).first)
        theirs.author = try there.fetch(FetchDescriptor<Author>()).first
        try there.save()
        let mine = try #require(try here.fetch(FetchDescriptor<Book>()).first)
        if isWrittenHere {
            mine.genre = .poem
            try here.save()
        }
        here.delete(owner)
        theirs.pages = 2
        try there.save()
        try here.save()
        #expect(try context(records).fetchCount(FetchDescriptor<Author>()) == 0)
        #expect(try context(records).fetchCount(FetchDescriptor<Book>()) == 0)
    }

    @Test func aStoreThatRefusesForEverIsNamed() throws {
        let records = try filled(1)
        let context = try context(records)
        let book = try #require(try context.fetch(FetchDescriptor<Book>()).first)
        let record = book.persistentModelID
        book.pages = 5
        @Sendable func refuse() {
            records.beforeSave.withLock { hook in
                hook = {
                    refuse()
                    throw RecordsSuperseded([record])
                }
            }
        }
        refuse()
        let error = try #require(throws: ModelContextError.self) { try context.save() }
        #expect("\(error)".contains("RecordsSuperseded, but \(record) had not changed when it was read again"))
        records.beforeSave.withLock { $0 = nil }
        #expect(context.hasChanges)
        try context.save()
        #expect(try self.context(records).fetch(FetchDescriptor<Book>()).map(\.pages) == [5])
    }

    @Test func manyConnectionsThatCountLoseNoCount() async throws {
        let records = try filled(1)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    do {
                        let context = try context(records)
                        for _ in 0..<25 {
                            // A counter is read and written again: under this policy nobody may have been in between.
                            context.mergePolicy = .error
                            while true {
                                let book = try #require(try context.fetch(FetchDescriptor<Book>()).first)
                                book.pages += 1
                                do {
                                    try context.save()
                                    break
                                } catch is SaveConflict {
                                    context.rollback()
                                }
                            }
                        }
                    } catch {
                        Issue.record(error)
                    }
                }
            }
        }
        #expect(try context(records).fetch(FetchDescriptor<Book>()).map(\.pages) == [100])
    }

    // MARK: Without records

    @Test func descriptorsAreAnsweredByPlans() throws {
        let records = try filled(10)
        var configuration = QueriedConfiguration(records)
        configuration.schema = Self.schema
        let store = try QueriedStore(configuration, migrationPlan: nil)
        func request(_ descriptor: FetchDescriptor<Book>) -> DataStoreFetchRequest<Book> {
            DataStoreFetchRequest(descriptor: descriptor, editingState: EditingState())
        }
        let one = FetchDescriptor<Book>(predicate: #Predicate { $0.pages == 3 })
        #expect(try store.fetch(request(one)).fetchedSnapshots.map { $0[property: "pages"] } == [.integer(3)])
        #expect(try store.fetchCount(request(one)) == 1)
        var window = FetchDescriptor<Book>()
        window.fetchOffset = 2
        window.fetchLimit = 3
        let found = try store.fetch(request(window)).fetchedSnapshots
        #expect(found.map { $0[property: "pages"] } == [.integer(2), .integer(3), .integer(4)])
        #expect(try store.fetchIdentifiers(request(window)) == found.map(\.persistentIdentifier))
        #expect(try store.fetchCount(request(window)) == 3)
        #expect(throws: DataStoreError.preferInMemoryFilter) {
            try store.fetch(request(FetchDescriptor(predicate: #Predicate { $0.pages > 3 })))
        }
        #expect(throws: DataStoreError.preferInMemorySort) {
            try store.fetch(request(FetchDescriptor(sortBy: [SortDescriptor(\.pages)])))
        }
    }
}

/// @unchecked Sendable: the tests use the value on one thread at a time.
private final class SendableBox<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
