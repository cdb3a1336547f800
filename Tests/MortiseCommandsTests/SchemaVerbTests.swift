#if Tool
import Foundation
import MortiseAppendLog
@testable import MortiseCommands
import MortiseCore
import MortiseEngine
import Testing

/// `mortise schema`, as processes on real stores, files and commits.
@Suite struct SchemaVerbTests {
    private func write(_ text: String, _ name: String, in folder: ToolFolder) throws -> String {
        try Data(text.utf8).write(to: folder.url.appending(path: name))
        return folder.path(name)
    }

    /// The schema of a store of trips, as text.
    private func trips() throws -> String { try SchemaDocument(TripStore.schema).text() }

    private func replacing(_ text: String, _ old: String, with new: String) throws -> String {
        try #require(text.contains(old), "\(old)")
        return text.replacingOccurrences(of: old, with: new)
    }

    private func object(_ run: ToolRun) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any], "\(run.output)")
    }

    private func changes(_ run: ToolRun) throws -> [[String: Any]] {
        try #require(try object(run)["changes"] as? [[String: Any]])
    }

    // MARK: show, json

    @Test(arguments: ["trips.json", "trips.log"]) func aStoreShowsItsSchema(_ name: String) throws {
        let folder = try ToolFolder()
        let store = try folder.trips(name, 3)
        let before = try folder.contents()
        let json = try ToolRun("schema", "json", store)
        #expect(json.status == 0 && json.errors == "")
        #expect(json.output == (try trips()))
        // A file of it is the same schema.
        let file = try write(json.output, "schema.out", in: folder)
        #expect(try ToolRun("schema", "json", file).output == json.output)
        #expect(try ToolRun("schema", "diff", store, file).status == 0)
        let shown = try ToolRun("schema", "show", store)
        #expect(shown.status == 0)
        for part in [
            "BusTrip: Trip", "optional double", "to-one Guide", "inverse trips", "unique: code", "index: destination",
        ] {
            #expect(shown.output.contains(part), "\(part): \(shown.output)")
        }
        var after = try folder.contents()
        after["schema.out"] = nil
        #expect(after == before)
    }

    @Test func aCommitHasItsSchema() throws {
        let folder = try ToolFolder()
        let first = try trips()
        _ = try write(first, "schema.json", in: folder)
        func git(_ arguments: String...) throws {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments =
                ["git", "-C", folder.url.path, "-c", "user.name=t", "-c", "user.email=t@example.org"] + arguments
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            try #require(process.terminationStatus == 0, "\(arguments)")
        }
        try git("init", "-q")
        try git("add", "schema.json")
        try git("commit", "-q", "-m", "first")
        _ = try write(
            try replacing(first, "\"nights\", \"kind\": \"int64\"", with: "\"nights\", \"kind\": \"int32\""),
            "schema.json", in: folder)
        let run = try ToolRun(
            ["schema", "diff", "git:HEAD:schema.json", "schema.json", "--format", "json"], in: folder)
        #expect(run.status == 1)
        #expect(run.errors.contains("note: schema.json says that its storage is"), "\(run.errors)")
        #expect(try changes(run).map { $0["kind"] as? String } == ["typeChanged"])
        let missing = try ToolRun(["schema", "json", "git:HEAD:nothing.json"], in: folder)
        #expect(missing.status == ToolExitStatus.missing && missing.errorLines.count == 1, "\(missing.errors)")
        let option = try ToolRun(["schema", "json", "git:--help:x"], in: folder)
        #expect(option.status == ToolExitStatus.usage && option.errorLines.count == 1, "\(option.errors)")
    }

    @Test func whatIsNoSchemaIsRefused() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 2)
        let cases: [(arguments: [String], status: Int32, word: String)] = [
            (["schema", "json", folder.path("nothing.json")], ToolExitStatus.missing, "nothing.json"),
            (["schema", "json", "json:" + folder.path("nothing.json")], ToolExitStatus.missing, "nothing.json"),
            (["schema", "json", folder.url.path], ToolExitStatus.usage, "folder"),
            (["schema", "json", folder.path("trips.json")], ToolExitStatus.damaged, "give a store by its URL"),
            (
                ["schema", "show", try write("{\n \"format\": 1}", "wrong.json", in: folder)], ToolExitStatus.damaged,
                "line 2, column 12"
            ),
            (["schema", "json", "models:"], ToolExitStatus.usage, "no models"),
            (["schema", "check", "--against", store], ToolExitStatus.usage, "no models"),
            (["schema", "diff", store], ToolExitStatus.usage, "new"),
            (["schema", "diff", store, store, "--rename", "Trip.cost"], ToolExitStatus.usage, "--rename NEW=OLD"),
            (["schema", "diff", store, store, "--rename", "Trip.pric=cost"], ToolExitStatus.usage, "\"price\""),
            (["schema", "diff", store, store, "--rename", "Trip.price=cost"], ToolExitStatus.usage, "the old Trip"),
            (["schema", "diff", store, store, "--rename", "Trap.price=cost"], ToolExitStatus.usage, "Trap.price"),
            (["schema", "diff", store, store, "--drop", "Trip.nothing"], ToolExitStatus.usage, "Trip.nothing"),
            (["schema", "diagram", store, "--dot", "--mermaid"], ToolExitStatus.usage, "--dot"),
        ]
        let before = try folder.contents()
        for (arguments, status, word) in cases {
            let run = try ToolRun(arguments)
            #expect(run.status == status, "\(arguments): \(run.errors)")
            #expect(run.errorLines.count == 1 && run.errors.contains(word), "\(arguments): \(run.errors)")
            #expect(run.output == "", "\(arguments)")
        }
        #expect(try folder.contents() == before)
    }

    // MARK: diff

    @Test func recordsOfAStoreDecide() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 20)
        var text = try trips()
        text = try replacing(
            text, "{\"name\": \"name\", \"kind\": \"string\"},\n        {\"name\": \"destination\"",
            with:
                "{\"name\": \"name\", \"kind\": \"string\"},\n        {\"name\": \"fee\", \"kind\": \"bool\"},\n        "
                + "{\"name\": \"destination\"")
        text = try replacing(text, "\"unique\": [[\"code\"]]", with: "\"unique\": [[\"code\"], [\"destination\"]]")
        text = try replacing(
            text, "{\"name\": \"rating\", \"kind\": \"double\", \"optional\": true}",
            with: "{\"name\": \"rating\", \"kind\": \"double\"}")
        let file = try write(text, "v2.json", in: folder)
        let run = try ToolRun("schema", "diff", store, file, "--format", "json")
        #expect(run.status == 1, "\(run.errors)")
        let found = Dictionary(
            uniqueKeysWithValues: try changes(run).map { ($0["kind"] as? String ?? "", $0) })
        #expect(found["attributeAdded"]?["records"] as? Int == 20)
        #expect(found["attributeAdded"]?["class"] as? String == "X")
        #expect(found["uniqueAdded"]?["class"] as? String == "X")
        #expect(found["uniqueAdded"]?["records"] as? Int == 20)
        let missing = try ToolRun("fetch", store, "Trip", "--where", "rating == nil", "--count").output
        #expect(found["madeRequired"]?["records"] as? Int == Int(missing.trimmingCharacters(in: .newlines)))
        #expect(try object(run)["isBreaking"] as? Bool == true)

        // The stores say the same.
        let schema = Schema(stored: try SchemaDocument(reading: Array(text.utf8)).schema)
        func open(_ name: String) throws {
            let configuration = AppendLogConfiguration(schema: schema, path: folder.path(name))
            try AppendLogStore(configuration, migrationPlan: nil).close()
        }
        #expect(throws: EngineError.self) { try open("trips.log") }

        // Without records nothing is in the way.
        let empty = try folder.trips("empty.log", 0)
        let other = try ToolRun("schema", "diff", empty, file, "--format", "json")
        #expect(Set(try changes(other).map { $0["class"] as? String ?? "" }) == ["M", "I"], "\(other.output)")
        try open("empty.log")
    }

    @Test func textNamesClassEffectAndWayOut() throws {
        let folder = try ToolFolder()
        let old = try write(try trips(), "v1.json", in: folder)
        let new = try write(
            try replacing(try trips(), "\"nights\", \"kind\": \"int64\"", with: "\"nights\", \"kind\": \"string\""),
            "v2.json", in: folder)
        let run = try ToolRun("schema", "diff", old, new)
        #expect(run.status == 1)
        #expect(
            run.output
                == """
                X  Stop.nights  int64 is string
                   refused: the kind of value has changed
                   → convert it in a stage: .converting("Stop.nights", .exactly), or .nilIfNot, .orDefault

                1 difference: 1 X

                """)
        #expect(try ToolRun("schema", "diff", old, old).output == "equal\n")
    }

    // MARK: Questions

    private func renamed(_ folder: ToolFolder) throws -> (old: String, new: String) {
        let old = try write(try trips(), "v1.json", in: folder)
        let new = try write(
            try replacing(try trips(), "\"note\", \"kind\"", with: "\"notes\", \"kind\""), "v2.json", in: folder)
        return (old, new)
    }

    @Test func aPossibleRenameIsAQuestion() throws {
        let folder = try ToolFolder()
        let (old, new) = try renamed(folder)
        let asked = try ToolRun("schema", "diff", old, new)
        #expect(asked.status == ToolExitStatus.usage)
        #expect(asked.errors.contains("--rename Trip.notes=note"), "\(asked.errors)")
        let questions = try #require(try object(asked)["questions"] as? [[String: Any]])
        #expect(questions.count == 1 && questions[0]["likely"] as? String == "rename", "\(questions)")

        let yes = try ToolRun("schema", "diff", old, new, "--rename", "Trip.notes=note", "--format", "json")
        #expect(try changes(yes).map { $0["kind"] as? String } == ["propertyRenamed"])
        let no = try ToolRun("schema", "diff", old, new, "--drop", "Trip.note", "--format", "json")
        #expect(try changes(no).map { $0["kind"] as? String } == ["propertyDropped", "attributeAdded"])
        // What was asked is the file of answers.
        let answers = try #require(try object(asked)["answers"] as? [String: Any])
        let file = folder.path("answers.json")
        try JSONSerialization.data(withJSONObject: answers).write(to: URL(fileURLWithPath: file))
        let answered = try ToolRun("schema", "diff", old, new, "--answers", file, "--format", "json")
        #expect(try changes(answered).map { $0["kind"] as? String } == ["propertyRenamed"])
        let wrong = try ToolRun("schema", "diff", old, new, "--answers", old)
        #expect(wrong.status == ToolExitStatus.usage && wrong.errors.contains("\"rename\""), "\(wrong.errors)")
    }

    // MARK: check

    @Test func checkFailsForDifferencesOrForBreakingOnes() throws {
        let folder = try ToolFolder()
        let (old, new) = try renamed(folder)
        let store = try folder.trips("trips.json", 2)
        #expect(try ToolRun("schema", "check", "--against", old, store).status == 0)
        #expect(try ToolRun("schema", "check", "--against", old, new).status == ToolExitStatus.usage)
        let answer = ["--rename", "Trip.notes=note"]
        #expect(try ToolRun(["schema", "check", "--against", old, new] + answer).status == 1)
        #expect(try ToolRun(["schema", "check", "--against", old, new, "--breaking"] + answer).status == 0)
        let retyped = try write(
            try replacing(try trips(), "\"nights\", \"kind\": \"int64\"", with: "\"nights\", \"kind\": \"int32\""),
            "v3.json", in: folder)
        #expect(try ToolRun("schema", "check", "--against", old, retyped, "--breaking").status == 1)
    }

    /// A tool of one's own compares the models that are linked into it.
    @Test func modelsOfTheToolAreASchema() throws {
        let folder = try ToolFolder()
        let file = try write(try trips(), "v1.json", in: folder)
        func tool(_ schema: StoredSchema) -> Int32 {
            MortiseTool(registry: StoreRegistry(), models: Schema(stored: schema))
                .run(["schema", "check", "--against", file, "--format", "json"])
        }
        #expect(tool(TripStore.schema) == 0)
        #expect(tool(StoredSchema(version: Schema.Version(2, 0, 0), entities: TripStore.schema.entities)) == 1)
    }

    // MARK: diagram, lint

    @Test func aDiagramIsPrinted() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 1)
        let mermaid = try ToolRun("schema", "diagram", store)
        #expect(mermaid.status == 0)
        #expect(mermaid.output == SchemaDiagram(TripStore.schema).mermaid)
        #expect(try ToolRun("schema", "diagram", store, "--mermaid").output == mermaid.output)
        #expect(try ToolRun("schema", "diagram", store, "--dot").output == SchemaDiagram(TripStore.schema).dot)
    }

    @Test func lintFailsWhereSyncIsNotPossible() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 1)
        let plain = try ToolRun("schema", "lint", store)
        #expect(plain.status == 0, "\(plain.output)")
        let sync = try ToolRun("schema", "lint", store, "--for", "sync", "--format", "json")
        #expect(sync.status == 1)
        let findings = try #require(try object(sync)["findings"] as? [[String: Any]])
        #expect(Set(findings.compactMap { $0["code"] as? String }).isSuperset(of: ["S01", "S02", "S03", "S04"]))
        let (old, new) = try renamed(folder)
        let since = try ToolRun("schema", "lint", new, "--against", old)
        #expect(since.output.contains("S07") && since.output.contains("S16"), "\(since.output)")
    }
}
#endif
