#if PostgreSQL
import Foundation
public import MortiseCore

extension StoreScheme {
    /// `postgres://USER:PASSWORD@HOST:PORT/DATABASE`: a database of PostgreSQL. Several hosts are separated by commas, each with a port of
    /// its own if need be. Options: `schema=app`; `allowsSave=true|false`; `pool=4`; `connectTimeout=10s`, `statementTimeout=60s`,
    /// `lockTimeout=5s` and `retryFor=30s`; `notify=true|false`; `profile=postgresql|pooled`; `pinsReads=true|false`; `host=/run/postgresql` for a folder of sockets; `password=…`, which is
    /// secret; `sslmode`, `sslrootcert`, `sslcert`, `sslkey` and `channel_binding` as libpq has them; `dropping=Entity,Other`;
    /// `name=ledger`.
    public static let postgres = StoreScheme(
        "postgres", summary: "a database of PostgreSQL, shared by many machines",
        location: .other("//USER:PASSWORD@HOST:PORT/DATABASE"),
        options: [
            .allowsSave,
            StoreOption("schema", .text, default: "public", "the schema of the database in which the tables are"),
            StoreOption("pool", .wholeNumber(1...256), default: "4", "how many connections are open at most"),
            StoreOption("connectTimeout", .duration, default: "10s", "how long opening a connection may take"),
            StoreOption(
                "statementTimeout", .duration, default: "60s", "how long a statement may take; 0s for any time"),
            StoreOption(
                "lockTimeout", .duration, default: "5s", "how long a save waits for others, or a call for a connection"),
            StoreOption(
                "retryFor", .duration, default: "30s", "how long the store tries again after a connection was lost"),
            StoreOption("notify", .flag, default: "true", "whether the server tells of saves of other processes"),
            StoreOption(
                "profile", .oneOf(PostgreSQLConfiguration.Profile.allCases.map(\.rawValue)), default: "postgresql",
                "what the store connects to: a server, or a pool such as PgBouncer in transaction mode"),
            StoreOption(
                "pinsReads", .flag, default: "false",
                "whether a context reads one state of the store until its next fetch or save"),
            StoreOption("host", .text, default: "", "hosts or a folder of sockets, instead of those in the URL"),
            StoreOption("password", .text, default: "", "the password, instead of the one in the URL", isSecret: true),
        ] + encryption + [.dropping, .name]
    ) { url in
        let server = try server(of: url)
        var configuration = PostgreSQLConfiguration(
            url.name, server: server, namespace: url.options["schema"] ?? "public", allowsSave: url.allowsSave,
            pool: url.wholeNumber("pool") ?? 4, connectTimeout: url.duration("connectTimeout") ?? .seconds(10),
            statementTimeout: url.duration("statementTimeout") ?? .seconds(60),
            lockTimeout: url.duration("lockTimeout") ?? .seconds(5),
            retryFor: url.duration("retryFor") ?? .seconds(30), notifies: url.flag("notify") ?? true,
            dropping: url.dropping)
        configuration.profile = url.options["profile"].flatMap(PostgreSQLConfiguration.Profile.init) ?? .postgresql
        configuration.pinsReads = url.flag("pinsReads") ?? false
        return configuration
    }

    private static let encryption = [
        StoreOption(
            "sslmode", .oneOf(["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]),
            default: "prefer", "whether connections are encrypted, and the server's certificate is checked"),
        StoreOption("sslrootcert", .text, default: "", "the file with the certificates that are trusted"),
        StoreOption("sslcert", .text, default: "", "the file with the certificate of the client"),
        StoreOption("sslkey", .text, default: "", "the file with the key of the client"),
        StoreOption(
            "channel_binding", .oneOf(["disable", "prefer", "require"]), default: "prefer",
            "whether the server has to prove that it knows the password"),
    ]

    /// Takes what follows the colon apart.
    private static func server(of url: StoreURL) throws -> PostgreSQLServer {
        guard url.path.hasPrefix("//") else {
            throw url.malformed("it has no // after the colon; write it as in postgres://user@host/database")
        }
        var rest = url.path.dropFirst(2)
        func decoded(_ text: some StringProtocol) throws -> String {
            guard let text = String(text).removingPercentEncoding, !text.utf8.contains(0) else {
                throw url.malformed(
                    "the user, the password or the database has a % without two hexadecimal digits after it")
            }
            return text
        }
        var (user, password): (String, String?) = ("", nil)
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            user = try decoded(parts[0])
            password = try parts.count > 1 ? decoded(parts[1]) : nil
            rest = rest[rest.index(after: at)...]
        }
        guard let slash = rest.firstIndex(of: "/"), !rest[rest.index(after: slash)...].isEmpty else {
            throw url.malformed("it names no database; write it as in postgres://user@host/database")
        }
        let database = try decoded(rest[rest.index(after: slash)...])
        var (hosts, ports): ([String], [String]) = ([], [])
        for part in rest[..<slash].split(separator: ",") {
            // An address of version 6 is in brackets.
            if part.hasPrefix("["), let end = part.firstIndex(of: "]") {
                hosts.append(String(part[part.index(after: part.startIndex)..<end]))
                ports.append(String(part[part.index(after: end)...].drop { $0 == ":" }))
            } else {
                let words = part.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                hosts.append(try decoded(words[0]))
                ports.append(words.count > 1 ? String(words[1]) : "")
            }
        }
        guard ports.allSatisfy({ $0.isEmpty || UInt16($0) != nil }) else {
            throw url.malformed("a port is not a number from 0 to 65535")
        }
        var encryption: [String: String] = [:]
        for option in Self.encryption { encryption[option.name] = url.options[option.name] }
        return PostgreSQLServer(
            host: url.options["host"] ?? hosts.joined(separator: ","),
            port: ports.allSatisfy(\.isEmpty) ? "" : ports.map { $0.isEmpty ? "5432" : $0 }.joined(separator: ","),
            database: database, user: user, password: url.options["password"] ?? password, encryption: encryption)
    }
}
#endif
