import Foundation
import MortiseCore
import MortiseJSONFile
import Testing

/// Every kind of value, at its limits: the text that it is written as, and that it comes back bit for bit.
@Suite struct AttributeTextTests {
    /// Writes a value, returns its text, and makes sure that it comes back the same.
    private func text(_ value: StoredValue, _ kind: StorageKind) throws -> String {
        let schema = StoredSchema(entities: [StoredEntity(name: "T", properties: [attribute("v", kind)])])
        let bytes = try write(schema, [TestRecord("T", 1, [value])])
        let back = try #require(try read(bytes).records.first?.values.first)
        #expect(isIdentical(back, value), "\(value) came back as \(back)")
        let line = try #require(
            String(decoding: bytes, as: UTF8.self).split(separator: "\n").first {
                $0.hasPrefix("      {\"$id\": 1, \"v\": ")
            })
        return String(line.dropFirst("      {\"$id\": 1, \"v\": ".count).dropLast())
    }

    private func value(_ text: String, _ kind: StorageKind) throws -> StoredValue? {
        try read(
            DocumentText(
                "{\"name\": \"T\", \"properties\": [{\"name\": \"v\", \"kind\": \"\(kind.rawValue)\"}]}",
                "\"T\": [{\"$id\": 1, \"v\": \(text)}]"
            ).text
        )
        .first?.values.first
    }

    @Test func booleansAndIntegers() throws {
        #expect(try text(.bool(true), .bool) == "true")
        #expect(try text(.bool(false), .bool) == "false")
        for kind in StorageKind.allCases {
            guard let range = kind.integerRange else { continue }
            for value in [range.lowerBound, range.upperBound, 0, 1] {
                #expect(try text(.integer(value), kind) == "\(value)")
            }
            if range.upperBound < .max {
                for beyond in [range.lowerBound - 1, range.upperBound + 1] {
                    #expect(throws: StoreDocumentWriteError.self) { try text(.integer(beyond), kind) }
                    let error = #expect(throws: StoreDocumentError.self) { try value("\(beyond)", kind) }
                    #expect(error?.reason == .numberOutOfRange(kind))
                }
            }
        }
        #expect(try text(.unsigned(.max), .uint64) == "18446744073709551615")
        #expect(try text(.unsigned(0), .uint64) == "0")
        #expect(try value("-0", .int64) == .integer(0))
    }

    @Test func floatingPointNumbers() throws {
        for value in JSONNumberTests.specialDoubles {
            #expect(try text(.double(value), .double) == value.description)
            if Float(value).isFinite { #expect(try text(.float(Float(value)), .float) == Float(value).description) }
        }
        for (value, written) in [
            (Double.nan, "\"nan\""), (.infinity, "\"inf\""), (-.infinity, "\"-inf\""),
            (Double(bitPattern: 0x7FF8_0000_0000_0001), "\"nan:0x7ff8000000000001\""),
            (Double(bitPattern: 0xFFF8_0000_0000_0000), "\"nan:0xfff8000000000000\""),
            (Double(bitPattern: 0x7FF0_0000_0000_0001), "\"nan:0x7ff0000000000001\""),
        ] {
            #expect(try text(.double(value), .double) == written)
            #expect(try text(.date(Date(timeIntervalSinceReferenceDate: value)), .date) == written)
        }
        for (value, written) in [
            (Float.nan, "\"nan\""), (.infinity, "\"inf\""), (-.infinity, "\"-inf\""),
            (Float(bitPattern: 0x7FC0_0001), "\"nan:0x7fc00001\""),
            (Float(bitPattern: 0xFFC0_0000), "\"nan:0xffc00000\""),
            (Float(bitPattern: 0x7F80_0001), "\"nan:0x7f800001\""),
            (.leastNonzeroMagnitude, "1e-45"), (-0.0, "-0.0"), (.greatestFiniteMagnitude, "3.4028235e+38"),
        ] {
            #expect(try text(.float(value), .float) == written)
        }
        #expect(try value("5", .double) == .double(5))
        #expect(try value("5e0", .float) == .float(5))
    }

    @Test(arguments: [
        "\"NaN\"", "\"Inf\"", "\"infinity\"", "\"+inf\"", "\"nan:\"", "\"nan:0x7ff0000000000000\"",
        "\"nan:0x3ff0000000000000\"",
        "\"nan:0x7ff800000000001\"", "\"nan:0x7FG8000000000001\"", "\"\"", "\"1.0\"", "\"nan:0x+ff8000000000001\"",
    ])
    func aTextThatIsNoNumberIsRefused(_ text: String) {
        let error = #expect(throws: StoreDocumentError.self) { try value(text, .double) }
        #expect(error?.reason == .invalidText(.double))
    }

    @Test func decimals() throws {
        for text in [
            "0", "1", "-1", "1.5", "-0.01", "99999999999999999999999999999999999999",
            "0.00000000000000000000000000000000000001",
            "12345678901234567890.123456789012345678", "340282366920938463463374607431768211455",
            "100000000000000000000",
            "-99999999999999999999999999999999999999", "1" + String(repeating: "0", count: 127),
            "0." + String(repeating: "0", count: 127) + "1", "0.1", "18446744073709551615", "18446744073709551616",
        ] {
            let decimal = try #require(Decimal(string: text, locale: nil))
            #expect(try self.text(.decimal(decimal), .decimal) == "\"\(text)\"")
        }
        #expect(try text(.decimal(.nan), .decimal) == "\"NaN\"")
        _ = try text(.decimal(.greatestFiniteMagnitude), .decimal)
        #expect(try value("\"1.50\"", .decimal) == .decimal(Decimal(3) / 2))
        #expect(try value("\"15e-1\"", .decimal) == .decimal(Decimal(3) / 2))
        #expect(try value("\"-0\"", .decimal) == .decimal(0))
        #expect(try value("\"1\\u002e5\"", .decimal) == .decimal(Decimal(3) / 2))
        #expect(try value("\"007\"", .decimal) == .decimal(7))
    }

    @Test(arguments: [
        "", "1,5", "1.", ".5", "+1", "1 ", " 1", "0x1", "nan", "1e", "1e128", "1e-129", "--1", "1.5.2", "12abc",
        "1e999999999999",
        "340282366920938463463374607431768211456", "0.1234567890123456789012345678901234567890123",
    ])
    func aTextThatIsNoExactDecimalIsRefused(_ text: String) {
        let error = #expect(throws: StoreDocumentError.self) { try value("\"\(text)\"", .decimal) }
        #expect(error?.reason == .invalidText(.decimal))
    }

    @Test func dataOfEveryLengthAndByte() throws {
        #expect(try text(.data(Data()), .data) == "\"\"")
        #expect(try text(.data(Data([0])), .data) == "\"AA==\"")
        #expect(try text(.data(Data([0xFF, 0xFE])), .data) == "\"//4=\"")
        for count in [1, 2, 3, 4, 255, 256, 257, 70_000, 100_001] {
            let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            #expect(try text(.data(data), .data) == "\"\(data.base64EncodedString())\"")
        }
        #expect(try text(.data(Data([1, 2, 3, 4, 5])[2...]), .data) == "\"AwQF\"")
        #expect(try value("\"\\/\\/4=\"", .data) == .data(Data([0xFF, 0xFE])))
    }

    @Test(arguments: [
        "A", "AA", "AAA", "AA=", "AAAAA", "AB==", "AAF=", "====", "=AAA", "A===", "AA=A", "AA A", "AA\\n==", "AA-_",
        "é==", "AA==AAAA",
    ])
    func aTextThatIsNoBase64IsRefused(_ text: String) {
        let error = #expect(throws: StoreDocumentError.self) { try value("\"\(text)\"", .data) }
        #expect(error?.reason == .invalidText(.data))
    }

    @Test func uuids() throws {
        let uuid = try #require(UUID(uuidString: "01234567-89AB-CDEF-FEDC-BA9876543210"))
        #expect(try text(.uuid(uuid), .uuid) == "\"01234567-89AB-CDEF-FEDC-BA9876543210\"")
        #expect(try value("\"01234567-89ab-cdef-fedc-ba9876543210\"", .uuid) == .uuid(uuid))
        for _ in 0..<100 { _ = try text(.uuid(UUID()), .uuid) }
        for wrong in [
            "", "01234567-89AB-CDEF-FEDC-BA987654321", "01234567-89AB-CDEF-FEDC-BA98765432100",
            "0123456789ABCDEFFEDCBA9876543210",
            "01234567-89AB-CDEF-FEDC-BA987654321G", "01234567_89AB-CDEF-FEDC-BA9876543210",
            "{1234567-89AB-CDEF-FEDC-BA9876543210",
            "01234567-89AB-CDEF-FEDC-BA987654321é",
        ] {
            let error = #expect(throws: StoreDocumentError.self) { try value("\"\(wrong)\"", .uuid) }
            #expect(error?.reason == .invalidText(.uuid))
        }
    }

    @Test func urls() throws {
        for text in ["https://example.org/a?b=c#d", "file:///tmp/a%20b/", "a/b", "mailto:a@b.c", "../x", "?q", "#f"] {
            #expect(try self.text(.url(#require(URL(string: text))), .url) == "\"\(text)\"")
        }
        let base = try #require(URL(string: "https://example.org/a/"))
        let relative = try #require(URL(string: "b?c", relativeTo: base))
        #expect(try text(.url(relative), .url) == "{\"relative\": \"b?c\", \"base\": \"https://example.org/a/\"}")
        for wrong in [
            "\"http://a b\"", "\"http://[::1\"", "\"é\"", "\"\"",
            "{\"relative\": \"http://[\", \"base\": \"http://a\"}",
        ] {
            let error = #expect(throws: StoreDocumentError.self) { try value(wrong, .url) }
            #expect(error?.reason == .invalidText(.url))
        }
        for (wrong, reason) in [
            ("{\"base\": \"http://a\"}", StoreDocumentError.Reason.missingMember("relative")),
            ("{\"relative\": \"a\"}", .missingMember("base")),
            ("{\"relative\": \"a\", \"base\": \"http://a\", \"x\": 1}", .unknownMember("x")),
            ("{\"relative\": \"a\", \"relative\": \"b\"}", .malformed(.duplicateKey("relative"))),
        ] {
            let error = #expect(throws: StoreDocumentError.self) { try value(wrong, .url) }
            #expect(error?.reason == reason)
        }
    }

    @Test func strings() throws {
        for string in Self.strings {
            let text = try self.text(.string(string), .string)
            #expect(!text.utf8.contains { $0 < 0x20 })
        }
        #expect(
            try text(.string("a\"\\/\u{8}\u{C}\n\r\t\u{0}\u{1F}\u{7F}é"), .string) == #""a\"\\/\b\f\n\r\t\u0000\u001f"#
                + "\u{7F}é\"")
        let long = String(repeating: "0123456789ä\n", count: 20_000)
        _ = try text(.string(long), .string)
    }

    static let strings: [String] = [
        "", "a", "é", "e\u{301}", "\u{212B}", "\u{C5}", "👩‍👩‍👧‍👦", "🇩🇪", "שלום", "مرحبا بالعالم", "\u{202E}abc\u{202C}",
        "\u{0}", "a\u{0}b",
        "\u{FEFF}a", "\u{FFFD}", "\u{10FFFF}", "\u{D7FF}\u{E000}", "\r\n", "\u{2028}\u{2029}", "\"\\/", "nan", "null",
        "日本語のテキスト",
        "z͑ͫa͒l̓g̾o", "1234567", "12345678", "123456789012345\n", "1234567\"1234567\\",
    ]

    @Test func codedTrees() throws {
        let tree = StoredValue.object([
            "b": .array([
                .null, .bool(true), .integer(.min), .unsigned(.max), .double(1), .double(-0.0), .double(1e300),
                .string("x"),
            ]),
            "a": .object([:]), "": .array([]), "é": .array([.array([.array([])])]), "Z": .integer(1),
            "\u{1F600}": .null,
            "\u{FFFD}": .string("nan"),
        ])
        #expect(
            try text(tree, .coded)
                == "{\"\": [], \"Z\": 1, \"a\": {}, \"b\": [null, true, -9223372036854775808, "
                + "18446744073709551615, 1.0, "
                + "-0.0, 1e+300, \"x\"], \"é\": [[[]]], \"\u{FFFD}\": \"nan\", \"\u{1F600}\": null}")
        for leaf in [StoredValue.bool(false), .integer(0), .double(5), .string("")] { _ = try text(leaf, .coded) }
        #expect(try value("[5, 5.0, 5e0]", .coded) == .array([.integer(5), .double(5), .double(5)]))
    }

    @Test func deepTreesComeBackUpToTheLimit() throws {
        func nested(_ depth: Int) -> StoredValue { (0..<depth).reduce(.null) { value, _ in .array([value]) } }
        _ = try text(nested(508), .coded)
        for depth in [509, 513, 20_000] {
            let error = #expect(throws: StoreDocumentWriteError.self) { try text(nested(depth), .coded) }
            #expect(error?.reason == .nestingTooDeep(limit: 508))
        }
    }

    @Test func wideTreesComeBackUpToTheLimit() throws {
        _ = try text(.array(Array(repeating: .integer(1), count: 100_000)), .coded)
        _ = try text(.object(Dictionary(uniqueKeysWithValues: (0..<50_000).map { ("k\($0)", .double(0.5)) })), .coded)
        let error = #expect(throws: StoreDocumentWriteError.self) {
            try text(.array(Array(repeating: .array([]), count: 1_000_000)), .coded)
        }
        #expect(error?.reason == .valueTooLarge)
    }
}

/// Equality to the last bit, strings by code units.
func isIdentical(_ left: StoredValue, _ right: StoredValue) -> Bool {
    switch (left, right) {
    case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
    case (.url(let a), .url(let b)): a == b && a.relativeString == b.relativeString && a.baseURL == b.baseURL
    case (.decimal(let a), .decimal(let b)): a == b || a.isNaN && b.isNaN
    case (.array(let a), .array(let b)): a.count == b.count && zip(a, b).allSatisfy(isIdentical)
    case (.object(let a), .object(let b)):
        a.count == b.count && a.allSatisfy { key, value in b[key].map { isIdentical(value, $0) } ?? false }
            && Set(a.keys.map { Array($0.utf8) }) == Set(b.keys.map { Array($0.utf8) })
    default: left == right
    }
}
