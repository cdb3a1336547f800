import Foundation
import Mortise
import Testing

/// The code of the guides "Coming from Core Data" and "Coming from GRDB".
@Suite struct ComingFromDatabasesGuide {
    @Test func fetchingAndDeleting() throws {
        let context = try GuideModels.context()
        let budget: Decimal = 1_500
        let trips = try context.fetch(
            FetchDescriptor<Trip>(
                predicate: #Predicate { $0.price <= budget },
                sortBy: [SortDescriptor(\.startDate)]))
        for trip in trips where trip.destination == "Porto" { context.delete(trip) }
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Trip>()) == 2)
    }

    @Test func inTheBackground() async throws {
        let container = try GuideModels.container()
        let importer = ConcurrencyGuide.Importer(modelContainer: container)
        _ = try await importer.take(["W01"])
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Trip>()) == 4)
    }

    @Test func aggregatesAndBatches() throws {
        let context = try GuideModels.context()
        let dearest = try context.aggregate(FetchDescriptor<Trip>(), .maximum(\.price))
        try context.update(Trip.self, where: #Predicate { $0.price > 1_000 }) {
            $0.set(\.rating, to: 5)
        }
        #expect(dearest == 2_105)
        #expect(try context.fetchCount(FetchDescriptor<Trip>(predicate: #Predicate { $0.rating == 5 })) == 2)
    }

    @Test func anUpsertAndAnAssociation() throws {
        let context = try GuideModels.context()
        try context.transaction {
            let email = "ada@example.org"
            let ada = try context.findOrCreate(Traveler.self, where: \.email, is: email) {
                Traveler(email: email, name: "Ada")
            }
            ada.name = "Ada Lovelace"
        }
        let long = #Predicate<Trip> { trip in trip.stops.contains { $0.nights > 4 } }
        let names = try context.fetch(FetchDescriptor(predicate: long))
            .flatMap(\.travelers).map(\.name)
        #expect(Set(names) == ["Ada Lovelace", "Ben"])
    }

    @Test func theSchemaIsThatOfTheModels() throws {
        let container = try GuideModels.container()
        let context = ModelContext(container)
        #expect(container.schema.entities.map(\.name).sorted() == ["Stop", "Traveler", "Trip"])
        // A record has an identity of its own, without a column for it.
        let trip = try #require(try context.first(Trip.self, where: \.code, is: "POR"))
        let text = try #require(trip.persistentModelID.string)  // nil until it is saved
        let again = try PersistentIdentifier(string: text)
        #expect(context.model(for: again) === trip)
    }
}
