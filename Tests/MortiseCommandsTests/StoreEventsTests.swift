#if Metrics
import Foundation
import Logging
import Metrics
import MortiseAppendLog
import MortiseCore
import MortiseEngine
import MortiseInMemory
import MortiseMetrics
import Synchronization
import Testing

/// What operators are told of fetches, recoveries and compactions, and that no value is among it. Serial, since the process
/// has one handler.
@Suite(.serialized) struct StoreEventsTests {
    private final class Seen: Sendable {
        let events = Mutex<[StoreEvent]>([])
    }

    private func observing(_ body: () throws -> Void) throws -> [StoreEvent] {
        let seen = Seen()
        StoreEvents.observe { event in seen.events.withLock { $0.append(event) } }
        defer { StoreEvents.observe(nil) }
        try body()
        return seen.events.withLock { $0 }
    }

    private func memos(_ count: Int) throws -> ModelContext {
        let context = ModelContext(
            try ModelContainer(for: Schema(Memo.self), configurations: [InMemoryConfiguration("memos")]))
        for number in 0..<count { context.insert(Memo(title: "secret \(number)", size: number)) }
        try context.save()
        return context
    }

    /// Defect that this prevents: each event wrapped the handler once more, until the stack did not suffice for a call.
    @Test func anyNumberOfEventsIsTold() throws {
        let told = Atomic(0)
        StoreEvents.observe { _ in told.add(1, ordering: .relaxed) }
        defer { StoreEvents.observe(nil) }
        for number in 0..<200_000 { StoreEvents.emit(.remoteChange(store: "\(number)")) }
        #expect(told.load(ordering: .relaxed) >= 200_000)
    }

