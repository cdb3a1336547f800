import Foundation
import MortiseCore
import MortiseEngine
import MortiseInMemory
import Testing

@Suite struct BatchInsertTests {
    private func insert(_ titles: [String], into context: ModelContext, author: Author? = nil) throws
        -> [PersistentIdentifier]
    {
        try context.insert(Book.self, from: titles) { book, title in
            try book.set(\.title, to: title)
            try book.set(\.genre, to: .poem)
            try book.set(\.keywords, to: [title])
            try book.set(\.author, to: author)
        }
    }

    @Test(arguments: BatchStore.allCases) func everyElementBecomesASavedRecord(_ store: BatchStore) throws {
        let context = try store.library()
        let posted = PostedSaves(of: context)
        let lem = try #require(
            try context.fetch(FetchDescriptor<Author>(predicate: #Predicate { $0.name == "Lem" })).first)
        let identifiers = try insert(["a", "b"], into: context, author: lem)
        posted.stop()
        #expect(!context.hasChanges && identifiers.count == 2 && !identifiers.contains(where: \.isTemporary))
        #expect(posted.counts.map { $0["insertedIdentifiers"] } == [2] && posted.willSaves == 1)
        let other = ModelContext(context.container)
        let books = try other.fetch(FetchDescriptor<Book>()).suffix(2)
        #expect(books.map(\.persistentModelID) == identifiers)
        // Pages was not set and has a default.
        #expect(
            books.map { "\($0.title) \($0.pages) \($0.genre) \($0.keywords)" } == [
                "a 0 poem [\"a\"]", "b 0 poem [\"b\"]",
            ])
        #expect(lem.books.map(\.title) == ["Solaris", "Fiasco", "Eden", "a", "b"])
        #expect(try context.existingModel(for: identifiers[1], as: Book.self).title == "b")
    }

    @Test(arguments: BatchStore.allCases) func withUnsavedChangesTheyWaitForTheNextSave(_ store: BatchStore) throws {
        let context = try store.library()
        let author = Author(name: "new")
        context.insert(author)
        let identifiers = try insert(["a"], into: context, author: author)
        #expect(identifiers.allSatisfy(\.isTemporary) && context.insertedModelsArray.count == 2)
        #expect(author.books.map(\.title) == ["a"])
        #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Book>()) == 5)
        try context.save()
        #expect(try ModelContext(context.container).shelfList.last == "a 0")
    }

    @Test(arguments: BatchStore.allCases) func whatIsRequiredAndMissingIsNamedAndNothingInserted(
        _ store: BatchStore
    ) throws {
        let context = try store.library()
        #expect {
            try context.insert(Book.self, from: ["a", nil]) { book, title in
                if let title { try book.set(\.title, to: title) }
                try book.set(\.genre, to: .poem)
                try book.set(\.keywords, to: [])
            }
        } throws: { error in
            if case ModelValidationError.missingValue("Book", "title", _) = error { true } else { false }
        }
        #expect(!context.hasChanges)
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 5)
        struct Enough: Error {}
        #expect(throws: Enough.self) {
            try context.insert(Shelf.self, from: 0..<9) { _, number in if number == 3 { throw Enough() } }
        }
        #expect(!context.hasChanges)
    }

    @Test(arguments: BatchStore.allCases) func aRecordWithKnownUniqueValuesUpdatesThatOne(_ store: BatchStore) throws {
        let context = try store.library()
        let lem = try #require(
            try context.fetch(FetchDescriptor<Author>(predicate: #Predicate { $0.name == "Lem" })).first)
        let rows: [(String, Int?)] = [("Poe", 1), ("Lem", 2), ("Poe", 3), ("Kafka", nil)]
        let identifiers = try context.insert(Author.self, from: rows) { author, row in
            try author.set(\.name, to: row.0)
            try author.set(\.born, to: row.1)
        }
        #expect(Set(identifiers).count == 3 && identifiers[0] == identifiers[2])
        #expect(identifiers[1] == lem.persistentModelID && lem.born == 2 && lem.books.count == 3)
        let authors = try ModelContext(context.container).fetch(
            FetchDescriptor<Author>(sortBy: [SortDescriptor(\.name)]))
        #expect(authors.map { "\($0.name) \($0.born ?? 0)" } == ["Eco 0", "Kafka 0", "Lem 2", "Poe 3"])
    }

    @Test(arguments: BatchStore.allCases, [false, true]) func whatIsNotSetStaysInTheRecordThatIsUpdated(
        _ store: BatchStore, besideUnsavedChanges: Bool
    ) throws {
        let context = try store.library()
        if besideUnsavedChanges { context.insert(Shelf(label: "s")) }
        try context.insert(Author.self, from: ["Lem"]) { try $0.set(\.name, to: $1) }
        try context.save()
        let lem = FetchDescriptor<Author>(predicate: #Predicate { $0.name == "Lem" })
        let found = try ModelContext(context.container).fetch(lem)
        #expect(found.map(\.born) == [1921] && found.first?.books.count == 3)
    }

    /// Where a property is kept is looked up in the order in which the record before was filled.
    @Test(arguments: BatchStore.allCases) func everyRecordMayBeFilledInAnOrderOfItsOwn(_ store: BatchStore) throws {
        let context = try store.library()
        let identifiers = try context.insert(Book.self, from: 0..<6) { book, number in
            if number == 3 { try book.set(\.keywords, to: ["first"]) }
            if number != 1 { try book.set(\.pages, to: number) }
            try book.set(\.title, to: "draft")
            if number.isMultiple(of: 2) { try book.set(\.genre, to: .poem) }
            try book.set(\.title, to: "book \(number)")
            if number != 3 { try book.set(\.keywords, to: ["\(number)"]) }
            if !number.isMultiple(of: 2) { try book.set(\.genre, to: .novel) }
        }
        let other = ModelContext(context.container)
        let books = try identifiers.map { try other.existingModel(for: $0, as: Book.self) }
        #expect(
            books.map { "\($0.title) \($0.pages) \($0.genre) \($0.keywords[0])" } == [
                "book 0 0 poem 0", "book 1 0 novel 1", "book 2 2 poem 2", "book 3 3 novel first", "book 4 4 poem 4",
                "book 5 5 novel 5",
            ])
    }

    /// In a context with unsaved changes nothing is rolled back, so nothing may be done by halves.
    @Test func whatLeadsNowhereInsertsNothing() throws {
        let context = try BatchStore.engine.library()
        let ghost = Author(name: "Ghost")
        context.insert(ghost)
        try context.save()
        context.delete(ghost)
        try context.save()
        context.insert(Shelf(label: "s"))
        let missing = ghost.persistentModelID
        #expect(throws: ModelContextError.noSuchModel(missing)) {
            try context.insert(Book.self, from: [false, true]) { book, isLost in
                try book.set(\.title, to: "t")
                try book.set(\.genre, to: .novel)
                try book.set(\.keywords, to: [])
                if isLost { try book.set(\.author, to: missing) }
            }
        }
        #expect(context.insertedModelsArray.count == 1)
    }

    @Test func manyToManyMembersAreSetOnTheSideThatIsStored() throws {
        let context = try BatchStore.engine.library()
        let shelf = Shelf(label: "s")
        context.insert(shelf)
        try context.save()
        try context.insert(Book.self, from: ["a", "b"]) { book, title in
            try book.set(\.title, to: title)
            try book.set(\.genre, to: .novel)
            try book.set(\.keywords, to: [])
            try book.set(\.shelves, to: [shelf])
        }
        #expect(shelf.books.map(\.title) == ["a", "b"])
        #expect(throws: BatchError.unassignable(entity: "Author", property: "books", reason: .toMany)) {
            try context.insert(Author.self, from: [1]) { author, _ in try author.set(\.books, to: []) }
        }
    }
}
