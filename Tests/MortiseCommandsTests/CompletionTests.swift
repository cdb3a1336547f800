#if Tool
@testable import MortiseCommands
import Testing

/// What a shell proposes after the name of a store.
@Suite struct CompletionTests {
    private func proposed(_ arguments: String...) throws -> [String] {
        let run = try ToolRun(["---completion"] + arguments, environment: ["SAP_SHELL": "bash"])
        #expect(run.status == 0 && run.errors == "", "\(run.errors)")
        return run.output.split(separator: "\n").map(String.init)
    }

    @Test func entitiesAndPropertiesAreThoseOfTheStore() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 2)
        let entities = ["BusTrip", "Guide", "Label", "Stop", "Trip"]
        #expect(try proposed("fetch", "--", "positional@1", "3", "0", "mortise", "fetch", store, "") == entities)
        // Bash takes the URL for three words.
        let path = folder.path("trips.json")
        let split = ["fetch", "--", "positional@1", "5", "0", "mortise", "fetch", "json", ":", path, ""]
        let run = try ToolRun(["---completion"] + split, environment: ["SAP_SHELL": "bash"])
        #expect(run.output.split(separator: "\n").map(String.init) == entities, "\(run)")
        #expect(
            try proposed("fetch", "--", "--select", "5", "6", "mortise", "fetch", store, "Stop", "--select", "place,")
                == ["place,nights", "place,place", "place,trip"])
        #expect(
            try proposed("fetch", "--", "--sort", "5", "1", "mortise", "fetch", store, "Guide", "--sort", "-")
                == ["-name", "-trips"])
        #expect(
            try proposed("set", "--", "positional@2", "4", "0", "mortise", "set", store, "Guide", "")
                == ["name=", "trips="])
    }

    @Test func withoutAStoreNothingIsProposed() throws {
        let folder = try ToolFolder()
        let store = folder.storeURL("none.json")
        #expect(try proposed("fetch", "--", "positional@1", "3", "0", "mortise", "fetch", store, "") == [])
        #expect(try proposed("fetch", "--", "positional@1", "2", "0", "mortise", "fetch", "") == [])
    }
}
#endif
