#if Tool
import Foundation
@testable import MortiseCommands
import Testing

/// `mortise set` of relationships: both sides change, in stores with and without versions.
@Suite struct RelationshipVerbTests {
    private func stores(in folder: ToolFolder, _ count: Int = 8) throws -> [String] {
        var stores = [try folder.trips("trips.json", count), try folder.trips("trips.log", count)]
        #if SQLite
        stores.append("sqlite:" + folder.path("trips.sqlite"))
        #expect(try ToolRun("copy", stores[0], stores[2]).status == 0)
        #endif
        return stores
    }

    private func number(_ store: String, _ entity: String, _ condition: String) throws -> String {
        let run = try ToolRun("fetch", store, entity, "--where", condition, "--select", "$id", "--format", "csv")
        return try #require(run.output.split(separator: "\n").dropFirst().first.map(String.init), "\(run)")
    }

    private func list(_ store: String, _ entity: String, _ condition: String, _ column: String) throws -> String {
        let run = try ToolRun("fetch", store, entity, "--where", condition, "--select", column, "--format", "lines")
        return String(run.output.split(separator: ":", maxSplits: 1).last ?? "").replacingOccurrences(
            of: "}\n", with: "")
    }

    private func set(_ store: String, _ entity: String, _ condition: String, _ assignments: String...) throws -> ToolRun
    {
        try ToolRun(["set", store, entity, "--where", condition, "--yes"] + assignments)
    }

    @Test func membersAreAddedRemovedAndReplaced() throws {
        let folder = try ToolFolder()
        for store in try stores(in: folder) {
            let (sea, city) = (
                try number(store, "Label", "text == 'sea'"), try number(store, "Label", "text == 'city'")
            )
            let two = "name == 'Trip 2'"
            // A many-to-many relationship, from either side.
            #expect(try set(store, "Trip", two, "labels+=\(sea)", "note=labelled").status == 0, "\(store)")
            #expect(try list(store, "Trip", two, "labels.text") == #"["sea"]"#, "\(store)")
            #expect(try list(store, "Trip", two, "note") == "\"labelled\"", "\(store)")
            #expect(try list(store, "Label", "text == 'sea'", "trips.count") == "3", "\(store)")
            #expect(try set(store, "Trip", two, "labels=\(city)").status == 0)
            #expect(try list(store, "Trip", two, "labels.text") == #"["city"]"#, "\(store)")
            #expect(try list(store, "Label", "text == 'sea'", "trips.name") == #"["Trip 0","Trip 5"]"#, "\(store)")
            let trip = try number(store, "Trip", two)
            #expect(try set(store, "Label", "text == 'sea'", "trips=\(trip)").status == 0)
            #expect(try list(store, "Trip", "name == 'Trip 5'", "labels.text") == #"["city"]"#, "\(store)")
            #expect(try set(store, "Trip", "labels.count > 0", "labels+=\(sea)", "labels-=\(city)").status == 0)
            #expect(try list(store, "Label", "text == 'city'", "trips.count") == "0", "\(store)")
            #expect(try list(store, "Label", "text == 'sea'", "trips.count") == "3", "\(store)")
            #expect(try set(store, "Trip", two, "labels=").status == 0)
            #expect(try list(store, "Trip", two, "labels.count") == "0", "\(store)")
            #expect(try ToolRun("verify", store).status != ToolExitStatus.damaged, "\(store)")
        }
    }

    @Test func aMemberOfOneGoesOverToAnother() throws {
        let folder = try ToolFolder()
        for store in try stores(in: folder) {
            let ada = "name == 'Ada'"
            let (guide, trip) = (try number(store, "Guide", ada), try number(store, "Trip", "name == 'Trip 1'"))
            #expect(try list(store, "Trip", "name == 'Trip 1'", "guide.name") == "\"Björn\"")
            let shown = try ToolRun("set", store, "Guide", "--where", ada, "trips+=\(trip)")
            #expect(shown.output.hasPrefix("1 record updated\n") && shown.output.contains("guide="), "\(shown)")
            #expect(try set(store, "Guide", ada, "trips+=\(trip)").status == 0)
            #expect(try list(store, "Trip", "name == 'Trip 1'", "guide.name") == "\"Ada\"", "\(store)")
            #expect(try list(store, "Guide", ada, "trips.name") == #"["Trip 1","Trip 3","Trip 6"]"#, "\(store)")
            #expect(try set(store, "Guide", ada, "trips-=\(trip)").status == 0)
            #expect(try list(store, "Trip", "name == 'Trip 1'", "guide.name") == "null", "\(store)")
            // From the side of the one.
            #expect(try set(store, "Trip", "guide is nil", "guide=\(guide)").status == 0)
            #expect(try list(store, "Guide", ada, "trips.count") == "5", "\(store)")
            #expect(try set(store, "Trip", "guide.name == 'Ada'", "guide=").status == 0)
            #expect(try list(store, "Guide", ada, "trips.count") == "0", "\(store)")
        }
    }

    @Test func whatCannotBeIsExplained() throws {
        let folder = try ToolFolder()
        for store in try stores(in: folder, 4) {
            let stop = try number(store, "Stop", "place == 'Stop 0 of 1'")
            let before = try ToolRun("export", store).output
            for (entity, condition, assignment, words) in [
                ("Trip", "name == 'Trip 1'", "stops-=\(stop)", "is not optional; set it to another record"),
                ("Trip", "name == 'Trip 1'", "stops=", "is not optional"),
                ("Trip", "price > 0", "stops+=\(stop)", "choose one with --where"),
                ("Trip", "price > 0", "labels+=999", "there is no Label with the number 999"),
                ("Trip", "price > 0", "labels=sea", "expected the number of a record"),
                ("Trip", "price > 0", "guide+=1", "it is a to-one relationship"),
                ("Trip", "price > 0", "seats+=1", "is for relationships"),
                ("Stop", "nights > 0", "trip=", "it is not optional"),
            ] {
                let run = try set(store, entity, condition, assignment)
                #expect(run.status == ToolExitStatus.usage && run.errorLines.count == 1, "\(assignment): \(run)")
                #expect(run.errors.contains(words), "\(assignment): \(run.errors)")
            }
            let twice = try set(store, "Trip", "price > 0", "labels=", "labels+=1")
            #expect(twice.status == ToolExitStatus.usage, "\(twice)")
            #expect(try ToolRun("export", store).output == before)
        }
    }
}
#endif
