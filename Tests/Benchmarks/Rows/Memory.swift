import Foundation
import Mortise
import PackageTestSupport

extension Row {
    /// What a process holds, measured in one that does nothing else.
    static var resident: Row {
        Row(
            name: "memory", title: "resident memory", unit: "record",
            targets: [.ratio(to: structs, atMost: 1, fromRecords: 100_000)], ways: { _ in [] }
        ) { fixture in
            [(memory, "store"), (structs, "structs"), (objects, "objects")].map { name, holding in
                Gauge(name: name, units: fixture.records, quantity: .bytes) {
                    try Memory.inChild(holding, records: fixture.records)
                }
            }
        }
    }

    static var limitedFetch: Row {
        Row(
            name: "memory-limit", title: "memory that a sorted fetch with limit 20 takes at its peak", unit: "fetch",
            targets: [.independent(atMost: 1.5), .limit(atMost: 262_144, fromRecords: 100_000)], ways: { _ in [] }
        ) { fixture in
            [
                Gauge(name: memory, units: 1, quantity: .bytes) {
                    try Memory.inChild("fetch", records: fixture.records)
                }
            ]
        }
    }

    static var enumeration: Row {
        Row(
            name: "memory-enumerate",
            title: "memory that going through a store takes at its peak, which has its records elsewhere",
            unit: "enumeration", targets: [.limit(atMost: Double(32 << 20), fromRecords: 10_000)], ways: { _ in [] }
        ) { fixture in
            [
                Gauge(name: madeUp, units: 1, quantity: .bytes) {
                    try Memory.inChild("enumeration", records: fixture.records)
                }
            ]
        }
    }

    private static let madeUp = "Mortise, records made up"
}

/// What this process holds, asked in a process of its own, so that nothing else is counted.
enum Memory {
    /// Runs this program again to hold something, and returns the bytes that it says it took.
    static func inChild(_ holding: String, records: Int) throws -> Double {
        let child = Process()
        child.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        child.arguments = ["--memory", holding, "--records", "\(records)"]
        let output = Pipe()
        child.standardOutput = output
        try child.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        child.waitUntilExit()
        let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard child.terminationStatus == 0, let bytes = Double(text) else {
            throw UsageError("The process that measures \(holding) said: \(text)")
        }
        return bytes
    }

    /// What the child does.
    static func report(_ holding: String, records: Int, seed: UInt64) throws -> Int32 {
        let bytes: Int
        switch holding {
        case "structs":
            let before = resident()
            let trips = TripValues.generate(records, seed: seed)
            bytes = withExtendedLifetime(trips) { resident() - before }
        case "objects":
            let before = resident()
            let trips = TripValues.generate(records, seed: seed).map { TripObject($0) }
            bytes = withExtendedLifetime(trips) { resident() - before }
        case "store":
            let before = resident()
            let container = try ModelContainer(for: Trip.self, Traveler.self, store: "memory:")
            try fill(container, records, seed)
            bytes = withExtendedLifetime(container) { resident() - before }
        case "fetch":
            let container = try ModelContainer(for: UnindexedTrip.self, store: "memory:")
            try fillUnindexed(container, records, seed)
            _ = try fetchFirst(container)
            trim()
            let before = peak(resetting: true)
            let sum = try fetchFirst(container)
            bytes = max(0, peak(resetting: false) - before) + (sum < 0 ? 1 : 0)
        case "enumeration":
            let container = try ModelContainer(
                for: Schema([UnindexedTrip.self]), configurations: [MadeUpConfiguration(count: records, value: value)])
            _ = try enumerate(container, upTo: 1_000)
            trim()
            let before = peak(resetting: true)
            let count = try enumerate(container, upTo: records)
            guard count == records else { throw UsageError("\(count) of \(records) records were enumerated.") }
            bytes = max(0, peak(resetting: false) - before)
        case "ledger": bytes = try importing(records, seed) { try Ledger.importAll($0, into: Ledger.newContainer($1)) }
        case "ledger-peer": bytes = try importing(records, seed) { try Peers.importLedger($0, into: $1) }
        default: throw UsageError("\(holding) is nothing to hold.")
        }
        Report.say("\(max(bytes, 1))")
        return 0
    }

