#if Tool
import ArgumentParser
import MortiseCore

/// `mortise schema`
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Shows, compares, checks and draws schemas: of stores, of files, of commits.",
        discussion: SchemaSource.help,
        subcommands: [
            SchemaShow.self, SchemaJSON.self, SchemaDiff.self, SchemaCheck.self, SchemaDraw.self, SchemaLintVerb.self,
            SchemaModels.self, SchemaPlan.self, SchemaImport.self, SchemaCoreData.self, SchemaValidate.self,
        ])
}

/// `mortise schema show`
struct SchemaShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows a schema as tables.",
        discussion: SchemaSource.help
            + """


            EXAMPLES
              mortise schema show json:library.json
              mortise schema show git:HEAD~1:schema/library.json
            """)

    @Argument(help: ArgumentHelp("The schema.", valueName: "schema"))
    var source: String

    func run() throws {
        let output = ToolContext.current.output
        let document = try SchemaSource(source).document
        try output.line("version \(document.schema.version), storage \(document.storageDigest)")
        for entity in document.schema.entities {
            try output.line()
            var heading = output.styled(entity.name.shown(limit: 200), .bold)
            if let superentity = entity.superentity { heading += ": \(superentity.shown(limit: 200))" }
            try output.line(heading)
            try print(entity, document, to: output)
            for constraint in entity.uniquenessConstraints {
                try output.line("  unique: " + constraint.joined(separator: ", ").shown(limit: 500))
            }
            for index in entity.indices {
                try output.line(
                    "  index: " + index.properties.joined(separator: ", ").shown(limit: 500)
                        + (index.kind == .binary ? "" : " (\(index.kind.rawValue))"))
            }
        }
    }

    private func print(_ entity: StoredEntity, _ document: SchemaDocument, to output: Output) throws {
        var table = TextTable(["  property", "type", "notes"], numeric: [false, false, false])
        let rows = entity.properties.map { property in
            [
                "  " + property.name.shown(limit: 200), property.words.shown(limit: 200),
                Self.notes(property, document.details(of: property.name, in: entity.name)).shown(limit: 500),
            ]
        }
        if rows.isEmpty { return }
        for row in rows { table.measure(row) }
        if let width = output.width { table.fit(width) }
        try output.line(output.styled(table.heading(), .dim))
        for row in rows {
            // The last column may be empty.
            var line = table.line(row)
            while line.last == " " { line.removeLast() }
            try output.line(line)
        }
    }

    private static func notes(_ property: StoredProperty, _ details: SchemaDocument.PropertyDetails) -> String {
        var notes: [String] = []
        if property.originalName != property.name { notes.append("was \(property.originalName)") }
        switch property.content {
        case .attribute(let attribute):
            if let value = attribute.defaultValue { notes.append("default \(ValueText.json(value))") }
            notes += SchemaWords.options.filter { attribute.options.contains($0.option) }.map(\.word)
            if let modifier = attribute.hashModifier { notes.append("modifier \(modifier)") }
            if !details.allowedValues.isEmpty {
                notes.append("one of " + details.allowedValues.map(ValueText.plain).joined(separator: ", "))
            }
        case .relationship(let relationship):
            if let inverse = relationship.inverse { notes.append("inverse \(inverse)") }
            notes.append(SchemaWords.word(for: relationship.deleteRule))
            if relationship.minimumCount != nil || relationship.maximumCount != nil {
                let bounds = [relationship.minimumCount, relationship.maximumCount].map { $0.map { "\($0)" } ?? "any" }
                notes.append(bounds.joined(separator: " to ") + " members")
            }
            if relationship.isUnique { notes.append("unique") }
        }
        if let documentation = details.documentation { notes.append(documentation) }
        return notes.joined(separator: ", ")
    }
}

/// `mortise schema json`
struct SchemaJSON: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "json",
        abstract: "Prints a schema as JSON in the format mortise-schema, to be kept in a repository.",
        discussion: SchemaSource.help
            + """


            EXAMPLES
              mortise schema json json:library.json > schema.json
            """)

    @Argument(help: ArgumentHelp("The schema.", valueName: "schema"))
    var source: String

    func run() throws {
        let source = try SchemaSource(source)
        do {
            try ToolContext.current.output.write(try source.document.text())
        } catch let error as SchemaDocumentError {
            throw ToolError.unsupported(store: source.name, what: "have its schema as JSON: \(error.fault)")
        }
    }
}

/// `mortise schema diagram`
struct SchemaDraw: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diagram", abstract: "Draws a schema, for Mermaid or Graphviz.",
        discussion: SchemaSource.help
            + """


            EXAMPLES
              mortise schema diagram json:library.json
              mortise schema diagram json:library.json --dot | dot -Tsvg > schema.svg
            """)

    @Argument(help: ArgumentHelp("The schema.", valueName: "schema"))
    var source: String

    @Flag(help: "Print an erDiagram for Mermaid; this is what is printed anyway.")
    var mermaid = false

    @Flag(help: "Print a graph for Graphviz.")
    var dot = false

    func validate() throws {
        if mermaid && dot { throw ValidationError("Pass one of --mermaid and --dot.") }
    }

    func run() throws {
        let diagram = SchemaDiagram(try SchemaSource(source).document.schema)
        try ToolContext.current.output.write(dot ? diagram.dot : diagram.mermaid)
    }
}
#endif
