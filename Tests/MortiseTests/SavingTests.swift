import Foundation
import Mortise
import Testing

@Suite struct SavingTests {
    let container: ModelContainer
    let context: ModelContext

    init() throws {
        container = try householdContainer()
        context = ModelContext(container)
    }

    @Test func notificationsCarryTheIdentifiersOfWhatWasSaved() throws {
        let kept = Poster(title: "kept")
        let doomed = Poster(title: "doomed")
        context.insert(kept)
        context.insert(doomed)
        try context.save()
        final class Log: @unchecked Sendable {
            // @unchecked: used on the saving thread only.
            var events: [(name: Notification.Name, info: [AnyHashable: Any])] = []
        }
        let log = Log()
        let tokens = [ModelContext.willSave, ModelContext.didSave].map { name in
            NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
                log.events.append(($0.name, $0.userInfo ?? [:]))
            }
        }
        defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
        let new = Poster(title: "new")
        context.insert(new)
        kept.title = "changed"
        let gone = doomed.persistentModelID
        context.delete(doomed)
        try context.save()
        #expect(log.events.map(\.name) == [ModelContext.willSave, ModelContext.didSave])
        let info = try #require(log.events.last).info
        func identifiers(_ key: ModelContext.NotificationKey) -> [PersistentIdentifier]? {
            info[key.rawValue] as? [PersistentIdentifier]
        }
        #expect(identifiers(.insertedIdentifiers) == [new.persistentModelID])
        #expect(identifiers(.updatedIdentifiers) == [kept.persistentModelID])
        #expect(identifiers(.deletedIdentifiers) == [gone])
        #expect(info[ModelContext.NotificationKey.queryGeneration.rawValue] is [String: UInt64])
        log.events = []
        try context.save()
        #expect(log.events.isEmpty)
    }

    @Test func whatWillSaveObserversChangeIsSavedToo() throws {
        let poster = Poster(title: "p")
        context.insert(poster)
        final class Box: @unchecked Sendable {
            // @unchecked: used on the saving thread only.
            let poster: Poster
            init(_ poster: Poster) { self.poster = poster }
        }
        let box = Box(poster)
        let token = NotificationCenter.default.addObserver(forName: ModelContext.willSave, object: context, queue: nil)
        { _ in
            box.poster.title = "stamped"
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try context.save()
        #expect(try onlyModel(Poster.self, in: ModelContext(container)).title == "stamped")
        #expect(!context.hasChanges)
    }

    @Test func anotherThreadCanSaveWhileDidSaveIsBeingHandled() throws {
        let container = container
        let token = NotificationCenter.default.addObserver(forName: ModelContext.didSave, object: context, queue: nil) {
            _ in
            let done = DispatchSemaphore(value: 0)
            let thread = Thread {
                let other = ModelContext(container)
                other.insert(Poster(title: "second"))
                try? other.save()
                done.signal()
            }
            thread.start()
            #expect(done.wait(timeout: .now() + 10) == .success)
        }
        defer { NotificationCenter.default.removeObserver(token) }
        context.insert(Poster(title: "first"))
        try context.save()
        #expect(try context.fetch(FetchDescriptor<Poster>()).map(\.title) == ["first", "second"])
    }

    @Test func aTransactionSavesOrLeavesItsChangesUnsaved() throws {
        struct Stop: Error {}
        try context.transaction { context.insert(Poster(title: "a")) }
        #expect(!context.hasChanges)
        #expect(throws: Stop.self) {
            try context.transaction {
                context.insert(Poster(title: "b"))
                throw Stop()
            }
        }
        #expect(context.insertedModelsArray.count == 1)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Poster>()) == 1)
    }

    @Test func aModelActorWorksOnAContextOfItsOwn() async throws {
        let clerk = Clerk(modelContainer: container)
        let identifier = try await clerk.hang("from the actor")
        #expect(!identifier.isTemporary)
        #expect(try context.existingModel(for: identifier, as: Poster.self).title == "from the actor")
        #expect(await clerk.title(identifier) == "from the actor")
        #expect(context.model(for: identifier) is Poster)
    }

    @Test func closingMakesEverythingThrowAndModelsKeepTheirValues() throws {
        let poster = Poster(title: "p")
        let house = House(name: "h")
        house.posters = [poster]
        context.insert(house)
        try context.save()
        let identifier = poster.persistentModelID
        try container.close()
        try container.close()
        #expect(poster.title == "p" && house.posters.count == 1 && poster.house === house)
        poster.title = "unsaved"
        let closed = ModelContextError.containerClosed
        #expect(throws: closed) { try context.save() }
        #expect(throws: closed) { try context.fetch(FetchDescriptor<Poster>()) }
        #expect(throws: closed) { try context.fetchCount(FetchDescriptor<Poster>()) }
        #expect(throws: closed) { try context.fetchIdentifiers(FetchDescriptor<Poster>()) }
        #expect(throws: closed) { try context.fetch(FetchDescriptor<Poster>(), batchSize: 2) }
        #expect(throws: closed) { try context.existingModel(for: identifier, as: Poster.self) }
        #expect(throws: closed) { try context.delete(model: Poster.self) }
        #expect(throws: closed) { try context.refresh() }
        #expect(throws: closed) { try container.erase() }
        #expect(throws: closed) { try ModelContext(container).fetch(FetchDescriptor<Poster>()) }
        do { try context.save() } catch SwiftDataError.missingModelContext {}
        #expect("\(closed)".contains("Create a new one"))
        #expect(poster.title == "unsaved")
    }

    @Test func anUndoManagerCanBeSet() throws {
        let manager = UndoManager()
        context.undoManager = manager
        #expect(context.undoManager === manager)
        context.undoManager = nil
        #expect(context.undoManager == nil)
    }

    @Test func erasingForgetsEveryRecordAndItsPlace() throws {
        let old = Poster(title: "old")
        context.insert(old)
        try context.save()
        try container.erase()
        let other = ModelContext(container)
        other.insert(Poster(title: "new"))
        try other.save()
        try context.refresh()
        #expect(old.isDeleted && old.title == "old")
        #expect(try context.fetch(FetchDescriptor<Poster>()).map(\.title) == ["new"])
        #expect(try onlyModel(Poster.self, in: context) !== old)
    }
}

@ModelActor actor Clerk {
    func hang(_ title: String) throws -> PersistentIdentifier {
        let poster = Poster(title: title)
        modelContext.insert(poster)
        try modelContext.save()
        return poster.persistentModelID
    }

    func title(_ identifier: PersistentIdentifier) -> String? { self[identifier, as: Poster.self]?.title }
}
