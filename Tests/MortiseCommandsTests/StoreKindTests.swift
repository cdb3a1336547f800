#if Tool
import Foundation
@testable import MortiseCommands
import Testing

/// Stores that are named by their paths alone.
@Suite struct StoreKindTests {
    @Test func theFileTellsTheKind() throws {
        let folder = try ToolFolder()
        _ = try folder.trips("one.json", 3)
        let log = try folder.trips("two.log", 4)
        // The name says nothing.
        try FileManager.default.moveItem(atPath: folder.path("one.json"), toPath: folder.path("one:a.log"))
        try FileManager.default.moveItem(atPath: folder.path("two.log"), toPath: folder.path("two"))
        for (name, count) in [("one:a.log", "3\n"), ("two", "4\n")] {
            let run = try ToolRun(["fetch", name, "Trip", "--count"], in: folder)
            #expect(run.status == 0 && run.output == count, "\(name): \(run.errors)")
        }
        #expect(try ToolRun("info", folder.path("two") + "?durability=none").output.contains("records"))
        #expect(try ToolRun("verify", folder.path("two")).status == 0)
        #expect(try ToolRun("fetch", log, "Trip").status == ToolExitStatus.missing)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link"), withDestinationPath: folder.path("two"))
        #expect(try ToolRun("fetch", folder.path("link"), "Trip", "--count").output == "4\n")
        #if SQLite
        let copied = try ToolRun("copy", folder.path("two"), "sqlite:" + folder.path("three"))
        #expect(copied.status == 0, "\(copied.errors)")
        #expect(try ToolRun("fetch", folder.path("three"), "Trip", "--count").output == "4\n")
        #endif
    }

    @Test func aDamagedStoreHasItsKindStill() throws {
        let folder = try ToolFolder()
        _ = try folder.trips("trips.log", 4)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path("trips.log")))
        bytes[20] ^= 0xFF
        try bytes.write(to: URL(fileURLWithPath: folder.path("trips.log")))
        let run = try ToolRun("verify", folder.path("trips.log"))
        #expect(run.status == ToolExitStatus.damaged, "\(run)")
    }

    @Test func whatIsNoStoreIsSaid() throws {
        let folder = try ToolFolder()
        let files: [(String, [UInt8], String)] = [
            ("empty", [], "it is empty"), ("zeros", Array(repeating: 0, count: 4_096), "begins as no store"),
            ("half", [0x89, 0x4D, 0x4C], "begins as no store"), ("list.json", Array("[1]".utf8), "begins as no store"),
            ("other.json", Array("{\"formats\":1}".utf8), "begins as no store"),
            ("noise", (0..<600).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) }, " before the path"),
            ("records.csv", Array("name\nOslo\n".utf8), "use \"mortise import\""),
        ]
        for (name, bytes, words) in files {
            try Data(bytes).write(to: URL(fileURLWithPath: folder.path(name)))
            let run = try ToolRun("fetch", folder.path(name), "Trip")
            #expect(run.status == ToolExitStatus.usage && run.errors.contains(words), "\(name): \(run)")
            #expect(run.errorLines.count == 1 && run.output == "")
        }
        // What begins as a store is handed to its adapter, which finds what is wrong.
        for (name, text) in [
            ("open", "{\"format\":"), ("deep", " {\n\t\"format\" : " + String(repeating: "[", count: 9_999)),
        ] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path(name)))
            let run = try ToolRun("fetch", folder.path(name), "Trip")
            #expect(run.status == ToolExitStatus.damaged && run.errorLines.count == 1, "\(name): \(run)")
        }
        #expect(try ToolRun("fetch", folder.url.path, "Trip").errors.contains("is a folder"))
        let pipe = folder.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(try ToolRun("fetch", pipe, "Trip").errors.contains("is no regular file"))
        #expect(try ToolRun("fetch", folder.path("none.log"), "Trip").errors.contains("no scheme"))
    }
}
#endif
