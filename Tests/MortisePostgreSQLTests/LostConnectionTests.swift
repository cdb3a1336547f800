#if PostgreSQL
import Foundation
import MortiseCore
import MortiseSQL
@testable import MortisePostgreSQL
import SQLSupport
import PackageTestSupport
import Testing

/// Connections that are lost while a save is committed: it is there once, or not at all, and the caller is told which.
@Suite(.enabled(if: TestServer.socket != nil, "\(TestServer.reason), with a socket in a folder"))
struct LostConnectionTests {
    private let items = [
        StoredEntity(
            name: "Item",
            properties: entity("Item", [("name", .string), ("size", .int64)]).properties + [
                StoredProperty(
                    name: "next", isOptional: true,
                    content: .relationship(StoredRelationship(destination: "Item", isToMany: false)))
            ])
    ]

    private func open(_ space: TestSpace, _ proxy: WireProxy, retryFor: Duration) throws -> PostgreSQLStore {
        try space.open(items, through: proxy, retryFor: retryFor)
    }

    private func proxy() throws -> WireProxy { try WireProxy(server: try #require(TestServer.socket)) }

    @Test(arguments: [true, false]) func aSaveWhoseAnswerIsLostIsThereOnce(_ isCommitted: Bool) throws {
        let (space, proxy) = (try TestSpace(), try proxy())
        defer { proxy.close() }
        let store = try open(space, proxy, retryFor: .seconds(30))
        proxy.cut(isCommitted ? .afterCommit : .beforeCommit)
        let records = try store.insert("Item", ["name": .string("x")], ["name": .string("y")])
        #expect(proxy.cuts == 1)
        #expect(try store.records(StoreQuery("Item")).map(\.persistentIdentifier) == records)
        #expect(try store.storedTransactions(after: 0, last: nil)?.count == 1)
        proxy.cut(isCommitted ? .afterCommit : .beforeCommit)
        try store.update(records[0], ["size": .integer(7)], version: 1)
        #expect(try store.records(StoreQuery("Item")).map(\.recordVersion) == [2, 1])
    }

    /// The server cannot be asked: the save is of unknown outcome, and the next one of the same records finds out.
    @Test(arguments: [true, false]) func aSaveOfUnknownOutcomeIsSettledByTheNextOne(_ isCommitted: Bool) throws {
        let (space, proxy) = (try TestSpace(), try proxy())
        defer { proxy.close() }
        let store = try open(space, proxy, retryFor: .milliseconds(300))
        let known = try store.insert("Item", ["name": .string("known"), "size": .integer(0)])[0]
        // A connection that has not ended a save yet.
        try store.pool.using { $0.close() }
        proxy.cut(isCommitted ? .afterCommit : .beforeCommit, staysDown: true)
        let (state, new) = (EditingState(), [store.snapshot("Item", ["name": .string("new")])])
        let next = StoredValue.identifier(new[0].persistentIdentifier)
        func request(_ size: Int64, _ more: [DefaultSnapshot] = []) -> DataStoreSaveChangesRequest<DefaultSnapshot> {
            DataStoreSaveChangesRequest(
                inserted: new + more,
                updated: [store.snapshot("Item", ["size": .integer(size), "next": next], of: known)],
                editingState: state, changedSlots: [SlotSet([1, 2])], updatedVersions: [1])
        }
        let error = #expect(throws: PostgreSQLError.self) { try store.save(request(1)) }
        #expect(error?.fault == .outcomeUnknown)
        proxy.comeBack()
        let result = try store.save(request(2, [store.snapshot("Item", ["name": .string("later")])]))
        let names = try store.values("Item", "name").map(\.description).sorted()
        #expect(names == ["\"known\"", "\"later\"", "\"new\""])
        let first = try store.records(StoreQuery("Item")).first
        #expect(first?[property: "size"] == .integer(2))
        let permanent = try #require(result.remappedIdentifiers[new[0].persistentIdentifier])
        // The known record leads to the new one, whose identifier it has from the earlier save.
        #expect(first?[property: "next"] == .identifier(permanent))
        let condition = QueryExpression.compare(.equal, .identifier(.variable(0)), .constant(.identifier(permanent)))
        #expect(try store.values("Item", "name", where: condition) == [.string("new")])
        #expect(try store.storedTransactions(after: 0, last: nil)?.count == (isCommitted ? 3 : 2))
    }

    /// Another context settled the save with its own one: it overwrote what it had not read, and the next save of the first context
    /// wrote the new records again. So did a save that others' changes refused.
    @Test func aSaveOfUnknownOutcomeIsSettledByItsContextAlone() throws {
        let (space, proxy) = (try TestSpace(), try proxy())
        defer { proxy.close() }
        let store = try open(space, proxy, retryFor: .milliseconds(300))
        let known = try store.insert("Item", ["name": .string("known"), "size": .integer(0)])[0]
        try store.pool.using { $0.close() }
        let (state, new) = (EditingState(), [store.snapshot("Item", ["name": .string("new")])])
        func save(_ size: Int64, version: UInt64) throws {
            _ = try store.save(
                DataStoreSaveChangesRequest(
                    inserted: new, updated: [store.snapshot("Item", ["size": .integer(size)], of: known)],
                    editingState: state, changedSlots: [SlotSet([1])], updatedVersions: [version]))
        }
        proxy.cut(.afterCommit, staysDown: true)
        let error = #expect(throws: PostgreSQLError.self) { try save(1, version: 1) }
        #expect(error?.fault == .outcomeUnknown)
        proxy.comeBack()
        let other = #expect(throws: RecordsSuperseded.self) {
            try store.update(known, ["size": .integer(5)], version: 1)
        }
        #expect(other?.identifiers == [known])
        try store.update(known, ["size": .integer(5)], version: 2)
        let own = #expect(throws: RecordsSuperseded.self) { try save(7, version: 1) }
        #expect(own?.identifiers == [known])
        // It has read the record again.
        try save(7, version: 3)
        #expect(try store.values("Item", "name") == [.string("known"), .string("new")])
        #expect(try store.records(StoreQuery("Item")).first?[property: "size"] == .integer(7))
    }

    /// The keys of a thousand saves are kept, and a save whose key was gone counted as one that was not there.
    @Test(arguments: [true, false]) func aSaveIsFoundAfterManyOthers(_ isCommitted: Bool) throws {
        let (space, proxy) = (try TestSpace(), try proxy())
        defer { proxy.close() }
        let store = try open(space, proxy, retryFor: .milliseconds(300))
        let (state, new) = (EditingState(), [store.snapshot("Item", ["name": .string("new")])])
        func save() throws { _ = try store.save(DataStoreSaveChangesRequest(inserted: new, editingState: state)) }
        proxy.cut(isCommitted ? .afterCommit : .beforeCommit, staysDown: true)
        let error = #expect(throws: PostgreSQLError.self) { try save() }
        #expect(error?.fault == .outcomeUnknown)
        try space.open(items).insert("Item", ["name": .string("other")])
        try space.configuration().connected { connection in
            try connection.run("DELETE FROM mortise_saves")
            try connection.run("UPDATE mortise_store SET \"lastTransaction\" = \"lastTransaction\" + 2000")
        }
        proxy.comeBack()
        try save()
        let names: [StoredValue] = [.string("new"), .string("other")]
        #expect(try store.values("Item", "name") == (isCommitted ? names : names.reversed()))
    }

    /// Neither its key nor the history is left, and no save of the context ever got through again, whatever it was about. New records of
    /// such a save must not be written twice; all else is decided by the versions of the records.
    @Test(arguments: [true, false]) func aSaveThatNothingTellsOfEndsWithARollback(_ isCommitted: Bool) throws {
        let (space, proxy) = (try TestSpace(), try proxy())
        defer { proxy.close() }
        let store = try open(space, proxy, retryFor: .milliseconds(300))
        let known = try store.insert("Item", ["name": .string("known"), "size": .integer(0)])[0]
        try store.pool.using { $0.close() }
        let (state, new) = (EditingState(), store.snapshot("Item", ["name": .string("new")]))
        func save(_ size: Int64, _ inserted: [DefaultSnapshot], version: UInt64) throws {
            _ = try store.save(
                DataStoreSaveChangesRequest(
                    inserted: inserted, updated: [store.snapshot("Item", ["size": .integer(size)], of: known)],
                    editingState: state, changedSlots: [SlotSet([1])], updatedVersions: [version]))
        }
        proxy.cut(isCommitted ? .afterCommit : .beforeCommit, staysDown: true)
        let error = #expect(throws: PostgreSQLError.self) { try save(1, [new], version: 1) }
        #expect(error?.fault == .outcomeUnknown)
        try space.configuration().connected { connection in
            try connection.run("DELETE FROM mortise_saves")
            try connection.run("DELETE FROM mortise_history")
            try connection.run("UPDATE mortise_store SET \"lastTransaction\" = \"lastTransaction\" + 2000")
        }
        proxy.comeBack()
        for _ in 0..<2 {
            let error = #expect(throws: PostgreSQLError.self) { try save(2, [new], version: 1) }
            #expect(error?.fault == .outcomeForgotten)
        }
        let names = (isCommitted ? ["known", "new"] : ["known"]).map(StoredValue.string)
        #expect(try store.values("Item", "name") == names)
        // Rolled back, it has nothing of it but records that it has not read again.
        if isCommitted {
            let error = #expect(throws: RecordsSuperseded.self) { try save(3, [], version: 1) }
            #expect(error?.identifiers == [known])
            try save(3, [], version: 2)
        } else {
            try save(3, [], version: 1)
        }
        let another = store.snapshot("Item", ["name": .string("another")])
        try save(4, [another], version: isCommitted ? 3 : 2)
        #expect(try store.values("Item", "name") == names + [.string("another")])
        #expect(try store.records(StoreQuery("Item")).first?[property: "size"] == .integer(4))
    }

    /// A save threw as soon as nobody answered, although it was lost before its end.
    @Test func aSaveWaitsForAServerThatComesBack() throws {
        let (space, proxy) = (try TestSpace(), try proxy())
        defer { proxy.close() }
        let store = try open(space, proxy, retryFor: .seconds(60))
        try store.insert("Item", ["name": .string("a")])
        proxy.cut(.after(bytes: 10, fromServer: false), staysDown: true)
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.5) { proxy.comeBack() }
        try store.insert("Item", ["name": .string("b")])
        #expect(try store.values("Item", "name") == [.string("a"), .string("b")])
    }

