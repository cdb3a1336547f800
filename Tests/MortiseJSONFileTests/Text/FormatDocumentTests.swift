import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing

/// FORMAT.md says what the code does.
@Suite struct FormatDocumentTests {
    private static func page() throws -> String {
        let text = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        return try String(contentsOf: text.appending(path: "../../../Adapters/JSONFile/FORMAT.md"), encoding: .utf8)
    }

    @Test func theExampleIsADocumentInTheWritersLayout() throws {
        let example = try Self.page().components(separatedBy: "```json\n")[1].components(separatedBy: "```")[0]
        var written: [UInt8] = []
        try Array(example.utf8).withUnsafeBytes { try StoreDocument.reseal($0) { written.append(contentsOf: $0) } }
        #expect(String(decoding: written, as: UTF8.self) == example)
        #expect(try read(Array(example.utf8)).records.count == 3)
    }

    @Test func theLimitsAreThoseOfTheCode() throws {
        let page = try Self.page()
        func grouped(_ number: Int) -> String {
            number < 1000 ? "\(number)" : grouped(number / 1000) + "," + String(1000 + number % 1000).dropFirst()
        }
        for (subject, number) in [
            ("nesting of arrays and objects, the document's own included", JSONReader.maximumDepth),
            ("entities", StoredSchemaLimits.document[.entities]),
            ("ancestors of an entity", StoredSchemaLimits.document[.ancestors]),
            ("properties of an entity, inherited ones included", StoredSchemaLimits.document[.propertiesOfEntity]),
            ("properties of all entities, inherited ones counted again", StoredSchemaLimits.document[.propertiesInAll]),
            (
                "entities times relationships of all entities, inherited ones counted again",
                StoredSchemaLimits.document[.entitiesTimesRelationships]
            ),
        ] {
            #expect(page.contains("| \(subject) | \(grouped(number)) |"))
        }
        #expect(page.contains("| text of one number | \(grouped(JSONReader.maximumNumberLength)) bytes |"))
        #expect(
            page.contains(
                "| name of an entity or property | \(grouped(StoredSchemaLimits.document[.nameLength])) bytes |"))
        #expect(
            page.contains("estimated memory | \(TreeBudget.allowance >> 20) MiB and \(TreeBudget.perTextByte) bytes"))
        #expect(page.contains("| fewer than \(StoreDocument.minimumSize) bytes | `tooShort` |"))
        #expect(page.contains("# The JSONFile format, version \(StoreDocument.formatVersion)\n"))
    }

    /// The names of the reasons are those that the source declares.
    @Test func everyReasonOfAnErrorIsInTheList() throws {
        let source = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "../../../Adapters/JSONFile/Text/StoreDocumentError.swift")
        let text = try String(contentsOf: source, encoding: .utf8)
        let body = try #require(
            text.firstMatch(of: /enum Reason: Hashable, Sendable \{(.*?)\n    \}/.dotMatchesNewlines()))
        let declared = body.output.1.matches(of: /\n        case ([a-zA-Z]+)/).map { String($0.output.1) }
        #expect(declared.count > 30 && declared.contains("notUnique"))
        let list = try #require(
            try Self.page().components(separatedBy: "## What each mistake yields").last?
                .components(separatedBy: "\n## ").first)
        let listed = Set(list.matches(of: /`([a-zA-Z]+)(?:\(…\))?`/).map { String($0.output.1) })
        for reason in declared { #expect(listed.contains(reason), "\(reason)") }
    }

    @Test func everyKindAndOptionIsNamed() throws {
        let page = try Self.page()
        for kind in StorageKind.allCases where kind.integerRange == nil && kind != .uint64 {
            #expect(page.contains("`\(kind.rawValue)`"))
        }
    }
}
