import Foundation

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

    nonisolated(unsafe) private static var folder = ""
    nonisolated(unsafe) private static var programs = ""

    private static func started() -> String? {
        guard let programs = findPrograms() else { return nil }
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "pg-\(getpid())-\(UInt16.random(in: 0 ... .max))"
        )
        .path(percentEncoded: false)
        guard (try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)) != nil
        else {
            return nil
        }
        (Self.folder, Self.programs) = (folder, programs)
        if geteuid() == 0, !run(["chown", "postgres", folder]) { return nil }
        let settings =
            "-c listen_addresses= -c unix_socket_directories=\(folder) -c port=54330 -c fsync=off -c max_connections=100"
        guard
            asServer(
                "\(programs)/initdb -D \(folder)/data -E UTF8 --locale=C -A trust -U mortise >\(folder)/init 2>&1"),
            asServer("\(programs)/pg_ctl -D \(folder)/data -w -l \(folder)/log -o '\(settings)' start >/dev/null 2>&1")
        else { return nil }
        atexit {
            _ = TestServer.asServer(
                "\(TestServer.programs)/pg_ctl -D \(TestServer.folder)/data -m immediate stop >/dev/null 2>&1")
            try? FileManager.default.removeItem(atPath: TestServer.folder)
        }
        return "postgres://mortise@:54330/postgres?host=\(folder)"
    }

    /// The folder of the server's programs.
    private static func findPrograms() -> String? {
        let base = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: base)) ?? []).sorted { a, b in
            (Int(a) ?? 0) > (Int(b) ?? 0)
        }
        let search = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (versions.map { "\(base)/\($0)/bin" } + search).first { folder in
            ["initdb", "pg_ctl"].allSatisfy { FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)") }
        }
    }

    /// The server does not run as root.
    private static func asServer(_ command: String) -> Bool {
        geteuid() == 0 ? run(["su", "postgres", "-s", "/bin/sh", "-c", command]) : run(["sh", "-c", command])
    }

    /// Not by `Process`, which waits for all that its program has started to end.
    private static func run(_ words: [String]) -> Bool {
        let pointers = words.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var process: pid_t = 0
        guard posix_spawnp(&process, words[0], nil, nil, pointers, environ) == 0 else { return false }
        var status: Int32 = -1
        while waitpid(process, &status, 0) < 0 { if errno != EINTR { return false } }
        return status == 0
    }
}
