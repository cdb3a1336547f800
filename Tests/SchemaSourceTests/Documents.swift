#if Tool
import Foundation
@testable import MortiseCommands
import MortiseCore
import PackageTestSupport

/// Schemas whose generated source is part of this target.
enum Documents {
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
        _ name: String, _ destination: String, toMany: Bool = false, optional: Bool = true,
        originalName: String? = nil, inverse: String? = nil, rule: Schema.Relationship.DeleteRule = .nullify,
        minimum: Int? = nil, maximum: Int? = nil, unique: Bool = false
    ) -> StoredProperty {
        StoredProperty(
            name: name, originalName: originalName, isOptional: optional,
            content: .relationship(
                StoredRelationship(
                    destination: destination, isToMany: toMany, inverse: inverse, deleteRule: rule,
                    minimumCount: minimum, maximumCount: maximum, isUnique: unique)))
    }

    /// Default values of each kind that say most.
    static let values: [(kind: StorageKind, value: StoredValue)] = [
        (.bool, .bool(true)), (.int8, .integer(-128)), (.int16, .integer(32_767)), (.int32, .integer(0)),
        (.int64, .integer(.min)), (.uint8, .integer(255)), (.uint16, .integer(1)), (.uint32, .integer(4_294_967_295)),
        (.uint64, .unsigned(.max)), (.float, .float(0.1)), (.float, .float(-.infinity)), (.float, .float(.nan)),
        (.double, .double(-0.0)), (.double, .double(.leastNonzeroMagnitude)), (.double, .double(1e300)),
        (.double, .double(.nan)), (.double, .double(Double(bitPattern: 0x7ff8_0000_0000_0001))),
        (.decimal, .decimal(Decimal(string: "-12345678901234567890.123456789") ?? 0)), (.decimal, .decimal(12)),
        (.string, .string("a\u{301}\"\\(x)\n\u{1}\u{202e}\u{2028}`*/😀")), (.string, .string("")),
        (.data, .data(Data([0, 255, 16]))), (.data, .data(Data())), (.data, .data(Data(repeating: 7, count: 40))),
        (.date, .date(Date(timeIntervalSinceReferenceDate: 791_837_694.25))),
        (.date, .date(Date(timeIntervalSinceReferenceDate: -.infinity))),
        (.uuid, .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255)))),
        (.url, .url(URL(string: "https://example.org/a?b=c")!)),
        (.url, .url(URL(string: "b", relativeTo: URL(string: "https://example.org/a/"))!)),
        (
            .coded,
            .object([
                "b": .array([.null, .bool(false), .integer(-1), .unsigned(.max), .double(1), .string("x\"\\\n")]),
                "a": .object([:]), "": .array([]),
            ])
        ), (.coded, .string("only")),
    ]

    /// Every kind with and without a default, every option, every sort of relationship, and details.
    static var everything: SchemaDocument {
        let event = StoredEntity(
            name: "Event", properties: [attribute("id", .uuid, options: .unique)], uniquenessConstraints: [["id"]])
        let trip = StoredEntity(
            name: "Trip", originalName: "Journey", superentity: "Event",
            properties: [
                attribute("kind", .string, default: .string("bus")), attribute("other", .string, optional: true),
                attribute("rank", .int64, default: .integer(-3)),
                attribute("cost", .double, optional: true, originalName: "price \"of\" all", modifier: "m\n"),
                attribute("place", .coded, default: .object(["city": .string("x"), "number": .integer(2)])),
                attribute("again", .coded), attribute("strange", .coded, default: .object(["city": .null])),
                attribute("picture", .data, optional: true, options: [.externalStorage, .transformable]),
                attribute(
                    "cache", .int64,
                    options: [.ephemeral, .spotlight, .allowsCloudEncryption, .preserveValueOnDeletion]),
                attribute("big", .uint64), attribute("flag", .coded),
                relationship("traveler", "Traveler", inverse: "trips", rule: .deny),
                relationship("guide", "Traveler", optional: false, originalName: "leader", inverse: "led"),
                relationship(
                    "labels", "Label", toMany: true, optional: false, inverse: "trips", minimum: 1, maximum: 9),
                relationship("passport", "Passport", inverse: "trip", unique: true),
                relationship("parent", "Trip", inverse: "children"),
                relationship("children", "Trip", toMany: true, optional: false, inverse: "parent", rule: .cascade),
            ], uniquenessConstraints: [["passport"], ["kind", "cost"], ["rank"]],
            indices: [
                StoredIndex(properties: ["cost", "kind"]), StoredIndex(kind: .rtree, properties: ["id", "kind"]),
            ])
        let entities = [
            event, trip,
            StoredEntity(
                name: "Bus", superentity: "Trip", properties: [attribute("seats", .int16)],
                indices: [StoredIndex(properties: ["cost"])]),
            StoredEntity(name: "Night", superentity: "Bus", properties: []),
            StoredEntity(
                name: "Traveler",
                properties: [
                    relationship("trips", "Trip", toMany: true, optional: false, inverse: "traveler", rule: .cascade),
                    relationship("led", "Trip", toMany: true, optional: false, inverse: "guide"),
                    relationship("maybe", "Label", toMany: true, optional: true),
                ]),
            StoredEntity(
                name: "Label",
                properties: [
                    relationship("trips", "Trip", toMany: true, optional: false, inverse: "labels", rule: .noAction)
                ]),
            StoredEntity(name: "Passport", properties: [relationship("trip", "Trip", inverse: "passport")]),
            StoredEntity(name: "Nothing", properties: []),
            StoredEntity(
                name: "Defaults",
                properties: values.enumerated().map { attribute("p\($0)", $1.kind, default: $1.value) }
                    + values.enumerated().map { attribute("q\($0)", $1.kind, optional: true, default: $1.value) }
                    + StorageKind.allCases.map { attribute("r\($0.rawValue)", $0) }
                    + StorageKind.allCases.map { attribute("o\($0.rawValue)", $0, optional: true) }),
        ]
        var document = SchemaDocument(StoredSchema(version: Schema.Version(1, 2, 30), entities: entities))
        var details = SchemaDocument.EntityDetails()
        details.formerNames = [.init(name: "Journey\n*/", until: Schema.Version(0, 9, 0))]
        details.hashModifier = "2"
        details.reserved = ["fee"]
        func property(_ body: (inout SchemaDocument.PropertyDetails) -> Void) -> SchemaDocument.PropertyDetails {
            var details = SchemaDocument.PropertyDetails()
            body(&details)
            return details
        }
        let words = ["bus", "in", "night train", "", "init"].map { StoredValue.string($0) }
        details.properties = [
            "kind": property {
                $0.swiftType = "Kind"
                $0.allowedValues = words
                $0.documentation = "How \"one\" travels:\n\tby \\(x) or /, é\r\u{2028}*/ import Evil\u{0}"
            },
            "other": property {
                $0.swiftType = "Kind?"
                $0.allowedValues = words
            },
            "rank": property {
                $0.swiftType = "Rank"
                $0.allowedValues = [.integer(-3), .integer(7)]
            },
            "place": property {
                $0.swiftType = "Place"
                $0.members = [
                    .init(name: "city", kind: .string, defaultValue: .string("")), .init(name: "number", kind: .int64),
                    .init(name: "in", kind: .bool, isOptional: true),
                    .init(
                        name: "position", kind: .coded, isOptional: true,
                        members: [.init(name: "latitude", kind: .double), .init(name: "since", kind: .date)]),
                    .init(name: "rest", kind: .coded, isOptional: true),
                ]
            },
            "again": property { $0.members = [.init(name: "default", kind: .string)] },
            "strange": property { $0.members = [.init(name: "city", kind: .string, isOptional: true)] },
            "picture": property { $0.transformer = "Picture\"Transformer" },
            "big": property { $0.swiftType = "UInt" }, "flag": property { $0.isCodable = true },
            "labels": property {
                $0.isKeptHere = false
                $0.isOrdered = true
                $0.hashModifier = "b"
            },
        ]
        document.details["Trip"] = details
        var abstract = SchemaDocument.EntityDetails()
        abstract.isAbstract = true
        document.details["Event"] = abstract
        return document
    }

    /// Names that are words of Swift, or of the macros, or those of types.
    static var names: SchemaDocument {
        let words = [
            "as", "await", "break", "case", "class", "default", "defer", "deinit", "else", "false", "for", "func", "if",
            "import", "in", "inout", "is", "let", "nil", "operator", "private", "protocol", "repeat", "return",
            "static",
            "subscript", "super", "switch", "throw", "true", "try", "var", "where", "while", "actor", "any", "async",
            "consume",
            "copy", "each", "isolated", "macro", "some", "yield", "access", "withMutation", "hasChanges", "isDeleted",
            "description", "debugDescription", "hash", "get", "set", "willSet", "left", "name", "_name", "__", "größe",
            "名前",
            "e\u{301}", "x2", "lazy", "open", "self_", "dynamicType", "keyPath", "models", "value", "values", "other",
        ]
        return SchemaDocument(
            StoredSchema(
                version: Schema.Version(3, 0, 0),
                entities: [
                    StoredEntity(
                        name: "Words", properties: words.map { attribute($0, .int64) },
                        uniquenessConstraints: [["in", "default"]],
                        indices: [StoredIndex(properties: ["class"]), StoredIndex(properties: ["名前", "var"])]),
                    StoredEntity(
                        name: "Data",
                        properties: [
                            attribute("data", .data, default: .data(Data([1]))), attribute("date", .date),
                            attribute("url", .url, optional: true),
                            relationship("model", "Model", optional: false, inverse: "in"),
                        ]),
                    StoredEntity(name: "Date", properties: [attribute("tree", .coded, default: .array([]))]),
                    StoredEntity(name: "URL", properties: [relationship("self_", "URL")]),
                    StoredEntity(
                        name: "Model",
                        properties: [relationship("in", "Data", toMany: true, optional: false, inverse: "model")]),
                    StoredEntity(
                        name: "Attribute",
                        properties: [
                            attribute("a", .string, options: .unique), relationship("class", "struct", inverse: "in"),
                        ],
                        uniquenessConstraints: [["a"]]),
                    StoredEntity(name: "struct", properties: [relationship("in", "Attribute", inverse: "class")]),
                    StoredEntity(name: "Index", superentity: "struct", properties: [attribute("default", .string)]),
                    StoredEntity(name: "Unique", properties: []), StoredEntity(name: "Relationship", properties: []),
                    StoredEntity(
                        name: "Schema", properties: [relationship("lists", "enum", toMany: true, optional: false)]),
                    StoredEntity(name: "enum", properties: []), StoredEntity(name: "Größe", properties: []),
                    StoredEntity(name: "PersistentModel", properties: []),
                    StoredEntity(name: "CodedTree", properties: []),
                ]))
    }
}
#endif
