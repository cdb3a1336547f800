import CustomStore
import Foundation
import Mortise
import PackageTestSupport
import Testing

@testable import MortiseCore

@Model private final class Owner {
    var name: String
    @Attribute(.externalStorage) var photo: Data?
    @Relationship(deleteRule: .cascade, inverse: \Boat.owner) var boats: [Boat] = []
    var harbours: [Harbour] = []
    init(_ name: String) { self.name = name }
}

@Model private final class Boat {
    var name: String
    var length: Int
    var owner: Owner?
    init(_ name: String, _ length: Int) {
        self.name = name
        self.length = length
    }
}

@Model private final class Harbour {
    #Unique<Harbour>([\.name])
    var name: String
    var depth: Int = 0
    @Relationship(inverse: \Owner.harbours) var owners: [Owner] = []
    init(_ name: String) { self.name = name }
}

/// Undo across saves, and of what others have changed meanwhile.
@Suite struct UndoSavingTests {
    enum Store: String, CaseIterable, Sendable { case memory, json, log, csv }

    private let folder: Folder
    init() throws { folder = try Folder() }

    private func make(_ store: Store = .memory) throws -> Undoable {
        let types: [any PersistentModel.Type] = [Owner.self, Boat.self, Harbour.self]
        let schema = Schema(types)
        let container: ModelContainer
        switch store {
        case .memory: container = try ModelContainer(for: schema, configurations: [InMemoryConfiguration()])
        case .json:
            container = try ModelContainer(
                for: schema, configurations: [JSONFileConfiguration(path: folder.path("boats.json"))])
        case .log:
            container = try ModelContainer(
                for: schema, configurations: [AppendLogConfiguration(path: folder.path("boats.log"))])
        case .csv:
            try FileManager.default.createDirectory(atPath: folder.path("csv"), withIntermediateDirectories: true)
            container = try ModelContainer(
                for: schema,
                configurations: [CSVConfiguration(folder: URL(fileURLWithPath: folder.path("csv")))])
        }
        return Undoable(container)
    }

    private func all<T: PersistentModel>(_ type: T.Type, _ it: Undoable) throws -> [T] {
        try ModelContext(it.container).fetch(FetchDescriptor<T>())
    }

    /// U13: under its old identifier where the store can, else under one that all lead to.
    @Test(arguments: Store.allCases) func aSavedInsertionIsUndoneAndRedoneAcrossSaves(_ store: Store) throws {
        let it = try make(store)
        let owner = Owner("o")
        let boat = Boat("b", 1)
        it.step { it.context.insert(owner) }
        it.step { owner.boats.append(boat) }
        try it.save()
        #expect(it.manager.undoCount == 2)
        let identifier = boat.persistentModelID
        try it.undo()
        #expect(boat.isDeleted && owner.boats.isEmpty && it.context.hasChanges)
        try it.save()
        #expect(try all(Boat.self, it).isEmpty && all(Owner.self, it).count == 1)
        try it.redo()
        #expect(boat.modelContext === it.context && boat.owner === owner && owner.boats.map(\.name) == ["b"])
        try it.save()
        let stored = try #require(try all(Boat.self, it).first)
        #expect(stored.owner?.name == "o" && stored.persistentModelID == boat.persistentModelID)
        let restores = store == .memory || store == .json
        #expect((boat.persistentModelID == identifier) == restores)
        #expect(it.context.model(for: identifier) === boat)
        try it.undo()
        try it.undo()
        try it.save()
        #expect(try all(Boat.self, it).isEmpty && all(Owner.self, it).isEmpty)
    }

    /// What came and went in one group, and was saved in between, once left a step whose redo was missing.
    @Test func whatCameAndWentAroundASaveIsNoStep() throws {
        let it = try make()
        try it.step {
            let boat = Boat("b", 1)
            it.context.insert(boat)
            try it.save()
            it.context.delete(boat)
        }
        #expect(it.manager.undoCount == 0 && it.context.hasChanges)
        try it.save()
        #expect(try all(Boat.self, it).isEmpty)
    }

