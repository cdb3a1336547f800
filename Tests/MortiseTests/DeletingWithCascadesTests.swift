import Foundation
import Mortise
import PackageTestSupport
import Testing

@Model
final class Villa {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Chamber.house) var rooms: [Chamber] = []
    var street: Lane?

    init(name: String) { self.name = name }
}

@Model
final class Chamber {
    @Attribute(.unique, .preserveValueOnDeletion) var number: Int
    var house: Villa?
    @Relationship(deleteRule: .cascade, inverse: \Belonging.room) var things: [Belonging] = []
    @Relationship(inverse: \Chamber.backDoor) var frontDoor: Chamber?
    var backDoor: Chamber?

    init(number: Int) { self.number = number }
}

@Model
final class Belonging {
    var name: String
    var room: Chamber?
    var labels: [PriceTag] = []

    init(name: String) { self.name = name }
}

@Model
final class PriceTag {
    @Attribute(.unique) var name: String
    @Relationship(inverse: \Belonging.labels) var things: [Belonging] = []

    init(name: String) { self.name = name }
}

@Model
final class Lane {
    var name: String
    @Relationship(inverse: \Villa.street) var houses: [Villa] = []

    init(name: String) { self.name = name }
}

/// A save of deletions alone has the store follow delete rules; one that comes after they were looked at follows them in the
/// context. Both come to the same.
@Suite struct DeletingWithCascadesTests {
    private static let stores = ["memory:", "log:", "json:"]

    /// @unchecked Sendable: notifications are posted on the thread that saves, which is the test's own.
    private final class World: @unchecked Sendable {
        let container: ModelContainer
        let folder: URL
        private(set) var told: [[String: Set<String>]] = []
        private var observer: (any NSObjectProtocol)?
        private(set) var willSaves = 0
        private var second: (any NSObjectProtocol)?

        init(_ store: String, seed: UInt64) throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "mortise-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let path = store == "memory:" ? "" : folder.appending(path: "store").path(percentEncoded: false)
            container = try ModelContainer(
                for: Villa.self, Chamber.self, Belonging.self, PriceTag.self, Lane.self, store: store + path)
            var random = SeededGenerator(seed: seed)
            let context = ModelContext(container)
            let labels = (0..<6).map { PriceTag(name: "label \($0)") }
            let streets = (0..<2).map { Lane(name: "street \($0)") }
            for label in labels { context.insert(label) }
            for street in streets { context.insert(street) }
            var number = 0
            var last: Chamber?
            for place in 0..<6 {
                let house = Villa(name: "house \(place)")
                context.insert(house)
                house.street = streets.randomElement(using: &random)
                for _ in 0..<Int.random(in: 0...4, using: &random) {
                    let room = Chamber(number: number)
                    number += 1
                    context.insert(room)
                    room.house = house
                    if random.chance(3) { room.frontDoor = last }
                    last = room
                    for _ in 0..<Int.random(in: 0...3, using: &random) {
                        let thing = Belonging(name: "thing \(Int.random(in: 0..<1_000, using: &random))")
                        context.insert(thing)
                        thing.room = room
                        thing.labels = labels.filter { _ in random.chance(2) }
                    }
                }
            }
            try context.save()
        }

        deinit {
            if let observer { NotificationCenter.default.removeObserver(observer) }
            if let second { NotificationCenter.default.removeObserver(second) }
            try? container.close()
            try? FileManager.default.removeItem(at: folder)
        }

        func listen(to context: ModelContext) {
            observer = NotificationCenter.default.addObserver(
                forName: ModelContext.didSave, object: context, queue: nil
            ) { [unowned self] note in
                var found: [String: Set<String>] = [:]
                for key in [ModelContext.NotificationKey.deletedIdentifiers, .updatedIdentifiers, .insertedIdentifiers]
                {
                    let identifiers = note.userInfo?[key.rawValue] as? [PersistentIdentifier] ?? []
                    found[key.rawValue] = Set(identifiers.map { "\($0)" })
                }
                told.append(found)
            }
            second = NotificationCenter.default.addObserver(
                forName: ModelContext.willSave, object: context, queue: nil
            ) { [unowned self] _ in willSaves += 1 }
        }

