import MortiseCore
import MortiseJSONFile
import Testing

/// Each mistake in a document, by a small document that has nothing else wrong: the reason, and where.
@Suite struct StoreDocumentErrorTests {
    struct Mistake: Sendable, CustomTestStringConvertible {
        var entities = StoreDocumentErrorTests.entities
        var records: String
        var next = "100"
        var store = "\"S\""
        var after = ""
        var reason: StoreDocumentError.Reason
        var entity: String? = "T"
        var property: String?
        var identifier: UInt64?
        var path: String

        var testDescription: String { "\(reason)" }
    }

    static let entities = """
        {"name": "T", "properties": [
          {"name": "n", "kind": "string"}, {"name": "o", "kind": "int8", "optional": true},
          {"name": "e", "kind": "bool", "options": ["ephemeral"]},
          {"name": "u", "toOne": "U", "optional": true, "inverse": "t"}, {"name": "us", "toMany": "U"}]},
        {"name": "U", "properties": [
          {"name": "t", "toOne": "T", "optional": true, "inverse": "u"},
          {"name": "v", "toOne": "V", "optional": true, "inverse": "us"}]},
        {"name": "V", "properties": [{"name": "us", "toMany": "U", "inverse": "v"}]}
        """
    static let good = "{\"$id\": 1, \"n\": \"x\", \"o\": 5, \"u\": null, \"us\": []}"
    static let empty = ", \"U\": [], \"V\": []"

    /// The records of T, those before the last being good; no U and V.
    static func record(_ text: String) -> String { "\"T\": [\(good),\n \(text)]\(empty)" }

