#if PostgreSQL
import CPostgreSQL
import Foundation
import MortiseSQL

/// A connection to a server. One thread uses it at a time.
final class PostgreSQLConnection {
    let location: String
    private var handle: OpaquePointer?
    private let canceller: StatementCanceller
    private let password: String?
    /// How long a statement may take before the connection is given up: longer than the server's own limit.
    private let patience: Duration?
    /// How often this side has waited for the server's answer.
    private(set) var roundTrips = 0
    /// How many statements were prepared; the others were found.
    private(set) var prepared = 0
    /// What each transaction is begun with, where the next one may be of another session of the server.
    private let preamble: Statement?
    private let notices = NoticeReceiver()
    private var names: [String: String] = [:]
    /// The texts of `names`, the one used last at the end.
    private var recent: [String] = []
    private var nextName = 0

    /// How many statements stay prepared.
    private static let mostStatements = 256
    /// Longer texts come once.
    private static let longestKept = 16_384

    /// Connects to a server.
    /// - Parameters:
    ///   - configuration: where the store is.
    ///   - writes: whether this is a connection of a store that is open for writing, which a migration waits for.
    /// - Throws: `PostgreSQLError`.
    init(_ configuration: PostgreSQLConfiguration, writes: Bool = false) throws {
        location = configuration.location
        password = configuration.server.password
        patience = configuration.statementTimeout > .zero ? configuration.statementTimeout + .seconds(5) : nil
        preamble = configuration.profile == .pooled ? Self.preamble(configuration) : nil
        canceller = StatementCanceller()
        do {
            try connect(configuration)
            try setUp(configuration, writes: writes)
        } catch {
            close()
            throw error
        }
    }

    deinit { close() }

    func close() {
        canceller.clear()
        PQfinish(handle)
        handle = nil
        names = [:]
        recent = []
    }

    /// Ends the running statement from any thread; it throws `timedOut`. Without a running statement nothing happens.
    var cancel: @Sendable () -> Void { canceller.cancel }

    /// Whether statements can be sent.
    var isUsable: Bool { handle != nil && PQstatus(handle) == CONNECTION_OK }

    var isInTransaction: Bool {
        let status = PQtransactionStatus(handle)
        return status == PQTRANS_INTRANS || status == PQTRANS_INERROR || status == PQTRANS_ACTIVE
    }

    /// The server's major version; 0 without a connection.
    var serverVersion: Int { Int(PQserverVersion(handle) / 10_000) }

    /// The file descriptor, to wait for news.
    var descriptor: Int32 { PQsocket(handle) }

    // MARK: Connecting

    private func connect(_ configuration: PostgreSQLConfiguration) throws {
        let server = configuration.server
        var words: [(String, String)] = [
            ("dbname", server.database), ("client_encoding", "UTF8"),
            ("application_name", configuration.session), ("tcp_user_timeout", "30000"), ("keepalives_idle", "30"),
        ]
        if !server.host.isEmpty { words.append(("host", server.host)) }
        if !server.port.isEmpty { words.append(("port", server.port)) }
        if !server.user.isEmpty { words.append(("user", server.user)) }
        if let password = server.password { words.append(("password", password)) }
        if server.host.contains(",") {
            words.append(("target_session_attrs", configuration.allowsSave ? "read-write" : "any"))
        }
        words += server.encryption.sorted { $0.key < $1.key }
        let keys = words.map { strdup($0.0) } + [nil]
        let values = words.map { strdup($0.1) } + [nil]
        defer { for pointer in keys + values { free(pointer) } }
        let started = keys.map { UnsafePointer($0) }.withUnsafeBufferPointer { keys in
            values.map { UnsafePointer($0) }.withUnsafeBufferPointer { values in
                PQconnectStartParams(keys.baseAddress, values.baseAddress, 0)
            }
        }
        guard let started else { throw PostgreSQLError(location, .unreachable(message: "no memory")) }
        handle = started
        let deadline = ContinuousClock.now + configuration.connectTimeout
        var status = PGRES_POLLING_WRITING
        while status != PGRES_POLLING_OK {
            if PQstatus(handle) == CONNECTION_BAD { throw connectionError() }
            guard wait(reading: status == PGRES_POLLING_READING, until: deadline) else {
                throw PostgreSQLError(
                    location, .unreachable(message: "no connection within \(configuration.connectTimeout)"))
            }
            status = PQconnectPoll(handle)
            if status == PGRES_POLLING_FAILED { throw connectionError() }
        }
        guard PQsetnonblocking(handle, 1) == 0 else { throw connectionError() }
        notices.attach(to: handle)
        canceller.set(PQgetCancel(handle))
    }

