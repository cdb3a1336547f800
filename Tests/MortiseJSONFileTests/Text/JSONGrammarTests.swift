import FaultWorkload
import MortiseCore
import MortiseJSONFile
import Testing

/// What a strict reader refuses. The reader can be another: to see that the check notices a lenient one.
struct JSONStrictnessCheck {
    var read: ([UInt8]) throws -> Void = { _ = try readTree($0) }

    /// Texts that are not JSON, or say one thing twice.
    func grammar(_ texts: [String] = JSONGrammarTests.rejected) -> Findings {
        var findings = Findings()
        for text in texts {
            findings.inject()
            findings.expect(thrown { try read(Array(text.utf8)) } != nil, text)
        }
        return findings
    }

    /// Strings and keys with bytes that are not UTF-8.
    func encoding(_ sequences: [[UInt8]] = JSONGrammarTests.rejectedBytes) -> Findings {
        var findings = Findings()
        for sequence in sequences {
            let quoted = Array("\"x".utf8) + sequence + Array("\"".utf8)
            for text in [Array("[".utf8) + quoted + Array("]".utf8), Array("{".utf8) + quoted + Array(":1}".utf8)] {
                findings.inject()
                findings.expect(thrown { try read(text) } != nil, "\(sequence)")
            }
        }
        return findings
    }

    /// Containers in containers, up to the limit and beyond it.
    func nesting(_ depths: [Int] = [511, 512, 513, 2_000, 100_000]) -> Findings {
        var findings = Findings()
        for depth in depths {
            for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
                let text = String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
                findings.inject()
                findings.expect((thrown { try read(Array(text.utf8)) } == nil) == (depth <= 512), "depth \(depth)")
            }
        }
        return findings
    }
}

/// What is JSON and what is not, in the manner of JSONTestSuite.
@Suite struct JSONGrammarTests {
    static let accepted: [String] = [
        "[]", "[ ]", "{}", " [1] ", "[1,2]", "[1 , 2]", "\t[\n1\r\n]\n", "[[[[]]]]", "{\"\":0}", "{\"a\":[{}]}",
        "{\"a\":1,\"b\":2}", "{\"a\" : 1 }", "{\"\\u0000\":1}", "null", "true", "false", "0", "-0", "\"\"",
        "[null,true,false]",
        "[0]", "[-1]", "[123]", "[1.5]", "[0.5]", "[-0.0]", "[1e1]", "[1E1]", "[1e+1]", "[1e-1]", "[1.5e10]", "[0e1]",
        "[0e+1]", "[1E22]", "[123.456e78]", "[9223372036854775807]", "[-9223372036854775808]", "[18446744073709551615]",
        "[0.0000000000000000000000000000000001]", "[1.7976931348623157e308]", "[5e-324]",
        "[123456789012345678901234.5]",
        "[\"a\"]", "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", "[\"\\u00e9\"]", "[\"\\u00E9\"]", "[\"\\uD834\\uDD1E\"]",
        "[\"\\ud83d\\ude00\"]", "[\"é\"]", "[\"\u{10FFFF}\"]", "[\"\u{FFFF}\"]", "[\"\u{7F}\"]",
        "[\"\u{2028}\u{2029}\"]",
        "[\"a/b\"]", "[\"\u{FEFF}\"]", "[\"\\u2028\"]", "[\"\\uFFFE\"]", "[\"\\\\u0022\"]", "[\"asd \"]",
        "[\"\u{0800}\u{FFFD}\u{E000}\u{D7FF}\"]", "[\"12345678\"]", "[\"123456789é123456789\\n\"]",
    ]

    static let rejected: [String] = [
        "", " ", "[", "]", "{", "}", "[1", "[1,", "[1,]", "[,1]", "[,]", "[1,,2]", "[1 2]", "[1}", "{]", "[1]]", "[1]x",
        "[1],", "[]{}", "1 2", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1,,\"b\":2}", "{,}", "{1:1}", "{a:1}",
        "{'a':1}",
        "{\"a\" 1}", "{\"a\"::1}", "{\"a\":1 \"b\":2}", "{\"a\":1", "{\"a\":", "{\"a\"", "{\"a", "[\"a]", "[\"a\\\"]",
        "\"",
        "nul", "nulll", "Null", "tru", "truE", "fals", "True", "NaN", "[NaN]", "Infinity", "[-Infinity]", "[inf]",
        "nan",
        "[+1]", "[01]", "[-01]", "[00]", "[1.]", "[.5]", "[-.5]", "[-]", "[1e]", "[1e+]", "[1e-]", "[1.e1]", "[0x10]",
        "[1_000]", "[1a]", "[--1]", "[1+1]", "[1e1.5]", "[１]", "[0.e1]", "[2.e+3]", "[1 000.0]", "[-2.]", "[0e]",
        "[1e400]", "[-1e400]", "[1e-400]", "[18446744073709551616]", "[-9223372036854775809]", "[99999999999999999999]",
        "[\"\\x41\"]", "[\"\\a\"]", "[\"\\'\"]", "[\"\\u12\"]", "[\"\\u12G4\"]", "[\"\\u\"]", "[\"\\", "[\"\\u+123\"]",
        "[\"\\uD800\"]", "[\"\\uDC00\"]", "[\"\\uD800\\uD800\"]", "[\"\\uD800x\"]", "[\"\\uD800\\n\"]",
        "[\"\\uDC00\\uD800\"]",
        "[\"\\uD800\\u0041\"]", "[\"\\uD834\\uD\"]", "[\"a\nb\"]", "[\"a\tb\"]", "[\"\u{0}\"]", "[\"\u{1F}\"]", "['a']",
        "[“a”]",
        "[\u{A0}1]", "[\u{0C}1]", "[1]\u{0}", "\u{FEFF}[]", "[\u{2060}]", "// c\n[]", "[/*c*/]", "#[]", "[1];", "*",
        "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}", "{\"é\":1,\"e\u{301}\":2}", "{\"\u{212B}\":1,\"\u{C5}\":2}",
        "{\"b\":{\"a\":1,\"a\":1}}", "{\"\":1,\"\":2}",
    ]

