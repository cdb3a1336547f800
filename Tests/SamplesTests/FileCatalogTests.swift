#if Tool
import Foundation
import Testing

/// The catalog of a folder agrees with the folder, whatever is in it.
struct FileCatalogTests {
    @Test(arguments: ["memory:", "json:"])
    func countsAgreeWithFind(scheme: String) async throws {
        let sandbox = try Sandbox()
        try makeTree(in: sandbox)
        let store = scheme == "json:" ? "json:" + sandbox.path("catalog.json") : scheme
        let found = try FoundTree(sandbox.path("tree"))
        for _ in 1...2 {
            let outcome = try await SampleProgram.fileCatalog.run(
                sandbox.path("tree"), "--store", store, "--json")
            #expect(outcome.status == 0, "\(outcome.errors)")
            let scan = try ScanOutput(outcome)
            #expect(scan.files == found.files)
            #expect(scan.folders == found.folders)
            #expect(scan.symbolicLinks == 2)
            #expect(scan.specialFiles == 1)
            #expect(scan.problems.isEmpty)
        }
    }

    @Test func secondScanOfAnUnchangedFolderWritesNothing() async throws {
        let sandbox = try Sandbox()
        try makeTree(in: sandbox)
        let store = "json:" + sandbox.path("catalog.json")
        let first = try ScanOutput(
            try await SampleProgram.fileCatalog.run(sandbox.path("tree"), "--store", store, "--json"))
        #expect(first.isFirst)
        #expect(first.addedFiles.count == first.files)
        let saved = try #require(sandbox.contents("catalog.json"))
        let second = try ScanOutput(
            try await SampleProgram.fileCatalog.run(sandbox.path("tree"), "--store", store, "--json"))
        #expect(!second.isFirst)
        let differences = [
            second.addedFiles, second.changedFiles, second.removedFiles, second.addedFolders, second.removedFolders,
        ]
        #expect(differences.allSatisfy { $0.count == 0 })
        #expect(sandbox.contents("catalog.json") == saved)
    }

    @Test func differencesAreToldOnce() async throws {
        let sandbox = try Sandbox()
        try makeTree(in: sandbox)
        let store = "json:" + sandbox.path("catalog.json")
        _ = try await SampleProgram.fileCatalog.run(sandbox.path("tree"), "--store", store)

        try sandbox.write("a longer text than before", to: "tree/notes.txt")
        try sandbox.write("new", to: "tree/new/deep/file.swift")
        try sandbox.remove("tree/pictures")
        let second = try ScanOutput(
            try await SampleProgram.fileCatalog.run(sandbox.path("tree"), "--store", store, "--json"))
        #expect(second.addedFiles.paths == ["new/deep/file.swift"])
        #expect(second.addedFolders.paths == ["new", "new/deep"])
        #expect(second.changedFiles.paths == ["notes.txt"])
        #expect(second.removedFiles.paths == ["pictures/a.png", "pictures/b.png"])
        #expect(second.removedFolders.paths == ["pictures"])

        let third = try await SampleProgram.fileCatalog.run(sandbox.path("tree"), "--store", store)
        #expect(third.output.contains("nothing has changed"))
    }

    @Test func aStoreInTheFolderIsLeftOutAndNamed() async throws {
        let sandbox = try Sandbox()
        try sandbox.write("text", to: "file.txt")
        let store = "json:" + sandbox.path("catalog.json")
        for _ in 1...3 {
            let scan = try ScanOutput(
                try await SampleProgram.fileCatalog.run(sandbox.folder.path, "--store", store, "--json"))
            #expect(scan.files == 1)
            #expect(scan.changedFiles.count == 0)
        }
        let last = try ScanOutput(
            try await SampleProgram.fileCatalog.run(sandbox.folder.path, "--store", store, "--json"))
        #expect(last.leftOut.contains("catalog.json"))
        #expect(last.leftOut.count + last.files == (try FoundTree(sandbox.folder.path).files))
    }

    @Test func theDefaultStoreIsInTheUsersDataFolder() async throws {
        let (sandbox, data) = (try Sandbox(), try Sandbox())
        try makeTree(in: sandbox)
        let before = try sandbox.entries()
        for round in 1...2 {
            let outcome = try await SampleProgram.fileCatalog.run(
                sandbox.path("tree"), "--json", dataFolder: data.folder)
            #expect(try ScanOutput(outcome).isFirst == (round == 1))
        }
        #expect(try sandbox.entries() == before)
        let logs = try FileManager.default.subpathsOfDirectory(atPath: data.folder.path).filter { $0.hasSuffix(".log") }
        #expect(logs.count == 1)
        let log = try Data(contentsOf: data.folder.appending(path: logs.first ?? ""))
        #expect(log.prefix(5) == Data([0x89] + Array("MLOG".utf8)))
    }

    @Test(.enabled(if: geteuid() != 0, "the superuser can read every folder"))
    func unreadableFoldersAreReportedAndKept() async throws {
        let sandbox = try Sandbox()
        try sandbox.write("text", to: "tree/closed/file.txt")
        let store = "json:" + sandbox.path("catalog.json")
        _ = try await SampleProgram.fileCatalog.run(sandbox.path("tree"), "--store", store)
        chmod(sandbox.path("tree/closed"), 0)
        defer { chmod(sandbox.path("tree/closed"), 0o700) }
        let scan = try ScanOutput(
            try await SampleProgram.fileCatalog.run(sandbox.path("tree"), "--store", store, "--json"))
        #expect(scan.problems.map(\.path) == ["closed"])
        #expect(scan.folders == 2)
        #expect(scan.removedFiles.count == 0)
        #expect(scan.keptUnseen == 1)
    }

    @Test func aTreeDeeperThanAnyPathIsWalked() async throws {
        let sandbox = try Sandbox()
        try sandbox.makeFolder("tree")
        defer { try? sandbox.runShell("rm -rf tree") }
        try sandbox.runShell(
            "cd tree; for i in $(seq 600); do mkdir a-folder-name; : > file; cd -P a-folder-name || exit 1; done")
        let scan = try ScanOutput(
            try await SampleProgram.fileCatalog.run(sandbox.path("tree"), "--store", "memory:", "--json"))
        #expect(scan.problems.isEmpty)
        #expect(scan.files == 600)
        #expect(scan.folders == 601)
    }

    /// A small tree with everything that a name or an entry can be: 2 symbolic links and 1 pipe among them.
    private func makeTree(in sandbox: Sandbox) throws {
        try sandbox.write("some text", to: "tree/notes.txt")
        try sandbox.write("", to: "tree/.hidden/empty")
        try sandbox.write("picture", to: "tree/pictures/a.png")
        try sandbox.write("picture", to: "tree/pictures/b.png")
        try sandbox.write("x", to: "tree/two\nlines")
        try sandbox.write("x", to: "tree/back\\xslash")
        try sandbox.makeFolder("tree/nothing/in/here")
        let root = sandbox.path("tree")
        symlink("notes.txt", root + "/link")
        symlink("/", root + "/nothing/everything")
        mkfifo(root + "/pipe", 0o600)
        for name: [UInt8] in [[0xC3, 0xA9], [0x65, 0xCC, 0x81], [0x63, 0xFF], [0x63, 0xFE]] {
            let path = (Array(root.utf8) + [0x2F] + name + [0]).map(CChar.init(bitPattern:))
            close(open(path, O_CREAT | O_WRONLY, 0o600))
        }
    }
}
#endif
