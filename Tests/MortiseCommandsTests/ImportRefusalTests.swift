#if Tool
import Foundation
import Testing

/// What `mortise import` does not take, and how it tells.
@Suite struct ImportRefusalTests {
    private func run(_ arguments: String..., status: Int32 = 0) throws -> ToolRun {
        let run = try ToolRun(arguments)
        #expect(run.status == status, "\(arguments): \(run.errors)")
        return run
    }

    private func write(_ lines: [String], _ name: String, _ folder: ToolFolder) throws -> String {
        let path = folder.path(name)
        try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    /// Within a batch a number of two records was not noticed: what referred to it came to the second one.
    @Test(arguments: ["1", "10000"]) func aNumberIsThatOfOneRecordWhateverTheBatch(_ batch: String) throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 3)
        let file = try write(
            [
                #"{"$entity":"Guide","$id":9,"name":"Dora"}"#, #"{"$entity":"Guide","$id":9,"name":"Emil"}"#,
                #"{"$entity":"Stop","place":"Rome","nights":1,"trip":"Alps"}"#,
            ], "some.jsonl", folder)
        let imported = try run("import", store, file, "--batch", batch, status: 78)
        #expect(imported.errors.contains("line 2: an earlier record of the file has the number 9 too"))
        #expect(imported.output.hasPrefix("imported 1 record "), "\(imported.output)")
    }

    /// The status was 0, as if the file had been imported as it is.
    @Test func referencesThatAreLeftOutAreCountedAndMakeAStatus() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 3)
        let members = (100..<130).map { "\($0)" }.joined(separator: ",")
        let file = try write([#"{"$entity":"Label","text":"sea","trips":[\#(members)]}"#], "some.jsonl", folder)
        let imported = try run("import", store, file, status: 78)
        #expect(imported.output.hasPrefix("imported 1 record "), "\(imported.output)")
        #expect(imported.errorLines.count == 22, "\(imported.errors)")
        #expect(imported.errorLines.last?.contains("30 references were left out") == true, "\(imported.errors)")
    }

    @Test(arguments: [
        (#"{"$entity":"Guide","$entity":"Label","text":"x"}"#, "$entity is given twice"),
        (#"{"$entity":"Guide","$id":1,"$id":2,"name":"x"}"#, "$id is given twice"),
        (#"{"$entity":"Guide","$di":1,"name":"x"}"#, "$di means nothing here (did you mean \"$id\"?)"),
        (#"{"$entity":"Guide","$id":true,"name":"x"}"#, "$id: expected a number or text, found true or false"),
        (#"{"$entity":"Guide","name":"\u+041"}"#, "expected four hexadecimal digits"),
        (#"{"$entity":"Guide","nmae":"x"}"#, "Guide has no property \"nmae\" (did you mean \"name\"?)"),
    ])
    func aLineThatContradictsItselfIsNoRecord(_ line: String, _ reason: String) throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 3)
        let imported = try run("import", store, try write([line], "some.jsonl", folder), status: 78)
        #expect(imported.errorLines.first?.contains(reason) == true, "\(imported.errors)")
        #expect(imported.errors.contains("1 of 1 record was rejected"), "\(imported.errors)")
    }

    /// Any file of that name was overwritten: lines that were corrected and not imported yet, or the imported file itself.
    @Test func noFileIsOverwrittenByRejectedLines() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 3)
        let lines = [#"{"$entity":"Guide","name":"Dora"}"#, #"{"$entity":"Guide","name":5}"#]
        let file = try write(lines, "some.jsonl", folder)
        for arguments in [[file, "--rejected", file], [file, "--rejected", folder.path("trips.log")]] {
            let refused = try ToolRun(["import", store] + arguments)
            #expect(refused.status == 73 && refused.errors.contains("was not changed"), "\(refused.errors)")
        }
        #expect(try text(file) == lines.map { $0 + "\n" }.joined())
        #expect(try run("fetch", store, "Guide", "--count").output == "3\n")
        #expect(!FileManager.default.fileExists(atPath: file + ".import"))
        _ = try run("import", store, file, status: 78)
        let again = try run("import", store, file, status: 73)
        #expect(again.errors.contains("some.jsonl.rejected exists already"), "\(again.errors)")
        #expect(try text(file + ".rejected") == lines[1] + "\n")
    }

    /// The file of rejected lines was read as lines of JSON, whatever it was made of.
    @Test func correctedLinesOfACSVFileAreImportedFromTheirFile() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 3)
        let file = try write(["place,nights,trip", "Rome,x,"], "stops.csv", folder)
        _ = try run("import", store, file, "--entity", "Stop", status: 78)
        #expect(try text(file + ".rejected") == "place,nights,trip\nRome,x,\n")
        let corrected = try write(["name", "Dora"], "guides.csv.rejected", folder)
        let imported = try run("import", store, corrected, "--entity", "Guide")
        #expect(imported.output.hasPrefix("imported 1 record "), "\(imported.output)")
    }

    /// An import that waits for its input, or that rejects line after line, was not to be ended but by force.
    @Test(arguments: [nil, "bad.jsonl"]) func anImportThatSavesNothingIsInterrupted(_ name: String?) throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 3)
        let input = Pipe()
        if let name {
            _ = try write(Array(repeating: #"{"$entity":"Guide","nam":1}"#, count: 400_000), name, folder)
        } else {
            input.fileHandleForWriting.write(Data("{}\n".utf8))
        }
        let process = Process()
        process.executableURL = try ToolRun.executable()
        process.currentDirectoryURL = folder.url
        process.arguments = ["import", store, name ?? "-"]
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        let errors = Pipe()
        process.standardError = errors
        try process.run()
        // The first line that is rejected says that the tool reads. Nothing else announces it.
        let rejected = folder.path((name ?? "import") + ".rejected")
        while !FileManager.default.fileExists(atPath: rejected), process.isRunning {
            Thread.sleep(forTimeInterval: 0.01)
        }
        kill(process.processIdentifier, SIGINT)
        let told = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 130, "\(process.terminationStatus) \(told)")
        #expect(told.contains("interrupted after 0 records"), "\(told)")
    }
}

