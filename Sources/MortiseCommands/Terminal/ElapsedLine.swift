#if Tool
import Foundation
import MortiseCore

/// Tells on the standard error that something goes on which cannot say how far it is: what, how much, and since when.
final class ElapsedLine: @unchecked Sendable {
    // @unchecked: after `init` nothing changes but under the lock.
    private let text: String
    private let errors = ToolContext.current.errors
    private let start = ContinuousClock.now
    private let lock = NSCondition()
    private var hasEnded = false
    private var isRunning = false
    private var shown = 0

    /// Runs a body, and tells about it once it takes longer than a second.
    /// - Parameters:
    ///   - what: what happens, such as "verifying".
    ///   - bytes: the size of what it happens to; nil if that is not known.
    ///   - choice: whether to show anything; `always` does without waiting for a second.
    ///   - body: what takes its time. It writes nothing.
    /// - Returns: what the body returns.
    /// - Throws: what the body throws.
    static func showing<R>(
        _ what: String, _ bytes: Int64?, _ choice: ProgressChoice, _ body: () throws -> R
    ) throws -> R {
        guard choice == .always || (choice == .auto && ToolContext.current.errors.isTerminal) else { return try body() }
        let line = ElapsedLine(what + (bytes.map { " " + FigureText.bytes($0) } ?? ""))
        line.begin(choice == .always)
        defer { line.end() }
        return try body()
    }

    private init(_ text: String) { self.text = text }

    private func begin(_ atOnce: Bool) {
        if atOnce { show() }
        isRunning = true
        let thread = Thread { [self] in
            lock.lock()
            defer {
                isRunning = false
                lock.broadcast()
                lock.unlock()
            }
            while !hasEnded {
                if !lock.wait(until: Date(timeIntervalSinceNow: 1)), !hasEnded { show() }
            }
        }
        thread.start()
    }

    /// Ends the line, and waits until nothing more is written.
    private func end() {
        lock.lock()
        defer { lock.unlock() }
        hasEnded = true
        lock.broadcast()
        while isRunning { lock.wait() }
        guard shown > 0, errors.isTerminal else { return }
        try? errors.write("\r" + String(repeating: " ", count: shown) + "\r")
        try? errors.flush()
    }

    private func show() {
        let seconds = Int((ContinuousClock.now - start).seconds)
        let line = text + (seconds > 0 ? ", \(FigureText.duration(Double(seconds)))" : "")
        if errors.isTerminal {
            let cut = line.cut(to: max((errors.width ?? 80) - 1, 20))
            try? errors.write("\r" + cut + String(repeating: " ", count: max(0, shown - cut.columns)))
            shown = cut.columns
        } else {
            try? errors.line(line)
        }
        try? errors.flush()
    }
}

extension StoreArgument {
    /// How many bytes the store has in its files; nil where that is not known.
    var size: Int64? {
        guard let files = try? (configuration as? any SelfDescribingConfiguration)?.storeFiles(), !files.isEmpty else {
            return nil
        }
        return files.reduce(0) { $0 + $1.bytes }
    }
}
#endif
