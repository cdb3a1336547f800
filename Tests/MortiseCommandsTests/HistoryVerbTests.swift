#if Tool
import Foundation
@testable import MortiseCommands
import MortiseCore
import Testing

/// `mortise history` of a log with five transactions: people and labels, trips, labels on trips, and two renamings.
@Suite struct HistoryVerbTests {
    private func log(_ folder: ToolFolder) throws -> String {
        let url = try folder.trips("trips.log", 4)
        let store = try TripStore.open(folder.path("trips.log"))
        try TripWriter(store).rename("Trip 2", to: "Changed")
        try TripWriter(store).rename("Changed", to: "Changed again")
        try store.close()
        return url
    }

    private func lines(_ arguments: String...) throws -> [String] {
        let run = try ToolRun(arguments)
        #expect(run.status == 0, "\(arguments): \(run.errors)")
        return run.output.split(separator: "\n").map(String.init)
    }

    @Test func everyTransactionIsALineWithItsNumberAndAuthor() throws {
        let folder = try ToolFolder()
        let found = try lines("history", try log(folder))
        #expect(found.count == 5, "\(found)")
        #expect(found.enumerated().allSatisfy { $1.hasPrefix("\($0 + 1)  ") && $1.contains("by tester") }, "\(found)")
        #expect(found.last?.contains("1 updated") == true)
    }

    @Test func theLastOnesAreShownWhereAsked() throws {
        let folder = try ToolFolder()
        let store = try log(folder)
        #expect(try lines("history", store, "--last", "2").map { $0.prefix(1) } == ["4", "5"])
        #expect(try lines("history", store, "--last", "99").count == 5)
    }

    /// Twice the number was calculated, which is more than an integer holds.
    @Test func theLargestNumberOfTransactionsIsAllOfThem() throws {
        let folder = try ToolFolder()
        let store = try log(folder)
        #expect(try lines("history", store, "--last", "\(Int.max)").count == 5)
        #expect(try lines("info", store, "--transactions", "\(Int.max)").contains { $0.hasSuffix("the last 5:") })
    }

