#if Tool
import Foundation
import Testing

/// The library goes in by one process, and another one answers every question as the reference does.
@Suite
struct MusicLibraryTests {
    @Test func everyAnswerIsTheReferences() async throws {
        let sandbox = try Sandbox()
        let store = "json:" + sandbox.path("library.json")
        let imported = try await SampleProgram.musicLibrary.run("import", Chinook.data.path, "--store", store)
        #expect(imported.status == 0, "\(imported.errors)")
        #expect(imported.output.contains("15607 rows of 11 tables"))
        try await expectReferenceAnswers(from: store)
    }

    @Test func aLibraryInMemoryIsImportedAndAskedByOneProcess() async throws {
        try await expectReferenceAnswers(from: "memory:", options: "--from", Chinook.data.path)
    }

    @Test func aSecondImportIsRefusedAndReplacesWhenAsked() async throws {
        let sandbox = try Sandbox()
        let store = "json:" + sandbox.path("library.json")
        _ = try await SampleProgram.musicLibrary.run("import", Chinook.data.path, "--store", store)
        let saved = sandbox.contents("library.json")
        let refused = try await SampleProgram.musicLibrary.run("import", Chinook.data.path, "--store", store)
        expectOneLineFailure(refused, mentioning: "--replace")
        #expect(sandbox.contents("library.json") == saved)
        let replaced = try await SampleProgram.musicLibrary.run(
            "import", Chinook.data.path, "--store", store, "--replace")
        #expect(replaced.status == 0, "\(replaced.errors)")
        try await expectReferenceAnswers(from: store)
    }

    @Test func aFailedReplacementLeavesTheLibrary() async throws {
        let sandbox = try Sandbox()
        let store = "json:" + sandbox.path("library.json")
        _ = try await SampleProgram.musicLibrary.run("import", Chinook.data.path, "--store", store)
        let saved = sandbox.contents("library.json")
        let text = String(decoding: try Data(contentsOf: Chinook.data), as: UTF8.self)
        let supporter = try #require(text.range(of: #""SupportRepId": "#))
        let file = try sandbox.write(
            text.replacingCharacters(in: supporter, with: #""SupportRepId": 9"#), to: "bad.json")
        let outcome = try await SampleProgram.musicLibrary.run("import", file.path, "--store", store, "--replace")
        expectOneLineFailure(outcome, mentioning: "the table Employee has no row with the key 9")
        #expect(sandbox.contents("library.json") == saved)
    }

    private func expectReferenceAnswers(from store: String, options: String...) async throws {
        let outcome = try await SampleProgram.musicLibrary.run(["answers", "--store", store] + options)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let answers = try JSONDecoder().decode([String: JSONValue].self, from: Data(outcome.output.utf8))
        let reference = try Chinook.reference()
        #expect(answers.keys.sorted() == reference.keys.sorted())
        for (key, answer) in reference {
            #expect(answers[key] == answer, "\(key)")
        }
    }
}
#endif
