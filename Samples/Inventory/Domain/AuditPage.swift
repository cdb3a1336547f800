import Foundation

/// The audit as a page for people.
public struct AuditPage: Sendable {
    private let lines: [AuditLine]

    public init(_ lines: [AuditLine]) { self.lines = lines }

    /// The page. Whatever comes from records is text in it, and never markup.
    public var html: String {
        let rows = lines.map { line in
            let cells = [
                line.time.formatted(.iso8601), line.author ?? "", line.action, line.entity,
                line.details.joined(separator: ", "),
            ]
            return "<tr>" + cells.map { "<td>\(Self.escaped($0))</td>" }.joined() + "</tr>"
        }
        return """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><title>Audit</title>
            <style>body { font: 1rem sans-serif; margin: 2rem } td, th { padding: 0.25rem 1rem; text-align: left }</style>
            </head><body><h1>Audit</h1><table>
            <tr><th>when</th><th>who</th><th>did</th><th>what</th><th>details</th></tr>
            \(rows.joined(separator: "\n"))
            </table></body></html>

            """
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
