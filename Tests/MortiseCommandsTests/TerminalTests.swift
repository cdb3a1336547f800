#if Tool
import Foundation
@testable import MortiseCommands
import MortiseCore
import Testing

/// Color and progress on a terminal, and nowhere else. The program `script` makes the terminal.
@Suite(.enabled(if: ProgramScript.isThere, "needs the program script of util-linux"))
struct TerminalTests {
    /// Runs the tool from a shell whose standard streams are a terminal.
    /// - Parameters:
    ///   - arguments: as the shell reads them, with redirections.
    ///   - text: what is typed.
    /// - Returns: what came to the terminal.
    private func onTerminal(
        _ arguments: String, in folder: ToolFolder, environment: [String: String] = [:], typing text: String? = nil
    ) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["script", "-qec", "'\(try ToolRun.executable().path)' \(arguments)", "/dev/null"]
        process.currentDirectoryURL = folder.url
        process.environment = ["PATH": "/usr/bin:/bin", "TERM": "xterm", "LANG": "C.UTF-8"].merging(environment) { $1 }
        let input = Pipe()
        process.standardInput = text == nil ? FileHandle.nullDevice as Any : input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        if let text { input.fileHandleForWriting.write(Data(text.utf8)) }
        let shown = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return shown
    }

    private func file(_ name: String, _ folder: ToolFolder) throws -> String {
        try String(contentsOfFile: folder.path(name), encoding: .utf8)
    }

    private static let escape = "\u{1B}["

    @Test(arguments: [
        "info json:trips.json", "explain json:trips.json Trip --where 'seats > 3'", "fetch json:trips.json Trip",
        "verify json:trips.json",
    ])
    func colourIsForTerminals(_ arguments: String) throws {
        let folder = try ToolFolder()
        _ = try folder.trips("trips.json", 3)
        let shown = try onTerminal(arguments, in: folder)
        #expect(shown.contains(Self.escape), "\(shown)")
        for environment in [["NO_COLOR": "1"], ["TERM": "dumb"]] {
            let plain = try onTerminal(arguments, in: folder, environment: environment)
            #expect(plain.contains("Trip") || plain.contains("sound"), "\(plain)")
            #expect(!plain.contains(Self.escape), "\(plain)")
        }
        #expect(try onTerminal(arguments + " > out", in: folder) == "")
        let written = try file("out", folder)
        #expect(!written.isEmpty && !written.contains(Self.escape), "\(written)")
    }

    @Test(arguments: [
        ("y", "note is notes"), ("n", "dropped"), ("", "note is notes"), ("what\nNO", "new: optional string"),
    ])
    func whatMayBeARenameIsAsked(_ answer: String, _ found: String) throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 3)
        let text = try SchemaDocument(TripStore.schema).text()
        let new = text.replacingOccurrences(of: "\"note\", \"kind\"", with: "\"notes\", \"kind\"")
        try Data(new.utf8).write(to: folder.url.appending(path: "new.json"))
        let shown = try onTerminal("schema diff \(store) new.json", in: folder, typing: answer + "\n")
        #expect(shown.contains("Was Trip.note renamed to notes? (89 of 100) [Y/n]"), "\(shown)")
        #expect(shown.contains(found), "\(shown)")
    }

    @Test func progressIsShownOnTheStandardErrorAlone() throws {
        let folder = try ToolFolder()
        _ = try folder.trips("trips.json", 200)
        let shown = try onTerminal("copy json:trips.json log:a.log --batch 50 > out", in: folder)
        #expect(shown.contains("[####################] copied 605 of 605 (100 %)"), "\(shown)")
        #expect(shown.contains("compared 605 of 605"), "\(shown)")
        #expect(shown.contains("\r["), "\(shown)")
        #expect(try file("out", folder).hasPrefix("copied and compared 605 records: "))
        #expect(try file("out", folder).split(separator: "\n").count == 1)

        // With the errors in a file there is no progress, neither there nor on the terminal.
        let plain = try onTerminal("copy json:trips.json log:b.log --batch 50 2> errors", in: folder)
        #expect(plain.hasPrefix("copied and compared 605 records: "), "\(plain)")
        #expect(!plain.contains("[#"))
        #expect(try file("errors", folder) == "")
    }

    @Test func anErrorIsColouredOnATerminalAndPointsAtTheColumn() throws {
        let folder = try ToolFolder()
        _ = try folder.trips("trips.json", 3)
        let wrong = "fetch json:trips.json Trip --where 'prise > 3'"
        let shown = try onTerminal(wrong, in: folder)
        #expect(shown.contains(Self.escape + "31m") && shown.contains("^"), "\(shown)")
        #expect(try onTerminal(wrong + " 2> errors", in: folder) == "")
        let errors = try file("errors", folder)
        #expect(errors.hasPrefix("mortise: error: ") && !errors.contains(Self.escape), "\(errors)")
        #expect(errors.split(separator: "\n").count == 1, "\(errors)")
    }

    /// Tables had always escaped what a terminal obeys, CSV had not.
    @Test(arguments: [
        "fetch log:trips.log Guide --format csv", "export log:trips.log --entity Guide --format csv",
        "fetch log:trips.log Guide --format json", "export log:trips.log --entity Guide",
    ])
    func storedTextDoesNotCommandTheTerminal(_ arguments: String) throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 3)
        let name = "name=\u{1B}[31mred\u{202E}"
        #expect(try ToolRun("set", store, "Guide", "--where", "name == 'Ada'", name, "--yes").status == 0)
        let shown = try onTerminal(arguments, in: folder)
        #expect(shown.contains("red") && shown.contains("202e"), "\(shown)")
        #expect(!shown.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{202E}" }, "\(shown)")
        // In a file it is what is stored.
        if arguments.hasSuffix("csv") {
            #expect(try onTerminal(arguments + " > out", in: folder) == "")
            #expect(try file("out", folder).contains("\u{1B}[31mred\u{202E}"))
        }
    }

    @Test func aTableFitsTheTerminal() throws {
        let folder = try ToolFolder()
        _ = try folder.trips("trips.json", 3)
        // A terminal that `script` makes tells no size, and has 80 columns then.
        let shown = try onTerminal("fetch json:trips.json Trip", in: folder, environment: ["NO_COLOR": "1"])
        let lines = shown.split(whereSeparator: \.isNewline)
        #expect(lines.count == 5, "\(shown)")
        let written = try ToolRun("fetch", folder.storeURL("trips.json"), "Trip").output.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count < written[0].count || $0 == "3 records" }, "\(shown)")
    }
}

/// The program that runs another one on a terminal of its own.
private enum ProgramScript {
    static let isThere: Bool = {
        #if os(Linux)
        ["/usr/bin/script", "/bin/script"].contains { FileManager.default.isExecutableFile(atPath: $0) }
        #else
        false
        #endif
    }()
}
#endif
