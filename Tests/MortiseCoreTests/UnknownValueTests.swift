import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing
import MortiseTestSupport

/// A file whose records have values that their properties' types do not know.
@Suite struct UnknownValueTests {
    private func container() throws -> ModelContainer {
        let disk = SimulatedFileSystem()
        func open(_ integrity: JSONFileIntegrity) throws -> ModelContainer {
            try ModelContainer(
                for: Schema([Author.self, Book.self, Shelf.self]),
                configurations: [JSONFileConfiguration("books", path: "/books.json", integrity: integrity, in: disk)])
        }
        let container = try open(.required)
        let context = ModelContext(container)
        let lem = Author(name: "Lem")
        context.insert(Book(title: "Solaris", genre: .poem, author: lem))
        context.insert(Book(title: "Fiasco", genre: .novel, author: lem))
        try context.save()
        try container.close()
        let text = String(decoding: try #require(disk.contents(at: "/books.json")), as: UTF8.self)
        #expect(text.contains("\"poem\""))
        try disk.install(Array(text.replacing("\"poem\"", with: "\"ode\"").utf8), at: "/books.json")
        return try open(.acceptEdits)
    }

    private func expectUnknown(at location: SourceLocation = #_sourceLocation, _ body: () throws -> Void) {
        #expect(sourceLocation: location) {
            try body()
        } throws: {
            guard case .invalidStoredValue("Book", "genre", _, "\"ode\"")? = $0 as? ModelContextError else {
                return false
            }
            return true
        }
    }

    @Test func isFoundAlsoInAnEntityThatIsFetchedLater() throws {
        let context = ModelContext(try container())
        #expect(try context.fetch(FetchDescriptor<Author>()).count == 1)
        expectUnknown { _ = try context.fetch(FetchDescriptor<Book>()) }
        expectUnknown { _ = try context.fetch(FetchDescriptor<Book>()) }
    }

    @Test func givesNoModelToAGetterAndFailsTheNextFetch() throws {
        let context = ModelContext(try container())
        let author = try #require(try context.fetch(FetchDescriptor<Author>()).first)
        #expect(author.books.map(\.title) == ["Fiasco"])
        #expect(author.books.map(\.genre) == [.novel])
        expectUnknown { _ = try context.fetch(FetchDescriptor<Author>()) }
        // Told once; what can be read goes on being read.
        #expect(try context.fetch(FetchDescriptor<Author>()).count == 1)
        expectUnknown { _ = try context.fetch(FetchDescriptor<Book>()) }
    }

    @Test func givesNoModelByItsIdentifier() throws {
        let container = try container()
        let identifiers = try ModelContext(container).fetchIdentifiers(FetchDescriptor<Author>())
        let context = ModelContext(container)
        let author = try #require(context.model(for: identifiers[0]) as? Author)
        #expect(author.books.map(\.title) == ["Fiasco"])
        expectUnknown { try context.save() }
    }

    @Test func refusesADeletionWhoseCascadeCannotReachIt() throws {
        let container = try container()
        let context = ModelContext(container)
        let author = try #require(try context.fetch(FetchDescriptor<Author>()).first)
        context.delete(author)
        for _ in 0..<3 { expectUnknown { try context.save() } }
        context.rollback()
        author.born = 1921
        try context.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Author>()) == 1)
    }
}
