import Foundation
import Mortise
import Testing

/// Migration plans with `@Model` classes and a `ModelConfiguration`, as apps have them.
@Suite struct MigrationPlanTests {
    enum Old: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Trip.self, Stop.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        @Model final class Trip {
            var title: String
            var price: Double
            @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
            init(title: String, price: Double) {
                self.title = title
                self.price = price
            }
        }
        @Model final class Stop {
            var place: String
            var trip: Trip?
            init(_ place: String, trip: Trip?) {
                self.place = place
                self.trip = trip
            }
        }
    }

    enum New: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Trip.self, Stop.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Trip {
            @Attribute(.unique, originalName: "title") var name: String
            var price: String
            var currency: String
            @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
            init(name: String, price: String) {
                self.name = name
                self.price = price
                currency = "EUR"
            }
        }
        @Model final class Stop {
            var place: String
            var nights: Int = 1
            var trip: Trip?
            init(_ place: String) { self.place = place }
        }
    }

    enum Coded: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Old.self, New.self] }
        static var stages: [MigrationStage] {
            [
                .custom(
                    from: Old.self, to: New.self,
                    mapping: .inferred.converting("Trip.price", .exactly).filling(
                        "Trip.currency", with: .string("EUR")),
                    duplicates: [.keep(.first, on: "Trip", ["name"])]
                ) { old, new in
                    for trip in try old.fetch(Old.Trip.self) where trip.price == 0 {
                        try new.model(New.Trip.self, for: trip.persistentModelID)?.price = "free"
                    }
                }
            ]
        }
    }

    @Test(arguments: ["trips.store", "trips.json"]) func anAppsSecondVersionOpensTheStoreOfItsFirst(_ file: String)
        throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "plans-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let configuration = ModelConfiguration(url: folder.appending(path: file))
        do {
            let container = try ModelContainer(for: Old.Trip.self, configurations: configuration)
            let context = ModelContext(container)
            for (title, price) in [("Alps", 12.5), ("Bergen", 0), ("Alps", 3)] {
                let trip = Old.Trip(title: title, price: price)
                context.insert(trip)
                context.insert(Old.Stop("\(title) \(price)", trip: trip))
                try context.save()
            }
            try container.close()
        }
        for _ in 0..<2 {
            let container = try ModelContainer(
                for: New.Trip.self, migrationPlan: Coded.self, configurations: configuration)
            let trips = try ModelContext(container).fetch(FetchDescriptor<New.Trip>())
            #expect(trips.map { "\($0.name) \($0.price) \($0.currency)" } == ["Alps 12.5 EUR", "Bergen free EUR"])
            #expect(trips.map { $0.stops.map(\.place).sorted() } == [["Alps 12.5", "Alps 3.0"], ["Bergen 0.0"]])
            #expect(trips.flatMap(\.stops).allSatisfy { $0.nights == 1 })
            try container.close()
        }
    }

    /// A store in memory begins empty: there is nothing to migrate.
    @Test func aStoreInMemoryTakesAPlan() throws {
        let container = try ModelContainer(
            for: New.Trip.self, migrationPlan: Coded.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        context.insert(New.Trip(name: "Alps", price: "1"))
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<New.Trip>()) == 1)
    }
}
