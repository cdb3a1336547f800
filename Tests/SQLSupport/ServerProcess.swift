import Foundation

/// A server of PostgreSQL that runs for tests. It goes with the object, or with the process.
public final class ServerProcess: Sendable {
    /// The folder of its socket and its files.
    public let folder: String
    /// The port, which names its socket.
    public let port: Int
    private let programs: String
    private let settings: String

    /// Makes and starts a server; nil where that fails, and what it has said is in `folder` then.
    /// - Parameters:
    ///   - primary: the server that it follows; nil for one of its own.
    ///   - settings: what follows `-c`, each `name=value`.
    public init?(port: Int, following primary: ServerProcess? = nil, settings: [String] = []) {
        guard let programs = Self.programs else { return nil }
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "pg-\(getpid())-\(UInt16.random(in: 0 ... .max))"
        ).path(percentEncoded: false)
        self.programs = programs
        self.folder = folder
        self.port = port
        self.settings =
            ([
                "listen_addresses=", "unix_socket_directories=\(folder)", "port=\(port)", "fsync=off",
                "max_connections=100",
            ]
            + settings).map { "-c \($0)" }.joined(separator: " ")
        guard (try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)) != nil,
            geteuid() != 0 || Self.run(["chown", "postgres", folder])
        else { return nil }
        let isMade =
            if let primary {
                Self.asServer(
                    "\(programs)/pg_basebackup -D \(folder)/data -R -h \(primary.folder) -p \(primary.port) -U mortise "
                        + "-c fast >\(folder)/init 2>&1")
            } else {
                Self.asServer(
                    "\(programs)/initdb -D \(folder)/data -E UTF8 --locale=C -A trust -U mortise >\(folder)/init 2>&1")
            }
        guard isMade, start() else { return nil }
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The URL of the store, to which options can be added.
    public var url: String { "postgres://mortise@:\(port)/postgres?host=\(folder)" }

    /// Starts the server again.
    @discardableResult
    public func start() -> Bool {
        Self.asServer("\(programs)/pg_ctl -D \(folder)/data -w -l \(folder)/log -o '\(settings)' start >/dev/null 2>&1")
    }

    /// Ends the server as a crash does.
    @discardableResult
    public func stop() -> Bool {
        Self.asServer("\(programs)/pg_ctl -D \(folder)/data -m immediate stop >/dev/null 2>&1")
    }

    /// Makes a server that follows another one accept writes.
    @discardableResult
    public func promote() -> Bool {
        Self.asServer("\(programs)/pg_ctl -D \(folder)/data -w promote >/dev/null 2>&1")
    }

    /// The folder of the server's programs: what `MORTISE_POSTGRESQL_PROGRAMS` names, or the newest that is installed.
    static let programs: String? = {
        let base = "/usr/lib/postgresql"
        let environment = ProcessInfo.processInfo.environment
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: base)) ?? []).sorted { a, b in
            (Int(a) ?? 0) > (Int(b) ?? 0)
        }
        let search = (environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let named = environment["MORTISE_POSTGRESQL_PROGRAMS"].map { [$0] }
        return (named ?? versions.map { "\(base)/\($0)/bin" } + search).first { folder in
            ["initdb", "pg_ctl"].allSatisfy { FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)") }
        }
    }()

    /// The server does not run as root.
    static func asServer(_ command: String) -> Bool {
        geteuid() == 0 ? run(["su", "postgres", "-s", "/bin/sh", "-c", command]) : run(["sh", "-c", command])
    }

    /// Not by `Process`, which waits for all that its program has started to end.
    static func run(_ words: [String]) -> Bool {
        let pointers = words.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var process: pid_t = 0
        guard posix_spawnp(&process, words[0], nil, nil, pointers, environ) == 0 else { return false }
        var status: Int32 = -1
        while waitpid(process, &status, 0) < 0 { if errno != EINTR { return false } }
        return status == 0
    }
}

/// PgBouncer in front of a server, which gives each transaction one of its two connections to it.
public final class PoolProcess: Sendable {
    /// The folder of its socket and its files.
    public let folder: String
    /// The port, which names its socket.
    public let port: Int
    private let process: pid_t

    /// Whether the program is installed.
    public static let isInstalled = program != nil

    private static let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// Starts the pool; nil where that fails.
    /// - Parameters:
    ///   - host: the folder of the server's socket.
    ///   - port: the port that names the server's socket, and the pool's.
    ///   - user: the user of the server whom all users of the pool are.
    public init?(host: String, port: Int, user: String) {
        guard let program = Self.program else { return nil }
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "pool-\(getpid())-\(UInt16.random(in: 0 ... .max))"
        ).path(percentEncoded: false)
        self.folder = folder
        self.port = port
        let settings = """
            [databases]
            * = host=\(host) port=\(port) user=\(user)
            [pgbouncer]
            listen_addr =
            listen_port = \(port)
            unix_socket_dir = \(folder)
            auth_type = any
            pool_mode = transaction
            default_pool_size = 2
            max_client_conn = 100
            logfile = \(folder)/log
            \(geteuid() == 0 ? "user = postgres" : "")
            """
        guard (try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)) != nil,
            (try? settings.write(toFile: "\(folder)/settings", atomically: true, encoding: .utf8)) != nil,
            geteuid() != 0 || ServerProcess.run(["chown", "-R", "postgres", folder])
        else { return nil }
        let words: [UnsafeMutablePointer<CChar>?] =
            [strdup(program), strdup("-q"), strdup("\(folder)/settings"), nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        guard posix_spawn(&process, program, nil, nil, words, environ) == 0 else { return nil }
        self.process = process
        for _ in 0..<200 {
            if FileManager.default.fileExists(atPath: "\(folder)/.s.PGSQL.\(port)") { return }
            usleep(50_000)
        }
        return nil
    }

    deinit {
        kill(process, SIGKILL)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        try? FileManager.default.removeItem(atPath: folder)
    }
}
