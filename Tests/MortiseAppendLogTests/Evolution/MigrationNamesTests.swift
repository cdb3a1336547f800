import Foundation
import MortiseEngine
import MortiseTestSupport
import Testing

@testable import MortiseAppendLog
@testable import MortiseCore

/// Names that are written in several ways, defaults that change later, and plans that nobody needs.
@Suite struct MigrationNamesTests {
    private static func text(_ name: String, from original: String? = nil) -> StoredProperty {
        StoredProperty(
            name: name, originalName: original, isOptional: true, content: .attribute(.init(kind: .string)))
    }

    private static func number(_ name: String, _ value: Int64?) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: false,
            content: .attribute(.init(kind: .int64, defaultValue: value.map(StoredValue.integer))))
    }

    private static func schema(_ number: Int, _ properties: [StoredProperty]) -> StoredSchema {
        StoredSchema(
            version: Schema.Version(number, 0, 0), entities: [StoredEntity(name: "Trip", properties: properties)])
    }

    private func insert(_ values: [String: StoredValue], _ world: MigrationWorld, _ schema: StoredSchema) throws {
        let container = try world.open(Schema(stored: schema), nil)
        defer { try? container.close() }
        let store = try #require(container.stores.first?.underlying as? any EngineDataStore)
        let layout = try #require(schema.recordLayouts()["Trip"])
        _ = try store.save(
            DataStoreSaveChangesRequest(
                inserted: [
                    DefaultSnapshot(
                        persistentIdentifier: .temporary(entityName: "Trip"), layout: layout,
                        values: ContiguousArray(layout.slots.map { values[$0.name] ?? .null }))
                ], editingState: EditingState(author: "test")))
    }

    private func values(_ name: String, _ world: MigrationWorld, _ schema: StoredSchema) throws -> [StoredValue?] {
        let container = try world.open(Schema(stored: schema), nil)
        defer { try? container.close() }
        let version = try #require(container.stores.first?.underlying as? any VersionedDataStore).currentVersion
        return try StoredRecords(ofEntity: "Trip", in: version, schema, schema.recordLayouts()).map { $0[name] }
    }

    @Test(arguments: MigrationWorld.Kind.allCases)
    func oneNameInTwoFormsIsOneProperty(_ kind: MigrationWorld.Kind) throws {
        let world = try MigrationWorld(kind)
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        let first = Self.schema(1, [Self.text(composed), Self.text("other")])
        try insert([composed: .string("Paris")], world, first)
        let second = Self.schema(2, [Self.text("other"), Self.text(decomposed)])
        #expect(try values(decomposed, world, second) == [.string("Paris")])
        try insert([decomposed: .string("Rome")], world, second)
        #expect(try values(composed, world, second) == [.string("Paris"), .string("Rome")])
    }

    @Test(arguments: MigrationWorld.Kind.allCases)
    func namesOfAllKindsAreRenamedOnce(_ kind: MigrationWorld.Kind) throws {
        let names = ["Name", "name", "\u{1F44D}", "\"quoted\" \\ {", "class", String(repeating: "n", count: 1_024)]
        let world = try MigrationWorld(kind)
        try insert([names[0]: .string("Ada")], world, Self.schema(1, [Self.text(names[0])]))
        for (place, name) in names.enumerated().dropFirst() {
            let schema = Self.schema(place + 1, [Self.text("more"), Self.text(name, from: names[place - 1])])
            #expect(try values(name, world, schema).first == .string("Ada"))
            // The first save writes the schema.
            try insert([name: .string("Bob")], world, schema)
            #expect(try values(name, world, schema).first == .string("Ada"))
        }
    }

    /// What a record has got as a default it keeps, also where no save has written the record since.
    @Test(arguments: MigrationWorld.Kind.allCases)
    func aDefaultIsThatOfTheVersionThatAddedIt(_ kind: MigrationWorld.Kind) throws {
        let world = try MigrationWorld(kind)
        try insert(["name": .string("Ada")], world, Self.schema(1, [Self.text("name")]))
        try insert(
            ["name": .string("Bob"), "rank": .integer(1)], world,
            Self.schema(2, [Self.text("name"), Self.number("rank", 7)]))
        let third = Self.schema(3, [Self.number("rank", 8), Self.text("name")])
        #expect(try values("rank", world, third) == [.integer(7), .integer(1)])
        try insert(["rank": .integer(2)], world, third)
        #expect(try values("rank", world, third) == [.integer(7), .integer(1), .integer(2)])
    }

    @Test(arguments: MigrationWorld.Kind.allCases)
    func whatIsRequiredMayComeWhereThereAreNoRecords(_ kind: MigrationWorld.Kind) throws {
        let world = try MigrationWorld(kind)
        try world.open(Schema(stored: Self.schema(1, [Self.text("name")])), nil).close()
        let second = Self.schema(2, [Self.text("name"), Self.number("rank", nil)])
        #expect(try values("rank", world, second) == [])
        try insert(["rank": .integer(3)], world, second)
        #expect(try values("rank", world, second) == [.integer(3)])
        #expect {
            try world.open(Schema(stored: Self.schema(3, [Self.number("rank", nil), Self.number("more", nil)])), nil)
        } throws: { error in
            guard case EngineError.schemaMismatch(_, let differences) = error else { return false }
            return differences.contains { $0.contains("Trip.more is required, and 1 record would have no value") }
        }
    }

    private enum Malformed: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, Twin.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: Twin.self, toVersion: V1.self)] }
    }
    private enum Twin: VersionedSchema {
        static var models: [any PersistentModel.Type] { V2.models }
        static var versionIdentifier: Schema.Version { V1.versionIdentifier }
    }

    /// A mistake in a plan is told where the plan is needed, and not to everybody whose store is current.
    @Test(arguments: MigrationWorld.Kind.allCases)
    func aMalformedPlanHarmsNoStoreThatIsCurrent(_ kind: MigrationWorld.Kind) throws {
        let world = try MigrationWorld(kind)
        _ = try world.fill()
        let container = try world.open(V1.self, Malformed.self)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<V1.Traveler>()) == 4)
        try container.close()
        #expect(throws: MigrationError.self) {
            try ModelContainer.migrationPreview(
                for: Schema(versionedSchema: V1.self), migrationPlan: Malformed.self,
                configurations: [world.configuration()])
        }
    }
}
