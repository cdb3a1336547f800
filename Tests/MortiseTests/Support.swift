import Foundation
import Logging
import Mortise
import Testing

func memory(_ types: any PersistentModel.Type...) throws -> ModelContainer {
    try ModelContainer(for: Schema(types), configurations: [InMemoryConfiguration()])
}

func onlyModel<T: PersistentModel>(_ type: T.Type = T.self, in context: ModelContext) throws -> T {
    let models = try context.fetch(FetchDescriptor<T>())
    try #require(models.count == 1)
    return models[0]
}

/// Inserts a model of whatever class.
func insert(_ model: any PersistentModel, into context: ModelContext) {
    func open<T: PersistentModel>(_ model: T) { context.insert(model) }
    open(model)
}

/// Deletes a model of whatever class.
func delete(_ model: any PersistentModel, from context: ModelContext) {
    func open<T: PersistentModel>(_ model: T) { context.delete(model) }
    open(model)
}

/// A folder of its own, removed when the value goes.
final class Folder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "mortise-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name).path(percentEncoded: false) }
}

/// How often something happened; for closures that must be Sendable.
final class Tally: @unchecked Sendable {
    // @unchecked: guarded by the lock.
    private let lock = NSLock()
    private var value = 0

    var count: Int { lock.withLock { value } }
    func add() { lock.withLock { value += 1 } }
}

/// A generator that can be run again from its seed.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

/// The seed of a random test: a new one for each run, printed, or that of the environment.
func testSeed(_ test: String = #function) -> UInt64 {
    let seed =
        ProcessInfo.processInfo.environment["MORTISE_TEST_SEED"].flatMap { UInt64($0) } ?? .random(in: 1 ... .max)
    print("\(test): MORTISE_TEST_SEED=\(seed)")
    return seed
}

/// What was logged, as `level message [key: value, key: value]`.
final class LogLines: LogHandler, @unchecked Sendable {
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
        let details = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        lock.withLock { recorded.append("\(event.level) \(event.message) [\(details.joined(separator: ", "))]") }
    }
}
