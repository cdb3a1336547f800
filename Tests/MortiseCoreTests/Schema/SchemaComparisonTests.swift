@testable import MortiseCore
import MortiseEngine
import PackageTestSupport
import Testing

/// Every difference of two schemas is listed, with what stores do with it.
@Suite struct SchemaComparisonTests {
    private typealias Make = SchemaDocuments

    private func changes(
        _ old: [StoredProperty], _ new: [StoredProperty], unique: [[[String]]] = [[], []]
    ) -> [SchemaChange] {
        func document(_ properties: [StoredProperty], _ unique: [[String]]) -> SchemaDocument {
            SchemaDocument(
                StoredSchema(entities: [
                    StoredEntity(name: "Trip", properties: properties, uniquenessConstraints: unique),
                    StoredEntity(
                        name: "Guide",
                        properties: [
                            Make.relationship("trips", "Trip", toMany: true, optional: false, inverse: "guide")
                        ]),
                    StoredEntity(name: "Place", properties: []),
                ]))
        }
        return SchemaComparison(from: document(old, unique[0]), to: document(new, unique[1])).changes
    }

    private static let guide = SchemaDocuments.relationship("guide", "Guide", inverse: "trips")

    /// Old and new property, and what differs.
    private static let table:
        [(name: String, old: StoredProperty?, new: StoredProperty?, found: [(SchemaChange.Kind, String)])] = [
            ("nothing", Make.attribute("a", .string), Make.attribute("a", .string), []),
            ("added optional", nil, Make.attribute("a", .string, optional: true), [(.attributeAdded, "M")]),
            ("added with default", nil, Make.attribute("a", .string, default: .string("")), [(.attributeAdded, "M")]),
            ("added required", nil, Make.attribute("a", .string), [(.attributeAdded, "X")]),
            ("added ephemeral", nil, Make.attribute("a", .string, options: .ephemeral), [(.attributeAdded, "0")]),
            (
                "added to-many", nil, Make.relationship("a", "Place", toMany: true, optional: false),
                [(.relationshipAdded, "M")]
            ),
            (
                "added required to-one", nil, Make.relationship("a", "Place", optional: false),
                [(.relationshipAdded, "X")]
            ),
            ("dropped", Make.attribute("a", .string), nil, [(.propertyDropped, "M")]),
            (
                "renamed", Make.attribute("a", .string), Make.attribute("b", .string, originalName: "a"),
                [(.propertyRenamed, "M")]
            ),
            (
                "renamed and made optional", Make.attribute("a", .string),
                Make.attribute("b", .string, optional: true, originalName: "a"),
                [(.propertyRenamed, "M"), (.madeOptional, "M")]
            ),
            ("widened", Make.attribute("a", .int32), Make.attribute("a", .int64), [(.typeChanged, "X")]),
            ("narrowed", Make.attribute("a", .double), Make.attribute("a", .float), [(.typeChanged, "X")]),
            (
                "made required", Make.attribute("a", .string, optional: true), Make.attribute("a", .string),
                [(.madeRequired, "X")]
            ),
            (
                "made required with a default", Make.attribute("a", .string, optional: true),
                Make.attribute("a", .string, default: .string("")), [(.madeRequired, "M"), (.defaultChanged, "0")]
            ),
            (
                "made a relationship", Make.attribute("a", .string), Make.relationship("a", "Place", optional: false),
                [(.kindChanged, "X")]
            ),
            (
                "made to-many", Make.relationship("a", "Place"), Make.relationship("a", "Place", toMany: true),
                [(.cardinalityChanged, "W")]
            ),
            (
                "made to-one", Make.relationship("a", "Place", toMany: true), Make.relationship("a", "Place"),
                [(.cardinalityChanged, "X")]
            ),
            (
                "other destination", Make.relationship("a", "Place"), Make.relationship("a", "Guide"),
                [(.destinationChanged, "X")]
            ),
            (
                "other rule", Make.relationship("a", "Place"), Make.relationship("a", "Place", rule: .deny),
                [(.deleteRuleChanged, "0")]
            ),
            (
                "other counts", Make.relationship("a", "Place", toMany: true),
                Make.relationship("a", "Place", toMany: true, maximum: 3), [(.countsChanged, "0")]
            ),
            (
                "made ephemeral", Make.attribute("a", .string), Make.attribute("a", .string, options: .ephemeral),
                [(.madeEphemeral, "M")]
            ),
            (
                "made stored", Make.attribute("a", .string, options: .ephemeral), Make.attribute("a", .string),
                [(.madeStored, "X")]
            ),
            (
                "kept outside", Make.attribute("a", .data), Make.attribute("a", .data, options: .externalStorage),
                [(.optionsChanged, "0")]
            ),
            (
                "modifier", Make.attribute("a", .data), Make.attribute("a", .data, modifier: "2"),
                [(.modifierChanged, "0")]
            ),
            (
                "made transformable", Make.attribute("a", .data), Make.attribute("a", .data, options: .transformable),
                [(.transformerChanged, "X")]
            ),
        ]

