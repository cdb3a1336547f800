import Foundation
import Synchronization

/// A server of PostgreSQL for tests: the one that the environment names, or one that is started and ended with the process.
///
/// `MORTISE_POSTGRESQL` is a store URL without options but `host`, such as `postgres://user@/postgres?host=/run/postgresql`.
public enum TestServer {
    /// The URL of the server; nil if there is none.
    public static let url: String? = {
        if let named = ProcessInfo.processInfo.environment["MORTISE_POSTGRESQL"] { return named }
        return started()
    }()

    /// The path of the server's socket; nil where the URL names no folder.
    public static let socket: String? = {
        guard let url, let range = url.range(of: "host=/") else { return nil }
        let folder = "/" + url[range.upperBound...].prefix { $0 != "&" }
        let place = url.dropFirst("postgres://".count).prefix { $0 != "/" }
        let port = place.split(separator: ":", omittingEmptySubsequences: false).last.flatMap { UInt16($0) } ?? 5_432
        return "\(folder)/.s.PGSQL.\(port)"
    }()

    /// Why tests are skipped without a server.
    public static let reason: String =
        "no server of PostgreSQL: MORTISE_POSTGRESQL names none, and initdb and pg_ctl are not to be found"

    private static let process = Mutex<ServerProcess?>(nil)

    private static func started() -> String? {
        guard let server = ServerProcess(port: 54_330) else { return nil }
        process.withLock { $0 = server }
        atexit { TestServer.process.withLock { $0 = nil } }
        return server.url
    }

    /// Whether another server can be started.
    public static let canStartAnother = ServerProcess.programs != nil
}
