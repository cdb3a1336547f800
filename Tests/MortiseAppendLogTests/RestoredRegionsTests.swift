import FaultWorkload
import Foundation
import MortiseCore
import PackageTestSupport
import Testing

@testable import MortiseAppendLog
@testable import MortiseEngine
import MortiseTestSupport

/// An entity whose indexes have many records under a key.
private final class Entry: PersistentModel {
    var persistentBackingData: any BackingData<Entry> = Entry.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Entry.name, metadata: Schema.Attribute(.unique)),
            .init(name: "rank", keypath: \Entry.rank),
            .init(name: "tag", keypath: \Entry.tag),
            .init(
                name: "Schema.Index", keypath: \Schema.encodingVersion,
                metadata: Schema.Index<Entry>([\.rank], [\.tag, \.rank])),
        ]
    }
    init(backingData: any BackingData<Entry>) { persistentBackingData = backingData }
    init(_ name: String, rank: Int, tag: String?) {
        self.name = name
        self.rank = rank
        self.tag = tag
    }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var rank: Int {
        get { getValue(forKey: \.rank) }
        set { setValue(forKey: \.rank, to: newValue) }
    }
    var tag: String? {
        get { getValue(forKey: \.tag) }
        set { setValue(forKey: \.tag, to: newValue) }
    }
}

/// Takes numbers of records between those of entries, so that a gap in the entries' numbers may be a deleted row or not.
private final class Filler: PersistentModel {
    var persistentBackingData: any BackingData<Filler> = Filler.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "number", keypath: \Filler.number)] }
    init(backingData: any BackingData<Filler>) { persistentBackingData = backingData }
    init(_ number: Int) { self.number = number }

    var number: Int {
        get { getValue(forKey: \.number) }
        set { setValue(forKey: \.number, to: newValue) }
    }
}

/// Checkpoints whose regions cannot be read for a while: any of them, at any time.
///
/// Where a chunk has rows of deleted records, what is made again of it has to fit what was read of its indexes before, and
/// what can be read of them again later. It once did not: the next checkpoint had an index that named the wrong rows.
struct RestoredRegionsTests {
    private struct Program {
        var generator: TestGenerator
        let disk: SimulatedFileSystem
        var expected: [String: (rank: Int, tag: String?)] = [:]
        var next = 0
        private let checkpointPath = logPath + ".checkpoint"

        init(seed: UInt64) throws {
            generator = TestGenerator(seed: seed)
            disk = try makeDisk()
        }

        func open() throws -> ModelContainer {
            try ModelContainer(for: Schema([Entry.self, Filler.self]), configurations: [logConfiguration(disk)])
        }

        private mutating func insert(_ count: Int, into context: ModelContext) {
            for _ in 0..<count {
                // Of 2^20 keys, in no order.
                let name = String(format: "entry %07x", (next &* 0x9E377) & 0xF_FFFF)
                next += 1
                let rank = Int.random(in: 0..<4, using: &generator)
                let tag = Bool.random(using: &generator) ? "tag \(Int.random(in: 0..<30, using: &generator))" : nil
                context.insert(Entry(name, rank: rank, tag: tag))
                if Bool.random(using: &generator) { context.insert(Filler(next)) }
                expected[name] = (rank, tag)
            }
        }

