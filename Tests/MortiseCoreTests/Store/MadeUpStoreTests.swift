import Foundation
import PackageTestSupport
import Testing

@testable import MortiseCore

/// Going through many records of a store that has them elsewhere keeps none of them.
@Suite struct MadeUpStoreTests {
    private static let schema = Schema([Author.self, Book.self, Shelf.self])

    /// Books with an author each.
    private static let value: @Sendable (RecordLayout.Slot, Int) -> StoredValue = { slot, number in
        switch slot.name {
        case "title": .string("book \(number)")
        case "name": .string("author \(number)")
        case "genre": .string("novel")
        case "pages": .integer(Int64(number))
        case "keywords": .array([])
        default: .null
        }
    }

    private func context(
        _ count: Int, appliesLimit: Bool = false,
        value: @escaping @Sendable (RecordLayout.Slot, Int) -> StoredValue = Self.value
    ) throws -> (context: ModelContext, rows: () -> (books: Int, authors: Int)) {
        let container = try ModelContainer(
            for: Self.schema,
            configurations: [MadeUpConfiguration(count: count, appliesLimit: appliesLimit, value: value)])
        // Checking would ask for all records at once.
        container.verifiesPushDown = false
        let context = ModelContext(container)
        let session = try #require(context.state.sessions.first)
        return (context, { (session.read["Book"]?.endRow ?? 0, session.read["Author"]?.endRow ?? 0) })
    }

    @Test func anEnumerationKeepsNoRows() throws {
        let (context, rows) = try context(20_000)
        var sum = 0
        try context.enumerate(FetchDescriptor<Book>(), batchSize: 100) { book in
            sum += book.pages
            // Followed, too.
            if book.pages % 100 == 0 { #expect(book.author?.name == "author \(book.pages)") }
        }
        #expect(sum == 20_000 * 19_999 / 2)
        #expect(rows().books <= 200 && rows().authors <= 10)
    }

    @Test func whatTheBlockKeepsStaysWhatItIs() throws {
        let (context, rows) = try context(20_000)
        var kept: [Book] = []
        var collections: [FetchResultsCollection<Book>] = []
        try context.enumerate(FetchDescriptor<Book>(), batchSize: 100) { book in
            if book.pages % 777 == 0 { kept.append(book) }
            if book.pages == 5_000 {
                let few = FetchDescriptor<Book>(predicate: #Predicate { $0.pages >= 40 && $0.pages < 60 })
                collections.append(try context.fetch(few, batchSize: 7))
            }
        }
        #expect(kept.map(\.pages) == Array(stride(from: 0, to: 20_000, by: 777)))
        #expect(kept.allSatisfy { $0.title == "book \($0.pages)" })
        #expect(collections[0].map(\.pages) == Array(40..<60))
        // The fetch within reads all of its records at once.
        #expect(rows().books > 10_000)
    }

    /// Bug: after each portion, all rows that the block had retained so far were gone through.
    @Test func retainingAllTakesTimeForEachOnce() throws {
        func seconds(_ count: Int) throws -> Double {
            let (context, rows) = try context(count)
            var kept: [Book] = []
            kept.reserveCapacity(count)
            let time = try ThreadClock().measure {
                try context.enumerate(FetchDescriptor<Book>(), batchSize: 100) { kept.append($0) }
            }
            #expect(kept.count == count && kept.last?.title == "book \(count - 1)" && rows().books == count)
            return time / .seconds(1) / Double(count)
        }
        let few = try seconds(10_000)
        let many = try seconds(200_000)
        #expect(many < few * 4, "\(few) s for each of 10,000, \(many) s for each of 200,000")
    }

    /// What the block has retained for a while and released is let go all the same, if later.
    @Test func whatIsReleasedLaterIsLetGo() throws {
        let (context, rows) = try context(40_000)
        var kept: [Book] = []
        try context.enumerate(FetchDescriptor<Book>(), batchSize: 100) { book in
            kept.append(book)
            if kept.count == 1_000 { kept = [] }
        }
        #expect(rows().books <= 4_000, "\(rows().books)")
    }

    /// Bug: rows were counted, however large they are.
    @Test func fetchesOfLargeRowsKeepFewerOfThem() throws {
        let text = String(repeating: "x", count: 20_000)
        let (context, rows) = try context(30_000, appliesLimit: true) { slot, number in
            slot.name == "title" ? .string(text + "\(number)") : Self.value(slot, number)
        }
        var kept: [Book] = []
        var descriptor = FetchDescriptor<Book>()
        descriptor.fetchLimit = 1_000
        for page in 0..<30 {
            descriptor.fetchOffset = page * 1_000
            kept.append(try context.fetch(descriptor)[page])
        }
        // 64 MiB, what was read after they were reached, and as much again as is in use.
        #expect(rows().books <= 8_000, "\(rows().books)")
        #expect(kept.enumerated().allSatisfy { $1.pages == $0 * 1_001 && $1.title.utf8.count > 20_000 })
    }

    @Test func whatTheBlockChangesIsSaved() throws {
        let (context, _) = try context(2_000)
        var last: Book?
        try context.enumerate(FetchDescriptor<Book>(), batchSize: 100, allowEscapingMutations: true) { book in
            if book.pages % 100 == 0 {
                book.title = "changed"
                last = book
            }
        }
        #expect(context.changedModelsArray.count == 20 && last?.title == "changed")
        try context.enumerate(FetchDescriptor<Book>(), allowEscapingMutations: true) { book in
            #expect(book.title == (book.pages % 100 == 0 ? "changed" : "book \(book.pages)"))
        }
    }

    @Test(arguments: [(0, nil), (1_990, 100), (10, 25), (5_000, 3), (0, 0)] as [(Int, Int?)])
    func aWindowIsTheSameAsThatOfAFetch(_ offset: Int, _ limit: Int?) throws {
        let (context, _) = try context(2_000)
        var descriptor = FetchDescriptor<Book>(predicate: #Predicate { $0.pages % 2 == 0 })
        descriptor.fetchOffset = offset
        descriptor.fetchLimit = limit
        var found: [Int] = []
        try context.enumerate(descriptor, batchSize: 64) { found.append($0.pages) }
        #expect(try found == self.context(2_000).context.fetch(descriptor).map(\.pages))
    }

    @Test func anEnumerationWithinAnotherKeepsWhatTheOuterNeeds() throws {
        let (context, rows) = try context(1_000)
        var seen = 0
        try context.enumerate(FetchDescriptor<Book>(), batchSize: 50) { outer in
            if outer.pages % 250 != 0 { return }
            try context.enumerate(FetchDescriptor<Book>(), batchSize: 50) { inner in
                #expect(inner.title == "book \(inner.pages)")
                seen += 1
            }
            #expect(outer.title == "book \(outer.pages)")
        }
        // The inner one reads all of its records at once.
        #expect(seen == 4_000 && rows().books <= 100 * 11)
    }

    /// Page by page, as a service does that has one context for all of them.
    @Test func fetchesKeepFewerRowsThanTheyRead() throws {
        let (context, rows) = try context(300_000, appliesLimit: true)
        var kept: [Book] = []
        var descriptor = FetchDescriptor<Book>()
        descriptor.fetchLimit = 10_000
        for page in 0..<30 {
            descriptor.fetchOffset = page * 10_000
            let books = try context.fetch(descriptor)
            #expect(books.count == 10_000)
            kept.append(books[page])
        }
        #expect(rows().books <= 2 * 65_536)
        #expect(kept.enumerated().allSatisfy { $1.pages == $0 * 10_001 && $1.title == "book \($0 * 10_001)" })
        // What was let go is read again.
        #expect(kept.allSatisfy { $0.author?.name == "author \($0.pages)" })
    }

    @Test func aFetchWithinAnEnumerationLetsNoRowGoThatThisRefersTo() throws {
        let (context, _) = try context(150_000)
        var (seen, wrong) = (0, 0)
        try context.enumerate(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)])) { book in
            if seen % 10_000 == 0 { _ = try context.fetch(FetchDescriptor<Author>()) }
            if book.title != "book \(book.pages)" { wrong += 1 }
            seen += 1
        }
        #expect(seen == 150_000 && wrong == 0)
    }

