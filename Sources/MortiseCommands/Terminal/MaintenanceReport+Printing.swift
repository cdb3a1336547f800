#if Tool
import MortiseCore

extension MaintenanceReport {
    /// Prints figures, notes and problems.
    func print(_ format: ReportFormat, summary: String) throws {
        let output = ToolContext.current.output
        switch format {
        case .text:
            let parts = figures.map { FigureText.figure($0.value, $0.name) }.joined(separator: ", ")
            let mark = problems.isEmpty ? output.styled(summary, .green) : output.styled(summary, .red)
            try output.line(mark + (parts.isEmpty ? "" : ": " + parts))
            for note in notes { try output.line("note: \(note.shown(limit: 1_000))") }
            for problem in problems { try output.line("problem: \(problem.shown(limit: 1_000))") }
        case .json:
            try output.line(
                JSONText.object([
                    ("result", .text(summary)),
                    ("figures", .object(figures.map { ($0.name, .raw("\($0.value)")) })),
                    ("notes", .list(notes.map { .text($0) })), ("problems", .list(problems.map { .text($0) })),
                ]).description)
        }
    }
}
#endif