    private static let value: @Sendable (RecordLayout.Slot, Int) -> StoredValue = { slot, number in
        switch slot.property.attribute?.kind {
        case .uuid: .uuid(UUID())
        case .date: .date(Date(timeIntervalSinceReferenceDate: Double(number)))
        case .double: .double(Double(number))
        case .bool: .bool(number % 2 == 0)
        case .string: .string("\(slot.name) of the trip that has the number \(number)")
        default: .integer(Int64(number))
        }
    }

    /// What a process takes at its peak that has all that it imports.
    private static func importing(
        _ records: Int, _ seed: UInt64, _ work: ([LedgerValues], String) throws -> Void
    ) throws -> Int {
        let folder = FileManager.default.temporaryDirectory.appending(path: "mortise-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let entries = LedgerValues.generate(records, seed: seed)
        trim()
        _ = peak(resetting: true)
        try work(entries, folder.appending(path: "ledger.data").path(percentEncoded: false))
        return withExtendedLifetime(entries) { peak(resetting: false) }
    }

    /// How many models the first records have.
    private static func enumerate(_ container: ModelContainer, upTo limit: Int) throws -> Int {
        var first = FetchDescriptor<UnindexedTrip>()
        first.fetchLimit = limit
        var count = 0
        try ModelContext(container).enumerate(first) { count += $0.name.isEmpty ? 0 : 1 }
        return count
    }

    private static func fetchFirst(_ container: ModelContainer) throws -> Int {
        var first = FetchDescriptor<UnindexedTrip>(sortBy: [SortDescriptor(\.price)])
        first.fetchLimit = 20
        return try ModelContext(container).fetch(first).reduce(0) { $0 + Int($1.price) }
    }

    /// Fills a store in portions, as a program does that keeps no models.
    private static func fill(_ container: ModelContainer, _ records: Int, _ seed: UInt64) throws {
        let makers = TripMaker(records, seed: seed)
        let travelers = ModelContext(container)
        for number in 0..<TripValues.travelerCount(forTrips: records) {
            travelers.insert(Traveler(name: "Traveler \(number)"))
        }
        try travelers.save()
        while makers.left > 0 {
            let context = ModelContext(container)
            let parents = try context.fetch(FetchDescriptor<Traveler>())
            for values in makers.next(20_000) { context.insert(Trip(values, traveler: parents[values.traveler])) }
            try context.save()
        }
    }

    private static func fillUnindexed(_ container: ModelContainer, _ records: Int, _ seed: UInt64) throws {
        let makers = TripMaker(records, seed: seed)
        while makers.left > 0 {
            let context = ModelContext(container)
            for values in makers.next(20_000) { context.insert(UnindexedTrip(values)) }
            try context.save()
        }
    }

    private static func resident() -> Int {
        trim()
        return status("VmRSS:")
    }

    /// The most that was ever resident since the last reset.
    private static func peak(resetting: Bool) -> Int {
        if resetting { try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8) }
        return status("VmHWM:")
    }

    private static func status(_ name: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
        return (line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) } ?? 0)
            * 1024
    }

    /// Gives back to the system what is allocated no more, which is no record's memory.
    private static func trim() {
        #if canImport(Glibc)
        // Glibc has it in a header that Swift does not import.
        typealias Trim = @convention(c) (Int) -> Int32
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        _ = unsafeBitCast(symbol, to: Trim.self)(0)
        #endif
    }
}

/// Trips in portions: the same as `TripValues.generate` makes at once.
final class TripMaker {
    private let seed: UInt64
    private let records: Int
    private var made = 0

    init(_ records: Int, seed: UInt64) {
        self.records = records
        self.seed = seed
    }

    var left: Int { records - made }

    func next(_ count: Int) -> [TripValues] {
        let portion = TripValues.generate(min(count, left), seed: seed &+ UInt64(made), from: made, of: records)
        made += portion.count
        return portion
    }
}