#if SQLite
/// What `mortise import` makes of the errors of a store that many programs write.
@Suite struct ImportIntoSQLiteTests {
    private func store(_ folder: ToolFolder) throws -> (url: String, file: String) {
        let source = try folder.trips("trips.log", 60)
        let url = "sqlite:" + folder.path("trips.sqlite")
        #expect(try ToolRun("copy", source, url).status == 0)
        let file = folder.path("trips.jsonl")
        #expect(try ToolRun("export", source, file).status == 0)
        return (url, file)
    }

    /// The store names the record that has the values by another error, which ended the import.
    @Test(arguments: ["7", "10000"]) func valuesThatStoredRecordsHaveAreRejected(_ batch: String) throws {
        let folder = try ToolFolder()
        let (url, file) = try store(folder)
        let imported = try ToolRun("import", url, file, "--batch", batch)
        #expect(imported.status == 78 && imported.output.hasPrefix("imported 5 records"), "\(imported.errors)")
        #expect(imported.errors.contains("code: another record has the same value"), "\(imported.errors)")
        #expect(imported.errors.contains("180 of 185 records were rejected"), "\(imported.errors)")
    }

    /// Every error of the store was taken for one about unique values: on a full disk all records that were left were rejected, one
    /// by one. A limit for files stands for the disk here.
    @Test func anErrorOfTheDiskEndsTheImport() throws {
        let folder = try ToolFolder()
        let source = try folder.trips("trips.log", 3_000)
        let file = folder.path("trips.jsonl")
        #expect(try ToolRun("export", source, file).status == 0)
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        let tool = try ToolRun.executable().path
        shell.arguments = [
            "-c", "trap '' XFSZ; ulimit -f 400; exec \"$@\"", "sh", tool, "import", "sqlite:" + folder.path("a.sqlite"),
            file, "--schema", source, "--batch", "200",
        ]
        let errors = Pipe()
        shell.standardOutput = FileHandle.nullDevice
        shell.standardError = errors
        try shell.run()
        let told = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 74, "\(shell.terminationStatus) \(told)")
        #expect(!FileManager.default.fileExists(atPath: file + ".rejected"))
    }
}
#endif
#endif
