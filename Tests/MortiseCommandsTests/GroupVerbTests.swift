#if Tool
import Foundation
@testable import MortiseCommands
import Testing

/// `mortise fetch --group-by` and `--aggregate`, as processes on real stores.
@Suite struct GroupVerbTests {
    private func csv(_ store: String, _ entity: String, _ arguments: String...) throws -> [String] {
        let run = try ToolRun(["fetch", store, entity, "--format", "csv"] + arguments)
        #expect(run.status == 0 && run.errors == "", "\(run.errors)")
        return run.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    /// Stores with the same 40 trips, of each kind that this build has.
    private func stores(in folder: ToolFolder) throws -> [String] {
        var stores = [try folder.trips("trips.json", 40), try folder.trips("trips.log", 40)]
        #if SQLite
        let sqlite = "sqlite:" + folder.path("trips.sqlite")
        #expect(try ToolRun("copy", stores[0], sqlite).status == 0)
        stores.append(sqlite)
        #endif
        return stores
    }

    @Test func eachGroupHasItsFunctions() throws {
        let folder = try ToolFolder()
        for store in try stores(in: folder) {
            let found = try csv(
                store, "Trip", "--group-by", "destination", "--count", "--aggregate",
                "sum(price), min(seats), maximum(seats),avg(seats)")
            #expect(
                found == [
                    "destination,count,sum(price),minimum(seats),maximum(seats),average(seats)",
                    "Kraków,6,125.94,5,35,20.0", "Lisbon,6,119.94,4,34,19.0", "Oslo,7,153.93,3,39,21.0",
                    "Paris,7,132.93,0,36,18.0", "Rome,7,139.93,1,37,19.0", "Zürich,7,146.93,2,38,20.0",
                ], "\(store)")
            // A database leaves this to the tool.
            let left = try csv(
                store, "Trip", "--where", "name matches 'Trip [0-9]$'", "--group-by", "isPublic", "--count")
            #expect(left == ["isPublic,count", "false,5", "true,5"], "\(store)")
        }
    }

    @Test func keysLeadThroughRelationshipsAndMayBePeriods() throws {
        let folder = try ToolFolder()
        for store in try stores(in: folder) {
            #expect(
                try csv(store, "Trip", "--group-by", "guide.name,isPublic", "--count") == [
                    "guide.name,isPublic,count", ",true,10", "Ada,false,7", "Ada,true,3", "Björn,false,7",
                    "Björn,true,3", "Chloé,false,6", "Chloé,true,4",
                ], "\(store)")
            #expect(
                try csv(store, "Trip", "--group-by", "day(startDate)", "--count", "--aggregate", "max(startDate)") == [
                    "day(startDate),count,maximum(startDate)", "2026-05-09T00:00:00Z,18,2026-05-09T23:13:24.25Z",
                    "2026-05-10T00:00:00Z,22,2026-05-10T21:13:29.75Z",
                ], "\(store)")
            let guides = try csv(store, "Trip", "--group-by", "guide", "--count")
            #expect(guides.count == 5 && guides[1] == ",10", "\(store): \(guides)")
            // The values that there are, without any function.
            #expect(try csv(store, "Stop", "--group-by", "nights").count == 10)
        }
    }

    @Test func groupsAreSelectedSortedAndCounted() throws {
        let folder = try ToolFolder()
        for store in try stores(in: folder) {
            #expect(
                try csv(
                    store, "Trip", "--group-by", "destination", "--aggregate", "sum(price)", "--having",
                    "count > 6 and sum(price) >= 139.93 and destination != 'Oslo'", "--sort", "-maximum(seats)",
                    "--limit", "1", "--offset", "1") == ["destination,sum(price)", "Rome,139.93"], "\(store)")
            #expect(
                try csv(store, "Trip", "--group-by", "guide", "--count", "--having", "guide is nil")
                    == ["guide,count", ",10"], "\(store)")
            #expect(
                try csv(
                    store, "Trip", "--group-by", "destination", "--having",
                    "destination matches '^[KL]' or (max(price) - min(price)) * 2 > 70", "--sort", "-destination")
                    == ["destination", "Zürich", "Rome", "Paris", "Oslo", "Lisbon", "Kraków"], "\(store)")
        }
    }

    @Test func withoutKeysAllRecordsAreOneGroup() throws {
        let folder = try ToolFolder()
        for store in try stores(in: folder) {
            #expect(
                try csv(store, "Trip", "--aggregate", "count,sum(seats),minimum(name)") == [
                    "count,sum(seats),minimum(name)", "40,780,Trip 0",
                ], "\(store)")
            #expect(
                try csv(store, "Trip", "--where", "seats < 0", "--aggregate", "sum(seats),maximum(rating)", "--count")
                    == ["count,sum(seats),maximum(rating)", "0,0,"], "\(store)")
        }
    }

    @Test func aSumOfSmallNumbersMayBeLarge() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 400)
        // 300 trips have 0 to 299 seats, and 100 have 0 to 99 again: more than an Int16 holds.
        #expect(try csv(store, "Trip", "--aggregate", "sum(seats)") == ["sum(seats)", "49800"])
    }

    @Test func groupsComeInEveryFormat() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 12)
        func output(_ format: String) throws -> String {
            try ToolRun(
                "fetch", store, "Trip", "--group-by", "isPublic", "--count", "--aggregate", "sum(price)", "--format",
                format
            ).output
        }
        #expect(
            try output("table") == """
                isPublic  count  sum(price)
                false         6       41.94
                true          6       35.94
                2 groups

                """)
        #expect(
            try output("json") == """
                [
                {"isPublic":false,"count":6,"sum(price)":"41.94"},
                {"isPublic":true,"count":6,"sum(price)":"35.94"}
                ]

                """)
        #expect(try output("lines").split(separator: "\n").count == 2)
        #expect(try output("record").hasPrefix("isPublic    false\ncount       6\nsum(price)  41.94\n\n"))
    }

    @Test(arguments: [
        (["--group-by", "tags"], "is a coded value; group by"),
        (["--group-by", "stops"], "is a set of Stop records; group by"),
        (["--group-by", "destinaton"], "did you mean \"destination\""),
        (["--group-by", "name,name"], "have the key name already"),
        (["--group-by", "day(name)"], "takes a date"), (["--group-by", ""], "expected the name of a property"),
        (["--aggregate", "sum(name)"], "takes numbers"), (["--aggregate", "price"], "expected count, or sum"),
        (["--aggregate", "sum(guide)"], "takes an attribute"), (["--aggregate", "minimum(isPublic)"], "has no order"),
        (["--aggregate", "sum(price"], "expected \")\""), (["--having", "count > 3"], "--group-by or --aggregate"),
        (["--group-by", "name", "--having", "price > 3"], "price is no key of the groups, which are by name"),
        (["--group-by", "name", "--having", "any stops (nights > 3)"], "has no property \"any\""),
        (["--group-by", "guide", "--having", "guide is Guide"], "expected a record"),
        (["--group-by", "name", "--having", "sum(price) > 'x'"], "cannot compare sum(price)"),
        (["--group-by", "name", "--sort", "price"], "price is no key of the groups"),
        (["--group-by", "name", "--select", "name"], "not both"),
    ]) func whatGroupsCannotHaveIsExplained(_ arguments: [String], _ words: String) throws {
        let folder = try ToolFolder()
        let run = try ToolRun(["fetch", try folder.trips("trips.json", 2), "Trip"] + arguments)
        #expect(run.status == ToolExitStatus.usage && run.output == "", "\(run)")
        #expect(run.errorLines.count == 1 && run.errors.contains(words), "\(run.errors)")
    }
}
#endif
