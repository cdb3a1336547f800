#if Tool
import Foundation
@testable import MortiseCommands
import MortiseCore
import Testing

/// `mortise copy` and `compare`, as processes on real stores.
@Suite struct CopyVerbTests {
    @Test func everyKindIntoEveryKindAndBackIsEqual() throws {
        let folder = try ToolFolder()
        let first = try folder.trips("a.json", 60)
        var last = first
        for name in ["b.log", "c.log", "d.json", "e.json"] {
            let next = folder.storeURL(name)
            // Batches so small that partners and labels lead out of them, also to what comes later.
            let run = try ToolRun("copy", last, next, "--batch", "7")
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.contains("copied and compared 185 records"))
            #expect(run.errors == "")
            last = next
        }
        // The same records in the same order with the same numbers are the same text, but for the store's own name.
        #expect(try recordText(folder.path("a.json")) == recordText(folder.path("e.json")))
        let back = try ToolRun("compare", first, last, "--query", "Trip where isPublic sort -price limit 9")
        #expect(back.status == 0, "\(back.errors)")
        #expect(back.output.contains("equal: content and order are the same"))
    }

    /// The lines of a JSON store without its identifier and its seal.
    private func recordText(_ path: String) throws -> [Substring] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").filter {
            !$0.contains("\"store\"") && !$0.contains("\"seal\"")
        }
    }

    @Test func anEmptyStoreIsCopiedToo() throws {
        let folder = try ToolFolder()
        let source = try folder.trips("a.json", 1)
        // One without a record is made by removing what is in it.
        let store = try TripStore.open(folder.path("a.json"))
        try store.erase()
        try store.close()
        for name in ["b.json", "b.log"] {
            let run = try ToolRun("copy", source, folder.storeURL(name))
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.output.contains("0 records"))
            #expect(try ToolRun("info", folder.storeURL(name)).status == 0)
        }
    }

    @Test func replacingRemovesWhatWasThere() throws {
        let folder = try ToolFolder()
        let (source, target) = (try folder.trips("a.json", 12), try folder.trips("b.log", 30))
        #expect(try ToolRun("copy", source, target, "--replace").status == 0)
        #expect(try ToolRun("compare", source, target).status == 0)
    }

    @Test func anotherSchemaIsRefused() throws {
        let folder = try ToolFolder()
        let source = try folder.trips("a.json", 3)
        var text = try String(contentsOfFile: folder.path("a.json"), encoding: .utf8)
        text = text.replacingOccurrences(of: "\"company\"", with: "\"firm\"")
        try Data(text.utf8).write(to: folder.url.appending(path: "b.json"))
        #expect(try ToolRun("reseal", folder.storeURL("b.json")).status == 0)
        let before = try folder.contents()
        for arguments in [
            ["copy", source, folder.storeURL("b.json"), "--replace"], ["compare", source, folder.storeURL("b.json")],
        ] {
            let run = try ToolRun(arguments)
            #expect(run.status == ToolExitStatus.conflict)
            #expect(run.errors.contains("BusTrip differs in") && run.errors.contains("firm"), "\(run.errors)")
        }
        #expect(try folder.contents() == before)
    }

    @Test func aCopyIsReportedAsJSON() throws {
        let folder = try ToolFolder()
        let (source, target) = (try folder.trips("a.json", 6), folder.storeURL("b.log"))
        for (arguments, isCompared) in [([], true), (["--replace", "--no-check"], false)] {
            let run = try ToolRun(["copy", source, target, "--format", "json"] + arguments)
            #expect(run.status == 0 && run.errors == "", "\(run.errors)")
            let found = try #require(JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
            #expect(found["result"] as? String == "copied" && found["records"] as? Int == 23)
            #expect(found["source"] as? String == source && found["target"] as? String == target)
            #expect(found["isCompared"] as? Bool == isCompared)
        }
    }

    // MARK: Interruption

    @Test(arguments: ["b.json", "b.log"], [SIGKILL, SIGINT])
    func anInterruptedCopyGoesOn(_ name: String, _ signal: Int32) throws {
        let folder = try ToolFolder()
        let source = try folder.trips("a.log", 600)
        let target = folder.storeURL(name)
        // Killed as soon as something is told: in the middle of it, and some batches are there.
        let first = try ToolRun(["copy", source, target, "--batch", "20", "--progress", "always"]) {
            process, errors, _ in
            if errors.contains("copied") { kill(process.processIdentifier, signal) }
        }
        #expect(first.status == (signal == SIGKILL ? -SIGKILL : ToolExitStatus.interrupted))
        if signal == SIGINT {
            #expect(first.errorLines.last?.contains("--resume to continue") == true, "\(first.errors)")
        }
        let held = try ToolRun("fetch", target, "Trip", "--count")
        if name == "b.log" || signal == SIGINT {
            let count = try #require(Int(held.output.trimmingCharacters(in: .newlines)))
            #expect(count > 0 && count < 600)
            #expect(try ToolRun("copy", source, target).status == ToolExitStatus.alreadyExists)
        }
        let second = try ToolRun("copy", source, target, "--batch", "500", "--resume")
        #expect(second.status == 0, "\(second.errors)")
        #expect(second.output.contains("are equal in content and order"))
        // Resuming what is complete does nothing.
        #expect(try ToolRun("copy", source, target, "--resume").status == 0)
    }

    @Test func onlyTheBeginningOfTheSourceIsGoneOnWith() throws {
        let folder = try ToolFolder()
        let source = try folder.trips("a.json", 20)
        let target = try folder.trips("b.log", 10)
        let writer = try TripStore.open(folder.path("b.log"))
        try TripWriter(writer).rename("Trip 4", to: "Changed")
        try writer.close()
        let before = try folder.contents()
        let run = try ToolRun("copy", source, target, "--resume")
        #expect(run.status == ToolExitStatus.conflict, "\(run.errors)")
        #expect(run.errors.contains("does not hold the beginning") && run.errors.contains(".name"), "\(run.errors)")
        #expect(try folder.contents() == before)
        let longer = try folder.trips("c.log", 30)
        #expect(try ToolRun("copy", source, longer, "--resume").status == ToolExitStatus.conflict)
    }

    // MARK: Comparison

    @Test func differencesAreNamedByPlaceAndNotByValue() throws {
        let folder = try ToolFolder()
        let source = try folder.trips("a.json", 20)
        var text = try String(contentsOfFile: folder.path("a.json"), encoding: .utf8)
        text = text.replacingOccurrences(of: "\"Trip 7\"", with: "\"Trip VII\"")
        try Data(text.utf8).write(to: folder.url.appending(path: "b.json"))
        let other = folder.storeURL("b.json") + "?integrity=acceptEdits"
        let run = try ToolRun("compare", source, other, "--query", "Trip sort name", "--query", "Stop")
        #expect(run.status == ToolExitStatus.different)
        #expect(run.errorLines.count == 1)
        #expect(run.output.contains(".name differs"))
        #expect(!run.output.contains("VII"))
        #expect(run.output.contains("different answers: Trip sort name"))
        #expect(try ToolRun("compare", source, other, "--values").output.contains("VII"))
        let json = try ToolRun("compare", source, other, "--query", "Stop", "--format", "json")
        let found = try #require(JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect(found["isEqual"] as? Bool == false)
        #expect((found["queries"] as? [[String: Any]])?.first?["isEqual"] as? Bool == true)
    }

    @Test func missingAndSurplusRecordsAreDifferences() throws {
        let folder = try ToolFolder()
        let (a, b) = (try folder.trips("a.json", 20), try folder.trips("b.json", 21))
        #expect(try ToolRun("compare", a, b).status == ToolExitStatus.different)
        #expect(try ToolRun("compare", b, a).status == ToolExitStatus.different)
    }
}
#endif