    @Test func aFetchIsTold() throws {
        let context = try memos(10)
        let events = try observing {
            _ = try context.fetch(FetchDescriptor<Memo>(predicate: #Predicate { $0.title == "secret 3" }))
        }
        let fetches = events.filter { if case .fetch("Memo", "memos", _, 10, 1, true) = $0 { true } else { false } }
        #expect(fetches.count == 1, "\(events)")
        #expect(!"\(events)".contains("secret"))
    }

    /// A log as a crash leaves it: the last frame's end was never written.
    private func makeTornLog(_ folder: ToolFolder) throws {
        try TripStore.make(folder.path("trips.log"), trips: 5)
        let url = folder.url.appending(path: "trips.log")
        var bytes = try Data(contentsOf: url)
        let end = (bytes.lastIndex { $0 != 0 } ?? 0) + 1
        bytes.removeSubrange((end - 20)...)
        try bytes.write(to: url)
    }

    private func trips(_ folder: ToolFolder, _ logger: Logger) throws -> ModelContainer {
        try ModelContainer(
            for: Schema(stored: TripStore.schema),
            configurations: [AppendLogConfiguration(path: folder.path("trips.log"))],
            logger: logger)
    }

    @Test func recoveriesAndCompactionsAreTold() throws {
        let folder = try ToolFolder()
        try makeTornLog(folder)
        let events = try observing {
            let store = try #require(try TripStore.open(folder.path("trips.log")) as? AppendLogStore)
            try store.compact()
            try store.close()
        }
        #expect(
            events.contains { if case .recovery("trips", let bytes) = $0 { bytes > 0 } else { false } }, "\(events)")
        #expect(events.contains { if case .compaction("trips", 0, _) = $0 { true } else { false } }, "\(events)")
    }

    @Test func slowFetchesAreLoggedWithoutValues() throws {
        let lines = LogLines()
        let context = try memos(10)
        context.container.logger = Logger(label: "test") { _ in LineHandler(lines: lines) }
        context.container.slowFetchLimit = .zero
        _ = try context.fetch(FetchDescriptor<Memo>(predicate: #Predicate { $0.title == "secret 3" }))
        context.container.slowFetchLimit = .seconds(3_600)
        _ = try context.fetch(FetchDescriptor<Memo>())
        let found = lines.lines.withLock { $0 }
        #expect(found.count == 1 && found[0].contains("slow fetch") && found[0].contains("Memo"), "\(found)")
        #expect(!found.joined().contains("secret"))
    }

    @Test func aRecoveryIsLoggedByTheLoggerOfTheContainer() throws {
        let folder = try ToolFolder()
        try makeTornLog(folder)
        let lines = LogLines()
        for _ in 0..<2 {
            try trips(folder, Logger(label: "test") { _ in LineHandler(lines: lines) }).close()
        }
        let found = lines.lines.withLock { $0 }
        #expect(found.count == 1, "\(found)")
        #expect(found.allSatisfy { $0.contains("recovered") && $0.contains("trips") }, "\(found)")
        #expect(found.allSatisfy { $0.contains("never acknowledged") }, "\(found)")
    }

    @Test func aCompactionIsLoggedByTheLoggerOfTheContainer() throws {
        let folder = try ToolFolder()
        try TripStore.make(folder.path("trips.log"), trips: 5)
        let (first, second) = (LogLines(), LogLines())
        let container = try trips(folder, Logger(label: "test") { _ in LineHandler(lines: first) })
        let store = try #require(container.store(AppendLogStore.self))
        try store.compact()
        container.logger = Logger(label: "other") { _ in LineHandler(lines: second) }
        try store.compact()
        for lines in [first, second] {
            let found = lines.lines.withLock { $0 }
            #expect(found.count == 1, "\(found)")
            #expect(found.allSatisfy { $0.hasPrefix("notice compacted") && $0.contains("trips") }, "\(found)")
            #expect(found.allSatisfy { $0.contains("\"dropped\": 0") }, "\(found)")
        }
        try container.close()
    }

    /// Whoever asks for nothing is told of nothing that a fetch costs.
    @Test func fetchesAreLoggedOnlyWhereALimitIsSet() throws {
        let lines = LogLines()
        let context = try memos(10)
        context.container.logger = Logger(label: "test") { _ in LineHandler(lines: lines) }
        _ = try context.fetch(FetchDescriptor<Memo>(predicate: #Predicate { $0.size > 3 }))
        #expect(lines.lines.withLock { $0.isEmpty })
        context.container.fullScanPolicy = .warn(above: 9)
        _ = try context.fetch(FetchDescriptor<Memo>(predicate: #Predicate { $0.size > 3 }))
        let found = lines.lines.withLock { $0 }
        #expect(found.count == 1 && found.allSatisfy { $0.hasPrefix("warning full scan") }, "\(found)")
    }

    /// H13: by name, once, by a limit and by a deletion.
    @Test func aLostHolderOfHistoryIsTold() throws {
        let container = try ModelContainer(
            for: Schema(Memo.self),
            configurations: [InMemoryConfiguration("memos", history: HistoryRetention(transactions: 2))])
        let context = ModelContext(container)
        func save(_ count: Int) throws {
            for number in 0..<count {
                context.insert(Memo(title: "secret \(number)", size: number))
                try context.save()
            }
        }
        let events = try observing {
            try save(1)
            try container.holdHistory("lazy", maximumLag: 1)
            try save(20)
            try container.holdHistory("forced")
            try save(1)
            try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>(), force: true)
        }
        let lost = events.compactMap { event in
            if case .historyHolderLost("memos", let holder) = event { holder } else { nil }
        }
        #expect(lost == ["lazy", "forced"])
    }

    @Test func metricsCountThem() throws {
        let metrics = CountingMetrics()
        MetricsSystem.bootstrap(metrics)
        StoreMetrics.start(slowFetchLimit: .zero)
        defer { StoreEvents.observe(nil) }
        let context = try memos(10)
        _ = try context.fetch(FetchDescriptor<Memo>())
        _ = try context.fetch(FetchDescriptor<Memo>(predicate: #Predicate { $0.size > 3 }))
        let folder = try ToolFolder()
        try makeTornLog(folder)
        let container = try trips(folder, Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let store = try #require(container.store(AppendLogStore.self))
        for _ in 0..<2 { try store.compact() }
        try container.close()
        let found = metrics.counts.withLock { $0 }
        #expect((found["mortise.fetch.slow store=memos entity=Memo"] ?? 0) >= 2, "\(found)")
        #expect((found["mortise.fetch.full_scans store=memos entity=Memo"] ?? 0) >= 1, "\(found)")
        #expect((found["mortise.fetch.duration store=memos entity=Memo"] ?? 0) >= 2, "\(found)")
        #expect(found["mortise.recoveries store=trips"] == 1, "\(found)")
        #expect(found["mortise.compactions store=trips"] == 2, "\(found)")
        #expect(found["mortise.compaction.duration store=trips"] == 2, "\(found)")
    }
}

/// Keeps what is logged.
private final class LogLines: Sendable {
    let lines = Mutex<[String]>([])
}

private struct LineHandler: LogHandler {
    let lines: LogLines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }
    func log(event: LogEvent) {
        lines.lines.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
    }
}

/// Counts how often each metric is told something.
private final class CountingMetrics: MetricsFactory, CounterHandler, RecorderHandler, TimerHandler, Sendable {
    let counts: Mutex<[String: Int]>
    private let parent: CountingMetrics?
    private let name: String

    init(_ parent: CountingMetrics? = nil, _ name: String = "") {
        counts = Mutex([:])
        self.parent = parent
        self.name = name
    }

    private func note() {
        guard let parent else { return }
        parent.counts.withLock { $0[name, default: 0] += 1 }
    }
    private func child(_ label: String, _ dimensions: [(String, String)]) -> CountingMetrics {
        CountingMetrics(self, ([label] + dimensions.map { "\($0)=\($1)" }).joined(separator: " "))
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { child(label, dimensions) }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        child(label, dimensions)
    }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { child(label, dimensions) }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
    func increment(by amount: Int64) { note() }
    func reset() {}
    func record(_ value: Int64) { note() }
    func record(_ value: Double) { note() }
    func recordNanoseconds(_ duration: Int64) { note() }
}
#endif