    private func setUp(_ configuration: PostgreSQLConfiguration, writes: Bool) throws {
        let version = PQserverVersion(handle)
        if version < 140_000 { throw PostgreSQLError(location, .oldServer(version: Int(version / 10_000))) }
        let encoding = PQparameterStatus(handle, "server_encoding").map { String(cString: $0) } ?? ""
        if encoding != "UTF8" { throw PostgreSQLError(location, .encoding(found: encoding)) }
        if preamble != nil { return }
        try script(
            "SET search_path = \(SQLName.quoted(configuration.namespace)); "
                + "SET statement_timeout = \(Self.milliseconds(configuration.statementTimeout)); "
                + "SET lock_timeout = \(Self.milliseconds(configuration.lockTimeout)); "
                + "SET extra_float_digits = 3; SET standard_conforming_strings = on"
                + (writes ? "; " + StoreLock.sharing(configuration.namespace) : ""))
    }

    private static func milliseconds(_ duration: Duration) -> Int { Int(max(duration / .milliseconds(1), 0)) }

    /// The settings of a session, until the transaction ends.
    private static func preamble(_ configuration: PostgreSQLConfiguration) -> Statement {
        Statement(
            "SELECT set_config('search_path', $1::text, true), set_config('statement_timeout', $2::text, true), "
                + "set_config('lock_timeout', $3::text, true), set_config('extra_float_digits', '3', true), "
                + "set_config('standard_conforming_strings', 'on', true)",
            [
                .text(SQLName.quoted(configuration.namespace)),
                .text("\(milliseconds(configuration.statementTimeout))"),
                .text("\(milliseconds(configuration.lockTimeout))"),
            ])
    }

    /// What the library says of a connection that failed.
    private func connectionError() -> PostgreSQLError {
        let message = cleaned(handle.map { String(cString: PQerrorMessage($0)) } ?? "no connection")
        let words: [(String, String)] = [
            ("password authentication failed", "28P01"), ("no password supplied", "28P01"),
            ("no pg_hba.conf entry", "28000"), ("role \"", "28000"), ("permission denied for database", "42501"),
        ]
        if let (_, state) = words.first(where: { message.contains($0.0) }) {
            return PostgreSQLError(
                location, .engine(state: state, message: message, table: nil, column: nil, constraint: nil))
        }
        if message.contains("database \""), message.contains("does not exist") {
            return PostgreSQLError(
                location, .engine(state: "3D000", message: message, table: nil, column: nil, constraint: nil))
        }
        return PostgreSQLError(location, .unreachable(message: message))
    }

    /// A message without line breaks, and without the password wherever that may be.
    private func cleaned(_ text: String) -> String {
        var text = text.split(whereSeparator: \.isNewline).joined(separator: "; ")
        if let password, !password.isEmpty { text = text.replacing(password, with: "…") }
        while text.hasSuffix(".") || text.hasSuffix(" ") { text.removeLast() }
        return text
    }

    /// Waits until the socket can be read or written.
    private func wait(reading: Bool, alsoWriting: Bool = false, until deadline: ContinuousClock.Instant?) -> Bool {
        while true {
            var milliseconds: Int32 = -1
            if let deadline {
                let left = deadline - .now
                if left <= .zero { return false }
                milliseconds = Int32(clamping: Int64(left / .milliseconds(1)) + 1)
            }
            let events = (reading ? Int16(POLLIN) : Int16(POLLOUT)) | (alsoWriting ? Int16(POLLOUT) : 0)
            var descriptor = pollfd(fd: PQsocket(handle), events: events, revents: 0)
            if descriptor.fd < 0 { return true }
            let found = poll(&descriptor, 1, milliseconds)
            if found > 0 { return true }
            if found < 0, errno != EINTR { return true }
        }
    }

    // MARK: Statements

    /// A statement, and what it is given.
    struct Statement {
        let text: String
        let values: [SQLValue]

        init(_ text: String, _ values: [SQLValue] = []) {
            self.text = text
            self.values = values
        }

        init(_ text: SQLText) {
            self.text = text.numbered
            values = text.values
        }
    }

    /// Runs a statement.
    @discardableResult
    func run(_ text: String, _ values: [SQLValue] = []) throws -> PostgreSQLResult {
        try run([Statement(text, values)]).last ?? PostgreSQLResult(nil)
    }

