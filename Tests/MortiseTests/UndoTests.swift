import Foundation
import Mortise
import Observation
import Testing

@testable import MortiseCore

/// A context whose changes are recorded, one step for each group by hand.
struct Undoable {
    let container: ModelContainer
    let context: ModelContext
    let manager = UndoManager()

    init(_ container: ModelContainer) {
        self.container = container
        context = ModelContext(container)
        manager.groupsByEvent = false
        context.undoManager = manager
    }

    @discardableResult
    func step<R>(_ body: () throws -> R) rethrows -> R { try context.withUndoGroup(nil, body) }
    func save() throws { try context.save() }
    func undo() throws { try context.undo() }
    func redo() throws { try context.redo() }
    func isStored<T: PersistentModel>(_ type: T.Type, _ count: Int) throws -> Bool {
        try ModelContext(container).fetchCount(FetchDescriptor<T>()) == count
    }
}

/// Undo of changes that were not saved in between.
@Suite struct UndoTests {
    let it: Undoable
    var context: ModelContext { it.context }

    init() throws { it = Undoable(try householdContainer()) }

    private func saved<T: PersistentModel>(_ model: T) throws -> T {
        it.context.insert(model)
        try it.context.save()
        it.manager.removeAllActions()
        return model
    }

    /// U1
    @Test func aValueComesBackAndNothingIsLeftToSave() throws {
        let house = try saved(House(name: "a"))
        it.step { house.name = "b" }
        #expect(context.hasChanges && context.canUndo && !context.canRedo)
        let told = Tally()
        withObservationTracking {
            _ = house.name
        } onChange: {
            told.add()
        }
        try it.undo()
        #expect(house.name == "a" && !context.hasChanges && told.count == 1 && context.canRedo)
        #expect(context.lastUndo?.restored == [house.persistentModelID] && context.lastUndo?.skipped == [])
        try it.redo()
        #expect(house.name == "b" && context.hasChanges)
        try it.save()
        try it.undo()
        #expect(house.name == "a" && context.hasChanges)
        try it.save()
        #expect(try ModelContext(it.container).fetch(FetchDescriptor<House>()).map(\.name) == ["a"])
    }

    /// U2
    @Test func theFirstOldValueOfAGroupCountsAndNoneThatIsBackIsAStep() throws {
        let house = try saved(House(name: "a"))
        it.step {
            house.name = "b"
            house.name = "c"
        }
        #expect(it.manager.undoCount == 1)
        try it.undo()
        #expect(house.name == "a")
        it.step {
            house.name = "x"
            house.name = "a"
        }
        #expect(it.manager.undoCount == 0 && !context.canUndo)
    }

    @Test func aLongGroupOfManySetsIsOneValue() throws {
        let house = try saved(House(name: "a"))
        it.step { for number in 0..<5000 { house.name = "\(number)" } }
        try it.undo()
        #expect(house.name == "a" && !context.hasChanges)
        try it.redo()
        #expect(house.name == "4999")
    }

    /// Bug: of a step of more than 1,023 changes, all others were forgotten, and each of them cost as much as all before.
    @Test func aStepOfManyModelsIsUndoneWhole() throws {
        let houses = (0..<3000).map { House(name: "\($0)") }
        for house in houses { context.insert(house) }
        try it.save()
        it.manager.removeAllActions()
        it.step { for house in houses { house.name += "!" } }
        try it.undo()
        #expect(houses.allSatisfy { !$0.name.hasSuffix("!") } && !context.hasChanges)
        try it.redo()
        #expect(houses.allSatisfy { $0.name.hasSuffix("!") })
    }

    /// U12
    @Test func anInsertionIsUndoneAndRedoneWithTheSameObjectAndIdentifier() throws {
        let house = House(name: "a")
        it.step { context.insert(house) }
        let identifier = house.persistentModelID
        try it.undo()
        #expect(house.modelContext == nil && !context.hasChanges && house.name == "a" && !house.isDeleted)
        #expect(house.persistentModelID == identifier)
        try it.redo()
        #expect(house.modelContext === context && house.persistentModelID == identifier)
        #expect(context.insertedModelsArray.count == 1)
        try it.save()
        #expect(try it.isStored(House.self, 1))
    }

