import Foundation
import Mortise
import PackageTestSupport
import Testing

@testable import MortiseCore

/// Random programs of undo and redo.
@Suite struct UndoProgramTests {
    private static let count = isFullSize ? 400 : 40

    private func run(_ seed: UInt64, saves: Bool, steps: Int, _ container: ModelContainer) throws {
        var program = UndoProgram(seed: seed, in: container, saves: saves)
        do { try program.run(steps: steps) } catch { Issue.record("\(error)") }
    }

    @Test func undoLeadsToEveryStateBeforeAndRedoBackWithoutSaves() throws {
        let seed = testSeed()
        for round in 0..<Self.count {
            let container = try ModelContainer(
                for: Schema(UndoProgram.types), configurations: [InMemoryConfiguration()])
            try run(seed &+ UInt64(round), saves: false, steps: 30 + round, container)
        }
    }

    @Test func undoLeadsToEveryStateBeforeAndRedoBackAcrossSaves() throws {
        let seed = testSeed()
        for round in 0..<Self.count {
            let container = try ModelContainer(
                for: Schema(UndoProgram.types), configurations: [InMemoryConfiguration()])
            try run(seed &+ UInt64(round), saves: true, steps: 30 + round, container)
        }
    }

    /// A store that gives records that come back new identifiers.
    @Test func undoAcrossSavesNeedsNoIdentifiersToComeBack() throws {
        let seed = testSeed()
        let folder = try Folder()
        for round in 0..<(Self.count / 4) {
            let container = try ModelContainer(
                for: Schema(UndoProgram.types),
                configurations: [AppendLogConfiguration(path: folder.path("\(round).log"))])
            try run(seed &+ UInt64(round), saves: true, steps: 30 + round, container)
            try container.close()
        }
    }

    /// A lamp that a step linked and then deleted came back linked: the value to go back to was dropped, as if nothing had changed.
    @Test(arguments: [false, true]) func aModelThatAStepHasLinkedAndDeletedComesBackAsItWasBefore(isStored: Bool) throws
    {
        let it = Undoable(
            try ModelContainer(for: Schema(UndoProgram.types), configurations: [InMemoryConfiguration()]))
        let (shelf, lamp, book, tag) = (UndoShelf(1), UndoLamp(2), UndoBook(3), UndoTag(4))
        for model in [shelf, lamp, book, tag] as [any PersistentModel] { it.context.insert(model) }
        if isStored { try it.save() }
        it.manager.removeAllActions()
        it.step {
            shelf.lamp = lamp
            shelf.books = [book]
            book.tags = [tag]
            it.context.delete(lamp)
            it.context.delete(book)
        }
        try it.undo()
        #expect(shelf.lamp == nil && lamp.shelf == nil && lamp.modelContext === it.context && !lamp.isDeleted)
        #expect(shelf.books.isEmpty && book.shelf == nil && book.tags.isEmpty && tag.books.isEmpty)
        try it.redo()
        #expect(shelf.lamp == nil && shelf.books.isEmpty && tag.books.isEmpty)
        try it.undo()
        #expect(shelf.lamp == nil && book.shelf == nil && book.tags.isEmpty)
        try it.save()
        #expect(try it.isStored(UndoLamp.self, 1) && it.isStored(UndoBook.self, 1))
    }

    /// A list that lost members before its owner was deleted has its order again.
    @Test func anOwnerThatComesBackHasItsMembersInOrder() throws {
        let it = Undoable(
            try ModelContainer(for: Schema(UndoProgram.types), configurations: [InMemoryConfiguration()]))
        let (shelf, other, books) = (UndoShelf(1), UndoShelf(2), (3..<7).map { UndoBook($0) })
        it.context.insert(shelf)
        it.context.insert(other)
        shelf.books = books
        it.manager.removeAllActions()
        it.step {
            books[0].shelf = other
            books[2].shelf = other
            it.context.delete(shelf)
            it.context.delete(other)
        }
        try it.undo()
        #expect(shelf.books.map(\.number) == [3, 4, 5, 6] && other.books.isEmpty)
    }

    /// Values that another context changes in between, against a list of old and new values.
    @Test func valuesThatOthersHaveChangedStayAsAReferenceSays() throws {
        let seed = testSeed()
        for round in 0..<Self.count {
            let container = try ModelContainer(
                for: Schema(UndoProgram.types), configurations: [InMemoryConfiguration()])
            try compare(seed &+ UInt64(round), container)
        }
    }

    private func compare(_ seed: UInt64, _ container: ModelContainer) throws {
        typealias Change = (place: Int, old: String, new: String, serial: Int)
        var generator = SeededGenerator(seed: seed)
        let it = Undoable(container)
        let tags = (0..<5).map { UndoTag($0) }
        for tag in tags { it.context.insert(tag) }
        try it.save()
        it.manager.removeAllActions()
        let other = ModelContext(container)
        var values = tags.map(\.name)
        // When others changed each of them last: an undo of what is older leaves it.
        var touched = Array(repeating: -1, count: tags.count)
        var serial = 0
        var (undo, redo): ([[Change]], [[Change]]) = ([], [])
        func apply(_ step: [Change]) -> [Change] {
            serial += 1
            return step.compactMap { change in
                let now = values[change.place]
                guard now != change.old, now == change.new, touched[change.place] < change.serial else { return nil }
                values[change.place] = change.old
                return (change.place, now, change.old, serial)
            }
        }
        for number in 0..<120 {
            switch generator.below(8) {
            case 0..<3:
                serial += 1
                var step: [Change] = []
                it.step {
                    for place in Set((0...generator.below(3)).map { _ in generator.below(tags.count) }) {
                        let new = "\(generator.below(4))"
                        if new == values[place] { continue }
                        step.append((place, values[place], new, serial))
                        values[place] = new
                        tags[place].name = new
                    }
                }
                if step.isEmpty { continue }
                undo.append(step)
                redo = []
            case 3, 4:
                guard let step = undo.popLast() else { continue }
                let back = apply(step)
                try it.undo()
                if !back.isEmpty { redo.append(back) }
            case 5:
                guard let step = redo.popLast() else { continue }
                let back = apply(step)
                try it.redo()
                if !back.isEmpty { undo.append(back) }
            default:
                // All is saved first, so that nothing is merged.
                try it.save()
                let place = generator.below(tags.count)
                let theirs = try other.fetch(FetchDescriptor<UndoTag>(sortBy: [SortDescriptor(\.number)]))[place]
                let new = "\(generator.below(4))"
                if theirs.name == new { continue }
                theirs.name = new
                try other.save()
                try it.context.refresh()
                values[place] = new
                touched[place] = serial
            }
            #expect(tags.map(\.name) == values, "seed \(seed), step \(number)")
            #expect(
                it.manager.undoCount == undo.count && it.manager.redoCount == redo.count, "seed \(seed), step \(number)"
            )
        }
    }
}
