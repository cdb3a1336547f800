#if PostgreSQL
import Foundation
import MortiseCore
import MortiseSQL
@testable import MortisePostgreSQL
import PackageTestSupport
import SQLSupport
import Synchronization
import Testing

/// What the server refuses, ends or delays while a store saves and reads.
@Suite(.enabled(if: TestServer.socket != nil, "\(TestServer.reason), with a socket in a folder"))
struct ServerFaultTests {
    private let items = [entity("Item", [("name", .string), ("size", .int64)])]

    private func proxy() throws -> WireProxy { try WireProxy(server: try #require(TestServer.socket)) }

    private func request(
        _ store: PostgreSQLStore, _ state: EditingState, _ name: String
    ) -> DataStoreSaveChangesRequest<DefaultSnapshot> {
        DataStoreSaveChangesRequest(
            inserted: [store.snapshot("Item", ["name": .string(name)])], editingState: state)
    }

    // MARK: Ends of saves

    @Test(arguments: ["40001", "40P01", "40003"])
    func aSaveThatTheServerRefusesForAWhileIsDoneOnce(_ state: String) throws {
        let space = try TestSpace()
        let store = try space.open(items)
        try space.refuseCommits(3, state: state)
        let record = try store.insert("Item", ["name": .string("a")])[0]
        #expect(try space.commitsSeen() == 4)
        #expect(try store.records(StoreQuery("Item")).map(\.persistentIdentifier) == [record])
        #expect(try store.storedTransactions(after: 0, last: nil)?.count == 1)
    }

    @Test func aSaveThatTheServerAlwaysRefusesEndsAndCanBeRepeated() throws {
        let space = try TestSpace()
        try space.open(items).close()
        let store = try space.open(items, as: space.configuration().server.user, retryFor: .seconds(3))
        try space.refuseCommits(.max, state: "40001")
        let request = request(store, EditingState(), "a")
        let began = ContinuousClock.now
        let error = #expect(throws: PostgreSQLError.self) { try store.save(request) }
        #expect(error?.state == "40001" && error?.errorClass == .busy)
        #expect(.now - began > .seconds(2) && .now - began < .seconds(60))
        #expect(try space.commitsSeen().map { $0 > 2 } == true)
        #expect(try store.records(StoreQuery("Item")).isEmpty)
        try space.configuration().connected { _ = try $0.run("DROP TRIGGER refuse ON mortise_saves") }
        _ = try store.save(request)
        #expect(try store.values("Item", "name") == [.string("a")])
    }

    /// The server has committed, and says that it does not know.
    @Test func anAmbiguousAnswerIsAskedFor() throws {
        let (space, proxy) = (try TestSpace(), try proxy())
        defer { proxy.close() }
        let store = try space.open(items, through: proxy, retryFor: .seconds(30))
        proxy.delay(.answer(state: "40003"))
        let record = try store.insert("Item", ["name": .string("a")])[0]
        #expect(proxy.cuts == 1)
        #expect(try store.records(StoreQuery("Item")).map(\.persistentIdentifier) == [record])
        #expect(try store.storedTransactions(after: 0, last: nil)?.count == 1)
    }

    /// A program that ends at any moment of a save leaves all of it or nothing, and all of it once the save has returned.
    @Test(arguments: [false, true]) func aSaveThatIsCutAtAnyPlaceIsThereWholeOrNotAtAll(_ fromServer: Bool) throws {
        let (space, proxy) = (try TestSpace(), try proxy())
        defer { proxy.close() }
        let store = try space.open(items, through: proxy, retryFor: .zero)
        let reader = try space.open(items)
        let first = try store.insert("Item", ["name": .string("first"), "size": .integer(0)])[0]
        let isFull = ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"] == "full"
        var (acknowledged, unknown, refused) = (0, 0, 0)
        for place in stride(from: 0, to: fromServer ? 1_200 : 3_600, by: isFull ? 7 : 61) {
            // A connection that has prepared nothing yet, so that each step is sent.
            try store.pool.using { $0.close() }
            _ = try? store.checkHealth()
            let before = try reader.records(StoreQuery("Item"))
            let version = try #require(before.first).recordVersion
            proxy.cut(.after(bytes: place, fromServer: fromServer))
            let size = StoredValue.integer(Int64(place + 1))
            var outcome: Bool?
            do {
                _ = try store.save(
                    DataStoreSaveChangesRequest(
                        inserted: [
                            store.snapshot("Item", ["name": .string("n\(place)a")]),
                            store.snapshot("Item", ["name": .string("n\(place)b")]),
                        ], updated: [store.snapshot("Item", ["size": size], of: first)],
                        editingState: EditingState(), changedSlots: [SlotSet([1])], updatedVersions: [version]))
                outcome = true
                acknowledged += 1
            } catch let error as PostgreSQLError {
                outcome = error.fault == .outcomeUnknown ? nil : false
                if outcome == nil { unknown += 1 } else { refused += 1 }
            }
            proxy.cutNoMore()
            // The other session may be ending its transaction.
            try reader.pool.using { connection in
                _ = try connection.transaction { try connection.run("SELECT 1 FROM mortise_store FOR UPDATE") }
            }
            let after = try reader.records(StoreQuery("Item"))
            let isThere = after.count == before.count + 2
            #expect(isThere || after.count == before.count)
            #expect((after.first?[property: "size"] == size) == isThere)
            if let outcome { #expect(outcome == isThere, "cut after \(place) bytes") }
        }
        print("\(acknowledged) acknowledged, \(refused) refused, \(unknown) unknown")
        #expect(refused > 5 && acknowledged > 5)
        let transactions = try #require(try reader.storedTransactions(after: 0, last: nil))
        #expect(transactions.compactMap(\.commit?.number) == Array(1...UInt64(transactions.count)))
    }

    /// A save that takes its time holds the numbers: what comes after it has greater ones, and who follows by token misses nothing.
    @Test func aSlowTransactionIsNotPassedByALaterOne() throws {
        let (space, proxy) = (try TestSpace(), try proxy())
        defer { proxy.close() }
        let slow = try space.open(items, through: proxy, retryFor: .seconds(30))
        let fast = try space.open(items, "&lockTimeout=60s")
        let reader = try space.open(items)
        let (arrived, passes, done) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        try slow.pool.using { $0.close() }
        proxy.delay(.hold(arrived: arrived, until: passes))
        for (store, name) in [(slow, "slow"), (fast, "fast")] {
            Thread.detachNewThread {
                do { try store.insert("Item", ["name": .string(name)]) } catch { Issue.record("\(error)") }
                done.signal()
            }
            if name == "slow" { #expect(arrived.wait(timeout: .now() + 60) == .success) }
        }
        var seen: [UInt64] = []
        func look() throws {
            let found = try #require(try reader.storedTransactions(after: seen.last ?? 0, last: nil))
            seen += found.compactMap(\.commit?.number)
        }
        for _ in 0..<20 {
            try look()
            Thread.sleep(forTimeInterval: 0.01)
        }
        #expect(seen.isEmpty)
        passes.signal()
        for _ in 0..<2 { #expect(done.wait(timeout: .now() + 60) == .success) }
        try look()
        #expect(seen == [1, 2])
        #expect(try reader.values("Item", "name") == [.string("slow"), .string("fast")])
    }

    /// The session's server was the leader, and takes no writes any more.
    @Test(arguments: [true, false]) func aServerThatIsNoLongerTheLeaderIsLeft(_ namesSeveral: Bool) throws {
        let space = try TestSpace()
        try space.open(items).close()
        let plain = try space.configuration()
        var server = plain.server
        if namesSeveral {
            server.host += ",\(server.host)"
            if !server.port.isEmpty { server.port += ",\(server.port)" }
        }
        var configuration = PostgreSQLConfiguration(
            server: server, namespace: plain.namespace, pool: 1, retryFor: .seconds(5), notifies: false)
        configuration.schema = Schema(stored: StoredSchema(version: Schema.Version(1, 0, 0), entities: items))
        let store = try PostgreSQLStore(configuration, migrationPlan: nil)
        try store.insert("Item", ["name": .string("a")])
        try store.pool.using { try $0.script("SET default_transaction_read_only = on") }
        try store.insert("Item", ["name": .string("b")])
        #expect(try store.values("Item", "name") == [.string("a"), .string("b")])
    }

    /// One that never becomes the leader is told after one more connection where it is the only one.
    @Test func aServerThatTakesNoWritesIsTold() throws {
        let space = try TestSpace()
        try space.open(items).close()
        let role = "\(space.name)_reader"
        try space.configuration().connected {
            try $0.script("CREATE ROLE \"\(role)\" SUPERUSER LOGIN")
        }
        defer { try? space.configuration().connected { try $0.script("DROP ROLE \"\(role)\"") } }
        let store = try space.open(items, as: role)
        try space.configuration().connected {
            try $0.script("ALTER ROLE \"\(role)\" SET default_transaction_read_only = on")
        }
        try store.pool.using { $0.close() }
        let began = ContinuousClock.now
        let error = #expect(throws: PostgreSQLError.self) { try store.insert("Item", ["name": .string("a")]) }
        #expect(error?.state == "25006" && error?.errorClass == .denied)
        #expect(.now - began < .seconds(4))
    }

    // MARK: Time

    @Test func aFetchAndASaveThatTakeTooLongEndAndTheStoreGoesOn() throws {
        let space = try TestSpace()
        let store = try space.open(items, "&statementTimeout=200ms&lockTimeout=60s")
        let record = try store.insert("Item", ["name": .string("a")])[0]
        let timedOut = PostgreSQLError(store.configuration.location, .timedOut)
        try space.configuration().connected { connection in
            try connection.run("BEGIN")
            try connection.run("LOCK TABLE \"Item\" IN ACCESS EXCLUSIVE MODE")
            let began = ContinuousClock.now
            #expect(throws: timedOut) { try store.records(StoreQuery("Item")) }
            #expect(throws: timedOut) { try store.update(record, ["size": .integer(1)], version: 1) }
            // The server ends them: this side would wait for five seconds more each.
            #expect(.now - began < .seconds(5))
            connection.rollBack()
        }
        try store.update(record, ["size": .integer(2)], version: 1)
        #expect(try store.values("Item", "size") == [.integer(2)])
        #expect(store.pool.size == 1)
    }

    /// The server ends a session that holds a state and does nothing.
    @Test func aStateThatTheServerHasEndedThrowsUntilTheNextScope() throws {
        let space = try TestSpace()
        try space.open(items).close()
        let role = "\(space.name)_idle"
        try space.configuration().connected {
            try $0.script(
                "CREATE ROLE \"\(role)\" SUPERUSER LOGIN; "
                    + "ALTER ROLE \"\(role)\" SET idle_in_transaction_session_timeout = '2s'")
        }
        defer { try? space.configuration().connected { try $0.script("DROP ROLE \"\(role)\"") } }
        let store = try space.open(items, as: role) { $0.pinsReads = true }
        try store.insert("Item", ["name": .string("a")])
        func names(_ scope: ReadScope) throws -> [StoredValue] {
            var plan = store.plan(StoreQuery("Item"))
            plan.scope = scope
            return try store.rows(for: plan).snapshots.compactMap { $0[property: "name"] }
        }
        let context = UUID()
        let first = ReadScope(context: context, number: 1)
        #expect(try names(first) == [.string("a")])
        Thread.sleep(forTimeInterval: 5)
        for _ in 0..<2 {
            let error = #expect(throws: PostgreSQLError.self) { try names(first) }
            guard case .unreachable? = error?.fault else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        try store.insert("Item", ["name": .string("b")])
        #expect(try names(ReadScope(context: context, number: 2)) == [.string("a"), .string("b")])
    }

    /// A connection for news that has died without a word: the store looks for itself.
    @Test func savesOfOthersAreFoundWhereTheServerDoesNotTellOfThem() throws {
        let (space, proxy) = (try TestSpace(), try proxy())
        defer { proxy.close() }
        let store = try space.open(items, through: proxy, retryFor: .seconds(30), notifies: true)
        let other = try space.open(items)
        let found = Mutex<[PersistentIdentifier]>([])
        let arrived = DispatchSemaphore(value: 0)
        let follower = try #require(store.changeFeed).follow(.records) { delivery in
            found.withLock { $0 += delivery.changes.flatMap(\.inserted.records) }
            arrived.signal()
        }
        defer { follower.cancel() }
        var saved = try other.insert("Item", ["name": .string("told")])
        #expect(arrived.wait(timeout: .now() + 60) == .success)
        #expect(proxy.listeners == 1)
        proxy.silenceListeners()
        for number in 0..<3 {
            saved += try other.insert("Item", ["name": .string("n\(number)")])
            let began = ContinuousClock.now
            #expect(arrived.wait(timeout: .now() + 60) == .success)
            #expect(.now - began < .seconds(5))
        }
        #expect(found.withLock { $0 } == saved)
    }

    // MARK: Cursors beside a writer

    /// Each record that is there from the beginning to the end comes once; one whose sort key is changed comes once or not at all.
    @Test(arguments: [false, true]) func aCursorBesideAWriterReadsNothingTwice(_ isSorted: Bool) throws {
        let space = try TestSpace()
        let store = try space.open(items)
        let writer = try space.open(items, "&lockTimeout=60s")
        let isFull = ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"] == "full"
        let count = isFull ? 1_000_000 : 6_000
        for first in stride(from: 0, to: count, by: 50_000) {
            try store.insert(
                "Item",
                (first..<min(first + 50_000, count)).map { ["name": .string("n\($0)"), "size": .integer(Int64($0))] })
        }
        let query = StoreQuery(
            "Item", order: isSorted ? [StoreQuery.Order(store.property("Item", "size"))] : [])
        let isDone = Mutex(false)
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            var numbers = SeededGenerator(seed: 7)
            do {
                while !isDone.withLock({ $0 }) {
                    // From the first thousand alone, so that the others are there throughout. Keys move to both ends.
                    let record = PersistentIdentifier.numbered(
                        UInt64(1 + numbers.below(1_000)), storeIdentifier: writer.identifier, entityName: "Item")
                    try writer.update(record, ["size": .integer(Int64(numbers.below(2 * count)) - Int64(count / 2))])
                    try writer.insert("Item", ["name": .string("late"), "size": .integer(Int64(numbers.below(count)))])
                }
            } catch { Issue.record("\(error)") }
            ended.signal()
        }
        defer {
            isDone.withLock { $0 = true }
            ended.wait()
        }
        var seen: Set<UInt64> = []
        var total = 0
        let cursor = try store.cursor(for: store.plan(query))
        while case let portion = try cursor.next(atMost: 512), !portion.isEmpty {
            total += portion.count
            for record in portion { seen.insert(UInt64(record.persistentIdentifier.sequenceNumber ?? 0)) }
            if !isFull { Thread.sleep(forTimeInterval: 0.01) }
        }
        #expect(seen.count == total)
        #expect((1_001...UInt64(count)).allSatisfy(seen.contains))
        let most = try store.rows(for: store.plan(StoreQuery("Item", purpose: .count))).count ?? 0
        #expect(most > count)
    }

    // MARK: Statements

    /// More shapes than stay prepared: the oldest go, and all are answered.
    @Test func aThousandShapesOfQueriesAreAnswered() throws {
        let space = try TestSpace()
        let names = (0..<10).map { "p\($0)" }
        let store = try space.open([entity("Item", names.map { ($0, .int64) })], "&pool=1")
        try store.insert("Item", Dictionary(uniqueKeysWithValues: names.map { ($0, StoredValue.integer(1)) }))
        for round in 0..<2 {
            for shape in 1..<1_024 {
                let conditions = names.indices.filter { shape >> $0 & 1 == 1 }.map {
                    QueryExpression.compare(
                        .equal, store.property("Item", names[$0]), .constant(.integer(Int64(round == 0 ? 1 : shape))))
                }
                let found = try store.records(StoreQuery("Item", conjuncts: conditions)).count
                guard found != (round == 0 || shape == 1 ? 1 : 0) else { continue }
                Issue.record("shape \(shape) found \(found)")
                return
            }
        }
        let kept = try store.pool.using {
            try $0.run("SELECT count(*) FROM pg_prepared_statements").rows.first?.integer(0) ?? 0
        }
        #expect(kept > 200 && kept < 260)
    }

    // MARK: Neighbours

    @Test func storesInTwoSchemasOfOneDatabaseKnowNothingOfEachOther() throws {
        let spaces = [try TestSpace(), try TestSpace()]
        let stores = try spaces.map { try $0.open(items) { $0.pollInterval = .seconds(600) } }
        let heard = Mutex<[[PersistentIdentifier]]>([[], []])
        let arrived = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
        let followers = try stores.indices.map { place in
            try #require(stores[place].changeFeed).follow(.records) { delivery in
                heard.withLock { $0[place] += delivery.changes.flatMap(\.inserted.records) }
                arrived[place].signal()
            }
        }
        defer { for follower in followers { follower.cancel() } }
        let others = try spaces.map { try $0.open(items) }
        let saved = try others.enumerated().map { place, store in
            try store.insert("Item", ["name": .string("of \(place)")])
        }
        for place in stores.indices {
            #expect(arrived[place].wait(timeout: .now() + 60) == .success)
            #expect(try stores[place].values("Item", "name") == [.string("of \(place)")])
            #expect(try stores[place].storedTransactions(after: 0, last: nil)?.count == 1)
        }
        #expect(stores[0].identifier != stores[1].identifier)
        #expect(heard.withLock { $0 } == saved)
        try stores[0].erase()
        #expect(try stores[1].values("Item", "name") == [.string("of 1")])
    }

    /// A database whose texts are in the order of a language: ours are in that of their bytes, and equal where Swift's are.
    @Test func theCollationOfTheDatabaseDoesNotDecide() throws {
        let space = try TestSpace()
        let name = space.name + "_language"
        let language = try space.configuration().connected { connection -> String? in
            let found = try connection.run(
                "SELECT c.collname::text FROM pg_collation c WHERE c.collprovider = 'c' "
                    + "AND c.collname ~* '^[a-z]{2}_[A-Z]{2}[.]utf-?8$' LIMIT 1")
            if let system = found.rows.first?.text(0) {
                try connection.script(
                    "CREATE DATABASE \"\(name)\" TEMPLATE template0 ENCODING 'UTF8' LOCALE '\(system)'")
                return system
            }
            guard connection.serverVersion >= 15 else { return nil }
            do {
                try connection.script(
                    "CREATE DATABASE \"\(name)\" TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' "
                        + "LOCALE_PROVIDER icu ICU_LOCALE 'de'")
                return "de"
            } catch let error as PostgreSQLError where error.errorClass == .unsupported {
                return nil
            }
        }
        guard let language else { try Test.cancel("the server has no collation of a language") }
        defer { try? space.configuration().connected { try $0.script("DROP DATABASE \"\(name)\" WITH (FORCE)") } }
        var server = try space.configuration().server
        server.database = name
        var configuration = PostgreSQLConfiguration(server: server, namespace: "app", pool: 1)
        configuration.schema = Schema(
            stored: StoredSchema(entities: [entity("Item", [("name", .string)], unique: [["name"]])]))
        let store = try PostgreSQLStore(configuration, migrationPlan: nil)
        let names = ["Z", "a", "B", "ä", "\u{e9}", "z", "_", "a b", "ab", "\u{1F600}", "\u{FFFF}", "İ", "i", "ı", "I"]
        try store.insert("Item", names.map { ["name": .string($0)] })
        let order = [StoreQuery.Order(store.property("Item", "name"))]
        let plan = store.plan(StoreQuery("Item", order: order))
        #expect(plan.order == .total)
        let sorted = names.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
        let found = try store.rows(for: plan).snapshots.compactMap { $0[property: "name"] }
        #expect(found == sorted.map(StoredValue.string), "\(language)")
        // Another form of the same text is the same.
        #expect(throws: RecordsSuperseded.self) { try store.insert("Item", ["name": .string("e\u{301}")]) }
        let condition = QueryExpression.compare(
            .less, store.property("Item", "name"), .constant(.string("a")))
        let less = try store.values("Item", "name", where: condition)
        let wanted = sorted.prefix { Array($0.utf8).lexicographicallyPrecedes([0x61]) }
        #expect(Set(less) == Set(wanted.map(StoredValue.string)))
        try store.close()
    }
}
#endif