    @Test func whatCameAndWentInOneGroupIsNoStep() throws {
        let parent = try saved(Node("p"))
        it.step {
            let child = Node("c", parent: parent)
            context.insert(child)
            child.name = "d"
            context.delete(child)
        }
        #expect(it.manager.undoCount == 0 && parent.children.isEmpty)
    }

    /// U14: a cascade, a list that lets go, and many to many; undone by rules again, the children would go twice.
    @Test func aDeletionComesBackWithAllThatRulesTookAlong() throws {
        let root = try saved(Node("root"))
        let (one, two, fan) = (Node("1", parent: root), Node("2", parent: root), Node("fan"))
        let leaf = Node("leaf", parent: one)
        one.heroes = [fan, two]
        root.next = two
        for model in [one, two, fan, leaf] { context.insert(model) }
        try it.save()
        it.manager.removeAllActions()
        it.step { context.delete(root) }
        #expect(root.isDeleted && one.isDeleted && leaf.isDeleted && !fan.isDeleted && fan.admirers.isEmpty)
        for _ in 0..<3 {
            try it.undo()
            #expect(!context.hasChanges)
            #expect(Set(root.children.map(\.name)) == ["1", "2"] && leaf.parent === one && one.parent === root)
            #expect(Set(one.heroes.map(\.name)) == ["fan", "2"] && fan.admirers.map(\.name) == ["1"])
            #expect(two.admirers.map(\.name) == ["1"] && root.next === two)
            try it.redo()
            #expect(root.isDeleted && leaf.isDeleted && fan.admirers.isEmpty)
        }
        try it.save()
        #expect(try it.isStored(Node.self, 1))
    }

    @Test func aRuleThatIsFollowedLaterBelongsToItsDeletion() throws {
        let house = try saved(House(name: "h"))
        let poster = Poster(title: "p")
        poster.house = house
        try it.save()
        it.manager.removeAllActions()
        it.step { context.delete(house) }
        it.step { poster.title = "q" }
        #expect(poster.house == nil)
        try it.undo()
        #expect(poster.title == "p" && poster.house == nil)
        try it.undo()
        #expect(poster.house === house && !context.hasChanges && house.posters.count == 1)
    }

    /// U16
    @Test func aMovedChildIsBackOnBothSides() throws {
        let (a, b) = (try saved(House(name: "a")), try saved(House(name: "b")))
        let poster = Poster(title: "p")
        poster.house = a
        try it.save()
        it.manager.removeAllActions()
        it.step { poster.house = b }
        #expect(a.posters.isEmpty && b.posters.count == 1)
        try it.undo()
        #expect(a.posters.map(\.title) == ["p"] && b.posters.isEmpty && poster.house === a && !context.hasChanges)
        try it.redo()
        #expect(a.posters.isEmpty && b.posters.map(\.title) == ["p"] && poster.house === b)
        it.step { a.posters = [poster] }
        try it.undo()
        #expect(poster.house === b && a.posters.isEmpty && b.posters.count == 1)
    }

    /// A relationship of one to one, whose former partners come back.
    @Test func partnersThatLostEachOtherFindEachOtherAgain() throws {
        let (a, b) = (try saved(House(name: "a")), try saved(House(name: "b")))
        let (one, two) = (Key(number: 1), Key(number: 2))
        (a.key, b.key) = (one, two)
        try it.save()
        it.manager.removeAllActions()
        it.step { a.key = two }
        #expect(b.key == nil && one.house == nil)
        try it.undo()
        #expect(a.key === one && b.key === two && one.house === a && two.house === b && !context.hasChanges)
        try it.redo()
        #expect(a.key === two && b.key == nil && one.house == nil && two.house === a)
    }

    /// U17
    @Test func aListOfNewModelsHasItsOrderAgain() throws {
        let house = House(name: "h")
        let posters = (0..<6).map { Poster(title: "\($0)") }
        it.step {
            context.insert(house)
            house.posters = Array(posters[..<4])
        }
        func titles() -> String { house.posters.map(\.title).joined() }
        it.step { house.posters = [posters[4], posters[0], posters[0], posters[2]] }
        let replaced = titles()
        it.step { house.posters.remove(at: 0) }
        let removed = titles()
        it.step { house.posters = [posters[5]] }
        try it.undo()
        #expect(titles() == removed)
        try it.undo()
        #expect(titles() == replaced)
        try it.undo()
        #expect(titles() == "0123")
        try it.redo()
        try it.redo()
        #expect(titles() == removed)
        try it.redo()
        #expect(titles() == "5" && posters[5].house === house && posters[0].house == nil)
    }

