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

    // What the lists of differences say, in their order.

    @Test func contextsMoveOnByThemselvesAlone() throws {
        let container = try GuideModels.container()
        let (here, there) = (ModelContext(container), ModelContext(container))
        let seen = try #require(try here.first(Trip.self, where: \.code, is: "POR"))
        let trip = try #require(try there.first(Trip.self, where: \.code, is: "POR"))
        trip.price = 1
        try there.save()
        #expect(seen.price == 389)
        _ = try here.fetch(FetchDescriptor<Trip>())
        #expect(seen.price == 1)
    }

    @Test func aModelThatOthersHaveDeletedKeepsItsValues() throws {
        let container = try GuideModels.container()
        let (here, there) = (ModelContext(container), ModelContext(container))
        let seen = try #require(try here.first(Trip.self, where: \.code, is: "POR"))
        there.delete(try #require(try there.first(Trip.self, where: \.code, is: "POR")))
        try there.save()
        seen.price = 1
        #expect(throws: ModelContextError.noSuchModel(seen.persistentModelID)) { try here.save() }
        #expect(seen.destination == "Porto")
    }

    @Test func aRequiredValueIsRequiredByItsType() throws {
        let container = try ModelContainer(for: RelationshipsGuide.Author.self, store: "memory:")
        let context = ModelContext(container)
        let author = RelationshipsGuide.Author(name: "Austen")
        context.insert(RelationshipsGuide.Book("Emma", by: author))
        context.delete(author)
        #expect(throws: ModelValidationError.self) { try context.save() }
    }

    @Test func modelsShowWhatABatchHasSet() throws {
        let container = try GuideModels.container()
        let (here, there) = (ModelContext(container), ModelContext(container))
        let mine = try #require(try here.first(Trip.self, where: \.code, is: "POR"))
        let theirs = try #require(try there.first(Trip.self, where: \.code, is: "POR"))
        try here.update(Trip.self) { $0.set(\.rating, to: 3) }
        try there.refresh()
        #expect(mine.rating == 3 && theirs.rating == 3)
    }

    @Test func twoFetchesGiveOneObject() throws {
        let context = try GuideModels.context()
        let first = try context.fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.code)]))
        let second = try context.fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.code)]))
        #expect(zip(first, second).allSatisfy { $0 === $1 })
    }

    @Test func comparisonsAreSwifts() throws {
        let context = try GuideModels.context()
        let porto = try #require(try context.first(Trip.self, where: \.code, is: "POR"))
        porto.destination = "Cafe\u{301}"
        porto.price = Decimal(string: "389.00") ?? 0
        try context.save()
        let (composed, price) = ("Caf\u{e9}", Decimal(389))
        let same = FetchDescriptor<Trip>(predicate: #Predicate { $0.destination == composed && $0.price == price })
        #expect(try context.fetchCount(same) == 1)
        // A nil is not equal to 3, and therefore different from it.
        let other = FetchDescriptor<Trip>(predicate: #Predicate { $0.rating != 3 })
        #expect(try context.fetchCount(other) == 3)
    }
}
