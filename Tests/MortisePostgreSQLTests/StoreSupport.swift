#if PostgreSQL
import Foundation
import MortiseCore
import MortiseSQL
@testable import MortisePostgreSQL
import SQLSupport
import Testing

/// A schema of the server's database for one test, which goes with the object.
final class TestSpace: Sendable {
    let name = "t_" + UUID().uuidString.lowercased().replacing("-", with: "")
    let url: String

    init() throws { url = try #require(TestServer.url) }

    deinit { try? configuration().removeNamespace() }

    func configuration(_ options: String = "") throws -> PostgreSQLConfiguration {
        let patience = options.contains("lockTimeout") ? "" : "&lockTimeout=2s"
        let text = url + (url.contains("?") ? "&" : "?") + "schema=\(name)&retryFor=5s" + patience + options
        let made = try StoreRegistry(.postgres).configuration(for: text)
        return try #require(made as? PostgreSQLConfiguration)
    }

    func open(
        _ entities: [StoredEntity], version: Schema.Version = Schema.Version(1, 0, 0), _ options: String = "",
        _ change: (inout PostgreSQLConfiguration) -> Void = { _ in }
    ) throws -> PostgreSQLStore {
        var configuration = try configuration(options)
        change(&configuration)
        configuration.schema = Schema(stored: StoredSchema(version: version, entities: entities))
        return try PostgreSQLStore(configuration, migrationPlan: nil)
    }
}

extension TestSpace {
    /// Opens the store by way of a proxy, with one connection.
    func open(
        _ entities: [StoredEntity], through proxy: WireProxy, retryFor: Duration, notifies: Bool = false
    ) throws -> PostgreSQLStore {
        // The tables are made without the proxy.
        try open(entities).close()
        let plain = try configuration()
        var server = plain.server
        (server.host, server.port) = ("127.0.0.1", "\(proxy.port)")
        var configuration = PostgreSQLConfiguration(
            server: server, namespace: plain.namespace, pool: 1, lockTimeout: .seconds(10), retryFor: retryFor,
            notifies: notifies)
        configuration.schema = Schema(stored: StoredSchema(version: Schema.Version(1, 0, 0), entities: entities))
        return try PostgreSQLStore(configuration, migrationPlan: nil)
    }

    /// Opens the store as another user.
    func open(
        _ entities: [StoredEntity], as user: String, retryFor: Duration = .seconds(5),
        _ change: (inout PostgreSQLConfiguration) -> Void = { _ in }
    ) throws -> PostgreSQLStore {
        let plain = try configuration()
        var server = plain.server
        server.user = user
        var configuration = PostgreSQLConfiguration(
            server: server, namespace: plain.namespace, pool: 1, retryFor: retryFor, notifies: false)
        configuration.schema = Schema(stored: StoredSchema(version: Schema.Version(1, 0, 0), entities: entities))
        change(&configuration)
        return try PostgreSQLStore(configuration, migrationPlan: nil)
    }

    /// Has the server refuse the ends of so many saves.
    func refuseCommits(_ count: Int, state: String) throws {
        try configuration().connected {
            try $0.script(
                """
                CREATE SEQUENCE refusals;
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    IF nextval('refusals') <= \(count) THEN RAISE EXCEPTION 'refused' USING ERRCODE = '\(state)'; END IF;
                    RETURN NULL;
                END $$;
                CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON mortise_saves DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION refuse()
                """)
        }
    }

    /// How often a save has come to its end.
    func commitsSeen() throws -> Int64? {
        try configuration().connected { try $0.run("SELECT s.last_value FROM refusals s").rows.first?.integer(0) }
    }
}

extension PostgreSQLConfiguration {
    func connected<R>(_ body: (PostgreSQLConnection) throws -> R) throws -> R {
        let connection = try PostgreSQLConnection(self)
        defer { connection.close() }
        return try body(connection)
    }
}

/// Entities for tests, made of names and kinds.
func entity(
    _ name: String, _ attributes: [(String, StorageKind)], unique: [[String]] = [], indexed: [String] = []
) -> StoredEntity {
    StoredEntity(
        name: name,
        properties: attributes.map {
            StoredProperty(name: $0.0, isOptional: true, content: .attribute(StoredAttribute(kind: $0.1)))
        }, uniquenessConstraints: unique, indices: indexed.map { StoredIndex(properties: [$0]) })
}

extension PostgreSQLStore {
    func snapshot(_ entity: String, _ values: [String: StoredValue], of record: PersistentIdentifier? = nil)
        -> DefaultSnapshot
    {
        let layout = mapping.entities[entity]?.layout ?? .empty(entity)
        return DefaultSnapshot(
            persistentIdentifier: record ?? .temporary(entityName: entity), layout: layout,
            values: ContiguousArray(
                layout.slots.map { values[$0.name] ?? ($0.role.isToMany ? .identifiers([]) : .null) }))
    }

    @discardableResult
    func insert(_ entity: String, _ values: [String: StoredValue]...) throws -> [PersistentIdentifier] {
        try insert(entity, values)
    }

    @discardableResult
    func insert(_ entity: String, _ values: [[String: StoredValue]]) throws -> [PersistentIdentifier] {
        let new = values.map { snapshot(entity, $0) }
        let result = try save(DataStoreSaveChangesRequest(inserted: new, editingState: EditingState()))
        let permanent = result.remappedIdentifiers
        return new.compactMap { permanent[$0.persistentIdentifier] }
    }

    func update(
        _ record: PersistentIdentifier, _ values: [String: StoredValue], version: UInt64 = 0
    ) throws {
        let snapshot = snapshot(record.entityName, values, of: record)
        let slots = SlotSet(values.keys.compactMap { snapshot.layout.slot(named: $0) })
        _ = try save(
            DataStoreSaveChangesRequest(
                updated: [snapshot], editingState: EditingState(), changedSlots: [slots], updatedVersions: [version]))
    }

    func records(_ query: StoreQuery) throws -> [DefaultSnapshot] { try rows(for: plan(query)).snapshots }

    func values(_ entity: String, _ property: String, where condition: QueryExpression? = nil) throws -> [StoredValue] {
        try records(StoreQuery(entity, conjuncts: condition.map { [$0] } ?? [])).compactMap { $0[property: property] }
    }

    func property(_ entity: String, _ name: String) -> QueryExpression {
        let slot = mapping.entities[entity]?.layout.slot(named: name) ?? 0
        return .property(.variable(0), QueryProperty(entity: entity, name: name, slot: slot))
    }
}
#endif
