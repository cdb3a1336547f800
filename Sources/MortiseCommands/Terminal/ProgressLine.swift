#if Tool
import ArgumentParser
import Foundation

/// Whether progress is shown.
enum ProgressChoice: String, ExpressibleByArgument, CaseIterable {
    /// Where the standard error is a terminal.
    case auto
    /// Everywhere; outside a terminal, on a new line each time.
    case always
    case never
}

/// Tells on the standard error how far something has come: a bar, a rate and the time left.
final class ProgressLine {
    private let errors = ToolContext.current.errors
    private let what: String
    private let total: Int?
    private let first: Int
    private let isShown: Bool
    private let delay: Duration
    private let start = ContinuousClock.now
    private var last: ContinuousClock.Instant?
    private var shownColumns = 0

    /// Starts measuring.
    /// - Parameters:
    ///   - what: what happens to the items, such as "copied".
    ///   - total: how many there are; nil if that is not known.
    ///   - first: the number of items done before.
    ///   - choice: whether to show anything.
    ///   - delay: what takes no longer shows nothing, unless progress is always wanted.
    init(
        _ what: String, of total: Int?, from first: Int = 0, _ choice: ProgressChoice, after delay: Duration = .zero
    ) {
        self.delay = choice == .always ? .zero : delay
        self.what = what
        self.total = total
        self.first = first
        isShown = choice == .always || (choice == .auto && errors.isTerminal)
    }

    /// Says how much is done, at most ten times in a second on a terminal and once elsewhere.
    func update(_ done: Int) {
        guard isShown else { return }
        let now = ContinuousClock.now
        if now - start < delay { return }
        if let last, now - last < (errors.isTerminal ? .milliseconds(100) : .seconds(1)) { return }
        last = now
        show(line(done, (now - start).seconds))
    }

    /// Says that all is done, and leaves the line.
    func finish(_ done: Int) {
        guard isShown, delay == .zero || last != nil else { return }
        show(line(done, (ContinuousClock.now - start).seconds))
        if errors.isTerminal { try? errors.write("\n") }
        try? errors.flush()
    }

    /// Leaves the line as it is, for a message.
    func interrupt() {
        guard isShown, errors.isTerminal, shownColumns > 0 else { return }
        try? errors.write("\n")
        try? errors.flush()
    }

    private func line(_ done: Int, _ seconds: Double) -> String {
        var text = "\(what) \(FigureText.count(done))"
        let share = total.map { $0 > 0 ? min(Double(done) / Double($0), 1) : 1 }
        if let total, let share { text += " of \(FigureText.count(total)) (\(Int(share * 100)) %)" }
        if errors.isTerminal, let share {
            let filled = Int(share * 20)
            text =
                "[" + String(repeating: "#", count: filled) + String(repeating: "-", count: 20 - filled) + "] " + text
        }
        if done > first, seconds >= 0.5 || done == total {
            let rate = Double(done - first) / seconds
            text += ", \(FigureText.count(Int(min(rate, 1e15))))/s"
            if let total, done < total { text += ", \(FigureText.duration(Double(total - done) / rate)) left" }
        }
        return text
    }

    private func show(_ line: String) {
        if errors.isTerminal {
            let text = line.cut(to: max((errors.width ?? 80) - 1, 20))
            let padding = String(repeating: " ", count: max(0, shownColumns - text.columns))
            shownColumns = text.columns
            try? errors.write("\r" + text + padding)
        } else {
            try? errors.line(line)
        }
        try? errors.flush()
    }
}
#endif
