import Foundation
import Mortise
import Testing

/// Has a list, and leads to one, of which the other side knows nothing.
@Model
private final class Shelf {
    var name: String
    var books: [Book] = []
    var favourite: Book?
    init(_ name: String) { self.name = name }
}

@Model
private final class Book {
    var title: String
    init(_ title: String) { self.title = title }
}

/// Requires a book that does not know of it.
@Model
private final class Bookmark {
    var page: Int
    var book: Book
    init(_ page: Int, _ book: Book) {
        self.page = page
        self.book = book
    }
}

/// Deletes two related models and inserts them again, in every order and with the delete rules followed in between or not.
///
/// Both are there again at the end, and what they were to each other is back, except where one had to come back without the
/// other. Then neither has the other.
@Suite struct ReinsertionOrderTests {
    enum Step: CaseIterable { case deleteFirst, deleteSecond, process, insertFirst, insertSecond }

    /// Two models and the relationship that leads from the first to the second.
    struct Pair {
        let first: any PersistentModel
        let second: any PersistentModel
        let relate: () -> Void
    }

    /// A kind of relationship.
    struct Shape: Sendable, CustomTestStringConvertible {
        let name: String
        var isRequired = false
        /// Whether the deletion of the second takes the first.
        var isOwned = false
        let make: @Sendable () -> Pair
        let firstHasSecond: @Sendable (any PersistentModel, any PersistentModel) -> Bool
        /// Nil where the second does not know of the first.
        let secondHasFirst: (@Sendable (any PersistentModel, any PersistentModel) -> Bool)?
        var testDescription: String { name }

        init<First: PersistentModel, Second: PersistentModel>(
            _ name: String, _: First.Type, _: Second.Type, _ make: @escaping @Sendable () -> (First, Second),
            relate: @escaping @Sendable (First, Second) -> Void, seconds: @escaping @Sendable (First) -> [Second],
            firsts: (@Sendable (Second) -> [First])? = nil
        ) {
            self.name = name
            self.make = {
                let (first, second) = make()
                return Pair(first: first, second: second) { relate(first, second) }
            }
            firstHasSecond = { (first: any PersistentModel, second: any PersistentModel) -> Bool in
                guard let first = first as? First else { return false }
                return seconds(first).contains { $0.persistentModelID == second.persistentModelID }
            }
            guard let firsts else {
                secondHasFirst = nil
                return
            }
            secondHasFirst = { (first: any PersistentModel, second: any PersistentModel) -> Bool in
                guard let second = second as? Second else { return false }
                return firsts(second).contains { $0.persistentModelID == first.persistentModelID }
            }
        }

        func required() -> Shape {
            var shape = self
            shape.isRequired = true
            return shape
        }
        func owned() -> Shape {
            var shape = self
            shape.isOwned = true
            return shape
        }
    }

    private static func list<T>(_ model: T?) -> [T] { model.map { [$0] } ?? [] }

    static let shapes: [Shape] = nullified + owned + refused + oneWay

    private static let nullified: [Shape] = [
        Shape("optional", Poster.self, House.self, { (Poster(title: "p"), House(name: "h")) }) {
            $0.house = $1
        } seconds: {
            list($0.house)
        } firsts: {
            $0.posters
        },
        Shape("required", Room.self, House.self, { (Room(name: "r", house: House(name: "-")), House(name: "h")) }) {
            $0.house = $1
        } seconds: {
            [$0.house]
        } firsts: {
            $0.rooms
        }.required(),
        Shape("one to one", Key.self, House.self, { (Key(number: 1), House(name: "h")) }) {
            $0.house = $1
        } seconds: {
            list($0.house)
        } firsts: {
            list($0.key)
        },
        Shape("many to many", Node.self, Node.self, { (Node("a"), Node("b")) }) {
            $0.heroes = [$1]
        } seconds: {
            $0.heroes
        } firsts: {
            $0.admirers
        },
    ]

    private static let owned: [Shape] = [
        Shape("owned", Node.self, Node.self, { (Node("a"), Node("b")) }) {
            $0.parent = $1
        } seconds: {
            list($0.parent)
        } firsts: {
            $0.children
        }.owned(),
        Shape("owned, required", Lamp.self, House.self, { (Lamp(watts: 1, house: House(name: "-")), House(name: "h")) })
        {
            $0.house = $1
        } seconds: {
            [$0.house]
        } firsts: {
            $0.lamps ?? []
        }.required().owned(),
        Shape("owned, one to one", Seal.self, Guild.self, { (Seal("s"), Guild("g")) }) {
            $0.guild = $1
        } seconds: {
            list($0.guild)
        } firsts: {
            list($0.seal)
        }.owned(),
        Shape("owned, many to many", Fair.self, Guild.self, { (Fair("f"), Guild("g")) }) {
            $0.guilds = [$1]
        } seconds: {
            $0.guilds
        } firsts: {
            $0.fairs
        }.owned(),
    ]

    private static let refused: [Shape] = [
        Shape("denied", Debt.self, Guild.self, { (Debt("d"), Guild("g")) }) {
            $0.guild = $1
        } seconds: {
            list($0.guild)
        } firsts: {
            $0.debts
        },
        Shape("denied, many to many", Court.self, Guild.self, { (Court("c"), Guild("g")) }) {
            $0.guilds = [$1]
        } seconds: {
            $0.guilds
        } firsts: {
            $0.courts
        },
        Shape("no action", Notice.self, Guild.self, { (Notice("n"), Guild("g")) }) {
            $0.guild = $1
        } seconds: {
            list($0.guild)
        } firsts: {
            $0.notices
        },
    ]

