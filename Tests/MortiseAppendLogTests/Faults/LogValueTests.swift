import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// A value whose coding is user code, which may fail.
struct Whistle: Codable, Hashable, Sendable {
    struct Burst: Error {}
    var pitch: Double
    var isBroken = false

    enum CodingKeys: String, CodingKey { case pitch }
    init(pitch: Double, isBroken: Bool = false) {
        self.pitch = pitch
        self.isBroken = isBroken
    }
    init(from decoder: any Decoder) throws {
        pitch = try decoder.container(keyedBy: CodingKeys.self).decode(Double.self, forKey: .pitch)
    }
    func encode(to encoder: any Encoder) throws {
        if isBroken { throw Burst() }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(pitch, forKey: .pitch)
    }
}

final class Kettle: PersistentModel {
    var persistentBackingData: any BackingData<Kettle> = Kettle.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "text", keypath: \Kettle.text), .init(name: "level", keypath: \Kettle.level),
            .init(name: "boiled", keypath: \Kettle.boiled), .init(name: "price", keypath: \Kettle.price),
            .init(name: "count", keypath: \Kettle.count), .init(name: "whistle", keypath: \Kettle.whistle),
        ]
    }
    init(backingData: any BackingData<Kettle>) { persistentBackingData = backingData }
    init(
        _ text: String, level: Double = 0, boiled: Date = .distantPast, price: Decimal = 0, count: UInt64 = 0,
        whistle: Whistle? = nil
    ) {
        self.text = text
        self.level = level
        self.boiled = boiled
        self.price = price
        self.count = count
        self.whistle = whistle
    }
    var text: String {
        get { getValue(forKey: \.text) }
        set { setValue(forKey: \.text, to: newValue) }
    }
    var level: Double {
        get { getValue(forKey: \.level) }
        set { setValue(forKey: \.level, to: newValue) }
    }
    var boiled: Date {
        get { getValue(forKey: \.boiled) }
        set { setValue(forKey: \.boiled, to: newValue) }
    }
    var price: Decimal {
        get { getValue(forKey: \.price) }
        set { setValue(forKey: \.price, to: newValue) }
    }
    var count: UInt64 {
        get { getValue(forKey: \.count) }
        set { setValue(forKey: \.count, to: newValue) }
    }
    var whistle: Whistle? {
        get { getValue(forKey: \.whistle) }
        set { setValue(forKey: \.whistle, to: newValue) }
    }
}

/// Values that come back as they were.
struct LogValueCheck {
    var isCompacted = false
    /// What becomes of a kettle on its way; of a store without mistakes nothing.
    var spoil: (Kettle) -> Void = { _ in }

    func run() throws -> Findings {
        var findings = Findings()
        let disk = SimulatedFileSystem(seed: 3)
        func open() throws -> ModelContainer {
            try ModelContainer(for: Schema([Kettle.self]), configurations: [LogDepot.configuration(disk)])
        }
        let levels: [Double] = [
            0, -0.0, .nan, .signalingNaN, -.nan, Double(bitPattern: 0x7FF8_0000_DEAD_BEEF), .infinity, -.infinity,
            .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1, 9_007_199_254_740_992,
        ]
        let texts = [
            "", "\u{0}", "a\u{0}b", "\u{E9}", "e\u{301}", "👩‍👩‍👧‍👦", "\u{202E}abc\u{202C}", "\u{FEFF}", "\u{FFFF}",
            "\u{10FFFF}", "../../etc/passwd", String(repeating: "x", count: 100_000),
        ]
        let dates = [Date.distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: 0.1)]
        let prices = ["12345678901234567890123456789012345678", "-0.1", "0"].compactMap { Decimal(string: $0) }
        let counts: [UInt64] = [.max, 0, UInt64(Int64.max) + 1]
        let container = try open()
        let context = ModelContext(container)
        for index in levels.indices {
            let kettle = Kettle(
                texts[index], level: levels[index], boiled: dates[index % 3], price: prices[index % 3],
                count: counts[index % 3], whistle: index % 2 == 0 ? Whistle(pitch: levels[10]) : nil)
            spoil(kettle)
            context.insert(kettle)
        }
        try context.save()
        if isCompacted { try container.logStore?.compact() }
        try container.close()
        findings.inject(levels.count * 5)
        let found = try ModelContext(open()).fetch(FetchDescriptor<Kettle>())
        let indices = levels.indices
        findings.expect(found.map { Array($0.text.utf8) } == texts.map { Array($0.utf8) }, "texts")
        findings.expect(found.map(\.level.bitPattern) == levels.map(\.bitPattern), "numbers")
        findings.expect(found.map(\.boiled) == indices.map { dates[$0 % 3] }, "dates")
        findings.expect(found.map(\.price) == indices.map { prices[$0 % 3] }, "decimals")
        findings.expect(found.map(\.count) == indices.map { counts[$0 % 3] }, "unsigned numbers")
        findings.expect(found.map { $0.whistle?.pitch } == indices.map { $0 % 2 == 0 ? 0.1 : nil }, "coded values")
        return findings
    }
}

/// Coding of a value throws in the middle of a save.
struct LogUserCodeCheck {
    /// Inserts models and saves them.
    var save: (ModelContext, [Kettle]) throws -> Void = { context, kettles in
        for kettle in kettles { context.insert(kettle) }
        try context.save()
    }