    /// A member that came and went, with a list of new members whose order it was part of. It once left a step that did nothing.
    @Test func aMemberThatCameAndWentIsNoStep() throws {
        let house = House(name: "h")
        let (one, two) = (Poster(title: "1"), Poster(title: "2"))
        it.step {
            context.insert(house)
            house.posters = [one]
            context.insert(two)
        }
        it.step {
            two.house = house
            two.house = nil
        }
        #expect(it.manager.undoCount == 1)
    }

    /// U31
    @Test func settersAndInitializersDoNotRunAgain() throws {
        let it = Undoable(try memory(Gauge.self))
        let gauge = Gauge()
        it.context.insert(gauge)
        try it.save()
        it.manager.removeAllActions()
        it.step { gauge.level = 5 }
        let heralds = gauge.heralds
        try it.undo()
        #expect(gauge.level == 0 && gauge.heralds == heralds && gauge.echoes == [0])
    }

    @Test func ephemeralValuesComeBackToo() throws {
        let it = Undoable(try memory(Gauge.self))
        let gauge = Gauge()
        it.context.insert(gauge)
        try it.save()
        it.manager.removeAllActions()
        it.step { gauge.progress = 0.5 }
        try it.save()
        it.step { gauge.progress = 0.75 }
        try it.undo()
        #expect(gauge.progress == 0.5)
        try it.undo()
        #expect(gauge.progress == 0.25)
    }

    /// U6
    @Test func whatIsNotRecordedKeepsTheRedo() throws {
        let house = try saved(House(name: "a"))
        it.step { house.name = "b" }
        try it.undo()
        context.withoutUndo { context.insert(House(name: "other")) }
        #expect(context.canRedo)
        try it.redo()
        #expect(house.name == "b" && context.insertedModelsArray.count == 1)
    }

    /// U28
    @Test func whatIsChangedWithoutRecordingCountsAsForeign() throws {
        let house = try saved(House(name: "1"))
        it.step { house.name = "2" }
        context.withoutUndo { house.name = "3" }
        it.step { house.name = "4" }
        try it.undo()
        #expect(house.name == "3")
        try it.undo()
        #expect(house.name == "3" && context.lastUndo?.skipped.map(\.reason) == [.changedByOthers])
        #expect(context.lastUndo?.skipped.first?.property == "name")
    }

    @Test func anUnrecordedDeletionTakesItsConsequencesUnrecordedToo() throws {
        let house = try saved(House(name: "h"))
        let poster = Poster(title: "p")
        poster.house = house
        try it.save()
        it.manager.removeAllActions()
        it.step {
            context.withoutUndo { context.delete(house) }
            poster.title = "q"
        }
        try it.undo()
        #expect(poster.title == "p" && poster.house == nil && house.isDeleted)
    }

