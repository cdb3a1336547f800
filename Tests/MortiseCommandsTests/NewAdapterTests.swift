import Foundation
import Testing

/// `mortise new-adapter` writes the package in `Tests/NewAdapter`, which is built and tested as a part of this one.
@Suite struct NewAdapterTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardizedFileURL
    private static let package = root.appending(path: "Tests/NewAdapter")

    private func text(_ file: URL) throws -> String { try String(contentsOf: file, encoding: .utf8) }

    private func paths(in folder: URL) throws -> Set<String> {
        let all = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        var isFolder: ObjCBool = false
        return Set(
            all.filter { path in
                FileManager.default.fileExists(atPath: folder.appending(path: path).path, isDirectory: &isFolder)
                    && !isFolder.boolValue
            })
    }

    @Test func thePackageIsTheOneThatIsTestedHere() throws {
        let folder = try ToolFolder()
        let run = try ToolRun("new-adapter", "Shelf", "--mortise", Self.root.path, "--in", folder.url.path)
        try #require(run.status == 0, "\(run.errors)")
        let new = folder.url.appending(path: "Shelf")
        let kept = try paths(in: Self.package)
        #expect(try paths(in: new) == kept.union(["Package.swift", ".gitignore"]))
        for path in kept {
            let expected = try text(Self.package.appending(path: path)).replacing(
                "](MORTISE)", with: "](\(Self.root.path))")
            #expect(try text(new.appending(path: path)) == expected, "\(path)")
            #expect(run.output.contains("/Shelf/\(path)\n"))
        }
        let manifest = try text(new.appending(path: "Package.swift"))
        #expect(manifest.contains(".package(name: \"Mortise\", path: \"\(Self.root.path)\")"))
    }

    @Test func theNameIsEverywhere() throws {
        let folder = try ToolFolder()
        let url = "https://example.com/somebody/mortise.git"
        let run = try ToolRun("new-adapter", "PaperStore", "--mortise", url, "--in", folder.url.path)
        try #require(run.status == 0, "\(run.errors)")
        let new = folder.url.appending(path: "Paper")
        #expect(
            try paths(in: new) == [
                "Package.swift", ".gitignore", "README.md", "Sources/Paper/PaperStore.swift",
                "Sources/paper-conformance/main.swift", "Tests/PaperTests/ConformanceTests.swift",
            ])
        for path in try paths(in: new) {
            #expect(try !text(new.appending(path: path)).lowercased().contains("shelf"), "\(path)")
        }
        let manifest = try text(new.appending(path: "Package.swift"))
        #expect(manifest.contains(".package(url: \"\(url)\", branch: \"main\")"))
        #expect(manifest.contains(".product(name: \"MortiseCore\", package: \"mortise\")"))
        // The tests start the program, so that it has to be built with them.
        #expect(manifest.contains("\"Paper\", \"paper-conformance\", .product(name: \"MortiseConformance\""))
        let tests = try text(new.appending(path: "Tests/PaperTests/ConformanceTests.swift"))
        #expect(tests.contains("ConformanceProgram.beside(\"paper-conformance\")"))
    }

    @Test func whatCannotBeMadeIsRefusedAndChangesNothing() throws {
        let folder = try ToolFolder()
        func refusal(_ name: String, _ mortise: String = Self.root.path) throws -> (Int32, String) {
            let run = try ToolRun("new-adapter", name, "--mortise", mortise, "--in", folder.url.path)
            return (run.status, run.errors)
        }
        let taken = [
            "Mortise", "Foundation", "Type", "Any", "Self", "SwiftData", "XCTest", "Dispatch", "Testing", "TypeStore",
        ]
        for name in ["shelf", "Sh elf", "../Shelf", "", "Sh\"elf", "Große"] + taken {
            let (status, errors) = try refusal(name)
            #expect(status == 64, "\(name): \(errors)")
        }
        let (usage, reason) = try refusal("Shelf", folder.url.path)
        #expect(usage == 64 && reason.contains("no checkout of Mortise"), "\(reason)")
        #expect(try paths(in: folder.url) == [])
        #expect(try refusal("Shelf").0 == 0)
        let store = folder.url.appending(path: "Shelf/Sources/Shelf/ShelfStore.swift")
        try Data("mine".utf8).write(to: store)
        let (status, errors) = try refusal("Shelf")
        #expect(status == 73 && errors.contains("exists already"), "\(errors)")
        #expect(try text(store) == "mine")
    }

    @Test(.enabled(if: MillionCopyTests.isFull, "it builds the kit anew, which takes minutes: Tests/run tool"))
    func aNewPackageBuildsAndPassesItsTests() throws {
        let folder = try ToolFolder()
        let run = try ToolRun("new-adapter", "Drawer", "--mortise", Self.root.path, "--in", folder.url.path)
        try #require(run.status == 0, "\(run.errors)")
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["swift", "test"]
        process.currentDirectoryURL = folder.url.appending(path: "Drawer")
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(text.suffix(4_000))")
        #expect(text.contains("conforms(_:) with "), "\(text.suffix(4_000))")
    }
}
