import MortiseCore
import Testing

/// Looking for text in text.
@Suite struct TextSearchTests {
    /// Foundation finds U+0000 after the end of some texts. Their range there ended the process.
    @Test(arguments: ["\u{e5}", "\u{212b}", "a\u{301}", "b\u{e4}", "a\u{301}\u{323}"])
    func noCharacterComesAfterTheLast(text: String) {
        #expect(!TextSearch.localizedStandardContains(text, "a\0"))
        #expect(TextSearch.localizedStandardContains(text, "a"))
    }

    @Test func whatIsThereIsFound() {
        #expect(TextSearch.localizedStandardContains("xA\0", "a\0"))
        #expect(TextSearch.localizedStandardContains("stra\u{df}e \u{c9}T\u{c9}", "ete"))
        #expect(!TextSearch.localizedStandardContains("abc", "abd"))
    }
}
