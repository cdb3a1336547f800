#if PostgreSQL
import Foundation
import MortiseCore
import MortiseSQL
@testable import MortisePostgreSQL
import SQLSupport
import Synchronization
import Testing

/// Connections to a server: values, errors, deadlines, secrets.
@Suite(.enabled(if: TestServer.url != nil, "\(TestServer.reason)")) struct ConnectionTests {
    @Test func valuesComeBackToTheLastBit() throws {
        let space = try TestSpace()
        let values: [SQLValue] = [
            .integer(.min), .integer(.max), .real(-0.0), .real(.infinity), .real(.leastNonzeroMagnitude),
            .float(.greatestFiniteMagnitude), .bool(true), .bool(false), .text(""), .text("a'b\\😀"), .blob(Data()),
            .blob(Data([0, 255])), .uuid(UUID()), .decimal("0"), .decimal("-1.50"), .decimal("0.0001"),
            .decimal("12345678901234567890123456789012345678"), .decimal("-0.00000000000000000000000000000000000001"),
            .decimal("10000"), .decimal("99990000.0001"), .decimal("-Infinity"), .decimal("0.10"),
        ]
        try space.configuration().connected { connection in
            for value in values {
                let found = try connection.run("SELECT $1::\(value.typeName)", [value]).rows.first?.value(0)
                #expect(found == value)
            }
            for bits in [UInt64(0x7FF8_0000_0000_0001), 0xFFF8_0000_0000_0000, 0x7FF4_0000_0000_0000] {
                let found = try connection.run("SELECT $1::float8", [.real(Double(bitPattern: bits))]).rows.first?
                    .value(0)
                guard case .real(let number)? = found else {
                    Issue.record("\(String(describing: found))")
                    continue
                }
                #expect(number.bitPattern == bits)
            }
            let list: [SQLValue] = [.text("a"), .null, .text("{\",\\")]
            let rows = try connection.run("SELECT * FROM unnest($1::text[])", [.array(list, of: "text")]).rows
            #expect(rows.map { $0.value(0) } == list)
        }
    }

    @Test func textWithNULIsRefusedByNameAndTheConnectionIsReplaced() throws {
        let space = try TestSpace()
        try space.configuration().connected { connection in
            let error = #expect(throws: PostgreSQLError.self) {
                try connection.run("SELECT $1::text", [.text("a\0b")])
            }
            #expect(error?.errorClass == .invalid)
        }
    }

    @Test func errorsHaveTheClassOfTheirState() throws {
        let space = try TestSpace()
        try space.configuration().connected { connection in
            func errorClass(_ text: String) -> StoreErrorClass? {
                do {
                    try connection.run(text)
                    return nil
                } catch {
                    return (error as? PostgreSQLError)?.errorClass
                }
            }
            #expect(errorClass("SELECT * FROM missing_table") == .damaged)
            #expect(errorClass("SELECT 1/0") == .invalid)
            try connection.run("CREATE TEMP TABLE u (x int8 PRIMARY KEY)")
            #expect(errorClass("INSERT INTO u VALUES (1), (1)") == .conflict)
            try connection.run("SET default_transaction_read_only = on")
            #expect(errorClass("CREATE TABLE x (a int8)") == .denied)
            #expect(try connection.run("SELECT 1::int8").rows.first?.integer(0) == 1)
        }
    }

    @Test func aServerThatIsNotThereIsUnreachableWithinTheTimeLimit() throws {
        let configuration = PostgreSQLConfiguration(
            server: PostgreSQLServer(host: "127.0.0.1", port: "1", database: "x", password: "geheim"))
        let error = #expect(throws: PostgreSQLError.self) { try configuration.connected { _ in } }
        guard case .unreachable? = error?.fault else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.errorClass == .failedInputOutput)
        #expect(error.map { "\($0)".contains("geheim") } == false)
    }

    @Test func aDatabaseThatIsMissingIsMissing() throws {
        let space = try TestSpace()
        var configuration = try space.configuration()
        var server = configuration.server
        server.database = "no_such_database"
        configuration = PostgreSQLConfiguration(server: server)
        let error = #expect(throws: PostgreSQLError.self) { try configuration.connected { _ in } }
        #expect(error?.errorClass == .missing)
    }

    /// In no error, no description, no dump, no explanation.
    @Test func thePasswordIsShownNowhere() throws {
        let secret = "s3cr3t-w0rd"
        let text = "postgres://user:\(secret)@127.0.0.1:1/base?sslmode=disable&schema=app"
        let made = try #require(
            StoreRegistry(.postgres).configuration(for: text) as? PostgreSQLConfiguration)
        #expect(made.server.password == secret)
        var shown =
            "\(made) \(String(reflecting: made)) \(made.location) \(made.server) \(made.server.debugDescription)"
        dump(made, to: &shown)
        do { try made.connected { _ in } } catch { shown += "\(error) \(String(reflecting: error))" }
        do {
            _ = try StoreRegistry(.postgres).configuration(for: text + "&pool=none")
        } catch { shown += "\(error)" }
        do {
            _ = try StoreRegistry(.postgres).configuration(for: "postgres://user:\(secret)@host?password=\(secret)")
        } catch { shown += "\(error)" }
        #expect(!shown.contains(secret))
        let space = try TestSpace()
        let store = try space.open([entity("Item", [("name", .string)])])
        let condition = QueryExpression.compare(.equal, store.property("Item", "name"), .constant(.string(secret)))
        let plan = store.plan(StoreQuery("Item", conjuncts: [condition]))
        #expect(plan.claims[0] == .exact)
        #expect(!plan.detail.contains(secret) && plan.detail.contains("$1::text"))
    }

    @Test func aStatementThatTakesTooLongEndsAndTheConnectionStays() throws {
        let space = try TestSpace()
        try space.configuration("&statementTimeout=100ms").connected { connection in
            #expect(throws: PostgreSQLError(connection.location, .timedOut)) {
                try connection.run("SELECT pg_sleep(60)::text")
            }
            let found = try connection.run("SELECT 1::int8")
            #expect(found.rows.first?.integer(0) == 1)
        }
    }

    @Test func aStatementIsCancelledFromAnotherThread() throws {
        let space = try TestSpace()
        try space.configuration().connected { connection in
            try connection.run("SELECT 1")
            let cancel = connection.cancel
            let isDone = Mutex(false)
            DispatchQueue.global().async {
                // Again and again: the statement may not have begun.
                while !isDone.withLock({ $0 }) {
                    cancel()
                    Thread.sleep(forTimeInterval: 0.02)
                }
            }
            #expect(throws: PostgreSQLError(connection.location, .timedOut)) {
                _ = try connection.run("SELECT pg_sleep(60)::text")
            }
            isDone.withLock { $0 = true }
        }
    }

    @Test func noMoreConnectionsAreOpenThanAllowed() throws {
        let space = try TestSpace()
        let pool = ConnectionPool(try space.configuration("&pool=2&lockTimeout=100ms"))
        let (a, b) = (try pool.take(), try pool.take())
        let error = #expect(throws: PostgreSQLError.self) { try pool.take() }
        #expect(error?.errorClass == .busy)
        pool.put(a)
        let c = try pool.take()
        #expect(pool.size == 2)
        pool.put(b)
        pool.put(c)
        pool.close()
        #expect(throws: PostgreSQLError.self) { try pool.take() }
    }

    @Test func noMoreStatementsStayPreparedThanAllowed() throws {
        let space = try TestSpace()
        try space.configuration().connected { connection in
            for number in 0..<600 {
                let found = try connection.run("SELECT \(number)::int8, $1::int8", [.integer(1)])
                #expect(found.rows.first?.integer(0) == Int64(number))
            }
            let kept = try connection.run("SELECT count(*) FROM pg_prepared_statements").rows.first?.integer(0) ?? 0
            #expect(kept > 200 && kept < 260)
            let before = connection.prepared
            try connection.run("SELECT 599::int8, $1::int8", [.integer(1)])
            #expect(connection.prepared == before)
        }
    }

    /// A statement that fails in the middle: those before it count, those after it do not, and the next ones work.
    @Test func aFailureEndsItsRoundTripAndNoMore() throws {
        let space = try TestSpace()
        try space.configuration().connected { connection in
            try connection.run("CREATE TEMP TABLE u (x int8 PRIMARY KEY)")
            #expect(throws: PostgreSQLError.self) {
                try connection.run([
                    .init("BEGIN"), .init("INSERT INTO u VALUES (1)"), .init("INSERT INTO u VALUES (1)"),
                    .init("INSERT INTO u VALUES (2)"), .init("COMMIT"),
                ])
            }
            connection.rollBack()
            #expect(try connection.run("SELECT count(*) FROM u").rows.first?.integer(0) == 0)
            try connection.run("INSERT INTO u VALUES (2)")
            #expect(try connection.run("SELECT count(*) FROM u").rows.first?.integer(0) == 1)
        }
    }
}
#endif
