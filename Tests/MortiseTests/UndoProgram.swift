import Foundation
import Mortise
import PackageTestSupport

@Model final class UndoShelf {
    var name: String
    var number: Int
    var note: String?
    @Relationship(deleteRule: .cascade, inverse: \UndoBook.shelf) var books: [UndoBook] = []
    @Relationship(inverse: \UndoShelf.inner) var outer: UndoShelf?
    var inner: [UndoShelf] = []
    @Relationship(inverse: \UndoLamp.shelf) var lamp: UndoLamp?
    init(_ number: Int) {
        name = "s\(number)"
        self.number = number
    }
}

@Model final class UndoBook {
    var name: String
    var number: Int
    var note: String?
    var shelf: UndoShelf?
    @Relationship(inverse: \UndoTag.books) var tags: [UndoTag] = []
    init(_ number: Int) {
        name = "b\(number)"
        self.number = number
    }
}

@Model final class UndoTag {
    var name: String
    var number: Int
    var note: String?
    var books: [UndoBook] = []
    init(_ number: Int) {
        name = "t\(number)"
        self.number = number
    }
}

@Model final class UndoLamp {
    var name: String
    var number: Int
    var note: String?
    var shelf: UndoShelf?
    init(_ number: Int) {
        name = "l\(number)"
        self.number = number
    }
}

/// A random program of changes, saves, undo and redo in one context. What each state was is written down when it is reached, and
/// compared whenever an undo or redo leads back to it.
struct UndoProgram {
    struct Mismatch: Error, CustomStringConvertible {
        let description: String
    }

    struct Counts {
        var steps = 0
        var undone = 0
        var redone = 0
        var saves = 0
    }

    /// All that can be seen of the models, by the number of the model.
    typealias State = [Int: [String]]

    private let container: ModelContainer
    private let context: ModelContext
    private let manager = UndoManager()
    private var generator: SeededGenerator
    private let seed: UInt64
    private let saves: Bool
    private var shelves: [UndoShelf] = []
    private var books: [UndoBook] = []
    private var tags: [UndoTag] = []
    private var lamps: [UndoLamp] = []
    private var next = 0
    private var log: [String] = []
    private(set) var counts = Counts()

    /// - Parameter saves: whether the program saves in between. Without, the order of lists is compared as well.
    init(seed: UInt64, in container: ModelContainer, saves: Bool) {
        self.seed = seed
        self.container = container
        self.saves = saves
        generator = SeededGenerator(seed: seed)
        context = ModelContext(container)
        manager.groupsByEvent = false
        context.undoManager = manager
    }

    static var types: [any PersistentModel.Type] { [UndoShelf.self, UndoBook.self, UndoTag.self, UndoLamp.self] }

    /// - Throws: `Mismatch`, which names the seed and the operations; what the context throws.
    mutating func run(steps: Int) throws {
        // The states before each step that can be undone, and the one after all.
        var states = [state()]
        var place = 0
        for _ in 0..<steps {
            switch generator.below(10) {
            case 0..<6:
                let before = manager.undoCount
                try step()
                counts.steps += 1
                // What came to nothing is no step, and ends what could be redone all the same.
                if manager.undoCount == before, manager.redoCount > 0 { continue }
                states.removeSubrange((place + 1)...)
                if manager.undoCount == before { continue }
                states.append(state())
                place += 1
            case 6, 7:
                guard place > 0 else { continue }
                place -= 1
                try undo(to: states[place])
            case 8:
                guard place < states.count - 1 else { continue }
                place += 1
                try redo(to: states[place])
            default: try save()
            }
            try check(states[place], "after a step")
        }
        while place < states.count - 1 {
            place += 1
            try redo(to: states[place])
        }
        while place > 0 {
            place -= 1
            try undo(to: states[place])
            if generator.chance(4) { try save() }
        }
        try save()
        try checkStored(states[0])
        while place < states.count - 1 {
            place += 1
            try redo(to: states[place])
            if generator.chance(4) { try save() }
        }
        try save()
        try checkStored(states[place])
        if context.canRedo { throw mismatch("there is something left to redo") }
    }

