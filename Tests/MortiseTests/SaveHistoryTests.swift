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
        for model in models { insert(model, into: context) }
        return try tokens { try context.save() }
    }

    /// What the one `didSave` tells that the body causes; nil without one.
    private func tokens(_ body: () throws -> Void) throws -> [String: any HistoryToken]? {
        let received = Received()
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContext.didSave, object: context, queue: nil
        ) { notification in
            let key = ModelContext.NotificationKey.historyTokens.rawValue
            received.tokens.append(notification.userInfo?[key] as? [String: any HistoryToken])
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try body()
        #expect(received.tokens.count <= 1)
        return received.tokens.last ?? nil
    }

    @Test func aSaveTellsItsPlacesInTheHistories() throws {
        let ships = try #require(container.storeIdentifier(forConfigurationNamed: "ships"))
        let guilds = try #require(container.storeIdentifier(forConfigurationNamed: "guilds"))
        #expect(Set(try #require(try save(Ship("s"))).keys) == [ships])
        let houses = try #require(container.storeIdentifier(forConfigurationNamed: "houses"))
        let tokens = try #require(try save(Ship("t"), Guild("g"), House(name: "h")))
        #expect(Set(tokens.keys) == [ships, guilds, houses])
        #expect(try #require(try save(House(name: "i"))).count == 1)
        let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        let last = history.last { $0.storeIdentifier == ships }
        #expect(last?.token == tokens[ships] as? DefaultHistoryToken)
        #expect(history.last { $0.storeIdentifier == guilds }?.token == tokens[guilds] as? DefaultHistoryToken)
    }

    private func last(_ store: String) throws -> DefaultHistoryToken? {
        try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
            .last { $0.storeIdentifier == store }?.token
    }

    /// Batches are saves of their own, by way of the store or, where a delete rule asks for models, by way of the context.
    @Test func aBatchTellsItsPlaceInTheHistory() throws {
        let ships = try #require(container.storeIdentifier(forConfigurationNamed: "ships"))
        let guilds = try #require(container.storeIdentifier(forConfigurationNamed: "guilds"))
        var places: [DefaultHistoryToken] = []
        func expectPlace(in store: String, _ body: () throws -> Void) throws {
            let told = try #require(try tokens(body))
            let token = try #require(told[store] as? DefaultHistoryToken)
            #expect(try told.count == 1 && token == last(store))
            #expect(!places.contains(token))
            places.append(token)
        }
        try expectPlace(in: ships) {
            try context.insert(Ship.self, from: 0..<5) { ship, number in try ship.set(\.name, to: "\(number)") }
        }
        try expectPlace(in: ships) {
            try context.update(Ship.self, where: #Predicate { $0.name == "3" }) { $0.set(\.name, to: "three") }
        }
        try expectPlace(in: ships) { try context.delete(model: Ship.self, where: #Predicate { $0.name == "4" }) }
        try expectPlace(in: guilds) {
            try context.insert(Guild.self, from: ["a", "b"]) { guild, name in try guild.set(\.name, to: name) }
        }
        // What matches nothing writes nothing.
        #expect(
            try tokens {
                try context.update(Ship.self, where: #Predicate { $0.name == "?" }) { $0.set(\.name, to: "!") }
            } == nil)
        #expect(try tokens { try context.delete(model: Ship.self, where: #Predicate { $0.name == "?" }) } == nil)
        let guild = try #require(try context.fetch(FetchDescriptor<Guild>()).first)
        guild.apprentices = [Apprentice("x")]
        try context.save()
        try expectPlace(in: guilds) { try context.delete(model: Guild.self) }
        #expect(try context.fetchCount(FetchDescriptor<Apprentice>()) == 0)
    }

    @Test func whatKeepsNoHistoryIsRecordedAndTellsItsPlaceThere() throws {
        let container = try ModelContainer(
            for: Schema([House.self, Poster.self]),
            configurations: [JSONFileConfiguration(path: folder.path("houses.json"), history: .none)])
        let context = ModelContext(container)
        func told(_ body: () throws -> Void) throws -> Bool {
            nonisolated(unsafe) var received: (any HistoryToken)?
            let posted = Tally()
            let observer = NotificationCenter.default.addObserver(
                forName: ModelContext.didSave, object: context, queue: nil
            ) { notification in
                posted.add()
                let tokens = notification.userInfo?[ModelContext.NotificationKey.historyTokens.rawValue]
                received = (tokens as? [String: any HistoryToken])?.values.first
            }
            defer { NotificationCenter.default.removeObserver(observer) }
            try body()
            #expect(posted.count == 1)
            let last = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last?.token
            return last != nil && received as? DefaultHistoryToken == last
        }
        #expect(
            try told {
                context.insert(House(name: "h"))
                try context.save()
            })
        #expect(
            try told {
                try context.insert(Poster.self, from: 0..<3) { poster, number in
                    try poster.set(\.title, to: "\(number)")
                }
            })
        #expect(try told { try context.update(Poster.self) { $0.set(\.title, to: "t") } })
        #expect(try told { try context.delete(model: Poster.self) })
        let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        #expect(history.map { $0.changes.count } == [1, 3, 3, 3])
        #expect(container.capabilities(forConfigurationNamed: "houses")?.contains(.recordedHistory) == true)
        try container.close()
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