    /// Runs statements in one round trip. If one fails, those after it are not run.
    /// - Throws: `PostgreSQLError` of the first that failed.
    func run(_ statements: [Statement]) throws -> [PostgreSQLResult] {
        guard isUsable else { throw PostgreSQLError(location, .unreachable(message: "the connection is closed")) }
        guard PQenterPipelineMode(handle) == 1 else { throw connectionError() }
        roundTrips += 1
        let deadline = patience.map { ContinuousClock.now + $0 }
        var expected: [(isPreparation: Bool, text: String)] = []
        var statements = statements
        var preambleAt: Int?
        if let preamble, !isInTransaction {
            // Without BEGIN, what is sent together is one transaction.
            let place = statements.first?.text.hasPrefix("BEGIN") == true ? 1 : 0
            statements.insert(preamble, at: place)
            preambleAt = place
        }
        for statement in statements {
            let name: String
            if let known = names[statement.text] {
                name = known
                if recent.last != statement.text, let place = recent.lastIndex(of: statement.text) {
                    recent.remove(at: place)
                    recent.append(statement.text)
                }
            } else {
                prepared += 1
                let isKept = preamble == nil && statement.text.utf8.count <= Self.longestKept
                if isKept { nextName += 1 }
                name = isKept ? "m\(nextName)" : ""
                guard PQsendPrepare(handle, name, statement.text, 0, nil) == 1 else { throw lost() }
                expected.append((true, statement.text))
                if isKept {
                    names[statement.text] = name
                    recent.append(statement.text)
                }
            }
            try send(name, statement.values)
            expected.append((false, statement.text))
        }
        guard PQpipelineSync(handle) == 1 else { throw lost() }
        var found = try collect(expected, deadline)
        if let preambleAt { found.remove(at: preambleAt) }
        if notices.takeUnreplicated() {
            // The server has stopped waiting for its standbys: what it has committed may be lost with it.
            throw PostgreSQLError(
                location,
                .engine(
                    state: "40003", message: "no synchronous standby has confirmed the transaction in time", table: nil,
                    column: nil, constraint: nil))
        }
        return found
    }

