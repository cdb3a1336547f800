import Foundation
import Mortise
import Testing

/// The code of the guide "Relationships and delete rules".
@Suite struct RelationshipsGuide {
    @Test func settingOneSideSetsTheOther() throws {
        let context = try GuideModels.context()
        let porto = try #require(try context.first(Trip.self, where: \.code, is: "POR"))
        let stop = Stop("Braga", nights: 1)
        stop.trip = porto
        #expect(porto.stops.map(\.place) == ["Braga"])

        porto.stops = [Stop("Coimbra", nights: 2)]
        #expect(stop.trip == nil)
    }

    @Test func deletingFollowsTheRules() throws {
        let context = try GuideModels.context()
        let alps = try #require(try context.first(Trip.self, where: \.code, is: "ALP"))
        context.delete(alps)
        try context.save()
        let stops = try context.fetchCount(FetchDescriptor<Stop>())
        let travelers = try context.fetchCount(FetchDescriptor<Traveler>())
        #expect(stops == 1)  // two of three went with their trip
        #expect(travelers == 2)  // nullify: they only let go of it
    }

    @Model final class Author {
        var name: String
        @Relationship(deleteRule: .deny, inverse: \Book.author) var books: [Book] = []
        init(name: String) { self.name = name }
    }

    @Model final class Book {
        var title: String
        var author: Author
        init(_ title: String, by author: Author) {
            self.title = title
            self.author = author
        }
    }

    @Test func aRuleMayDenyADeletion() throws {
        let context = ModelContext(try ModelContainer(for: Author.self, store: "memory:"))
        let author = Author(name: "Austen")
        context.insert(Book("Emma", by: author))
        try context.save()

        var denied: (property: String, count: Int)?
        context.delete(author)
        do {
            try context.save()
        } catch ModelValidationError.deletionDenied(_, let property, _, let count) {
            denied = (property, count)  // "books", 1
            context.rollback()
        }
        #expect(denied?.property == "books" && denied?.count == 1)
        #expect(try context.fetchCount(FetchDescriptor<Author>()) == 1)
    }

    @Test func manyToManyIsTwoLists() throws {
        let context = try GuideModels.context()
        let ben = try #require(try context.first(Traveler.self, where: \.email, is: "ben@example.org"))
        let north = try #require(try context.first(Trip.self, where: \.code, is: "TRO"))
        ben.trips.append(north)
        try context.save()
        #expect(north.travelers.map(\.name).sorted() == ["Ada", "Ben"])
    }

    @Test func aNewcomerWithKnownValuesUpdatesTheStoredOne() throws {
        let context = try GuideModels.context()
        context.insert(Traveler(email: "ada@example.org", name: "Ada Lovelace"))
        try context.save()
        let ada = try context.first(Traveler.self, where: \.email, is: "ada@example.org")
        #expect(ada?.name == "Ada Lovelace")
        #expect(ada?.trips.count == 2)  // those of before

        context.insert(Traveler(email: "ada@example.org", name: "Somebody else"), onConflict: .fail)
        do {
            try context.save()
            Issue.record("the name was taken twice")
        } catch let error as ModelContextError {
            guard case .notUnique("Traveler", ["email"], _, _, _) = error else { throw error }
            context.rollback()
        }
    }

    @Test func relatedModelsAreReadTogether() throws {
        let context = try GuideModels.context()
        var trips = FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.code)])
        trips.relationshipKeyPathsForPrefetching = [\.stops]
        let places = try context.fetch(trips).flatMap(\.stops).map(\.place).sorted()
        #expect(places == ["Courmayeur", "Les Houches", "Tromsø"])
    }
}