    static let mistakes: [Mistake] = [
        Mistake(
            records: record("§5"), reason: .wrongType(expected: "an object", found: "a number"),
            path: "$.records.T[1]"),
        Mistake(records: record("§{}"), reason: .missingIdentifier, path: "$.records.T[1]"),
        Mistake(records: record("§{\"n\": \"x\", \"$id\": 2}"), reason: .missingIdentifier, path: "$.records.T[1]"),
        Mistake(
            records: record("{\"$id\": §\"2\"}"), reason: .wrongType(expected: "a number", found: "a string"),
            path: "$.records.T[1].$id"),
        Mistake(records: record("{\"$id\": §-2}"), reason: .numberOutOfRange(.uint64), path: "$.records.T[1].$id"),
        Mistake(records: record("{\"$id\": §2.0}"), reason: .numberOutOfRange(.uint64), path: "$.records.T[1].$id"),
        Mistake(
            records: record("{\"$id\": §1}"), reason: .duplicateIdentifier, identifier: 1, path: "$.records.T[1].$id"),
        Mistake(
            records: record("{\"$id\": §0}"), reason: .identifierOutOfOrder(previous: 1), identifier: 0,
            path: "$.records.T[1].$id"),
        Mistake(
            records: record("{\"$id\": §100}"), reason: .identifierNotBelowNext(next: 100), identifier: 100,
            path: "$.records.T[1].$id"),
        Mistake(
            records: record("{\"$id\": 2, \"n\": §5, \"o\": null, \"u\": null, \"us\": []}"),
            reason: .wrongType(expected: "a string (string)", found: "a number"), property: "n", identifier: 2,
            path: "$.records.T[1].n"),
        Mistake(
            records: record("{\"$id\": 2, \"n\": §null, \"o\": null, \"u\": null, \"us\": []}"),
            reason: .nullForRequired, property: "n",
            identifier: 2, path: "$.records.T[1].n"),
        Mistake(
            records: record("{\"$id\": 2, \"n\": \"\", \"o\": §128, \"u\": null, \"us\": []}"),
            reason: .numberOutOfRange(.int8),
            property: "o", identifier: 2, path: "$.records.T[1].o"),
        Mistake(
            records: record("{\"$id\": 2, \"n\": \"\", \"o\": §1.0, \"u\": null, \"us\": []}"),
            reason: .numberOutOfRange(.int8),
            property: "o", identifier: 2, path: "$.records.T[1].o"),
        Mistake(
            records: record("{\"$id\": 2, \"n\": \"\", \"u\": null, \"us\": []§}"),
            reason: .missingProperty(isOptional: true),
            property: "o", identifier: 2, path: "$.records.T[1].us"),
        Mistake(
            records: record("{\"$id\": 2§}"), reason: .missingProperty(isOptional: false), property: "n", identifier: 2,
            path: "$.records.T[1].$id"),
        Mistake(
            records: record("{\"$id\": 2, \"n\": \"\", §\"x\": 1}"), reason: .unknownProperty("x"), property: "x",
            identifier: 2,
            path: "$.records.T[1]"),
        Mistake(
            records: record("{\"$id\": 2, \"n\": \"\", §\"e\": true}"), reason: .propertyNotStored("e"), property: "e",
            identifier: 2,
            path: "$.records.T[1]"),
        Mistake(
            records: record("{\"$id\": 2, \"n\": \"\", §\"\\u006e\": \"\"}"), reason: .malformed(.duplicateKey("n")),
            property: "n",
            identifier: 2, path: "$.records.T[1]"),
        Mistake(
            records: record("{\"$id\": 2, \"n\": \"\", §\"$id\": 3}"), reason: .malformed(.duplicateKey("$id")),
            identifier: 2,
            path: "$.records.T[1]"),
        Mistake(
            records: record("{\"$id\": 2, \"n\": \"§\\ud800\"}"), reason: .malformed(.loneSurrogate), property: "n",
            identifier: 2,
            path: "$.records.T[1].n"),
        Mistake(
            records: record("{\"$id\": 2, \"n\": \"\", \"o\": 1, \"u\": §99, \"us\": []}"),
            reason: .danglingReference(target: 99),
            property: "u", identifier: 2, path: "$.records.T[1].u"),
        Mistake(
            records: record("{\"$id\": 2, \"n\": \"\", \"o\": 1, \"u\": §100, \"us\": []}"),
            reason: .danglingReference(target: 100),
            property: "u", identifier: 2, path: "$.records.T[1].u"),
        Mistake(
            records: record("{\"$id\": 2, \"n\": \"\", \"o\": 1, \"u\": §1, \"us\": []}"),
            reason: .wrongDestination(target: 1, found: "T", expected: "U"), property: "u", identifier: 2,
            path: "$.records.T[1].u"),
        Mistake(
            records: record("{\"$id\": 2, \"n\": \"\", \"o\": 1, \"u\": §\"1\", \"us\": []}"),
            reason: .wrongType(expected: "a number", found: "a string"), property: "u", identifier: 2,
            path: "$.records.T[1].u"),
        Mistake(
            records: record("{\"$id\": 2, \"n\": \"\", \"o\": 1, \"u\": null, \"us\": §5}"),
            reason: .wrongType(expected: "an array", found: "a number"), property: "us", identifier: 2,
            path: "$.records.T[1].us"),
        Mistake(
            records: record("{\"$id\": 2, \"n\": \"\", \"o\": 1, \"u\": null, \"us\": §null}"),
            reason: .nullForRequired, property: "us",
            identifier: 2, path: "$.records.T[1].us"),
        Mistake(
            records: record("{\"$id\": 2, \"n\": \"\", \"o\": 1, \"u\": null, \"us\": [7, §7]}"),
            reason: .referencesOutOfOrder,
            property: "us", identifier: 2, path: "$.records.T[1].us[1]"),
        Mistake(
            records: record("{\"$id\": 2, \"n\": \"\", \"o\": 1, \"u\": null, \"us\": [7, §6]}"),
            reason: .referencesOutOfOrder,
            property: "us", identifier: 2, path: "$.records.T[1].us[1]"),
        Mistake(
            records: record("{\"$id\": 2, \"n\": \"\", \"o\": 1, \"u\": null, \"us\": §[7]}"),
            reason: .danglingReference(target: 7),
            property: "us", identifier: 2, path: "$.records.T[1].us"),
        Mistake(
            records: "\"T\": [], \"U\": [{\"$id\": 7, \"t\": null, \"v\": null}], \"V\": [{\"$id\": 9, §\"us\": [7]}]",
            reason: .propertyNotStored("us"), entity: "V", property: "us", identifier: 9, path: "$.records.V[0]"),
        Mistake(
            records:
                "\"T\": [{\"$id\": 1, \"n\": \"\", \"o\": 1, \"u\": §7, \"us\": []}], "
                + "\"U\": [{\"$id\": 7, \"t\": null, \"v\": null}], \"V\": []",
            reason: .oneSidedReference(target: 7, inverse: "t"), property: "u", identifier: 1,
            path: "$.records.T[0].u"),
        Mistake(
            records: "\"T\": [\(good)], \"U\": [{\"$id\": 7, \"t\": §1, \"v\": null}], \"V\": []",
            reason: .oneSidedReference(target: 1, inverse: "u"), entity: "U", property: "t", identifier: 7,
            path: "$.records.U[0].t"),
        Mistake(
            records: "\"T\": [\(good)], \"U\": [§{\"$id\": 1, \"t\": null, \"v\": null}], \"V\": []",
            reason: .duplicateIdentifier, entity: "U",
            identifier: 1, path: "$.records.U[0]"),
        Mistake(records: "\"T\": [], §\"X\": []", reason: .unknownEntity("X"), entity: "X", path: "$.records"),
        Mistake(
            records: "\"T\": [], §\"\\u0054\": []", reason: .malformed(.duplicateKey("T")), entity: nil,
            path: "$.records"),
        Mistake(
            records: "\"T\": §{}", reason: .wrongType(expected: "an array", found: "an object"), path: "$.records.T"),
        Mistake(
            records: "\"T\": []" + empty, next: "§-1", reason: .numberOutOfRange(.uint64), entity: nil,
            path: "$.nextSequence"),
        Mistake(
            records: "\"T\": []" + empty, store: "§5", reason: .wrongType(expected: "a string", found: "a number"),
            entity: nil,
            path: "$.store"),
        Mistake(
            records: "\"T\": []" + empty, after: ",\n§\"x\": 1",
            reason: .unexpectedMember(found: "x", expected: "seal"), entity: nil,
            path: "$"),
        Mistake(
            records: "\"T\": []" + empty, after: ",\n\"seal\": §1",
            reason: .wrongType(expected: "a string", found: "a number"),
            entity: nil, path: "$.seal"),
        Mistake(
            records: "\"T\": []" + empty, after: ",\n\"seal\": \"\", §\"seal\": 1", reason: .unknownMember("seal"),
            entity: nil, path: "$"),
    ]

