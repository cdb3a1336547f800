// Made by mortise schema plan, from version 1.0.0, storage b445e53032455e0576e5b1ff6ecb5824,
// to version 2.0.0, storage 8b050e9f8ba08ab74670afdc22cf77e9.
// swift-format-ignore-file

import Foundation
import Mortise

// Frozen: do not edit.
enum MappedSchemaV1: VersionedSchema {
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
enum MappedSchemaV2: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    static var models: [any PersistentModel.Type] { [Guide.self, Trip.self] }

    @Model
    final class Guide {
        #Unique<Guide>([\.name])

        var name: String
        @Relationship(inverse: \Trip.guide) var trips: [Trip] = []

        init(name: String) {
            self.name = name
        }
    }

    @Model
    final class Trip {
        @Attribute(originalName: "title") var name: String
        var cost: String
        var note: String
        var seats: Int
        var currency: String
        var id: UUID
        var since: Date
        var tree: CodedTree
        var guide: Guide?

        init(name: String, cost: String, note: String, seats: Int, currency: String, id: UUID, since: Date, tree: CodedTree) {
            self.name = name
            self.cost = cost
            self.note = note
            self.seats = seats
            self.currency = currency
            self.id = id
            self.since = since
            self.tree = tree
        }
    }
}

enum MappedMigrationPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [MappedSchemaV1.self, MappedSchemaV2.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                from: MappedSchemaV1.self, to: MappedSchemaV2.self,
                mapping: .inferred
                    .renaming("Trip.cost", from: "price")
                    // TODO: Trip.cost: double is string: .exactly fails if a record has a value that the new type lacks
                    .converting("Trip.cost", .exactly)
                    // TODO: Trip.currency: a value for records without one
                    .filling("Trip.currency", with: .string(""))
                    // TODO: Trip.id: a value for records without one
                    .filling("Trip.id", with: { _ in .uuid(UUID()) })
                    // TODO: Trip.note: a value for records without one
                    .filling("Trip.note", with: .string(""))
                    // Trip.seats: int32 is int64
                    .converting("Trip.seats", .exactly)
                    // TODO: Trip.since: a value for records without one
                    .filling("Trip.since", with: .date(Date(timeIntervalSinceReferenceDate: 0)))
                    // TODO: Trip.tree: a value for records without one
                    .filling("Trip.tree", with: .object([:]))
                    .dropping("Note")
                    .dropping("Trip.gone"),
                duplicates: [
                    // TODO: Guide: unique: name: .report fails if there are duplicates, .first or .last keep one
                    .keep(.report, on: "Guide", ["name"])
                ]
            )
        ]
    }
}