        private func find(_ name: String, _ context: ModelContext) throws -> Entry? {
            try context.fetch(FetchDescriptor<Entry>(predicate: #Predicate { $0.name == name })).first
        }

        private mutating func delete(_ count: Int, from context: ModelContext) throws {
            for name in expected.keys.sorted().shuffled(using: &generator).prefix(count) {
                context.delete(try #require(try find(name, context)))
                expected[name] = nil
            }
        }

        /// A log whose checkpoint has deleted rows between others in most programs, with some saves behind it.
        mutating func make() throws {
            let container = try open()
            let context = ModelContext(container)
            context.autosaveEnabled = false
            let size = [1, 7, 100, 1_000].randomElement(using: &generator)!
            let count = Int.random(in: 30...(size == 1 ? 300 : 2_000), using: &generator)
            for _ in 0..<max(1, count / size) {
                insert(size, into: context)
                try context.save()
                if Int.random(in: 0..<20, using: &generator) == 0 { try delete(size / 3, from: context) }
            }
            try context.save()
            try delete(expected.count / [4, 10, 60].randomElement(using: &generator)!, from: context)
            try context.save()
            try #require(container.store(AppendLogStore.self)).checkpoint()
            insert(Int.random(in: 0..<30, using: &generator), into: context)
            try delete(Int.random(in: 0..<5, using: &generator), from: context)
            try context.save()
            try container.close()
        }

        private mutating func damage(_ size: Int) {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: disk.limits.unreadable[checkpointPath] = [0..<size]
            case 1: disk.limits.unreadable = [:]
            default:
                disk.limits.unreadable[checkpointPath] = (0..<Int.random(in: 1..<12, using: &generator)).map { _ in
                    let start = Int.random(in: 0..<size, using: &generator)
                    return start..<min(size, start + Int.random(in: 1..<(size / 8), using: &generator))
                }
            }
        }

        /// What differs from what should be there.
        private func difference(_ entries: [Entry], _ isWanted: (String, Int, String?) -> Bool) -> String? {
            let wanted = expected.filter { isWanted($0.key, $0.value.rank, $0.value.tag) }
            for entry in entries {
                guard let one = wanted[entry.name], one.rank == entry.rank, one.tag == entry.tag else {
                    return "unexpected \(entry.name) \(entry.rank) \(entry.tag ?? "-")"
                }
            }
            return entries.count == wanted.count ? nil : "\(entries.count) entries, not \(wanted.count)"
        }

        private mutating func step(_ container: ModelContainer) throws -> (what: String, fault: String?) {
            let context = ModelContext(container)
            context.autosaveEnabled = false
            let rank = Int.random(in: 0..<4, using: &generator)
            switch Int.random(in: 0..<9, using: &generator) {
            case 0:
                return ("fetch", difference(try context.fetch(FetchDescriptor<Entry>())) { _, _, _ in true })
            case 1:
                let name = expected.keys.sorted().randomElement(using: &generator) ?? "none"
                return ("find", difference(try find(name, context).map { [$0] } ?? []) { found, _, _ in found == name })
            case 2:
                let found = try context.fetch(FetchDescriptor<Entry>(predicate: #Predicate { $0.rank == rank }))
                return ("rank", difference(found) { _, found, _ in found == rank })
            case 3:
                let tag: String? = "tag \(Int.random(in: 0..<30, using: &generator))"
                let found = try context.fetch(
                    FetchDescriptor<Entry>(predicate: #Predicate { $0.tag == tag && $0.rank == rank }))
                return ("tag", difference(found) { _, ranked, tagged in ranked == rank && tagged == tag })
            case 4:
                let found = try context.fetch(FetchDescriptor<Entry>(sortBy: [SortDescriptor(\.name, order: .reverse)]))
                let isSorted = found.map(\.name) == expected.keys.sorted(by: >)
                return ("sort", isSorted ? nil : "wrong order")
            case 5:
                insert(Int.random(in: 1..<10, using: &generator), into: context)
                try context.save()
                return ("insert", nil)
            case 6:
                try delete(Int.random(in: 1..<10, using: &generator), from: context)
                try context.save()
                return ("delete", nil)
            case 7:
                for name in expected.keys.sorted().shuffled(using: &generator).prefix(5) {
                    try #require(try find(name, context)).rank = rank
                    expected[name]?.rank = rank
                }
                try context.save()
                return ("change", nil)
            default:
                try #require(container.store(AppendLogStore.self)).checkpoint()
                return ("checkpoint", nil)
            }
        }

        /// - Returns: whether anything was made again, and what was wrong.
        mutating func run() throws -> (hasRestored: Bool, fault: String?) {
            try make()
            let container = try open()
            let store = try #require(container.store(AppendLogStore.self))
            let size = try #require(disk.contents(at: checkpointPath)).count
            var steps: [String] = []
            for _ in 0..<Int.random(in: 2...14, using: &generator) {
                if Int.random(in: 0..<3, using: &generator) == 0 {
                    damage(size)
                    steps.append("damage")
                }
                let (what, fault) = try step(container)
                steps.append(what)
                if let fault { return (true, "\(steps): \(fault)") }
            }
            let hasRestored = store.engine.version.packed?.restorer?.hasRestored ?? false
            disk.limits.unreadable = [:]
            if Bool.random(using: &generator) {
                let inconsistencies = store.engine.version.inconsistencies()
                if inconsistencies != [] { return (hasRestored, "\(steps): \(inconsistencies)") }
            }
            if Bool.random(using: &generator) {
                try store.checkpoint()
                steps.append("checkpoint")
            }
            try container.close()
            let problems = try AppendLogStore.verify(logPath, in: disk).problems
            if problems != [] { return (hasRestored, "\(steps): \(problems)") }
            let again = try open()
            let found = try ModelContext(again).fetch(FetchDescriptor<Entry>())
            let inconsistencies = try #require(again.store(AppendLogStore.self)).engine.version.inconsistencies()
            try again.close()
            if inconsistencies != [] { return (hasRestored, "\(steps), reopened: \(inconsistencies)") }
            return (hasRestored, difference(found) { _, _, _ in true }.map { "\(steps), reopened: \($0)" })
        }
    }

    @Test func whatIsMadeAgainFitsWhatWasAndWillBeRead() throws {
        let seed = testSeed()
        let count = isFullSize ? 1_500 : 8
        var restored = 0
        for number in 0..<count {
            var program = try Program(seed: seed &+ UInt64(number))
            do {
                let (hasRestored, fault) = try program.run()
                #expect(fault == nil, "seed \(seed &+ UInt64(number))")
                if hasRestored { restored += 1 }
            } catch {
                Issue.record(error, "seed \(seed &+ UInt64(number))")
            }
        }
        // By chance none of a few is.
        #expect(restored > count / 10 || !isFullSize, "\(restored) of \(count)")
    }

    /// Bug: the rows of records that had one key were placed without regard to the branches above them, which tell them apart
    /// by their rows. About one program in 400 shows it.
    @Test(arguments: isFullSize ? [20_261_535, 20_261_794, 20_261_927, 20_262_063] : [20_261_535])
    func rowsLieWhereBranchesSay(_ seed: UInt64) throws {
        var program = try Program(seed: seed)
        let (hasRestored, fault) = try program.run()
        #expect(fault == nil)
        #expect(hasRestored)
    }

    /// What was packed before the file could not be read any more may have another layout than what comes after.
    @Test func aVersionMadeAgainWhileItIsPackedIsPackedAnew() throws {
        var (told, whole) = (0, 0)
        for limit in [0, 1, 3, 4, 6, 9, 1_000] {
            var program = try Program(seed: 11)
            try program.make()
            let disk = program.disk
            let container = try program.open()
            defer { try? container.close() }
            let version = try #require(container.store(AppendLogStore.self)).engine.version
            let size = try #require(disk.contents(at: logPath + ".checkpoint")).count
            var regions = 0
            func pack() throws -> [PackedTable] {
                var offset: UInt64 = 0
                var packer = VersionPacker { bytes in
                    if regions == limit { disk.limits.unreadable[logPath + ".checkpoint"] = [0..<size] }
                    regions += 1
                    defer { offset += UInt64(bytes.count) }
                    return PackedRegion(offset: offset, length: UInt32(bytes.count), checksum: 0)
                }
                return try packer.pack(version)
            }
            do {
                _ = try pack()
                #expect(version.packed?.restorer?.hasRestored == false, "after \(limit) regions")
                whole += 1
            } catch is VersionPacker.PackedTwoStates {
                told += 1
                #expect(try pack().isEmpty == false, "after \(limit) regions")
            }
        }
        #expect(told > 2 && whole > 0, "\(told) packed anew, \(whole) whole")
    }
}
