import Foundation
import Testing

/// `music-library` without arguments, which is README's first command, and works without a trait.
struct MainJobTests {
    #if SQLite
    private static let kinds = ["memory", "json", "log", "sqlite"]
    #else
    private static let kinds = ["memory", "json", "log"]
    #endif

    private func run(in sandbox: Sandbox) async throws -> SampleProgram.Outcome {
        try await SampleProgram.musicLibrary.run([], workingFolder: sandbox.folder)
    }

    @Test func everyStoreAnswersAsTheReferenceBeforeAChangeAndAfterItsUndo() async throws {
        let sandbox = try Sandbox()
        let outcome = try await run(in: sandbox)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.isEmpty)
        let lines = outcome.output.split(separator: "\n")
        let answers = 20 * Self.kinds.count
        #expect(outcome.output.contains("\(answers) of \(answers) answers are right"))
        #expect(!outcome.output.contains("WRONG"))
        for kind in Self.kinds {
            let rows = lines.filter { $0.hasPrefix(kind + " ") }
            // Import and questions; the slowest question; changes and undo.
            try #require(rows.count == 3, "\(kind): \(rows)")
            #expect(rows[0].contains(" 20/20  "))
            #expect(!rows[2].dropLast(5).contains("20/20"), "a change that no question sees: \(rows[2])")
            #expect(rows[2].hasSuffix(" 20/20"))
        }
        #expect(lines.allSatisfy { $0.count <= 80 }, "\(lines.filter { $0.count > 80 })")
    }

    @Test func theHistoryOfALogNamesTheChangesAndTheUndo() async throws {
        let sandbox = try Sandbox()
        let output = try await run(in: sandbox).output
        let row = try #require(output.split(separator: "\n").last { $0.hasPrefix("log ") })
        #expect(row.contains("2 transactions"))
        #expect(output.contains("delete 1 Customer, 7 Invoice, 38 InvoiceLine"))
        #expect(output.contains("insert 1 Customer, 7 Invoice, 38 InvoiceLine"))
        #expect(output.contains("unitPrice"))
    }

    @Test func theStoresAreLeftWhereItSaysAndASecondRunReplacesThem() async throws {
        let sandbox = try Sandbox()
        for _ in 0..<2 {
            let outcome = try await run(in: sandbox)
            #expect(outcome.status == 0, "\(outcome.errors)")
            for kind in Self.kinds where kind != "memory" {
                let path = ".build/music-library/library.\(kind)"
                #expect(outcome.output.contains("  \(kind):\(path)\n"))
                #expect(sandbox.contents(path)?.isEmpty == false)
            }
            // Whatever is left of a run that was interrupted, or of another program, is not in the way of the next one.
            try sandbox.write("no store", to: ".build/music-library/library.json")
            try sandbox.write("no store", to: ".build/music-library/library.log")
        }
    }

    @Test func aFolderThatCannotBeMadeIsOneLine() async throws {
        let sandbox = try Sandbox()
        try sandbox.write("a file", to: ".build")
        let outcome = try await run(in: sandbox)
        #expect(outcome.status == 1 && outcome.output.isEmpty)
        #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains(".build/music-library"))
    }

    #if Tool
    @Test func theStoresAreOpenToTheTool() async throws {
        let sandbox = try Sandbox()
        _ = try await run(in: sandbox)
        for kind in Self.kinds where kind != "memory" {
            let store = "\(kind):" + sandbox.path(".build/music-library/library.\(kind)")
            let verified = try await SampleProgram(name: "mortise").run("verify", store)
            #expect(verified.output.hasPrefix("sound: "), "\(verified)")
            let count = try await SampleProgram(name: "mortise").run(
                "fetch", store, "Track", "--where", #"album.artist.name == "AC/DC""#, "--count")
            #expect(count.output == "18\n", "\(count)")
        }
    }
    #endif
}

/// The eight answers that do not come with the data are those of SQLite, which reads the same file.
struct AnswersBySQLTests {
    /// Loads the tables as they are, and prints each answer in the form of the file.
    private static let script = """
        import json, sqlite3, sys
        database = sqlite3.connect(":memory:")
        for table, rows in json.load(open(sys.argv[1], encoding="utf-8")).items():
            columns = list(rows[0])
            database.execute("CREATE TABLE %s (%s)" % (table, ", ".join(columns)))
            places = ", ".join("?" * len(columns))
            values = [[row[column] for column in columns] for row in rows]
            database.executemany("INSERT INTO %s VALUES (%s)" % (table, places), values)
        answers = {}
        for key, entry in json.load(open(sys.argv[2], encoding="utf-8")).items():
            rows = [row[0] if len(row) == 1 else list(row) for row in database.execute(entry["sql"])]
            answers[key] = rows[0] if entry["sql"].startswith("SELECT count(*)") else rows
        print(json.dumps(answers))
        """

    private static func python(_ arguments: String...) throws -> Data? {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? output : nil
    }

    private static let hasSQLite = (try? python("-c", "import sqlite3")) != nil

    @Test(.enabled(if: hasSQLite, "Python with SQLite is not installed"))
    func theKeptAnswersAreThoseOfSQLite() throws {
        let kept = Chinook.folder.appending(path: "answers-by-sql.json")
        let found = try #require(try Self.python("-c", Self.script, Chinook.data.path, kept.path))
        let answers = try JSONDecoder().decode([String: JSONValue].self, from: found)
        #expect(answers.count == 8)
        #expect(try answers == Chinook.answers(in: kept))
    }
}