        /// Everything that is stored, as text.
        func contents() throws -> [String] {
            let context = ModelContext(container)
            var lines: [String] = []
            for house in try context.fetch(FetchDescriptor<Villa>()) {
                lines.append("\(house.name) \(house.rooms.map(\.number)) \(house.street?.name ?? "-")")
            }
            for room in try context.fetch(FetchDescriptor<Chamber>()) {
                lines.append(
                    "\(room.number) \(room.house?.name ?? "-") \(room.things.map(\.name)) "
                        + "\(room.frontDoor?.number ?? -1) \(room.backDoor?.number ?? -1)")
            }
            for thing in try context.fetch(FetchDescriptor<Belonging>()) {
                lines.append("\(thing.name) \(thing.room?.number ?? -1) \(thing.labels.map(\.name))")
            }
            for label in try context.fetch(FetchDescriptor<PriceTag>()) {
                lines.append("\(label.name) \(label.things.map(\.name))")
            }
            for street in try context.fetch(FetchDescriptor<Lane>()) {
                lines.append("\(street.name) \(street.houses.map(\.name))")
            }
            return lines
        }
    }

    private struct Outcome: Equatable {
        var contents: [String]
        var told: [[String: Set<String>]]
        var willSaves: Int
        var models: [String]
        var isChanged: Bool
    }

    /// Deletes some houses and rooms, with some models in memory, and saves.
    private func outcome(_ store: String, seed: UInt64, looks: Bool) throws -> Outcome {
        let world = try World(store, seed: seed)
        var random = SeededGenerator(seed: seed &+ 1)
        let context = ModelContext(world.container)
        world.listen(to: context)
        // Some are known to the context, and some of their relationships were read.
        let rooms = try context.fetch(FetchDescriptor<Chamber>(sortBy: [SortDescriptor(\.number)]))
            .filter { _ in random.chance(2) }
        let things = rooms.filter { _ in random.chance(2) }.flatMap(\.things)
        let labels = try context.fetch(FetchDescriptor<PriceTag>(sortBy: [SortDescriptor(\.name)]))
        let known = labels.map(\.things.count)
        let houses = try context.fetch(FetchDescriptor<Villa>(sortBy: [SortDescriptor(\.name)]))
        for house in houses where random.chance(3) { context.delete(house) }
        for room in rooms where random.chance(4) { context.delete(room) }
        if looks { _ = context.deletedModelsArray }
        try context.save()
        var models = rooms.map { "\($0.number) \($0.isDeleted) \($0.modelContext == nil) \($0.house?.name ?? "-")" }
        models += things.map { "\($0.name) \($0.isDeleted) \($0.modelContext == nil) \($0.labels.count)" }
        models += houses.map { "\($0.name) \($0.isDeleted) \($0.modelContext == nil)" }
        models += zip(labels, known).map { "\($0.name) \($0.things.map(\.name)) \($1)" }
        let outcome = Outcome(
            contents: try world.contents(), told: world.told, willSaves: world.willSaves, models: models,
            isChanged: context.hasChanges)
        // The context goes on as any other.
        let label = PriceTag(name: "new")
        context.insert(label)
        label.things = try context.fetch(FetchDescriptor<Belonging>())
        try context.save()
        return outcome
    }

    @Test(arguments: stores, 0..<12 as Range<UInt64>)
    func itIsTheSameAsFollowingTheRulesInTheContext(_ store: String, number: UInt64) throws {
        let seed = testSeed() &+ number
        let direct = try outcome(store, seed: seed, looks: false)
        let looked = try outcome(store, seed: seed, looks: true)
        let text = Comment(rawValue: "\(store) seed \(seed)")
        #expect(direct.contents == looked.contents, text)
        #expect(direct.told == looked.told, text)
        #expect(direct.willSaves == looked.willSaves, text)
        #expect(direct.models == looked.models, text)
        #expect(!direct.isChanged && !looked.isChanged, text)
    }

    @Test func whatAnotherContextHasMovedMeanwhileStays() throws {
        let world = try World("memory:", seed: 5)
        let (context, other) = (ModelContext(world.container), ModelContext(world.container))
        let houses = try context.fetch(FetchDescriptor<Villa>())
        let house = try #require(houses.first { !$0.rooms.isEmpty })
        let number = try #require(house.rooms.first?.number)
        context.delete(house)
        let room = try #require(try other.first(Chamber.self, where: \.number, is: number))
        let name = house.name
        room.house = try other.fetch(FetchDescriptor<Villa>(predicate: #Predicate { $0.name != name })).first
        try other.save()
        try context.save()
        let left = try ModelContext(world.container).first(Chamber.self, where: \.number, is: number)
        #expect(left?.house != nil && left?.house?.name != name)
    }

    @Test func aHandlerOfWillSaveMayTakeADeletionBack() throws {
        let world = try World("memory:", seed: 6)
        let context = ModelContext(world.container)
        let houses = try context.fetch(FetchDescriptor<Villa>())
        let before = try world.contents()
        for house in houses { context.delete(house) }
        world.listen(to: context)
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContext.willSave, object: context, queue: nil
        ) { note in
            guard let context = note.object as? ModelContext else { return }
            for case let house as Villa in context.deletedModelsArray { context.insert(house) }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try context.save()
        #expect(try world.contents() == before)
        #expect(!context.hasChanges)
        // What one of the two begins, the other ends.
        #expect(world.willSaves == 1 && world.told.map { $0.values.allSatisfy(\.isEmpty) } == [true])
    }

    @Test func theAuthorIsInTheHistory() throws {
        let world = try World("log:", seed: 7)
        let context = ModelContext(world.container)
        context.author = "Ada"
        let houses = try context.fetch(FetchDescriptor<Villa>())
        for house in houses { context.delete(house) }
        try context.save()
        let last = try #require(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last)
        #expect(last.author == "Ada")
        let gone = last.changes.count { if case .delete = $0 { true } else { false } }
        let left = try world.contents().count
        #expect(gone > houses.count && left > 0)
    }
}