    @Test(arguments: table.indices) func aDifferenceHasItsClass(_ index: Int) {
        let (name, old, new, found) = Self.table[index]
        let changes = changes([Self.guide] + [old].compactMap(\.self), [Self.guide] + [new].compactMap(\.self))
        #expect(changes.map(\.kind) == found.map(\.0), "\(name): \(changes)")
        #expect(changes.map(\.changeClass.rawValue) == found.map(\.1), "\(name): \(changes)")
        for change in changes {
            #expect((change.wayOut != nil) == (change.changeClass == .refused), "\(name): \(change)")
            #expect(!change.effect.isEmpty && !change.detail.isEmpty && change.entity == "Trip")
        }
    }

    @Test func swappedNamesAreTwoRenames() {
        let changes = changes(
            [Make.attribute("a", .string), Make.attribute("b", .string)],
            [Make.attribute("a", .string, originalName: "b"), Make.attribute("b", .string, originalName: "a")])
        #expect(changes.map(\.kind) == [.propertyRenamed, .propertyRenamed])
        #expect(changes.map(\.origin) == ["b", "a"])
    }

    @Test func twoThatTakeOneAreCopies() {
        let changes = changes(
            [Make.attribute("a", .string)],
            [Make.attribute("b", .string, originalName: "a"), Make.attribute("c", .string, originalName: "a")])
        #expect(changes.map(\.kind) == [.propertyCopied, .propertyCopied])
    }