    @Test(arguments: mistakes) func isFoundInItsPlace(_ mistake: Mistake) {
        let document = DocumentText(
            mistake.entities, mistake.records, next: mistake.next, store: mistake.store, after: mistake.after)
        let error = StoreDocumentError.reading(document.text)
        #expect(error?.reason == mistake.reason)
        #expect(error?.entity == mistake.entity)
        #expect(error?.property == mistake.property)
        #expect(error?.identifier == mistake.identifier)
        #expect(error?.position == document.position)
        #expect(error?.path == mistake.path)
    }

    @Test func aMissingEntityIsFoundAtTheEndOfTheRecords() {
        let error = StoreDocumentError.reading(DocumentText(Self.entities, "\"T\": [],\n\"V\": []").text)
        #expect(error?.reason == .missingEntity("U"))
        #expect(error?.entity == "U")
        #expect(error?.path == "$.records.V")
        #expect(error?.position.line == 19)
        #expect(error?.position.column == 3)
    }

    /// More targets than the text can hold records are refused before they take memory.
    @Test func aListOfTargetsLongerThanTheTextAllowsIsDangling() {
        let targets = (10..<60_000).map(String.init).joined(separator: ",")
        let document = DocumentText(
            Self.entities,
            "\"T\": [{\"$id\": 2, \"n\": \"\", \"o\": 1, \"u\": null, \"us\": §[\(targets)]}]" + Self.empty,
            next: "90000")
        let error = StoreDocumentError.reading(document.text)
        #expect(error?.reason == .danglingReference(target: 10))
        #expect(error?.property == "us")
        #expect(error?.position == document.position)
    }

