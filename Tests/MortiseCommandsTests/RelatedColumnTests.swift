#if Tool
import Foundation
@testable import MortiseCommands
import Testing

/// `mortise fetch --select` through to-many relationships.
@Suite struct RelatedColumnTests {
    private func lines(_ arguments: String...) throws -> [String] {
        let run = try ToolRun(arguments)
        #expect(run.status == 0 && run.errors == "", "\(run.errors)")
        return run.output.split(separator: "\n").map(String.init)
    }

    @Test func relatedValuesAreLists() throws {
        let folder = try ToolFolder()
        var stores = [try folder.trips("trips.json", 8), try folder.trips("trips.log", 8)]
        #if SQLite
        stores.append("sqlite:" + folder.path("trips.sqlite"))
        #expect(try ToolRun("copy", stores[0], stores[2]).status == 0)
        #endif
        for store in stores {
            #expect(
                try lines(
                    "fetch", store, "Trip", "--where", "name in ['Trip 3', 'Trip 5']", "--select",
                    "name,stops.place,stops.nights,labels.text,stops.count", "--format", "lines") == [
                        #"{"name":"Trip 3","stops.place":["Stop 0 of 3","Stop 1 of 3"],"stops.nights":[3,4],"#
                            + #""labels.text":[],"stops.count":2}"#,
                        #"{"name":"Trip 5","stops.place":["Stop 0 of 5","Stop 1 of 5"],"stops.nights":[5,6],"#
                            + #""labels.text":["sea","city"],"stops.count":2}"#,
                    ], "\(store)")
            // Through several, and back to one.
            #expect(
                try lines(
                    "fetch", store, "Guide", "--where", "name == 'Chloé'", "--select",
                    "trips.name,trips.stops.nights,trips.stops.count,trips.guide.name", "--format", "lines") == [
                        #"{"trips.name":["Trip 2","Trip 5"],"trips.stops.nights":[2,3,5,6],"trips.stops.count":[2,2],"#
                            + #""trips.guide.name":["Chloé","Chloé"]}"#
                    ], "\(store)")
            let numbers = try lines(
                "fetch", store, "Trip", "--where", "name == 'Trip 5'", "--select", "stops.$id,stops,stops.trip",
                "--format", "csv")
            let fields = numbers[1].split(separator: ",")
            #expect(fields.count == 3 && fields[0] == fields[1], "\(store): \(numbers)")
        }
    }

    @Test func aPathThatMultipliesTooOftenIsRefused() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 8)
        let path = "trips.labels.trips.labels"
        #expect(try ToolRun("fetch", store, "Label", "--select", path + ".text").status == 0)
        let run = try ToolRun("fetch", store, "Label", "--select", path + ".trips.name")
        #expect(run.status == ToolExitStatus.usage && run.errors.contains("more than 4 to-many"), "\(run)")
        let unknown = try ToolRun("fetch", store, "Trip", "--select", "stops.plaice")
        #expect(
            unknown.status == ToolExitStatus.usage && unknown.errors.contains("did you mean \"place\""), "\(unknown)")
    }
}
#endif
