#if Tool
import Foundation

/// Writes to a file descriptor through a buffer, and says so where that fails.
final class Output {
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    let isTerminal: Bool

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
    }

    /// - Throws: `ToolError.output`.
    func write(_ text: String) throws {
        buffer.append(contentsOf: text.utf8)
        if buffer.count >= 1 << 16 { try flush() }
    }

    /// - Throws: `ToolError.output`.
    func line(_ text: String = "") throws {
        try write(text)
        try write("\n")
    }

    /// Writes the fields of a line of a CSV file: as they are, but on a terminal with everything escaped that it might obey.
    /// - Throws: `ToolError.output`.
    func line(csv fields: [String]) throws {
        let text = fields.joined(separator: ",")
        try line(isTerminal ? ValueText.harmless(csv: text) : text)
    }

    /// - Throws: `ToolError.output`.
    func flush() throws {
        var done = 0
        defer { buffer.removeAll(keepingCapacity: true) }
        while done < buffer.count {
            let count = buffer.withUnsafeBytes { bytes in
                bytes.baseAddress.map { Foundation.write(descriptor, $0 + done, bytes.count - done) } ?? -1
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw ToolError.output(code: errno) }
            done += count
        }
    }

    /// The columns that fit into a line; nil if the output is not a terminal, or one that does not report it.
    var width: Int? {
        guard isTerminal else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Whether color helps: on a terminal, unless the user says no (`NO_COLOR`) or the terminal cannot.
    var usesColor: Bool {
        let environment = ProcessInfo.processInfo.environment
        return isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    func styled(_ text: String, _ style: TextStyle) -> String {
        usesColor ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }
}

/// The terminal that the tool runs on.
enum Terminal {
    /// Whether somebody is there to answer: both sides of the conversation are a terminal.
    static var isInteractive: Bool { isatty(0) == 1 && ToolContext.current.errors.isTerminal }
}

/// How a terminal shows a text.
enum TextStyle: String {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
}
#endif
