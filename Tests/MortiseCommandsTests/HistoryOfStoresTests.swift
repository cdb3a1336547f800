#if Tool
import Foundation
@testable import MortiseCommands
import MortiseCore
import Testing

/// `mortise history` of every kind of store, and of histories that have lost their beginning.
@Suite struct HistoryOfStoresTests {
    #if SQLite
    static let names = ["trips.log", "trips.json", "trips.sqlite"]
    #else
    static let names = ["trips.log", "trips.json"]
    #endif

    /// A store in which a trip was renamed twice by the tool.
    private func store(_ name: String, _ folder: ToolFolder) throws -> String {
        var url = try folder.trips(name == "trips.sqlite" ? "source.log" : name, 4)
        if name == "trips.sqlite" {
            let copied = "sqlite:" + folder.path(name)
            #expect(try ToolRun("copy", url, copied).status == 0)
            url = copied
        }
        for (old, new) in [("Trip 2", "Changed"), ("Changed", "Changed again")] {
            let run = try ToolRun("set", url, "Trip", "--where", "name == '\(old)'", "name=\(new)", "--yes")
            #expect(run.status == 0, "\(run.errors)")
        }
        return url
    }

    private func lines(_ arguments: [String]) throws -> [String] {
        let run = try ToolRun(arguments)
        #expect(run.status == 0, "\(arguments): \(run.errors)")
        return run.output.split(separator: "\n").map(String.init)
    }

    @Test(arguments: names) func theLastTransactionsAreTold(_ name: String) throws {
        let folder = try ToolFolder()
        let store = try store(name, folder)
        let last = try lines(["history", store, "--last", "2", "--changes"])
        #expect(last.count == 4 && last[0].contains("1 updated  by mortise"), "\(last)")
        #expect([last[1], last[3]].allSatisfy { $0.hasPrefix("  update Trip/") && $0.hasSuffix("  name") }, "\(last)")
        let all = try lines(["history", store])
        #expect(all.count >= 4 && all.suffix(2) == [last[0], last[2]], "\(all)")
        let told = try lines(["info", store])
        #expect(told.filter { $0.contains("1 updated") && $0.contains("by mortise") }.count == 2, "\(told)")
        let one = try lines(["info", store, "--transactions", "1", "--format", "json"]).joined()
        let found = try #require(JSONSerialization.jsonObject(with: Data(one.utf8)) as? [String: Any])
        #expect((found["transactions"] as? [Any])?.count == 1)
    }

    @Test func aJSONStoreTellsOldAndNewValues() throws {
        let folder = try ToolFolder()
        let store = try store("trips.json", folder)
        let values = try lines(["history", store, "--last", "2", "--values"])
        #expect(values[1].hasSuffix("name=Trip 2 -> Changed"), "\(values)")
        #expect(values[3].hasSuffix("name=Changed -> Changed again"), "\(values)")
        let first = try #require(UInt64(values[0].prefix { $0 != " " }))
        let net = try lines(["history", store, "--from", "\(first - 1)", "--net", "--values"])
        #expect(net.count == 2 && net[1].hasSuffix("name=Trip 2 -> Changed again"), "\(net)")
        let json = try lines(["history", store, "--last", "1", "--values", "--format", "json"])
        #expect(json[0].contains(#""values":{"name":"Changed again"},"oldValues":{"name":"Changed"}"#), "\(json)")
    }

    @Test func whatACompactionHasDroppedIsSaid() throws {
        let folder = try ToolFolder()
        let store = try store("trips.log", folder)
        #expect(try ToolRun("history", store, "--from", "0", "--net").errors == "")
        #expect(try ToolRun("compact", store + "?keepDays=0").status == 0)
        let run = try ToolRun("set", store, "Trip", "--where", "name == 'Trip 0'", "name=New", "--yes")
        #expect(run.status == 0)
        let listed = try ToolRun("history", store, "--from", "2")
        #expect(listed.status == 0 && listed.output.split(separator: "\n").count == 1, "\(listed)")
        #expect(listed.errors == "transactions up to 5 are gone\n", "\(listed)")
        for from in ["2", "2001-01-01"] {
            let net = try ToolRun("history", store, "--from", from, "--to", "6", "--net")
            #expect(net.status == 78 && net.output == "" && net.errorLines.count == 1, "\(net)")
            #expect(net.errors.contains("transactions up to 5 are gone"), "\(net)")
        }
        let whole = try ToolRun("history", store, "--from", "5", "--net")
        #expect(whole.status == 0 && whole.errors == "" && whole.output.contains("update Trip/"), "\(whole)")
        #expect(try ToolRun("history", store).errors == "")
        #expect(try ToolRun("history", store, "--record", "Trip/999").errors == "transactions up to 5 are gone\n")
    }

    @Test func progressCountsTransactions() throws {
        let folder = try ToolFolder()
        let store = try store("trips.log", folder)
        let run = try ToolRun("history", store, "--progress", "always")
        #expect(run.status == 0 && run.errors.contains("transactions 5"), "\(run.errors)")
        #expect(try ToolRun("compare", store, store, "--progress", "always").errors.contains("compared 17 of 17"))
        let exported = try ToolRun("export", store, folder.path("all.jsonl"), "--progress", "always")
        #expect(exported.errors.contains("exported 17 of 17 (100 %)"), "\(exported.errors)")
    }
}
#endif
