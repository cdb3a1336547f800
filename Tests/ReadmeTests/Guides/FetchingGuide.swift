import Foundation
import Mortise
import Testing

/// The code of the guide "Fetching and explain".
@Suite struct FetchingGuide {
    @Test func aFetchTakesAPredicateAnOrderAndALimit() throws {
        let context = try GuideModels.context()
        let budget: Decimal = 1_500
        var affordable = FetchDescriptor<Trip>(
            predicate: #Predicate { $0.price <= budget },
            sortBy: [SortDescriptor(\.startDate), SortDescriptor(\.code)])
        affordable.fetchLimit = 10
        let trips = try context.fetch(affordable)
        #expect(trips.map(\.code) == ["ALP", "POR"])

        let porto = try context.first(Trip.self, where: \.code, is: "POR")
        let dearest = try context.fetchFirst(
            FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.price, order: .reverse)]))
        let count = try context.fetchCount(affordable)
        #expect(porto?.destination == "Porto" && dearest?.code == "TRO" && count == 2)
    }

    @Test func predicatesReachThroughRelationshipsAndAreJoined() throws {
        let context = try GuideModels.context()
        let long = #Predicate<Trip> { trip in trip.stops.contains { $0.nights > 4 } }
        let name = "ada"
        let withAda = #Predicate<Trip> { trip in
            trip.travelers.contains { $0.name.localizedStandardContains(name) }
        }
        let trips = try context.fetch(
            FetchDescriptor(predicate: long.and(withAda), sortBy: [SortDescriptor(\.code)]))
        #expect(trips.map(\.code) == ["ALP", "TRO"])
    }

    @Test func explainSaysWhichIndexAnswered() throws {
        let context = try GuideModels.context()
        let cheap = FetchDescriptor<Trip>(
            predicate: #Predicate { $0.price < 1_000 && $0.destination == "Porto" }, sortBy: [SortDescriptor(\.price)])
        let explanation = try context.explain(cheap)
        #expect(!explanation.isFullScan && explanation.conjuncts.map(\.status) == [.pushed, .pushed])
        #expect(try Document.guide("Fetching").shows("\(explanation)"), "\(explanation)")
    }

    @Test func explainSaysThatEveryRecordWasLookedAt() throws {
        let context = try GuideModels.context()
        let named = FetchDescriptor<Trip>(predicate: #Predicate { $0.destination.contains("o") })
        let explanation = try context.explain(named)
        #expect(explanation.isFullScan)
        #expect(try Document.guide("Fetching").shows("\(explanation)"), "\(explanation)")
    }

    @Test func aPolicyRefusesFullScans() throws {
        let container = try GuideModels.container()
        container.fullScanPolicy = .refuse
        let context = ModelContext(container)
        var cheapest = FetchDescriptor<Trip>(predicate: #Predicate { $0.destination == "Porto" })
        do {
            _ = try context.fetch(cheapest)
            Issue.record("the fetch was not refused")
        } catch let error as QueryPlanError {
            #expect(try Document.guide("Fetching").shows("\(error)".replacing(". ", with: ".\n")), "\(error)")
        }
        cheapest.fullScanPolicy = .warn(above: 1_000)
        let trips = try context.fetch(cheapest)
        #expect(trips.count == 1)
    }

    @Test func pagesFollowACursor() throws {
        let context = try GuideModels.context()
        let byDate = FetchDescriptor<Trip>(
            sortBy: [SortDescriptor(\.startDate), SortDescriptor(\.code)])
        let first = try context.page(byDate, size: 2)
        let text = first.next?.string  // short, and safe in a URL

        let cursor = try text.map { try PageCursor(string: $0) }
        let second = try context.page(byDate, after: cursor, size: 2)
        #expect(first.models.map(\.code) == ["ALP", "POR"] && second.models.map(\.code) == ["TRO"])
        #expect(second.next == nil)
    }

    @Test func aggregatesMakeNoModels() throws {
        let context = try GuideModels.context()
        let (count, total) = try context.aggregate(
            FetchDescriptor<Trip>(), .count, .sum(\.price))
        let nights = try context.groups(
            FetchDescriptor<Stop>(), by: \.trip?.code, computing: .sum(\.nights),
            having: .sum(\.nights) > 5, sortedBy: [.descending(.sum(\.nights))])
        #expect(count == 3 && total == 3_734)
        #expect(nights.map { "\($0.key ?? "-") \($0.values)" } == ["ALP 7", "TRO 7"])
    }

    @Test func aLongResultIsEnumerated() throws {
        let context = try GuideModels.context()
        var codes: [String] = []
        try context.enumerate(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.code)]), batchSize: 500) { trip in
            codes.append(trip.code)
        }
        #expect(codes == ["ALP", "POR", "TRO"])
    }

    @Test func manyRecordsAreInsertedInOneTransaction() throws {
        let context = try GuideModels.context()
        let rows = [(email: "ada@example.org", name: "Nobody"), (email: "eve@example.org", name: "Eve")]
        try context.insert(Traveler.self, from: rows, onConflict: .keep) { traveler, row in
            try traveler.set(\.email, to: row.email)
            try traveler.set(\.name, to: row.name)
        }
        let names = try context.fetch(FetchDescriptor<Traveler>(sortBy: [SortDescriptor(\.name)])).map(\.name)
        #expect(names == ["Ada", "Ben", "Eve"])
    }

    /// What the table of the guide says of texts.
    @Test func textsAreSearchedAsTheTableSays() throws {
        let context = ModelContext(try ModelContainer(for: Stop.self, store: "memory:"))
        for place in ["Evora", "\u{c9}vora", "E\u{301}vora", "evora velha"] { context.insert(Stop(place, nights: 1)) }
        try context.save()
        func count(_ predicate: Predicate<Stop>) throws -> Int {
            try context.fetchCount(FetchDescriptor(predicate: predicate))
        }
        #expect(try count(#Predicate { $0.place == "\u{c9}vora" }) == 2)
        #expect(try count(#Predicate { $0.place.starts(with: "Evora") }) == 1)
        #expect(try count(#Predicate { $0.place.contains("vora") }) == 4)
        #expect(try count(#Predicate { $0.place.contains("Vora") }) == 0)
        #expect(try count(#Predicate { $0.place.localizedStandardContains("evora") }) == 4)
        #expect(try count(#Predicate { $0.place.contains(/^[EÉ]v/) }) == 3)
    }

    @Test func manyRecordsAreChangedInOneTransaction() throws {
        let context = try GuideModels.context()
        let cheap = #Predicate<Trip> { $0.price < 1_500 }
        let changed = try context.update(Trip.self, where: cheap) { $0.set(\.rating, to: 5) }
        try context.delete(model: Trip.self, where: #Predicate { $0.price > 2_000 })
        #expect(changed == 2)
        #expect(try context.fetchCount(FetchDescriptor<Trip>()) == 2)
    }
}
