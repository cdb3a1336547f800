import Foundation
import MortiseCore

extension ConformanceCase {
    static let textCases: [ConformanceCase] = [
        ConformanceCase(
            "values.text-scalar-by-scalar", level: .firstHour,
            requirement: "Text comes back with the same Unicode scalars, normalized in no way.",
            hint: "The text is normalized, cut at NUL, or escaped and not unescaped."
        ) { c in
            try c.roundTrip(
                [
                    "", " ", "plain", "é", "e\u{301}", "日本語", "مرحبا", "👩‍👩‍👧‍👦", "🇳🇴", "👍🏽", "a\u{0}b", "\r\n\t",
                    "\"quoted\" \\ 'single'", "null", "NULL", "0", "true", "\u{FEFF}bom", "\u{2028}\u{2029}",
                    "%@ %s ${x}",
                ], of: \ValueSample.text, "text", make: ValueSample.init)
        },
        ConformanceCase(
            "values.one-special-character", level: .core,
            requirement:
                "A text with one character that some format uses for itself, and nothing else special, is kept.",
            hint:
                "The text is quoted or escaped only where it has some of these characters, and this one was forgotten."
        ) { c in
            let special: [Character] = [
                ",", ";", "\t", "\r", "\n", "\r\n", "\"", "'", "`", "\\", "|", ":", "=", "#", "%", "&", "<", ">", "$",
                "@", "?",
                "*", "_", "/", "(", ")", "[", "]", "{", "}", "+", "-", "~", "^", "\u{7F}", "\u{85}", "\u{A0}",
                "\u{2028}",
            ]
            let texts = special.flatMap { ["\($0)", "a\($0)b", "\($0)b", "a\($0)"] }
            try c.roundTrip(texts, of: \ValueSample.text, "text", make: ValueSample.init)
        },
        ConformanceCase(
            "values.texts-like-numbers", level: .core,
            requirement: "A text that looks like a number, a date or a truth value is kept as it is written.",
            hint: "A column without a type, or one of numbers, takes such a text for what it looks like."
        ) { c in
            try c.roundTrip(
                [
                    "007", "+1", "1.0", "1e3", "1E400", ".5", "5.", "-0", " 12", "12 ", "0x10", "1_000", "1,5", "½",
                    "Infinity",
                    "nan", "9223372036854775807", "9223372036854775808", "123456789012345678901234567890.10",
                    "2001-01-01",
                    "TRUE", "yes", "nil",
                ], of: \ValueSample.text, "text", make: ValueSample.init)
            try c.roundTrip(
                ["007", "1.0", "1e3", nil, "0"], of: \Entry.note, "note", make: { Entry("x") })
        },
        ConformanceCase(
            "values.normal-forms-are-kept-apart", level: .core,
            requirement: "Two texts that are canonically equivalent come back each in its own normal form.",
            hint: "Equal strings are stored once, for example in a dictionary whose keys are Swift strings."
        ) { c in
            try c.roundTrip(
                ["é", "e\u{301}", "é", "Å", "\u{212B}", "A\u{30A}", "ﬁ", "가", "\u{1100}\u{1161}"],
                of: \ValueSample.text, "text", make: ValueSample.init)
        },
        ConformanceCase(
            "values.normal-form-can-be-updated", level: .core,
            requirement: "An update from one normal form of a text to another is a change, and is stored.",
            hint: "The store compares old and new value with == to save a write; \"é\" == \"e\\u{301}\" in Swift."
        ) { c in
            try c.rewrite(["é", "e\u{301}", "é"], of: \ValueSample.text, "text", make: ValueSample.init)
        },
        ConformanceCase(
            "values.nul-and-controls", level: .core,
            requirement: "NUL and every other control character survive, at the start, in the middle and at the end.",
            hint: "The text is handed to something that ends at NUL."
        ) { c in
            let controls = String(String.UnicodeScalarView((0..<32).compactMap { Unicode.Scalar($0) }))
            try c.roundTrip(
                ["\u{0}", "\u{0}start", "mid\u{0}dle", "end\u{0}", "\u{0}\u{0}", controls, "\u{7F}\u{80}\u{9F}"],
                of: \ValueSample.text, "text", make: ValueSample.init)
        },
        ConformanceCase(
            "values.emoji-and-far-planes", level: .core,
            requirement: "Scalars beyond the basic plane, joined sequences and noncharacters come back.",
            hint: "The text passes through UTF-16 code units or an encoding of three bytes."
        ) { c in
            try c.roundTrip(
                [
                    "😀", "👩‍❤️‍💋‍👨", "🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}", "𝒜𝓑", "\u{10FFFF}",
                    "\u{FFFF}\u{FFFE}",
                    "\u{10000}", "a\u{301}\u{302}\u{303}", "\u{200D}", "\u{202E}rtl",
                ], of: \ValueSample.text, "text", make: ValueSample.init)
        },
        ConformanceCase(
            "values.long-text", level: .core,
            requirement: "Long texts come back whole, at lengths around powers of two.",
            hint: "A length is kept in 8 or 16 bits, or a column has a limit."
        ) { c in
            let lengths = [15, 16, 127, 128, 255, 256, 65_535, 65_536, 300_000]
            try c.roundTrip(
                lengths.map { String(repeating: "x", count: $0 - 1) + "é" }, of: \ValueSample.text, "text",
                make: ValueSample.init)
        },
        ConformanceCase(
            "values.text-inside-coded-values", level: .core,
            requirement: "Text inside arrays and structs comes back with the same scalars as plain text.",
            hint: "Coded values take a different path through the store from plain text."
        ) { c in
            try c.roundTrip(
                [["é", "e\u{301}", "a\u{0}b", "👩‍👩‍👧‍👦", ""], ["\"", "\\", "\n"]], of: \ValueSample.words, "words",
                make: ValueSample.init)
        },
    ]
}