    @Test func aGroupThatThrowsIsKept() throws {
        struct Stop: Error {}
        let house = try saved(House(name: "a"))
        #expect(throws: Stop.self) {
            try context.withUndoGroup("Rename") {
                house.name = "b"
                throw Stop()
            }
        }
        #expect(it.manager.undoMenuItemTitle == "Undo Rename" && it.manager.groupingLevel == 0)
        try it.undo()
        #expect(house.name == "a")
    }

    /// U4, U11
    @Test func undoInsideAGroupOrAnUndoIsATypedError() throws {
        let house = try saved(House(name: "a"))
        it.manager.beginUndoGrouping()
        it.manager.beginUndoGrouping()
        house.name = "b"
        #expect(throws: UndoError.groupIsOpen(level: 2)) { try it.undo() }
        #expect(throws: UndoError.groupIsOpen(level: 2)) { try it.redo() }
        it.manager.endUndoGrouping()
        it.manager.endUndoGrouping()
        nonisolated(unsafe) let context = context
        let refusals = Tally()
        it.step {
            it.manager.registerUndo(withTarget: house) { _ in
                do { try context.undo() } catch UndoError.insideUndo { refusals.add() } catch {}
            }
        }
        try it.undo()
        #expect(refusals.count == 1 && house.name == "b")
    }

    @Test func nothingIsRecordedUnlessAskedAndAPolicyRecordsWithoutAManager() throws {
        let context = ModelContext(it.container)
        let house = House(name: "a")
        context.insert(house)
        #expect(!context.canUndo && context.lastUndo == nil)
        try context.undo()
        #expect(house.modelContext === context)
        context.undoPolicy.recordsWithoutManager = true
        context.withUndoGroup { house.name = "b" }
        context.withUndoGroup { house.name = "c" }
        try context.undo()
        #expect(house.name == "b")
        try context.undo()
        try context.redo()
        #expect(house.name == "b" && context.canRedo)
        context.undoPolicy.recordsWithoutManager = false
        #expect(!context.canUndo)
    }

    /// U27
    @Test func theOldestStepsGoBeyondTheMemoryLimit() throws {
        let it = Undoable(try memory(Node.self))
        let node = Node("")
        it.context.insert(node)
        try it.save()
        it.manager.removeAllActions()
        it.context.undoPolicy.memoryLimit = 1 << 20
        for number in 0..<100 { it.step { node.name = String(repeating: "\(number % 10)", count: 100_000) } }
        #expect((3...6).contains(it.manager.undoCount))
        let count = it.manager.undoCount
        for _ in 0..<count { try it.undo() }
        #expect(!it.context.canUndo && node.name.count == 100_000)
        #expect(node.name.first.map { "\($0)" } == "\((99 - count) % 10)")
    }

    /// U29
    @Test func twoContextsShareAManagerAndOneGoes() throws {
        let mine = try saved(House(name: "a"))
        var other: ModelContext? = ModelContext(it.container)
        weak let gone = other
        other?.undoManager = it.manager
        var poster: Poster? = Poster(title: "p")
        it.step {
            mine.name = "b"
            if let poster { other?.insert(poster) }
        }
        try it.undo()
        #expect(mine.name == "a" && poster?.modelContext == nil)
        try it.redo()
        #expect(mine.name == "b" && poster?.modelContext === other)
        weak let model = poster
        poster = nil
        other = nil
        #expect(gone == nil && model == nil)
        try it.undo()
        #expect(mine.name == "a")
    }

    /// U30
    @Test func aManagerIsExchangedInsideAGroup() throws {
        let house = try saved(House(name: "a"))
        it.manager.beginUndoGrouping()
        house.name = "b"
        let other = UndoManager()
        other.groupsByEvent = false
        context.undoManager = other
        #expect(!it.manager.canUndo)
        it.manager.endUndoGrouping()
        #expect(it.manager.undoCount == 0)
        context.withUndoGroup { house.name = "c" }
        context.undoManager = nil
        #expect(!other.canUndo)
        other.undo()
        #expect(house.name == "c")
    }

    /// The journal keeps what it needs, and nothing else: not the context, nor models of no step.
    @Test func modelsGoWithTheContextAndWithTheirSteps() throws {
        var house: House? = House(name: "a")
        weak let gone = house
        it.step { if let house { context.insert(house) } }
        try it.undo()
        house = nil
        #expect(gone != nil)
        it.manager.removeAllActions()
        // The next step forgets those that are gone.
        for _ in 0..<200 { it.step { context.insert(Poster(title: "p")) } }
        #expect(gone == nil)
    }

    /// U3
    @Test @MainActor func aJobIsOneStep() async throws {
        let container = try householdContainer()
        let context = ModelContext(container)
        let manager = UndoManager()
        context.undoManager = manager
        let house = House(name: "a")
        context.insert(house)
        house.name = "b"
        while manager.groupingLevel > 0 { await Task.yield() }
        house.name = "c"
        while manager.groupingLevel > 0 { await Task.yield() }
        #expect(manager.undoCount == 2)
        try context.undo()
        #expect(house.name == "b")
        try context.undo()
        #expect(house.modelContext == nil)
    }
}
