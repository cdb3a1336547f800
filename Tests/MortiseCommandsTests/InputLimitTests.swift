#if Tool
import Foundation
import Testing

@testable import MortiseCommands

/// Input that is deeper, slower or larger than the tool takes is an error, and not the end of the process.
@Suite struct InputLimitTests {
    /// A store whose entity refers to itself, so that paths can be as long as one likes.
    private func folders(_ folder: ToolFolder, _ count: Int = 3) throws -> String {
        let records = (1...count).map { number in
            "      {\"$id\": \(number), \"name\": \"\(String(repeating: "a", count: 60)) \(number)\", \"parent\": "
                + (number > 1 ? "\(number - 1)}" : "null}")
        }
        let text = """
            {
              "format": "mortise-json",
              "formatVersion": 1,
              "store": "8C0B2C5E-5A0E-4E6C-9C1D-3B1E8E0E0F11",
              "schema": {
                "version": "1.0.0",
                "entities": [
                  {
                    "name": "Folder",
                    "properties": [
                      {"name": "name", "kind": "string"},
                      {"name": "parent", "toOne": "Folder", "optional": true}
                    ]
                  }
                ]
              },
              "nextSequence": \(count + 1),
              "records": {
                "Folder": [
            \(records.joined(separator: ",\n"))
                ]
              },
              "seal": "crc32c:00000000"}

            """
        try Data(text.utf8).write(to: folder.url.appending(path: "folders.json"))
        return folder.storeURL("folders.json") + "?integrity=acceptEdits"
    }

    /// Defect: 1,500 steps ended the tool with a signal.
    @Test func aPathHasUpTo64Steps() throws {
        let folder = try ToolFolder()
        let store = try folders(folder)
        func path(_ steps: Int) -> String { String(repeating: "parent.", count: steps - 1) + "name" }
        for (option, end) in [("--where", " == 'x'"), ("--sort", ""), ("--select", "")] {
            #expect(try ToolRun("fetch", store, "Folder", option, path(64) + end).status == 0, "\(option)")
            for steps in [65, 1_500, 8_000] {
                let run = try ToolRun("fetch", store, "Folder", option, path(steps) + end)
                #expect(run.status == ToolExitStatus.usage, "\(option) \(steps): \(run.status)")
                #expect(run.errors.contains("64 steps"), "\(run.errors)")
            }
        }
    }

    /// Defect: a pattern with repetitions within repetitions kept the tool busy for as long as it took.
    @Test(.timeLimit(.minutes(15))) func aRegularExpressionHasATimeLimit() throws {
        let folder = try ToolFolder()
        let store = try folders(folder)
        // Some twenty seconds for each record: what goes on after the limit must not take a core from all later tests.
        let run = try ToolRun("fetch", store, "Folder", "--where", "name matches \"^(a|a){25}b\"", "--count")
        #expect(run.status == ToolExitStatus.usage)
        #expect(run.errors.contains("took longer than 5"), "\(run.errors)")
        #expect(try ToolRun("fetch", store, "Folder", "--where", "name matches \"a 2$\"", "--count").output == "1\n")
    }

    @Test func infoReadsTheHeadersOfALargeStoreUnlessAskedForMore() throws {
        let folder = try ToolFolder()
        let store = try folders(folder, 60_000)
        let quick = try ToolRun("info", store)
        #expect(
            quick.status == 0 && quick.output.contains("not counted; pass --check"), "\(quick.output)\(quick.errors)")
        #expect(quick.output.contains("name: string, parent: Folder?"))
        let json = try ToolRun("info", store, "--format", "json")
        #expect(json.output.contains("\"state\":\"notChecked\"") && json.output.contains("\"records\":null"))
        // Nothing in the middle is read, of either kind.
        let log = folder.storeURL("folders.log")
        #expect(try ToolRun("copy", store, log).status == 0)
        for (name, url) in [("folders.json", store), ("folders.log", log)] {
            let file = folder.url.appending(path: name)
            let sound = try Data(contentsOf: file)
            #expect(sound.count > 4_000_000)
            var damaged = sound
            damaged[damaged.count / 2] ^= 0x80
            try damaged.write(to: file)
            #expect(try ToolRun("info", url).status == 0, "\(name)")
            #expect(try ToolRun("info", url, "--check").status == ToolExitStatus.damaged, "\(name)")
            try sound.write(to: file)
        }
        let whole = try ToolRun("info", store, "--check")
        #expect(whole.output.contains("records       60,000") && whole.output.contains("every byte was checked"))
    }

    @Test func aStoreOpenForReadingIsNamedInTheTerms() throws {
        let folder = try ToolFolder()
        let (store, target) = (try folders(folder), folder.storeURL("copy.log"))
        #expect(try ToolRun("copy", store, target).status == 0)
        let run = try ToolRun("copy", store, target + "?allowsSave=false", "--replace")
        #expect(run.status != 0 && run.errors.contains("without ?allowsSave=false"), "\(run.errors)")
    }

    @Test func mistakesAreNamedInTheTerms() throws {
        let folder = try ToolFolder()
        let store = try folders(folder)
        let sealed = try ToolRun("info", folder.storeURL("folders.json"))
        #expect(sealed.errors.contains("mortise reseal json:") && sealed.errors.contains("?integrity=acceptEdits"))
        let verified = try ToolRun("verify", folder.storeURL("folders.json"))
        #expect(verified.status == ToolExitStatus.damaged && verified.output.contains("seal"))
        #expect(!verified.errors.contains("seal") && verified.errorLines.count == 1, "\(verified.errors)")
        #expect(try ToolRun("fetch", store, "Folder", "--limit", "-1").errors.contains("must not be negative"))
        let mistyped = try ToolRun("fetc", store)
        #expect(mistyped.status == ToolExitStatus.usage && mistyped.errors.contains("did you mean \"fetch\"?"))
        let below = try ToolRun("schema", "dif", store)
        #expect(below.status == ToolExitStatus.usage, "\(below.status)")
        #expect(below.errors.contains("unknown verb \"schema dif\" (did you mean \"diff\"?)"), "\(below.errors)")
        #expect(below.errors.contains("see mortise schema --help"), "\(below.errors)")
        // Two letters in each other's place are one slip.
        #expect(Suggestion.text("frist", among: ["first", "last"]) == " (did you mean \"first\"?)")
        #expect(Suggestion.text("Onwer", among: ["Animal", "Owner"]) == " (did you mean \"Owner\"?)")
        #expect(Suggestion.text("xyz", among: ["first", "last"]) == "")
        #expect(FigureText.figure(1, "transactions dropped") == "1 transaction dropped")
        #expect(FigureText.figure(2, "transactions dropped") == "2 transactions dropped")
    }
}
#endif