    @Test func aRangeBeginsAfterANumberAndEndsWithOne() throws {
        let folder = try ToolFolder()
        let store = try log(folder)
        #expect(try lines("history", store, "--from", "2", "--to", "4").map { $0.prefix(1) } == ["3", "4"])
        #expect(try lines("history", store, "--from", "5") == ["no transactions"])
        #expect(
            try lines("history", store, "--from", "2001-01-01", "--to", "2002-01-01T10:00:00Z") == ["no transactions"])
        #expect(try lines("history", store, "--from", "2001-01-01").count == 5)
    }

    @Test func changesNameRecordsAndPropertiesAndShowValuesWhereAsked() throws {
        let folder = try ToolFolder()
        let store = try log(folder)
        let changes = try lines("history", store, "--from", "3", "--changes")
        #expect(changes.count == 4, "\(changes)")
        #expect(changes[1].hasPrefix("  update Trip/") && changes[1].hasSuffix("  name"), "\(changes)")
        let values = try lines("history", store, "--from", "3", "--values")
        #expect(values[1].hasSuffix("name=Changed") && values[3].hasSuffix("name=Changed again"), "\(values)")
    }

    @Test func severalTransactionsAreOneChangeOfARecord() throws {
        let folder = try ToolFolder()
        let store = try log(folder)
        let changed = try lines("history", store, "--from", "3", "--net", "--values")
        #expect(changed.count == 2 && changed[0] == "2 transactions, from 4 to 5:", "\(changed)")
        #expect(changed[1].hasSuffix("name=Changed again"), "\(changed)")
        // What was inserted and then renamed is inserted.
        let all = try lines("history", store, "--net")
        #expect(all.filter { $0.hasPrefix("  update") }.isEmpty, "\(all)")
        #expect(all.filter { $0.hasPrefix("  insert") }.count == 3 + 2 + 4 + 8)
    }

    @Test func aRecordHasItsOwnHistoryAndItsValuesNow() throws {
        let folder = try ToolFolder()
        let store = try log(folder)
        let change = try lines("history", store, "--from", "4", "--changes")[1]
        let record = String(change.split(separator: " ")[1])
        let found = try lines("history", store, "--record", record)
        // Inserted, renamed twice; a heading each, and what it is now.
        #expect(
            found.filter { $0.hasPrefix("  insert \(record)") && $0.contains("name=Trip 2") }.count == 1, "\(found)")
        #expect(found.filter { $0.hasPrefix("  update \(record)") }.count == 2, "\(found)")
        #expect(found.contains("now:") && found.contains("  name = Changed again"), "\(found)")
        #expect(try lines("history", store, "--record", "Trip/999").last == "now: Trip/999 does not exist")
    }

    @Test func anEntityHasItsSubentities() throws {
        let folder = try ToolFolder()
        let store = try log(folder)
        let found = try lines("history", store, "--entity", "Trip", "--changes", "--to", "2")
        #expect(found.filter { $0.hasPrefix("  insert Trip/") }.count == 3, "\(found)")
        #expect(found.filter { $0.hasPrefix("  insert BusTrip/") }.count == 1, "\(found)")
        #expect(!found.contains { $0.contains("Stop/") })
    }

    @Test func jsonIsOneObjectInEachLine() throws {
        let folder = try ToolFolder()
        let store = try log(folder)
        let transactions = try lines("history", store, "--format", "json")
        let changes = try lines("history", store, "--format", "json", "--from", "3", "--values")
        for line in transactions + changes { _ = try JSONSerialization.jsonObject(with: Data(line.utf8)) }
        #expect(transactions.count == 5 && changes.count == 2)
        #expect(changes.last?.contains(#""values":{"name":"Changed again"}"#) == true, "\(changes)")
    }

    @Test(arguments: [
        (["--from", "yesterday"], "takes the number of a transaction or a time"),
        (["--from", "3", "--to", "2"], "comes after"),
        (["--record", "Trip"], "such as Track/7"),
        (["--record", "Trap/1"], "did you mean \"Trip\""),
        (["--last", "0"], "at least 1"),
        (["--record", "Trip/1", "--entity", "Stop"], "not both"),
    ])
    func badOptionsAreOneLine(_ options: [String], _ message: String) throws {
        let folder = try ToolFolder()
        let run = try ToolRun(["history", try log(folder)] + options)
        #expect(run.status == 64 && run.errorLines.count == 1, "\(run.errors)")
        #expect(run.errors.contains(message), "\(run.errors)")
    }

    @Test func aStoreThatIsNotThereIsMissing() throws {
        let folder = try ToolFolder()
        let run = try ToolRun("history", folder.storeURL("none.log"))
        #expect(run.status == 66 && run.errorLines.count == 1, "\(run.errors)")
    }

    /// A record that came and went is no change, one that was changed before it went is gone, and one whose deletion was undone is
    /// changed.
    @Test func comingAndGoingCancelOut() {
        let records = (1...3).map { PersistentIdentifier.numbered($0, storeIdentifier: "s", entityName: "Trip") }
        let layout = TripStore.schema.recordLayouts()["Trip"] ?? .empty("Trip")
        func changes(
            inserted: [PersistentIdentifier] = [], updated: [PersistentIdentifier] = [],
            deleted: [PersistentIdentifier] = []
        ) -> ChangeSet {
            var changes = ChangeSet()
            changes.inserted = .init(records: inserted)
            changes.updated = updated.map { .init(record: $0, layout: layout, slots: SlotSet([0])) }
            changes.deleted = deleted.map { .init(record: $0, layout: layout) }
            return changes
        }
        var net = NetChanges()
        net.take(changes(inserted: [records[0]], updated: [records[1]], deleted: [records[2]]))
        net.take(changes(inserted: [records[2]], deleted: [records[0], records[1]]))
        let sum = net.changes
        #expect(sum.inserted.isEmpty)
        #expect(sum.deleted.map(\.record) == [records[1]])
        #expect(sum.updated.map(\.record) == [records[2]])
    }
}
#endif
