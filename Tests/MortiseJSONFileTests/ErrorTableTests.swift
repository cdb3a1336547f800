import MortiseCore
import MortiseEngine
import PackageTestSupport
import Testing

@testable import MortiseJSONFile

/// Every case of the errors of JSON stores, made: its text, reason, way out and class.
@Suite struct JSONErrorTableTests {
    private static let position = TextPosition(offset: 40, line: 3, column: 7)

    private static let texts: [JSONTextError.Reason] = [
        .byteOrderMark, .unexpectedEnd(expected: "a value"), .unexpectedByte(0x7D, expected: "a value"), .trailingComma,
        .trailingBytes, .invalidUTF8, .loneSurrogate, .invalidEscape, .controlCharacter(9), .leadingZero,
        .numberTooLong(limit: 40), .numberOutOfRange, .nestingTooDeep(limit: 64), .duplicateKey("a"), .valueTooLarge,
    ]

    private static let documents: [StoreDocumentError.Reason] = [
        .empty, .tooShort(byteCount: 3, minimum: 90), .anotherFormat(found: "svg"), .anotherFormat(found: nil),
        .newerFormat(version: 9, supported: 2), .unknownFormatVersion, .malformed(.trailingComma), .sealMissing,
        .sealBroken(stored: 1, computed: 2), .unexpectedMember(found: "a", expected: "b"),
        .unexpectedMember(found: nil, expected: "b"), .unknownMember("a"), .missingMember("a"),
        .invalidSchema(.duplicateEntity(entity: "Trip")), .wrongType(expected: "a number", found: "a text"),
        .numberOutOfRange(.int8), .invalidText(.date), .invalidWord("a", expected: "b"), .unknownEntity("Trip"),
        .missingEntity("Trip"), .missingIdentifier, .duplicateIdentifier, .identifierOutOfOrder(previous: 7),
        .identifierNotBelowNext(next: 7), .unknownProperty("a"), .propertyNotStored("a"),
        .missingProperty(isOptional: true), .missingProperty(isOptional: false), .nullForRequired,
        .danglingReference(target: 7), .wrongDestination(target: 7, found: "Stop", expected: "Trip"),
        .oneSidedReference(target: 7, inverse: "a"), .referencesOutOfOrder, .nextSequenceTooLarge(limit: 7),
        .notUnique(properties: ["a"], other: 7),
    ]

    private static let writing: [StoreDocumentWriteError.Reason] = [
        .invalidSchema(.duplicateEntity(entity: "Trip")), .entityOutOfOrder, .noEntity,
        .sequenceOutOfOrder(previous: 7), .sequenceNotBelowNext(next: 7), .nextSequenceTooLarge(limit: 7),
        .duplicateSequence, .unfitValue(expected: "a number", found: "a text"), .nullForRequired,
        .nestingTooDeep(limit: 64), .valueTooLarge, .unreadableURL("a b"), .foreignIdentifier("Trip/7"),
        .duplicateReference(target: 7), .danglingReference(target: 7),
        .wrongDestination(target: 7, found: "Stop", expected: "Trip"), .oneSidedReference(target: 7, inverse: "a"),
    ]

    private static func document(_ reason: StoreDocumentError.Reason) -> StoreDocumentError {
        StoreDocumentError(
            reason: reason, entity: "Trip", property: "name", identifier: 7, position: position,
            path: "$.records.Trip[3].name")
    }

    @Test func everyCaseSaysWhatHappenedAndWhatToDo() throws {
        var table = ErrorTable()
        table.add(
            JSONTextError.self,
            [.damaged: Self.texts.map { JSONTextError(reason: $0, position: Self.position, path: "$.a") }])
        table.add(StoreDocumentError.self, [.damaged: Self.documents.map(Self.document)])
        table.add(
            JSONFileError.self,
            [.damaged: Self.documents.map { JSONFileError(path: ErrorTable.place, fault: Self.document($0)) }])
        table.add(
            StoreDocumentWriteError.self,
            [
                .conflict: Self.writing.map {
                    StoreDocumentWriteError(reason: $0, entity: "Trip", property: "name", identifier: 7)
                }
            ])
        #expect(table.faults().isEmpty, "\(table.faults().joined(separator: "\n"))")
        let missing = try table.missingCases(
            of: ["JSONTextError.Reason", "StoreDocumentError.Reason", "StoreDocumentWriteError.Reason"],
            in: ["Adapters/JSONFile"])
        #expect(missing.isEmpty, "\(missing)")
    }
}
