import Foundation
import MortiseCore
import MortiseInMemory
import Testing

/// What a store is asked while there are unsaved changes: all of the query where they make no difference, and with a
/// limit only as many rows more as they may replace.
@Suite struct UnsavedChangesPlanTests {
    private func charts() throws -> ModelContext {
        let container = try ModelContainer(for: Schema([Chart.self]), configurations: [InMemoryConfiguration("charts")])
        container.verifiesPushDown = true
        let context = ModelContext(container)
        for number in 0..<4_000 { context.insert(Chart("a", plays: number, weight: 0, number: number)) }
        try context.save()
        return context
    }

    private func library() throws -> ModelContext {
        let container = try ModelContainer(
            for: Schema([Author.self, Book.self, Shelf.self]), configurations: [InMemoryConfiguration("books")])
        container.verifiesPushDown = true
        let context = ModelContext(container)
        let lem = Author(name: "Lem")
        context.insert(Shelf(label: "left"))
        for (title, pages) in [("Solaris", 204), ("Fiasco", 322), ("Eden", 272)] {
            context.insert(Book(title: title, pages: pages, author: lem))
        }
        try context.save()
        return context
    }

    @Test func orderAndWidenedLimitGoToTheStore() throws {
        let context = try charts()
        var top = FetchDescriptor<Chart>(sortBy: [SortDescriptor(\.plays, order: .reverse)])
        top.fetchOffset = 1
        top.fetchLimit = 4
        for chart in try context.fetch(top) where chart.number.isMultiple(of: 2) { context.delete(chart) }
        let (seventh, last) = (3_993, 5)
        let changed = try context.fetch(
            FetchDescriptor<Chart>(predicate: #Predicate { $0.plays == seventh || $0.plays == last }))
        #expect(changed.count == 2)
        for chart in changed { chart.plays = chart.number == seventh ? 0 : 9_000 }
        context.insert(Chart("new", plays: 8_000, weight: 0, number: -1))
        // 9000, 8000, 3999, 3997, 3995, since 3998 and 3996 are gone.
        #expect(try context.fetch(top).map(\.number) == [-1, 3_999, 3_997, 3_995])
        let found = try context.explain(top)
        #expect(
            found.description == """
                fetch Chart from charts: index Chart(plays) in order
                  sort (pushed): plays descending
                  window (pushed): offset 1, limit 4
                  merged with unsaved changes
                  9 rows scanned, 4 returned
                """)
        #expect(try context.fetchCount(top) == 4)
        #expect(try context.fetchIdentifiers(top).count == 4)
        top.fullScanPolicy = .refuse
        #expect(try context.fetch(top).count == 4)
    }

    @Test func whatIsDeletedIsMadeUpFor() throws {
        let context = try charts()
        for chart in try context.fetch(FetchDescriptor<Chart>()) where chart.number >= 10 { context.delete(chart) }
        var top = FetchDescriptor<Chart>(sortBy: [SortDescriptor(\.plays, order: .reverse)])
        top.fetchLimit = 3
        #expect(try context.fetch(top).map(\.number) == [9, 8, 7])
        top.fetchOffset = 8
        #expect(try context.fetch(top).map(\.number) == [1, 0])
        #expect(try context.fetchCount(top) == 2)
    }

    @Test func changesThatAQueryDoesNotReadLeaveItToTheStore() throws {
        let context = try library()
        context.insert(Shelf(label: "new"))
        for shelf in try context.fetch(FetchDescriptor<Shelf>(predicate: #Predicate { $0.label == "left" })) {
            context.delete(shelf)
        }
        var long = FetchDescriptor<Book>(
            predicate: #Predicate { $0.pages > 250 && $0.author?.name == "Lem" }, sortBy: [SortDescriptor(\.pages)])
        long.fetchLimit = 1
        let pushed = """
            fetch Book from books: scan of all rows
              pushed: pages > 250
              pushed: author.name == "Lem"
              sort (pushed): pages
              window (pushed): offset 0, limit 1
              3 rows scanned, 1 returned, full scan
            """
        #expect(try context.explain(long).description == pushed)
        #expect(try context.fetch(long).map(\.title) == ["Eden"])
        // Their authors are read too.
        let lem = try #require(try context.fetch(FetchDescriptor<Author>()).first)
        lem.name = "Stanisław Lem"
        #expect(try context.fetch(long).isEmpty)
        #expect(try context.explain(long).mergesPendingChanges)
    }

    @Test func codeMayReadAnything() throws {
        let context = try library()
        let lem = try #require(try context.fetch(FetchDescriptor<Author>()).first)
        lem.name = "Eco"
        let byCode = FetchDescriptor<Book>(predicate: #Predicate { $0.byline == "ECO" })
        #expect(try context.fetchCount(byCode) == 3)
        #expect(try context.explain(byCode).mergesPendingChanges)
    }

    /// A relationship's other side shows what was set here, though no condition names the entity that it leads to.
    @Test func aRelationshipIsReadWithTheEntityThatItLeadsTo() throws {
        let context = try library()
        let loose = FetchDescriptor<Book>(predicate: #Predicate { $0.shelves.isEmpty })
        let books = try context.fetch(loose)
        #expect(books.count == 3)
        let shelf = Shelf(label: "new")
        shelf.books = [books[0]]
        context.insert(shelf)
        #expect(try context.fetchCount(loose) == 2)
        try context.save()
        context.delete(shelf)
        #expect(try context.fetchCount(loose) == 3)
    }
}

extension Book {
    /// Read from another record, by code that no store knows.
    fileprivate var byline: String { (author?.name ?? "").uppercased() }
}
