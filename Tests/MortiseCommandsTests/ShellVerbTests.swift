#if Tool
import Foundation
import MortiseAppendLog
@testable import MortiseCommands
import MortiseCore
import MortiseJSONFile
import Testing

/// `mortise shell`, as a process that reads its lines from a file.
@Suite struct ShellVerbTests {
    private func shell(_ store: String, _ lines: String...) throws -> ToolRun {
        try ToolRun(["shell", store], input: lines.joined(separator: "\n"))
    }

    @Test(arguments: ["trips.json", "trips.log"]) func linesAreQueriesAndVerbs(_ name: String) throws {
        let folder = try ToolFolder()
        let store = try folder.trips(name, 12)
        let run = try shell(
            store, "# all kinds of lines", "", "count Trip",
            "  count Trip where price > 5 and destination == \"Paris\"  ",
            "Guide where name beginsWith 'A' limit 1", "fetch Trip --where 'price > 10' --select name --format csv",
            "fetch Label sort text", "count Trip --where price>10", "quit", "never reached")
        #expect(run.status == 0 && run.errors == "", "\(run.errors)")
        let found = run.output.split(separator: "\n").map(String.init)
        #expect(Array(found.prefix(2)) == ["12", "1"])
        #expect(found.contains { $0.contains("Ada") } && found.contains("1 record"), "\(found)")
        #expect(found.contains("Trip 10") && found.contains("Trip 11") && found.contains("2 records"), "\(found)")
        #expect(found.last == "2")
    }

    @Test func changesAreShownAndThenCarriedOut() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 4)
        let shown = try shell(
            store, "set Trip --where \"name == 'Trip 2'\" 'name=New name'", "count Trip where name == 'New name'")
        #expect(shown.status == 0 && shown.output.hasSuffix("\n0\n"), "\(shown)")
        let made = try shell(
            store, "set Trip --where \"name == 'Trip 2'\" 'name=New name'", "yes",
            "count Trip where name == 'New name'", "explain Trip where destination == 'Oslo'", "history --last 1", "yes"
        )
        #expect(made.output.contains("saved as one transaction\n1\n"), "\(made.output)")
        #expect(made.output.contains("index") && made.output.contains("by mortise"), "\(made.output)")
        // There is nothing left to carry out.
        #expect(made.status == ToolExitStatus.usage && made.errors.contains("nothing to carry out"), "\(made)")
    }

    /// Another program saves between what is shown and the yes.
    @Test(arguments: ["trips.json", "trips.log"]) func nothingIsCarriedOutThatWasNotShown(_ name: String) throws {
        let folder = try ToolFolder()
        let store = try folder.trips(name, 4)
        let context = ToolContext(
            registry: StoreRegistry(.json, .log), settings: ToolSettings(), models: nil, plan: nil,
            output: Output(open("/dev/null", O_WRONLY)), errors: Output(open("/dev/null", O_WRONLY)))
        try context.whileCurrent {
            var session = ShellSession(store: store)
            try session.start()
            let line = "set Trip --where \"destination == 'Bergen'\" name=Found"
            func move(_ trip: String) throws {
                let run = try ToolRun(
                    "set", store, "Trip", "--where", "name == '\(trip)'", "--yes", "destination=Bergen")
                #expect(run.status == 0, "\(run)")
            }
            func found() throws -> String {
                try ToolRun("fetch", store, "Trip", "--where", "name == 'Found'", "--count").output
            }
            try move("Trip 1")
            _ = try session.run(line)
            try move("Trip 2")
            #expect {
                try session.run("yes")
            } throws: { error in
                if case ToolError.changedSinceShown = error { true } else { false }
            }
            #expect(try found() == "0\n")
            _ = try session.run(line)
            _ = try session.run("yes")
            #expect(try found() == "2\n")
        }
    }

    @Test func aLiteralMayHaveTheSignOfAnOption() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 2)
        let run = try shell(store, "count Trip where name == \"a --b\"", "count Trip --where 'name == \"a --b\"'")
        #expect(run.status == 0 && run.output == "0\n0\n", "\(run)")
    }

    @Test func theFirstErrorEndsAFileOfLines() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 2)
        for (line, words) in [
            ("cuont Trip", "did you mean \"count\""), ("Trip where prize > 3", "did you mean \"price\""),
            ("fetch Trip --where 'price", "without another one"), ("fetch Trip --limit -1", "must not be negative"),
            ("copy a b", "unknown verb or entity"), ("fetch Trip --select name\\", "ends with a backslash"),
        ] {
            let run = try shell(store, line, "count Trip")
            #expect(run.status == ToolExitStatus.usage && run.output == "", "\(line): \(run)")
            #expect(run.errorLines.count == 1 && run.errors.contains(words), "\(line): \(run.errors)")
        }
        #expect(try shell(folder.storeURL("none.log"), "count Trip").status == ToolExitStatus.missing)
        #expect(try shell(store, "help", "help fetch").output.contains("--group-by"))
    }

    @Test func wordsAreThoseOfAShell() throws {
        #expect(
            try ShellSession.words(of: #"a  'b c' "d \"e\" \n" f\ g '' h'i'"#) == [
                "a", "b c", #"d "e" \n"#, "f g", "", "hi",
            ])
        #expect(try ShellSession.words(of: "  ") == [])
    }
}
#endif
