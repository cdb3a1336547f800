import Foundation
import Mortise
import Testing

/// What a `HistoryObserver` counts: notifications with changes of its models by its authors, and what is behind its tokens.
@Suite struct HistoryObserverTests {
    private let container: ModelContainer
    private let context: ModelContext

    init() throws {
        container = try fleetContainer()
        context = ModelContext(container)
    }

    private func save(_ model: any PersistentModel, by author: String?) throws {
        context.author = author
        context.insert(model)
        try context.save()
    }

    private func feed() throws -> ChangeFeed { try #require(container.changeFeeds.values.first) }

    private func count(_ observer: HistoryObserver) throws -> Int {
        try feed().settle()
        return observer.eventCounter
    }

    @Test func changesOfItsModelsByItsAuthorsCountOnceEach() throws {
        let all = try HistoryObserver(modelContainer: container)
        let vehicles = try HistoryObserver(
            observedModels: [Vehicle.self], authors: ["ada", "bo"], modelContainer: container)
        #expect(try count(all) == 0 && count(vehicles) == 0)
        let steps: [(model: any PersistentModel, author: String?, counts: Bool)] = [
            (Vehicle(plate: "a"), "ada", true), (Vehicle(plate: "b"), "cy", false), (Vehicle(plate: "c"), nil, false),
            (Garage(name: "d"), "ada", false), (Tanker(plate: "e", load: 1, liquid: "oil"), "bo", true),
        ]
        var expected = 0
        for (place, step) in steps.enumerated() {
            try save(step.model, by: step.author)
            if step.counts { expected += 1 }
            #expect(try count(all) == place + 1)
            #expect(try count(vehicles) == expected, "step \(place)")
        }
    }

    @Test func changesThatArriveTogetherCountOnce() throws {
        let observer = try HistoryObserver(authors: ["ada"], modelContainer: container)
        let sets = ["ada", "ada", "bo"].map { ChangeSet(author: $0) }
        try feed().post(sets, isRemote: true)
        #expect(try count(observer) == 1)
        try feed().post([ChangeSet(author: "bo")], isRemote: true)
        #expect(try count(observer) == 1)
    }

    /// Bug: what other processes had done without saying so was by no author, and concerned nobody who had named some.
    @Test func changesOfWhichNothingIsKnownCountForAllAuthors() throws {
        let observer = try HistoryObserver(
            observedModels: [Garage.self], authors: ["ada"], modelContainer: container)
        var unknown = ChangeSet()
        unknown.isIncomplete = true
        try feed().post([unknown], isRemote: true)
        #expect(try count(observer) == 1)
    }

    @Test(arguments: [1, 70, 200]) func whatIsBehindItsTokensCountsOnce(_ others: Int) throws {
        try save(Vehicle(plate: "first"), by: "ada")
        let store = try #require(container.changeFeeds.keys.first)
        let token = try #require(try context.history().last).token
        for number in 0..<others { try save(Garage(name: "\(number)"), by: "bo") }
        func begin(_ models: [any PersistentModel.Type], _ authors: Set<String>) throws -> Int {
            let observer = try HistoryObserver(
                historyTokens: [store: token], observedModels: models, authors: authors, modelContainer: container)
            return observer.eventCounter
        }
        #expect(try begin([], []) == 1 && begin([Garage.self], ["bo"]) == 1)
        #expect(try begin([Vehicle.self], []) == 0 && begin([], ["ada"]) == 0 && begin([], ["ada", "cy"]) == 0)
        try save(Vehicle(plate: "last"), by: "ada")
        #expect(try begin([Vehicle.self], []) == 1 && begin([], ["ada"]) == 1 && begin([], ["ada", "cy"]) == 1)
    }

    /// Bug: that others' transactions were deleted let the token of an observer expire which none of them concerned.
    @Test func aTokenExpiresWhereWhatCountsIsGone() throws {
        for (place, author) in ["ada", "import", "ada"].enumerated() {
            try save(Vehicle(plate: "\(place)"), by: author)
        }
        let store = try #require(container.changeFeeds.keys.first)
        let first = try #require(try context.history().first).token
        try context.deleteHistory(HistoryOf(predicate: #Predicate { $0.author == "import" }))
        func begin(_ authors: Set<String>) throws -> Int {
            try HistoryObserver(historyTokens: [store: first], authors: authors, modelContainer: container).eventCounter
        }
        #expect(try begin(["ada"]) == 1)
        #expect(throws: SwiftDataError.historyTokenExpired) { try begin(["import"]) }
        #expect(throws: SwiftDataError.historyTokenExpired) { try begin([]) }
    }
}
