#if PostgreSQL
import Foundation
import MortiseCore
import MortiseSQL
@testable import MortisePostgreSQL
import SQLSupport
import Testing

/// A schema of the database in which other programs have tables, and records that come from elsewhere.
@Suite(.enabled(if: TestServer.url != nil, "\(TestServer.reason)")) struct SharedSchemaTests {
    private let items = [
        StoredEntity(
            name: "Item",
            properties: [
                StoredProperty(name: "name", isOptional: false, content: .attribute(StoredAttribute(kind: .string))),
                StoredProperty(
                    name: "next", isOptional: true,
                    content: .relationship(StoredRelationship(destination: "Item", isToMany: false))),
                StoredProperty(
                    name: "all", isOptional: false,
                    content: .relationship(StoredRelationship(destination: "Item", isToMany: true))),
            ])
    ]

    private func run(_ space: TestSpace, _ texts: String...) throws {
        try space.configuration().connected { connection in for text in texts { try connection.run(text) } }
    }

    private func references(_ space: TestSpace) throws -> [String] {
        try space.configuration().connected { connection in
            try connection.run(
                "SELECT c.conrelid::regclass::text FROM pg_constraint c WHERE c.contype = 'f' "
                    + "AND c.connamespace = current_schema()::regnamespace ORDER BY 1"
            ).rows.compactMap { $0.text(0) }
        }
    }

    private func record(_ number: UInt64, _ store: PostgreSQLStore, next: UInt64? = nil) -> DefaultSnapshot {
        func name(_ number: UInt64) -> PersistentIdentifier {
            .numbered(number, storeIdentifier: "elsewhere", entityName: "Item")
        }
        return store.snapshot(
            "Item", ["name": .string("n\(number)"), "next": next.map { .identifier(name($0)) } ?? .null],
            of: name(number))
    }

    /// All references of the schema went, those between the tables of other programs for good.
    @Test func restoringLeavesReferencesOfOtherPrograms() throws {
        let space = try TestSpace()
        let store = try space.open(items)
        try run(
            space, "CREATE TABLE customer (id int8 PRIMARY KEY, item int8 REFERENCES \"Item\" (\"id\"))",
            "CREATE TABLE purchase (id int8 PRIMARY KEY, customer int8 REFERENCES customer (id))")
        let before = try references(space)
        #expect(before.contains("customer") && before.contains("purchase") && before.contains("\"Item\""))
        // The first leads to one that comes later.
        try store.restore([record(1, store, next: 2)], ofStore: "elsewhere", nextNumber: 3)
        try store.restore([record(2, store)], ofStore: "elsewhere", nextNumber: 3)
        #expect(try store.values("Item", "name") == [.string("n1"), .string("n2")])
        #expect(try references(space) == before)
    }

    /// The store went on with the identifier of what it had not taken in.
    @Test func aRestoringThatFailsChangesNothing() throws {
        let space = try TestSpace()
        let store = try space.open(items)
        let identifier = store.identifier
        #expect(throws: PostgreSQLError.self) {
            try store.restore([record(1, store), record(1, store)], ofStore: "elsewhere", nextNumber: 2)
        }
        // No record could come after these.
        let full = #expect(throws: PostgreSQLError.self) {
            try store.restore([record(1, store)], ofStore: "elsewhere", nextNumber: .max)
        }
        #expect(full?.errorClass == .conflict)
        #expect(store.identifier == identifier)
        try store.restore([record(1, store)], ofStore: "elsewhere", nextNumber: 2)
        #expect(try space.open(items).identifier == "elsewhere")
    }

    /// Columns were added to the table of another program.
    @Test func aTableOfAnotherProgramIsRefusedByName() throws {
        for table in ["Item", "Item_all"] {
            let space = try TestSpace()
            try run(
                space, "CREATE SCHEMA \"\(space.name)\"", "CREATE TABLE \"\(table)\" (number int8 PRIMARY KEY)")
            let error = #expect(throws: PostgreSQLError.self) { try space.open(items) }
            guard case .misfit(let text)? = error?.fault else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(text.contains(table))
            let columns = try space.configuration().connected {
                try $0.run(
                    "SELECT count(*) FROM pg_attribute a WHERE a.attrelid = '\"\(table)\"'::regclass AND a.attnum > 0"
                )
                .rows.first?.integer(0)
            }
            #expect(columns == 1)
        }
    }

    /// What requires a value and has none was returned, and blamed on the store's code.
    @Test func aRequiredValueThatIsGoneIsNamed() throws {
        let space = try TestSpace()
        let store = try space.open(items)
        let record = try store.insert("Item", ["name": .string("a")])[0]
        try run(space, "UPDATE \"Item\" SET \"name\" = NULL")
        let error = #expect(throws: PostgreSQLError.self) { try store.records(StoreQuery("Item")) }
        #expect(error?.fault == .damagedValue(record: "\(record)", property: "name", found: "null"))
    }

    @Test func aStoreForReadingIsNeitherErasedNorRestored() throws {
        let space = try TestSpace()
        try space.open(items).insert("Item", ["name": .string("a")])
        let reader = try space.open(items, "&allowsSave=false")
        let refused = PostgreSQLError(reader.configuration.location, .readOnly)
        #expect(throws: refused) { try reader.erase() }
        #expect(throws: refused) { try reader.restore([], ofStore: reader.identifier, nextNumber: 9) }
        #expect(throws: refused) { try reader.deleteHistory(HistoryDescriptor()) }
        #expect(try reader.values("Item", "name") == [.string("a")])
    }
}
#endif
