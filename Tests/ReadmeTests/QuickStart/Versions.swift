import Mortise

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
                mapping: .inferred.renaming("Trip.name", from: "title").converting("Trip.price", .exactly)
                    .filling("Trip.currency", with: .string("EUR")),
                duplicates: [.keep(.last, on: "Trip", ["name"])],
                migrate: { old, new in
                    for trip in try old.fetch(Version1.Trip.self) where trip.price == 0 {
                        try new.model(Version2.Trip.self, for: trip.persistentModelID)?.price = "free"
                    }
                })
        ]
    }
}