    func run() throws -> Findings {
        var findings = Findings()
        let disk = SimulatedFileSystem(seed: 3)
        func open() throws -> ModelContainer {
            try ModelContainer(for: Schema([Kettle.self]), configurations: [LogDepot.configuration(disk)])
        }
        let container = try open()
        let context = ModelContext(container)
        context.insert(Kettle("good", whistle: Whistle(pitch: 1)))
        try context.save()
        let before = disk.contents(at: LogDepot.path)
        let broken = Kettle("bad", whistle: Whistle(pitch: 2, isBroken: true))
        findings.inject()
        findings.expect(thrown { try save(context, [Kettle("other"), broken]) } != nil, "nothing was thrown")
        findings.expect(context.hasChanges, "the context is not dirty")
        findings.expect(disk.contents(at: LogDepot.path) == before, "the log has changed")
        let count = try ModelContext(container).fetchCount(FetchDescriptor<Kettle>())
        findings.expect(count == 1, "\(count) records are visible")
        broken.whistle = Whistle(pitch: 3)
        try context.save()
        findings.expect(!context.hasChanges, "the context is dirty")
        try container.close()
        let kettles = try ModelContext(open()).fetch(FetchDescriptor<Kettle>())
        findings.expect(kettles.map(\.text) == ["good", "other", "bad"], "\(kettles.map(\.text))")
        return findings
    }
}

/// Values at the limits of their types, through context, log and checkpoint.
@Suite struct LogValueTests {
    @Test(arguments: [false, true]) func valuesAtTheirLimitsComeBackToTheLastBit(isCompacted: Bool) throws {
        try LogValueCheck(isCompacted: isCompacted).run().verify("F29", "F30")
    }

    @Test func userCodeThatThrowsInASaveLeavesNothingBehind() throws { try LogUserCodeCheck().run().verify("F33") }
}

/// Tasks that save at once, each through a context of its own.
struct LogConcurrentSaveCheck {
    /// One container for all tasks; where there are several, nobody sees to it that one saves after the other.
    var containers = 1
    var mistake: BrokenFileSystem.Mistake?

    func run() async throws -> Findings {
        var findings = Findings()
        let (tasks, rounds) = (4, isFullSize ? 40 : 8)
        let depot = try LogDepot()
        let opened = try (0..<containers).map { number in
            let process = depot.disk.process(100 + Int32(number))
            let fileSystem: any FileSystem = mistake.map { BrokenFileSystem(process, mistake: $0) } ?? process
            return try Workload.open(LogDepot.configuration(fileSystem))
        }
        let failures = await withTaskGroup(of: [String].self) { group in
            for task in 0..<tasks {
                let container = opened[task % containers]
                group.addTask {
                    let context = ModelContext(container)
                    for round in 0..<rounds {
                        context.insert(Parcel(number: task * 1_000 + round, label: "new"))
                        if let error = thrown({ try context.save() }) { return ["task \(task): \(error)"] }
                    }
                    return []
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        for container in opened { _ = thrown { try container.close() } }
        findings.inject(tasks * rounds)
        for failure in failures { findings.expect(false, failure) }
        let found = try ModelContext(depot.open()).fetch(FetchDescriptor<Parcel>()).map(\.number).sorted()
        let expected = (0..<tasks).flatMap { task in (0..<rounds).map { task * 1_000 + $0 } }
        findings.expect(found == expected, "\(found.count) parcels of \(expected.count), or others")
        return findings
    }
}

/// Many tasks save through contexts of their own, on one log, while it is maintained.
@Suite struct LogConcurrentSaveTests {
    @Test func savesOfManyTasksAreAllThere() async throws {
        try await LogConcurrentSaveCheck().run().verify("F34")
    }

    @Test func concurrentSavesAndMaintenanceLoseNothing() async throws {
        let depot = try LogDepot()
        let container = try depot.open()
        let rounds = isFullSize ? 40 : 8
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<5 {
                group.addTask {
                    let context = ModelContext(container)
                    var previous: Parcel?
                    for round in 0..<rounds {
                        previous?.label = "seen"
                        let parcel = Parcel(number: task * 1_000 + round, label: "new")
                        context.insert(parcel)
                        previous = parcel
                        try context.save()
                    }
                }
            }
            group.addTask {
                let store = try depot.openStore()
                for round in 0..<rounds / 2 {
                    if round % 2 == 0 { try store.checkpoint() } else { try store.compact() }
                }
                try store.close()
            }
            group.addTask {
                for _ in 0..<rounds {
                    let parcels = try ModelContext(container).fetch(FetchDescriptor<Parcel>())
                    // Whoever has a next one was relabeled in the same save.
                    let numbers = Set(parcels.map(\.number))
                    for parcel in parcels {
                        #expect((parcel.label == "seen") == numbers.contains(parcel.number + 1))
                    }
                    await Task.yield()
                }
            }
            try await group.waitForAll()
        }
        try container.close()
        let reopened = try depot.openStore()
        #expect(reopened.engine.version.inconsistencies() == [])
        #expect(reopened.engine.version.tables["Parcel"]?.count == 5 * rounds)
        try reopened.close()
        FaultLedger.add(["F34"], trials: 5 * rounds)
    }
}
