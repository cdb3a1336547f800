import Foundation
import Testing

/// Sources written for Apple's SwiftData compile unchanged against the module `SwiftData` and do what they say.
@Suite struct CompatibilityTests {
    static let sources = ClientProgram.root.appending(path: "Tests/SwiftDataTests/Compatibility")

    @Test(arguments: isFullSize ? [[], ["-default-isolation", "MainActor"]] : [[]])
    func sourcesForSwiftDataCompileUnchangedAndRun(flags: [String]) throws {
        try withFolder { folder in
            var sources = [ClientProgram.root.appending(path: "Tests/SwiftDataTests/Clients/ObservatoryDriver.swift")]
            // They bear another name in the tree, so that nobody formats them.
            for name in ["ObservatoryModels.swift", "ObservatoryQueries.swift", "ArchiveStore.swift"] {
                let copy = folder.appending(path: name)
                try FileManager.default.copyItem(at: Self.sources.appending(path: "\(name).txt"), to: copy)
                sources.append(copy)
            }
            let client = try ClientProgram(sources: sources, in: folder, flags: flags)
            let outcome = try client.run([folder.path])
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.output.hasSuffix("20 checks passed\n"), "\(outcome.output)\(outcome.errors)")
        }
    }
}
