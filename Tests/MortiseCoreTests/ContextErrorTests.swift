import Foundation
import MortiseCore
import MortiseEngine
import MortiseInMemory
import Testing

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

    @Test func modelsOfAnUnknownTypeAreReportedOnce() throws {
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
        try context.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Shelf>()) == 1)
    }

    @Test func modelsOfAnotherContextAreReportedOnce() throws {
        let shelf = Shelf(label: "s")
        context.insert(shelf)
        try context.save()
        let other = ModelContext(container)
        let error = ModelContextError.registeredElsewhere(model: shelf.persistentModelID)
        other.insert(shelf)
        expect(error, .missingModelContext, saying: "\(shelf.persistentModelID)", "model(for:)") { try other.save() }
        other.delete(shelf)
        expect(error, .missingModelContext) { _ = try other.fetch(FetchDescriptor<Shelf>()) }
        #expect(!shelf.isDeleted && shelf.modelContext === context)
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
