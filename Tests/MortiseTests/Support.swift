import Foundation
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
