import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog

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

/// Values at the limits of their types, through context, log and checkpoint.
@Suite struct LogValueTests {
    private let disk = SimulatedFileSystem(seed: 3)

    private func open() throws -> ModelContainer {
        try ModelContainer(for: Schema([Kettle.self]), configurations: [LogDepot.configuration(disk)])
    }

    @Test(arguments: [false, true]) func valuesAtTheirLimitsComeBackToTheLastBit(isCompacted: Bool) throws {
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
            context.insert(
                Kettle(
                    texts[index], level: levels[index], boiled: dates[index % 3], price: prices[index % 3],
                    count: counts[index % 3], whistle: index % 2 == 0 ? Whistle(pitch: levels[10]) : nil))
        }
        try context.save()
        if isCompacted { try container.logStore?.compact() }
        try container.close()
        let found = try ModelContext(open()).fetch(FetchDescriptor<Kettle>())
        #expect(found.map { Array($0.text.utf8) } == texts.map { Array($0.utf8) })
        #expect(found.map(\.level.bitPattern) == levels.map(\.bitPattern))
        #expect(found.map(\.boiled) == levels.indices.map { dates[$0 % 3] })
        #expect(found.map(\.price) == levels.indices.map { prices[$0 % 3] })
        #expect(found.map(\.count) == levels.indices.map { counts[$0 % 3] })
        #expect(found.map { $0.whistle?.pitch } == levels.indices.map { $0 % 2 == 0 ? 0.1 : nil })
        FaultLedger.add(["F29", "F30"], injected: levels.count * 5)
    }

    @Test func userCodeThatThrowsInASaveLeavesNothingBehind() throws {
        let container = try open()
        let context = ModelContext(container)
        context.insert(Kettle("good", whistle: Whistle(pitch: 1)))
        try context.save()
        let before = disk.contents(at: LogDepot.path)
        let broken = Kettle("bad", whistle: Whistle(pitch: 2, isBroken: true))
        context.insert(Kettle("other"))
        context.insert(broken)
        #expect(thrown { try context.save() } != nil)
        #expect(context.hasChanges)
        #expect(disk.contents(at: LogDepot.path) == before)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Kettle>()) == 1)
        broken.whistle = Whistle(pitch: 3)
        try context.save()
        #expect(!context.hasChanges)
        try container.close()
        let kettles = try ModelContext(open()).fetch(FetchDescriptor<Kettle>())
        #expect(kettles.map(\.text) == ["good", "other", "bad"])
        FaultLedger.add(["F33"], injected: 1)
    }
}

/// Many tasks save through contexts of their own, on one log, while it is maintained.
@Suite struct LogConcurrentSaveTests {
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
                    // Whoever has a next one was relabelled in the same save.
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
        FaultLedger.add(["F34"], injected: 5 * rounds)
    }
}
