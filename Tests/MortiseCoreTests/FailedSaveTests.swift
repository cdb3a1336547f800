import Foundation
import MortiseCore
import MortiseInMemory
import Testing

/// Bug: what a save had merged before the store failed stayed merged, unsaved.
@Suite struct FailedSaveTests {
    private func picture(_ context: ModelContext, _ authors: [Author]) -> [String] {
        let lists = [context.insertedModelsArray, context.changedModelsArray, context.deletedModelsArray]
        return lists.map { "\($0.map(\.persistentModelID))" }
            + authors.map {
                "\($0.persistentModelID) \($0.name) \($0.born ?? 0) \($0.books.map(\.title)) \($0.modelContext === context)"
            }
    }

    @Test func whatAStoreOfSnapshotsCannotTakeLeavesAllAsBefore() throws {
        let container = try ModelContainer(
            for: Schema([Author.self, Book.self, Shelf.self]), configurations: [DictionaryConfiguration()])
        let store = try #require(container.store(DictionaryStore.self))
        let context = ModelContext(container)
        let old = Author(name: "Lem", born: 1)
        context.insert(old)
        context.insert(Book(title: "Solaris", author: old))
        try context.save()
        let new = Author(name: "Lem", born: 2)
        let temporary = new.persistentModelID
        context.insert(new)
        context.insert(Book(title: "Eden", author: new))
        let before = picture(context, [old, new])
        store.failure = CocoaError(.fileWriteOutOfSpace)
        for _ in 0..<2 {
            #expect(throws: CocoaError.self) { try context.save() }
            #expect(picture(context, [old, new]) == before)
        }
        store.failure = nil
        try context.save()
        #expect(old.born == 2 && Set(old.books.map(\.title)) == ["Solaris", "Eden"])
        #expect(new.persistentModelID == old.persistentModelID && context.model(for: temporary) === old)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Author>()) == 1)
    }

    @Test func whatOneOfSeveralStoresHasSavedStaysMerged() throws {
        let container = try ModelContainer(
            for: Schema([Shelf.self, Author.self, Book.self, Pebble.self]),
            configurations: [
                InMemoryConfiguration("books", schema: Schema([Shelf.self, Author.self, Book.self])),
                DictionaryConfiguration(),
            ])
        let store = try #require(container.store(DictionaryStore.self))
        let context = ModelContext(container)
        let (old, pebble) = (Author(name: "Lem", born: 1), Pebble(grams: 3))
        context.insert(old)
        context.insert(pebble)
        try context.save()
        let new = Author(name: "Lem", born: 2)
        let temporary = new.persistentModelID
        context.insert(new)
        pebble.grams = 4
        store.failure = CocoaError(.fileWriteOutOfSpace)
        for _ in 0..<2 {
            #expect(throws: CocoaError.self) { try context.save() }
            #expect(old.born == 2 && new.modelContext == nil)
            #expect(context.model(for: temporary) === old)
            #expect(pebble.grams == 4)
            #expect(context.changedModelsArray.count == 1 && context.insertedModelsArray.isEmpty)
        }
        store.failure = nil
        try context.save()
        #expect(!context.hasChanges)
        #expect(try ModelContext(container).fetch(FetchDescriptor<Author>()).map(\.born) == [2])
        #expect(try ModelContext(container).fetch(FetchDescriptor<Pebble>()).map(\.grams) == [4])
    }
}
