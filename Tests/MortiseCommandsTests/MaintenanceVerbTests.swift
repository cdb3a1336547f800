#if Tool
import Foundation
import MortiseAppendLog
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

    @Test func whatTakesTimeSaysSo() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 20)
        let (copy, saved) = (folder.path("copy.log"), folder.path("saved.log"))
        for (verb, what) in [
            (["verify", store], "verifying"), (["backup", store, copy], "backing up"),
            (["restore", store, copy, "--replace"], "restoring"), (["salvage", store, saved], "salvaging"),
            (["compact", store], "compacting"),
        ] {
            let run = try ToolRun(verb + ["--progress", "always"])
            #expect(run.status == 0 && run.errors.hasPrefix(what + " ") && run.errors.contains("B\n"), "\(run)")
        }
        #expect(try ToolRun("verify", store).errors == "")
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
            let isTorn = run.status == 0 && run.output.contains("unacknowledged bytes")
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
        let taken = try ToolRun("info", store + "?integrity=acceptEdits", "--check")
        #expect(taken.status == 0 && taken.output.contains("the seal does not match"), "\(taken.output)\(taken.errors)")
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

    @Test(arguments: ["trips.json", "trips.log"]) func aBackupOpensAsTheStoreDoes(_ name: String) throws {
        let folder = try ToolFolder()
        let store = try folder.trips(name, 20)
        // A writer has it open meanwhile.
        let writer = try TripStore.open(folder.path(name))
        let copy = "copy-" + name
        let run = try ToolRun("backup", store, folder.path(copy))
        #expect(run.status == 0, "\(run.errors)")
        withExtendedLifetime(writer) {}
        #expect(try ToolRun("compare", store, folder.storeURL(copy)).status == 0)
        #expect(try ToolRun("verify", folder.storeURL(copy)).status == 0)
        if name == "trips.json" { #expect(try folder.contents()[copy] == folder.contents()[name]) }
        #expect(try folder.contents().keys.allSatisfy { !$0.contains("mortise-tmp") })
    }

    @Test func aBackupOfACompactedLogHasItsCheckpoint() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 20)
        #expect(try ToolRun("compact", store + "?keepDays=0").status == 0)
        #expect(try ToolRun("backup", store, folder.path("copy.log")).status == 0)
        #expect(try ToolRun("compare", store, folder.storeURL("copy.log")).status == 0)
    }

    /// The second argument was a path where all others are URLs, and a file called `log:copy.log` was made.
    @Test(arguments: ["backup", "salvage"]) func theNewStoreIsGivenByItsURLOrItsPath(verb: String) throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 20)
        for (number, scheme) in ["", "log:", "LOG:"].enumerated() {
            let run = try ToolRun(verb, store, scheme + folder.path("copy\(number).log"))
            #expect(run.status == 0, "\(run.errors)")
            #expect(FileManager.default.fileExists(atPath: folder.path("copy\(number).log")))
        }
        for (target, words) in [
            ("json:copy.json", "expected log:PATH"), ("memory:", "expected log:PATH"), ("log:", "expected log:PATH"),
            ("log:b.log?keepDays=3", "path alone"),
        ] {
            let run = try ToolRun([verb, store, target], in: folder)
            #expect(run.status == 64 && run.errors.contains(words), "\(target): \(run.status) \(run.errors)")
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(!left.contains { $0.contains(":") || $0.hasPrefix("b.log") || $0.hasPrefix("copy.json") }, "\(left)")
    }

    /// Somebody saves and compacts all the time: each backup is some state of the store, whole.
    @Test func aBackupWhileOthersWriteIsOneStateOfTheStore() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 20)
        let writer = try #require(try TripStore.open(folder.path("trips.log")) as? AppendLogStore)
        var trips = TripWriter(writer)
        try trips.insertGuides()
        var next = 1_000
        for round in 0..<5 {
            let run = try ToolRun(["backup", store, folder.path("copy\(round).log")]) { _, _, _ in
                try trips.insert(next..<(next + 3))
                next += 3
                if next % 2 == 0 { try writer.compact() }
            }
            #expect(run.status == 0, "\(run.errors)")
            let copy = folder.storeURL("copy\(round).log")
            #expect(try ToolRun("verify", copy).status == 0)
            // Each save brings three trips with two stops each.
            let counts = try ["Trip", "Stop"].map { entity in
                try #require(Int(try ToolRun("fetch", copy, entity, "--count").output.dropLast()))
            }
            #expect(counts[1] == 2 * counts[0] && (counts[0] - 20) % 3 == 0, "\(counts)")
        }
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
#endif
