#if Tool
import Foundation
import Mortise
@testable import MortiseCommands
import Testing

/// Plans in Generated are what the tool makes, lead from one schema to the other, and do so with stores.
@Suite struct GeneratedPlanTests {
    private static func document(_ version: Schema.Version, _ entities: [StoredEntity]) -> SchemaDocument {
        SchemaDocument(StoredSchema(version: version, entities: entities))
    }

    /// One entity of each sort of change that a mapping can say, none of which needs code.
    static var old: SchemaDocument {
        document(
            Schema.Version(1, 0, 0),
            [
                StoredEntity(
                    name: "Trip",
                    properties: [
                        Documents.attribute("title", .string), Documents.attribute("price", .double),
                        Documents.attribute("note", .string, optional: true), Documents.attribute("seats", .int32),
                        Documents.attribute("gone", .string, optional: true),
                        Documents.relationship("guide", "Guide", inverse: "trips"),
                    ]),
                StoredEntity(
                    name: "Guide",
                    properties: [
                        Documents.attribute("name", .string),
                        Documents.relationship("trips", "Trip", toMany: true, optional: false, inverse: "guide"),
                    ]),
                StoredEntity(name: "Note", properties: [Documents.attribute("text", .string)]),
            ])
    }

    static var new: SchemaDocument {
        document(
            Schema.Version(2, 0, 0),
            [
                StoredEntity(
                    name: "Trip",
                    properties: [
                        Documents.attribute("name", .string, originalName: "title"),
                        Documents.attribute("cost", .string),
                        Documents.attribute("note", .string), Documents.attribute("seats", .int64),
                        Documents.attribute("currency", .string), Documents.attribute("id", .uuid),
                        Documents.attribute("since", .date), Documents.attribute("tree", .coded),
                        Documents.relationship("guide", "Guide", inverse: "trips"),
                    ]),
                StoredEntity(
                    name: "Guide",
                    properties: [
                        Documents.attribute("name", .string),
                        Documents.relationship("trips", "Trip", toMany: true, optional: false, inverse: "guide"),
                    ], uniquenessConstraints: [["name"]]),
            ])
    }

    static let renames = ["Trip.cost": "price"]

    /// What a lightweight stage does.
    static var simple: SchemaDocument {
        var document = old
        document.schema.version = Schema.Version(1, 1, 0)
        document.schema.entities = document.schema.entities.map { entity in
            var entity = entity
            if entity.name == "Note" {
                entity.properties.append(Documents.attribute("rank", .int64, default: .integer(3)))
                entity.properties[0].name = "words"
            }
            return entity
        }
        return document
    }

    /// What only code can do: of each sort one.
    static var hard: SchemaDocument {
        var allowed = SchemaDocument.PropertyDetails()
        allowed.allowedValues = [.string("a")]
        var document = Self.document(
            Schema.Version(3, 0, 0),
            [
                StoredEntity(
                    name: "Trip",
                    properties: [
                        Documents.attribute("title", .string), Documents.attribute("price", .coded),
                        Documents.attribute("note", .string, optional: true), Documents.attribute("seats", .int32),
                        Documents.attribute("gone", .string, optional: true), Documents.attribute("guide", .string),
                        Documents.attribute("code", .string, options: .unique),
                    ], uniquenessConstraints: [["code"]]),
                StoredEntity(
                    name: "Leader", originalName: "Guide",
                    properties: [
                        Documents.attribute("name", .string), Documents.attribute("rank", .int64, default: .integer(1)),
                    ]),
                StoredEntity(name: "Note", superentity: "Leader", properties: [Documents.attribute("text", .string)]),
            ])
        var trip = SchemaDocument.EntityDetails()
        trip.properties = ["note": allowed]
        document.details = ["Trip": trip]
        return document
    }

    static var shipped: SchemaDocument {
        var document = old
        var details = SchemaDocument.EntityDetails()
        var note = SchemaDocument.PropertyDetails()
        note.allowedValues = [.string("a"), .string("b\"\\(x)")]
        details.properties = ["note": note]
        document.details = ["Trip": details]
        return document
    }

    @Test func theFilesAreWhatTheToolMakes() throws {
        let mapped = try MigrationPlanSource(from: Self.old, to: Self.new, renames: Self.renames, name: "Mapped")
        try GeneratedFiles.check(mapped.text, "MappedMigrationPlan.swift")
        try GeneratedFiles.check(
            try MigrationPlanSource(from: Self.old, to: Self.simple, name: "Light").text, "LightMigrationPlan.swift")
        let hard = try MigrationPlanSource(from: Self.shipped, to: Self.hard, name: "Hard")
        try GeneratedFiles.check(hard.text, "HardMigrationPlan.swift")
        #expect(hard.tasks.count >= 6, "\(hard.tasks)")
    }

    @Test func versionsAreTheSchemas() throws {
        func check(_ plan: any SchemaMigrationPlan.Type, _ documents: [SchemaDocument]) throws {
            for (version, document) in zip(plan.schemas, documents) {
                let schema = Schema(versionedSchema: version)
                try schema.validate()
                #expect(schema.stored == document.schema)
            }
            #expect(plan.stages.count == 1)
        }
        try check(MappedMigrationPlan.self, [Self.old, Self.new])
        try check(LightMigrationPlan.self, [Self.old, Self.simple])
        try check(HardMigrationPlan.self, [Self.shipped, Self.hard])
    }

    private func folder() throws -> URL {
        let url = FileManager.default.temporaryDirectory.appending(path: "mortise-plan-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return url
    }

    private func fill(_ configuration: JSONFileConfiguration, _ version: any VersionedSchema.Type) throws {
        let container = try ModelContainer(for: Schema(versionedSchema: version), configurations: [configuration])
        let context = ModelContext(container)
        if version == MappedSchemaV1.self {
            let guide = MappedSchemaV1.Guide(name: "Ada")
            context.insert(guide)
            let trip = MappedSchemaV1.Trip(title: "Alps", price: 12.5, seats: 7)
            trip.guide = guide
            trip.gone = "x"
            context.insert(trip)
            context.insert(MappedSchemaV1.Note(text: "n"))
        } else {
            context.insert(LightSchemaV1_0_0.Note(text: "n"))
        }
        try context.save()
    }

    @Test func theMappedPlanIsCarriedOut() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let configuration = JSONFileConfiguration(schema: nil, path: folder.appending(path: "a.json").path)
        try fill(configuration, MappedSchemaV1.self)
        let container = try ModelContainer(
            for: Schema(versionedSchema: MappedSchemaV2.self), migrationPlan: MappedMigrationPlan.self,
            configurations: [configuration])
        let context = ModelContext(container)
        let trip = try #require(try context.fetch(FetchDescriptor<MappedSchemaV2.Trip>()).first)
        #expect(trip.name == "Alps" && trip.cost == "12.5" && trip.note == "" && trip.seats == 7 && trip.currency == "")
        #expect(trip.guide?.name == "Ada" && trip.tree == CodedTree(.object([:])))
    }

    @Test func theLightweightPlanIsCarriedOut() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let configuration = JSONFileConfiguration(schema: nil, path: folder.appending(path: "a.json").path)
        try fill(configuration, LightSchemaV1_0_0.self)
        let container = try ModelContainer(
            for: Schema(versionedSchema: LightSchemaV1_1_0.self), migrationPlan: LightMigrationPlan.self,
            configurations: [configuration])
        let note = try #require(try ModelContext(container).fetch(FetchDescriptor<LightSchemaV1_1_0.Note>()).first)
        #expect(note.words == "n" && note.rank == 3)
    }
}
#endif
