#if Tool
import Foundation
@testable import MortiseCommands
import MortiseCore
import Testing

/// Names and texts that would be something else in Swift.
@Suite struct HostileNameTests {
    private static let bad = [
        "a b", "a\nb", "`a`", "a`; import Evil; var `b", "a\u{0}b", "a\u{7f}", "1a", "\u{202e}a", "a\u{200b}b",
        "a\u{ad}b", "a\"b",
        "a\\b", "a)b", "a//b", "a/*b", "a.b", "$0", "_", "self", "Self", "Type", "Protocol", "init", "a-b", "#if", "@a",
        "a\u{2028}b",
        "+", "a?", "\u{301}a", "hashValue", "modelContext", "_modelState", "MortiseCore", "String", "CodedTree",
    ]

    private func faults(_ entities: [StoredEntity]) -> [String] {
        do {
            _ = try ModelSource(SchemaDocument(StoredSchema(entities: entities)))
            return []
        } catch let error as ModelSourceError { return error.faults } catch { return ["\(error)"] }
    }

    @Test(arguments: bad) func noSuchNameGetsIntoTheSource(_ name: String) {
        let asProperty = faults([StoredEntity(name: "Trip", properties: [Documents.attribute(name, .string)])])
        #expect(asProperty.count == 1 && asProperty[0].contains("Trip"), "\(asProperty)")
        let lines = asProperty.joined().split(whereSeparator: \.isNewline).count
        #expect(lines == 1)
        if ["hashValue", "modelContext", "_modelState", "CodedTree"].contains(name) { return }
        let asEntity = faults([StoredEntity(name: name, properties: [])])
        #expect(asEntity.count == 1 && asEntity[0].contains("rename"), "\(asEntity)")
    }

    @Test func everyFaultIsNamed() {
        let found = faults([
            StoredEntity(
                name: "Trip",
                properties: [
                    Documents.attribute("a", .string, originalName: "x"),
                    Documents.attribute("b", .string, originalName: "x"),
                    Documents.attribute("Guide", .int8), Documents.attribute("c", .int8, options: .unique),
                    Documents.attribute("d", .int8, options: [.unique, .ephemeral]),
                    Documents.attribute("_keyPath_c", .int8),
                    Documents.relationship("e", "Guide", toMany: true, minimum: 3, maximum: 2),
                    Documents.relationship("f", "Guide", inverse: "g"),
                    Documents.relationship("self_", "Trip", inverse: "self_"),
                ], uniquenessConstraints: [["e"], ["d"]]),
            StoredEntity(name: "Guide", properties: [Documents.relationship("g", "Trip")]),
        ])
        for word in [
            "original name x", "Trip.Guide has the name of a type", "Trip.c has the option unique",
            "Trip.d is not stored",
            "Trip._keyPath_c", "Trip.e has counts", "Trip.f has the inverse g", "its own inverse", "Trip.e holds many",
        ] { #expect(found.contains { $0.contains(word) }, "\(word): \(found)") }
    }

    @Test func inversesThatWouldBeInferredAreRefused() {
        func found(_ trip: [StoredProperty], _ guide: [StoredProperty]) -> [String] {
            faults([StoredEntity(name: "Trip", properties: trip), StoredEntity(name: "Guide", properties: guide)])
        }
        let one = Documents.relationship("guide", "Guide")
        #expect(found([one], [Documents.relationship("trip", "Trip")]).count == 1)
        #expect(found([one], []) == [])
        // Two of them lead there: none is the inverse.
        #expect(found([one, Documents.relationship("other", "Guide")], [Documents.relationship("trip", "Trip")]) == [])
        // Two lists are two lists.
        #expect(
            found(
                [Documents.relationship("guides", "Guide", toMany: true)],
                [Documents.relationship("trips", "Trip", toMany: true)]) == [])
    }

    @Test func nothingOfATextIsCode() throws {
        let text = try ModelSource(Documents.everything).text
        for line in text.split(whereSeparator: \.isNewline) where line.contains("Evil") {
            #expect(line.drop { $0 == " " }.hasPrefix("///"), "\(line)")
        }
        #expect(!text.unicodeScalars.contains { $0 != "\n" && $0.properties.generalCategory == .control })
        #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .format })
        #expect(text.contains(#"originalName: "price \"of\" all", hashModifier: "m\n""#))
    }

    @Test func aVersionHasANameOfItsOwn() throws {
        let source = try ModelSource(
            SchemaDocument(StoredSchema(entities: [StoredEntity(name: "models", properties: [])])))
        for name in ["a b", "models", "class", "String", "", "A{}", "models2"] {
            #expect(throws: ModelSourceError.self) { try source.text(versionedAs: name) }
        }
    }

    @Test func manyEntitiesTakeNoTime() throws {
        let entities = (0..<2_000).map { number in
            StoredEntity(
                name: "E\(number)", properties: (0..<8).map { Documents.attribute("a\($0)", .string) },
                indices: [StoredIndex(properties: ["a1"])])
        }
        let start = ContinuousClock.now
        let source = try ModelSource(SchemaDocument(StoredSchema(entities: entities)))
        #expect(source.text.utf8.count > 100_000)
        #expect(start.duration(to: .now) < .seconds(20))
    }
}
#endif