    /// Where each end of a save was lost, and the server said that it was not there, the save was tried for ever.
    @Test func aSaveThatIsLostEachTimeEndsWithAnError() throws {
        let (space, proxy) = (try TestSpace(), try proxy())
        defer { proxy.close() }
        let store = try open(space, proxy, retryFor: .milliseconds(300))
        proxy.cut(.beforeEveryCommit)
        let error = #expect(throws: PostgreSQLError.self) { try store.insert("Item", ["name": .string("a")]) }
        #expect(error?.errorClass == .failedInputOutput && error?.fault != .outcomeUnknown)
        proxy.cutNoMore()
        try store.insert("Item", ["name": .string("b")])
        #expect(try store.values("Item", "name") == [.string("b")])
    }

    @Test func encryptionThatTheServerDoesNotHaveIsRefusedWhereItIsRequired() throws {
        let (space, proxy) = (try TestSpace(), try proxy())
        defer { proxy.close() }
        var server = try space.configuration().server
        // A socket in a folder has no encryption, and says so.
        (server.host, server.port) = ("127.0.0.1", "\(proxy.port)")
        server.encryption = ["sslmode": "require"]
        let error = #expect(throws: PostgreSQLError.self) {
            try PostgreSQLConfiguration(server: server).connected { _ in }
        }
        guard case .unreachable(let message)? = error?.fault else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(message.contains("SSL"))
        server.encryption = ["sslmode": "disable"]
        try PostgreSQLConfiguration(server: server).connected { _ in }
    }

    /// Cut anywhere: what was acknowledged is there, nothing twice.
    @Test func savesThatAreCutAnywhereAreThereOnce() throws {
        var numbers = SeededGenerator(seed: testSeed())
        let (space, proxy) = (try TestSpace(), try proxy())
        defer { proxy.close() }
        let store = try open(space, proxy, retryFor: .seconds(60))
        let count = ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"] == "full" ? 2_000 : 100
        let counter = try store.insert("Item", ["name": .string("counter"), "size": .integer(0)])[0]
        for number in 1...count {
            proxy.cut(.after(bytes: numbers.below(numbers.chance(2) ? 400 : 6_000), fromServer: numbers.chance(2)))
            _ = try store.save(
                DataStoreSaveChangesRequest(
                    inserted: [store.snapshot("Item", ["name": .string("n\(number)")])],
                    updated: [store.snapshot("Item", ["size": .integer(Int64(number))], of: counter)],
                    editingState: EditingState(), changedSlots: [SlotSet([1])], updatedVersions: [UInt64(number)]))
        }
        print("\(proxy.cuts) cuts in \(count) saves")
        #expect(proxy.cuts > count / 4)
        let names = try space.open(items).values("Item", "name")
        #expect(names == [.string("counter")] + (1...count).map { .string("n\($0)") })
        #expect(try space.open(items).storedTransactions(after: 0, last: nil)?.count == count + 1)
    }
}
#endif
