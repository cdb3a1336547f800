import MortiseCore
import MortiseJSONFile
import Testing

/// What an error of the reader says, and where.
@Suite struct JSONTextErrorTests {
    static let cases: [(marked: String, reason: JSONTextError.Reason, path: String)] = [
        ("§", .unexpectedEnd(expected: "a value"), "$"),
        ("§\u{FEFF}[]", .byteOrderMark, "$"),
        ("[1,\n 2§", .unexpectedEnd(expected: "',' or ']'"), "$[1]"),
        ("{\"a\"§", .unexpectedEnd(expected: "':'"), "$"),
        ("{\"a\":1,§", .unexpectedEnd(expected: "a key"), "$"),
        ("[\"abc§", .unexpectedEnd(expected: "the closing quote of a string"), "$[0]"),
        ("[\"abc\\§", .unexpectedEnd(expected: "the rest of an escape"), "$[0]"),
        ("[\"\\u00§", .unexpectedEnd(expected: "four hexadecimal digits"), "$[0]"),
        ("[tr§", .unexpectedEnd(expected: "true"), "$[0]"),
        ("[-§", .unexpectedEnd(expected: "a digit"), "$[0]"),
        ("{\"a\": [1, {\"b c\": §x}]}", .unexpectedByte(0x78, expected: "a value"), "$.a[1][\"b c\"]"),
        ("{\"a\":1, §2}", .unexpectedByte(0x32, expected: "a key in double quotes"), "$"),
        ("{\"a\"§ 1}", .unexpectedByte(0x31, expected: "':'"), "$"),
        ("[1 §2]", .unexpectedByte(0x32, expected: "',' or ']'"), "$[0]"),
        ("{\"é\":\n\t\"ä\"§;}", .unexpectedByte(0x3B, expected: "',' or '}'"), "$.é"),
        ("[tr§xe]", .unexpectedByte(0x78, expected: "true"), "$[0]"),
        ("[1.§]", .unexpectedByte(0x5D, expected: "a digit"), "$[0]"),
        ("[1§,]", .trailingComma, "$[0]"),
        ("{\"a\": 1§, }", .trailingComma, "$.a"),
        ("[1]\n§]", .trailingBytes, "$"),
        ("[1, \"x§\\uD800\"]", .loneSurrogate, "$[1]"),
        ("[\"§\\q\"]", .invalidEscape, "$[0]"),
        ("[\"§\\u12x4\"]", .invalidEscape, "$[0]"),
        ("[\"a§\nb\"]", .controlCharacter(10), "$[0]"),
        ("[-§007]", .leadingZero, "$[0]"),
        ("[1, §1e999]", .numberOutOfRange, "$[1]"),
        ("[§18446744073709551616]", .numberOutOfRange, "$[0]"),
        ("{\"k\": {\"a\": 1,\n §\"\\u0061\": 2}}", .duplicateKey("a"), "$.k"),
        ("{\"\u{E9}\": 1, §\"e\u{301}\": 2}", .duplicateKey("e\u{301}"), "$"),
        ("[§" + String(repeating: "1", count: 1025) + "]", .numberTooLong(limit: 1024), "$[0]"),
    ]

    @Test(arguments: cases.indices) func tellsReasonPlaceAndPath(_ index: Int) {
        let (marked, reason, path) = Self.cases[index]
        let expected = MarkedText(marked)
        // The colon that is missing is missed behind the space.
        let offset = marked == "{\"a\"§ 1}" ? 1 : 0
        let error = #expect(throws: JSONTextError.self) { try readTree(expected.text) }
        #expect(error?.reason == reason)
        #expect(error?.position.offset == expected.position.offset + offset)
        #expect(error?.position.line == expected.position.line)
        #expect(error?.position.column == expected.position.column + offset)
        #expect(error?.path == path)
        #expect(error?.description.contains("line \(expected.position.line), column") == true)
    }

    @Test func invalidUTF8IsPlaced() {
        let error = #expect(throws: JSONTextError.self) {
            try readTree(Array("[1,\n\"é".utf8) + [0xC3, 0x28] + Array("\"]".utf8))
        }
        #expect(error?.reason == .invalidUTF8)
        #expect(error?.position == TextPosition(offset: 7, line: 2, column: 4))
        #expect(error?.path == "$[1]")
    }

    @Test func aTreeThatAsksForMuchMemoryIsAnError() {
        let text = "[" + String(repeating: "{},", count: 200_000) + "1]"
        let error = #expect(throws: JSONTextError.self) { try readTree(text) }
        #expect(error?.reason == .valueTooLarge)
        #expect((error?.position.offset ?? 0) < text.utf8.count)
    }

    @Test func everyReasonHasItsOwnMessage() {
        let reasons = Self.cases.map(\.reason) + [.invalidUTF8, .nestingTooDeep(limit: 512), .valueTooLarge]
        let messages = Set(Set(reasons).map(\.description))
        #expect(messages.count == Set(reasons).count)
        #expect(messages.allSatisfy { $0.hasSuffix(".") })
    }
}
