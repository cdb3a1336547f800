#if ServiceLifecycle
import Foundation
import Logging
import MortiseAppendLog
import MortiseCore
import MortiseService
import MortiseTestSupport
import ServiceLifecycle
import Synchronization
import Testing

final class Counter: PersistentModel {
    var persistentBackingData: any BackingData<Counter> = Counter.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "value", keypath: \Counter.value)] }
    init(backingData: any BackingData<Counter>) { persistentBackingData = backingData }
    init(_ value: Int) { self.value = value }
    var value: Int {
        get { getValue(forKey: \.value) }
        set { setValue(forKey: \.value, to: newValue) }
    }
}

/// What a service saves until it is shut down.
private struct Saver: Service {
    let container: ModelContainer
    let saved: Mutex<Int>.Box
    let started: @Sendable () -> Void

    func run() async throws {
        let context = ModelContext(container)
        context.insert(Counter(0))
        try context.save()
        saved.add()
        started()
        try await gracefulShutdown()
        // The container closes after this one.
        context.insert(Counter(1))
        try context.save()
        saved.add()
    }
}

extension Mutex where Value == Int {
    /// A counter to share.
    final class Box: Sendable {
        private let value = Mutex<Int>(0)
        var count: Int { value.withLock { $0 } }
        func add() { value.withLock { $0 += 1 } }
    }
}

/// What was logged, by level.
private final class Lines: LogHandler, @unchecked Sendable {
    // @unchecked: guarded by the lock.
    private let lock = NSLock()
    private var recorded: [String] = []
    var all: [String] { lock.withLock { recorded } }
    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }
    func log(event: LogEvent) {
        lock.withLock { recorded.append("\(event.level) \(event.metadata?["status"] ?? "")") }
    }
}

@Suite struct ContainerServiceTests {
    private static func folder() throws -> String {
        let url = FileManager.default.temporaryDirectory.appending(path: "mortise-service-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return url.path(percentEncoded: false)
    }

    private static func open(_ path: String) throws -> ModelContainer {
        try ModelContainer(for: Schema([Counter.self]), configurations: [AppendLogConfiguration(path: path)])
    }

    @Test func theContainerIsOpenUntilAllOthersAreDone() async throws {
        let path = try Self.folder() + "s.log"
        let container = try Self.open(path)
        let saved = Mutex<Int>.Box()
        let (stream, started) = AsyncStream<Void>.makeStream()
        let group = ServiceGroup(
            services: [ContainerService(container), Saver(container: container, saved: saved) { started.yield() }],
            logger: Logger(label: "t") { _ in SwiftLogNoOpLogHandler() })
        async let run: Void = group.run()
        for await _ in stream { break }
        #expect(!container.isClosed)
        await group.triggerGracefulShutdown()
        try await run
        #expect(container.isClosed && saved.count == 2)
        // Its file is free.
        let again = try Self.open(path)
        #expect(try ModelContext(again).fetchCount(FetchDescriptor<Counter>()) == 2)
        try again.close()
    }

    @Test func cancellingClosesAsWell() async throws {
        let container = try Self.open(try Self.folder() + "s.log")
        let task = Task { try await ContainerService(container, healthInterval: nil).run() }
        task.cancel()
        try await task.value
        #expect(container.isClosed)
    }

    /// Defect: a store that did not answer kept the service from shutting down, and held a thread that all tasks share.
    @Test func aStoreThatDoesNotAnswerKeepsNothingOpen() async throws {
        let disk = SimulatedFileSystem(seed: 1)
        let container = try ModelContainer(
            for: Schema([Counter.self]), configurations: [AppendLogConfiguration(path: "/s.log", in: disk)])
        let (stream, hangs) = AsyncStream<Void>.makeStream()
        let goesOn = DispatchSemaphore(value: 0)
        disk.interject(of: .info) {
            hangs.yield()
            goesOn.wait()
        }
        let task = Task {
            let logger = Logger(label: "t") { _ in SwiftLogNoOpLogHandler() }
            try await ContainerService(container, healthInterval: .milliseconds(5), logger: logger).run()
        }
        for await _ in stream { break }
        // Ends the test where the service waits.
        let released = Mutex<Int>.Box()
        let patience = Task {
            try await Task.sleep(for: .seconds(120))
            released.add()
            goesOn.signal()
        }
        task.cancel()
        try await task.value
        #expect(container.isClosed && released.count == 0)
        patience.cancel()
        goesOn.signal()
    }

    @Test func changesOfHealthAreLogged() async throws {
        let path = try Self.folder() + "s.log"
        let container = try Self.open(path)
        let context = ModelContext(container)
        context.insert(Counter(1))
        try context.save()
        let lines = Lines()
        let task = Task {
            try await ContainerService(
                container, healthInterval: .milliseconds(5), logger: Logger(label: "t") { _ in lines }
            ).run()
        }
        func wait(for line: String) async throws {
            while lines.all.last != line { try await Task.sleep(for: .milliseconds(2)) }
        }
        try await wait(for: "debug healthy")
        try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
        try await wait(for: "error failing")
        try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
        try await wait(for: "notice healthy")
        task.cancel()
        try await task.value
        #expect(lines.all == ["debug healthy", "error failing", "notice healthy"])
    }
}
#endif
