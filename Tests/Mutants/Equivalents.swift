#if Mutants
import Foundation

/// A change that no user of the store can observe.
struct Equivalent: Sendable {
    var file = ""
    var kind = ""
    var original = ""
    /// Empty for whatever it is changed to.
    var changed = ""
    /// A part of the line, where the same text occurs in several.
    var line = ""
    /// Which of several in the line, from 1; 0 for all of them.
    var occurrence = 0
    var reason = ""
    /// What alone shows the change, and no kit can do; empty where nothing shows it.
    var seen = ""

    func matches(_ mutant: Mutant) -> Bool {
        mutant.file == file && mutant.kind == kind && Self.oneLine(mutant.original).hasPrefix(original)
            && (changed.isEmpty || Self.oneLine(mutant.changed) == changed)
            && (line.isEmpty || mutant.context.contains(line))
            && (occurrence == 0 || mutant.occurrence == occurrence)
    }

    var text: String { "\(file) \(kind) \(original)\(line.isEmpty ? "" : " in \(line)")" }

    private static func oneLine(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Reads a list: `name: value`, one line each, and an empty line between two entries.
    static func list(_ text: String) throws -> [Equivalent] {
        var entries: [Equivalent] = []
        var isOpen = false
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.hasPrefix("#") { continue }
            if line.isEmpty {
                isOpen = false
                continue
            }
            guard let colon = line.firstIndex(of: ":") else { throw damage(number, "expected a name and a colon") }
            if !isOpen { entries.append(Equivalent()) }
            isOpen = true
            let value = line[line.index(after: colon)...].trimmingPrefix { $0 == " " }
            let place = entries.count - 1
            switch line[..<colon] {
            case "file": entries[place].file = String(value)
            case "operator": entries[place].kind = String(value)
            case "original": entries[place].original = String(value)
            case "changed": entries[place].changed = String(value)
            case "line": entries[place].line = String(value)
            case "occurrence": entries[place].occurrence = Int(value) ?? 0
            case "seen": entries[place].seen = String(value)
            case "reason": entries[place].reason = String(value)
            default: throw damage(number, "unknown name")
            }
        }
        for entry in entries where entry.reason.isEmpty || entry.file.isEmpty || entry.kind.isEmpty {
            throw MutantError(description: "equivalents.txt: \(entry.text) has no file, operator or reason.")
        }
        for entry in entries where !["", "loss of power"].contains(entry.seen) {
            throw MutantError(
                description: "equivalents.txt: \(entry.text) is seen by \(entry.seen), which a case can do.")
        }
        return entries
    }

    private static func damage(_ line: Int, _ text: String) -> MutantError {
        MutantError(description: "equivalents.txt, line \(line + 1): \(text).")
    }
}
#endif
