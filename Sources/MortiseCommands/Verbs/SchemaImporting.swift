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

/// `mortise schema validate`
struct SchemaValidate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate", abstract: "Says whether a file of a schema is right, and line by line what is not.",
        discussion: """
            Each fault is printed with line and column, one for each property. The status is 65 if there are any. The file may be one of \
            a commit, git:HEAD:schema.json.

            EXAMPLES
              mortise schema validate schema.json
            """)

    @Argument(help: ArgumentHelp("The file.", valueName: "file"))
    var file: String

    @Option(help: "How to print: text or json.")
    var format: ReportFormat = .text

    func run() throws {
        let name = file.shown(limit: 300)
        let bytes = try SchemaSource.bytes(of: file)
        let faults = SchemaDocument.faults(in: bytes)
        let document = faults.isEmpty ? try SchemaDocument(reading: bytes) : nil
        let output = ToolContext.current.output
        switch format {
        case .json:
            let list = faults.map { fault in
                JSONText.object([
                    ("line", fault.line.map { .number($0) } ?? .null),
                    ("column", fault.column.map { .number($0) } ?? .null),
                    ("message", .text(fault.fault.description)),
                ])
            }
            try output.line(
                JSONText.object([
                    ("isValid", .bool(faults.isEmpty)), ("faults", .list(list)),
                    ("storage", document.map { .text($0.storageDigest) } ?? .null),
                    ("statedStorage", document?.staleStorage.map { .text($0) } ?? .null),
                ]).description)
        case .text:
            for fault in faults {
                try output.line(
                    "\(name):\(fault.line ?? 1):\(fault.column ?? 1): \(fault.fault.description.shown(limit: 600))")
            }
            if let document {
                let entities = document.schema.entities.count
                try output.line(
                    "\(output.styled("right", .green)): version \(document.schema.version), "
                        + "\(entities) \(entities == 1 ? "entity" : "entities"), storage \(document.storageDigest)")
                if let stale = document.staleStorage {
                    try output.line(
                        "it says that its storage is \(stale); \"mortise schema json\" writes the right one")
                }
            }
        }
        if !faults.isEmpty { throw ToolError.findings(.damaged) }
    }
}
#endif
