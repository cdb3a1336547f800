#if Tool
import ArgumentParser
import Foundation
import MortiseCore

/// `mortise new-adapter`
struct NewAdapter: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new-adapter",
        abstract: "Writes a package with a store of your own, and the conformance kit as its tests.",
        discussion: """
            The store keeps its records in a file of a folder and passes every case. Replace the two functions that read and \
            write it by your storage, and go on from there.

            EXAMPLES
              mortise new-adapter Shelf --mortise ../mortise
              cd Shelf
              swift test
              swift run shelf-conformance --level first-hour
            """)

    @Argument(help: "The store's name, such as Shelf: letters and digits, the first one a capital letter.")
    var name: String

    @Option(
        help: ArgumentHelp("The path of a checkout of Mortise, or the URL of its repository.", valueName: "location"))
    var mortise: String

    @Option(
        name: .customLong("in"), help: ArgumentHelp("The folder to make the package's folder in.", valueName: "folder"))
    var folder: String = "."

    func run() throws {
        let template = AdapterTemplate(name: try storeName(), mortise: try location())
        let files = FileManager.default
        let package = URL(fileURLWithPath: folder).appending(path: template.name)
        if files.fileExists(atPath: package.path) { throw ToolError.alreadyThere(path: package.path) }
        do {
            for (path, text) in template.files {
                let file = package.appending(path: path)
                try files.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(text.utf8).write(to: file)
            }
        } catch {
            // Nobody had it before.
            try? files.removeItem(at: package)
            throw error
        }
        let output = ToolContext.current.output
        for (path, _) in template.files {
            try output.line("\(folder == "." ? "" : folder + "/")\(template.name)/\(path)")
        }
        try output.line()
        try output.line(
            "In that folder, \"swift test\" runs the kit, and \"swift run \(template.program)\" reports on it.")
    }

    /// - Throws: `ToolError.usage` for what is no name of a module.
    private func storeName() throws -> String {
        guard name.wholeMatch(of: #/[A-Z][A-Za-z0-9]*/#) != nil else {
            throw ToolError.usage(
                "\"\(name.shown())\" cannot be the name of a store: it takes letters and digits, the first one a capital "
                    + "letter, as in Shelf")
        }
        // The types are called ShelfStore and so on.
        let plain = name.hasSuffix("Store") && name != "Store" ? String(name.dropLast(5)) : name
        // Modules that the package imports or that programs on it do, types of those, and words that Swift keeps for itself.
        let taken = [
            "Foundation", "Swift", "SwiftData", "Testing", "XCTest", "Dispatch", "Store", "Data", "Folder", "Type",
            "Protocol",
            "Any", "Self",
        ]
        if plain.hasPrefix("Mortise") || taken.contains(plain) {
            throw ToolError.usage("\"\(name)\" would be mistaken for something else in the package; take another name")
        }
        return plain
    }

    /// - Throws: `ToolError.usage` for the path of a folder that is no checkout.
    private func location() throws -> AdapterTemplate.Location {
        if mortise.contains("://") || mortise.hasPrefix("git@") { return .repository(url: mortise) }
        let path = URL(fileURLWithPath: mortise).standardizedFileURL.path
        let sources = URL(fileURLWithPath: path).appending(path: "Sources/MortiseConformance")
        guard FileManager.default.fileExists(atPath: sources.path) else {
            throw ToolError.usage(
                "\(path.shown()) is no checkout of Mortise; give the path of one, or the URL of its repository")
        }
        return .checkout(path: path)
    }
}
#endif
