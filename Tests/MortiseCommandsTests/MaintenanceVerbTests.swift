import Foundation
@testable import MortiseCommands
import MortiseCore
import Testing

/// `verify`, `compact`, `salvage`, `reseal` and `backup`, as processes on real stores.
@Suite struct MaintenanceVerbTests {
    @Test(arguments: ["trips.json", "trips.log"]) func aSoundStoreIsSound(_ name: String) throws {
        let folder = try ToolFolder()
        let store = try folder.trips(name, 20)
        let before = try folder.contents()
        let run = try ToolRun("verify", store)
        #expect(run.status == 0)
        #expect(run.output.hasPrefix("sound: ") && run.output.contains("65 records"))
        #expect(run.errors == "")
        let json = try ToolRun("verify", store, "--format", "json")
        #expect(json.output.contains("\"result\":\"sound\""))
        #expect(try folder.contents() == before)
    }

    @Test(arguments: ["trips.json", "trips.log"]) func everyDamagedByteIsFound(_ name: String) throws {
        let folder = try ToolFolder()
        let store = try folder.trips(name, 6)
        let url = folder.url.appending(path: name)
        let sound = try Data(contentsOf: url)
        // Behind the log's last transaction lies room that was never written to.
        let end = (sound.lastIndex { $0 != 0 } ?? 0) + 1
        for offset in stride(from: 0, to: end, by: max(1, end / 25)) {
            var damaged = sound
            damaged[offset] ^= 0x01
            try damaged.write(to: url)
            let run = try ToolRun("verify", store)
            // The last transaction may as well be one that was never finished.
            let isTorn = run.status == 0 && run.output.contains("never acknowledged")
            #expect(run.status == ToolExitStatus.damaged || isTorn, "offset \(offset): \(run.output)\(run.errors)")
        }
    }

    @Test func resealingTakesEditsAndRefusesMistakes() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 6)
        let url = folder.url.appending(path: "trips.json")
        let text = try String(contentsOf: url, encoding: .utf8)
        try Data(text.replacingOccurrences(of: "\"Trip 3\"", with: "\"Edited\"").utf8).write(to: url)
        #expect(try ToolRun("info", store).status == ToolExitStatus.damaged)
        #expect(try ToolRun("reseal", store).status == 0)
        #expect(try ToolRun("fetch", store, "Trip", "--where", "name == 'Edited'", "--count").output == "1\n")

        let edited = text.replacingOccurrences(of: "\"isPublic\": true", with: "\"isPublic\": 1")
        try Data(edited.utf8).write(to: url)
        let run = try ToolRun("reseal", store)
        #expect(run.status == ToolExitStatus.damaged)
        #expect(
            run.errorLines.count == 1 && run.errors.contains("Trip.isPublic") && run.errors.contains("line"),
            "\(run.errors)")
        #expect(try Data(contentsOf: url) == Data(edited.utf8))
    }

    @Test func aBackupOpensAsTheStoreDoes() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 20)
        // A writer has it open meanwhile.
        let writer = try TripStore.open(folder.path("trips.json"))
        #expect(try ToolRun("backup", store, folder.path("copy.json")).status == 0)
        withExtendedLifetime(writer) {}
        #expect(try ToolRun("compare", store, folder.storeURL("copy.json")).status == 0)
        #expect(try folder.contents()["copy.json"] == folder.contents()["trips.json"])
    }

    @Test func compactingDropsHistoryAndNoRecord() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 20)
        let copy = folder.storeURL("before.json")
        #expect(try ToolRun("copy", store, copy).status == 0)
        let kept = try ToolRun("compact", store)
        #expect(
            kept.status == 0 && kept.output.contains("0 transactions dropped") && kept.output.contains("keepDays=N"))
        let run = try ToolRun("compact", store + "?keepDays=0")
        #expect(run.status == 0 && run.output.contains("3 transactions dropped"), "\(run.output)\(run.errors)")
        #expect(try ToolRun("compare", store, copy).status == 0)
        #expect(try ToolRun("verify", store).status == 0)
    }

    @Test func salvagingTellsWhatWasLost() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 40)
        let whole = try ToolRun("salvage", store, folder.path("whole.log"))
        #expect(whole.status == 0 && whole.output.contains("salvaged whole: 125 records"))
        #expect(try ToolRun("compare", store, folder.storeURL("whole.log")).status == 0)

        let url = folder.url.appending(path: "trips.log")
        var bytes = try Data(contentsOf: url)
        bytes[((bytes.lastIndex { $0 != 0 } ?? 0) + 1) / 2] ^= 0x40
        try bytes.write(to: url)
        let damaged = try ToolRun("salvage", store, folder.path("part.log"))
        #expect(damaged.status == ToolExitStatus.damaged)
        #expect(damaged.output.contains("salvaged in part") && damaged.errorLines.count == 1)
        #expect(try ToolRun("verify", folder.storeURL("part.log")).status == 0)
        #expect(try Data(contentsOf: url) == bytes)
    }
}
