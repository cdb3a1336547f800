#if Tool
import Foundation
@testable import MortiseCommands
import MortiseCore
import Testing

/// `mortise fetch` and `explain`, as processes on real stores.
@Suite struct FetchVerbTests {
    private func lines(_ arguments: String...) throws -> [String] {
        let run = try ToolRun(arguments)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors == "")
        return run.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    @Test(arguments: ["trips.json", "trips.log"]) func printsWhatMatchesInOrder(_ name: String) throws {
        let folder = try ToolFolder()
        let store = try folder.trips(name, 40)
        let found = try lines(
            "fetch", store, "Trip", "--where", "destination == \"Paris\" && price < 30", "--sort", "-price", "--select",
            "name,price,stops.count,guide.name", "--format", "csv")
        #expect(
            found == [
                "name,price,stops.count,guide.name", "Trip 24,24.99,2,", "Trip 18,18.99,2,Ada", "Trip 12,12.99,2,",
                "Trip 6,6.99,2,Ada", "Trip 0,0.99,2,",
            ])
        #expect(try lines("fetch", store, "Trip", "--where", "any labels.text == 'sea'", "--count") == ["7"])
        #expect(
            try lines("fetch", store, "BusTrip", "--limit", "2", "--select", "company", "--format", "csv").count == 3)
        let second = try lines(
            "fetch", store, "Stop", "--offset", "2", "--limit", "1", "--format", "csv", "--select", "place")
        #expect(second == ["place", "Stop 0 of 1"])
    }

    @Test func printsJSONThatReadsBack() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 10)
        let text = try lines("fetch", store, "Trip", "--format", "json").joined(separator: "\n")
        let records = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
        #expect(records.count == 10)
        let first = try #require(records.first { $0["name"] as? String == "Trip 0" })
        #expect(first["cover"] as? String == "0xcafe00")
        #expect(first["price"] as? String == "0.99")
        #expect(first["startDate"] as? String == "2026-05-09T06:13:20Z")
        #expect(first["note"] is NSNull)
        #expect((first["stops"] as? [Int])?.count == 2)
        #expect((first["tags"] as? [Any])?.first as? String == "t0")
        #expect(try lines("fetch", store, "Trip", "--where", "seats < 0", "--format", "json") == ["[]"])
    }

    @Test func csvQuotesWhatHasTo() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 10)
        let run = try ToolRun(
            "fetch", store, "Trip", "--where", "note != nil", "--select", "note", "--format", "csv", "--limit", "1")
        #expect(run.output == "note\n\"note 1\n\"\"quoted\"\", with comma\"\n")
        let empty = try ToolRun("fetch", store, "Trip", "--where", "note == '' ", "--select", "note", "--format", "csv")
        #expect(empty.output == "note\n\"\"\n")
    }

    @Test func tablesAreAlignedAndTellWhatIsInAText() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 10)
        let found = try lines("fetch", store, "Trip", "--select", "$id,name,note,price", "--limit", "3")
        #expect(found.count == 5)
        #expect(found[0].hasPrefix("$id  name    note"))
        #expect(found[2].contains("note 1\\u{a}\"quoted\""))
        #expect(Set(found[0...3].map(\.count)).count == 1, "\(found)")
        #expect(found[4] == "3 records")
    }

    @Test func linesAreOneObjectEach() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 10)
        let found = try lines("fetch", store, "Trip", "--format", "lines", "--select", "$id,note", "--limit", "2")
        #expect(found.count == 2 && found[1].hasSuffix(#""note":"note 1\n\"quoted\", with comma"}"#), "\(found)")
        for line in found { _ = try JSONSerialization.jsonObject(with: Data(line.utf8)) }
        #expect(try lines("fetch", store, "Trip", "--where", "seats < 0", "--format", "lines") == [])
    }

    @Test func aRecordIsALineForEachProperty() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 10)
        let words = Array(repeating: "word", count: 40).joined(separator: " ")
        let bell = "link\u{7}\u{1B}[31m"
        for (name, text) in [("Trip 2", words), ("Trip 3", bell)] {
            let run = try ToolRun("set", store, "Trip", "--where", "name == '\(name)'", "note=\(text)", "--yes")
            #expect(run.status == 0, "\(run.errors)")
        }
        let found = try lines(
            "fetch", store, "Trip", "--where", "name in ['Trip 0', 'Trip 2', 'Trip 3']", "--select", "name,note",
            "--format", "record")
        #expect(Array(found.prefix(4)) == ["name  Trip 0", "note  nil", "", "name  Trip 2"], "\(found)")
        let note = found[4..<(found[4...].firstIndex(of: "") ?? found.endIndex)]
        #expect(note.count == 3 && note.allSatisfy { $0.count <= 100 }, "\(found)")
        #expect(note.dropFirst().allSatisfy { $0.hasPrefix("      word") }, "\(found)")
        #expect(note.map { $0.dropFirst(6) }.joined(separator: " ") == words, "\(found)")
        #expect(Array(found.suffix(2)) == ["name  Trip 3", "note  link\\u{7}\\u{1b}[31m"], "\(found)")
    }

    @Test func textIsWrappedAtSpaces() {
        #expect("".wrapped(to: 5) == [""])
        #expect("one two".wrapped(to: 7) == ["one two"])
        #expect("one two three".wrapped(to: 7) == ["one two", "three"])
        #expect("abcdefghij kl".wrapped(to: 4) == ["abcd", "efgh", "ij", "kl"])
        #expect("日本語".wrapped(to: 4) == ["日本", "語"])
        #expect("日".wrapped(to: 1) == ["日"])
    }

    @Test func aDateThatWasPrintedFindsItsRecord() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 20)
        let date = try lines(
            "fetch", store, "Trip", "--where", "name == 'Trip 13'", "--select", "startDate", "--format", "csv")[1]
        #expect(
            try lines(
                "fetch", store, "Trip", "--where", "startDate == '\(date)'", "--select", "name", "--format", "csv") == [
                    "name", "Trip 13",
                ])
    }

    @Test func explainsWhoDidWhat() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 40)
        let byIndex = try lines("explain", store, "Trip", "--where", "destination == 'Paris'")
        #expect(byIndex[0].contains("index"))
        #expect(byIndex.contains("  pushed: destination == \"Paris\""))
        let scan = try lines("explain", store, "Trip", "--where", "seats > 3")
        #expect(scan.contains { $0.contains("40 rows scanned") && $0.contains("full scan") })
        #expect(scan.contains { $0.contains("#Index<Trip>([\\.seats])") })
        let json = try lines("explain", store, "Trip", "--where", "seats > 3", "--format", "json")[0]
        let found = try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        #expect(found["rowsScanned"] as? Int == 40)
    }

    @Test func infoTellsWhatIsInAStore() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 40)
        let text = try lines("info", store, "--check")
        #expect(text.contains("records       125"))
        #expect(text.contains("Stop  80 records"))
        #expect(text.contains("  place: string, nights: int64, trip: Trip"))
        // Guides and labels, then trips with their stops, then what is labeled.
        let transactions = text.filter { $0.contains("by tester") }
        #expect(transactions.count == 3, "\(text)")
        #expect(transactions.contains { $0.contains(" 5 inserted") }, "\(text)")
        #expect(transactions.contains { $0.contains(" 120 inserted") }, "\(text)")
        #expect(transactions.contains { $0.contains(" 2 updated") && !$0.contains("inserted") }, "\(text)")
        #expect(text.contains("health        sound: every byte was checked"), "\(text)")
        #expect(
            try lines("info", store).contains("health        opened without a fault; pass --check to read every byte"))
        let run = try ToolRun("info", store, "--check", "--format", "json")
        let found = try #require(JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
        #expect(found["records"] as? Int == 125)
        #expect((found["entities"] as? [[String: Any]])?.count == 5)
        #expect((found["transactions"] as? [Any])?.count == 3)
        let health = try #require(found["health"] as? [String: Any])
        #expect(health["state"] as? String == "sound" && health["isWhole"] as? Bool == true)
        #expect((health["problems"] as? [Any])?.isEmpty == true && (health["notes"] as? [Any])?.isEmpty == true)
    }

    @Test func infoTellsWhatACrashLeftBehind() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 5)
        let url = folder.url.appending(path: "trips.log")
        var bytes = try Data(contentsOf: url)
        bytes.removeSubrange(((bytes.lastIndex { $0 != 0 } ?? 0) - 20)...)
        try bytes.write(to: url)
        let text = try lines("info", store, "--check")
        #expect(text.contains("health        sound: every byte was checked"), "\(text)")
        #expect(text.contains { $0.hasPrefix("note") && $0.contains("unacknowledged bytes") }, "\(text)")
    }

    @Test func aCountComesInEveryFormat() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 4)
        #expect(try lines("fetch", store, "Trip", "--count") == ["4"])
        #expect(try lines("fetch", store, "Trip", "--count", "--format", "json") == ["{\"count\":4}"])
        #expect(try lines("fetch", store, "Trip", "--count", "--format", "csv") == ["count", "4"])
    }

    @Test func theVersionIsPrinted() throws {
        let run = try ToolRun("--version")
        #expect(run.status == 0 && run.errors == "")
        #expect(run.output.wholeMatch(of: /mortise \d+\.\d+\.\d+(-[a-z.0-9]+)?\n/) != nil, "\(run.output)")
    }

    @Test func aWriterIsNotDisturbed() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 20)
        let writer = try TripStore.open(folder.path("trips.log"))
        #expect(try lines("fetch", store, "Trip", "--count") == ["20"])
        #expect(writer.capabilities.contains(.closing))
        withExtendedLifetime(writer) {}
    }

    @Test func helpHasExamplesAndVerbs() throws {
        let run = try ToolRun("--help")
        #expect(run.status == 0)
        for verb in [
            "info", "fetch", "explain", "copy", "compare", "verify", "compact", "salvage", "reseal", "backup",
            "restore",
            "watch",
        ] {
            #expect(run.output.contains("  \(verb)"), "\(verb)")
            let help = try ToolRun(verb, "--help")
            #expect(help.status == 0)
            #expect(help.output.contains("EXAMPLES"), "\(verb)")
        }
        let completions = try ToolRun("--generate-completion-script", "bash")
        #expect(completions.status == 0)
        #expect(completions.output.contains("mortise"))
    }
}
#endif
