#if Tool
import Foundation
@testable import MortiseCommands
import MortiseCore
import Testing

/// Typing in `mortise shell`.
@Suite struct LineEditorTests {
    private typealias Key = LineEditor.Key
    private static let completion = ShellCompletion(TripStore.schema, verbs: ["fetch", "count", "help"])

    private func editor(_ earlier: [String] = []) -> LineEditor {
        LineEditor(earlier: earlier) { Self.completion($0) }
    }

    private func type(_ keys: [Key], into editor: inout LineEditor) -> LineEditor.Outcome {
        keys.reduce(.nothing) { _, key in editor.take(key) }
    }

    private func typed(_ text: String, _ keys: Key..., earlier: [String] = []) -> String {
        var editor = editor(earlier)
        _ = type(text.map { .character($0) } + keys, into: &editor)
        return String(editor.text[..<editor.cursor]) + "|" + String(editor.text[editor.cursor...])
    }

    @Test func keysMoveAndDelete() {
        #expect(typed("abc", .left, .left, .character("x")) == "ax|bc")
        #expect(typed("abc", .home, .character("x"), .end, .character("y")) == "xabcy|")
        #expect(typed("abc", .left, .backspace, .backspace, .backspace) == "|c")
        #expect(typed("abc", .home, .delete, .right, .right, .right) == "bc|")
        #expect(typed("one two  ", .deleteWord) == "one |" && typed("one two", .left, .deleteWord) == "one |o")
        #expect(typed("one two", .left, .left, .deleteToEnd) == "one t|")
        #expect(typed("one two", .left, .left, .deleteToStart) == "|wo")
        // What looks like one character is one.
        #expect(typed("e\u{301}👨‍👩‍👧x", .left, .backspace, .backspace) == "|x")
        #expect(typed("abc", .home, .endOfInput) == "|bc")
        var empty = editor()
        #expect(empty.take(.endOfInput) == .ended && empty.take(.backspace) == .nothing)
        #expect(type("a b".map { .character($0) } + [.enter], into: &empty) == .done("a b"))
    }

    @Test func earlierLinesComeAndTheOwnOneComesBack() {
        let earlier = ["first", "second"]
        #expect(typed("own", .up, earlier: earlier) == "second|")
        #expect(typed("own", .up, .up, .up, earlier: earlier) == "first|")
        #expect(typed("own", .up, .up, .down, earlier: earlier) == "second|")
        #expect(typed("own", .up, .down, .down, earlier: earlier) == "own|")
        #expect(typed("own", .down) == "own|")
    }

    @Test func wordsAreCompletedFromTheSchema() {
        #expect(typed("fe", .complete) == "fetch |" && typed("Gu", .complete) == "Guide |")
        #expect(typed("fetch Tr", .complete) == "fetch Trip |")
        #expect(typed("Trip where dest", .complete) == "Trip where destination |")
        #expect(
            typed("Trip wh", .complete) == "Trip where |" && typed("Trip sort -pri", .complete) == "Trip sort -price |")
        #expect(typed("Trip where guide.na", .complete) == "Trip where guide.name |")
        #expect(typed("Trip where any stops (nig", .complete) == "Trip where any stops (nights |")
        #expect(typed("Stop where trip.guide.tr", .complete) == "Stop where trip.guide.trips |")
        #expect(typed("Stop where nowhere.x", .complete) == "Stop where nowhere.x|")
        var several = editor()
        // "start" is common to nothing else; "s" is to several.
        #expect(
            type("Trip where s".map { .character($0) } + [.complete], into: &several)
                == .choices(["seats", "sort", "startDate", "stops"]))
        #expect(typed("Trip where xyz", .complete) == "Trip where xyz|")
    }

    @Test func linesAreKeptForTheUserAlone() throws {
        let folder = try ToolFolder()
        let path = folder.path("state/mortise/history")
        var history = LineHistory(["XDG_STATE_HOME": folder.path("state")])
        for line in ["one", "two", "two", "  ", "two\nthree", " four "] { history.add(line) }
        #expect(history.lines == ["one", "two", "four"])
        history.save()
        #expect(LineHistory(["XDG_STATE_HOME": folder.path("state")]).lines == ["one", "two", "four"])
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
        for number in 0..<1_500 { history.add("line \(number)") }
        #expect(history.lines.count == 1_000 && history.lines.last == "line 1499")
        // A name without a file, one of a folder, and none at all keep nothing and fail at nothing.
        for environment in [["MORTISE_HISTORY": ""], ["MORTISE_HISTORY": folder.path("state")], [:], ["HOME": "x"]] {
            let none = LineHistory(environment)
            #expect(none.lines == [])
            none.save()
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("state")) == ["mortise"])
    }
}
#endif
