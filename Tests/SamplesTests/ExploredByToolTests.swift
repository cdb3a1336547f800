#if Tool
import Foundation
import Testing

/// The tool looks into what a sample has written. It is built without any of the sample's models.
struct ExploredByToolTests {
    private static let tool = SampleProgram(name: "mortise")

    private func catalog(_ scheme: String, _ sandbox: Sandbox) async throws -> String {
        try sandbox.write(String(repeating: "x", count: 30_000), to: "tree/Sources/large.swift")
        try sandbox.write("small", to: "tree/Sources/small.swift")
        try sandbox.write(String(repeating: "y", count: 30_000), to: "tree/Tests/large.swift")
        let store = scheme + sandbox.path("catalog")
        let outcome = try await SampleProgram.fileCatalog.run(sandbox.path("tree"), "--store", store)
        #expect(outcome.status == 0, "\(outcome.errors)")
        return store
    }

    private func output(_ arguments: String...) async throws -> String {
        let outcome = try await Self.tool.run(arguments)
        #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
        #expect(outcome.errors.isEmpty)
        return outcome.output
    }

    @Test(arguments: ["log:", "json:"]) func aCatalogIsExploredFromItsURLAlone(_ scheme: String) async throws {
        let sandbox = try Sandbox()
        let store = try await catalog(scheme, sandbox)
        let info = try await output("info", store)
        #expect(info.contains("\nFile  3 records\n") && info.contains("\nFolder  3 records\n"), "\(info)")
        #expect(info.contains("size: int64") && info.contains("folder: Folder?"), "\(info)")

        let condition = #"size > 20_000 and folder.path beginsWith "Sources""#
        let found = try await output(
            "fetch", store, "File", "--where", condition, "--select", "path,size,folder.path", "--format", "csv")
        #expect(found == "path,size,folder.path\nSources/large.swift,30000,Sources\n")
        let plan = try await output("explain", store, "File", "--where", "size > 20_000")
        #expect(plan.contains("index File(size)") && plan.contains("2 rows scanned, 2 returned"), "\(plan)")
        #expect(try await output("verify", store).hasPrefix("sound: "))
    }

    @Test func aCopyByTheToolIsACatalogToTheSample() async throws {
        let sandbox = try Sandbox()
        let store = try await catalog("log:", sandbox)
        let copy = "json:" + sandbox.path("copy.json")
        #expect(try await output("copy", store, copy).contains("are equal in content and order"))
        let scan = try ScanOutput(
            try await SampleProgram.fileCatalog.run(sandbox.path("tree"), "--store", copy, "--json"))
        #expect(!scan.isFirst && scan.files == 3)
        let differences = [
            scan.addedFiles, scan.changedFiles, scan.removedFiles, scan.addedFolders, scan.removedFolders,
        ]
        #expect(differences.allSatisfy { $0.count == 0 })
    }

    /// A URL is printed without what may be a secret, whether the store takes it or not.
    @Test func samplesPrintNoSecrets() async throws {
        let sandbox = try Sandbox()
        let file = try sandbox.write("{}", to: "library.json")
        for store in ["log:\(sandbox.path("a"))?password=hunter2", "db://ada:hunter2@host", "log:a?hunter2"] {
            for outcome in [
                try await SampleProgram.fileCatalog.run(sandbox.folder.path, "--store", store),
                try await SampleProgram.musicLibrary.run("answers", "--store", store),
                try await SampleProgram.musicLibrary.run("import", file.path, "--store", store),
            ] {
                #expect(outcome.status != 0)
                #expect(!outcome.errors.contains("hunter2") && !outcome.output.contains("hunter2"), "\(outcome)")
            }
        }
    }

    /// The same where the store is there: its path looks like an address with a password.
    @Test func samplesPrintThePlaceOfAStoreWithoutSecrets() async throws {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("x:")
        try sandbox.makeFolder("tree")
        try sandbox.makeFolder("other")
        let store = "json:" + sandbox.path("x:") + "//ada:hunter2@catalog.json"
        let shown = "x://ada:…@catalog.json"
        let first = try await SampleProgram.fileCatalog.run(sandbox.path("tree"), "--store", store)
        #expect(first.status == 0 && first.output.contains(shown) && !first.output.contains("hunter2"), "\(first)")
        let json = try await SampleProgram.fileCatalog.run(sandbox.path("tree"), "--store", store, "--json")
        #expect(json.status == 0 && !json.output.contains("hunter2"), "\(json)")
        let other = try await SampleProgram.fileCatalog.run(sandbox.path("other"), "--store", store)
        expectOneLineFailure(other, mentioning: shown)
        #expect(!other.errors.contains("hunter2"))
        let empty = "json:" + sandbox.path("x:") + "//ada:hunter2@library.json"
        let answers = try await SampleProgram.musicLibrary.run("answers", "--store", empty)
        expectOneLineFailure(answers, mentioning: "x://ada:…@library.json")
        #expect(!answers.errors.contains("hunter2"))
    }
}
#endif