    /// Behind such a number there would be none for new records.
    @Test(arguments: [1 << 62, 1 << 63, UInt64.max]) func aNextNumberWithoutRoomBehindItIsRefused(number: UInt64) {
        let document = DocumentText(Self.entities, "\"T\": [\(Self.good)]" + Self.empty, next: "§\(number)")
        let error = StoreDocumentError.reading(document.text)
        #expect(error?.path == "$.nextSequence")
        #expect(error?.position == document.position)
    }

    /// The same document without a mistake is read.
    @Test func withoutMistakeItIsRead() throws {
        #expect(try read(DocumentText(Self.entities, "\"T\": [\(Self.good)]" + Self.empty).text).count == 1)
    }

    static let heads: [(marked: String, reason: StoreDocumentError.Reason)] = [
        ("§", .empty),
        ("§{\"format\":\"mortise-json\"}", .tooShort(byteCount: 25, minimum: 127)),
        ("§[" + padding, .anotherFormat(found: nil)), ("§SQLite format 3\u{0}" + padding, .anotherFormat(found: nil)),
        ("{§\"x\": 1}" + padding, .anotherFormat(found: nil)),
        ("{§\"format\": 1}" + padding, .anotherFormat(found: nil)),
        ("{\"format\": §\"geojson\"}" + padding, .anotherFormat(found: "geojson")),
        ("§\u{FEFF}{\"format\": \"mortise-json\"}" + padding, .malformed(.byteOrderMark)),
        ("{\"format\": \"mortise-json\", \"formatVersion\": 3§}" + padding, .newerFormat(version: 3, supported: 2)),
        (
            "{\"format\": \"mortise-json\", \"formatVersion\": 18446744073709551615§}" + padding,
            .newerFormat(version: .max, supported: 2)
        ),
        ("{\"format\": \"mortise-json\", \"formatVersion\": 0§}" + padding, .unknownFormatVersion),
        ("{\"format\": \"mortise-json\", \"formatVersion\": §1.0}" + padding, .numberOutOfRange(.uint64)),
        (
            "{\"format\": \"mortise-json\", \"formatVersion\": §\"1\"}" + padding,
            .wrongType(expected: "a number", found: "a string")
        ),
        (
            "{\"format\": \"mortise-json\", §\"store\": \"\"}" + padding,
            .unexpectedMember(found: "store", expected: "formatVersion")
        ),
        ("{\"format\": \"mortise-json\"§}" + padding, .unexpectedMember(found: nil, expected: "formatVersion")),
    ]
    static let padding = String(repeating: " ", count: 130)

    @Test(arguments: heads.indices) func anotherFileIsTold(_ index: Int) {
        let (marked, reason) = Self.heads[index]
        let text = MarkedText(marked)
        for integrity in [JSONFileIntegrity.required, .acceptEdits] {
            let error = StoreDocumentError.reading(text.text, integrity: integrity)
            #expect(error?.reason == reason)
            #expect(error?.position == text.position)
        }
    }

    @Test func theSmallestDocumentHasTheMinimumSize() throws {
        let text =
            "{\"format\":\"mortise-json\",\"formatVersion\":1,\"store\":\"\","
            + "\"schema\":{\"version\":\"1.0.0\",\"entities\":[]},"
            + "\"nextSequence\":0,\"records\":{}}"
        #expect(text.utf8.count == StoreDocument.minimumSize)
        #expect(try read(text).isEmpty)
    }

    @Test func everyReasonSaysWhatToDo() {
        let reasons = Set(
            Self.mistakes.map(\.reason) + Self.heads.map(\.reason) + [
                .sealMissing, .sealBroken(stored: 1, computed: 2),
            ])
        for reason in reasons {
            #expect(reason.description.hasSuffix("."))
            #expect(reason.description.count > 20)
        }
        #expect(Set(reasons.map(\.description)).count == reasons.count)
    }
}
