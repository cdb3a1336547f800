#if Tool
import Foundation
@testable import MortiseCommands
import MortiseCore
import Testing

/// Each rule finds what it is about, and nothing in a schema without faults.
@Suite struct SchemaLintTests {
    private static func attribute(
        _ name: String, _ kind: StorageKind = .string, optional: Bool = true, default value: StoredValue? = nil,
        options: StoredAttribute.Options = [], originalName: String? = nil
    ) -> StoredProperty {
        StoredProperty(
            name: name, originalName: originalName, isOptional: optional,
            content: .attribute(StoredAttribute(kind: kind, options: options, defaultValue: value)))
    }

    private static func relationship(
        _ name: String, optional: Bool = true, inverse: String? = "back",
        rule: Schema.Relationship.DeleteRule = .nullify
    ) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: optional,
            content: .relationship(
                StoredRelationship(destination: "Other", isToMany: false, inverse: inverse, deleteRule: rule)))
    }

    private static func document(
        _ property: StoredProperty, unique: [[String]] = [], version: Int = 1,
        _ change: (inout SchemaDocument.EntityDetails, inout SchemaDocument.PropertyDetails) -> Void = { _, _ in }
    ) -> SchemaDocument {
        var (entity, details) = (SchemaDocument.EntityDetails(), SchemaDocument.PropertyDetails())
        change(&entity, &details)
        if details != SchemaDocument.PropertyDetails() { entity.properties[property.name] = details }
        return SchemaDocument(
            StoredSchema(
                version: Schema.Version(version, 0, 0),
                entities: [
                    StoredEntity(name: "Trip", properties: [property], uniquenessConstraints: unique),
                    StoredEntity(name: "Other", properties: [relationship("back", inverse: nil).toMany]),
                ]), details: ["Trip": entity])
    }

    private func codes(_ document: SchemaDocument, since shipped: SchemaDocument? = nil, sync: Bool = false) -> [String]
    {
        SchemaLint(document, since: shipped, isForSync: sync).findings.filter { $0.subject != "Other.back" }.map(\.code)
    }

    private static let cases: [(code: String, document: SchemaDocument, since: SchemaDocument?)] = [
        ("S01", document(attribute("a", optional: false)), nil),
        ("S02", document(attribute("a"), unique: [["a"]]), nil),
        ("S03", document(relationship("a", optional: false)), nil),
        ("S04", document(relationship("a", inverse: nil)), nil),
        ("S05", document(relationship("a", rule: .deny)), nil),
        ("S06", document(attribute("a", .int64), version: 2), document(attribute("a"))),
        ("S07", document(attribute("b", originalName: "a"), version: 2), document(attribute("a"))),
        ("S08", document(attribute("a", .date, default: .date(.distantPast))), nil),
        ("S09", document(relationship("a")) { $1.isOrdered = true }, nil),
        ("S10", document(attribute("a", .coded)) { $1.swiftType = "[String]" }, nil),
        ("S11", document(attribute("a", .data, options: .transformable)), nil),
        ("S12", document(attribute("a")) { $1.allowedValues = [.string("bus")] }, nil),
        ("S13", document(attribute("order")), nil), ("S13", document(attribute("recordID")), nil),
        ("S15", document(attribute(String(repeating: "a", count: 61))), nil),
        (
            "S16", document(attribute("a", optional: false, default: .string(""))),
            document(attribute("a", default: .string("")))
        ),
        ("S17", document(attribute("b", originalName: "a")), document(attribute("b", originalName: "a"))),
        ("S19", document(attribute("a")) { entity, _ in entity.reserved = ["a"] }, nil),
        ("S19", document(attribute("b")), document(attribute("b")) { entity, _ in entity.reserved = ["b"] }),
    ]

    @Test(arguments: cases.indices) func aRuleFindsItsFault(_ index: Int) {
        let (code, document, since) = Self.cases[index]
        #expect(codes(document, since: since, sync: true) == [code])
        let isOfSync = ["S01", "S02", "S03", "S04", "S05"].contains(code)
        #expect(codes(document, since: since) == (isOfSync ? [] : [code]))
    }

    @Test func namesThatDifferInCaseAreFound() {
        let entity = StoredEntity(name: "Trip", properties: [Self.attribute("note"), Self.attribute("Note")])
        let schema = StoredSchema(entities: [entity, StoredEntity(name: "TRIP", properties: [])])
        let found = SchemaLint(SchemaDocument(schema), since: nil, isForSync: false).findings
        #expect(found.map(\.subject) == ["TRIP", "Trip.Note"] && found.allSatisfy { $0.code == "S14" })
    }

    @Test func aSchemaWithoutFaultsHasNoFindings() {
        let document = Self.document(Self.attribute("a")) { $1.allowedValues = [.string("bus"), .string("unknown")] }
        #expect(codes(document, since: document, sync: true) == [])
    }

    @Test func syncMakesErrors() {
        let document = Self.document(Self.attribute("a")) { $1.allowedValues = [.string("bus")] }
        #expect(!SchemaLint(document, since: nil, isForSync: false).hasErrors)
        #expect(SchemaLint(document, since: nil, isForSync: true).hasErrors)
    }
}

extension StoredProperty {
    /// A relationship as a to-many one.
    fileprivate var toMany: StoredProperty {
        guard var relationship else { return self }
        relationship.isToMany = true
        return StoredProperty(name: name, isOptional: false, content: .relationship(relationship))
    }
}
#endif
