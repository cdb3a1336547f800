import Foundation
import Testing

/// Sources written for Apple's SwiftData, kept beside the project and not part of it, compile unchanged against the module
/// `SwiftData` and do what they say.
@Suite struct CompatibilityTests {
    static let sources = ClientProgram.root.deletingLastPathComponent().appending(path: "shared/compat")
    static var isPresent: Bool { FileManager.default.fileExists(atPath: sources.path) }

    @Test(
        .enabled(if: isPresent, "the compatibility sources are not beside this checkout"),
        arguments: [[], ["-default-isolation", "MainActor"]])
    func sourcesForSwiftDataCompileUnchangedAndRun(flags: [String]) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "compat-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let names = ["ObservatoryModels.swift", "ObservatoryQueries.swift", "ArchiveStore.swift"]
        let driver = ClientProgram.root.appending(path: "Tests/SwiftDataTests/Clients/ObservatoryDriver.swift")
        let client = try ClientProgram(
            sources: names.map { Self.sources.appending(path: $0) } + [driver], in: folder, flags: flags)
        let outcome = try client.run([folder.path])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.hasSuffix("20 checks passed\n"), "\(outcome.output)\(outcome.errors)")
    }
}