    private func send(_ name: String, _ values: [SQLValue]) throws {
        var bytes: [[UInt8]?] = []
        for value in values {
            if value.isNull {
                bytes.append(nil)
                continue
            }
            var encoded: [UInt8] = []
            do {
                try BinaryCoding.append(value, to: &encoded)
            } catch {
                // What was begun cannot be taken back.
                close()
                throw PostgreSQLError(
                    location, .unfitValue(record: "a statement", property: "a \(value.sort) with U+0000"))
            }
            bytes.append(encoded)
        }
        // In one block, whose parts have addresses that stay.
        var block: [UInt8] = []
        var offsets: [Int?] = []
        for part in bytes {
            offsets.append(part == nil ? nil : block.count)
            block += part ?? []
            block.append(0)
        }
        let lengths = bytes.map { Int32(clamping: $0?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: values.count)
        let sent = block.withUnsafeBufferPointer { block in
            let pointers: [UnsafePointer<CChar>?] = offsets.map { offset in
                offset.flatMap { place in
                    block.baseAddress.map { UnsafeRawPointer($0 + place).assumingMemoryBound(to: CChar.self) }
                }
            }
            return PQsendQueryPrepared(handle, name, Int32(values.count), pointers, lengths, formats, 1)
        }
        guard sent == 1 else { throw lost() }
    }

    /// Closes a connection that cannot be used any more.
    private func lost() -> PostgreSQLError {
        let message = cleaned(handle.map { String(cString: PQerrorMessage($0)) } ?? "")
        close()
        return PostgreSQLError(location, .unreachable(message: message.isEmpty ? "the connection was lost" : message))
    }

    /// Sends all that is waiting, and takes in what comes meanwhile.
    private func flush(_ deadline: ContinuousClock.Instant?) throws {
        while true {
            switch PQflush(handle) {
            case 0: return
            case 1:
                guard wait(reading: true, alsoWriting: true, until: deadline) else { throw giveUp() }
                guard PQconsumeInput(handle) == 1 else { throw lost() }
            default: throw lost()
            }
        }
    }

    private func nextResult(_ deadline: ContinuousClock.Instant?) throws -> OpaquePointer? {
        try flush(deadline)
        while PQisBusy(handle) == 1 {
            guard wait(reading: true, until: deadline) else { throw giveUp() }
            guard PQconsumeInput(handle) == 1 else { throw lost() }
        }
        return PQgetResult(handle)
    }

    /// The server does not even say that the statement took too long.
    private func giveUp() -> PostgreSQLError {
        canceller.cancel()
        close()
        return PostgreSQLError(location, .timedOut)
    }

    private func collect(
        _ expected: [(isPreparation: Bool, text: String)], _ deadline: ContinuousClock.Instant?
    ) throws -> [PostgreSQLResult] {
        var found: [PostgreSQLResult] = []
        var failure: PostgreSQLError?
        var forgotten: [String] = []
        for (isPreparation, text) in expected {
            guard let result = try nextResult(deadline) else { throw lost() }
            let status = PQresultStatus(result)
            switch status {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
                if isPreparation { PQclear(result) } else { found.append(PostgreSQLResult(result)) }
            case PGRES_PIPELINE_ABORTED:
                if isPreparation { forgotten.append(text) }
                PQclear(result)
            default:
                // A plan that does not fit its table any more is made again.
                let error = self.error(of: result)
                if isPreparation || error.state == "0A000" || error.state == "26000" { forgotten.append(text) }
                failure = failure ?? error
                PQclear(result)
                if PQstatus(handle) == CONNECTION_BAD {
                    close()
                    throw failure ?? error
                }
            }
            // Every command ends with a null.
            while let more = try nextResult(deadline) { PQclear(more) }
        }
        while let result = try nextResult(deadline) {
            let status = PQresultStatus(result)
            PQclear(result)
            if status == PGRES_PIPELINE_SYNC { break }
        }
        guard PQexitPipelineMode(handle) == 1 else { throw lost() }
        for text in forgotten {
            names[text] = nil
            recent.removeAll { $0 == text }
        }
        if let failure { throw failure }
        trim()
        return found
    }

    private func trim() {
        guard recent.count > Self.mostStatements else { return }
        var words = ""
        while recent.count > Self.mostStatements {
            let text = recent.removeFirst()
            if let name = names.removeValue(forKey: text) { words += "DEALLOCATE \(name); " }
        }
        if !words.isEmpty { try? script(words) }
    }

    private func error(of result: OpaquePointer?) -> PostgreSQLError {
        func field(_ code: Character) -> String? {
            PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) }
        }
        let message = cleaned(field("M") ?? String(cString: PQresultErrorMessage(result)))
        guard let state = field("C") else {
            return PostgreSQLError(location, .unreachable(message: message.isEmpty ? "no answer" : message))
        }
        switch state {
        case "57014": return PostgreSQLError(location, .timedOut)
        case let state where state.hasPrefix("08") || ["57P01", "57P02", "57P03", "25P03", "57P05"].contains(state):
            return PostgreSQLError(location, .unreachable(message: "\(message) (\(state))"))
        default:
            return PostgreSQLError(
                location,
                .engine(
                    state: state, message: message, table: field("t"), column: field("c"), constraint: field("n")))
        }
    }

    /// Runs statements without values, as text.
    func script(_ text: String) throws {
        guard isUsable else { throw PostgreSQLError(location, .unreachable(message: "the connection is closed")) }
        roundTrips += 1
        let deadline = patience.map { ContinuousClock.now + $0 }
        guard PQsendQuery(handle, text) == 1 else { throw lost() }
        var failure: PostgreSQLError?
        while let result = try nextResult(deadline) {
            if PQresultStatus(result) == PGRES_FATAL_ERROR { failure = failure ?? error(of: result) }
            PQclear(result)
        }
        if PQstatus(handle) == CONNECTION_BAD { close() }
        if let failure { throw failure }
    }

    /// Runs one statement without values and hands over each row, with its values as text, while it comes. The server refuses a text with
    /// several statements.
    /// - Parameters:
    ///   - text: the statement.
    ///   - row: gets the names of the columns, and the values of a row; returns false to end the statement.
    /// - Throws: `PostgreSQLError`. The connection is closed where the statement did not come to its end.
    func read(_ text: String, row: (_ columns: [String], _ values: [UnsafeRawBufferPointer?]) -> Bool) throws {
        guard isUsable else { throw PostgreSQLError(location, .unreachable(message: "the connection is closed")) }
        roundTrips += 1
        let deadline = patience.map { ContinuousClock.now + $0 }
        guard PQsendQueryParams(handle, text, 0, nil, nil, nil, nil, 0) == 1, PQsetSingleRowMode(handle) == 1 else {
            throw lost()
        }
        var failure: PostgreSQLError?
        while let result = try nextResult(deadline) {
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_SINGLE_TUPLE, PGRES_TUPLES_OK:
                let places = 0..<PQnfields(result)
                let columns = places.map { PQfname(result, $0).map { String(cString: $0) } ?? "" }
                // The last result has no row, and tells the columns of an answer without rows.
                let values = places.map { column -> UnsafeRawBufferPointer? in
                    if PQntuples(result) == 0 || PQgetisnull(result, 0, column) != 0 { return nil }
                    return UnsafeRawBufferPointer(
                        start: PQgetvalue(result, 0, column), count: Int(PQgetlength(result, 0, column)))
                }
                if PQntuples(result) == 0 {
                    _ = row(columns, [])
                } else if !row(columns, values) {
                    canceller.cancel()
                    close()
                    return
                }
            case PGRES_COMMAND_OK: break
            case PGRES_FATAL_ERROR: failure = failure ?? error(of: result)
            default:
                // Data that would have to be copied.
                close()
                throw PostgreSQLError(location, .unreachable(message: "the statement has no rows"))
            }
        }
        if PQstatus(handle) == CONNECTION_BAD { close() }
        if let failure { throw failure }
    }

    /// Fills a table by COPY.
    func copy(_ text: String, _ data: [UInt8]) throws {
        guard isUsable else { throw PostgreSQLError(location, .unreachable(message: "the connection is closed")) }
        roundTrips += 1
        let deadline = patience.map { ContinuousClock.now + $0 }
        guard PQsendQuery(handle, text) == 1 else { throw lost() }
        var failure: PostgreSQLError?
        while let result = try nextResult(deadline) {
            let status = PQresultStatus(result)
            if status == PGRES_FATAL_ERROR { failure = failure ?? error(of: result) }
            PQclear(result)
            guard status == PGRES_COPY_IN else { continue }
            roundTrips += 1
            var place = 0
            while place < data.count {
                let count = min(data.count - place, 1 << 18)
                let sent = data.withUnsafeBytes { bytes in
                    PQputCopyData(
                        handle, bytes.baseAddress.map { ($0 + place).assumingMemoryBound(to: CChar.self) },
                        Int32(count))
                }
                switch sent {
                case 1: place += count
                case 0: try flush(deadline)
                default: throw lost()
                }
            }
            while true {
                let ended = PQputCopyEnd(handle, nil)
                if ended == 1 { break }
                if ended < 0 { throw lost() }
                try flush(deadline)
            }
        }
        if PQstatus(handle) == CONNECTION_BAD { close() }
        if let failure { throw failure }
    }

    // MARK: Transactions and news

    /// Ends a transaction that has failed. A connection that cannot do so is closed.
    func rollBack() {
        guard isUsable, isInTransaction else { return }
        do { try script("ROLLBACK") } catch { close() }
    }

    /// Waits for notifications until some have come or a time has passed.
    /// - Returns: whether there were any that begin with a text.
    func waitForNews(_ time: Duration, beginningWith beginning: String) throws -> Bool {
        _ = wait(reading: true, until: .now + time)
        guard isUsable, PQconsumeInput(handle) == 1 else { throw lost() }
        var isTold = false
        while let notice = PQnotifies(handle) {
            // Others share the channel.
            if let message = notice.pointee.extra, String(cString: message).hasPrefix(beginning) { isTold = true }
            PQfreemem(notice)
        }
        return isTold
    }
}

