import Foundation
import MortiseEngine
import MortiseTestSupport
import Testing

@testable import MortiseAppendLog
@testable import MortiseCore

/// An entity says what it was called in the version before, and forgets that later: an identifier from two renames ago led nowhere, unless
/// a plan had all versions in between.
@Suite struct FormerNamesTests {
    private static func schema(_ number: Int, _ name: String, from original: String? = nil) -> StoredSchema {
        let text = StoredProperty(name: "name", isOptional: true, content: .attribute(.init(kind: .string)))
        return StoredSchema(
            version: Schema.Version(number, 0, 0),
            entities: [
                StoredEntity(name: name, originalName: original, properties: [text]),
                StoredEntity(name: "Other", properties: [text]),
            ])
    }

    private static let first = schema(1, "Trip")
    private static let second = schema(2, "Journey", from: "Trip")
    private static let third = schema(3, "Voyage", from: "Journey")
    private static let fourth = schema(4, "Voyage")

    private func insert(_ name: String, _ entity: String, _ world: MigrationWorld, _ schema: StoredSchema) throws
        -> PersistentIdentifier
    {
        let container = try world.open(Schema(stored: schema), nil)
        defer { try? container.close() }
        let store = try #require(container.stores.first?.underlying as? any EngineDataStore)
        let temporary = PersistentIdentifier.temporary(entityName: entity)
        let result = try store.save(
            DataStoreSaveChangesRequest(
                inserted: [
                    DefaultSnapshot(
                        persistentIdentifier: temporary, layout: try #require(schema.recordLayouts()[entity]),
                        values: [.string(name)])
                ], editingState: EditingState(author: "test")))
        return try #require(result.remappedIdentifiers[temporary])
    }

    private func found(_ identifier: PersistentIdentifier, _ world: MigrationWorld, _ schema: StoredSchema) throws
        -> String?
    {
        let container = try world.open(Schema(stored: schema), nil)
        defer { try? container.close() }
        let version = try #require(container.stores.first?.underlying as? any VersionedDataStore).currentVersion
        return container.schema.resolve(identifier) { record in
            version.rows(ofEntity: record.entityName).flatMap { rows in
                rows.row(of: record).flatMap { rows.string(row: $0, slot: 0) }
            }
        }
    }

    @Test(arguments: MigrationWorld.Kind.allCases)
    func identifiersOfAnyVersionLeadToTheirRecords(_ kind: MigrationWorld.Kind) throws {
        let world = try MigrationWorld(kind)
        let ada = try insert("Ada", "Trip", world, Self.first)
        let other = try insert("Oslo", "Other", world, Self.first)
        let bob = try insert("Bob", "Journey", world, Self.second)
        // Only looked at, and then saved.
        #expect(try found(ada, world, Self.third) == "Ada")
        _ = try insert("Cleo", "Voyage", world, Self.third)
        for schema in [Self.third, Self.fourth] {
            #expect(try found(ada, world, schema) == "Ada")
            #expect(try found(bob, world, schema) == "Bob")
            #expect(try found(other, world, schema) == "Oslo")
        }
        let cleo = try insert("Dora", "Voyage", world, Self.fourth)
        #expect(try found(cleo, world, Self.fourth) == "Dora")
        for _ in 0..<2 {
            #expect(try found(ada, world, Self.fourth) == "Ada")
            #expect(try found(bob, world, Self.fourth) == "Bob")
        }
        let stored = try world.configuration(dropping: []).storedSchema()
        #expect(stored?.entity(named: "Voyage")?.formerNames.sorted() == ["Journey", "Trip"])
        #expect(stored?.entity(named: "Other")?.formerNames == [])
    }

    @Test func namesAreNoPartOfWhatMakesSchemasEqual() throws {
        let kept = Self.third.keepingNames(of: Self.second)
        #expect(kept == Self.third)
        #expect(kept.entity(named: "Voyage")?.formerNames == ["Trip"])
        #expect(Self.first.keepingNames(of: Self.first).entities.map(\.formerNames.count) == [0, 0])
        // Decoded again they are there, and without them nothing is encoded of them.
        let decoded = try JSONDecoder().decode(StoredSchema.self, from: JSONEncoder().encode(kept))
        #expect(decoded.entity(named: "Voyage")?.formerNames == ["Trip"])
        #expect(try !String(decoding: JSONEncoder().encode(Self.third), as: UTF8.self).contains("formerNames"))
        // An entity that takes over a name does not take over what had it.
        let taken = StoredSchema(version: Schema.Version(5, 0, 0), entities: Self.fourth.entities + Self.first.entities)
        #expect(taken.keepingNames(of: kept).entity(named: "Trip")?.formerNames == [])
    }

    @Test func aLogRefusesMoreNamesThanAStoreKeeps() throws {
        var schema = Self.fourth
        for place in schema.entities.indices { schema.entities[place].formerNames = (0..<1_024).map { "name\($0)" } }
        func read(_ schema: StoredSchema) throws -> StoredSchema {
            var writer = ByteWriter(capacity: 1_024)
            try writer.schema(schema, store: "s")
            return try writer.bytes.withUnsafeBytes { bytes in
                var reader = ByteReader(bytes)
                return try reader.schema()
            }
        }
        #expect(try read(schema).entities.map(\.formerNames.count) == [1_024, 1_024])
        schema.entities[0].formerNames.append("one more")
        #expect(throws: PayloadFault.self) { try read(schema) }
    }
}
