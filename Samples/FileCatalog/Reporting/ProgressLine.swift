import Foundation

/// One line on standard error that says what is going on; nothing at all unless standard error is a terminal.
final class ProgressLine {
    private let isVisible = isatty(STDERR_FILENO) == 1
    private let clock = ContinuousClock()
    private var lastShown: ContinuousClock.Instant?

    private static let interval = Duration.milliseconds(100)
    private static let clearLine = "\r\u{1B}[2K"

    /// Replaces the line by `text`, at most ten times a second.
    func show(_ text: @autoclosure () -> String) {
        guard isVisible else { return }
        let now = clock.now
        if let lastShown, lastShown.duration(to: now) < Self.interval { return }
        lastShown = now
        write(Self.clearLine + String(text().prefix(78)))
    }

    /// Takes the line away.
    func clear() {
        if lastShown != nil { write(Self.clearLine) }
        lastShown = nil
    }

    private func write(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }
}
