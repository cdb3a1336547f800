import MortiseCore
@testable import MortiseSQL
import Testing

/// What the columns of an attribute hold.
@Suite struct AttributeColumnsTests {
    /// Queries compare the composed form. A text beside it that is another was read, and found by no query.
    @Test func aTextThatIsNotThatOfItsComposedFormIsNoValue() {
        let columns = AttributeColumns(.string, "x")
        #expect(columns.value(.text("\u{e9}"), .null) == .string("\u{e9}"))
        guard case .string(let text)? = columns.value(.text("\u{e9}"), .text("e\u{301}")) else {
            Issue.record("no text")
            return
        }
        #expect(Array(text.unicodeScalars) == ["e", "\u{301}"])
        #expect(columns.value(.text("\u{e9}"), .text("other")) == nil)
        #expect(columns.value(.text("e\u{301}"), .text("e\u{301}")) == nil)
    }
}
