import Foundation
import MortiseCore

/// Documents for tests.
enum SchemaDocuments {
    /// Every member that the format has.
    static var full: SchemaDocument {
        var trip = SchemaDocument.EntityDetails()
        trip.formerNames = [.init(name: "Journey", until: Schema.Version(0, 9, 0))]
        trip.hashModifier = "2"
        trip.reserved = ["fee"]
        var kind = SchemaDocument.PropertyDetails()
        kind.swiftType = "Kind"
        kind.allowedValues = [.string("bus"), .string("train")]
        kind.documentation = "How \"one\" travels:\n\tby \\ or /, é"
        var place = SchemaDocument.PropertyDetails()
        place.isCodable = true
        place.members = [
            .init(name: "city", kind: .string, defaultValue: .string("")),
            .init(
                name: "position", kind: .coded, isOptional: true,
                members: [.init(name: "latitude", kind: .double), .init(name: "longitude", kind: .double)]),
        ]
        var picture = SchemaDocument.PropertyDetails()
        picture.transformer = "PictureTransformer"
        var labels = SchemaDocument.PropertyDetails()
        labels.hashModifier = "b"
        labels.isKeptHere = false
        labels.isOrdered = true
        trip.properties = ["kind": kind, "place": place, "picture": picture, "labels": labels]
        var event = SchemaDocument.EntityDetails()
        event.isAbstract = true
        return SchemaDocument(schema, details: ["Trip": trip, "Event": event])
    }

    static func attribute(
        _ name: String, _ kind: StorageKind, optional: Bool = false, originalName: String? = nil,
        default value: StoredValue? = nil, options: StoredAttribute.Options = [], modifier: String? = nil
    ) -> StoredProperty {
        StoredProperty(
            name: name, originalName: originalName, isOptional: optional,
            content: .attribute(
                StoredAttribute(kind: kind, options: options, defaultValue: value, hashModifier: modifier)))
    }

    static func relationship(
        _ name: String, _ destination: String, toMany: Bool = false, optional: Bool = true, inverse: String? = nil,
        rule: Schema.Relationship.DeleteRule = .nullify, minimum: Int? = nil, maximum: Int? = nil, unique: Bool = false
    ) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: optional,
            content: .relationship(
                StoredRelationship(
                    destination: destination, isToMany: toMany, inverse: inverse, deleteRule: rule,
                    minimumCount: minimum, maximumCount: maximum, isUnique: unique)))
    }

    /// A default value of each kind.
    static let values: [(kind: StorageKind, value: StoredValue)] = [
        (.bool, .bool(true)), (.int8, .integer(-128)), (.int16, .integer(32_767)), (.int32, .integer(0)),
        (.int64, .integer(.min)), (.uint8, .integer(255)), (.uint16, .integer(1)), (.uint32, .integer(4_294_967_295)),
        (.uint64, .unsigned(.max)), (.float, .float(0.1)), (.float, .float(-.infinity)),
        (.double, .double(-0.0)), (.double, .double(.leastNonzeroMagnitude)), (.double, .double(1e300)),
        (.double, .double(.nan)),
        (.double, .double(Double(bitPattern: 0x7ff8_0000_0000_0001))),
        (.decimal, .decimal(Decimal(string: "-12345678901234567890.123456789") ?? 0)),
        (.string, .string("a\u{301}\"\\\n\u{1}😀")),
        (.data, .data(Data([0, 255, 16]))), (.date, .date(Date(timeIntervalSinceReferenceDate: 791_837_694.25))),
        (.date, .date(Date(timeIntervalSinceReferenceDate: -0.5))),
        (.date, .date(Date(timeIntervalSinceReferenceDate: 1e300))),
        (.date, .date(Date(timeIntervalSinceReferenceDate: .infinity))),
        (.uuid, .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255)))),
        (.url, .url(URL(string: "https://example.org/a?b=c")!)),
        (.url, .url(URL(string: "b", relativeTo: URL(string: "https://example.org/a/"))!)),
        (
            .coded,
            .object([
                "b": .array([.null, .bool(false), .integer(-1), .unsigned(.max), .double(1), .string("x")]),
                "a": .object([:]),
                "": .array([]),
            ])
        ), (.coded, .string("only")), (.string, .null),
    ]

    private static var schema: StoredSchema {
        var entities = [
            StoredEntity(
                name: "Event", properties: [attribute("id", .uuid, options: .unique)], uniquenessConstraints: [["id"]]),
            StoredEntity(
                name: "Trip", originalName: "Journey", superentity: "Event",
                properties: [
                    attribute("kind", .string, default: .string("bus")),
                    attribute("cost", .double, optional: true, originalName: "price", modifier: "m"),
                    attribute("place", .coded, optional: true),
                    attribute("picture", .data, optional: true, options: [.externalStorage, .transformable]),
                    attribute(
                        "cache", .int64,
                        options: [.ephemeral, .spotlight, .allowsCloudEncryption, .preserveValueOnDeletion]),
                    relationship("traveler", "Traveler", inverse: "trips", rule: .deny, unique: true),
                    relationship(
                        "labels", "Label", toMany: true, optional: false, inverse: "trips", minimum: 1, maximum: 9),
                ], uniquenessConstraints: [["kind", "cost"]],
                indices: [StoredIndex(properties: ["cost", "kind"]), StoredIndex(kind: .rtree, properties: ["kind"])]),
            StoredEntity(
                name: "Traveler",
                properties: [
                    relationship("trips", "Trip", toMany: true, optional: false, inverse: "traveler", rule: .cascade)
                ]),
            StoredEntity(
                name: "Label",
                properties: [
                    relationship("trips", "Trip", toMany: true, optional: false, inverse: "labels", rule: .noAction)
                ]),
            StoredEntity(name: "Nothing \"at\" all", properties: []),
        ]
        entities.append(
            StoredEntity(
                name: "Defaults",
                properties: values.enumerated().map { attribute("p\($0)", $1.kind, optional: true, default: $1.value) })
        )
        return StoredSchema(version: Schema.Version(1, 2, 30), entities: entities)
    }
}