    static let rejectedBytes: [[UInt8]] = [
        [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF], [0xF0, 0x80, 0x80, 0x80],
        [0xF0, 0x8F, 0xBF, 0xBF],
        [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xFE],
        [0x80],
        [0xBF], [0xC3], [0xC3, 0x28], [0xE2, 0x82], [0xE2, 0x28, 0xA1], [0xE2, 0x82, 0x28], [0xF0, 0x9F, 0x98],
        [0xF0, 0x28, 0x8C, 0xBC], [0xF0, 0x90, 0x28, 0xBC], [0xF0, 0x9F, 0x98, 0x28], [0xC3, 0xA9, 0xC3],
        [0xF8, 0x88, 0x80, 0x80, 0x80],
    ]

    @Test(arguments: accepted) func isAccepted(_ text: String) throws {
        _ = try readTree(text)
        try withReader(Array(text.utf8)) { reader in
            try reader.skipValue()
            try reader.finish()
        }
    }

    @Test(arguments: rejected) func isRejected(_ text: String) {
        #expect(JSONStrictnessCheck().grammar([text]).violations == [])
        #expect(throws: JSONTextError.self) { try readTree(text) }
        FaultLedger.add(["F28"], trials: 1)
    }

    /// Skipping finds what the grammar forbids; duplicate keys and what a number stands for are beyond it.
    @Test(arguments: rejected) func isRejectedBySkipping(_ text: String) {
        guard case .failure(let error) = Result(catching: { try readTree(text) }), let error = error as? JSONTextError
        else { return }
        switch error.reason {
        case .duplicateKey, .numberOutOfRange: return
        default:
            #expect(throws: error) {
                try withReader(Array(text.utf8)) { reader in
                    try reader.skipValue()
                    try reader.finish()
                }
            }
        }
    }

    @Test(arguments: rejectedBytes) func illFormedUTF8IsRejected(_ sequence: [UInt8]) {
        #expect(JSONStrictnessCheck().encoding([sequence]).violations == [])
        FaultLedger.add(["F29"], trials: 1)
        for padding in [0, 1, 7, 8, 9] {
            let before = [UInt8](repeating: UInt8(ascii: "x"), count: padding)
            for quoted in [[UInt8(ascii: "\"")] + before + sequence + [UInt8(ascii: "\"")]] {
                for text in [quoted, Array("{".utf8) + quoted + Array(":1}".utf8)] {
                    let error = #expect(throws: JSONTextError.self) { try readTree(text) }
                    #expect(error?.reason == .invalidUTF8)
                }
            }
        }
    }

    /// Every scalar comes through, as itself and escaped.
    @Test func everyScalarIsRead() throws {
        for start in stride(from: UInt32(0x20), to: 0x110000, by: 997) {
            guard let scalar = Unicode.Scalar(start), scalar != "\"", scalar != "\\" else { continue }
            let text = String(Character(scalar))
            #expect(try readTree("\"\(text)\"") == .string(text))
            let units = text.utf16.map { "\\u" + String(0x10000 + UInt32($0), radix: 16).dropFirst() }.joined()
            guard case .string(let read) = try readTree("\"\(units)\"") else {
                Issue.record("no string")
                continue
            }
            #expect(Array(read.utf8) == Array(text.utf8))
        }
    }

    @Test func theStringOfAnEscapeIsExact() throws {
        let text = #"["\"\\\/\b\f\n\r\t\u0000\u001f\u00e9\ud83d\ude00\\u0041e\u0301"]"#
        guard case .array(let elements) = try readTree(text), case .string(let string) = elements.first else {
            Issue.record("no string")
            return
        }
        #expect(Array(string.utf8) == Array("\"\\/\u{8}\u{C}\n\r\t\u{0}\u{1F}\u{E9}\u{1F600}\\u0041e\u{301}".utf8))
    }

    @Test(arguments: [1, 100, 511, 512]) func nestingUpToTheLimitIsRead(_ depth: Int) throws {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let text = String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
            _ = try readTree(text)
            try withReader(Array(text.utf8)) { try $0.skipValue() }
        }
    }

    @Test(arguments: [513, 100_000, 1_000_000]) func nestingBeyondTheLimitIsAnError(_ depth: Int) {
        #expect(JSONStrictnessCheck().nesting([depth]).violations == [])
        FaultLedger.add(["F27"], trials: 1)
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let text = String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
            let tree = #expect(throws: JSONTextError.self) { try readTree(text) }
            #expect(tree?.reason == .nestingTooDeep(limit: 512))
            #expect(tree?.position.offset == 512 * open.utf8.count)
            let skipped = #expect(throws: JSONTextError.self) {
                try withReader(Array(text.utf8)) { try $0.skipValue() }
            }
            #expect(skipped == tree)
        }
    }

    @Test func skippingEndsWhereReadingEnds() throws {
        for text in Self.accepted {
            let padded = Array((text + " ").utf8)
            let skipped = try withReader(padded) { reader in
                try reader.skipValue()
                return reader.position
            }
            let read = try withReader(padded) { reader in
                var budget = TreeBudget()
                _ = try reader.readTree(budget: &budget)
                return reader.position
            }
            #expect(skipped == read)
        }
    }
}
