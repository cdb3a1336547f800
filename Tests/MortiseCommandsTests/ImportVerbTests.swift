#if Tool
import Foundation
@testable import MortiseCommands
import MortiseCore
import Testing

/// `mortise export` and `mortise import`.
@Suite struct ImportVerbTests {
    private func run(_ arguments: String..., status: Int32 = 0) throws -> ToolRun {
        let run = try ToolRun(arguments)
        #expect(run.status == status, "\(arguments): \(run.errors)")
        return run
    }

    private func write(_ text: String, _ name: String, _ folder: ToolFolder) throws -> String {
        let path = folder.path(name)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    /// Trips refer to earlier and later ones, stops require a trip that comes after them, labels have lists of trips.
    @Test(arguments: ["copy.log", "copy.json"]) func whatIsExportedIsImportedEqual(_ copy: String) throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 60)
        let file = folder.path("trips.jsonl")
        let exported = try run("export", store, file)
        #expect(exported.output.hasPrefix("exported 185 records"), "\(exported.output)")
        let imported = try run(
            "import", folder.storeURL(copy), file, "--schema", store, "--batch", "7", "--progress", "never")
        #expect(imported.output.hasPrefix("imported 185 records"), "\(imported.output)")
        #expect(imported.errors.isEmpty, "\(imported.errors)")
        // The same records with the same relationships; only their numbers may be others.
        let again = folder.path("again.jsonl")
        _ = try run("export", folder.storeURL(copy), again)
        #expect(try Self.sorted(file) == Self.sorted(again))
        #expect(!FileManager.default.fileExists(atPath: file + ".import"))
        #expect(!FileManager.default.fileExists(atPath: file + ".rejected"))
    }

    /// The lines without the numbers of records, and with names instead of them in relationships.
    private static func sorted(_ path: String) throws -> [String] {
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        func text(_ line: [String: Any]) -> String { "\(line["name"] ?? line["place"] ?? line["text"] ?? "?")" }
        let names = Dictionary(
            uniqueKeysWithValues: lines.map { ("\($0["$id"] ?? "")", text($0)) })
        return lines.map { line in
            line.filter { $0.key != "$id" }.sorted { $0.key < $1.key }.map { key, value in
                let isRelationship = ["guide", "partner", "trip", "trips"].contains(key)
                if isRelationship, let list = value as? [Any] {
                    return "\(key)=\(list.map { names["\($0)"] ?? "?" }.sorted())"
                }
                return "\(key)=\(isRelationship ? names["\(value)"] ?? "?" : "\(value)")"
            }.joined(separator: " ")
        }.sorted()
    }

    @Test func aCSVFileIsImportedAsItWasExported() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 30)
        let file = folder.path("guides.csv")
        _ = try run("export", store, file, "--entity", "Guide")
        #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix("$id,name\n"))
        _ = try run("import", folder.storeURL("copy.json"), file, "--entity", "Guide", "--schema", store)
        let found = try run("fetch", folder.storeURL("copy.json"), "Guide", "--select", "name", "--format", "csv")
        #expect(found.output == "name\nAda\nBjörn\nChloé\n")
    }

    /// Every kind of value, with commas, quotation marks and line ends; nil and empty texts differ.
    @Test func valuesOfACSVFileKeepTheirKinds() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 30)
        let file = folder.path("trips.csv")
        _ = try run("export", store, file, "--entity", "Trip", "--where", "guide is nil and partner is nil")
        let columns = "name,destination,price,startDate,isPublic,rating,seats,code,cover,link,note,ticket,tags"
        _ = try run("import", folder.storeURL("copy.log"), file, "--entity", "Trip", "--schema", store)
        let before = try run(
            "fetch", store, "Trip", "--where", "guide is nil and partner is nil", "--select", columns, "--format",
            "json")
        let after = try run("fetch", folder.storeURL("copy.log"), "Trip", "--select", columns, "--format", "json")
        #expect(before.output == after.output)
    }

    @Test func linesThatAreNoRecordsAreNamedAndKeptApart() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 2)
        let lines = [
            #"{"$entity":"Guide","name":"Dora"}"#,
            #"{"$entity":"Guide","name":7}"#,
            #"{"$entity":"Guide","nam":"Emil"}"#,
            #"{"$entity":"Guid","name":"Emil"}"#,
            #"{"name":"Emil"}"#,
            #"{"$entity":"Guide"}"#,
            #"{"$entity":"Guide","name":"Emil""#,
            #"not JSON"#,
            #"{"$entity":"Stop","place":"Rome","nights":1.5,"trip":1}"#,
            #"{"$entity":"Stop","place":"Rome","nights":1,"trip":99}"#,
            #"{"$entity":"Guide","name":"Emil","name":"Fritz"}"#,
            "{\"$entity\":\"Guide\",\"name\":\"\u{1B}[31m\"}",
            #"{"$entity":"Guide","name":"Greta"}"#,
        ]
        let file = try write(lines.joined(separator: "\n"), "some.jsonl", folder)
        let imported = try run("import", store, file, status: 78)
        #expect(imported.output.hasPrefix("imported 2 records"), "\(imported.output)")
        let expected = [
            "line 2: name: expected string, found 7", "line 3: Guide has no property \"nam\" (did you mean \"name\"?)",
            "line 4: the store has no entity \"Guid\" (did you mean \"Guide\"?)", "line 5: the line has no $entity",
            "line 6: name has no value", "line 7: column 33: expected \",\" or \"}\"",
            "line 8: column 1: expected an object",
            "line 9: nights: expected int64, found 1.5", "line 11: name is given twice",
            "line 12: column 28: expected a text without control characters",
            "line 10: trip: the file has no record with the number 99",
        ]
        for (line, text) in zip(imported.errorLines, expected) { #expect(line.contains(text), "\(line)") }
        #expect(imported.errorLines.last?.contains("11 of 13 records were rejected") == true, "\(imported.errors)")
        let kept = try String(contentsOfFile: file + ".rejected", encoding: .utf8).split(separator: "\n").map(
            String.init)
        #expect(Set(kept) == Set(lines[1...11]))
        let guides = try run("fetch", store, "Guide", "--select", "name", "--format", "csv").output
        #expect(guides.hasSuffix("Dora\nGreta\n"), "\(guides)")
    }

    @Test(arguments: ["trips.log", "trips.json"]) func recordsThatTheStoreRefusesAreKeptApart(_ name: String) throws {
        let folder = try ToolFolder()
        let store = try folder.trips(name, 30)
        let file = folder.path("trips.jsonl")
        _ = try run("export", store, file)
        // The codes of all trips are taken: neither they nor their stops can come.
        let imported = try run("import", store, file, status: 78)
        #expect(imported.output.hasPrefix("imported 5 records"), "\(imported.output)")
        #expect(
            imported.errorLines.first?.contains("code: another record has the same value") == true, "\(imported.errors)"
        )
        #expect(imported.errorLines.last?.contains("90 of 95 records were rejected") == true, "\(imported.errors)")
        let count = try run("fetch", store, "Trip", "--count")
        #expect(count.output == "30\n")
        #expect(try run("verify", store).output.hasPrefix("sound"))
    }

    /// Ended at any batch, the import goes on where it was, and leaves the same as one that was not interrupted.
    @Test func anInterruptedImportGoesOn() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 1_500)
        let file = folder.path("trips.jsonl")
        _ = try run("export", store, file)
        let copy = folder.storeURL("copy.log")
        let arguments = ["import", copy, file, "--schema", store, "--batch", "200", "--progress", "always"]
        var interruptions = 0
        let first = try ToolRun(arguments) { process, errors, _ in
            if interruptions == 0, errors.contains("read bytes:") {
                interruptions += 1
                kill(process.processIdentifier, SIGINT)
            }
        }
        #expect(first.status == 130, "\(first.status) \(first.errors)")
        let refused = try ToolRun(arguments)
        #expect(refused.status == 73 && refused.errors.contains("--resume"), "\(refused.errors)")
        let other = try ToolRun(arguments.map { $0 == "200" ? "100" : $0 } + ["--resume"])
        #expect(other.status == 78 && other.errors.contains("give the same ones"), "\(other.errors)")
        let second = try ToolRun(arguments + ["--resume"])
        #expect(second.status == 0, "\(second.errors)")
        #expect(second.output.hasPrefix("imported 4,505 records"), "\(second.output)")
        let again = folder.path("again.jsonl")
        _ = try run("export", copy, again)
        #expect(try Self.sorted(file) == Self.sorted(again))
    }

    @Test func anImportDoesNotGoOnWhereSomebodyElseHasSaved() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 2)
        let file = try write("{\"$entity\":\"Guide\",\"name\":\"Dora\"}\n", "some.jsonl", folder)
        let held = try run("fetch", store, "Guide", "--count").output
        #expect(held == "3\n")
        let identifier = try TripStore.open(folder.path("trips.log")).identifier
        let state = ImportState(
            store: identifier, held: 8, entity: nil, format: .jsonl, batch: 10_000, size: 34)
        try state.write(file + ".import")
        let refused = try run("import", store, file, "--resume", status: 78)
        #expect(refused.errors.contains("is not the next record of the file"), "\(refused.errors)")
    }

    @Test(
        arguments: [
            ("", "none.jsonl", [], 66, "cannot read"),
            ("x,name\n1,Dora\n", "a.csv", [], 64, "--entity"),
            ("x,name\n1,Dora\n", "a.csv", ["--entity", "Guide"], 64, "Guide has no property \"x\""),
            ("name,name\n1,Dora\n", "a.csv", ["--entity", "Guide"], 64, "twice"),
            ("{}", "a.jsonl", ["--entity", "Guides"], 64, "did you mean \"Guide\""),
            ("{}", "a.jsonl", ["--resume"], 64, "was interrupted"),
            ("{}", "a.jsonl", ["--batch", "0"], 64, "1 to 1000000"),
        ] as [(String, String, [String], Int32, String)])
    func whatCannotBeginIsOneLine(
        _ text: String, _ name: String, _ options: [String], _ status: Int32, _ message: String
    ) throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 2)
        if !text.isEmpty { _ = try write(text, name, folder) }
        let before = try folder.contents()
        let run = try ToolRun(["import", store, folder.path(name)] + options)
        #expect(run.status == status && run.errorLines.count == 1, "\(run.errors)")
        #expect(run.errors.contains(message), "\(run.errors)")
        #expect(try folder.contents() == before)
    }

    @Test func aStoreThatIsNotThereNeedsASchema() throws {
        let folder = try ToolFolder()
        let file = try write("{}", "a.jsonl", folder)
        let run = try run("import", folder.storeURL("none.log"), file, status: 64)
        #expect(run.errors.contains("--schema"))
    }

    @Test func anExportReplacesNothing() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 2)
        let file = try write("precious", "out.jsonl", folder)
        let run = try run("export", store, file, status: 73)
        #expect(run.errorLines.count == 1)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "precious")
    }
}

