#if Tool
import Foundation
import MortiseAppendLog
import MortiseCommands
import MortiseCore
import Testing

/// A log whose checkpoint has a chunk that cannot be read any more: what a verb makes of the rest is no answer.
@Suite struct DamagedCheckpointTests {
    private let folder: ToolFolder
    private let source: String
    private let sound: String

    init() throws {
        folder = try ToolFolder()
        source = try folder.trips("a.log", 2_000)
        sound = try folder.trips("sound.json", 2_000)
        let store = try AppendLogStore(
            AppendLogConfiguration(
                schema: Schema(stored: TripStore.schema), path: folder.path("a.log"), history: .keep(days: 0),
                compaction: .onCall), migrationPlan: nil)
        // A log that has all of its history would stand in for its checkpoint.
        try store.compact()
        try store.close()
        let url = folder.url.appending(path: "a.log.checkpoint")
        var bytes = try Data(contentsOf: url)
        let place = try #require(bytes.range(of: Data("note 1901\n".utf8)))
        bytes[place.lowerBound] ^= 0x20
        try bytes.write(to: url)
    }

    private func expectDamage(_ arguments: String..., at location: SourceLocation = #_sourceLocation) throws {
        let run = try ToolRun(arguments)
        #expect(run.status == ToolExitStatus.damaged, "\(run.output)\(run.errors)", sourceLocation: location)
        #expect(
            (run.output + run.errors).contains("a.log.checkpoint"), "\(run.output)\(run.errors)",
            sourceLocation: location)
    }

    @Test func infoTellsTheDamageAndWhatIsThere() throws {
        try expectDamage("info", source, "--check")
        let text = try ToolRun("info", source, "--check").output
        #expect(text.contains("health        damaged: 1 problem"), "\(text)")
        #expect(text.contains("Guide  3 records"), "\(text)")
        let json = try ToolRun("info", source, "--check", "--format", "json")
        #expect(json.status == ToolExitStatus.damaged)
        let found = try #require(JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        let health = try #require(found["health"] as? [String: Any])
        #expect(health["state"] as? String == "damaged")
        #expect((health["problems"] as? [String])?.first?.contains("a.log.checkpoint") == true, "\(health)")
    }

    @Test(arguments: ["b.json", "b.log"]) func aCopyOfAPartIsNone(_ target: String) throws {
        try expectDamage("copy", source, folder.storeURL(target))
        try expectDamage("copy", source, folder.storeURL(target), "--replace", "--no-check")
        try expectDamage("copy", source, folder.storeURL(target), "--resume")
    }

    @Test func comparingAPartSaysNothing() throws {
        try expectDamage("compare", source, sound)
        try expectDamage("compare", sound, source)
        try expectDamage("compare", source, source)
    }

    @Test func whatIsLeftOfAQueryIsNoAnswer() throws {
        try expectDamage("fetch", source, "Stop", "--where", "trip.note == 'none'", "--count")
        try expectDamage("fetch", source, "Stop", "--select", "place,trip.name", "--format", "csv")
        try expectDamage("fetch", source, "Trip", "--count", "--where", "seats > 3")
        #expect(try ToolRun("fetch", sound, "Trip", "--count", "--where", "seats > 3").status == 0)
    }
}
#endif
