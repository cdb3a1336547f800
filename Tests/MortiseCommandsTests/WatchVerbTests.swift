#if Tool
import Foundation
@testable import MortiseCommands
import MortiseCore
import Testing

/// `mortise watch`, while somebody saves.
@Suite struct WatchVerbTests {
    @Test(arguments: ["trips.json", "trips.log"]) func printsWhatOthersSave(_ name: String) throws {
        let folder = try ToolFolder()
        let store = try folder.trips(name, 4)
        let writer = try TripStore.open(folder.path(name))
        var saves = 0
        let run = try ToolRun(["watch", store, "--changes", "2", "--seconds", "60"]) {
            _, errors, output in
            // The second when the first has been seen, or both may be one change.
            guard errors.contains("watching"), saves < (output.contains("insert ") ? 2 : 1) else { return }
            saves += 1
            var trips = TripWriter(writer)
            if saves == 1 {
                try trips.insertGuides()
            } else {
                try trips.rename("Trip 2", to: "Changed")
            }
        }
        #expect(run.status == 0, "\(run.errors)")
        let lines = run.output.split(separator: "\n").map(String.init)
        #expect(lines.filter { $0.hasPrefix("  insert ") }.count == 5, "\(run.output)")
        #expect(lines.filter { $0.hasPrefix("  update Trip/") && $0.hasSuffix("name") }.count == 1, "\(run.output)")
        #expect(!run.output.contains("Changed"))
        if name == "trips.log" { #expect(run.output.contains("by tester")) }
    }

    @Test func showsValuesWhereAsked() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 4)
        let writer = try TripStore.open(folder.path("trips.json"))
        var isSaved = false
        let run = try ToolRun(
            ["watch", store, "--changes", "1", "--seconds", "60", "--values", "--format", "json"]
        ) { _, errors, _ in
            guard errors.contains("watching"), !isSaved else { return }
            isSaved = true
            try TripWriter(writer).rename("Trip 2", to: "Changed")
        }
        let found = try #require(
            JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any], "\(run.output)")
        #expect(found["change"] as? String == "update")
        #expect((found["values"] as? [String: Any])?["name"] as? String == "Changed")
        #expect(found["properties"] as? [String] == ["name"])
    }

    @Test func endsWhenItIsTold() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 2)
        let run = try ToolRun(["watch", store]) { process, errors, _ in
            if errors.contains("watching") { kill(process.processIdentifier, SIGINT) }
        }
        #expect(run.status == 0)
        #expect(run.output == "")
    }
}
#endif
