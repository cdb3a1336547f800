@testable import MortiseCore
import Testing

/// The digest of the storage form says the same as comparing what decides on how records are stored.
@Suite struct StorageDigestTests {
    private typealias Make = SchemaDocuments

    private static let base = StoredSchema(entities: [
        StoredEntity(
            name: "Trip",
            properties: [
                Make.attribute("name", .string), Make.attribute("cost", .double, optional: true),
                Make.relationship("guide", "Guide", inverse: "trips"),
            ], uniquenessConstraints: [["name", "cost"], ["name"]]),
        StoredEntity(
            name: "Guide",
            properties: [Make.relationship("trips", "Trip", toMany: true, optional: false, inverse: "guide")]),
    ])

    private static func changing(_ change: (inout StoredSchema) -> Void) -> StoredSchema {
        var schema = base
        change(&schema)
        return schema
    }

    /// Changes in place: entity 1 is Trip.
    private static let changes: [(name: String, isStorage: Bool, schema: StoredSchema)] = [
        ("version", false, changing { $0.version = Schema.Version(9, 0, 0) }),
        ("order of entities", false, changing { $0.entities.reverse() }),
        ("order of properties", false, changing { $0.entities[1].properties.swapAt(0, 1) }),
        (
            "default", false,
            changing { $0.entities[1].properties[0] = Make.attribute("name", .string, default: .string("")) }
        ),
        ("original name", false, changing { $0.entities[1].properties[0].originalName = "title" }),
        (
            "other option", false,
            changing { $0.entities[1].properties[0] = Make.attribute("name", .string, options: .spotlight) }
        ),
        ("index", false, changing { $0.entities[1].indices = [StoredIndex(properties: ["name"])] }),
        (
            "delete rule", false,
            changing {
                $0.entities[1].properties[2] = Make.relationship("guide", "Guide", inverse: "trips", rule: .deny)
            }
        ),
        (
            "order in a constraint", false,
            changing { $0.entities[1].uniquenessConstraints = [["name"], ["cost", "name"]] }
        ),
        ("same name in another form", false, changing { _ in }),
        ("name", true, changing { $0.entities[1].properties[0].name = "title" }),
        ("kind", true, changing { $0.entities[1].properties[0] = Make.attribute("name", .url) }),
        ("optional", true, changing { $0.entities[1].properties[0].isOptional = true }),
        (
            "ephemeral", true,
            changing { $0.entities[1].properties[0] = Make.attribute("name", .string, options: .ephemeral) }
        ),
        ("modifier", true, changing { $0.entities[1].properties[0] = Make.attribute("name", .string, modifier: "2") }),
        ("constraint", true, changing { $0.entities[1].uniquenessConstraints = [["name"]] }),
        ("inverse", true, changing { $0.entities[1].properties[2] = Make.relationship("guide", "Guide") }),
        (
            "to-many", true,
            changing {
                $0.entities[1].properties[2] = Make.relationship("guide", "Guide", toMany: true, inverse: "trips")
            }
        ),
        ("superentity", true, changing { $0.entities[1].superentity = "Guide" }),
        ("entity", true, changing { $0.entities.removeLast() }),
    ]

    @Test(arguments: changes.indices) func aChangeIsInTheDigestIfItIsInTheStorage(_ index: Int) {
        let change = Self.changes[index]
        let base = SchemaDocument(Self.base)
        let isEqual = SchemaDocument(change.schema).storageDigest == base.storageDigest
        #expect(isEqual == !change.isStorage, "\(change.name)")
        #expect((change.schema.storage == Self.base.storage) == isEqual, "\(change.name)")
    }

    @Test func equivalentNamesAreOne() {
        func document(_ name: String) -> SchemaDocument {
            SchemaDocument(
                StoredSchema(entities: [StoredEntity(name: name, properties: [Make.attribute(name, .string)])]))
        }
        #expect(document("\u{e9}").storageDigest == document("e\u{301}").storageDigest)
    }

    /// Details that decide on the stored form count; the others do not.
    @Test func detailsCountWhereTheyDecide() {
        func digest(_ change: (inout SchemaDocument.EntityDetails, inout SchemaDocument.PropertyDetails) -> Void)
            -> String
        {
            var (entity, property) = (SchemaDocument.EntityDetails(), SchemaDocument.PropertyDetails())
            change(&entity, &property)
            entity.properties["name"] = property
            return SchemaDocument(Self.base, details: ["Trip": entity]).storageDigest
        }
        let base = digest { _, _ in }
        #expect(base == SchemaDocument(Self.base).storageDigest)
        #expect(digest { entity, _ in entity.hashModifier = "2" } != base)
        #expect(digest { _, property in property.transformer = "T" } != base)
        #expect(digest { _, property in property.isCodable = true } != base)
        #expect(digest { entity, _ in entity.formerNames = [.init(name: "A", until: Schema.Version(1, 0, 0))] } == base)
        #expect(digest { _, property in property.documentation = "text" } == base)
        #expect(digest { _, property in property.allowedValues = [.string("a")] } == base)
    }

    /// The form itself, so that it does not change unnoticed: digests are kept in files.
    @Test func theFormIsTheDocumentedOne() {
        #expect(
            SchemaDocument(Self.base).storageForm
                == #"{"entities":[{"name":"Guide","properties":[{"name":"trips","toMany":"Trip","inverse":"guide"}]},"#
                + #"{"name":"Trip","properties":[{"name":"cost","kind":"double","optional":true},"#
                + #"{"name":"guide","toOne":"Guide","optional":true,"inverse":"trips"},{"name":"name","kind":"string"}],"#
                + #""unique":[["cost","name"],["name"]]}]}"#)
    }
}
