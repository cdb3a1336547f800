import Foundation
import MortiseAppendLog
import MortiseCore
import PackageTestSupport

/// Random work on one store for some time, held against a plain reference.
struct SoakRun {
    /// What a record should hold.
    struct Row: Hashable {
        var rank: Int
        var note: String?
        var shelf: String?
        var tags: Set<String>
    }

    enum Failure: Error, CustomStringConvertible {
        case differs(String)
        var description: String { if case .differs(let text) = self { text } else { "" } }
    }

    let store: SoakStore
    let folder: String
    private var random: SeededGenerator
    private var reference: [String: Row] = [:]
    /// The keys there are, in no order.
    private var keys: [String] = []
    private var number = 5_000_000
    private var order = Order.random
    private var container: ModelContainer?
    private var contexts: [ModelContext] = []
    private var pinned: (entries: [Entry], rows: [String: Row])?
    private var operationsUntilClosing = 0
    private(set) var operations = 0
    private(set) var comparisons = 0
    private var nextComparison = 0

    /// How the keys of new records follow each other: what is right in one order need not be in another.
    private enum Order: CaseIterable { case descending, random, ascending }

    init(_ store: SoakStore, seed: UInt64, in folder: String) {
        self.store = store
        self.folder = folder
        random = SeededGenerator(seed: seed)
    }

    static let shelves = (0..<40).map { "shelf \($0)" }
    static let tags = (0..<12).map { "tag \($0)" }

    /// - Throws: the first difference; what the store throws.
    mutating func run(for duration: Duration) throws {
        let end = ContinuousClock.now + duration
        try open()
        try insertOwners()
        while ContinuousClock.now < end {
            try save()
            if operations >= nextComparison { try compare() }
            if operationsUntilClosing <= 0 {
                try close()
                try open()
            }
        }
        try compare()
        try close()
        let report = try store.configuration(folder).verifyStore()
        guard report.problems.isEmpty else { throw Failure.differs("verify: \(report.problems)") }
        try open()
        try close()
    }

    // MARK: Opening and closing

    private mutating func open() throws {
        let made = try ModelContainer(
            for: Schema([Entry.self, Shelf.self, Tag.self]), configurations: [store.configuration(folder)])
        container = made
        contexts = (0..<3).map { _ in ModelContext(made) }
        operationsUntilClosing = Int.random(in: (store.session / 8)...store.session, using: &random)
        order = Order.allCases.randomElement(using: &random) ?? .random
        if let recovery = (made.store(AppendLogStore.self))?.recovery {
            throw Failure.differs("opening had something to put right: \(recovery)")
        }
        try compare()
        try pin()
    }

    private mutating func close() throws {
        try comparePinned()
        pinned = nil
        contexts = []
        if random.chance(3) { try container?.store(AppendLogStore.self)?.checkpoint() }
        if random.chance(4) { _ = try container?.store(AppendLogStore.self)?.compact() }
        try container?.close()
        container = nil
    }

    private func insertOwners() throws {
        for name in Self.shelves { contexts[0].insert(Shelf(name)) }
        for name in Self.tags { contexts[0].insert(Tag(name)) }
        try contexts[0].save()
    }

    // MARK: Work

    private mutating func save() throws {
        let context = contexts[Int.random(in: 0..<contexts.count, using: &random)]
        let count = [1, 1, 1, 2, 5, 30].randomElement(using: &random) ?? 1
        // One context must not meet what it has not saved yet.
        var met: Set<String> = []
        for _ in 0..<count {
            try change(context, &met)
            operations += 1
            operationsUntilClosing -= 1
        }
        try context.save()
        if random.chance(200) {
            try comparePinned()
            try pin()
        }
    }

