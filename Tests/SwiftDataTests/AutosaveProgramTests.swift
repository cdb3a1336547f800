import Foundation
import Testing

/// Programs that insert and never call `save()`, run as processes of their own.
@Suite struct AutosaveProgramTests {
    private static let clients = ClientProgram.root.appending(path: "Tests/SwiftDataTests/Clients/Autosave")

    private func client(_ name: String, mode: String, in folder: URL) throws -> ClientProgram {
        // The compiler takes only a file of this name for a script.
        let main = folder.appending(path: "main.swift")
        try FileManager.default.copyItem(at: Self.clients.appending(path: name), to: main)
        return try ClientProgram(sources: [main], in: folder, mode: mode, isScript: true, refusesWarnings: mode == "6")
    }

    @Test func anAsynchronousMainSavesAtItsSuspensions() throws {
        try withFolder { folder in
            let outcome = try client("AsyncMain.swift", mode: "5", in: folder).run([folder.path])
            #expect(outcome.output == "true 1 false\n2 false\n", "\(outcome.errors)")
        }
    }

    @Test func aProgramWithARunLoopSavesWhenItTurns() throws {
        try withFolder { folder in
            let program = try client("RunLoopMain.swift", mode: "6", in: folder)
            #expect(try program.run([folder.path]).output == "0 true\n1 false\n1 true\n2 false\n")
            // The last model of the first run was lost; closing saves that of the second.
            #expect(try program.run([folder.path, "close"]).output == "2 true\n3 false\n3 true\n4 false\n")
            #expect(try program.run([folder.path]).output.hasPrefix("5 true\n"))
        }
    }
}
