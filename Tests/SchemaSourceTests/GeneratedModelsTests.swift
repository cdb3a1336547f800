#if Tool
import Foundation
import Mortise
@testable import MortiseCommands
import Testing

/// The files in Generated are what the tool makes of schemas, and their models have those schemas.
///
/// With `MORTISE_WRITE_GENERATED=1` they are written anew.
@Suite struct GeneratedModelsTests {
    /// What is in a file of that name.
    struct Case {
        let version: any VersionedSchema.Type
        let document: () throws -> SchemaDocument
    }

    static var cases: [String: Case] {
        [
            "Everything": Case(version: Everything.self) { Documents.everything },
            "Names": Case(version: Names.self) { Documents.names },
            "Random1": Case(version: Random1.self) { try RandomModels.document(seed: 1) },
            "Random2": Case(version: Random2.self) { try RandomModels.document(seed: 2) },
            "Random3": Case(version: Random3.self) { try RandomModels.document(seed: 3) },
            "Random4": Case(version: Random4.self) { try RandomModels.document(seed: 4) },
            "Random5": Case(version: Random5.self) { try RandomModels.document(seed: 5) },
            "Random6": Case(version: Random6.self) { try RandomModels.document(seed: 6) },
            "Random7": Case(version: Random7.self) { try RandomModels.document(seed: 7) },
            "Random8": Case(version: Random8.self) { try RandomModels.document(seed: 8) },
            "FileCatalogSchema": Case(version: FileCatalogSchema.self) {
                try GeneratedFiles.document("file-catalog.json")
            },
            "MusicLibrarySchema": Case(version: MusicLibrarySchema.self) {
                try GeneratedFiles.document("music-library.json")
            },
        ]
    }

    @Test(arguments: cases.keys.sorted()) func theFileIsWhatTheToolMakes(_ name: String) throws {
        let made = try #require(Self.cases[name])
        try GeneratedFiles.check(try ModelSource(made.document()).text(versionedAs: name), "\(name).swift")
    }

    @Test(arguments: cases.keys.sorted()) func theModelsHaveTheSchema(_ name: String) throws {
        let made = try #require(Self.cases[name])
        let document = try made.document()
        let schema = Schema(versionedSchema: made.version)
        try schema.validate()
        #expect(SchemaDocument(schema.stored).storageDigest == SchemaDocument(document.schema).storageDigest)
        for (found, expected) in zip(schema.stored.entities, document.schema.entities) {
            for (a, b) in zip(found.properties, expected.properties) { #expect(a == b) }
            #expect(found == expected)
        }
        #expect(schema.stored == document.schema)
    }

    /// Compiled where there is Core Data.
    @Test func theModelForCoreDataIsWhatTheToolMakes() throws {
        let source = try CoreDataSource(Documents.everything)
        try GeneratedFiles.check(source.text, "CoreDataModel.swift")
        #expect(source.leftOut.contains { $0.contains("Trip.kind") }, "\(source.leftOut)")
    }

    @Test func aFileOfClassesAloneIsWhatTheToolMakes() throws {
        try GeneratedFiles.check(
            try ModelSource(GeneratedFiles.document("trips.json")).text, "TripModels.swift")
        #expect(
            try Schema(Trip.self, Stop.self, Traveler.self).stored
                == GeneratedFiles.document("trips.json").schema)
    }
}

/// Files of this target's folder.
enum GeneratedFiles {
    static let folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
    static let writes = ProcessInfo.processInfo.environment["MORTISE_WRITE_GENERATED"] != nil

    static func document(_ name: String) throws -> SchemaDocument {
        try SchemaDocument(reading: Array(Data(contentsOf: folder.appending(path: "Golden/\(name)"))))
    }

    static func check(_ text: String, _ name: String) throws {
        let url = folder.appending(path: "Generated/\(name)")
        if writes { try Data(text.utf8).write(to: url) }
        #expect(try String(contentsOf: url, encoding: .utf8) == text, "\(name) is not what the tool makes")
    }
}
#endif