    private mutating func change(_ context: ModelContext, _ met: inout Set<String>) throws {
        let grows = keys.count < store.capacity && !random.chance(3)
        if grows || keys.isEmpty {
            let key = newKey()
            guard reference[key] == nil, met.insert(key).inserted else { return }
            let row = newRow()
            context.insert(
                Entry(
                    key, rank: row.rank, note: row.note, shelf: try shelf(row.shelf, context),
                    tags: try tags(row.tags, context)))
            reference[key] = row
            keys.append(key)
            return
        }
        let place = Int.random(in: 0..<keys.count, using: &random)
        let key = keys[place]
        guard met.insert(key).inserted, var row = reference[key] else { return }
        let entry = try one(FetchDescriptor<Entry>(predicate: #Predicate { $0.key == key }), context, "\(key)")
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4:
            context.delete(entry)
            reference[key] = nil
            keys.swapAt(place, keys.count - 1)
            keys.removeLast()
            return
        case 4:
            let other = newKey()
            guard reference[other] == nil, met.insert(other).inserted else { return }
            entry.key = other
            reference[key] = nil
            reference[other] = row
            keys[place] = other
            return
        case 5, 6:
            row.shelf = newShelf()
            entry.shelf = try shelf(row.shelf, context)
        case 7:
            row.tags = newTags()
            entry.tags = try tags(row.tags, context)
        default:
            row.rank = Int.random(in: 0...1_000_000, using: &random)
            row.note = newNote()
            entry.rank = row.rank
            entry.note = row.note
        }
        reference[key] = row
    }

    private mutating func newKey() -> String {
        switch order {
        case .descending: number -= Int.random(in: 1...3, using: &random)
        case .ascending: number += Int.random(in: 1...3, using: &random)
        case .random: return String(random.next(), radix: 36)
        }
        return String(format: "%08d", number)
    }

    private mutating func newRow() -> Row {
        Row(
            rank: Int.random(in: 0...1_000_000, using: &random), note: newNote(), shelf: newShelf(), tags: newTags())
    }

    private mutating func newNote() -> String? {
        random.chance(4) ? nil : random.chance(2) ? "a note" : "a longer note, \(random.next())"
    }
    private mutating func newShelf() -> String? { random.chance(5) ? nil : Self.shelves.randomElement(using: &random) }
    private mutating func newTags() -> Set<String> {
        Set((0..<Int.random(in: 0...3, using: &random)).compactMap { _ in Self.tags.randomElement(using: &random) })
    }

    private func one<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, _ context: ModelContext, _ name: String
    ) throws -> T {
        let found = try context.fetch(descriptor)
        guard found.count == 1 else { throw Failure.differs("\(found.count) records are found as \(name)") }
        return found[0]
    }

    private func shelf(_ name: String?, _ context: ModelContext) throws -> Shelf? {
        guard let name else { return nil }
        return try one(FetchDescriptor<Shelf>(predicate: #Predicate { $0.name == name }), context, name)
    }

    private func tags(_ names: Set<String>, _ context: ModelContext) throws -> [Tag] {
        try names.sorted().map { name in
            try one(FetchDescriptor<Tag>(predicate: #Predicate { $0.name == name }), context, name)
        }
    }

    // MARK: Comparing

    private func row(_ entry: Entry) -> Row {
        Row(rank: entry.rank, note: entry.note, shelf: entry.shelf?.name, tags: Set(entry.tags.map(\.name)))
    }

    private mutating func compare() throws {
        comparisons += 1
        nextComparison = operations + 2_000
        guard let container else { return }
        let context = ModelContext(container)
        let entries = try context.fetch(FetchDescriptor<Entry>(sortBy: [SortDescriptor(\.key)]))
        guard entries.map(\.key) == reference.keys.sorted() else {
            throw Failure.differs(
                "\(entries.count) records, in order of their keys, are not the \(reference.count) expected")
        }
        for entry in entries where row(entry) != reference[entry.key] {
            throw Failure.differs(
                "\(entry.key): expected \(String(describing: reference[entry.key])), found \(row(entry))")
        }
        for key in keys.indices.filter({ $0 % 97 == comparisons % 97 }).map({ keys[$0] }) {
            _ = try one(FetchDescriptor<Entry>(predicate: #Predicate { $0.key == key }), context, key)
        }
        var onShelves: [String: Set<String>] = [:]
        var withTags: [String: Set<String>] = [:]
        for (key, row) in reference {
            if let shelf = row.shelf { onShelves[shelf, default: []].insert(key) }
            for tag in row.tags { withTags[tag, default: []].insert(key) }
        }
        for shelf in try context.fetch(FetchDescriptor<Shelf>())
        where Set(shelf.entries.map(\.key)) != onShelves[shelf.name] ?? [] {
            throw Failure.differs("\(shelf.name) has other entries than expected")
        }
        for tag in try context.fetch(FetchDescriptor<Tag>())
        where Set(tag.entries.map(\.key)) != withTags[tag.name] ?? [] {
            throw Failure.differs("\(tag.name) has other entries than expected")
        }
    }

    /// A reader that stays at the version that it has fetched.
    private mutating func pin() throws {
        guard let container else { return }
        let context = ModelContext(container)
        let entries = try context.fetch(FetchDescriptor<Entry>())
        pinned = (entries, reference)
    }

    private mutating func comparePinned() throws {
        guard let pinned else { return }
        comparisons += 1
        guard pinned.entries.count == pinned.rows.count else {
            throw Failure.differs("a reader got \(pinned.entries.count) records, not \(pinned.rows.count)")
        }
        for entry in pinned.entries where row(entry) != pinned.rows[entry.key] {
            throw Failure.differs("a reader's \(entry.key) is not as it was when it was fetched")
        }
    }
}