    private static let oneWay: [Shape] = [
        Shape("one way", Shelf.self, Book.self, { (Shelf("s"), Book("b")) }) {
            $0.favourite = $1
        } seconds: {
            list($0.favourite)
        },
        Shape("one way to many", Shelf.self, Book.self, { (Shelf("s"), Book("b")) }) {
            $0.books = [$1]
        } seconds: {
            $0.books
        },
        Shape("one way, required", Bookmark.self, Book.self, { (Bookmark(1, Book("-")), Book("b")) }) {
            $0.book = $1
        } seconds: {
            [$0.book]
        }.required(),
    ]

    /// What is saved before the program: of the models, and of their relationship.
    struct Saved: Sendable, CaseIterable {
        let first: Bool
        let second: Bool
        let relationship: Bool
        static let allCases = [
            Saved(first: false, second: false, relationship: false),
            Saved(first: true, second: false, relationship: false),
            Saved(first: false, second: true, relationship: false),
            Saved(first: true, second: true, relationship: false),
            Saved(first: true, second: true, relationship: true),
        ]
    }

    /// What a program leaves of a relationship.
    enum Outcome {
        case related
        /// One came back alone, from a parent whose deletion would take it again.
        case parted
        /// One that nobody has saved came back alone after its deletion was complete: it is a new record, and whether the other
        /// finds it again depends on who was deleted first. The two sides agree.
        case either
    }

    /// All programs that delete one or both of the models, and end with both inserted again.
    static let programs: [[Step]] = {
        var found: [[Step]] = []
        func extend(_ program: [Step]) {
            let isDone = [(Step.deleteFirst, Step.insertFirst), (.deleteSecond, .insertSecond)].allSatisfy {
                !program.contains($0) || program.contains($1)
            }
            if isDone, let last = program.last, last != .process { found.append(program) }
            for step in Step.allCases where step == .process ? program.last != step : !program.contains(step) {
                // Insertion is no news before anything was deleted, nor is a deletion after the last insertion.
                switch step {
                case .process, .insertFirst, .insertSecond: if program.isEmpty { continue }
                case .deleteFirst: if program.contains(.insertFirst) { continue }
                case .deleteSecond: if program.contains(.insertSecond) { continue }
                }
                extend(program + [step])
            }
        }
        extend([])
        return found
    }()

    @Test(arguments: shapes, Saved.allCases) func whatTwoModelsWereToEachOtherIsBack(_ shape: Shape, _ saved: Saved)
        throws
    {
        let container = try memory(
            House.self, Node.self, Guild.self, Shelf.self, Book.self, Bookmark.self)
        for program in Self.programs {
            let context = ModelContext(container)
            let pair = shape.make()
            if saved.relationship { pair.relate() }
            if saved.first { insert(pair.first, into: context) }
            if saved.second { insert(pair.second, into: context) }
            try context.save()
            if !saved.relationship { pair.relate() }
            insert(pair.first, into: context)
            insert(pair.second, into: context)
            var outcome = Outcome.related
            for step in program {
                let wereGone = (pair.first.modelContext == nil, pair.second.modelContext == nil)
                let wereDeleted = (pair.first.isDeleted, pair.second.isDeleted)
                switch step {
                case .deleteFirst: delete(pair.first, from: context)
                case .deleteSecond: delete(pair.second, from: context)
                case .process: context.processPendingChanges()
                case .insertFirst:
                    insert(pair.first, into: context)
                    guard wereDeleted.0, pair.second.isDeleted else { continue }
                    if wereGone.0 || (shape.isOwned && wereGone.1) {
                        outcome = .either
                    } else if shape.isOwned {
                        outcome = .parted
                    }
                case .insertSecond:
                    insert(pair.second, into: context)
                    if wereGone.1, pair.first.isDeleted, shape.secondHasFirst != nil { outcome = .either }
                }
            }
            let comment = Comment(rawValue: "\(shape.name), \(saved), \(program)")
            try check(pair, shape, outcome, isSaved: saved.relationship, comment, context)
        }
    }

    private func check(
        _ pair: Pair, _ shape: Shape, _ outcome: Outcome, isSaved: Bool, _ comment: Comment, _ context: ModelContext
    ) throws {
        var isRelated = outcome == .related
        if outcome == .either,
            let secondHasFirst = shape.secondHasFirst ?? (shape.isRequired ? nil : shape.firstHasSecond)
        {
            isRelated = secondHasFirst(pair.first, pair.second)
        }
        // Before and after the rules are followed.
        for _ in 0..<2 {
            #expect(!pair.first.isDeleted && !pair.second.isDeleted, comment)
            #expect(pair.first.modelContext === context && pair.second.modelContext === context, comment)
            // A required property that has lost its model shows it still.
            if isRelated || !shape.isRequired {
                #expect(shape.firstHasSecond(pair.first, pair.second) == isRelated, comment)
            }
            #expect(shape.secondHasFirst.map { $0(pair.first, pair.second) == isRelated } ?? true, comment)
            context.processPendingChanges()
        }
        if isSaved, isRelated { #expect(!context.hasChanges, comment) }
        guard isRelated || !shape.isRequired else {
            #expect(throws: ModelValidationError.self, comment) { try context.save() }
            return
        }
        try context.save()
        let other = ModelContext(context.container)
        let first = other.model(for: pair.first.persistentModelID)
        let second = other.model(for: pair.second.persistentModelID)
        #expect(!first.isDeleted && !second.isDeleted, comment)
        #expect(shape.firstHasSecond(first, second) == isRelated, comment)
        #expect(shape.secondHasFirst.map { $0(first, second) == isRelated } ?? true, comment)
    }
}
