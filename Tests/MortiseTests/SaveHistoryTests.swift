import Foundation
import Mortise
import Testing

/// Bugs: `didSave` promised the places of the save in the stores' histories and did not have them; limit and order of a
/// history held for each of several stores by itself.
@Suite struct SaveHistoryTests {
    private let folder: Folder
    private let container: ModelContainer
    private let context: ModelContext

    init() throws {
        let folder = try Folder()
        self.folder = folder
        func configuration(_ name: String, _ types: [any PersistentModel.Type]) -> ModelConfiguration {
            ModelConfiguration(name, schema: Schema(types), url: URL(filePath: folder.path("\(name).log")))
        }
        container = try ModelContainer(
            for: Schema([Ship.self, Guild.self, House.self]),
            configurations: [
                configuration("ships", [Ship.self]), configuration("guilds", [Guild.self]),
                ModelConfiguration("houses", schema: Schema([House.self]), isStoredInMemoryOnly: true),
            ])
        context = ModelContext(container)
    }

    private final class Received: @unchecked Sendable {
        // @unchecked: posted and read on the test's thread.
        var tokens: [[String: any HistoryToken]?] = []
    }

    private func save(_ models: any PersistentModel...) throws -> [String: any HistoryToken]? {
        let received = Received()
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContext.didSave, object: context, queue: nil
        ) { notification in
            let key = ModelContext.NotificationKey.historyTokens.rawValue
            received.tokens.append(notification.userInfo?[key] as? [String: any HistoryToken])
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        for model in models { context.insert(model) }
        try context.save()
        #expect(received.tokens.count == 1)
        return received.tokens.last ?? nil
    }

    @Test func aSaveTellsItsPlacesInTheHistories() throws {
        let ships = try #require(container.storeIdentifier(forConfigurationNamed: "ships"))
        let guilds = try #require(container.storeIdentifier(forConfigurationNamed: "guilds"))
        #expect(Set(try #require(try save(Ship("s"))).keys) == [ships])
        let tokens = try #require(try save(Ship("t"), Guild("g"), House(name: "h")))
        #expect(Set(tokens.keys) == [ships, guilds])
        #expect(try save(House(name: "i")) == nil, "nothing that was written keeps a history")
        let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        let last = history.last { $0.storeIdentifier == ships }
        #expect(last?.token == tokens[ships] as? DefaultHistoryToken)
        #expect(history.last { $0.storeIdentifier == guilds }?.token == tokens[guilds] as? DefaultHistoryToken)
    }

    @Test func limitAndOrderHoldOverAllStores() throws {
        for number in 0..<6 {
            if number % 2 == 0 { context.insert(Ship("\(number)")) } else { context.insert(Guild("\(number)")) }
            try context.save()
        }
        var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
        let all = try context.fetchHistory(descriptor)
        #expect(all.count == 6)
        #expect(all.map(\.timestamp) == all.map(\.timestamp).sorted())
        #expect(Set(all.prefix(2).map(\.storeIdentifier)).count == 2)
        descriptor.fetchLimit = 5
        #expect(try context.fetchHistory(descriptor) == Array(all.prefix(5)))
        descriptor.sortBy = [SortDescriptor(\.timestamp, order: .reverse)]
        descriptor.fetchLimit = 3
        #expect(try context.fetchHistory(descriptor).map(\.timestamp) == all.suffix(3).reversed().map(\.timestamp))
    }
}
