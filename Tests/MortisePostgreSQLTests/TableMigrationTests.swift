#if PostgreSQL
import Foundation
@testable import MortiseCore
@testable import MortisePostgreSQL
import MortiseSQL
import SQLSupport
import Testing

/// A migration without code changes the tables; code, and what would be lost, needs a copy, whose tables take their place.
@Suite(.serialized, .enabled(if: TestServer.url != nil, "\(TestServer.reason)")) struct TableMigrationTests {
    private let old = [entity("Item", [("name", .string), ("size", .int64)])]
    private let wider = [entity("Item", [("name", .string), ("size", .int64), ("note", .string)])]
    private let narrower = [entity("Item", [("name", .string)])]
    private let second = Schema.Version(2, 0, 0)

    private enum Old: VersionedSchema {
        nonisolated(unsafe) static var schema = StoredSchema(entities: [])
        static var models: [any PersistentModel.Type] { [] }
        static var versionIdentifier: Schema.Version { schema.version }
        static var stored: StoredSchema? { schema }
    }
    private enum New: VersionedSchema {
        nonisolated(unsafe) static var schema = StoredSchema(entities: [])
        static var models: [any PersistentModel.Type] { [] }
        static var versionIdentifier: Schema.Version { schema.version }
        static var stored: StoredSchema? { schema }
    }
    private enum Plan: SchemaMigrationPlan {
        nonisolated(unsafe) static var code: (@Sendable (MigrationSource, MigrationTarget) throws -> Void)?
        static var schemas: [any VersionedSchema.Type] { [Old.self, New.self] }
        static var stages: [MigrationStage] { [.custom(from: Old.self, to: New.self, migrate: code)] }
    }

    /// Two records, each saved by itself.
    private func filled() throws -> (space: TestSpace, records: [PersistentIdentifier]) {
        let space = try TestSpace()
        let store = try space.open(old)
        let records =
            try store.insert("Item", ["name": .string("a"), "size": .integer(1)])
            + store.insert("Item", ["name": .string("b")])
        try store.close()
        return (space, records)
    }

    private func schema(_ entities: [StoredEntity]) -> Schema {
        Schema(stored: StoredSchema(version: second, entities: entities))
    }

    private func begin(_ space: TestSpace, _ schema: Schema) throws -> any StoreMigration {
        try space.configuration().beginMigration(MigrationRequest(schemas: [schema]))
    }

    private func schemas(_ space: TestSpace) throws -> [String] {
        try space.configuration().connected { connection in
            try connection.run(
                "SELECT n.nspname::text FROM pg_namespace n WHERE starts_with(n.nspname::text, $1::text) ORDER BY 1",
                [.text(space.name)]
            ).rows.compactMap { $0.text(0) }
        }
    }

    private func container(_ space: TestSpace, _ entities: [StoredEntity]) throws -> ModelContainer {
        let target = StoredSchema(version: second, entities: entities)
        (Old.schema, New.schema) = (StoredSchema(version: Schema.Version(1, 0, 0), entities: old), target)
        return try ModelContainer(
            for: Schema(stored: target), migrationPlan: Plan.self, configurations: [try space.configuration()])
    }

    @Test func withoutCodeHistoryAndTokensStay() throws {
        let (space, records) = try filled()
        let migration = try begin(space, schema(wider))
        #expect(try migration.count(ofEntity: "Item") == 2)
        #expect(try space.configuration().migrationUnderWay()?.to == second)
        #expect(try migration.adapt(to: schema(wider).stored).isEmpty)
        try migration.prepare(keepingCopy: false, atMost: nil)
        #expect(try space.configuration().storedSchema()?.version == Schema.Version(1, 0, 0))
        #expect(!migration.isCopy && migration.keepsIdentifiers)
        try migration.commit()
        #expect(try space.configuration().migrationUnderWay() == nil)
        let later = try space.open(wider, version: second)
        #expect(try later.records(StoreQuery("Item")).map(\.persistentIdentifier) == records)
        #expect(try later.storedTransactions(after: 0, last: nil)?.count == 2)
        #expect(try schemas(space) == [space.name])
    }

    /// No copy of a database stayed beside it, so that such a stage was refused.
    @Test func whatIsLostStaysInAnotherSchema() throws {
        let (space, records) = try filled()
        let migration = try begin(space, schema(narrower))
        let loss = try migration.adapt(to: schema(narrower).stored)
        #expect(loss.properties == [.init(entity: "Item", name: "size", values: 1)])
        try migration.prepare(keepingCopy: false, atMost: nil)
        #expect(migration.isCopy && migration.keepsIdentifiers)
        try migration.commit()
        let copy = space.name + "_before_1.0.0_1"
        #expect(migration.copyLocation?.hasSuffix("?schema=\(copy)") == true)
        #expect(try schemas(space) == [space.name, copy])
        let later = try space.open(narrower, version: second)
        #expect(try later.records(StoreQuery("Item")).map(\.persistentIdentifier) == records)
        let bounds = try later.historyBounds()
        #expect(bounds.horizon == bounds.last && bounds.last > 2)
        let next = try later.insert("Item", ["name": .string("c")])
        #expect(!records.contains(next[0]))
        try later.close()
        var before = try space.configuration()
        before = PostgreSQLConfiguration(server: before.server, namespace: copy, lockTimeout: .seconds(2))
        before.schema = Schema(stored: StoredSchema(version: Schema.Version(1, 0, 0), entities: old))
        let kept = try PostgreSQLStore(before, migrationPlan: nil)
        #expect(try kept.values("Item", "size") == [.integer(1), .null])
        try kept.close()
        try space.configuration().removeCopies(exceptNewest: 0)
        #expect(try schemas(space) == [space.name])
    }

    /// Who reads goes on while code runs, and is told afterwards.
    @Test func codeRunsWhileOthersRead() throws {
        let (space, records) = try filled()
        let reader = try space.open(old, "&allowsSave=false")
        nonisolated(unsafe) var read: [StoredValue] = []
        nonisolated(unsafe) var refusal: StoreErrorClass?
        Plan.code = { source, target in
            for record in try source.records("Item") {
                guard case .string(let name)? = record["name"] else { continue }
                try target.update(record.id, ["note": .string(name + "!")])
            }
            read = try reader.values("Item", "name")
            do { try space.open(old).close() } catch { refusal = (error as? any ClassifiedStoreError)?.errorClass }
        }
        try container(space, wider).close()
        #expect(read == [.string("a"), .string("b")])
        #expect(refusal == .busy)
        let error = #expect(throws: PostgreSQLError.self) { try reader.values("Item", "name") }
        #expect(error?.fault == .schemaChanged)
        try reader.close()
        let later = try space.open(wider, version: second)
        #expect(try later.values("Item", "note") == [.string("a!"), .string("b!")])
        #expect(try later.records(StoreQuery("Item")).map(\.persistentIdentifier) == records)
        try later.close()
        // It is done, and does not run again.
        Plan.code = { _, _ in throw DataStoreError.unsupportedFeature }
        try container(space, wider).close()
    }

    /// A save would go to tables that are about to be the old ones.
    @Test func aStoreThatIsOpenForWritingIsNotMigrated() throws {
        let (space, _) = try filled()
        let user = try space.open(old)
        let error = #expect(throws: PostgreSQLError.self) { try begin(space, schema(wider)) }
        #expect(error?.fault == .inUse && error?.errorClass == .locked)
        try user.insert("Item", ["name": .string("c")])
        try user.close()
        try begin(space, schema(wider)).abandon()
    }

    @Test func whatIsAbandonedLeavesTheTablesAsTheyWere() throws {
        let (space, records) = try filled()
        for (entities, prepares) in [(wider, false), (wider, true), (narrower, false), (narrower, true)] {
            let migration = try begin(space, schema(entities))
            try migration.adapt(to: schema(entities).stored)
            if prepares { try migration.prepare(keepingCopy: true, atMost: nil) }
            migration.abandon()
            #expect(try schemas(space) == [space.name])
        }
        Plan.code = { _, _ in throw DataStoreError.unsupportedFeature }
        #expect(throws: MigrationError.self) { try container(space, wider).close() }
        #expect(try schemas(space) == [space.name])
        let same = try space.open(old)
        #expect(try same.records(StoreQuery("Item")).map(\.persistentIdentifier) == records)
        #expect(try same.storedTransactions(after: 0, last: nil)?.count == 2)
    }

    /// The locks of a process that has died are free, and what it has made is removed.
    @Test(arguments: [false, true]) func aDeadProcessLeavesTheOldTables(_ isPrepared: Bool) throws {
        let (space, records) = try filled()
        var own = try space.configuration()
        own.session = space.name
        let request = MigrationRequest(schemas: [schema(narrower)])
        let migration = try own.beginMigration(request)
        try migration.adapt(to: schema(narrower).stored)
        if isPrepared { try migration.prepare(keepingCopy: false, atMost: nil) }
        try own.endSessions()
        #expect(try space.configuration().migrationUnderWay() == nil)
        #expect(throws: PostgreSQLError.self) {
            if isPrepared { try migration.commit() } else { try migration.prepare(keepingCopy: false, atMost: nil) }
        }
        migration.abandon()
        let same = try space.open(old)
        #expect(try same.records(StoreQuery("Item")).map(\.persistentIdentifier) == records)
        try same.close()
        let again = try begin(space, schema(narrower))
        try again.adapt(to: schema(narrower).stored)
        try again.prepare(keepingCopy: false, atMost: 0)
        try again.commit()
        #expect(try schemas(space) == [space.name])
        #expect(try space.open(narrower, version: second).values("Item", "name") == [.string("a"), .string("b")])
    }

    /// They would go on with the old tables, or be gone without a word.
    @Test func whatOtherProgramsHaveMadeIsNamed() throws {
        let (space, _) = try filled()
        try space.configuration().connected { connection in
            try connection.run("CREATE VIEW names AS SELECT name FROM \"Item\"")
            try connection.run("CREATE INDEX others ON \"Item\" (size)")
            try connection.run("GRANT SELECT ON \"Item\" TO PUBLIC")
        }
        let migration = try begin(space, schema(narrower))
        let error = #expect(throws: PostgreSQLError.self) { try migration.adapt(to: schema(narrower).stored) }
        migration.abandon()
        #expect(error?.fault == .usedByOthers(["the index others", "the view names"]))
        #expect(error?.errorClass == .conflict)
        try space.configuration().connected { connection in
            try connection.run("DROP VIEW names")
            try connection.run("DROP INDEX others")
        }
        let again = try begin(space, schema(narrower))
        try again.adapt(to: schema(narrower).stored)
        try again.prepare(keepingCopy: false, atMost: 0)
        try again.commit()
        let isGranted = try space.configuration().connected { connection in
            try connection.run(
                "SELECT count(*) FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a "
                    + "WHERE c.oid = '\"Item\"'::regclass AND a.grantee = 0 AND a.privilege_type = 'SELECT'"
            ).rows.first?.integer(0)
        }
        #expect(isGranted == 1)
    }

    /// A schema that only has the name is nobody's to drop (case E86).
    @Test func aSchemaOfAnotherProgramStays() throws {
        let (space, _) = try filled()
        let name = MigrationPlaces(of: space.name).sibling
        defer { try? space.configuration().connected { try $0.script("DROP SCHEMA \(SQLName.quoted(name)) CASCADE") } }
        try space.configuration().connected { connection in
            try connection.run("CREATE SCHEMA \(SQLName.quoted(name))")
            try connection.run("CREATE TABLE \(SQLName.quoted(name)).theirs (n int8)")
        }
        let migration = try begin(space, schema(narrower))
        try migration.adapt(to: schema(narrower).stored)
        let error = #expect(throws: PostgreSQLError.self) { try migration.prepare(keepingCopy: false, atMost: nil) }
        migration.abandon()
        #expect(error?.fault == .schemaTaken(name))
        #expect(try MigrationPlaces.tables(in: name, try PostgreSQLConnection(space.configuration())) == ["theirs"])
        #expect(try space.open(old).values("Item", "size") == [.integer(1), .null])
    }

    /// An identifier from two renames ago led nowhere (case E31).
    @Test func namesOfAllVersionsAreKept() throws {
        func named(_ name: String, from original: String? = nil) -> [StoredEntity] {
            [StoredEntity(name: name, originalName: original, properties: entity(name, [("name", .string)]).properties)]
        }
        let space = try TestSpace()
        let store = try space.open(named("Trip"))
        try store.insert("Trip", ["name": .string("a")])
        try store.close()
        try space.open(named("Journey", from: "Trip"), version: second).close()
        let third = StoredSchema(version: Schema.Version(3, 0, 0), entities: named("Voyage", from: "Journey"))
        let migration = try begin(space, Schema(stored: third))
        // On a copy.
        _ = try migration.frozen(under: Schema(stored: migration.storedSchema))
        try migration.adapt(to: third)
        try migration.prepare(keepingCopy: false, atMost: 0)
        try migration.commit()
        let last = try space.open(named("Voyage"), version: Schema.Version(4, 0, 0))
        #expect(last.formerNames == ["Trip": ["Voyage"], "Journey": ["Voyage"]])
        #expect(try last.values("Voyage", "name") == [.string("a")])
    }

    /// A preview takes no lock, and says what a migration does.
    @Test func aPreviewSaysWhetherTheRecordsAreCopied() throws {
        let (space, _) = try filled()
        let user = try space.open(old)
        for (entities, isCopy) in [(wider, false), (narrower, true)] {
            let preview = try space.configuration().previewMigration(MigrationRequest(schemas: [schema(entities)]))
            try preview.adapt(to: schema(entities).stored)
            #expect(preview.isCopy == isCopy && preview.keepsIdentifiers)
            preview.abandon()
        }
        try user.insert("Item", ["name": .string("c")])
        #expect(try schemas(space) == [space.name])
    }
}
#endif
