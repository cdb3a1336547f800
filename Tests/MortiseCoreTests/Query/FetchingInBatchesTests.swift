import Foundation
import MortiseCore
import MortiseInMemory
import Testing

/// Fetches that do not make all models at once, and the hints that a descriptor takes.
@Suite struct FetchingInBatchesTests {
    private func shelves(_ count: Int, in store: BatchStore = .engine) throws -> ModelContainer {
        let container = try store.container([Author.self, Book.self, Shelf.self])
        container.verifiesPushDown = false
        try ModelContext(container).insert(Shelf.self, from: 0..<count) { try $0.set(\.label, to: "\($1)") }
        return container
    }

    // MARK: Batches

    @Test(arguments: BatchStore.allCases) func aCollectionKeepsOneBatchOfModels(_ store: BatchStore) throws {
        let context = ModelContext(try shelves(100, in: store))
        let all = FetchDescriptor<Shelf>()
        let identifiers = try context.fetchIdentifiers(all)
        func registered() -> Int {
            identifiers.filter { context.registeredModel(for: $0) as Shelf? != nil }.count
        }
        let found = try context.fetch(all, batchSize: 10)
        #expect(found.count == 100 && registered() == 0)
        for (place, shelf) in found.enumerated() {
            #expect(shelf.label == "\(place)")
            #expect(registered() <= 11)
        }
        #expect(found[5] === found[5] && found[95].label == "95")
        #expect(try context.fetch(all, batchSize: 0).map(\.label).count == 100)
        let none = FetchDescriptor<Shelf>(predicate: #Predicate { $0.label == "none" })
        #expect(try context.fetch(none, batchSize: 10).isEmpty)
    }

    @Test(arguments: BatchStore.allCases) func enumeratingKeepsOneModelAtATime(_ store: BatchStore) throws {
        let context = ModelContext(try shelves(100, in: store))
        let identifiers = try context.fetchIdentifiers(FetchDescriptor<Shelf>())
        var seen = 0
        try context.enumerate(FetchDescriptor<Shelf>(), batchSize: 10) { _ in
            seen += 1
            #expect(identifiers.filter { context.registeredModel(for: $0) as Shelf? != nil }.count <= 2)
        }
        #expect(seen == 100)
    }

    // MARK: Changes during an enumeration

    @Test func changesThatPileUpStopAnEnumerationAtTheNextBatch() throws {
        let context = ModelContext(try shelves(25))
        var seen = 0
        #expect(throws: ModelContextError.unsavedChanges) {
            try context.enumerate(FetchDescriptor<Shelf>(), batchSize: 10) { shelf in
                seen += 1
                shelf.label += "!"
            }
        }
        #expect(seen == 10 && context.changedModelsArray.count == 10)
        #expect(throws: ModelContextError.unsavedChanges) { try context.enumerate(FetchDescriptor<Shelf>()) { _ in } }
        seen = 0
        try context.enumerate(FetchDescriptor<Shelf>(), batchSize: 10, allowEscapingMutations: true) { shelf in
            seen += 1
            shelf.label += "?"
        }
        #expect(seen == 25 && context.changedModelsArray.count == 25)
        context.rollback()
        seen = 0
        try context.enumerate(FetchDescriptor<Shelf>(), batchSize: 10) { shelf in
            seen += 1
            shelf.label += "s"
            if seen % 10 == 0 { try context.save() }
        }
        #expect(seen == 25 && context.changedModelsArray.count == 5)
    }

    @Test func unsavedModelsAreEnumeratedWhereTheyAreAllowed() throws {
        let context = ModelContext(try shelves(3))
        context.insert(Shelf(label: "new"))
        let second = try #require(
            try context.fetch(FetchDescriptor<Shelf>(predicate: #Predicate { $0.label == "1" })).first)
        context.delete(second)
        var labels: [String] = []
        try context.enumerate(FetchDescriptor<Shelf>(), allowEscapingMutations: true) { labels.append($0.label) }
        #expect(labels == ["0", "2", "new"])
    }

    @Test(arguments: BatchStore.allCases) func whatIsDeletedAndSavedOnTheWayIsLeftOut(_ store: BatchStore) throws {
        let context = ModelContext(try shelves(6, in: store))
        var labels: [String] = []
        try context.enumerate(FetchDescriptor<Shelf>(), batchSize: 1) { shelf in
            labels.append(shelf.label)
            if shelf.label == "1" {
                try context.delete(model: Shelf.self, where: #Predicate { $0.label == "0" || $0.label == "3" })
            }
        }
        #expect(labels == ["0", "1", "2", "4", "5"])
    }

    // MARK: Hints

    @Test func whatIsPrefetchedIsReadWithOneRequest() throws {
        let context = ModelContext(
            try ModelContainer(
                for: Schema([Author.self, Book.self, Shelf.self]), configurations: [PlainConfiguration(looksUp: true)]))
        // Checking what a store answers asks it once more.
        context.container.verifiesPushDown = false
        let store = try #require(context.container.store(PlainStore.self))
        for name in ["Lem", "Lem", "Eco", "Poe"] {
            // Lem is one author, for whom two are inserted.
            context.insert(Book(title: name, author: Author(name: name)))
        }
        try context.save()
        func requests(_ descriptor: FetchDescriptor<Book>) throws -> Int {
            let reader = ModelContext(context.container)
            let before = store.fetches
            let books = try reader.fetch(descriptor)
            #expect(books.map { $0.author?.name } == ["Lem", "Lem", "Eco", "Poe"])
            return store.fetches - before
        }
        #expect(try requests(FetchDescriptor()) == 4)
        var prefetching = FetchDescriptor<Book>()
        prefetching.relationshipKeyPathsForPrefetching = [\.author]
        #expect(try requests(prefetching) == 2)
    }

    @Test(arguments: BatchStore.allCases) func whatIsNotAmongThePropertiesToFetchCanBeReadAllTheSame(
        _ store: BatchStore
    ) throws {
        let reader = ModelContext(try store.library().container)
        var titles = FetchDescriptor<Book>()
        titles.propertiesToFetch = [\.title]
        #expect(try reader.fetch(titles).map(\.pages) == [100, 200, 300, 400, 500])
    }
}