    /// U15
    @Test(arguments: Store.allCases) func aSavedDeletionComesBackBitForBit(_ store: Store) throws {
        let it = try make(store)
        let (owner, harbour) = (Owner("o"), Harbour("h"))
        let photo = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        owner.photo = photo
        owner.boats = [Boat("a", 1), Boat("b", 2)]
        owner.harbours = [harbour]
        it.context.insert(owner)
        try it.save()
        let identifiers = Set(owner.boats.map(\.persistentModelID))
        it.manager.removeAllActions()
        it.step { it.context.delete(owner) }
        try it.save()
        #expect(try all(Boat.self, it).isEmpty && all(Owner.self, it).isEmpty && harbour.owners.isEmpty)
        try it.undo()
        #expect(owner.modelContext === it.context && owner.photo == photo && owner.boats.count == 2)
        #expect(harbour.owners.map(\.name) == ["o"])
        try it.save()
        let stored = try #require(try all(Owner.self, it).first)
        #expect(stored.name == "o" && stored.photo == photo && stored.harbours.map(\.name) == ["h"])
        #expect(Set(stored.boats.map(\.name)) == ["a", "b"] && stored.boats.allSatisfy { $0.owner === stored })
        if store == .memory || store == .json {
            #expect(Set(stored.boats.map(\.persistentModelID)) == identifiers)
        }
        try it.redo()
        try it.save()
        #expect(try all(Boat.self, it).isEmpty && all(Owner.self, it).isEmpty && all(Harbour.self, it).count == 1)
    }

    /// A record under its old identifier, in a file that is read again.
    @Test func whatHasComeBackIsThereWhenTheFileIsOpenedAgain() throws {
        var it: Undoable? = try make(.json)
        let boats = (0..<200).map { Boat("\($0)", $0) }
        for boat in boats { it?.context.insert(boat) }
        try it?.save()
        it?.manager.removeAllActions()
        it?.step { for boat in boats where boat.length % 3 == 0 { it?.context.delete(boat) } }
        try it?.save()
        it?.context.withoutUndo { it?.context.insert(Boat("new", 1000)) }
        try it?.undo()
        try it?.save()
        let before = try it.map { try all(Boat.self, $0).map { [$0.persistentModelID.description, $0.name] } }
        try it?.container.close()
        it = nil
        let again = try make(.json)
        let after = try all(Boat.self, again).map { [$0.persistentModelID.description, $0.name] }
        #expect(after == before && after.count == 201)
    }

    /// U18
    @Test(arguments: UndoPolicy.ForeignChange.allCases)
    func whatOthersHaveSavedSinceIsTreatedByThePolicy(_ policy: UndoPolicy.ForeignChange) throws {
        let it = try make()
        it.context.undoPolicy.onForeignChange = policy
        let boat = Boat("a", 1)
        it.context.insert(boat)
        try it.save()
        it.manager.removeAllActions()
        it.step {
            boat.name = "b"
            boat.length = 2
        }
        try it.save()
        let other = ModelContext(it.container)
        try onlyModel(Boat.self, in: other).name = "theirs"
        try other.save()
        switch policy {
        case .keepOthers:
            try it.undo()
            #expect(boat.name == "theirs" && boat.length == 1)
            #expect(it.context.lastUndo?.skipped.map(\.property) == ["name"])
            try it.redo()
            #expect(boat.name == "theirs" && boat.length == 2)
        case .restore:
            try it.undo()
            #expect(boat.name == "a" && boat.length == 1 && it.context.lastUndo?.skipped == [])
        case .refuse:
            #expect(throws: UndoError.self) { try it.undo() }
            #expect(boat.name == "theirs" && boat.length == 2 && it.manager.undoCount == 1)
            // Asked for by the manager, the next call that can throws it.
            it.manager.undo()
            #expect(throws: UndoError.self) { try it.save() }
            it.context.undoPolicy.onForeignChange = .keepOthers
            try it.undo()
            #expect(boat.length == 1)
        }
        try it.save()
    }

