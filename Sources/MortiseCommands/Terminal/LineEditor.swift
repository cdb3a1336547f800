#if Tool
import Foundation
import MortiseCore

/// A line that is typed on a terminal, with the keys that shells have for that: arrows, Home and End, Control-A, E, B, F, K, U, W and L,
/// the lines before by Up and Down, and Tab.
struct LineEditor {
    /// What a key asks for.
    enum Key: Hashable {
        case character(Character)
        case left, right, up, down, home, end
        case backspace, delete, deleteWord, deleteToEnd, deleteToStart
        case complete, enter, interrupt, endOfInput, redraw
        /// Control-X: how the query in the line would be carried out.
        case plan
        /// One that means nothing here.
        case other
    }

    /// What has to happen after a key.
    enum Outcome: Hashable {
        case show
        case nothing
        case done(String)
        case plan(String)
        /// The words among which the one before the cursor is.
        case choices([String])
        case clear
        case interrupted
        case ended
    }

    private(set) var text: [Character] = []
    /// How many characters are before the cursor.
    private(set) var cursor = 0
    private let earlier: [String]
    private var place: Int
    /// What was typed before others were looked at.
    private var own: [Character] = []
    private let complete: (_ before: String) -> (start: String.Index, words: [String])

    /// - Parameters:
    ///   - earlier: lines that were entered before, the oldest first.
    ///   - complete: for the text before the cursor, the place where its last word begins, and the words that can replace it.
    init(
        earlier: [String], complete: @escaping (_ before: String) -> (start: String.Index, words: [String])
    ) {
        self.earlier = earlier
        place = earlier.count
        self.complete = complete
    }

    mutating func take(_ key: Key) -> Outcome {
        switch key {
        case .character(let character):
            text.insert(character, at: cursor)
            cursor += 1
        case .left: cursor = max(cursor - 1, 0)
        case .right: cursor = min(cursor + 1, text.count)
        case .home: cursor = 0
        case .end: cursor = text.count
        case .backspace:
            if cursor == 0 { return .nothing }
            cursor -= 1
            text.remove(at: cursor)
        case .delete:
            if cursor == text.count { return .nothing }
            text.remove(at: cursor)
        case .endOfInput:
            if text.isEmpty { return .ended }
            return take(.delete)
        case .deleteWord:
            let end = cursor
            while cursor > 0, text[cursor - 1].isWhitespace { cursor -= 1 }
            while cursor > 0, !text[cursor - 1].isWhitespace { cursor -= 1 }
            text.removeSubrange(cursor..<end)
        case .deleteToEnd: text.removeSubrange(cursor...)
        case .deleteToStart:
            text.removeSubrange(..<cursor)
            cursor = 0
        case .up: return look(at: place - 1)
        case .down: return look(at: place + 1)
        case .complete: return completeWord()
        case .enter: return .done(String(text))
        case .plan: return .plan(String(text))
        case .redraw: return .clear
        case .interrupt: return .interrupted
        case .other: return .nothing
        }
        return .show
    }

    private mutating func look(at next: Int) -> Outcome {
        guard (0...earlier.count).contains(next) else { return .nothing }
        if place == earlier.count { own = text }
        place = next
        text = next == earlier.count ? own : Array(earlier[next])
        cursor = text.count
        return .show
    }

    private mutating func completeWord() -> Outcome {
        let before = String(text[..<cursor])
        let (start, words) = complete(before)
        let typed = before[start...]
        let found = words.filter { $0.hasPrefix(typed) }.sorted()
        guard let first = found.first else { return .nothing }
        let common = found.dropFirst().reduce(first) { $0.commonPrefix(with: $1) }
        let added = found.count == 1 ? common + (common.hasSuffix(".") || common.hasSuffix("=") ? "" : " ") : common
        if added.count > typed.count {
            let new = Array(added.dropFirst(typed.count))
            text.insert(contentsOf: new, at: cursor)
            cursor += new.count
            return .show
        }
        return .choices(found)
    }
}

/// Reads keys from a terminal that hands over each byte, and draws the line.
struct TerminalLines {
    private let input: Int32
    private let output: Output
    private let prompt: String
    private var waiting: [UInt8] = []
    /// Whether there is nothing more to read, ever.
    private var isEnded = false

    init(input: Int32, output: Output, prompt: String) {
        self.input = input
        self.output = output
        self.prompt = prompt
    }

