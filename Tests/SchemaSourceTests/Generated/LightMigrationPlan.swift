// Made by mortise schema plan, from version 1.0.0, storage b445e53032455e0576e5b1ff6ecb5824,
// to version 1.1.0, storage e58d794e8e036b7ec209361da5c5571f.
// swift-format-ignore-file

import Foundation
import Mortise

// Frozen: do not edit.
enum LightSchemaV1_0_0: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [Guide.self, Note.self, Trip.self] }

    @Model
    final class Guide {
        var name: String
        @Relationship(inverse: \Trip.guide) var trips: [Trip] = []

        init(name: String) {
            self.name = name
        }
    }

    @Model
    final class Note {
        var text: String

        init(text: String) {
            self.text = text
        }
    }

    @Model
    final class Trip {
        var title: String
        var price: Double
        var note: String?
        var seats: Int32
        var gone: String?
        var guide: Guide?

        init(title: String, price: Double, seats: Int32) {
            self.title = title
            self.price = price
            self.seats = seats
        }
    }
}

// Frozen with the version after it.
enum LightSchemaV1_1_0: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 1, 0) }
    static var models: [any PersistentModel.Type] { [Guide.self, Note.self, Trip.self] }

    @Model
    final class Guide {
        var name: String
        @Relationship(inverse: \Trip.guide) var trips: [Trip] = []

        init(name: String) {
            self.name = name
        }
    }

    @Model
    final class Note {
        @Attribute(originalName: "text") var words: String
        var rank: Int = 3

        init(words: String) {
            self.words = words
        }
    }

    @Model
    final class Trip {
        var title: String
        var price: Double
        var note: String?
        var seats: Int32
        var gone: String?
        var guide: Guide?

        init(title: String, price: Double, seats: Int32) {
            self.title = title
            self.price = price
            self.seats = seats
        }
    }
}

enum LightMigrationPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [LightSchemaV1_0_0.self, LightSchemaV1_1_0.self] }
    static var stages: [MigrationStage] {
        [
            .lightweight(fromVersion: LightSchemaV1_0_0.self, toVersion: LightSchemaV1_1_0.self)
        ]
    }
}
