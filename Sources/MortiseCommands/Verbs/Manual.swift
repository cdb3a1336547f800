#if Tool
import ArgumentParser
import Foundation

/// `mortise man`
struct Manual: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "man",
        abstract: "Prints a page of the manual for \"man\", or writes all of them.",
        discussion: """
            EXAMPLES
              mortise man fetch | man -l -
              mortise man --to ~/.local/share/man/man1
            """)

    @Argument(help: "The verb that the page is about, such as fetch or schema show; the tool itself if left out.")
    var verb: [String] = []

    @Option(
        name: [.customLong("to")],
        help: ArgumentHelp(
            "Write the pages of all verbs into this folder, which is made where it is missing.", valueName: "folder"))
    var folder: String?

    func validate() throws {
        if folder != nil, !verb.isEmpty { throw ValidationError("Give a verb or --to, not both.") }
    }

    func run() throws {
        let pages = ManualPage.pages(of: try CommandDescription(of: MortiseCommand.self))
        let output = ToolContext.current.output
        if let folder {
            for page in pages { try write(page, folder) }
            return try output.line("wrote \(FigureText.plural(pages.count, "page")) to \(folder.shown(limit: 300))")
        }
        guard let page = pages.first(where: { Array($0.path.dropFirst()) == verb }) else {
            let name = verb.joined(separator: " ")
            throw ToolError.usage(
                "there is no verb \"\(name.shown())\""
                    + Suggestion.text(name, among: pages.map { $0.path.dropFirst().joined(separator: " ") }))
        }
        try output.write(page.text)
    }

    private func write(_ page: ManualPage, _ folder: String) throws {
        let path = (folder as NSString).appendingPathComponent(page.name + ".1")
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data(page.text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw ToolError.unwritableFile(path: path.shown(limit: 300), reason: error.localizedDescription)
        }
    }
}
#endif