/// The files that an import reads, line by line.
struct ImportedLineTests {
    private func members(_ text: String) throws -> [(String, LineValue)] {
        try JSONObjectLine.members(Array(text.utf8)[...])
    }

    @Test func numbersKeepTheirDigitsAndTextsTheirCharacters() throws {
        let found = try members(#"{"a":1.50,"b":"\u00e9\uD83D\uDE00\n\"","c":[true,null,{"d":-0.0}]}"#)
        guard case .literal(.number("1.50")) = found[0].1 else { throw BadLine(reason: "\(found[0])") }
        guard case .literal(.text("é😀\n\"")) = found[1].1 else { throw BadLine(reason: "\(found[1])") }
        guard case .list(let list) = found[2].1, list.count == 3 else { throw BadLine(reason: "\(found[2])") }
    }

    @Test(arguments: [
        "", "[]", "{", "{\"a\"}", "{\"a\":}", "{\"a\":01}", "{\"a\":+1}", "{\"a\":1.}", "{\"a\":\"\\x\"}",
        "{\"a\":\"\\uD800\"}", "{\"a\":\"\\u12\"}", "{\"a\":tru}", "{\"a\":1}x", "{\"a\":1,}", "{\"a\":\"b", "{a:1}",
        "{\"a\":" + String(repeating: "[", count: 100_000),
    ])
    func whatIsNoObjectIsRefused(_ text: String) {
        #expect(throws: BadLine.self) { try members(text) }
    }

    @Test func bytesThatAreNoTextAreRefused() {
        #expect(throws: BadLine.self) { try JSONObjectLine.members(Array("{\"a\":\"".utf8)[...] + [0xFF, 0x22, 0x7D]) }
    }

    @Test func aFieldMayHoldLineEndsAndQuotationMarks() throws {
        let folder = try ToolFolder()
        let path = folder.path("a.csv")
        try Data("\u{FEFF}a,b\r\n\"x\n\"\"y\"\", z\",\r\n\n,\"\"\n\"open".utf8).write(to: URL(fileURLWithPath: path))
        var csv = CSVLines(try FileLines(path))
        let heading = try #require(try csv.next())
        #expect(try heading.fields.get().map(\.text) == ["a", "b"])
        let first = try #require(try csv.next())
        #expect(try first.fields.get().map(\.text) == ["x\n\"y\", z", ""] && csv.number == 2)
        let second = try #require(try csv.next())
        #expect(try second.fields.get().map(\.isQuoted) == [false, true] && csv.number == 5)
        let third = try #require(try csv.next())
        #expect(throws: BadLine.self) { try third.fields.get() }
        #expect(try csv.next() == nil)
    }
}
#endif
