import Foundation
import Mortise
import Testing

/// The code of the guide "Concurrency".
@Suite struct ConcurrencyGuide {
    @ModelActor actor Importer {
        /// Inserts trips and returns the identifier of the last one.
        func take(_ codes: [String]) throws -> PersistentIdentifier? {
            var last: Trip?
            for code in codes {
                let trip = Trip(
                    code: code, destination: "Anywhere", startDate: .now, price: 100)
                modelContext.insert(trip)
                last = trip
            }
            try modelContext.save()
            return last?.persistentModelID
        }

        func destination(of trip: PersistentIdentifier) -> String? {
            self[trip, as: Trip.self]?.destination
        }
    }

    @Test func workGoesIntoAModelActor() async throws {
        let container = try GuideModels.container()
        let importer = Importer(modelContainer: container)
        let last = try #require(try await importer.take(["W01", "W02"]))

        // An identifier crosses; the model does not.
        let context = ModelContext(container)
        let trip = try context.existingModel(for: last, as: Trip.self)
        let destination = await importer.destination(of: last)
        #expect(trip.code == "W02" && destination == "Anywhere")
    }

    @Test func aContextStaysAtItsVersion() throws {
        let container = try GuideModels.container()
        let reader = ModelContext(container)
        let seen = try #require(try reader.first(Trip.self, where: \.code, is: "POR"))

        let writer = ModelContext(container)
        let trip = try #require(try writer.first(Trip.self, where: \.code, is: "POR"))
        trip.price = 1
        try writer.save()

        #expect(seen.price == 389)  // still what was read
        try reader.refresh()
        #expect(seen.price == 1)
    }

    @Test func aModelOfAnotherContextIsRefused() throws {
        let container = try GuideModels.container()
        let (here, there) = (ModelContext(container), ModelContext(container))
        let trip = try #require(try here.first(Trip.self, where: \.code, is: "POR"))
        there.insert(trip)
        do {
            try there.save()
            Issue.record("the model was taken")
        } catch let error as ModelContextError {
            guard case .registeredElsewhere = error else { throw error }
        }
    }

    @Test @MainActor func theMainContextSavesByItself() throws {
        let container = try GuideModels.container()
        #expect(container.mainContext.autosaveEnabled)
        #expect(!ModelContext(container).autosaveEnabled)
    }
}
