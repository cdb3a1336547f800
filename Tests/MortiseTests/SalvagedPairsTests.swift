import Foundation
import Mortise
import PackageTestSupport
import Testing

/// Bug: a salvage left references whose other side had been written later. `verify` called the new store damaged.
@Suite struct SalvagedPairsTests {
    private let folder: Folder
    private let path: String

    init() throws {
        folder = try Folder()
        path = folder.path("store.log")
    }

    private func open(_ path: String) throws -> ModelContainer {
        try ModelContainer(
            for: Schema([Dancer.self, Soloist.self]),
            configurations: [AppendLogConfiguration(path: path, checkpoints: .onCall, compaction: .onCall)])
    }

    private func frames(_ log: Data) -> [Int] {
        stride(from: 64, to: log.count - 48, by: 8).filter { Array(log[$0..<($0 + 4)]) == [0x4D, 0x46, 0x52, 0x1A] }
    }

    private func write(_ log: Data, damaging frames: [Int]) throws {
        var log = log
        for frame in frames { log[frame + 50] ^= 1 }
        for name in ["store.log.checkpoint", "new.log", "new.log.checkpoint", "new.log.lock"] {
            try? FileManager.default.removeItem(atPath: folder.path(name))
        }
        try log.write(to: URL(fileURLWithPath: path))
    }

    /// Salvages, and sees that the new store is sound, can be changed, and has nothing to be cleared again.
    private func salvage(_ label: String) throws -> AppendLogSalvage {
        let new = folder.path("new.log")
        let found = try AppendLogStore.salvage(path, to: new)
        #expect(try AppendLogStore.verify(new).problems == [], "\(label)")
        let container = try open(new)
        let context = ModelContext(container)
        for dancer in try context.fetch(FetchDescriptor<Dancer>()) {
            #expect(dancer.mentor.map { $0.student === dancer } ?? true, "\(label)")
            #expect(dancer.student.map { $0.mentor === dancer } ?? true, "\(label)")
            #expect(dancer.ring.map { $0.bearer === dancer } ?? true, "\(label)")
            #expect(dancer.pupils.allSatisfy { $0.teachers.contains { $0 === dancer } }, "\(label)")
            dancer.name += "!"
        }
        context.insert(Dancer("later"))
        try context.save()
        try container.close()
        #expect(try AppendLogStore.verify(new).problems == [], "\(label)")
        let again = try AppendLogStore.salvage(new, to: folder.path("again.log"))
        #expect(again.clearedReferences == 0 && again.leftOut == [], "\(label)")
        for name in ["", ".checkpoint", ".lock"] {
            try? FileManager.default.removeItem(atPath: folder.path("again.log" + name))
        }
        return found
    }

    @Test func whatIsNotMetByTheOtherSideIsClearedAndCounted() throws {
        let container = try open(path)
        let context = ModelContext(container)
        context.autosaveEnabled = false
        let (first, second) = (Dancer("first"), Dancer("second"))
        let (old, new) = (Ring("old"), Ring("new"))
        for dancer in [first, second] { context.insert(dancer) }
        for ring in [old, new] { context.insert(ring) }
        first.ring = old
        try context.save()
        // Lost below: the old ring lets go of the first dancer, who takes the new one.
        first.ring = new
        try context.save()
        second.ring = new
        try context.save()
        try container.close()
        let log = try Data(contentsOf: URL(fileURLWithPath: path))
        try write(log, damaging: [frames(log)[2]])
        let found = try salvage("the second transaction")
        #expect(found.lost.count == 1 && found.clearedReferences == 1 && found.leftOut == [] && found.records == 4)
        let reader = ModelContext(try open(folder.path("new.log")))
        let rings = try reader.fetch(FetchDescriptor<Ring>(sortBy: [SortDescriptor(\.name)]))
        #expect(rings.map { $0.bearer?.name } == ["second!", nil])
    }

    /// One of several transactions is lost, or two of them, whichever these are.
    @Test func whicheverFramesAreLostTheRestIsSound() throws {
        var random = SeededGenerator(seed: testSeed())
        var cleared = 0
        for _ in 0..<3 {
            for name in ["", ".checkpoint", ".lock"] { try? FileManager.default.removeItem(atPath: path + name) }
            try fill(transactions: 10, using: &random)
            let log = try Data(contentsOf: URL(fileURLWithPath: path))
            // The first frame is the schema's.
            let places = Array(frames(log).dropFirst())
            #expect(places.count == 10)
            for (number, place) in places.enumerated() {
                try write(log, damaging: [place])
                cleared += try salvage("transaction \(number + 1)").clearedReferences
                guard let other = places.dropFirst(number + 1).randomElement(using: &random) else { continue }
                try write(log, damaging: [place, other])
                cleared += try salvage("transactions at \(place) and \(other)").clearedReferences
            }
        }
        // Otherwise none of this has tried anything.
        #expect(cleared > 0)
    }

