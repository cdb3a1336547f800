import Foundation
import MortiseCore
import MortiseEngine
import MortiseInMemory
import MortiseJSONFile
import Testing
import MortiseTestSupport

@Suite struct ContextErrorTests {
    let container: ModelContainer
    let context: ModelContext

    init() throws {
        container = try makeLibrary()
        context = ModelContext(container)
    }

    private func expect(
        _ error: ModelContextError, _ sort: SwiftDataError, saying words: String...,
        at location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
        #expect(sourceLocation: location) {
            try body()
        } throws: { thrown in
            guard case sort = thrown else { return false }
            return thrown as? ModelContextError == error && words.allSatisfy("\(thrown)".contains)
        }
    }

    @Test func modelsOfAnUnknownTypeAreRefusedUntilTheyAreTakenBack() throws {
        let unknown = ModelContextError.unknownModel(type: "Recipe")
        expect(unknown, .missingModelContext, saying: "Recipe", "Add it") {
            _ = try context.fetch(FetchDescriptor<Recipe>())
        }
        let recipe = Recipe(method: Method(steps: [], isSecret: false))
        context.insert(recipe)
        #expect(recipe.modelContext == nil)
        context.insert(Shelf(label: "s"))
        expect(unknown, .missingModelContext) { try context.save() }
        #expect(context.hasChanges)
        expect(unknown, .missingModelContext) { try context.save() }
        context.delete(recipe)
        try context.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Shelf>()) == 1)
    }

    @Test func modelsOfAnotherContextAreRefusedUntilThatIsUndone() throws {
        let shelf = Shelf(label: "s")
        context.insert(shelf)
        try context.save()
        let other = ModelContext(container)
        let error = ModelContextError.registeredElsewhere(model: shelf.persistentModelID)
        other.insert(shelf)
        expect(error, .missingModelContext, saying: "\(shelf.persistentModelID)", "model(for:)") { try other.save() }
        // Takes the insertion back.
        other.delete(shelf)
        try other.save()
        // Asks for something itself.
        other.delete(shelf)
        expect(error, .missingModelContext) { _ = try other.fetch(FetchDescriptor<Shelf>()) }
        #expect(!shelf.isDeleted && shelf.modelContext === context)
        expect(error, .missingModelContext) { try other.save() }
        other.rollback()
        try other.save()
    }

    @Test func identifiersWithoutRecordAreNamed() throws {
        let shelf = Shelf(label: "s")
        context.insert(shelf)
        try context.save()
        let identifier = shelf.persistentModelID
        context.delete(shelf)
        try context.save()
        expect(.noSuchModel(identifier), .missingModelContext, saying: "\(identifier)", "deleted") {
            _ = try context.existingModel(for: identifier, as: Shelf.self)
        }
        let standIn = context.model(for: identifier)
        #expect(standIn.isDeleted && standIn.persistentModelID == identifier && !(standIn is Shelf))
        #expect(context.registeredModel(for: identifier) as Shelf? == nil)
    }

    @Test func modelsOfAnotherTypeAreNotFound() throws {
        let shelf = Shelf(label: "s")
        context.insert(shelf)
        try context.save()
        #expect(throws: ModelContextError.noSuchModel(shelf.persistentModelID)) {
            _ = try context.existingModel(for: shelf.persistentModelID, as: Book.self)
        }
    }

    // MARK: The engine under a context that is not asked

    private func store() throws -> InMemoryStore { try #require(container.store(InMemoryStore.self)) }

    private func snapshot(
        _ entity: String, _ identifier: PersistentIdentifier, _ values: [String: StoredValue]
    ) throws -> DefaultSnapshot {
        let layout = try #require(try store().schema.stored.recordLayouts()[entity])
        return DefaultSnapshot(
            persistentIdentifier: identifier, layout: layout,
            values: ContiguousArray(layout.slots.map { values[$0.name] ?? .null }))
    }

    private func book(
        _ identifier: PersistentIdentifier, author: StoredValue = .null, title: StoredValue = .string("t")
    )
        throws -> DefaultSnapshot
    {
        try snapshot(
            "Book", identifier,
            ["title": title, "genre": .string("novel"), "pages": .integer(1), "keywords": .array([]), "author": author])
    }

    private func expectRefused(
        _ inserted: [DefaultSnapshot] = [], updated: [DefaultSnapshot] = [], deleted: [DefaultSnapshot] = [],
        saying words: String..., at location: SourceLocation = #_sourceLocation,
        _ matches: (EngineError) -> Bool
    ) throws {
        let store = try store()
        let before = store.currentVersion.number
        #expect(sourceLocation: location) {
            _ = try store.save(
                DataStoreSaveChangesRequest(
                    inserted: inserted, updated: updated, deleted: deleted, editingState: EditingState()))
        } throws: { error in
            guard case SwiftDataError.modelValidationFailure = error, let fault = error as? EngineError else {
                return false
            }
            return matches(fault) && words.allSatisfy("\(fault)".contains)
        }
        #expect(store.currentVersion.number == before, sourceLocation: location)
    }

    @Test func theEngineRefusesWhatDoesNotHoldTogetherAndStoresNothing() throws {
        let author = Author(name: "a")
        context.insert(author)
        try context.save()
        let known = author.persistentModelID
        let store = try store().identifier
        let missing = try PersistentIdentifier.identifier(for: store, entityName: "Author", primaryKey: UInt64(99))
        func new(_ entity: String) throws -> PersistentIdentifier {
            let model: any PersistentModel = entity == "Book" ? Book(title: "") : Author(name: "")
            return model.persistentModelID
        }
        try expectRefused([try book(try new("Book"), author: .identifier(missing))], saying: "Book.author", "Clear") {
            if case .danglingReference("Book", "author", _, missing) = $0 { true } else { false }
        }
        try expectRefused([try book(try new("Book"), title: .integer(1))], saying: "Book.title") {
            if case .unfitValue("Book", "title", _, _) = $0 { true } else { false }
        }
        try expectRefused([try book(try new("Book"), title: .null)], saying: "Book.title") {
            if case .unfitValue("Book", "title", _, _) = $0 { true } else { false }
        }
        try expectRefused([try snapshot("Author", try new("Author"), ["name": .string("a")])], saying: "Author", "name")
        {
            if case .notUnique("Author", ["name"], _, known) = $0 { true } else { false }
        }
        try expectRefused(updated: [try snapshot("Author", missing, ["name": .string("b")])], saying: "\(missing)") {
            $0 == .noSuchRecord(missing)
        }
        try expectRefused(deleted: [try snapshot("Author", missing, [:])]) { $0 == .noSuchRecord(missing) }
        let shelf = Shelf(label: "s")
        context.insert(shelf)
        try context.save()
        try expectRefused(
            [try book(try new("Book"), author: .identifier(shelf.persistentModelID))], saying: "Book.author"
        ) {
            if case .wrongDestination("Book", "author", _, shelf.persistentModelID) = $0 { true } else { false }
        }
        #expect(try context.fetch(FetchDescriptor<Author>()).map(\.name) == ["a"])
    }

    @Test func theEngineNamesAnEntityThatItDoesNotHold() throws {
        let method = try #require(Schema([Recipe.self]).stored.recordLayouts()["Recipe"])
        let foreign = DefaultSnapshot(
            persistentIdentifier: Recipe(method: Method(steps: [], isSecret: false)).persistentModelID, layout: method,
            values: [])
        try expectRefused([foreign], saying: "Recipe") { $0 == .unknownEntity("Recipe") }
        let store = try store()
        #expect(throws: EngineError.unknownEntity("Recipe")) {
            try store.fetch(
                DataStoreFetchRequest(descriptor: FetchDescriptor<Recipe>(), editingState: EditingState()))
        }
        #expect(throws: EngineError.unknownEntity("Recipe")) {
            try store.execute(StoreBatch(.query(StoreQuery("Recipe", purpose: .delete)), .delete))
        }
        #expect(throws: EngineError.unknownEntity("Recipe")) {
            try store.delete(
                DataStoreBatchDeleteRequest<Recipe>(
                    predicate: nil, includeSubclasses: true, editingState: EditingState()))
        }
    }

    /// A relationship of the schema's takes only its destination: what goes around the types of the models is found by
    /// the engine.
    @Test func aTargetOfAnotherEntityIsNamedWhereAModelIsSaved() throws {
        let shelf = Shelf(label: "s")
        context.insert(shelf)
        try context.save()
        let other = shelf.persistentModelID
        #expect {
            try context.insert(Book.self, from: [1]) { book, _ in
                try book.set(\.title, to: "t")
                try book.set(\.genre, to: .novel)
                try book.set(\.keywords, to: [])
                try book.set(\.author, to: other)
            }
        } throws: { error in
            guard case EngineError.wrongDestination("Book", "author", _, other) = error else { return false }
            return "\(error)".contains("Book.author")
        }
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 0)
    }

    // MARK: Stores that take no changes

    @Test func aReadOnlyStoreIsNotAskedToSave() throws {
        let disk = SimulatedFileSystem()
        func open(_ allowsSave: Bool) throws -> ModelContainer {
            try ModelContainer(
                for: Schema([Author.self, Book.self, Shelf.self]),
                configurations: [JSONFileConfiguration("books", path: "/books.json", allowsSave: allowsSave, in: disk)])
        }
        let writer = try open(true)
        let filling = ModelContext(writer)
        filling.insert(Shelf(label: "s"))
        try filling.save()
        try writer.close()
        let container = try open(false)
        let context = ModelContext(container)
        let shelf = try #require(try context.fetch(FetchDescriptor<Shelf>()).first)
        let refusals: [(String, () throws -> Void)] = [
            (
                "insert",
                {
                    context.insert(Shelf(label: "t")); try context.save()
                }
            ),
            (
                "change",
                {
                    shelf.label = "u"; try context.save()
                }
            ),
            (
                "delete",
                {
                    context.delete(shelf); try context.save()
                }
            ),
            ("batch update", { try context.update(Shelf.self) { $0.set(\.label, to: "v") } }),
            (
                "batch insert",
                { try context.insert(Shelf.self, from: [1]) { shelf, _ in try shelf.set(\.label, to: "") } }
            ),
            ("batch delete", { try context.delete(model: Shelf.self) }),
            ("erase", { try container.erase() }),
        ]
        for (name, change) in refusals {
            expect(
                .readOnly(configuration: "books"), .modelValidationFailure, saying: "books", "allowsSave: true"
            ) { try change() }
            context.rollback()
            #expect(!context.hasChanges && shelf.label == "s", "\(name)")
        }
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Shelf>()) == 1)
    }

    @Test func aClosedEngineSaysSo() throws {
        let store = try store()
        try store.close()
        #expect {
            _ = try store.erase()
        } throws: { error in
            guard case SwiftDataError.loadIssueModelContainer = error else { return false }
            return error as? EngineError == .closed(store: store.identifier) && "\(error)".contains("Open it again")
        }
    }
}
