import Foundation
import MortiseCore
import Testing

/// Values as text come back to the last bit, and text that is no value is none.
@Suite struct StoredValueTextTests {
    static let values: [(StorageKind, StoredValue, String)] = [
        (.bool, .bool(true), "true"), (.int8, .integer(-128), "-128"), (.int64, .integer(.min), "-9223372036854775808"),
        (.uint64, .unsigned(.max), "18446744073709551615"), (.float, .float(0.1), "0.1"),
        (.float, .float(Float(bitPattern: 0xffc0_0001)), "nan:ffc00001"),
        (.double, .double(-0.0), "-0.0"), (.double, .double(.nan), "nan"), (.double, .double(-.infinity), "-inf"),
        (.double, .double(.leastNonzeroMagnitude), "5e-324"),
        (.double, .double(Double(bitPattern: 0x7ff0_0000_0000_0001)), "nan:7ff0000000000001"),
        (.decimal, .decimal(Decimal(sign: .minus, exponent: -2, significand: 1250)), "-12.5"),
        (.decimal, .decimal(.nan), "NaN"), (.string, .string(""), ""),
        (.string, .string("a,\"b\"\r\n\0"), "a,\"b\"\r\n\0"),
        (.data, .data(Data([0, 255])), "AP8="), (.data, .data(Data()), ""),
        (.date, .date(Date(timeIntervalSinceReferenceDate: 799_322_400.25)), "2026-05-01T10:00:00.25Z"),
        (.date, .date(Date(timeIntervalSinceReferenceDate: -0.0)), "-0.0"),
        (.date, .date(Date(timeIntervalSinceReferenceDate: 1e300)), "1e+300"),
        (.date, .date(Date(timeIntervalSinceReferenceDate: .nan)), "nan"),
        (
            .uuid, .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))),
            "01020304-0506-0708-090A-0B0C0D0E0F10"
        ),
        (
            .coded, .object(["b": .array([.integer(1), .double(1)]), "a": .null]),
            #"{"object":{"a":{"null":true},"b":{"array":[{"integer":1},{"double":4607182418800017408}]}}}"#
        ),
        (.coded, .string("x"), #"{"string":"x"}"#),
    ]

    @Test func everyValueComesBack() throws {
        for (kind, value, text) in Self.values {
            #expect(value.text(as: kind) == text)
            let back = try #require(StoredValue(text: text, as: kind), "\(kind): \(text)")
            #expect(back.isIdentical(to: value), "\(kind): \(back) for \(value)")
        }
    }

    @Test func locationsComeBackWithTheirBase() throws {
        for text in ["https://a.example/b?c=d#e", "b/c", "b/c https://a.example/d/"] {
            let value = try #require(StoredValue(text: text, as: .url), "\(text)")
            #expect(value.text(as: .url) == text)
        }
        guard case .url(let url)? = StoredValue(text: "b https://a.example/d/", as: .url) else {
            Issue.record("no URL")
            return
        }
        #expect(url.absoluteString == "https://a.example/d/b")
    }

    @Test func whatPeopleWriteIsTaken() {
        #expect(StoredValue(text: "TRUE", as: .bool) == .bool(true))
        #expect(StoredValue(text: "+5", as: .int8) == .integer(5))
        #expect(StoredValue(text: "1E3", as: .double) == .double(1000))
        #expect(StoredValue(text: "2026-05-01", as: .date)?.text(as: .date) == "2026-05-01T00:00:00Z")
        #expect(StoredValue(text: "2026-05-01 12:00+02:00", as: .date)?.text(as: .date) == "2026-05-01T10:00:00Z")
    }

    @Test(
        arguments: [
            (.bool, "1"), (.int8, "128"), (.int32, "1.0"), (.uint8, "-1"), (.uint64, "18446744073709551616"),
            (.double, "1,5"), (.double, "nan:7ff0000000000000x"), (.float, ""), (.decimal, "12abc"),
            (.decimal, "1234567890123456789012345678901234567890123"), (.data, "AP8"), (.data, "=="),
            (.date, "yesterday"),
            (.date, "2026-02-30"), (.uuid, "01020304"), (.url, "a b c"), (.url, "a\u{7f}"), (.coded, "[1]"),
            (.coded, #"{"date":0}"#), (.coded, #"{"null":true}"#), (.coded, String(repeating: "[", count: 100_000)),
        ] as [(StorageKind, String)])
    func otherTextIsNoValue(_ kind: StorageKind, _ text: String) {
        #expect(StoredValue(text: text, as: kind) == nil)
    }

    @Test func whatIsNoValueOfAKindHasNoText() {
        #expect(StoredValue.null.text(as: .string) == nil)
        #expect(StoredValue.integer(300).text(as: .uint8) == nil)
        #expect(StoredValue.string("1").text(as: .int64) == nil)
        #expect(StoredValue.identifiers([]).text(as: .coded) == nil)
    }
}