    /// U18: a value that others have changed and changed back.
    @Test func aSlotThatOthersHaveTouchedSinceTheLastLookIsTheirs() throws {
        let it = try make()
        let boat = Boat("a", 1)
        it.context.insert(boat)
        try it.save()
        it.manager.removeAllActions()
        it.step { boat.name = "b" }
        try it.save()
        let other = ModelContext(it.container)
        for name in ["c", "b"] {
            try onlyModel(Boat.self, in: other).name = name
            try other.save()
            try it.context.refresh()
        }
        try it.undo()
        #expect(boat.name == "b" && it.context.lastUndo?.skipped.count == 1)
    }

    /// Both sides of a relationship stay together.
    @Test(arguments: [UndoPolicy.ForeignChange.keepOthers, .restore])
    func aChildThatOthersHaveMovedIsNotTornApart(_ policy: UndoPolicy.ForeignChange) throws {
        let it = try make()
        it.context.undoPolicy.onForeignChange = policy
        let owners = ["a", "b", "c"].map { Owner($0) }
        let boat = Boat("boat", 1)
        owners[0].boats = [boat, Boat("stays", 2)]
        for owner in owners { it.context.insert(owner) }
        try it.save()
        it.manager.removeAllActions()
        it.step { boat.owner = owners[1] }
        try it.save()
        let other = ModelContext(it.container)
        let theirs = try #require(try other.fetch(FetchDescriptor<Boat>()).first { $0.name == "boat" })
        theirs.owner = try other.fetch(FetchDescriptor<Owner>()).first { $0.name == "c" }
        try other.save()
        try it.undo()
        let place = policy == .restore ? 0 : 2
        #expect(boat.owner === owners[place])
        for (number, owner) in owners.enumerated() {
            #expect(owner.boats.contains { $0 === boat } == (number == place))
        }
        try it.save()
        let stored = try all(Boat.self, it).first { $0.name == "boat" }
        #expect(stored?.owner?.name == owners[place].name)
    }

