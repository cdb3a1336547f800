import Foundation
import Mortise
import Observation
import Synchronization
import Testing

/// The code of the guide "History and changes".
@Suite struct HistoryGuide {
    @Test func aLogSaysWhoHasDoneWhat() throws {
        try GuideModels.inFolder { folder in
            let container = try GuideModels.container(store: "log:\(folder)/trips.log")
            let context = ModelContext(container)
            context.author = "ada"
            let porto = try #require(try context.first(Trip.self, where: \.code, is: "POR"))
            porto.price = 400
            try context.save()

            let last = try #require(try container.history().last)
            #expect(last.author == "ada" && last.changes.count == 1)
            if case .update(let update)? = last.changes.first {
                #expect(update.changedPersistentIdentifier == porto.persistentModelID)
                #expect(update.updatedProperties == ["price"])
            } else {
                Issue.record("an update was expected")
            }
        }
    }

    @Test func aTokenAsksForWhatIsNew() throws {
        try GuideModels.inFolder { folder in
            let container = try GuideModels.container(store: "log:\(folder)/trips.log")
            let context = ModelContext(container)
            let seen = try #require(try container.history().last).token

            context.insert(Stop("Braga", nights: 1))
            try context.save()
            let news = try context.fetchHistory(
                HistoryDescriptor<DefaultHistoryTransaction>(
                    predicate: #Predicate { $0.token > seen }))
            #expect(news.flatMap(\.changes).count == 1)
        }
    }

    @Test func aRecordHasRevisionsAndATransactionIsTakenBack() throws {
        try GuideModels.inFolder { folder in
            let container = try GuideModels.container(store: "json:\(folder)/trips.json")
            let context = ModelContext(container)
            let before = try #require(try container.history().last).token
            let porto = try #require(try context.first(Trip.self, where: \.code, is: "POR"))
            porto.price = 400
            try context.save()
            let last = try #require(try container.history().last)

            let revision = try #require(try context.history(of: porto, limit: 1).first)
            #expect(revision.oldValue(\.price) as? Decimal == 389)
            #expect(revision.newValue(\.price) as? Decimal == 400)

            let earlier = try ModelContext(container, asOf: .token(before))
            #expect(try earlier.first(Trip.self, where: \.code, is: "POR")?.price == 389)

            try context.revert(last.token)
            try context.save()
            #expect(porto.price == 389)
        }
    }

    @Test func aFeedSendsWhatIsCommitted() throws {
        let container = try GuideModels.container()
        let counts = Mutex<[Int]>([])
        let feed = try #require(container.changeFeeds.values.first)
        let follower = feed.follow { delivery in
            counts.withLock { $0 += delivery.changes.map(\.updated.count) }
        }
        let context = ModelContext(container)
        try context.update(Trip.self) { $0.set(\.rating, to: 4) }

        feed.settle()  // for a test: waits until all is delivered
        #expect(counts.withLock { $0 } == [3])
        follower.cancel()
    }

    @Test func modelsAreObservable() throws {
        let context = try GuideModels.context()
        let porto = try #require(try context.first(Trip.self, where: \.code, is: "POR"))
        let isTold = Mutex(false)
        withObservationTracking {
            _ = porto.price
        } onChange: {
            isTold.withLock { $0 = true }
        }
        porto.price = 400
        #expect(isTold.withLock { $0 })
    }

    @Test func aResultFollowsWhatChanges() throws {
        let context = try GuideModels.context()
        let porto = try #require(try context.first(Trip.self, where: \.code, is: "POR"))
        let cheap = try ResultsObserver(
            filterBy: #Predicate<Trip> { $0.price < 2_000 },
            sortBy: [SortDescriptor(\.price)], modelContext: context)
        #expect(cheap.results.map(\.code) == ["POR", "ALP"])

        porto.price = 1_500
        try context.save()
        #expect(cheap.results.map(\.code) == ["ALP", "POR"])
    }

    @Test @MainActor func differencesComeAsASequence() async throws {
        let context = try GuideModels.context()
        let descriptor = FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.code)])
        func name(of identifier: PersistentIdentifier) -> String {
            (context.model(for: identifier) as? Trip)?.code ?? "-"
        }
        var codes: [String] = []
        var results: [[String]] = []
        for try await change in context.changes(of: descriptor) {
            codes = change.applied(to: codes) { name(of: $0) }
            results.append(codes)
            if results.count == 2 { break }
            context.insert(Trip(code: "VIE", destination: "Vienna", startDate: .now, price: 310))
            try context.save()
        }
        #expect(results == [["ALP", "POR", "TRO"], ["ALP", "POR", "TRO", "VIE"]])
    }

    @Test func aDeletionIsTakenBackAfterASave() throws {
        let context = try GuideModels.context()
        let alps = try #require(try context.first(Trip.self, where: \.code, is: "ALP"))
        context.undoPolicy.recordsWithoutManager = true
        context.withUndoGroup("Cancel the trip") { context.delete(alps) }
        try context.save()

        try context.undo()
        try context.save()
        #expect(alps.stops.count == 2)
    }
}
