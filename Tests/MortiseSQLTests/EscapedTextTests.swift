import MortiseSQL
import PackageTestSupport
import Testing

/// Text without U+0000 is equal and ordered as the text that it is of.
@Suite struct EscapedTextTests {
    @Test func escapedTextComesBackAndKeepsItsOrder() {
        var numbers = SeededGenerator(seed: testSeed())
        func some() -> String {
            var text = String.UnicodeScalarView()
            for _ in 0..<numbers.below(6) {
                text.append(numbers.pick(["\0", "\u{1}", "\u{2}", "a", "\u{301}", "😀"] as [Unicode.Scalar]))
            }
            return String(text)
        }
        func precedes(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }
        for _ in 0..<20_000 {
            let (a, b) = (some(), some())
            let (x, y) = (EscapedText.escaped(a), EscapedText.escaped(b))
            #expect(!x.utf8.contains(0))
            #expect(EscapedText.text(x).map { Array($0.utf8) } == Array(a.utf8))
            #expect(precedes(a, b) == precedes(x, y))
            #expect(a.utf8.starts(with: b.utf8) == x.utf8.starts(with: y.utf8))
        }
    }

    @Test func whatIsNoEscapedTextIsRefused() {
        for text in ["\u{1}", "a\u{1}", "\u{1}a", "\u{1}\u{3}"] { #expect(EscapedText.text(text) == nil) }
    }
}