/// Takes the server's notices, all of which but one are dropped.
private final class NoticeReceiver {
    private var isUnreplicated = false

    /// The object has to live as long as the connection.
    func attach(to handle: OpaquePointer?) {
        let pointer = Unmanaged.passUnretained(self).toOpaque()
        PQsetNoticeReceiver(
            handle,
            { pointer, result in
                guard let pointer, let name = PQresultErrorField(result, Int32(UInt8(ascii: "R"))) else { return }
                // By the function, because the words are in the server's language.
                if strcmp(name, "SyncRepWaitForLSN") == 0 {
                    Unmanaged<NoticeReceiver>.fromOpaque(pointer).takeUnretainedValue().isUnreplicated = true
                }
            }, pointer)
    }

    /// Whether the server has given up waiting for its synchronous standbys since the last call.
    func takeUnreplicated() -> Bool {
        defer { isUnreplicated = false }
        return isUnreplicated
    }
}

/// Ends what a connection is doing, from another thread.
private final class StatementCanceller: @unchecked Sendable {
    // @unchecked: the handle is set, used and freed under the lock, and the library's function for it is safe in any thread.
    private let lock = NSLock()
    private var handle: OpaquePointer?

    func set(_ new: OpaquePointer?) {
        lock.withLock {
            PQfreeCancel(handle)
            handle = new
        }
    }

    func clear() { set(nil) }

    func cancel() {
        lock.withLock {
            guard let handle else { return }
            var message = [CChar](repeating: 0, count: 256)
            _ = PQcancel(handle, &message, 256)
        }
    }

    deinit { PQfreeCancel(handle) }
}
#endif
