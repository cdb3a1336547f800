import Foundation
import MortiseCore
import Testing

/// The published JSON Schema of the format takes what is written, and refuses what the reader refuses.
@Suite struct SchemaFileFormatTests {
    private static let adapters = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Adapters")

    private static func published() throws -> JSONSchemaChecker {
        try JSONSchemaChecker(try Data(contentsOf: adapters.appending(path: "schema-file.json")))
    }

    /// The example of the page is a document as it is written, digest included.
    @Test func theExampleOfThePageIsTheFormat() throws {
        let page = String(
            decoding: try Data(contentsOf: Self.adapters.appending(path: "SCHEMA-FILE.md")), as: UTF8.self)
        let parts = page.components(separatedBy: "```")
        let example = String(try #require(parts.dropFirst().first).dropFirst("json\n".count))
        let document = try SchemaDocument(reading: Array(example.utf8))
        #expect(document.staleStorage == nil)
        #expect(try document.text() == example)
        #expect(try Self.published().faults(in: Data(example.utf8)) == [])
    }

    @Test func whatIsWrittenIsOfTheSchema() throws {
        let checker = try Self.published()
        #expect(try checker.faults(in: Data(try SchemaDocuments.full.text().utf8)) == [])
        #expect(try checker.faults(in: Data(try SchemaDocument(StoredSchema(entities: [])).text().utf8)) == [])
    }

    @Test(arguments: [
        ("\"formatVersion\": 1", "\"formatVersion\": 2"), ("\"version\": \"1.2.30\"", "\"version\": \"1.2\""),
        ("\"toOne\": \"Traveler\"", "\"toAll\": \"Traveler\""), ("\"kind\": \"uuid\"", "\"kind\": \"guid\""),
        ("\"options\": [\"unique\"]", "\"options\": [\"special\"]"),
        ("\"deleteRule\": \"deny\"", "\"deleteRule\": \"denied\""),
        ("\"minimumCount\": 1", "\"minimumCount\": \"1\""), ("\"reserved\": [\"fee\"]", "\"reserved\": [\"\"]"),
        ("\"until\": \"0.9.0\"", "\"since\": \"0.9.0\""), ("\"codable\": true", "\"codable\": 1"),
    ]) func whatTheReaderRefusesIsNotOfTheSchema(_ right: String, _ wrong: String) throws {
        let text = try SchemaDocuments.full.text()
        #expect(text.contains(right))
        let changed = text.replacingOccurrences(of: right, with: wrong)
        #expect(throws: SchemaDocumentError.self) { try SchemaDocument(reading: Array(changed.utf8)) }
        #expect(try !Self.published().faults(in: Data(changed.utf8)).isEmpty)
    }

    /// A member that the format gets is published too: every member that is written is named in the JSON Schema.
    @Test func unknownMembersAreNotOfTheSchema() throws {
        let text = try SchemaDocuments.full.text()
        let more = text.replacingOccurrences(of: "\"format\":", with: "\"extra\": 1, \"format\":")
        #expect(try !Self.published().faults(in: Data(more.utf8)).isEmpty)
        let skipped = text.replacingOccurrences(of: "\"format\":", with: "\"x-extra\": 1, \"format\":")
        #expect(try Self.published().faults(in: Data(skipped.utf8)) == [])
    }
}

/// Checks JSON against the keywords that the published schema uses; one that it does not know is a fault.
struct JSONSchemaChecker {
    private let root: [String: Any]

    init(_ data: Data) throws {
        root = try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
    }

    func faults(in data: Data) throws -> [String] {
        check(try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed), root, at: "$")
    }

    private func check(_ value: Any, _ schema: Any, at path: String) -> [String] {
        if let isTaken = schema as? Bool, !(schema is [String: Any]) {
            return isTaken ? [] : ["\(path): nothing is allowed"]
        }
        guard let schema = schema as? [String: Any] else { return ["\(path): no schema"] }
        return schema.sorted { $0.key < $1.key }.flatMap { keyword, argument in
            check(value, keyword, argument, schema, at: path)
        }
    }

    private func check(
        _ value: Any, _ keyword: String, _ argument: Any, _ schema: [String: Any], at path: String
    ) -> [String] {
        func fault(_ isFault: Bool) -> [String] { isFault ? ["\(path): \(keyword)"] : [] }
        switch keyword {
        case "$schema", "$defs", "title": return []
        case "$ref":
            let name = (argument as? String)?.split(separator: "/").last.map(String.init) ?? ""
            return check(value, (root["$defs"] as? [String: Any])?[name] ?? 0, at: path)
        case "type": return fault(!Self.isOf(argument as? String ?? "", value))
        case "const": return fault(!Self.areEqual(value, argument))
        case "enum": return fault(!(argument as? [Any] ?? []).contains { Self.areEqual(value, $0) })
        case "pattern":
            guard let text = value as? String else { return [] }
            return fault(text.range(of: argument as? String ?? "", options: .regularExpression) == nil)
        case "minLength": return fault((value as? String).map { $0.count < Self.number(argument) } ?? false)
        case "maxLength": return fault((value as? String).map { $0.count > Self.number(argument) } ?? false)
        case "maxItems": return fault((value as? [Any]).map { $0.count > Self.number(argument) } ?? false)
        case "required":
            guard let object = value as? [String: Any] else { return [] }
            return fault((argument as? [String] ?? []).contains { object[$0] == nil })
        case "properties":
            guard let object = value as? [String: Any] else { return [] }
            return (argument as? [String: Any] ?? [:]).flatMap { name, part in
                object[name].map { check($0, part, at: "\(path).\(name)") } ?? []
            }
        case "patternProperties": return []
        case "additionalProperties":
            guard let object = value as? [String: Any] else { return [] }
            let known = Set((schema["properties"] as? [String: Any] ?? [:]).keys)
            let patterns = Array((schema["patternProperties"] as? [String: Any] ?? [:]).keys)
            return object.keys.sorted().filter { name in
                !known.contains(name) && !patterns.contains { name.range(of: $0, options: .regularExpression) != nil }
            }.map { "\(path).\($0): additional" }
        case "items":
            return (value as? [Any] ?? []).enumerated().flatMap { check($1, argument, at: "\(path)[\($0)]") }
        case "oneOf": return fault((argument as? [Any] ?? []).count { check(value, $0, at: path).isEmpty } != 1)
        default: return ["\(path): the keyword \(keyword) is not known to this test"]
        }
    }

    private static func number(_ argument: Any) -> Int { (argument as? NSNumber)?.intValue ?? 0 }

    private static func isBool(_ value: Any) -> Bool {
        (value as? NSNumber).map { String(cString: $0.objCType) == "c" || String(cString: $0.objCType) == "B" }
            ?? (value is Bool)
    }

    private static func isOf(_ type: String, _ value: Any) -> Bool {
        switch type {
        case "object": value is [String: Any]
        case "array": value is [Any]
        case "string": value is String
        case "boolean": isBool(value)
        case "integer":
            !isBool(value) && (value as? NSNumber).map { $0.doubleValue == $0.doubleValue.rounded() } ?? false
        default: false
        }
    }

    private static func areEqual(_ a: Any, _ b: Any) -> Bool {
        if let a = a as? String { return a == b as? String }
        return (a as? NSNumber).map { $0 == b as? NSNumber } ?? false
    }
}