    /// U19
    @Test func whatOthersHaveDeletedIsPassedOver() throws {
        let it = try make()
        let (a, b) = (Owner("a"), Owner("b"))
        let (boat, gone) = (Boat("boat", 1), Boat("gone", 1))
        boat.owner = a
        for model in [a, b] { it.context.insert(model) }
        it.context.insert(gone)
        try it.save()
        it.manager.removeAllActions()
        it.step {
            boat.owner = b
            gone.length = 2
        }
        try it.save()
        let other = ModelContext(it.container)
        try other.delete(model: Owner.self, where: #Predicate { $0.name == "a" })
        try other.delete(model: Boat.self, where: #Predicate { $0.name == "gone" })
        try it.undo()
        #expect(boat.owner == nil && b.boats.isEmpty && gone.modelContext == nil && gone.length == 2)
        let reasons = Set(it.context.lastUndo?.skipped.map(\.reason) ?? [])
        #expect(reasons == [.deletedByOthers, .targetGone])
        try it.save()
        #expect(try all(Boat.self, it).count == 1)
    }

    /// U20
    @Test func anInsertionThatOthersHaveEditedIsKept() throws {
        let it = try make()
        let boat = Boat("mine", 1)
        it.step { it.context.insert(boat) }
        try it.save()
        let other = ModelContext(it.container)
        try onlyModel(Boat.self, in: other).length = 7
        try other.save()
        try it.undo()
        #expect(!boat.isDeleted && boat.length == 7)
        #expect(it.context.lastUndo?.skipped.map(\.reason) == [.changedByOthers])
        try it.save()
        #expect(try all(Boat.self, it).count == 1)
    }

    /// U21
    @Test func anUpsertIsUndoneToTheSurvivorAsItWas() throws {
        let it = try make()
        let old = Harbour("h")
        old.depth = 3
        it.context.insert(old)
        try it.save()
        it.manager.removeAllActions()
        let new = Harbour("h")
        new.depth = 9
        it.step { it.context.insert(new) }
        try it.save()
        #expect(old.depth == 9 && new.modelContext == nil)
        try it.undo()
        #expect(old.depth == 3 && new.modelContext == nil && it.context.insertedModelsArray.isEmpty)
        try it.save()
        #expect(try all(Harbour.self, it).map(\.depth) == [3])
        try it.redo()
        #expect(old.depth == 9)
    }

    /// U22
    @Test func aUniqueValueThatOthersHaveTakenIsNoUpsert() throws {
        let it = try make()
        let mine = Harbour("h")
        mine.depth = 3
        it.context.insert(mine)
        try it.save()
        it.manager.removeAllActions()
        it.step { it.context.delete(mine) }
        try it.save()
        let other = ModelContext(it.container)
        other.insert(Harbour("h"))
        try other.save()
        try it.undo()
        #expect(throws: ModelContextError.self) { try it.save() }
        #expect(try all(Harbour.self, it).map(\.depth) == [0])
        try it.redo()
        #expect(!it.context.hasChanges)
        try it.save()
    }

    /// U23
    @Test func aBatchBetweenTwoEditsIsAStepOfItsOwn() throws {
        let it = try make()
        let boats = (0..<4).map { Boat("\($0)", $0) }
        it.step { for boat in boats { it.context.insert(boat) } }
        try it.save()
        it.step { boats[0].length = 100 }
        try it.save()
        try it.context.update(Boat.self, where: #Predicate { $0.length < 3 }) { $0.set(\.name, to: "short") }
        try it.context.delete(model: Boat.self, where: #Predicate { $0.length == 3 })
        try it.context.insert(Boat.self, from: 7..<9) { boat, number in
            try boat.set(\.name, to: "batch")
            try boat.set(\.length, to: number)
        }
        #expect(!it.context.hasChanges && it.manager.undoCount == 5)
        func lengths() throws -> [Int] { try it.context.fetch(FetchDescriptor<Boat>()).map(\.length).sorted() }
        #expect(try lengths() == [1, 2, 7, 8, 100])
        try it.undo()
        #expect(try lengths() == [1, 2, 100])
        try it.undo()
        #expect(try lengths() == [1, 2, 3, 100] && boats[1].name == "short")
        try it.undo()
        #expect(boats.map(\.name) == ["0", "1", "2", "3"] && boats[0].length == 100)
        try it.undo()
        #expect(boats[0].length == 0)
        try it.save()
        #expect(try all(Boat.self, it).map(\.name).sorted() == ["0", "1", "2", "3"])
        for _ in 0..<4 { try it.redo() }
        try it.save()
        #expect(try all(Boat.self, it).map(\.length).sorted() == [1, 2, 7, 8, 100])
    }

    /// U23
    @Test func aBatchThatIsTooLargeIsABarrier() throws {
        let it = try make()
        for number in 0..<20 { it.context.insert(Boat("\(number)", number)) }
        try it.save()
        it.context.undoPolicy.memoryLimit = 5_000
        it.manager.removeAllActions()
        let boat = try #require(try it.context.fetch(FetchDescriptor<Boat>()).first)
        it.step { boat.length = 50 }
        try it.save()
        #expect(it.context.canUndo)
        try it.context.update(Boat.self) { $0.set(\.name, to: "all") }
        #expect(!it.context.canUndo && boat.name == "all")
        it.step { boat.name = "one" }
        try it.undo()
        #expect(boat.name == "all" && !it.context.canUndo)
    }

    /// A batch that fails leaves no step.
    @Test func aBatchThatFailsLeavesNoStep() throws {
        let it = try make()
        let harbours = ["a", "b"].map { Harbour($0) }
        for harbour in harbours { it.context.insert(harbour) }
        try it.save()
        it.manager.removeAllActions()
        #expect(throws: ModelContextError.self) {
            try it.context.update(Harbour.self) { $0.set(\.name, to: "same") }
        }
        #expect(!it.context.canUndo && harbours.map(\.name) == ["a", "b"])
        #expect(throws: ModelContextError.self) {
            try it.context.insert(Harbour.self, from: ["a"], onConflict: .fail) { harbour, name in
                try harbour.set(\.name, to: name)
            }
        }
        #expect(!it.context.canUndo)
    }

    /// U24
    @Test func aRollbackForgetsTheStepsOfItsContextAlone() throws {
        let it = try make()
        let boat = Boat("a", 1)
        it.context.insert(boat)
        try it.save()
        let other = ModelContext(it.container)
        other.undoManager = it.manager
        it.manager.removeAllActions()
        let theirs = try onlyModel(Boat.self, in: other)
        it.step { boat.length = 2 }
        it.step { theirs.name = "b" }
        it.step { boat.length = 3 }
        try it.undo()
        it.context.rollback()
        #expect(boat.length == 1 && it.manager.undoCount == 1 && it.manager.redoCount == 0)
        it.manager.undo()
        #expect(theirs.name == "a" && boat.length == 1)
    }

    /// U25
    @Test func aSaveThatFailsKeepsTheSteps() throws {
        let it = try make()
        let (one, two) = (Harbour("1"), Harbour("2"))
        it.context.insert(one)
        it.context.insert(two)
        try it.save()
        it.manager.removeAllActions()
        it.step { two.name = "1" }
        #expect(throws: ModelContextError.self) { try it.save() }
        #expect(it.manager.undoCount == 1)
        try it.undo()
        #expect(two.name == "2" && !it.context.hasChanges)
        it.step {
            one.name = "x"
            two.name = "1"
        }
        try it.save()
        it.step { one.name = "y" }
        it.context.withoutUndo { two.name = "x" }
        try it.undo()
        // "x" is now the name of both: the state before cannot be stored.
        #expect(throws: ModelContextError.self) { try it.save() }
        try it.redo()
        try it.save()
        #expect(Set(try all(Harbour.self, it).map(\.name)) == ["x", "y"])
    }

    /// U26
    @Test func undoWithinASavesNotificationsIsPartOfItOrPendingAfterIt() throws {
        let it = try make()
        let boat = Boat("a", 1)
        it.context.insert(boat)
        try it.save()
        it.manager.removeAllActions()
        it.step { boat.name = "b" }
        it.step { boat.length = 2 }
        nonisolated(unsafe) let context = it.context
        func during(_ name: Notification.Name, _ body: () throws -> Void) rethrows {
            let token = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { _ in
                do { try context.undo() } catch { Issue.record("\(error)") }
            }
            defer { NotificationCenter.default.removeObserver(token) }
            try body()
        }
        try during(ModelContext.willSave) { try it.save() }
        #expect(try all(Boat.self, it).map(\.length) == [1] && all(Boat.self, it).map(\.name) == ["b"])
        it.step { boat.length = 3 }
        try during(ModelContext.didSave) { try it.save() }
        #expect(try all(Boat.self, it).map(\.length) == [3] && boat.length == 1 && it.context.hasChanges)
    }

    /// U30
    @Test func aClosedContainerUndoesNothing() throws {
        let it = try make()
        let boat = Boat("a", 1)
        it.context.insert(boat)
        try it.save()
        it.step { boat.name = "b" }
        try it.save()
        try it.container.close()
        #expect(throws: ModelContextError.self) { try it.undo() }
        it.manager.undo()
    }

    /// U32
    @Test(arguments: Store.allCases) func allIsUndoneAndRedoneOverManySaves(_ store: Store) throws {
        let it = try make(store)
        var generator = SeededGenerator(seed: testSeed())
        var boats: [Boat] = []
        for round in 0..<50 {
            it.step {
                let boat = Boat("\(round)", round)
                it.context.insert(boat)
                boats.append(boat)
                generator.pick(boats).length += 100
                if generator.chance(4) { it.context.delete(boats.remove(at: generator.below(boats.count))) }
            }
            try it.save()
        }
        func state() throws -> [String] { try all(Boat.self, it).map { "\($0.name) \($0.length)" }.sorted() }
        let end = try state()
        for _ in 0..<50 {
            try it.undo()
            if generator.chance(3) { try it.save() }
        }
        try it.save()
        #expect(try state() == [] && !it.context.canUndo)
        for _ in 0..<50 {
            try it.redo()
            if generator.chance(3) { try it.save() }
        }
        try it.save()
        #expect(try state() == end && !it.context.canRedo)
    }
}
