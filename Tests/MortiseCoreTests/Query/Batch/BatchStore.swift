import Foundation
import MortiseCore
import MortiseInMemory

/// The stores that a batch takes its different ways on: one that does it itself, one that is told which records, one of
/// snapshots that does nothing.
enum BatchStore: CaseIterable {
    case engine, scanning, plain

    var configuration: any DataStoreConfiguration {
        switch self {
        case .engine: InMemoryConfiguration()
        case .scanning: ScanningConfiguration()
        case .plain: PlainConfiguration()
        }
    }

    func container(_ types: [any PersistentModel.Type]) throws -> ModelContainer {
        let container = try ModelContainer(for: Schema(types), configurations: [configuration])
        container.verifiesPushDown = true
        return container
    }

    /// Two authors with books of 100, 200, … pages, and a book of nobody's.
    func library() throws -> ModelContext {
        let context = ModelContext(try container([Author.self, Book.self, Shelf.self]))
        let lem = Author(name: "Lem", born: 1921)
        let eco = Author(name: "Eco")
        for (place, title) in ["Solaris", "Fiasco", "Eden"].enumerated() {
            context.insert(Book(title: title, pages: (place + 1) * 100, author: lem))
        }
        context.insert(Book(title: "Baudolino", pages: 400, author: eco))
        context.insert(Book(title: "Beowulf", genre: .poem, pages: 500))
        try context.save()
        return context
    }
}

extension ModelContext {
    /// Title and pages of all books as this context sees them, in identity order.
    var shelfList: [String] {
        get throws { try fetch(FetchDescriptor<Book>()).map { "\($0.title) \($0.pages)" } }
    }
}

/// What was posted while a block ran.
final class PostedSaves: @unchecked Sendable {
    // @unchecked: notifications are posted on the thread that saves, which is the test's.
    private(set) var counts: [[String: Int]] = []
    private(set) var willSaves = 0
    private var observers: [any NSObjectProtocol] = []

    init(of context: ModelContext) {
        let key = ModelContext.NotificationKey.self
        observers.append(
            NotificationCenter.default.addObserver(forName: ModelContext.didSave, object: context, queue: nil) { note in
                var found: [String: Int] = [:]
                for key in [key.insertedIdentifiers, key.updatedIdentifiers, key.deletedIdentifiers] {
                    found[key.rawValue] = (note.userInfo?[key.rawValue] as? [PersistentIdentifier])?.count
                }
                self.counts.append(found.filter { $0.value > 0 })
            })
        observers.append(
            NotificationCenter.default.addObserver(forName: ModelContext.willSave, object: context, queue: nil) { _ in
                self.willSaves += 1
            })
    }
    func stop() {
        for observer in observers { NotificationCenter.default.removeObserver(observer) }
    }
}
