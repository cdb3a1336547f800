import Foundation
@testable import MortiseCore
import Testing

/// A schema's text: what is written is read again, and nothing else is.
@Suite struct SchemaDocumentTests {
    private func read(_ text: String) throws -> SchemaDocument { try SchemaDocument(reading: Array(text.utf8)) }

    private func failure(_ text: String) -> SchemaDocumentError? {
        do {
            _ = try read(text)
            return nil
        } catch { return error as? SchemaDocumentError }
    }

    @Test func everyMemberComesBackAndTheTextIsTheSame() throws {
        let document = SchemaDocuments.full
        let text = try document.text()
        let again = try read(text)
        #expect(again == document)
        #expect(again.staleStorage == nil)
        #expect(try again.text() == text)
        for (place, property) in document.schema.entity(named: "Defaults")?.properties.enumerated() ?? [].enumerated() {
            let value = again.schema.entity(named: "Defaults")?.properties[place].attribute?.defaultValue
            #expect(value?.isIdentical(to: property.attribute?.defaultValue ?? .null) == true, "\(property)")
        }
        // Each name of a property begins a line.
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("        {\"name\": ") }
        #expect(lines.count == document.schema.entities.reduce(0) { $0 + $1.properties.count })
    }

    /// A terminal obeys none of it.
    @Test func controlCharactersAreEscaped() throws {
        let name = "a\u{1B}[2J\u{7F}\u{9B}\u{85}\u{A0}\u{8}\u{C}\r\t\n"
        let document = SchemaDocument(
            StoredSchema(entities: [StoredEntity(name: name, properties: [SchemaDocuments.attribute(name, .string)])]))
        let text = try document.text()
        #expect(text.contains(#""a\u001b[2J\u007f\u009b\u0085\u{A0}\b\f\r\t\n""#.replacing(#"\u{A0}"#, with: "\u{A0}")))
        #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
        #expect(try read(text) == document)
    }

    @Test func theOrderOfEntitiesDoesNotMatter() throws {
        let document = SchemaDocuments.full
        var other = document
        other.schema.entities.reverse()
        #expect(try other.text() == document.text())
    }

    @Test func whiteSpaceAndTheOrderOfMembersDoNotMatter() throws {
        let text = #"""
            {"entities":[{"properties":[ {"kind" : "int64","optional":true,"name":"a\u00e9\ud83d\ude00"} ],"name":"E"}],
             "x-tool": {"any": [1, {"thing": null}]}, "version":"2.0.1","formatVersion":1,"format":"mortise-schema"}
            """#
        let document = try read(text)
        #expect(document.schema.version == Schema.Version(2, 0, 1))
        #expect(
            document.schema.entities
                == [StoredEntity(name: "E", properties: [SchemaDocuments.attribute("aé😀", .int64, optional: true)])])
    }

    @Test func anotherDigestIsKeptAsAStaleOne() throws {
        let text = try SchemaDocuments.full.text()
        let digest = SchemaDocuments.full.storageDigest
        let wrong = String(repeating: "0", count: 32)
        let document = try read(text.replacingOccurrences(of: digest, with: wrong))
        #expect(document.staleStorage == wrong)
        #expect(try document.text() == text)
    }

    // MARK: What is refused

    private static let head =
        "{\"format\": \"mortise-schema\", \"formatVersion\": 1, \"version\": \"1.0.0\", \"entities\": ["
    private static func entity(_ property: String, _ rest: String = "") -> String {
        head + "\n{\"name\": \"E\", \"properties\": [\n  \(property)]\(rest)}]}"
    }

    static let refused: [(text: String, line: Int, column: Int, fault: SchemaDocumentError.Fault)] = [
        ("", 1, 1, .notJSON(expected: "a value", found: "the end")),
        ("[]", 1, 1, .wrongType(expected: "an object", found: "an array")),
        ("{\"format\": \"mortise-json\"}", 1, 12, .otherFormat("mortise-json")),
        ("{\"format\": \"mortise-schema\",\n \"formatVersion\": 2}", 2, 19, .unknownFormatVersion("2")),
        ("{}", 1, 1, .missingMember("format")),
        ("{\"format\": \"mortise-schema\", \"schema\": 1}", 1, 30, .unknownMember("schema")),
        (head + "], \"version\": \"1.0.0\"}", 1, 86, .duplicateMember("version")),
        (head + "]} x", 1, 86, .notJSON(expected: "the end", found: "'x'")),
        (head + "],}", 1, 85, .notJSON(expected: "another one after ','", found: "'}'")),
        (
            entity("{\"name\": \"a\", \"kind\": \"int\"}"), 3, 25,
            .invalidWord("int", expected: "a kind of value, as in SCHEMA.md")
        ),
        (entity("{\"name\": \"a\", \"default\": 1, \"kind\": \"int8\"}"), 3, 17, .memberBeforeKind("default")),
        (entity("{\"name\": \"a\", \"kind\": \"int8\", \"inverse\": \"b\"}"), 3, 33, .memberBeforeKind("inverse")),
        (entity("{\"name\": \"a\", \"kind\": \"int8\", \"default\": 128}"), 3, 44, .invalidValue(.int8)),
        (entity("{\"name\": \"a\", \"kind\": \"double\", \"default\": 1e999}"), 3, 46, .invalidValue(.double)),
        (entity("{\"name\": \"a\", \"kind\": \"double\", \"default\": 1e-999}"), 3, 46, .invalidValue(.double)),
        (entity("{\"name\": \"a\", \"kind\": \"uuid\", \"default\": \"a\"}"), 3, 44, .invalidValue(.uuid)),
        (entity("{\"name\": \"a\"}"), 3, 3, .missingMember("kind")),
        (entity("{\"name\": \"a\", \"kind\": \"bool\", \"colour\": 1}"), 3, 33, .unknownMember("colour")),
        (
            entity("{\"name\": \"a\", \"kind\": \"bool\"}, {\"name\": \"a\", \"kind\": \"bool\"}"), 3, 34,
            .duplicateProperty(entity: "E", property: "a")
        ),
        (
            entity("{\"name\": \"a\", \"toOne\": \"F\"}"), 3, 3,
            .unknownDestination(entity: "E", property: "a", destination: "F")
        ),
        (
            entity("{\"name\": \"a\", \"toOne\": \"E\", \"inverse\": \"b\"}"), 3, 3,
            .unknownInverse(entity: "E", property: "a", inverse: "b")
        ),
        (entity("", ", \"unique\": [[\"b\"]]"), 2, 1, .unknownConstrainedProperty(entity: "E", property: "b")),
        (entity("", ", \"superentity\": \"F\""), 2, 1, .unknownSuperentity(entity: "E", superentity: "F")),
        (entity("", ", \"superentity\": \"E\""), 2, 1, .inheritanceCycle(entity: "E")),
        (
            head + "\n{\"name\": \"E\", \"properties\": []},\n{\"name\": \"E\", \"properties\": []}]}", 3, 1,
            .duplicateEntity("E")
        ),
        (head + "\n{\"name\": \"\", \"properties\": []}]}", 2, 10, .invalidWord("", expected: "a name")),
        (
            entity("{\"name\": \"\\ud800\", \"kind\": \"bool\"}"), 3, 19,
            .notJSON(expected: "\\u and four digits", found: "'\"'")
        ),
        (
            entity("{\"name\": \"a\tb\", \"kind\": \"bool\"}"), 3, 14,
            .notJSON(expected: "an escape in place of a control character", found: "the byte 9")
        ),
        (
            entity("{\"name\": \"a\", \"kind\": \"int8\", \"default\": 01}"), 3, 45,
            .notJSON(expected: "no digits after a leading 0", found: "'1'")
        ),
    ]

    @Test(arguments: refused.indices) func whatIsNotTheFormatIsRefusedWhereItIs(_ index: Int) {
        let (text, line, column, fault) = Self.refused[index]
        let error = failure(text)
        #expect(error?.fault == fault, "\(text): \(String(describing: error))")
        #expect(error?.line == line && error?.column == column, "\(text): \(String(describing: error))")
    }

    @Test func textThatIsNotUTF8IsRefused() {
        let error = #expect(throws: SchemaDocumentError.self) { try SchemaDocument(reading: [0x7B, 0x0A, 0xFF]) }
        #expect(error?.line == 2)
    }

    /// Cut anywhere, and with any byte replaced, the text is refused or read; nothing ends the process.
    @Test func everyDamagedTextIsReadOrRefused() throws {
        let sound = Array(try SchemaDocuments.full.text().utf8)
        var refused = 0
        for end in stride(from: 0, to: sound.count - 1, by: 7) {
            #expect(throws: SchemaDocumentError.self) { try SchemaDocument(reading: Array(sound[..<end])) }
        }
        for place in stride(from: 0, to: sound.count, by: 5) {
            for byte: UInt8 in [0x00, 0x22, 0x5D, 0xC3, 0x30] {
                var damaged = sound
                damaged[place] = byte
                do {
                    _ = try SchemaDocument(reading: damaged)
                } catch {
                    #expect(error is SchemaDocumentError)
                    refused += 1
                }
            }
        }
        #expect(refused > sound.count / 2)
    }

    // MARK: Limits

    @Test func deepAndLargeTextsAreRefusedByTheirLimits() {
        let deep = Self.head.replacingOccurrences(
            of: "\"version\"", with: "\"x-a\": \(String(repeating: "[", count: 100_000))")
        #expect(failure(deep)?.fault == .limitExceeded("levels of nesting", most: 128))
        let value = String(repeating: "[", count: 70) + String(repeating: "]", count: 70)
        #expect(
            failure(Self.entity("{\"name\": \"a\", \"kind\": \"coded\", \"default\": \(value)}"))?.fault
                == .limitExceeded("levels in a value", most: 64))
        let wide = "[" + String(repeating: "0,", count: 70_000) + "0]"
        #expect(
            failure(Self.entity("{\"name\": \"a\", \"kind\": \"coded\", \"default\": \(wide)}"))?.fault
                == .limitExceeded("parts of values", most: 65_536))
        var members = "[]"
        for _ in 0..<9 { members = "[{\"name\": \"m\", \"kind\": \"coded\", \"members\": \(members)}]" }
        #expect(
            failure(Self.entity("{\"name\": \"a\", \"kind\": \"coded\", \"members\": \(members)}"))?.fault
                == .limitExceeded("levels of members", most: 8))
        let name = String(repeating: "n", count: 1_025)
        #expect(
            failure(Self.entity("{\"name\": \"\(name)\", \"kind\": \"bool\"}"))?.fault
                == .limitExceeded("bytes in a text", most: 1_024))
        #expect(
            (try? SchemaDocument(reading: [UInt8](repeating: 0x20, count: 16 << 20 + 1))) == nil)
        let entities = (0..<100).map { index in
            "{\"name\": \"E\(index)\", \"properties\": []" + (index > 0 ? ", \"superentity\": \"E\(index - 1)\"}" : "}")
        }
        #expect(
            failure(Self.head + entities.joined(separator: ",") + "]}")?.fault
                == .limitExceeded("levels of inheritance", most: 64))
    }

    @Test func whatCouldNotBeReadIsNotWritten() {
        var value = StoredValue.integer(1)
        for _ in 0..<70 { value = .array([value]) }
        for attribute in [
            SchemaDocuments.attribute("a", .coded, default: value),
            SchemaDocuments.attribute("a", .int8, default: .string("")),
            SchemaDocuments.attribute("a", .coded, default: .double(.nan)),
            SchemaDocuments.attribute("a", .int8, options: StoredAttribute.Options(rawValue: 1_024)),
        ] {
            let document = SchemaDocument(StoredSchema(entities: [StoredEntity(name: "E", properties: [attribute])]))
            #expect(throws: SchemaDocumentError(.unwritable(entity: "E", property: "a"))) { try document.text() }
        }
    }
}
