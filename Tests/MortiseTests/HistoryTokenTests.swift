import Foundation
import Mortise
import Testing

/// Bugs: tokens of different stores were ordered by the stores' random identifiers, and the first store decided for a
/// token over several. A batch that matched nothing told the token of an older save.
@Suite struct HistoryTokenTests {
    private let folder: Folder
    private let container: ModelContainer
    private let context: ModelContext

    init() throws {
        let folder = try Folder()
        self.folder = folder
        container = try ModelContainer(
            for: Schema([Ship.self, Guild.self]),
            configurations: [
                ModelConfiguration("ships", schema: Schema([Ship.self]), url: URL(filePath: folder.path("ships.log"))),
                ModelConfiguration(
                    "guilds", schema: Schema([Guild.self]), url: URL(filePath: folder.path("guilds.log"))),
            ])
        context = ModelContext(container)
        for number in 1...3 {
            context.insert(Ship("\(number)"))
            try context.save()
            if number == 3 { continue }
            context.insert(Guild("\(number)"))
            try context.save()
        }
    }

    private typealias Descriptor = HistoryDescriptor<DefaultHistoryTransaction>

    private func places(_ descriptor: Descriptor) throws -> [String] {
        let ships = try #require(container.storeIdentifier(forConfigurationNamed: "ships"))
        return try context.fetchHistory(descriptor).map {
            "\($0.storeIdentifier == ships ? "s" : "g")\($0.transactionIdentifier)"
        }
    }

    private func token(ships: Int64?, guilds: Int64?) throws -> DefaultHistoryToken {
        var value: [String: Int64] = [:]
        value[try #require(container.storeIdentifier(forConfigurationNamed: "ships"))] = ships
        value[try #require(container.storeIdentifier(forConfigurationNamed: "guilds"))] = guilds
        return DefaultHistoryToken(value)
    }

    @Test func aTokenOverSeveralStoresIsComparedStoreByStore() throws {
        for (ships, guilds, expected) in [
            (3, 2, []), (2, 2, ["s3"]), (3, 1, ["g2"]), (1, 1, ["s2", "g2", "s3"]),
            (0, 0, ["s1", "g1", "s2", "g2", "s3"]),
        ] as [(Int64, Int64, [String])] {
            let seen = try token(ships: ships, guilds: guilds)
            #expect(try places(Descriptor(predicate: #Predicate { $0.token > seen })) == expected)
        }
        let all = try token(ships: nil, guilds: nil)
        #expect(try places(Descriptor(predicate: #Predicate { $0.token > all })).count == 5)
    }

    /// A consumer that has not seen a store yet would silently lose what is in it.
    @Test func aTokenIsTheBeginningOfAStoreThatItDoesNotName() throws {
        let ships = try token(ships: 1, guilds: nil)
        #expect(try places(Descriptor(predicate: #Predicate { $0.token > ships })) == ["g1", "s2", "g2", "s3"])
        #expect(try places(Descriptor(predicate: #Predicate { $0.token >= ships })) == ["s1", "g1", "s2", "g2", "s3"])
        #expect(
            try places(Descriptor(predicate: #Predicate { $0.token > ships || $0.author == "x" }))
                == ["g1", "s2", "g2", "s3"])
        let guilds = try token(ships: nil, guilds: 9)
        #expect(!(ships < guilds) && !(guilds < ships) && !(ships <= guilds) && !(ships >= guilds))
        try context.deleteHistory(Descriptor(predicate: #Predicate { $0.token <= ships }))
        #expect(try places(Descriptor()) == ["g1", "s2", "g2", "s3"])
    }

    @Test func sortingByTokenKeepsTheOrderOfEachStore() throws {
        let ascending = try places(Descriptor(sortBy: [SortDescriptor(\.token)]))
        #expect(ascending == ["s1", "g1", "s2", "g2", "s3"])
        #expect(try places(Descriptor(sortBy: [SortDescriptor(\.token, order: .reverse)])) == ascending.reversed())
    }

    @Test func aBatchThatMatchesNothingTellsNoToken() throws {
        nonisolated(unsafe) var tokens: [[String: any HistoryToken]?] = []
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContext.didSave, object: context, queue: nil
        ) { notification in
            tokens.append(
                notification.userInfo?[ModelContext.NotificationKey.historyTokens.rawValue]
                    as? [String: any HistoryToken])
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try context.update(Ship.self, where: #Predicate { $0.name == "none" }) { $0.set(\.name, to: "some") }
        try context.delete(model: Ship.self, where: #Predicate { $0.name == "none" })
        #expect(tokens.allSatisfy { $0 == nil })
        try context.update(Ship.self, where: #Predicate { $0.name == "1" }) { $0.set(\.name, to: "some") }
        #expect(tokens.last??.count == 1)
    }
}
