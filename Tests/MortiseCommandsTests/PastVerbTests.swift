#if Tool
import Foundation
@testable import MortiseCommands
import Testing

/// `--as-of`: a store as it was, as processes on real stores.
@Suite struct PastVerbTests {
    private static let entities = ["Trip", "Stop", "Guide", "Label"]

    private func succeed(_ arguments: String...) throws -> String {
        let run = try ToolRun(arguments)
        #expect(run.status == 0, "\(run.errors)")
        return run.output
    }

    private func all(_ store: String, _ arguments: [String] = []) throws -> [String] {
        try Self.entities.map { entity in
            let run = try ToolRun(["fetch", store, entity, "--format", "lines"] + arguments)
            #expect(run.status == 0 && run.errors == "", "\(run.errors)")
            return run.output
        }
    }

    private func lastTransaction(_ store: String) throws -> String {
        let line = try succeed("history", store, "--last", "1", "--format", "json")
        let found = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        return "\(try #require(found["number"] as? Int))"
    }

    @Test(arguments: ["trips.json", "trips.log"]) func recordsAreThoseOfThen(_ name: String) throws {
        let folder = try ToolFolder()
        let store = try folder.trips(name, 12)
        let before = try all(store)
        let number = try lastTransaction(store)
        _ = try succeed("set", store, "Trip", "--where", "name == 'Trip 2'", "name=Changed", "price=500", "--yes")
        let between = try all(store)
        let second = try lastTransaction(store)
        _ = try succeed("delete", store, "Stop", "--where", "trip.name in ['Trip 0', 'Trip 5']", "--yes")
        _ = try succeed("delete", store, "Guide", "--where", "name == 'Björn'", "--yes")
        _ = try succeed("set", store, "Guide", "--all", "name=Nobody", "--yes")
        #expect(try all(store) != between && between != before && number != second)

        #expect(try all(store, ["--as-of", number]) == before)
        #expect(try all(store, ["--as-of", second]) == between)
        #expect(try all(store, ["--as-of", lastTransaction(store)]) == all(store))
        // A time at which everything had been saved.
        #expect(try all(store, ["--as-of", "2999-01-01"]) == all(store))

        // Conditions, orders, relationships, counts and groups see the same.
        let then = ["fetch", store, "Trip", "--as-of", number]
        #expect(try ToolRun(then + ["--where", "name == 'Changed' or price == 500", "--count"]).output == "0\n")
        #expect(try ToolRun(then + ["--where", "guide.name == 'Nobody'", "--count"]).output == "0\n")
        #expect(try ToolRun(then + ["--count"]).output == "12\n")
        #expect(
            try ToolRun(then + ["--sort", "-price", "--limit", "1", "--select", "name", "--format", "csv"]).output
                == "name\nTrip 11\n")
        #expect(
            try ToolRun(then + ["--group-by", "guide.name", "--count", "--format", "csv"]).output
                == "guide.name,count\n,3\nAda,3\nBjörn,3\nChloé,3\n")
        let plan = try succeed("explain", store, "Trip", "--where", "price > 3", "--as-of", number)
        #expect(plan.contains("all records as they were"), "\(plan)")
    }

    /// What was exported then, and what is exported now as of then, are the same bytes, with records that are gone since.
    @Test(arguments: ["trips.json", "trips.log"]) func anExportIsThatOfThen(_ name: String) throws {
        let folder = try ToolFolder()
        let store = try folder.trips(name, 12)
        let before = try succeed("export", store)
        let csv = try succeed("export", store, "--entity", "Stop", "--format", "csv")
        let number = try lastTransaction(store)
        _ = try succeed("delete", store, "Stop", "--where", "trip.name in ['Trip 0', 'Trip 5']", "--yes")
        _ = try succeed("set", store, "Guide", "--all", "name=Nobody", "--yes")
        #expect(try succeed("export", store) != before)
        #expect(try succeed("export", store, "--as-of", number) == before)
        #expect(try succeed("export", store, "--entity", "Stop", "--format", "csv", "--as-of", number) == csv)
        let some = ["export", store, "--entity", "Guide", "--where", "name == 'Ada'", "--as-of", number]
        #expect(try ToolRun(some).output.contains("\"name\":\"Ada\""))
        let file = folder.path("then.jsonl")
        let late = try ToolRun("export", store, file, "--as-of", "999")
        #expect(late.status == ToolExitStatus.usage && !FileManager.default.fileExists(atPath: file), "\(late)")
    }

    @Test(arguments: ["trips.json", "trips.log"]) func theHistoryOfARecordHasItsValuesThen(_ name: String) throws {
        let folder = try ToolFolder()
        let store = try folder.trips(name, 3)
        let found = try succeed(
            "fetch", store, "Guide", "--where", "name == 'Ada'", "--select", "$id", "--format", "csv")
        let key = try #require(found.split(separator: "\n").last)
        let number = try lastTransaction(store)
        _ = try succeed("set", store, "Guide", "--where", "name == 'Ada'", "name=Grace", "--yes")
        let then = try succeed("history", store, "--record", "Guide/\(key)", "--as-of", number)
        #expect(then.contains("as of \(number):") && then.contains("  name = Ada") && !then.contains("now:"), "\(then)")
        #expect(try succeed("history", store, "--record", "Guide/\(key)").contains("  name = Grace"))
        let json = try succeed("history", store, "--record", "Guide/\(key)", "--as-of", number, "--format", "json")
        #expect(json.contains("{\"then\":{") && json.contains("Ada"))
        let missing = try ToolRun("history", store, "--as-of", number)
        #expect(missing.status == ToolExitStatus.usage && missing.errors.contains("--record"), "\(missing)")
    }

    @Test func aPointThatCannotBeReadIsExplained() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 3)
        for (point, words) in [
            ("999", "has no transaction 999 yet; the last one is"), ("soon", "number of a transaction"),
        ] {
            let run = try ToolRun("fetch", store, "Trip", "--as-of", point)
            #expect(run.status == ToolExitStatus.usage && run.errors.contains(words), "\(run)")
        }
        let compacted = try ToolRun("compact", store + "?keepDays=0")
        #expect(compacted.status == 0, "\(compacted.errors)")
        let gone = try ToolRun("fetch", store, "Trip", "--as-of", "1")
        #expect(gone.status == ToolExitStatus.usage && gone.errors.contains("no longer has all"), "\(gone)")
        #if SQLite
        let sqlite = "sqlite:" + folder.path("trips.sqlite")
        #expect(try ToolRun("copy", store, sqlite).status == 0)
        let run = try ToolRun("fetch", sqlite, "Trip", "--as-of", "1")
        #expect(run.status == ToolExitStatus.unsupported && run.errors.contains("such as json: and log:"), "\(run)")
        #endif
    }
}
#endif
