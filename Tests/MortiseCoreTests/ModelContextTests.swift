import Foundation
import MortiseCore
import MortiseInMemory
import Testing

@Suite struct ModelContextTests {
    let container: ModelContainer
    let context: ModelContext

    init() throws {
        container = try makeLibrary()
        context = ModelContext(container)
    }

    @Test func insertedModelsAreFetchedBeforeAndAfterSaving() throws {
        context.insert(Author(name: "Borges", born: 1899))
        #expect(context.hasChanges)
        #expect(try context.fetch(FetchDescriptor<Author>()).map(\.name) == ["Borges"])
        try context.save()
        #expect(!context.hasChanges)
        #expect(try context.fetch(FetchDescriptor<Author>()).map(\.born) == [1899])
        let other = ModelContext(container)
        #expect(try other.fetch(FetchDescriptor<Author>()).map(\.name) == ["Borges"])
    }

    @Test func savingGivesPermanentIdentifiers() throws {
        let author = Author(name: "Calvino")
        context.insert(author)
        let temporary = author.persistentModelID
        #expect(temporary.isTemporary)
        try context.save()
        let permanent = author.persistentModelID
        #expect(!permanent.isTemporary)
        #expect(permanent != temporary)
        #expect(permanent.entityName == "Author")
        #expect(context.model(for: permanent) === author)
        #expect(context.registeredModel(for: permanent) as Author? === author)
    }

    @Test func bothSidesOfARelationshipAreKeptInStep() throws {
        let author = Author(name: "Lem")
        let solaris = Book(title: "Solaris", author: author)
        context.insert(solaris)
        #expect(author.modelContext === context)
        #expect(author.books.map(\.title) == ["Solaris"])
        let fiasco = Book(title: "Fiasco")
        author.books.append(fiasco)
        #expect(fiasco.author === author)
        #expect(fiasco.modelContext === context)
        try context.save()
        #expect(author.books.map(\.title) == ["Solaris", "Fiasco"])
        solaris.author = nil
        #expect(author.books.map(\.title) == ["Fiasco"])
        try context.save()
        let other = ModelContext(container)
        let fetched = try #require(try other.fetch(FetchDescriptor<Author>()).first)
        #expect(fetched.books.map(\.title) == ["Fiasco"])
        #expect(fetched.books.first?.author === fetched)
    }

    @Test func manyToManyWorksFromBothSides() throws {
        let a = Shelf(label: "a")
        let b = Shelf(label: "b")
        let one = Book(title: "one")
        let two = Book(title: "two")
        context.insert(a)
        context.insert(b)
        a.books = [one, two]
        two.shelves.append(b)
        #expect(b.books.map(\.title) == ["two"])
        try context.save()
        let other = ModelContext(container)
        let shelves = try other.fetch(FetchDescriptor<Shelf>(sortBy: [SortDescriptor(\.label)]))
        #expect(shelves.map { $0.books.map(\.title) } == [["one", "two"], ["two"]])
        shelves[0].books.removeAll { $0.title == "one" }
        try other.save()
        _ = try context.fetch(FetchDescriptor<Shelf>())
        #expect(one.shelves.isEmpty)
        #expect(two.shelves.map(\.label) == ["a", "b"])
    }

    @Test func cascadeDeletesAndNullifyClears() throws {
        let author = Author(name: "Perec")
        let book = Book(title: "W", author: author)
        let shelf = Shelf(label: "p")
        context.insert(book)
        shelf.books = [book]
        context.insert(shelf)
        try context.save()
        context.delete(author)
        #expect(context.deletedModelsArray.count == 2)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 0)
        #expect(shelf.books.isEmpty)
        #expect(book.isDeleted)
        #expect(book.title == "W")
        #expect(book.modelContext == nil)
    }

    @Test func predicatesSortsLimitsAndOffsetsSeePendingChanges() throws {
        for (index, title) in ["d", "a", "c", "b", "e"].enumerated() {
            context.insert(Book(title: title, pages: index * 100))
        }
        try context.save()
        let first = try #require(
            try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == "a" })).first)
        first.pages = 999
        context.insert(Book(title: "f", pages: 250))
        var descriptor = FetchDescriptor<Book>(
            predicate: #Predicate { $0.pages >= 200 }, sortBy: [SortDescriptor(\.pages, order: .reverse)])
        #expect(try context.fetch(descriptor).map(\.title) == ["a", "e", "b", "f", "c"])
        #expect(try context.fetchCount(descriptor) == 5)
        descriptor.fetchOffset = 1
        descriptor.fetchLimit = 2
        #expect(try context.fetch(descriptor).map(\.title) == ["e", "b"])
        descriptor.includePendingChanges = false
        descriptor.fetchOffset = nil
        #expect(try context.fetch(descriptor).map(\.title) == ["e", "b"])
        #expect(first.pages == 999)
    }

    @Test func rollbackTakesEverythingBack() throws {
        let author = Author(name: "Woolf", born: 1882)
        context.insert(author)
        try context.save()
        author.born = 1
        context.insert(Author(name: "Nobody"))
        context.delete(author)
        context.rollback()
        #expect(!context.hasChanges)
        #expect(author.born == 1882)
        #expect(!author.isDeleted)
        #expect(try context.fetchCount(FetchDescriptor<Author>()) == 1)
    }

    @Test func aSaveReachesOtherContextsAtTheirNextFetch() throws {
        let author = Author(name: "Eco", born: 1932)
        context.insert(author)
        try context.save()
        let other = ModelContext(container)
        let twin = try #require(try other.fetch(FetchDescriptor<Author>()).first)
        author.born = 1
        try context.save()
        #expect(twin.born == 1932)
        try other.refresh()
        #expect(twin.born == 1)
        context.delete(author)
        try context.save()
        try other.refresh()
        #expect(twin.isDeleted)
        #expect(twin.name == "Eco")
    }

    @Test func uniqueValuesUpsert() throws {
        let first = Author(name: "Kafka", born: 1)
        context.insert(first)
        context.insert(Book(title: "America", author: first))
        try context.save()
        let again = Author(name: "Kafka", born: 1883)
        context.insert(again)
        context.insert(Book(title: "The Castle", author: again))
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Author>()) == 1)
        #expect(first.born == 1883)
        #expect(again.persistentModelID == first.persistentModelID)
        #expect(again.modelContext == nil)
        #expect(first.books.map(\.title) == ["America", "The Castle"])
        let a = Author(name: "Musil", born: 1)
        let b = Author(name: "Musil", born: 1880)
        context.insert(a)
        context.insert(b)
        try context.save()
        #expect(a.born == 1880)
        #expect(b.modelContext == nil)
        #expect(try context.fetchCount(FetchDescriptor<Author>()) == 2)
    }
}