    private mutating func undo(to wanted: State) throws {
        log.append("undo")
        counts.undone += 1
        try context.undo()
        try check(wanted, "after an undo")
        if let report = context.lastUndo, !report.skipped.isEmpty { throw mismatch("skipped \(report.skipped)") }
    }

    private mutating func redo(to wanted: State) throws {
        log.append("redo")
        counts.redone += 1
        try context.redo()
        try check(wanted, "after a redo")
    }

    private mutating func save() throws {
        guard saves else { return }
        log.append("save")
        counts.saves += 1
        try context.save()
        if context.hasChanges { throw mismatch("changes are left after a save") }
    }

    // MARK: Changes

    private mutating func step() throws {
        log.append("{")
        defer { log.append("}") }
        manager.beginUndoGrouping()
        for _ in 0...generator.below(4) { change() }
        if saves, generator.chance(12) { try save() }
        for _ in 0..<generator.below(2) { change() }
        manager.endUndoGrouping()
    }

    private func here<T: PersistentModel>(_ models: [T]) -> [T] {
        models.filter { $0.modelContext === context && !$0.isDeleted }
    }

    private mutating func pick<T: PersistentModel>(_ models: [T]) -> T? {
        let models = here(models)
        return models.isEmpty ? nil : generator.pick(models)
    }

    private mutating func note(_ text: String, _ models: [any PersistentModel]) {
        log.append("\(text) \(models.map { key(of: $0) })")
    }

    private mutating func change() {
        next += 1
        switch generator.below(20) {
        case 0:
            shelves.append(UndoShelf(next))
            note("insert shelf", [shelves[shelves.count - 1]])
            context.insert(shelves[shelves.count - 1])
        case 1, 2:
            let book = UndoBook(next)
            books.append(book)
            if let shelf = pick(shelves), generator.chance(2) {
                note("append book", [book, shelf])
                shelf.books.append(book)
            } else {
                note("insert book", [book])
                book.tags = here(tags).filter { _ in generator.chance(2) }
                context.insert(book)
            }
        case 3:
            tags.append(UndoTag(next))
            note("insert tag", [tags[tags.count - 1]])
            context.insert(tags[tags.count - 1])
        case 4:
            lamps.append(UndoLamp(next))
            note("insert lamp", [lamps[lamps.count - 1]])
            lamps[lamps.count - 1].shelf = pick(shelves)
            context.insert(lamps[lamps.count - 1])
        case 5: if let book = pick(books) { set(book, \.name, \.number, \.note) }
        case 6: if let shelf = pick(shelves) { set(shelf, \.name, \.number, \.note) }
        case 7: if let lamp = pick(lamps) { set(lamp, \.name, \.number, \.note) }
        case 8, 9:
            guard let book = pick(books) else { return }
            let shelf = generator.chance(4) ? nil : pick(shelves)
            note("move book", [book] + [shelf].compactMap { $0 })
            book.shelf = shelf
        case 10:
            guard let shelf = pick(shelves) else { return }
            let members = here(books).filter { _ in generator.chance(3) }.shuffled(using: &generator)
            note("set books", [shelf] + members)
            shelf.books = members
        case 11, 12:
            guard let book = pick(books) else { return }
            let members = here(tags).filter { _ in generator.chance(2) }
            note("set tags", [book] + members)
            book.tags = members
        case 13:
            guard let tag = pick(tags), let book = pick(books) else { return }
            note("toggle", [tag, book])
            if tag.books.contains(where: { $0 === book }) {
                tag.books.removeAll { $0 === book }
            } else {
                tag.books.append(book)
            }
        case 14:
            guard let shelf = pick(shelves) else { return }
            let outer = generator.chance(4) ? nil : pick(shelves)
            note("set outer", [shelf] + [outer].compactMap { $0 })
            shelf.outer = outer
        case 15, 16:
            guard let shelf = pick(shelves) else { return }
            let lamp = generator.chance(3) ? nil : pick(lamps)
            note("set lamp", [shelf] + [lamp].compactMap { $0 })
            shelf.lamp = lamp
        case 17: delete(pick(books))
        case 18: if generator.chance(2) { delete(pick(shelves)) } else { delete(pick(tags)) }
        default: delete(pick(lamps))
        }
        if generator.chance(3) { context.processPendingChanges() }
    }

