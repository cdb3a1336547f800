import Foundation
import Mortise
import Testing

@Suite struct SchemaFileTests {
    static let schema = Schema(
        [Everything.self, Gauge.self, House.self, Node.self, Tanker.self, Coach.self, Product.self, Seat.self],
        version: Schema.Version(2, 1, 7))

    @Test func aSchemaComesBackEqualFromItsFile() throws {
        let folder = try Folder()
        let url = folder.url.appending(path: "schema.json")
        try Self.schema.save(to: url)
        let loaded = try Schema.load(from: url)
        #expect(loaded == Self.schema)
        #expect(loaded.stored == Self.schema.stored)
        #expect(loaded.version == Schema.Version(2, 1, 7))
        #expect(loaded.entities.map(\.name) == Self.schema.entities.map(\.name))
        #expect(loaded.entitiesByName["Tanker"]?.superentityName == "Lorry")
        #expect(loaded.entitiesByName["House"]?.relationshipsByName["lamps"]?.deleteRule == .cascade)
    }

    @Test func theSameSchemaGivesTheSameBytesAndReplacesTheFile() throws {
        let folder = try Folder()
        let url = folder.url.appending(path: "schema.json")
        try Self.schema.save(to: url)
        let first = try Data(contentsOf: url)
        try Self.schema.save(to: url)
        #expect(try Data(contentsOf: url) == first)
        try Schema(Gauge.self).save(to: url)
        #expect(try Schema.load(from: url) == Schema(Gauge.self))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("")).sorted() == ["schema.json"])
    }

    private func expect(
        saying words: String..., at location: SourceLocation = #_sourceLocation, _ body: () throws -> Void,
        matches: (SchemaFileError) -> Bool
    ) {
        #expect(sourceLocation: location) {
            try body()
        } throws: { error in
            guard case SwiftDataError.unknownSchema = error, let fault = error as? SchemaFileError else { return false }
            return matches(fault) && words.allSatisfy("\(error)".contains)
        }
    }

    @Test func whatIsNoSchemaIsATypedError() throws {
        let folder = try Folder()
        let url = folder.url.appending(path: "schema.json")
        expect(saying: "schema.json", "no such file") {
            _ = try Schema.load(from: url)
        } matches: {
            if case .notAccessible = $0 { true } else { false }
        }
        try Data("{".utf8).write(to: url)
        expect(saying: "schema.json", "save(to:)") {
            _ = try Schema.load(from: url)
        } matches: {
            if case .notASchema = $0 { true } else { false }
        }
        try Self.schema.save(to: url)
        let text = try String(contentsOf: url, encoding: .utf8)
        try Data(text.replacingOccurrences(of: "\"cascade\"", with: "\"explode\"").utf8).write(to: url)
        expect(saying: "explode", "$.stored.entities") {
            _ = try Schema.load(from: url)
        } matches: {
            if case .notASchema = $0 { true } else { false }
        }
        let web = try #require(URL(string: "https://example.org/schema"))
        expect(saying: "example.org", "file") {
            try Self.schema.save(to: web)
        } matches: {
            $0 == .notAFile(url: "https://example.org/schema")
        }
        expect(saying: "missing") {
            try Self.schema.save(to: folder.url.appending(path: "missing/schema.json"))
        } matches: {
            if case .notAccessible = $0 { true } else { false }
        }
    }

    @Test func aNewerFormIsNotGuessedAt() throws {
        let folder = try Folder()
        let url = folder.url.appending(path: "schema.json")
        try Self.schema.save(to: url)
        var tree = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any])
        tree["encodingVersion"] = ["major": 9, "minor": 0, "patch": 0]
        try JSONSerialization.data(withJSONObject: tree).write(to: url)
        do {
            _ = try Schema.load(from: url)
            Issue.record("It was read.")
        } catch SwiftDataError.unknownSchema {
            #expect(throws: SwiftDataError.self) { try Schema.load(from: url) }
        }
    }
}