    /// Bug: every link of a chain cost a round through all records, so that 20,000 took hours.
    @Test func aChainOfRequiredReferencesGoesWithItsEnd() throws {
        let schema = Schema([Strand.self, TiedStrand.self])
        let container = try ModelContainer(
            for: schema,
            configurations: [AppendLogConfiguration(path: path, checkpoints: .onCall, compaction: .onCall)])
        let context = ModelContext(container)
        context.autosaveEnabled = false
        context.insert(Strand(number: 1))
        try context.save()
        // Lost below.
        let end = Strand(number: 2)
        context.insert(end)
        try context.save()
        var last = end
        for number in 3...20_000 {
            let next = TiedStrand(number: number, after: last)
            context.insert(next)
            last = next
        }
        try context.save()
        try container.close()
        let log = try Data(contentsOf: URL(fileURLWithPath: path))
        try write(log, damaging: [frames(log)[2]])
        let found = try AppendLogStore.salvage(path, to: folder.path("new.log"))
        #expect(found.records == 1 && found.leftOut.count == 19_998)
        #expect(try AppendLogStore.verify(folder.path("new.log")).problems == [])
    }

    private func fill(transactions: Int, using random: inout SeededGenerator) throws {
        let container = try open(path)
        defer { try? container.close() }
        let context = ModelContext(container)
        context.autosaveEnabled = false
        let troupes = (0..<2).map { Troupe("troupe \($0)") }
        let rings = (0..<3).map { Ring("ring \($0)") }
        var dancers = (0..<4).map { Dancer("dancer \($0)") }
        dancers += (0..<2).map { Soloist("soloist \($0)", rank: $0) }
        for troupe in troupes { context.insert(troupe) }
        for ring in rings { context.insert(ring) }
        for dancer in dancers { context.insert(dancer) }
        try context.save()
        for number in 1..<transactions {
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                guard let one = dancers.randomElement(using: &random), let other = dancers.randomElement(using: &random)
                else { continue }
                switch Int.random(in: 0..<8, using: &random) {
                case 0: one.mentor = random.chance(4) ? nil : other
                case 1: one.ring = random.chance(4) ? nil : rings.randomElement(using: &random)
                case 2: one.student = random.chance(4) ? nil : other
                case 3: one.pupils = dancers.filter { _ in random.chance(3) }
                case 4: one.troupe = random.chance(4) ? nil : troupes.randomElement(using: &random)
                case 5: troupes.randomElement(using: &random)?.guests = dancers.filter { _ in random.chance(3) }
                case 6: troupes.randomElement(using: &random)?.leader = one as? Soloist
                default:
                    guard dancers.count > 3 else { continue }
                    dancers.removeAll { $0 === one }
                    context.delete(one)
                    let new = Dancer("dancer of \(number)")
                    context.insert(new)
                    new.student = dancers.randomElement(using: &random)
                    dancers.append(new)
                }
            }
            // So that every save writes something, and no loss leaves nothing, of which a salvage makes no store.
            context.insert(Ring("ring of \(number)"))
            try context.save()
        }
    }
}

@Model class Dancer {
    var name: String
    @Relationship(inverse: \Dancer.student) var mentor: Dancer?
    var student: Dancer?
    @Relationship(inverse: \Ring.bearer) var ring: Ring?
    @Relationship(inverse: \Dancer.pupils) var teachers: [Dancer] = []
    var pupils: [Dancer] = []
    var troupe: Troupe?
    init(_ name: String) { self.name = name }
}

@Model final class Soloist: Dancer {
    var rank = 0
    @Relationship(inverse: \Troupe.leader) var leads: Troupe?
    init(_ name: String, rank: Int) {
        super.init(name)
        self.rank = rank
    }
}

@Model final class Ring {
    var name: String
    var bearer: Dancer?
    init(_ name: String) { self.name = name }
}

@Model final class Troupe {
    var name: String
    // Both lists share an inverse.
    @Relationship(inverse: \Dancer.troupe) var members: [Dancer] = []
    @Relationship(inverse: \Dancer.troupe) var guests: [Dancer] = []
    var leader: Soloist?
    init(_ name: String) { self.name = name }
}

@Model class Strand {
    var number: Int
    init(number: Int) { self.number = number }
}

@Model final class TiedStrand: Strand {
    var before: Strand
    init(number: Int, after before: Strand) {
        self.before = before
        super.init(number: number)
    }
}
