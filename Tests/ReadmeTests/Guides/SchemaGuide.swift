import Foundation
import Mortise
import Testing

/// The code of the guide "Changing the schema".
@Suite struct SchemaGuide {
    enum Version1: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Trip.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        @Model final class Trip {
            var title: String
            var price: Double
            init(title: String, price: Double) {
                self.title = title
                self.price = price
            }
        }
    }

    enum Version2: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Trip.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Trip {
            @Attribute(.unique) var name: String  // was `title`, and not unique
            var price: String  // was a number
            var currency: String  // is new
            init(name: String, price: String, currency: String) {
                self.name = name
                self.price = price
                self.currency = currency
            }
        }
    }

    enum TripMigrations: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Version1.self, Version2.self] }
        static var stages: [MigrationStage] {
            [
                .custom(
                    from: Version1.self, to: Version2.self,
                    mapping: .inferred
                        .renaming("Trip.name", from: "title")
                        .converting("Trip.price", .exactly)
                        .filling("Trip.currency", with: .string("EUR")),
                    duplicates: [.keep(.last, on: "Trip", ["name"])],
                    migrate: { old, new in
                        for trip in try old.fetch(Version1.Trip.self) where trip.price == 0 {
                            let id = trip.persistentModelID
                            try new.model(Version2.Trip.self, for: id)?.price = "free"
                        }
                    })
            ]
        }
    }

    private func makeFirstVersion(_ store: String) throws {
        let container = try ModelContainer(for: Version1.Trip.self, store: store)
        let context = ModelContext(container)
        for (title, price) in [("Alps", 1_240.0), ("Porto", 0), ("Alps", 980)] {
            context.insert(Version1.Trip(title: title, price: price))
        }
        try context.save()
        try container.close()
    }

    @Test(arguments: ["json", "log"]) func thePlanIsCarriedOutWhenTheStoreIsOpened(_ kind: String) throws {
        try GuideModels.inFolder { folder in
            let url = "\(kind):\(folder)/trips.\(kind)"
            try makeFirstVersion(url)
            let container = try ModelContainer(
                for: Version2.Trip.self, migrationPlan: TripMigrations.self, store: url)
            let trips = try ModelContext(container).fetch(
                FetchDescriptor<Version2.Trip>(sortBy: [SortDescriptor(\.name)]))
            #expect(trips.map { "\($0.name) \($0.price) \($0.currency)" } == ["Alps 980.0 EUR", "Porto free EUR"])
        }
    }

    @Test func aPreviewWritesNothing() throws {
        try GuideModels.inFolder { folder in
            let path = "\(folder)/trips.log"
            try makeFirstVersion("log:\(path)")
            let previews = try ModelContainer.migrationPreview(
                for: Schema(versionedSchema: Version2.self), migrationPlan: TripMigrations.self,
                configurations: [AppendLogConfiguration(path: path)])
            #expect(previews.map(\.stages.count) == [1] && previews[0].records == 3)
            let text = previews[0].description.split(separator: "\n").dropLast().joined(separator: "\n")
            #expect(try Document.guide("ChangingTheSchema").shows(text), "\(text)")
            // Opens as before.
            let container = try ModelContainer(for: Version1.Trip.self, store: "log:\(path)")
            #expect(try ModelContext(container).fetchCount(FetchDescriptor<Version1.Trip>()) == 3)
        }
    }

    @Test func anOlderProgramIsRefused() throws {
        try GuideModels.inFolder { folder in
            let url = "json:\(folder)/trips.json"
            let container = try ModelContainer(
                for: Version2.Trip.self, migrationPlan: TripMigrations.self, store: url)
            let context = ModelContext(container)
            context.insert(Version2.Trip(name: "Alps", price: "980", currency: "EUR"))
            try context.save()
            try container.close()
            var older: ModelContainer?
            do {
                older = try ModelContainer(for: Version1.Trip.self, store: url)
            } catch MigrationError.newerStore {
                // Ask for an update of the program.
            }
            #expect(older == nil)
        }
    }
}
