#if PostgreSQL
import Foundation
public import MortiseCore

/// Keeps models in a database of PostgreSQL, version 14 or later, which other processes may read and write at the same time. Needs the
/// trait `PostgreSQL`.
public struct PostgreSQLConfiguration: DataStoreConfiguration, Sendable {
    /// The store that the configuration opens.
    public typealias Store = PostgreSQLStore

    /// The configuration's name, unique in its container.
    public let name: String
    /// The models that the store keeps; nil until a container sets it.
    public var schema: Schema?
    /// Where the server is.
    public let server: PostgreSQLServer
    /// The schema of the database in which the tables are; it is made if it is missing.
    public let namespace: String
    /// Whether the store may be changed.
    public let allowsSave: Bool
    /// How many connections are open at most. One more waits for news where `notifies` is true.
    public let pool: Int
    /// How long opening a connection may take.
    public let connectTimeout: Duration
    /// How long a statement may take; zero for any time.
    public let statementTimeout: Duration
    /// How long a save waits for other writers, and a call for a free connection, before it throws an error of the class `locked`.
    public let lockTimeout: Duration
    /// How long the store tries again after a connection was lost: to find out whether a save was committed, and to connect.
    public let retryFor: Duration
    /// Whether the server tells of saves of other processes. The store also looks for them now and then.
    public let notifies: Bool
    /// Entities whose records may be dropped if the schema lacks them, and properties whose values may, as `Entity.property`: without a
    /// migration plan no copy of the tables stays, so that nothing else is dropped, whatever the versions.
    public var dropping: [String]
    /// Whether a context reads one state of the store from a fetch until its next fetch or save, whatever others save meanwhile: the
    /// store then claims `StoreCapability.readConsistency`.
    ///
    /// Each context keeps a connection of its own with a transaction for that, beyond `pool`, and the server keeps old rows as long.
    /// A context whose connection is lost throws until its next fetch. False by default: what a context loads after a fetch is as it is
    /// stored then.
    public var pinsReads = false
    /// What the store connects to.
    public var profile = Profile.postgresql
    /// How often the store looks for saves of other processes, while somebody follows them.
    package var pollInterval: Duration
    /// What connections are called in the server's list of sessions.
    package var session = "mortise"
    /// The migration for which the store is opened, to be copied; it has the locks that an opening takes.
    var turn: MigrationTurn?

    /// Describes a store; opens nothing yet.
    /// - Parameters:
    ///   - name: the configuration's name, unique in its container; nil takes the name of the database.
    ///   - schema: the models that the store keeps; nil takes the container's.
    ///   - server: where the server is.
    ///   - namespace: the schema of the database in which the tables are.
    ///   - allowsSave: whether the store may be changed; false needs an existing store.
    ///   - pool: how many connections are open at most.
    ///   - connectTimeout: how long opening a connection may take.
    ///   - statementTimeout: how long a statement may take; zero for any time.
    ///   - lockTimeout: how long a save waits for other writers, and a call for a free connection.
    ///   - retryFor: how long the store tries again after a connection was lost.
    ///   - notifies: whether the server tells of saves of other processes.
    ///   - dropping: entities whose records may be dropped if the schema lacks them, and properties whose values may.
    public init(
        _ name: String? = nil, schema: Schema? = nil, server: PostgreSQLServer, namespace: String = "public",
        allowsSave: Bool = true, pool: Int = 4, connectTimeout: Duration = .seconds(10),
        statementTimeout: Duration = .seconds(60), lockTimeout: Duration = .seconds(5),
        retryFor: Duration = .seconds(30), notifies: Bool = true, dropping: [String] = []
    ) {
        self.name = name ?? server.database
        self.schema = schema
        self.server = server
        self.namespace = namespace
        self.allowsSave = allowsSave
        self.pool = max(pool, 1)
        self.connectTimeout = connectTimeout
        self.statementTimeout = statementTimeout
        self.lockTimeout = lockTimeout
        self.retryFor = retryFor
        self.notifies = notifies
        self.dropping = dropping
        pollInterval = notifies ? .seconds(2) : .milliseconds(500)
    }

    /// What a store connects to.
    public enum Profile: String, Sendable, Hashable, CaseIterable {
        /// A server.
        case postgresql
        /// A pool that gives each transaction some session of the server, such as PgBouncer in transaction mode. Nothing stays in a
        /// session then: no statement is kept prepared, each transaction begins with its settings, and the store looks for saves of others
        /// twice a second instead of being told of them.
        case pooled
    }

    /// Whether the server can tell of saves.
    var listens: Bool { notifies && profile == .postgresql }

    /// The server, the database and its schema, without the password.
    public var location: String { "\(server)/\(namespace)" }
}

/// Where a server is, and how to connect to it. Its description has no password.
public struct PostgreSQLServer: Sendable, Hashable {
    /// Hosts, addresses or folders of sockets, separated by commas; the one that accepts writes is taken. Empty takes the
    /// library's own.
    public var host: String
    /// The port, or one for each host, separated by commas; empty for 5432.
    public var port: String
    /// The database.
    public var database: String
    /// The user; empty takes the one of the process.
    public var user: String
    /// The password; nil leaves it to `PGPASSFILE` and its like.
    public var password: String?
    /// How connections are encrypted, by the words of libpq: `sslmode`, `sslrootcert`, `sslcert`, `sslkey`, `channel_binding`.
    public var encryption: [String: String]

    /// Describes a server; connects to nothing yet.
    /// - Parameters:
    ///   - host: hosts, addresses or folders of sockets, separated by commas.
    ///   - port: the port, or one for each host, separated by commas.
    ///   - database: the database.
    ///   - user: the user.
    ///   - password: the password.
    ///   - encryption: how connections are encrypted, by the words of libpq.
    public init(
        host: String = "", port: String = "", database: String, user: String = "", password: String? = nil,
        encryption: [String: String] = [:]
    ) {
        self.host = host
        self.port = port
        self.database = database
        self.user = user
        self.password = password
        self.encryption = encryption
    }
}

extension PostgreSQLServer: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The host and the database, without the password.
    public var description: String {
        "postgres://\(user.isEmpty ? "" : user + "@")\(host)\(port.isEmpty ? "" : ":" + port)/\(database)"
    }
    /// The same.
    public var debugDescription: String { description }
    /// Nothing but the description, so that no password is dumped.
    public var customMirror: Mirror { Mirror(self, children: ["location": description]) }
}
#endif
