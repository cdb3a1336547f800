import Foundation
import MortiseCore
import MortiseEngine
import MortiseInMemory
import Testing

@Suite struct BatchUpdateTests {
    @Test(arguments: BatchStore.allCases) func whatMatchesIsChangedAndSaved(_ store: BatchStore) throws {
        let context = try store.library()
        let posted = PostedSaves(of: context)
        let count = try context.update(Book.self, where: #Predicate { $0.pages >= 300 }) {
            $0.set(\.genre, to: .essay)
            $0.increment(\.pages, by: -1)
        }
        posted.stop()
        #expect(count == 3 && !context.hasChanges)
        let other = ModelContext(context.container)
        let expected = ["Solaris 100", "Fiasco 200", "Eden 299", "Baudolino 399", "Beowulf 499"]
        #expect(try context.shelfList == expected)
        #expect(try other.shelfList == expected)
        #expect(try other.fetch(FetchDescriptor<Book>()).map(\.genre) == [.novel, .novel, .essay, .essay, .essay])
        #expect(posted.willSaves == 1 && posted.counts == [["updatedIdentifiers": 3]])
    }

    @Test(arguments: BatchStore.allCases) func modelsInMemoryShowTheNewValuesAndTellTheirObservers(
        _ store: BatchStore
    ) throws {
        let context = try store.library()
        // The check reads everything again, and would make up for a context that does not.
        context.container.verifiesPushDown = false
        let eden = try #require(
            try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == "Eden" })).first)
        let other = ModelContext(context.container)
        let same = try #require(
            try other.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == "Eden" })).first)
        try context.update(Book.self) { $0.set(\.pages, to: 7) }
        #expect(eden.pages == 7 && same.pages == 300)
        try other.refresh()
        _ = try other.fetch(FetchDescriptor<Book>())
        #expect(same.pages == 7)
    }

    @Test(arguments: BatchStore.allCases) func valuesComeFromBeforeTheBatch(_ store: BatchStore) throws {
        let container = try store.container([Item.self, Special.self, Box.self])
        let context = ModelContext(container)
        for serial in 0..<4 {
            var values = ItemValues()
            values.serial = serial
            values.isSpecial = serial == 3
            values.name = "n\(serial)"
            values.note = serial == 0 ? nil : "old"
            values.size = serial
            values.rank = serial == 1 ? nil : 10
            values.weight = 2
            values.tags = ["a", "b"]
            context.insert(Item(values))
        }
        try context.save()
        let count = try context.update(Item.self, where: #Predicate { $0.serial != 2 }) {
            $0.set(\.note, from: \.name)
            $0.set(\.name, to: "x")
            $0.set(\.size, to: #Expression { $0.size * 2 + $0.tags.count })
            $0.increment(\.rank, by: 5)
            $0.multiply(\.weight, by: 1.5)
            $0.set(\.tags, to: ["c"])
            $0.set(\.branch, to: Place(city: "Ulm"))
        }
        #expect(count == 3)
        let items = try ModelContext(container).fetch(FetchDescriptor<Item>())
        #expect(items.map(\.note) == ["n0", "n1", "old", "n3"])
        #expect(items.map(\.name) == ["x", "x", "n2", "x"])
        #expect(items.map(\.size) == [2, 4, 2, 8])
        #expect(items.map(\.rank) == [15, nil, 10, 15])
        #expect(items.map(\.weight) == [3, 3, 2, 3])
        #expect(items.map(\.tags) == [["c"], ["c"], ["a", "b"], ["c"]])
        #expect(items.map(\.branch?.city) == ["Ulm", "Ulm", nil, "Ulm"])
    }

    @Test(arguments: BatchStore.allCases) func subclassesAreLeftOutOnRequest(_ store: BatchStore) throws {
        let container = try store.container([Item.self, Special.self, Box.self])
        let context = ModelContext(container)
        context.insert(Item(ItemValues()))
        context.insert(Special(ItemValues()))
        try context.save()
        #expect(try context.update(Item.self, includeSubclasses: false) { $0.set(\.name, to: "a") } == 1)
        #expect(try context.update(Special.self) { $0.set(\.hint, to: "h") } == 1)
        let items = try ModelContext(container).fetch(FetchDescriptor<Item>())
        #expect(items.map(\.name) == ["a", ""])
        #expect((items.last as? Special)?.hint == "h")
        #expect(try context.update(Item.self) { $0.set(\.name, to: "b") } == 2)
    }

    @Test(arguments: BatchStore.allCases) func toOneRelationshipsKeepBothSides(_ store: BatchStore) throws {
        let context = try store.library()
        let eco = try #require(
            try context.fetch(FetchDescriptor<Author>(predicate: #Predicate { $0.name == "Eco" })).first)
        #expect(try context.update(Book.self, where: #Predicate { $0.pages < 300 }) { $0.set(\.author, to: eco) } == 2)
        #expect(eco.books.map(\.title) == ["Solaris", "Fiasco", "Baudolino"])
        let other = ModelContext(context.container)
        let authors = try other.fetch(FetchDescriptor<Author>(sortBy: [SortDescriptor(\.name)]))
        #expect(authors.map { $0.books.map(\.title) } == [["Solaris", "Fiasco", "Baudolino"], ["Eden"]])
        try context.update(Book.self, where: #Predicate { $0.title == "Eden" }) { $0.set(\.author, to: nil) }
        #expect(try other.fetch(FetchDescriptor<Author>(sortBy: [SortDescriptor(\.name)])).last?.books.isEmpty == true)
    }

    @Test(arguments: BatchStore.allCases) func codeInThePredicateIsEvaluatedOnModels(_ store: BatchStore) throws {
        let context = try store.library()
        let shouting = #Predicate<Book> { $0.shout == "EDEN" || $0.pages == 100 }
        #expect(try context.update(Book.self, where: shouting) { $0.set(\.pages, to: 1) } == 2)
        #expect(try ModelContext(context.container).shelfList.prefix(3) == ["Solaris 1", "Fiasco 200", "Eden 1"])
    }

    // MARK: Unsaved changes

    @Test(arguments: BatchStore.allCases) func withUnsavedChangesItIsOneMoreOfThem(_ store: BatchStore) throws {
        let context = try store.library()
        let fiasco = try #require(
            try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == "Fiasco" })).first)
        fiasco.pages = 1_000
        let new = Book(title: "New", pages: 2_000)
        context.insert(new)
        let count = try context.update(Book.self, where: #Predicate { $0.pages >= 500 }) {
            $0.increment(\.pages, by: 1)
        }
        #expect(count == 3 && fiasco.pages == 1_001 && new.pages == 2_001 && context.hasChanges)
        let other = ModelContext(context.container)
        #expect(try other.shelfList == ["Solaris 100", "Fiasco 200", "Eden 300", "Baudolino 400", "Beowulf 500"])
        try context.save()
        #expect(
            try other.shelfList == [
                "Solaris 100", "Fiasco 1001", "Eden 300", "Baudolino 400", "Beowulf 501", "New 2001",
            ])
    }

    @Test(arguments: BatchStore.allCases) func rollbackDropsAnUpdateThatIsNotSaved(_ store: BatchStore) throws {
        let context = try store.library()
        context.insert(Shelf(label: "s"))
        let author = Author(name: "new")
        context.insert(author)
        try context.update(Book.self) { $0.set(\.author, to: author) }
        #expect(author.books.count == 5)
        context.rollback()
        #expect(try context.fetchCount(FetchDescriptor<Book>(predicate: #Predicate { $0.author?.name == "Lem" })) == 3)
        #expect(!context.hasChanges)
    }

    @Test(arguments: BatchStore.allCases) func anotherContextsUnsavedChangesAreMerged(_ store: BatchStore) throws {
        let context = try store.library()
        let other = ModelContext(context.container)
        let eden = try #require(
            try other.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == "Eden" })).first)
        eden.title = "Eden 2"
        try context.update(Book.self) { $0.set(\.pages, to: 9) }
        try other.save()
        #expect(try ModelContext(context.container).shelfList[2] == "Eden 2 9")
    }

    // MARK: All or nothing

    @Test(arguments: BatchStore.allCases) func aCalculationWithoutResultChangesNothing(_ store: BatchStore) throws {
        let container = try store.container([Item.self, Special.self, Box.self])
        let context = ModelContext(container)
        for tiny in [1, 120, Int8.max] {
            var values = ItemValues()
            values.tiny = tiny
            context.insert(Item(values))
        }
        try context.save()
        #expect {
            try context.update(Item.self) { $0.increment(\.tiny, by: 1) }
        } throws: { error in
            if case QueryEvaluationError.arithmeticOverflow = error { true } else { false }
        }
        #expect(!context.hasChanges)
        #expect(try ModelContext(container).fetch(FetchDescriptor<Item>()).map(\.tiny) == [1, 120, .max])
    }

    @Test(arguments: BatchStore.allCases) func uniqueValuesStayUnique(_ store: BatchStore) throws {
        let context = try store.library()
        #expect {
            try context.update(Author.self) { $0.set(\.name, to: "same") }
        } throws: { error in
            error is ModelContextError && "\(error)".contains("of Author would have the same name")
        }
        #expect(!context.hasChanges)
        let names = FetchDescriptor<Author>(sortBy: [SortDescriptor(\.name)])
        #expect(try context.fetch(names).map(\.name) == ["Eco", "Lem"])
        #expect(try context.update(Author.self, where: #Predicate { $0.born == nil }) { $0.set(\.name, to: "U.") } == 1)
        #expect(try ModelContext(context.container).fetch(names).map(\.name) == ["Lem", "U."])
        // Values that are exchanged among the records of one batch are no duplicates.
        #expect(try context.update(Author.self) { $0.set(\.name, from: \.name) } == 2)
    }

    @Test func whatABatchCannotSetIsSaid() throws {
        let context = try BatchStore.engine.library()
        func reason(_ changes: (inout BatchUpdate<Book>) -> Void) -> BatchError.Reason? {
            do {
                try context.update(Book.self, changes)
            } catch let BatchError.unassignable("Book", _, reason) {
                return reason
            } catch {
                return nil
            }
            return nil
        }
        #expect(
            reason {
                $0.set(\.pages, to: 1)
                $0.set(\.pages, to: 2)
            } == .assignedTwice)
        #expect(reason { $0.set(\.nickname, to: "n") } == .notPersisted)
        #expect(reason { $0.set(\.pages, to: #Expression { $0.shout.count }) } != nil)
        let unsaved = Author(name: "unsaved")
        #expect(throws: ModelContextError.noSuchModel(unsaved.persistentModelID)) {
            try context.update(Book.self) { $0.set(\.author, to: unsaved) }
        }
        #expect(try context.shelfList.first == "Solaris 100")
    }

    @Test func updatingNoRecordsReturnsZero() throws {
        for store in BatchStore.allCases {
            let context = try store.library()
            #expect(
                try context.update(Book.self, where: #Predicate { $0.pages > 9_999 }) { $0.set(\.pages, to: 0) } == 0)
            #expect(try context.update(Shelf.self) { $0.set(\.label, to: "") } == 0)
        }
    }

    // MARK: Nothing is made of what is not asked for

    @Test func noModelsAreMadeOfWhatTheStoreChanges() throws {
        let container = try BatchStore.engine.container([Author.self, Book.self, Shelf.self])
        container.verifiesPushDown = false
        let writer = ModelContext(container)
        let identifiers = try writer.insert(Book.self, from: 0..<500) { book, number in
            try book.set(\.title, to: "b\(number)")
            try book.set(\.genre, to: .novel)
            try book.set(\.keywords, to: [])
        }
        let context = ModelContext(container)
        #expect(try context.update(Book.self) { $0.increment(\.pages, by: 3) } == 500)
        try context.delete(model: Book.self, where: #Predicate { $0.title != "b7" })
        for identifier in identifiers {
            #expect(context.registeredModel(for: identifier) as Book? == nil)
            #expect(writer.registeredModel(for: identifier) as Book? == nil)
        }
        #expect(try context.shelfList == ["b7 3"])
    }

    /// In a context with unsaved changes nothing is rolled back, so nothing may be done by halves.
    @Test func whatLeadsNowhereChangesNothing() throws {
        let context = try BatchStore.engine.library()
        let ghost = Author(name: "Ghost")
        context.insert(ghost)
        try context.save()
        context.delete(ghost)
        try context.save()
        let before = try context.shelfList
        context.insert(Shelf(label: "s"))
        #expect(throws: ModelContextError.noSuchModel(ghost.persistentModelID)) {
            try context.update(Book.self) {
                $0.set(\.pages, to: 7)
                $0.set(\.author, to: ghost)
            }
        }
        #expect(try context.shelfList == before)
        #expect(context.changedModelsArray.isEmpty && context.insertedModelsArray.count == 1)
    }
}

extension Book {
    /// No property of the schema.
    var nickname: String {
        get { "" }
        set { _ = newValue }
    }
}
