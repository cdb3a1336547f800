#if Tool
import Foundation
import MortiseCommands
import MortiseCore
import Testing

/// `restore`, as a process on real stores.
@Suite(.timeLimit(.minutes(10))) struct RestoreVerbTests {
    /// A store of which there is a backup, and which has gone on since.
    private struct Place {
        let folder: ToolFolder
        let name: String
        let store: String
        var backup: String { folder.path("backup-" + name) }

        init(_ name: String) throws {
            folder = try ToolFolder()
            self.name = name
            store = try folder.trips(name, 20)
            #expect(try ToolRun("backup", store, backup).status == 0)
            var trips = TripWriter(try TripStore.open(folder.path(name)))
            try trips.insertGuides()
            try trips.insert(1_000..<1_003)
        }

        /// How many trips a store has.
        func trips(_ store: String) throws -> String { try ToolRun("fetch", store, "Trip", "--count").output }
    }

    private static let names = ["trips.json", "trips.log"]

    @Test(arguments: names) func aBackupTakesTheStoresPlaceWhereThatIsSaid(_ name: String) throws {
        let place = try Place(name)
        #expect(try place.trips(place.store) == "23\n")
        let before = try place.folder.contents()
        let refused = try ToolRun("restore", place.store, place.backup)
        #expect(
            refused.status == ToolExitStatus.alreadyExists && refused.errors.contains("--replace"), "\(refused.errors)")
        #expect(try place.folder.contents() == before)

        let run = try ToolRun("restore", place.store, place.backup, "--replace")
        #expect(run.status == 0 && run.output.hasPrefix("restored"), "\(run.output)\(run.errors)")
        #expect(try place.trips(place.store) == "20\n")
        #expect(try ToolRun("compare", place.store, place.folder.storeURL("backup-" + name)).status == 0)
        #expect(try ToolRun("verify", place.store).status == 0)
        #expect(try place.folder.contents().keys.allSatisfy { !$0.contains("mortise-tmp") })
    }

    @Test(arguments: names) func aBackupIsPutWhereNoStoreIs(_ name: String) throws {
        let place = try Place(name)
        let scheme = place.store.prefix { $0 != ":" }
        let other = "\(scheme):\(place.folder.path("elsewhere"))"
        let run = try ToolRun("restore", other, "\(scheme):\(place.backup)", "--format", "json")
        #expect(run.status == 0 && run.output.contains("\"result\":\"restored\""), "\(run.output)\(run.errors)")
        #expect(try place.trips(other) == "20\n")
    }

    @Test(arguments: names) func whatCannotBeRestoredLeavesTheStoreAsItIs(_ name: String) throws {
        let place = try Place(name)
        let folder = place.folder
        let scheme = place.store.prefix { $0 != ":" }
        _ = try folder.trips("another-" + name, 3)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: place.backup))
        bytes[((bytes.lastIndex { $0 != 0 } ?? 0) + 1) / 2] ^= 0x20
        try bytes.write(to: folder.url.appending(path: "damaged"))
        let before = try folder.contents()
        for (backup, status, words) in [
            (folder.path("nothing"), ToolExitStatus.missing, "nothing"),
            (folder.path("damaged"), ToolExitStatus.damaged, "damaged"),
            (folder.path("another-" + name), ToolExitStatus.conflict, "another one"),
            (folder.path(name), ToolExitStatus.usage, "the store itself"),
            ("memory:", ToolExitStatus.usage, "expected \(scheme):PATH"),
            ("\(scheme):\(place.backup)?x=1", ToolExitStatus.usage, "path alone"),
        ] {
            let run = try ToolRun("restore", place.store, backup, "--replace")
            #expect(run.status == status && run.errors.contains(words), "\(backup): \(run.status) \(run.errors)")
            #expect(run.errorLines.count == 1 && run.output.isEmpty, "\(run.output)\(run.errors)")
        }
        #expect(try folder.contents() == before)
        #expect(try ToolRun("restore", "memory:", place.backup).status == ToolExitStatus.unsupported)
    }

    @Test(arguments: names) func aStoreThatSomebodyHasOpenIsLocked(_ name: String) throws {
        let place = try Place(name)
        let writer = try TripStore.open(place.folder.path(name))
        let before = try place.folder.contents()
        let run = try ToolRun("restore", place.store, place.backup, "--replace")
        #expect(run.status == ToolExitStatus.locked, "\(run.status) \(run.errors)")
        #expect(try place.folder.contents() == before)
        withExtendedLifetime(writer) {}
    }
}
#endif
