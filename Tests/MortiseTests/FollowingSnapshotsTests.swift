import CustomStore
import Foundation
import Mortise
import Observation
import PackageTestSupport
import Testing

@Model private final class Owner {
    var name: String
    @Relationship(deleteRule: .nullify, inverse: \Boat.owner) var boats: [Boat] = []
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
    var name: String
    @Relationship(inverse: \Owner.harbours) var owners: [Owner] = []
    init(_ name: String) { self.name = name }
}

/// Contexts of a store of snapshots, in which both sides of a relationship are stored.
@Suite struct FollowingSnapshotsTests {
    /// Random saves of two contexts that keep all their models: after a refresh, what these show is what is stored.
    @Test(arguments: 1...4) func modelsShowWhatIsStored(_ round: Int) throws {
        let seed = testSeed() &+ UInt64(round)
        let folder = try Folder()
        try FileManager.default.createDirectory(atPath: folder.path("csv"), withIntermediateDirectories: true)
        let container = try ModelContainer(
            for: Owner.self, Boat.self, Harbour.self,
            configurations: CSVConfiguration(folder: URL(fileURLWithPath: folder.path("csv"))))
        defer { try? container.close() }
        var random = SeededGenerator(seed: seed)
        let contexts = [ModelContext(container), ModelContext(container)]
        var kept: [[any PersistentModel]] = [[], []]
        for step in 0..<60 {
            let place = Int.random(in: 0...1, using: &random)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                kept[place] += try change(contexts[place], &random)
            }
            if random.chance(6) { contexts[place].rollback() } else { try contexts[place].save() }
            for place in 0...1 where !contexts[place].hasChanges {
                try contexts[place].refresh()
                let fresh = ModelContext(container)
                for model in kept[place] where model.modelContext != nil {
                    let text = Self.text(model)
                    let stored = try Self.stored(model, in: fresh)
                    #expect(text == stored, "seed \(seed), step \(step)")
                    if text != stored { return }
                }
            }
        }
    }

    /// Observers are notified once each, and what they read and fetch then is all as it is stored.
    @Test func observersSeeAllThatOthersHaveChanged() throws {
        let folder = try Folder()
        try FileManager.default.createDirectory(atPath: folder.path("csv"), withIntermediateDirectories: true)
        let container = try ModelContainer(
            for: Owner.self, Boat.self, Harbour.self,
            configurations: CSVConfiguration(folder: URL(fileURLWithPath: folder.path("csv"))))
        let (here, there) = (ModelContext(container), ModelContext(container))
        for number in 1...3 { there.insert(Boat("b\(number)", number)) }
        try there.save()
        let order = [SortDescriptor(\Boat.name)]
        let mine = try here.fetch(FetchDescriptor<Boat>(sortBy: order))
        let theirs = try there.fetch(FetchDescriptor<Boat>(sortBy: order))
        theirs[0].length = 10
        theirs[1].length = 20
        try there.save()
        let seen = Seen()
        for boat in mine {
            withObservationTracking {
                _ = boat.length
            } onChange: { [lengths = Lengths(mine)] in
                seen.add(lengths.now)
            }
        }
        try here.refresh()
        #expect(seen.all == [[10, 20, 3], [10, 20, 3]])
        #expect(mine.map(\.length) == [10, 20, 3])
    }

    private func change(
        _ context: ModelContext, _ random: inout SeededGenerator
    ) throws -> [any PersistentModel] {
        let number = Int.random(in: 0..<40, using: &random)
        let owners = try context.fetch(FetchDescriptor<Owner>())
        let boats = try context.fetch(FetchDescriptor<Boat>())
        let harbours = try context.fetch(FetchDescriptor<Harbour>())
        switch Int.random(in: 0..<11, using: &random) {
        case 0: context.insert(Owner("o\(number)"))
        case 1, 2:
            let boat = Boat("b\(number)", number)
            context.insert(boat)
            boat.owner = owners.randomElement(using: &random)
        case 3: context.insert(Harbour("h\(number)"))
        case 4: boats.randomElement(using: &random)?.length = number
        case 5: boats.randomElement(using: &random)?.owner = owners.randomElement(using: &random)
        case 6: owners.randomElement(using: &random)?.boats = boats.filter { _ in random.chance(3) }
        case 7: owners.randomElement(using: &random)?.harbours = harbours.filter { _ in random.chance(2) }
        case 8: if let boat = boats.randomElement(using: &random) { context.delete(boat) }
        case 9: if random.chance(3), let owner = owners.randomElement(using: &random) { context.delete(owner) }
        default: owners.randomElement(using: &random)?.name = "n\(number)"
        }
        return owners + boats + harbours
    }

    private static func stored<T: PersistentModel>(_ model: T, in context: ModelContext) throws -> String {
        text(try context.existingModel(for: model.persistentModelID, as: T.self))
    }

    private static func text(_ model: any PersistentModel) -> String {
        func names(_ models: [any PersistentModel]) -> String { "\(models.map(\.persistentModelID).sorted())" }
        return switch model {
        case let owner as Owner: "owner \(owner.name) \(names(owner.boats)) \(names(owner.harbours))"
        case let boat as Boat: "boat \(boat.name) \(boat.length) \(names(boat.owner.map { [$0] } ?? []))"
        case let harbour as Harbour: "harbour \(harbour.name) \(names(harbour.owners))"
        default: "unknown"
        }
    }
}

/// @unchecked Sendable: used on the thread of its context alone.
private final class Lengths: @unchecked Sendable {
    private let boats: [Boat]
    init(_ boats: [Boat]) { self.boats = boats }
    var now: [Int] { boats.map(\.length) }
}

/// @unchecked Sendable: used on one thread alone.
private final class Seen: @unchecked Sendable {
    private(set) var all: [[Int]] = []
    func add(_ lengths: [Int]) { all.append(lengths) }
}

/// What live results of such a store tell when more has changed than is remembered by name.
@Suite struct ForgottenChangesTests {
    /// Defect: two saves of thousands of records, of which the first was forgotten: rows that it had changed in place were not told.
    @Test func rowsThatChangedInPlaceAreToldAlthoughTheirNamesWereForgotten() throws {
        let folder = try Folder()
        try FileManager.default.createDirectory(atPath: folder.path("csv"), withIntermediateDirectories: true)
        let container = try ModelContainer(
            for: Owner.self, Boat.self, Harbour.self,
            configurations: CSVConfiguration(folder: URL(fileURLWithPath: folder.path("csv"))))
        let (here, there) = (ModelContext(container), ModelContext(container))
        let boats = (0..<12_000).map { Boat("b\($0 + 100_000)", 1) }
        for boat in boats { there.insert(boat) }
        try there.save()
        // Outside of any actor: it takes in what others have saved with the next refresh.
        let observer = try ResultsObserver<Boat, Never>(
            sortBy: [SortDescriptor(\.name)], modelContext: here, isolation: nil)
        var told: [ResultsChange] = []
        observer.onChange = { told.append($0) }
        for half in [boats[..<6_000], boats[6_000...]] {
            for boat in half { boat.length = 2 }
            try there.save()
        }
        try here.refresh()
        #expect(Set(told.flatMap(\.updated).map(\.identifier)) == Set(boats.map(\.persistentModelID)))
        #expect(told.allSatisfy { $0.moved.isEmpty && $0.inserted.isEmpty && $0.removed.isEmpty })
        #expect(observer.results.allSatisfy { $0.length == 2 })
        try container.close()
    }
}
