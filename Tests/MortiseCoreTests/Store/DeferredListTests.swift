import Foundation
import Synchronization
import PackageTestSupport
import Testing

@testable import MortiseCore

/// A store that leaves out to-many relationships: they are read by few queries, when they are needed and only then, and saves do
/// not read them.
@Suite struct DeferredListTests {
    private static let schema = Schema([Author.self, Book.self, Shelf.self])

    private func context(_ records: QueriedRecords) throws -> ModelContext {
        let container = try ModelContainer(for: Self.schema, configurations: [QueriedConfiguration(records)])
        // Checking would ask for all records.
        container.verifiesPushDown = false
        return ModelContext(container)
    }

    /// Authors with as many books as their number divided by three leaves, all of which are on one shelf.
    private func filled(_ count: Int, announces: Bool = false) throws -> QueriedRecords {
        let records = try QueriedRecords(Self.schema, announces: announces, defersLists: true)
        let context = try context(records)
        let shelf = Shelf(label: "all")
        context.insert(shelf)
        for number in 0..<count {
            let author = Author(name: "author \(number)", born: number)
            context.insert(author)
            let books = (0..<(number % 3)).map { Book(title: "\(number).\($0)", author: author) }
            shelf.books += books
        }
        try context.save()
        _ = records.takeQueries()
        return records
    }

    private func titles(_ author: Author) -> [String] { author.books.map(\.title).sorted() }
    private func expected(_ author: Author) -> [String] {
        let number = author.born ?? 0
        return (0..<(number % 3)).map { "\(number).\($0)" }
    }

    // MARK: What is read