    private mutating func set<T: PersistentModel>(
        _ model: T, _ name: ReferenceWritableKeyPath<T, String>, _ number: ReferenceWritableKeyPath<T, Int>,
        _ note: ReferenceWritableKeyPath<T, String?>
    ) {
        self.note("set", [model])
        switch generator.below(3) {
        case 0: model[keyPath: name] = "\(model[keyPath: number]) \(generator.below(3))"
        case 1: model[keyPath: note] = generator.chance(3) ? nil : "\(generator.below(3))"
        default: model[keyPath: name] += "!"
        }
    }

    private mutating func delete<T: PersistentModel>(_ model: T?) {
        guard let model else { return }
        note("delete", [model])
        context.delete(model)
    }

    // MARK: States

    /// A number that each model keeps: the one that it was made with.
    private func key(of model: any PersistentModel) -> Int {
        switch model {
        case let shelf as UndoShelf: shelf.number
        case let book as UndoBook: book.number
        case let tag as UndoTag: tag.number
        case let lamp as UndoLamp: lamp.number
        default: -1
        }
    }

    private func keys(_ models: [any PersistentModel]) -> String {
        let keys = models.map { key(of: $0) }
        return "\(saves ? keys.sorted() : keys)"
    }

    private func state() -> State {
        context.processPendingChanges()
        return Self.state(here(shelves), here(books), here(tags), here(lamps), keys)
    }

    private static func state(
        _ shelves: [UndoShelf], _ books: [UndoBook], _ tags: [UndoTag], _ lamps: [UndoLamp],
        _ keys: ([any PersistentModel]) -> String
    ) -> State {
        var state: State = [:]
        func one(_ model: (any PersistentModel)?) -> String { keys([model].compactMap { $0 }) }
        for shelf in shelves {
            state[shelf.number] = [
                shelf.name, shelf.note ?? "-", keys(shelf.books), one(shelf.outer), keys(shelf.inner), one(shelf.lamp),
            ]
        }
        for book in books {
            state[book.number] = [book.name, book.note ?? "-", one(book.shelf), keys(book.tags)]
        }
        for tag in tags { state[tag.number] = [tag.name, tag.note ?? "-", keys(tag.books)] }
        for lamp in lamps { state[lamp.number] = [lamp.name, lamp.note ?? "-", one(lamp.shelf)] }
        return state
    }

    private func check(_ wanted: State, _ place: String) throws {
        let found = state()
        if found != wanted { throw mismatch("\(place): \(Self.difference(found, wanted))") }
    }

    /// What is stored, read by another context, and what the models show.
    private func checkStored(_ wanted: State) throws {
        guard saves else { return }
        let other = ModelContext(container)
        let found = Self.state(
            try other.fetch(FetchDescriptor<UndoShelf>()), try other.fetch(FetchDescriptor<UndoBook>()),
            try other.fetch(FetchDescriptor<UndoTag>()), try other.fetch(FetchDescriptor<UndoLamp>()), keys)
        if found != wanted { throw mismatch("stored: \(Self.difference(found, wanted))") }
    }

    private static func difference(_ found: State, _ wanted: State) -> String {
        Set(found.keys).union(wanted.keys).sorted().filter { found[$0] != wanted[$0] }
            .map { "\($0): expected \(wanted[$0] ?? []), found \(found[$0] ?? [])" }.joined(separator: "; ")
    }

    private func mismatch(_ text: String) -> Mismatch {
        Mismatch(description: "seed \(seed), saves \(saves): \(text)\n\(log.suffix(60).joined(separator: "\n"))")
    }
}
