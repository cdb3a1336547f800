#if Tool
import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseEngine
import Testing

/// What the guide to the tool shows does what it says, line by line, on a catalog such as the sample makes.
@Suite struct RecipeTests {
    private static let guide = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/MortiseCommands/MortiseCommands.docc/LookingIntoAStore.md").standardizedFileURL

    private static let schema = StoredSchema(entities: [
        StoredEntity(
            name: "File",
            properties: [
                StoredProperty(name: "name", isOptional: false, content: .attribute(StoredAttribute(kind: .string))),
                StoredProperty(name: "size", isOptional: false, content: .attribute(StoredAttribute(kind: .int64))),
                StoredProperty(
                    name: "folder", isOptional: true,
                    content: .relationship(
                        StoredRelationship(destination: "Folder", isToMany: false, inverse: "files"))),
            ]),
        StoredEntity(
            name: "Folder",
            properties: [
                StoredProperty(name: "path", isOptional: false, content: .attribute(StoredAttribute(kind: .string))),
                StoredProperty(
                    name: "files", isOptional: false,
                    content: .relationship(StoredRelationship(destination: "File", isToMany: true, inverse: "folder"))),
            ]),
    ])

    /// The lines of the guide that run the tool, without the program's name.
    private static func lines() throws -> [String] {
        let mark = "swift run --traits Tool mortise "
        return try String(contentsOf: guide, encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix(mark) }.map { String($0.dropFirst(mark.count)) }
    }

    private func makeCatalog(_ path: String) throws {
        let store = try AppendLogStore(
            AppendLogConfiguration(schema: Schema(stored: Self.schema), path: path), migrationPlan: nil)
        let layouts = Self.schema.recordLayouts()
        let (files, folders) = (try #require(layouts["File"]), try #require(layouts["Folder"]))
        let sources = DefaultSnapshot(
            persistentIdentifier: .temporary(entityName: "Folder"), layout: folders,
            values: [.string("Sources/MortiseCore"), .identifiers([])])
        let snapshots = (1...30).map { number in
            DefaultSnapshot(
                persistentIdentifier: .temporary(entityName: "File"), layout: files,
                values: [
                    .string("file \(number)"), .integer(Int64(number) * 1_000),
                    .identifier(sources.persistentIdentifier),
                ])
        }
        _ = try store.save(
            DataStoreSaveChangesRequest(inserted: [sources] + snapshots, editingState: EditingState()))
        try store.close()
    }

    @Test func everyLineOfTheGuideRuns() throws {
        let lines = try Self.lines()
        for verb in ["info", "fetch", "explain", "copy", "compare"] {
            #expect(lines.contains { $0.hasPrefix("\(verb) ") }, "the guide shows no \(verb)")
        }
        let folder = try ToolFolder()
        try makeCatalog(folder.path("catalog.log"))
        for line in lines {
            let process = Process()
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", "'\(try ToolRun.executable().path)' \(line)"]
            process.currentDirectoryURL = folder.url
            process.standardOutput = output
            process.standardError = output
            try process.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 0, "mortise \(line): \(text)")
            if line.hasPrefix("fetch ") { #expect(text.contains("file 30") && !text.contains("file 20 ")) }
            if line.hasPrefix("compare ") { #expect(text.contains("catalog.json") && text.contains("equal")) }
        }
    }
}
#endif
