#if Tool
import ArgumentParser
import Foundation
import MortiseCore

/// `mortise schema import`
struct SchemaImport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Prints the schema of a Core Data model as JSON.",
        discussion: """
            The model is an .xcdatamodel, an .xcdatamodeld, whose current version is taken unless --model says another one, or a file \
            contents of one. What a schema does not have is left out, and listed on the standard error; what cannot be taken over \
            at all, such as attributes of the types Undefined and Object ID, ends with status 69, and what is no model with 65. \
            Renaming identifiers become original names, transient attributes ephemeral ones, limits of values documentation.

            EXAMPLES
              mortise schema import Library.xcdatamodeld > schema.json
              mortise schema import Library.xcdatamodeld --model "Library 2" > schema-2.json
            """)

    @Argument(help: ArgumentHelp("The model.", valueName: "path"))
    var path: String

    @Option(help: ArgumentHelp("The version of an .xcdatamodeld.", valueName: "name"))
    var model: String?

    func run() throws {
        let name = path.shown(limit: 300)
        let bytes = try CoreDataFolder.contents(path, version: model, name: name)
        let model: CoreDataModel
        do throws(XMLFault) {
            model = try CoreDataModel(bytes)
        } catch {
            throw ToolError.notASchema(source: name, detail: "line \(error.line): \(error.what.shown(limit: 300))")
        }
        if !model.faults.isEmpty { throw ToolError.notImportable(source: name, faults: model.faults) }
        let errors = ToolContext.current.errors
        for text in model.leftOut { try errors.line("mortise: note: left out: \(text.shown(limit: 500))") }
        try errors.flush()
        try ToolContext.current.output.write(try model.document.text())
    }
}
#endif