    @Test func aFetchReadsNoListAndTheFirstTouchReadsThoseOfManyOwners() throws {
        let records = try filled(600)
        let context = try context(records)
        let authors = try context.fetch(FetchDescriptor<Author>())
        #expect(records.takeQueries().map(\.query.entity) == ["Author"])
        for author in authors { #expect(titles(author) == expected(author)) }
        // 256 owners at a time; their books come with the same query.
        #expect(records.takeQueries().map(\.query.entity) == ["Book", "Book", "Book"])
        for author in authors { #expect(titles(author) == expected(author)) }
        #expect(records.takeQueries().isEmpty)
    }

    /// The other way round, and one in the middle first.
    @Test func ownersAreReadTogetherInAnyOrder() throws {
        let records = try filled(600)
        let context = try context(records)
        let authors = try context.fetch(FetchDescriptor<Author>())
        _ = records.takeQueries()
        #expect(titles(authors[300]) == expected(authors[300]))
        for author in authors.reversed() { #expect(titles(author) == expected(author)) }
        #expect(records.takeQueries().count <= 4)
    }

    @Test func whatIsPrefetchedTakesTwoQueriesForAThousandOwners() throws {
        let records = try filled(1_000)
        let context = try context(records)
        var descriptor = FetchDescriptor<Author>()
        descriptor.relationshipKeyPathsForPrefetching = [\.books]
        let authors = try context.fetch(descriptor)
        #expect(records.takeQueries().map(\.query.entity) == ["Author", "Book"])
        for author in authors { #expect(titles(author) == expected(author)) }
        #expect(records.takeQueries().isEmpty)
    }

    @Test func aListWithoutToOneInverseIsAskedForByName() throws {
        let records = try filled(10)
        let context = try context(records)
        let shelf = try #require(try context.fetch(FetchDescriptor<Shelf>()).first)
        #expect(records.takeQueries().map(\.query.prefetch) == [[]])
        #expect(shelf.books.count == 9)
        let asked = records.takeQueries()
        #expect(asked.first?.query.entity == "Shelf" || asked.first?.query.entity == "Book")
        #expect(asked.first?.query.prefetch.isEmpty == false && asked.count <= 2)
        let book = try #require(try context.fetch(FetchDescriptor<Book>()).first)
        #expect(book.shelves.map(\.label) == ["all"])
    }

    @Test func aPrefetchedListWithoutToOneInverseComesWithItsOwners() throws {
        let records = try filled(10)
        let context = try context(records)
        var descriptor = FetchDescriptor<Shelf>()
        descriptor.relationshipKeyPathsForPrefetching = [\.books]
        let shelf = try #require(try context.fetch(descriptor).first)
        #expect(records.takeQueries().map(\.query.entity) == ["Shelf", "Book"])
        #expect(shelf.books.count == 9)
        #expect(records.takeQueries().isEmpty)
    }

    @Test func aConditionOnAListReadsIt() throws {
        let records = try filled(30)
        let context = try context(records)
        let found = try context.fetch(FetchDescriptor<Author>(predicate: #Predicate { $0.books.count == 2 }))
        #expect(found.count == 10 && found.allSatisfy { ($0.born ?? 0) % 3 == 2 })
    }

    // MARK: What is saved

    @Test func aSaveOfAnOwnerNeitherReadsNorChangesItsLists() throws {
        let records = try filled(30)
        let context = try context(records)
        let authors = try context.fetch(FetchDescriptor<Author>())
        let shelf = try #require(try context.fetch(FetchDescriptor<Shelf>()).first)
        for author in authors { author.born = (author.born ?? 0) + 3 }
        shelf.label = "some"
        _ = records.takeQueries()
        try context.save()
        #expect(records.takeQueries().allSatisfy { $0.query.entity != "Book" && $0.query.prefetch.isEmpty })
        for author in authors { #expect(titles(author).count == (author.born ?? 0) % 3) }
        #expect(shelf.books.count == 30)
        let stored = try #require(try self.context(records).fetch(FetchDescriptor<Shelf>()).first)
        #expect(stored.label == "some" && stored.books.count == 30)
    }

    @Test func aMemberMovesWithoutItsOldAndNewListBeingRead() throws {
        let records = try filled(9)
        let context = try context(records)
        let authors = try context.fetch(FetchDescriptor<Author>(sortBy: [SortDescriptor(\.born)]))
        let book = try #require(
            try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == "8.1" })).first)
        _ = records.takeQueries()
        book.author = authors[0]
        try context.save()
        #expect(records.takeQueries().allSatisfy { $0.scanned <= 2 })
        #expect(titles(authors[0]) == ["8.1"] && titles(authors[8]) == ["8.0"])
        let other = try self.context(records).fetch(FetchDescriptor<Author>(sortBy: [SortDescriptor(\.born)]))
        #expect(titles(other[0]) == ["8.1"] && titles(other[8]) == ["8.0"])
    }

    @Test func anUnreadListCanBeAddedToAndTakenFrom() throws {
        let records = try filled(9)
        let context = try context(records)
        let shelf = try #require(try context.fetch(FetchDescriptor<Shelf>()).first)
        shelf.books.append(Book(title: "new"))
        shelf.books.removeAll { $0.title == "8.0" }
        try context.save()
        let stored = try #require(try self.context(records).fetch(FetchDescriptor<Shelf>()).first)
        #expect(stored.books.count == 9)
        #expect(stored.books.contains { $0.title == "new" } && !stored.books.contains { $0.title == "8.0" })
    }

    @Test func aDeletedOwnerTakesAlongWhatItNeverRead() throws {
        let records = try filled(9)
        let context = try context(records)
        let author = try #require(
            try context.fetch(FetchDescriptor<Author>(predicate: #Predicate { $0.name == "author 8" })).first)
        context.delete(author)
        try context.save()
        let other = try self.context(records)
        #expect(
            try other.fetch(FetchDescriptor<Book>()).map(\.title).sorted() == [
                "1.0", "2.0", "2.1", "4.0", "5.0", "5.1", "7.0",
            ])
        #expect(try other.fetch(FetchDescriptor<Shelf>()).first?.books.count == 7)
    }

    // MARK: What others change

    @Test(arguments: [MergePolicy.propertyWise, .objectWins, .storeWins, .error])
    func readingAListAfterAChangeIsNoConflict(_ policy: MergePolicy) throws {
        let records = try filled(9)
        let context = try context(records)
        context.mergePolicy = policy
        let shelf = try #require(try context.fetch(FetchDescriptor<Shelf>()).first)
        shelf.label = "mine"
        #expect(shelf.books.count == 9)
        try context.save()
        #expect(try self.context(records).fetch(FetchDescriptor<Shelf>()).map(\.label) == ["mine"])
    }

    @Test func aListThatOthersHaveChangedIsAConflictIfThisContextHasChangedItToo() throws {
        let records = try filled(9)
        let (here, there) = (try context(records), try context(records))
        here.mergePolicy = .error
        let title = #Predicate<Book> { $0.title == "8.0" }
        // This side of the relationship is the one that is stored.
        let mine = try #require(try here.fetch(FetchDescriptor(predicate: title)).first)
        let theirs = try #require(try there.fetch(FetchDescriptor(predicate: title)).first)
        #expect(mine.shelves.count == 1)
        mine.shelves.append(Shelf(label: "mine"))
        theirs.shelves.append(Shelf(label: "theirs"))
        try there.save()
        let conflict = #expect(throws: SaveConflict.self) { try here.save() }
        #expect(conflict?.properties.map(\.name) == ["shelves"])
        here.mergePolicy = .propertyWise
        try here.save()
        let stored = try #require(try context(records).fetch(FetchDescriptor(predicate: title)).first)
        #expect(stored.shelves.contains { $0.label == "mine" })
    }

    // MARK: Failures

    @Test func aListThatCannotBeReadIsEmptyAndTheNextCallThrows() throws {
        let records = try filled(9)
        let context = try context(records)
        let authors = try context.fetch(FetchDescriptor<Author>(sortBy: [SortDescriptor(\.born)]))
        records.failure.withLock { $0 = DataStoreError.unsupportedFeature }
        #expect(authors[8].books.isEmpty)
        #expect(throws: DataStoreError.unsupportedFeature) { try context.resolve(authors[8], \.books) }
        records.failure.withLock { $0 = nil }
        // Not remembered as empty.
        #expect(throws: DataStoreError.unsupportedFeature) { try context.save() }
        #expect(titles(authors[8]) == ["8.0", "8.1"])
    }

    @Test func aConditionOnAListThatCannotBeReadThrows() throws {
        let records = try filled(9)
        let context = try context(records)
        records.failsOnlyFor.withLock { $0 = { $0.entity == "Book" } }
        records.failure.withLock { $0 = DataStoreError.unsupportedFeature }
        #expect(throws: DataStoreError.unsupportedFeature) {
            try context.fetch(FetchDescriptor<Author>(predicate: #Predicate { $0.books.isEmpty }))
        }
    }

    /// Bug: what was left of the list was written, and the next fetch threw.
    @Test func aSaveIsRefusedIfTheListThatItChangesCannotBeRead() throws {
        let records = try filled(9)
        let context = try context(records)
        let title = #Predicate<Book> { $0.title == "8.0" }
        let book = try #require(try context.fetch(FetchDescriptor(predicate: title)).first)
        let shelf = Shelf(label: "second")
        context.insert(shelf)
        shelf.books.append(book)
        records.failsOnlyFor.withLock { $0 = { !$0.prefetch.isEmpty } }
        records.failure.withLock { $0 = DataStoreError.unsupportedFeature }
        #expect(throws: DataStoreError.unsupportedFeature) { try context.save() }
        #expect(context.hasChanges)
        records.failure.withLock { $0 = nil }
        try context.save()
        let stored = try #require(try self.context(records).fetch(FetchDescriptor(predicate: title)).first)
        #expect(stored.shelves.map(\.label).sorted() == ["all", "second"])
    }

    /// Bug: a list as it was before others changed it was the base of the change of another property.
    @Test(arguments: [MergePolicy.objectWins, .storeWins, .error])
    func aListThatOthersChangedBeforeThisContextDidAnythingIsNoConflict(_ policy: MergePolicy) throws {
        let records = try filled(9)
        let (here, there) = (try context(records), try context(records))
        here.mergePolicy = policy
        let title = #Predicate<Book> { $0.title == "8.0" }
        let mine = try #require(try here.fetch(FetchDescriptor(predicate: title)).first)
        #expect(mine.shelves.count == 1)
        let theirs = try #require(try there.fetch(FetchDescriptor(predicate: title)).first)
        theirs.shelves.append(Shelf(label: "theirs"))
        try there.save()
        _ = try here.fetch(FetchDescriptor(predicate: title))
        mine.pages = 77
        try here.save()
        let stored = try #require(try context(records).fetch(FetchDescriptor(predicate: title)).first)
        #expect(stored.pages == 77 && stored.shelves.count == 2)
    }

    /// Bug: the base of a list was what was known at the first change of another property.
    @Test func aListThatIsReadAndChangedAfterAnotherPropertyHasABaseToo() throws {
        let records = try filled(9)
        let (here, there) = (try context(records), try context(records))
        here.mergePolicy = .error
        let title = #Predicate<Book> { $0.title == "8.0" }
        let mine = try #require(try here.fetch(FetchDescriptor(predicate: title)).first)
        mine.pages = 7
        #expect(mine.shelves.count == 1)
        mine.shelves.append(Shelf(label: "mine"))
        let theirs = try #require(try there.fetch(FetchDescriptor(predicate: title)).first)
        theirs.shelves.append(Shelf(label: "theirs"))
        try there.save()
        let conflict = #expect(throws: SaveConflict.self) { try here.save() }
        #expect(conflict?.properties.map(\.name) == ["shelves"])
    }

    @Test func aSaveAsksForNoListThatWasReadIfChangesAreSettledByProperty() throws {
        let records = try filled(9)
        let context = try context(records)
        let book = try #require(
            try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == "8.0" })).first)
        #expect(book.shelves.count == 1)
        book.pages = 7
        _ = records.takeQueries()
        try context.save()
        #expect(records.takeQueries().allSatisfy { $0.query.prefetch.isEmpty })
    }

    /// Bug: the error came back at every fetch.
    @Test func aListThatCannotBeReadAgainStopsOneFetchAlone() throws {
        let records = try filled(9, announces: true)
        let (here, there) = (try context(records), try context(records))
        let title = #Predicate<Book> { $0.title == "8.0" }
        let mine = try #require(try here.fetch(FetchDescriptor(predicate: title)).first)
        #expect(mine.shelves.count == 1)
        try #require(try there.fetch(FetchDescriptor(predicate: title)).first).shelves.append(Shelf(label: "theirs"))
        try there.save()
        records.failsOnlyFor.withLock { $0 = { !$0.prefetch.isEmpty } }
        records.failure.withLock { $0 = DataStoreError.unsupportedFeature }
        #expect(throws: DataStoreError.unsupportedFeature) { try here.fetch(FetchDescriptor<Author>()) }
        #expect(try here.fetch(FetchDescriptor<Author>()).count == 9)
        mine.pages = 7
        try here.save()
        records.failure.withLock { $0 = nil }
        #expect(mine.shelves.count == 2)
    }

    @Test func anEnumerationThrowsIfItsConditionNeedsAListThatCannotBeRead() throws {
        let records = try filled(9)
        let context = try context(records)
        records.failsOnlyFor.withLock { $0 = { $0.entity == "Book" } }
        records.failure.withLock { $0 = DataStoreError.unsupportedFeature }
        var seen = 0
        #expect(throws: DataStoreError.unsupportedFeature) {
            try context.enumerate(FetchDescriptor<Author>(predicate: #Predicate { $0.books.isEmpty })) { _ in seen += 1
            }
        }
        #expect(seen == 0)
    }

    /// Bug: the models that code looked at had empty lists.
    @Test func codeSeesTheListsOfRecordsAsStored() throws {
        let records = try filled(30)
        let context = try context(records)
        let authors = try context.fetch(FetchDescriptor<Author>())
        authors[2].books = []
        var descriptor = FetchDescriptor<Author>(predicate: #Predicate { $0.bookCount == 2 })
        descriptor.includePendingChanges = false
        #expect(try context.fetch(descriptor).count == 10)
    }

    @Test func aBatchThatCalculatesFromAListThatCannotBeReadChangesNothing() throws {
        let records = try filled(9)
        let context = try context(records)
        records.failsOnlyFor.withLock { $0 = { $0.entity == "Book" } }
        records.failure.withLock { $0 = DataStoreError.unsupportedFeature }
        #expect(throws: DataStoreError.unsupportedFeature) {
            try context.update(Author.self, where: #Predicate { $0.books.count == 2 }) { $0.set(\.born, to: 7) }
        }
        records.failure.withLock { $0 = nil }
        #expect(
            try self.context(records).fetchCount(FetchDescriptor<Author>(predicate: #Predicate { $0.born == 7 })) == 1)
    }
}

extension Author {
    /// No store can evaluate this.
    fileprivate var bookCount: Int { books.count }
}
