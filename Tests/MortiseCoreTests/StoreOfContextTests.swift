import Foundation
import MortiseCore
import Testing

/// What a context tells a store about itself, and asks it when it rolls back. Bugs: changing `editingState` ended what had
/// never begun; nobody asked for `cachedSnapshots`.
@Suite struct StoreOfContextTests {
    private let container: ModelContainer
    private let store: DictionaryStore

    init() throws {
        container = try ModelContainer(
            for: Schema([Author.self, Book.self]), configurations: [DictionaryConfiguration()])
        store = try #require(container.store(DictionaryStore.self))
    }

    @Test func everyStateThatBeganEndsOnce() throws {
        do {
            let context = ModelContext(container)
            context.author = "a"
            let first = context.editingState.id
            #expect(store.contexts == [first])
            context.editingState = EditingState(author: "b")
            #expect(store.contexts == [context.editingState.id] && context.editingState.id != first)
            #expect(context.author == "b")
        }
        #expect(store.contexts.isEmpty && store.endsWithoutBeginning == 0)
    }

    @Test func aRollbackShowsWhatTheStoreLastKnew() throws {
        let context = ModelContext(container)
        let author = Author(name: "stored")
        context.insert(author)
        try context.save()
        let other = ModelContext(container)
        try #require(try other.fetch(FetchDescriptor<Author>()).first).name = "newer"
        try other.save()
        author.name = "changed"
        context.rollback()
        #expect(author.name == "newer", "what others have saved through the container")
        // Nobody tells of this.
        store.rename(author.persistentModelID, to: "newest")
        author.name = "changed"
        context.rollback()
        #expect(author.name == "newer", "what the context has read last")
        store.tellsWhatItKnows = true
        author.name = "changed"
        context.rollback()
        #expect(author.name == "newest" && !context.hasChanges)
    }
}
