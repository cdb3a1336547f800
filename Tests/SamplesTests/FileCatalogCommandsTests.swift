#if Tool
import Foundation
import Testing

/// The sub-commands, and what happens when the command line asks for the impossible.
struct FileCatalogCommandsTests {
    @Test func largestAndNewestAreSorted() async throws {
        let sandbox = try Sandbox()
        for (index, name) in ["small", "middle", "big"].enumerated() {
            let file = try sandbox.write(String(repeating: "x", count: 10 * (index + 1)), to: "tree/\(name)")
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: Double(1_000_000 - index))],
                ofItemAtPath: file.path)
        }
        let largest = try await lines("largest", sandbox.path("tree"), "--limit", "2")
        #expect(largest.map(\.last) == ["file", "big", "middle"])
        let newest = try await lines("newest", sandbox.path("tree"))
        #expect(newest.dropFirst().map(\.last) == ["small", "middle", "big"])
    }

    @Test func totalsAddUp() async throws {
        let sandbox = try Sandbox()
        try sandbox.write("12345", to: "tree/a.swift")
        try sandbox.write("123", to: "tree/b.swift")
        try sandbox.write("1", to: "tree/c.png")
        try sandbox.write("", to: "tree/.d")
        let totals = try await lines("totals", sandbox.path("tree"))
        #expect(totals.contains(["source", "swift", "2", "8"]))
        #expect(totals.contains(["image", "png", "1", "1"]))
        #expect(totals.contains(["all", "4", "9"]))
        #expect(totals.contains(["source", "2"]))
        #expect(totals.contains(["hidden", "1"]))
        #expect(totals.contains(["empty", "1"]))
    }

    @Test func duplicatesHoldTheSameBytes() async throws {
        let sandbox = try Sandbox()
        let store = "json:" + sandbox.path("catalog.json")
        try sandbox.write("the same", to: "tree/one")
        try sandbox.write("the same", to: "tree/sub/two")
        try sandbox.write("not same", to: "tree/three")
        try sandbox.write("", to: "tree/empty1")
        try sandbox.write("", to: "tree/empty2")
        #expect(link(sandbox.path("tree/three"), sandbox.path("tree/hard")) == 0)
        for _ in 1...2 {
            let outcome = try await SampleProgram.fileCatalog.run(
                "duplicates", sandbox.path("tree"), "--store", store)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(
                outcome.output == """
                    2 files of 8 bytes
                      one
                      sub/two
                    1 group of duplicates; 8 bytes could be freed

                    """)
        }
        try sandbox.write("changed!", to: "tree/one")
        let stale = try await SampleProgram.fileCatalog.run("duplicates", sandbox.path("tree"), "--store", store)
        #expect(stale.output.contains("not compared: one: changed since the last scan"))
    }

    @Test func aMissingFolderIsOneLineAndNoStore() async throws {
        let sandbox = try Sandbox()
        let outcome = try await SampleProgram.fileCatalog.run(
            sandbox.path("nowhere"), "--store", "json:" + sandbox.path("catalog.json"))
        expectOneLineFailure(outcome, mentioning: "nowhere")
        #expect(try sandbox.entries().isEmpty)
    }

    @Test func anUnknownStoreIsOneLine() async throws {
        let sandbox = try Sandbox()
        let outcome = try await SampleProgram.fileCatalog.run(sandbox.folder.path, "--store", "cloud:somewhere")
        expectOneLineFailure(outcome, mentioning: "cloud")
        #expect(try sandbox.entries().isEmpty)
    }

    @Test func theCatalogOfAnotherFolderIsRefused() async throws {
        let sandbox = try Sandbox()
        let store = "json:" + sandbox.path("catalog.json")
        try sandbox.write("text", to: "one/file")
        try sandbox.write("text", to: "two/file")
        #expect(try await SampleProgram.fileCatalog.run(sandbox.path("one"), "--store", store).status == 0)
        let saved = sandbox.contents("catalog.json")
        let outcome = try await SampleProgram.fileCatalog.run(sandbox.path("two"), "--store", store)
        expectOneLineFailure(outcome, mentioning: "another")
        #expect(sandbox.contents("catalog.json") == saved)
    }

    @Test func aDamagedStoreIsLeftAsItIs() async throws {
        let sandbox = try Sandbox()
        try sandbox.write("{ this is no store", to: "catalog.json")
        try sandbox.makeFolder("tree")
        let outcome = try await SampleProgram.fileCatalog.run(
            sandbox.path("tree"), "--store", "json:" + sandbox.path("catalog.json"))
        expectOneLineFailure(outcome, mentioning: "catalog.json")
        #expect(sandbox.contents("catalog.json") == Data("{ this is no store".utf8))
    }

    /// The words of every line that a sub-command prints about a folder cataloged in memory.
    private func lines(_ command: String, _ folder: String, _ options: String...) async throws -> [[String]] {
        let limit = options.last ?? "0"
        let outcome = try await SampleProgram.fileCatalog.run(
            command, folder, "--store", "memory:", "--limit", limit)
        #expect(outcome.status == 0, "\(outcome.errors)")
        return outcome.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    }
}

/// Expects that a program failed, printed nothing as a result, and said why in one line that contains `word`.
func expectOneLineFailure(
    _ outcome: SampleProgram.Outcome, mentioning word: String, sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(outcome.status != 0, sourceLocation: sourceLocation)
    #expect(outcome.output.isEmpty, sourceLocation: sourceLocation)
    let lines = outcome.errors.split(separator: "\n")
    #expect(lines.count == 1, "\(outcome.errors)", sourceLocation: sourceLocation)
    #expect(outcome.errors.contains(word), "\(outcome.errors)", sourceLocation: sourceLocation)
}
#endif
