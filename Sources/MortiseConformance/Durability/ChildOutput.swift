import Foundation

/// What a process that the kit has started tells it, on standard output.
///
/// A store may print there as well, also parts of lines. A message therefore begins with a mark, wherever in a line it is, and
/// ends with the line; what is not a message goes on to standard error.
enum ChildOutput {
    static let mark: UInt8 = 1

    private static let lineBreak = UInt8(ascii: "\n")

    // MARK: The child

    /// Tells the parent something, in one line.
    static func tell(_ message: String) {
        let text = message.utf8.filter { $0 != mark && $0 != lineBreak }
        FileHandle.standardOutput.write(Data([mark] + text + [lineBreak]))
    }

    /// Tells the parent of an error, after the word `error`.
    static func tell(_ error: any Error) {
        tell("error \(type(of: error)): \(String("\(error)".prefix(400)).replacing("\n", with: " "))")
    }

    // MARK: The parent

    /// The message at the end of a line, which has no line break any more; nil for a line without a message. What the store has printed
    /// goes on to standard error.
    static func message(in line: Data) -> String? {
        guard let place = line.lastIndex(of: mark) else {
            passOn(line)
            return nil
        }
        if place > line.startIndex { passOn(line[..<place]) }
        return String(decoding: line[line.index(after: place)...], as: UTF8.self)
    }

    /// The messages in what a process has written. A last line without its end was cut off with the process, and tells nothing.
    static func messages(in output: Data) -> [String] {
        var lines = output.split(separator: lineBreak, omittingEmptySubsequences: false)
        if let rest = lines.popLast(), !rest.isEmpty { passOn(rest) }
        return lines.compactMap { message(in: $0) }
    }

    private static func passOn(_ line: Data) {
        FileHandle.standardError.write(line.filter { $0 != mark } + [lineBreak])
    }
}