    @Test func aFetchInBatchesKeepsIdentifiersAndNoRows() throws {
        let (context, rows) = try context(200_000)
        let books = try context.fetch(FetchDescriptor<Book>(), batchSize: 1_000)
        #expect(books.count == 200_000 && rows().books == 0)
        var sum = 0
        for book in books { sum += book.pages }
        #expect(sum == 200_000 * 199_999 / 2)
        #expect(rows().books <= 2 * 65_536)
        var descriptor = FetchDescriptor<Book>(predicate: #Predicate { $0.pages == 7 })
        descriptor.fetchLimit = 1
        #expect(try context.fetchIdentifiers(descriptor, batchSize: 10).count == 1)
        #expect(books[7].title == "book 7" && books[199_999].title == "book 199999")
        let identifiers = try context.fetchIdentifiers(FetchDescriptor<Book>(), batchSize: 1_000)
        #expect(identifiers[199_999] == books[199_999].persistentModelID)
    }

    @Test func anAggregationThatTheStoreLeavesKeepsNoRows() throws {
        let (context, rows) = try context(20_000)
        let sum = try context.aggregate(FetchDescriptor<Book>(), .sum(\.pages))
        #expect(sum == 20_000 * 19_999 / 2 && rows().books <= 600)
    }

    @Test func tooLargeAPortionIsTheStoresMistake() throws {
        let container = try ModelContainer(
            for: Self.schema, configurations: [MadeUpConfiguration(count: 2_000, surplus: 1, value: Self.value)])
        container.verifiesPushDown = false
        let error = try #require(throws: ModelContextError.self) {
            try ModelContext(container).enumerate(FetchDescriptor<Book>(), batchSize: 100) { _ in }
        }
        #expect("\(error)".contains("Its cursor returned 101 rows where 100 were asked for."))
    }
}