    /// Reads a line. The terminal is as before when this returns or throws.
    /// - Parameters:
    ///   - editor: an empty line.
    ///   - plan: says how a query would be carried out.
    /// - Returns: nil at the end of the input.
    /// - Throws: `ToolError.output`; what `plan` throws.
    mutating func read(_ editor: LineEditor, plan: (String) throws -> Void) throws -> String? {
        var editor = editor
        var before = termios()
        guard tcgetattr(input, &before) == 0 else { return readLine() }
        var raw = before
        cfmakeraw(&raw)
        // Lines that are written still begin at the left.
        raw.c_oflag |= tcflag_t(OPOST)
        tcsetattr(input, TCSADRAIN, &raw)
        defer { tcsetattr(input, TCSADRAIN, &before) }
        try draw(editor)
        while true {
            let outcome = editor.take(nextKey())
            switch outcome {
            case .nothing:
                if isEnded { return nil }
                continue
            case .show: break
            case .done(let text):
                try output.line()
                try output.flush()
                return text
            case .ended:
                try output.line()
                try output.flush()
                return nil
            case .interrupted:
                try output.line("^C")
                editor = editor.emptied
            case .clear: try output.write("\u{1B}[H\u{1B}[2J")
            case .choices(let words):
                let shown = words.prefix(100).map { $0.shown() }.joined(separator: "  ")
                try output.line()
                try output.line(shown + (words.count > 100 ? "  …" : ""))
            case .plan(let text):
                try output.line()
                tcsetattr(input, TCSADRAIN, &before)
                try plan(text)
                tcsetattr(input, TCSADRAIN, &raw)
            }
            // What was pasted is drawn once.
            if waiting.isEmpty { try draw(editor) }
        }
    }

    /// One row: what does not fit moves to the left with the cursor.
    private func draw(_ editor: LineEditor) throws {
        let room = max((output.width ?? 80) - prompt.count - 1, 10)
        let cells = editor.text.map { String($0).shown() }
        let widths = cells.map(\.columns)
        var first = 0
        var used = widths[..<editor.cursor].reduce(0, +)
        while used > room {
            used -= widths[first]
            first += 1
        }
        var shown = ""
        var total = 0
        for place in first..<editor.text.count where total + widths[place] <= room {
            total += widths[place]
            shown += cells[place]
        }
        try output.write("\r\(prompt)\(shown)\u{1B}[K\r\u{1B}[\(prompt.count + used)C")
        try output.flush()
    }

    // MARK: Keys

    private mutating func byte() -> UInt8? {
        if !waiting.isEmpty { return waiting.removeFirst() }
        var buffer = [UInt8](repeating: 0, count: 256)
        while true {
            let count = Foundation.read(input, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                isEnded = true
                return nil
            }
            waiting = Array(buffer[1..<count])
            return buffer[0]
        }
    }

    private mutating func nextKey() -> LineEditor.Key {
        guard let first = byte() else { return .endOfInput }
        switch first {
        case 0x01: return .home
        case 0x02: return .left
        case 0x03: return .interrupt
        case 0x04: return .endOfInput
        case 0x05: return .end
        case 0x06: return .right
        case 0x08, 0x7F: return .backspace
        case 0x09: return .complete
        case 0x0A, 0x0D: return .enter
        case 0x0B: return .deleteToEnd
        case 0x0C: return .redraw
        case 0x0E: return .down
        case 0x10: return .up
        case 0x15: return .deleteToStart
        case 0x17: return .deleteWord
        case 0x18: return .plan
        case 0x1B: return escaped()
        case 0x00..<0x20: return .other
        default: return character(first)
        }
    }

    /// What terminals send for keys without a character.
    private mutating func escaped() -> LineEditor.Key {
        guard waiting.first == 0x5B || waiting.first == 0x4F else { return .other }
        waiting.removeFirst()
        var digits: [UInt8] = []
        while let next = byte() {
            switch next {
            case 0x30...0x3B: digits.append(next)
            case 0x41: return .up
            case 0x42: return .down
            case 0x43: return .right
            case 0x44: return .left
            case 0x46: return .end
            case 0x48: return .home
            case 0x7E:
                switch String(decoding: digits, as: UTF8.self) {
                case "1", "7": return .home
                case "4", "8": return .end
                case "3": return .delete
                default: return .other
                }
            default: return .other
            }
        }
        return .other
    }

    private mutating func character(_ first: UInt8) -> LineEditor.Key {
        let more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0
        var bytes = [first]
        for _ in 0..<more { if let next = byte() { bytes.append(next) } }
        guard let text = String(validating: bytes, as: UTF8.self), let character = text.first else { return .other }
        return .character(character)
    }
}

extension LineEditor {
    /// A new line with the same words and the same lines before it.
    fileprivate var emptied: LineEditor { LineEditor(earlier: earlier, complete: complete) }
}
#endif