    @Test func constraintsFollowRenames() {
        let old = [Make.attribute("a", .string), Make.attribute("c", .string)]
        let new = [Make.attribute("b", .string, originalName: "a"), Make.attribute("c", .string)]
        #expect(
            changes(old, new, unique: [[["a", "c"]], [["c", "b"]]]).map(\.kind) == [.orderChanged, .propertyRenamed])
        let added = changes(old, new, unique: [[["a"]], [["c"]]])
        #expect(added.map(\.kind) == [.uniqueAdded, .uniqueRemoved, .propertyRenamed])
        #expect(added[0].changeClass == .indexed)
        #expect(added[0].measure == .init(.isDuplicate, ["Trip"], ["c"]))
    }

    /// A number of records decides what the schemas leave open.
    @Test func countedChangesAreDecided() {
        let added = changes([], [Make.attribute("a", .string)])[0]
        #expect(added.counted(0).changeClass == .mapped && added.counted(0).wayOut == nil)
        #expect(added.counted(3).changeClass == .refused && added.counted(3).records == 3)
        let unique = changes([Make.attribute("a", .string)], [Make.attribute("a", .string)], unique: [[], [["a"]]])[0]
        #expect(unique.counted(0).changeClass == .indexed)
        #expect(unique.counted(2).changeClass == .refused)
        let retyped = changes([Make.attribute("a", .string)], [Make.attribute("a", .bool)])[0]
        #expect(retyped.counted(0).changeClass == .refused)
    }

    @Test func inheritedPropertiesAreComparedOnce() {
        func document(_ price: StoredProperty, in owner: Int) -> SchemaDocument {
            SchemaDocument(
                StoredSchema(entities: [
                    StoredEntity(name: "Event", properties: owner == 0 ? [price] : []),
                    StoredEntity(name: "Trip", superentity: "Event", properties: owner == 1 ? [price] : []),
                    StoredEntity(name: "Walk", superentity: "Event", properties: []),
                ]))
        }
        let price = Make.attribute("price", .double, optional: true)
        let retyped = SchemaComparison(
            from: document(price, in: 0), to: document(Make.attribute("price", .string, optional: true), in: 0)
        ).changes
        #expect(retyped.map(\.subject) == ["Event.price"])
        #expect(Set(retyped[0].measure?.entities ?? []) == ["Event", "Trip", "Walk"])
        // Up: records of Trip keep theirs, the others begin without.
        let moved = SchemaComparison(from: document(price, in: 1), to: document(price, in: 0)).changes
        #expect(moved.map(\.kind) == [.attributeAdded, .propertyMoved])
        // Down: the others lose theirs.
        let down = SchemaComparison(from: document(price, in: 0), to: document(price, in: 1)).changes
        #expect(down.map(\.kind) == [.propertyDropped, .propertyMoved])
        #expect(Set(down[0].measure?.entities ?? []) == ["Event", "Walk"])
    }

    @Test func entitiesComeGoAndChangeTheirNames() {
        let old = SchemaDocument(
            StoredSchema(entities: [
                StoredEntity(name: "A", properties: []), StoredEntity(name: "B", properties: []),
            ]))
        let new = SchemaDocument(
            StoredSchema(
                version: Schema.Version(2, 0, 0),
                entities: [
                    StoredEntity(name: "C", originalName: "A", superentity: "D", properties: []),
                    StoredEntity(name: "D", properties: []),
                ]))
        let changes = SchemaComparison(from: old, to: new).changes
        #expect(
            changes.map(\.kind) == [.versionChanged, .entityDropped, .entityRenamed, .superentityChanged, .entityAdded])
        #expect(changes.map(\.subject) == ["schema", "B", "C", "C", "D"])
        #expect(changes.map(\.changeClass) == [.metadata, .mapped, .mapped, .mapped, .mapped])
        // A later version may lack an entity; an equal one lacks it by mistake, and an older one is not opened.
        #expect(changes.prefix(2).map(\.changeClass) == [.metadata, .mapped])
        var same = new
        same.schema.version = old.schema.version
        let dropped = SchemaComparison(from: old, to: same).changes[0]
        #expect(dropped.kind == .entityDropped && dropped.changeClass == .refused)
        #expect(dropped.counted(0).changeClass == .mapped && dropped.counted(1).changeClass == .refused)
        let back = SchemaComparison(from: new, to: old).changes[0]
        #expect(back.kind == .versionChanged && back.changeClass == .refused)
    }

    /// A side that is new takes the links over. Where both sides have kept links of their own, opening the store unites them: the
    /// comparison said that it refuses them.
    @Test(arguments: [true, false]) func linksMoveToASideThatHadNone(_ hadLinks: Bool) {
        func schema(inverse: Bool, both: Bool) -> StoredSchema {
            let (one, other) = (inverse ? "one" : nil, inverse ? "other" : nil)
            let second = Make.relationship("one", "B", toMany: true, optional: false, inverse: other)
            return StoredSchema(entities: [
                StoredEntity(name: "A", properties: both ? [second] : []),
                StoredEntity(
                    name: "B",
                    properties: [Make.relationship("other", "A", toMany: true, optional: false, inverse: one)]),
            ])
        }
        let (old, new) = (schema(inverse: false, both: hadLinks), schema(inverse: true, both: true))
        let changes = SchemaComparison(from: SchemaDocument(old), to: SchemaDocument(new)).changes
        let moved = changes.filter { $0.kind == .keptSideChanged }
        #expect(moved.map(\.subject) == ["B.other"] && moved.map(\.changeClass) == [.rewritten])
        #expect(throws: Never.self) { try SchemaMapping(from: old, to: new, store: "") }
    }

    @Test func detailsAreCompared() {
        let old = SchemaDocuments.full
        var new = old
        new.details["Trip"]?.properties["kind"]?.allowedValues = [.string("bus"), .string("ship")]
        new.details["Trip"]?.properties["place"]?.isCodable = false
        new.details["Trip"]?.properties["place"]?.members = []
        new.details["Trip"]?.properties["picture"]?.transformer = "Other"
        new.details["Trip"]?.reserved = []
        let changes = SchemaComparison(from: old, to: new).changes
        #expect(
            changes.map { "\($0.subject) \($0.kind) \($0.changeClass.rawValue)" } == [
                "Trip entityDetailsChanged 0", "Trip.kind valueRemoved X", "Trip.picture transformerChanged X",
                "Trip.place codableChanged W", "Trip.place membersChanged M",
            ])
        #expect(SchemaComparison(from: old, to: old).changes == [])
    }

    // MARK: At random

    /// What no store maps without a plan.
    private static let structural: Set<SchemaChange.Kind> = [
        .typeChanged, .kindChanged, .cardinalityChanged, .destinationChanged, .entityRenamed, .keptSideChanged,
    ]

    /// Schemas without a difference are equal, others are not; and stores refuse exactly those schemas in which a difference is
    /// said to be refused whatever the records are.
    @Test func whatIsSaidIsWhatStoresDo() throws {
        var schemas = RandomSchemas(seed: testSeed())
        var (refused, equal, moved) = (0, 0, 0)
        for _ in 0..<1_500 {
            let old = schemas.schema()
            let new = schemas.changed(old)
            let (a, b) = (SchemaDocument(old), SchemaDocument(new))
            let changes = SchemaComparison(from: a, to: b).changes
            #expect(changes.isEmpty == (old == new), "\(old)\n\(new)\n\(changes)")
            #expect((a.storageDigest == b.storageDigest) == (old.storage == new.storage), "\(old)\n\(new)")
            #expect(try SchemaDocument(reading: Array(b.text().utf8)) == b)
            let isRefused = changes.contains { $0.changeClass == .refused && Self.structural.contains($0.kind) }
            var isMapped = true
            do {
                _ = try SchemaMapping(from: old, to: new, store: "")
            } catch is EngineError {
                isMapped = false
            }
            #expect(isMapped == !isRefused, "\(old)\n\(new)\n\(changes)")
            if isRefused { refused += 1 }
            if old == new { equal += 1 }
            if changes.contains(where: { $0.kind == .keptSideChanged }) { moved += 1 }
        }
        #expect(refused > 50 && equal > 2 && moved > 3, "\(refused) refused, \(equal) equal, \(moved) moved")
    }
}
