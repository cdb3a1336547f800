#if Tool
import Foundation
import PackageTestSupport
import Testing

/// What `file-catalog` leaves out is what Git ignores, and `.git` and `.build`.
struct IgnoredNamesTests {
    @Test func whatGitIgnoresIsLeftOut() async throws {
        var random = SeededGenerator(seed: testSeed())
        var ignoredEntries = 0
        for _ in 1...25 {
            let sandbox = try Sandbox()
            try sandbox.makeFolder("tree")
            try Self.fill("tree", in: sandbox, depth: 0, &random)
            let all = Set(try FileManager.default.subpathsOfDirectory(atPath: sandbox.path("tree")))
            let ignored = try Self.ignoredByGit(all, in: sandbox)
            ignoredEntries += ignored.count
            let scan = try ScanOutput(
                try await SampleProgram.fileCatalog.run(
                    sandbox.path("tree"), "--store", "memory:", "--json", "--limit", "0"))
            #expect(scan.problems.isEmpty)
            let found = Set(scan.addedFiles.paths + scan.addedFolders.paths).subtracting(["."])
            let wanted = all.subtracting(ignored)
            let rules = all.filter { $0.hasSuffix(".gitignore") }.sorted().map { name in
                "\(name):\n\(sandbox.contents("tree/" + name).map { String(decoding: $0, as: UTF8.self) } ?? "")"
            }
            #expect(
                found == wanted,
                """
                left out, unlike Git: \(wanted.subtracting(found).sorted())
                taken in, unlike Git: \(found.subtracting(wanted).sorted())
                \(rules.joined(separator: "\n"))
                """)
        }
        #expect(ignoredEntries > 100, "hardly anything was ignored: \(ignoredEntries)")
    }

    @Test func gitAndBuildAreLeftOutAndCounted() async throws {
        let sandbox = try Sandbox()
        for name in [
            ".git/config", ".build/debug/program", "sub/.build/x", "sub/.git", "node/a/b", "kept/.buildings",
            "kept/x.o",
        ] {
            try sandbox.write("text", to: "tree/" + name)
        }
        try sandbox.write("node/\n!.build\n*.o\n", to: "tree/.gitignore")
        let scan = try await Self.scan(sandbox)
        #expect(scan.addedFiles.paths == [".gitignore", "kept/.buildings"])
        #expect(scan.ignored == 6 && scan.folders == 3)
        let text = try await SampleProgram.fileCatalog.run(sandbox.path("tree"), "--store", "memory:").output
        #expect(text.contains("\n6 entries left out"))
        let everything = try await Self.scan(sandbox, "--everything")
        #expect(everything.ignored == 0)
        #expect(everything.files == (try FoundTree(sandbox.path("tree")).files))
    }

    /// A file of this name that cannot be read as rules leaves nothing out, keeps nobody waiting, and is told.
    @Test func whatIsNoFileOfRulesLeavesNothingOut() async throws {
        let sandbox = try Sandbox()
        for folder in ["link", "pipe", "folder", "long"] { try sandbox.write("text", to: "tree/\(folder)/file") }
        try sandbox.write("file\n", to: "rules")
        symlink("../../rules", sandbox.path("tree/link/.gitignore"))
        mkfifo(sandbox.path("tree/pipe/.gitignore"), 0o600)
        try sandbox.makeFolder("tree/folder/.gitignore")
        try sandbox.write(String(repeating: "file\n", count: 300_000), to: "tree/long/.gitignore")
        let scan = try await Self.scan(sandbox)
        #expect(scan.addedFiles.paths == ["folder/file", "link/file", "long/.gitignore", "long/file", "pipe/file"])
        #expect(scan.problems.map(\.path) == ["long/.gitignore"])
    }

    /// Going back and forth between stars, this would take longer than anyone waits.
    @Test(.timeLimit(.minutes(15))) func manyStarsTakeNoTime() async throws {
        let sandbox = try Sandbox()
        try sandbox.write(String(repeating: "*a", count: 60) + "b\n", to: "tree/.gitignore")
        try sandbox.write("text", to: "tree/" + String(repeating: "a", count: 200))
        #expect(try await Self.scan(sandbox).files == 2)
    }

    private static func scan(_ sandbox: Sandbox, _ options: String...) async throws -> ScanOutput {
        try ScanOutput(
            try await SampleProgram.fileCatalog.run([sandbox.path("tree"), "--store", "memory:", "--json"] + options))
    }

    // MARK: Trees

    private static let names = [
        "a", "b", "ab", "abc", "foo", "foo.o", "bar.o", "build", "#x", "!y", " z", "w ", "x y", "a[b", "back\\slash",
        "-", "]", "é",
    ]
    private static let segments =
        names + [
            "*", "**", "?", "??", "a*", "*b", "*.o", "f?o*", "*o*", "[a-c]", "[!a]*", "[^ab]", "[]-]", "[[:alpha:]]",
            "[[:no:]]",
            "[a", "[a\\]b]", "\\#x", "\\!y", "\\a", "a\\[b", "back\\\\slash", "w\\ ", "end\\", "***", "[b-]", "[z-a]",
            "*/*",
        ]

    private static func fill(
        _ folder: String, in sandbox: Sandbox, depth: Int, _ random: inout SeededGenerator
    ) throws {
        for _ in 0..<random.below(7) + 2 {
            let path = "\(folder)/\(random.pick(names))"
            if FileManager.default.fileExists(atPath: sandbox.path(path)) { continue }
            if depth < 3 && random.chance(2) {
                try sandbox.makeFolder(path)
                try fill(path, in: sandbox, depth: depth + 1, &random)
            } else {
                try sandbox.write("", to: path)
            }
        }
        if depth == 0 || random.chance(3) {
            let lines = (0...random.below(6)).map { _ in line(&random) }
            try sandbox.write(
                (random.chance(8) ? "\u{FEFF}" : "") + lines.joined(separator: random.chance(4) ? "\r\n" : "\n"),
                to: folder + "/.gitignore")
        }
    }

    private static func line(_ random: inout SeededGenerator) -> String {
        switch random.below(20) {
        case 0: return "# \(random.pick(names))"
        case 1: return random.pick(["", "/", "!", "  ", "//", "!/", "\\"])
        default:
            let path = (0...random.below(4) / 2).map { _ in random.pick(segments) }.joined(separator: "/")
            return (random.chance(5) ? "!" : "") + (random.chance(4) ? "/" : "") + path + (random.chance(4) ? "/" : "")
                + (random.chance(6) ? "  " : "")
        }
    }

    private static func ignoredByGit(_ paths: Set<String>, in sandbox: Sandbox) throws -> Set<String> {
        let list = try sandbox.write(paths.sorted().joined(separator: "\0"), to: "paths")
        try sandbox.runShell(
            """
            unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
            export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_DIR=\(sandbox.path("repository"))
            git init -q --bare
            git --work-tree=tree config core.bare false
            cd tree && git --work-tree=. check-ignore -z --stdin < '\(list.path)' > ../ignored || test $? = 1
            """)
        let output = sandbox.contents("ignored") ?? Data()
        return Set(output.split(separator: 0).map { String(decoding: $0, as: UTF8.self) })
    }
}
#endif
