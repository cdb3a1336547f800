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

/// Kinds of stores that tests open by URL.
enum StoreKinds {
    static let versioned = ["memory", "json", "log"]
    /// The one on SQLite, if it is built.
    static var sqlite: [String] {
        #if SQLite
        ["sqlite"]
        #else
        []
        #endif
    }
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
