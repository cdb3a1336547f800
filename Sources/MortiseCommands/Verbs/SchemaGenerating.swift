#if Tool
import ArgumentParser
import MortiseCore

/// `mortise schema models`
struct SchemaModels: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "models", abstract: "Prints the models of a schema as Swift source.",
        discussion: """
            The classes compile and have the same stored schema. Of coded values a store keeps the tree and not the type: they are of \
            the type CodedTree, unless the file of the schema has their members. A schema with names that no class or property can \
            have, or with relationships that no class can declare, is refused with status 78, and each of them is named.

            """ + SchemaSource.help
                + """


                EXAMPLES
                  mortise schema models json:library.json > Models.swift
                  mortise schema models git:v1.0:schema.json --version-enum LibrarySchemaV1 > LibrarySchemaV1.swift
                """)

    @Argument(help: ArgumentHelp("The schema.", valueName: "schema"))
    var source: String

    @Option(
        help: ArgumentHelp("Put the classes into an enum that conforms to VersionedSchema.", valueName: "name"))
    var versionEnum: String?

    func run() throws {
        let document = try SchemaSource(source).document
        let models = try ModelSource(document)
        try ToolContext.current.output.write(try versionEnum.map(models.text(versionedAs:)) ?? models.text)
    }
}

/// `mortise schema plan`
struct SchemaPlan: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "Prints a migration plan between two schemas as Swift source.",
        discussion: """
            The source compiles: both versions with their models, and a plan with one stage. The stage is lightweight where that is \
            enough; elsewhere its mapping has what "mortise schema diff" asks for. What only you can know is marked with TODO: \
            new required properties begin with an empty value, removed values stay, and the stage fails for anything else; with \
            --strict each TODO is an error of the compiler. Renames are answered as for "diff". If the new \
            schema's version is not above the old one's, it gets the next one.

            """ + SchemaSource.help
                + """


                EXAMPLES
                  mortise schema plan git:v1.0:schema.json schema.json --name Library > LibraryMigrationPlan.swift
                  mortise schema plan json:library.json schema.json --rename Trip.cost=price --strict
                """)

    @Argument(help: ArgumentHelp("The old schema.", valueName: "old"))
    var old: String

    @Argument(help: ArgumentHelp("The new schema.", valueName: "new"))
    var new: String

    @Option(help: ArgumentHelp("What the names of the versions and of the plan begin with.", valueName: "name"))
    var name = "Store"

    @Flag(help: "Make what is left to do an error of the compiler.")
    var strict = false

    @OptionGroup var renames: RenameOptions

    func run() throws {
        let old = try SchemaSource(old)
        var new = try SchemaSource(new)
        let version = old.document.schema.version
        if new.document.schema.version <= version {
            guard version.major < Int.max else { throw ToolError.usage("there is no version after \(version)") }
            new = new.numbered(Schema.Version(version.major + 1, 0, 0))
        }
        let difference = try SchemaDifference(old, new, renames, counting: true)
        let plan = try MigrationPlanSource(
            from: old.document, to: new.document, renames: difference.answeredRenames, name: name, isStrict: strict,
            counts: difference.changes)
        try ToolContext.current.output.write(plan.text)
    }
}

/// `mortise schema coredata`
struct SchemaCoreData: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coredata", abstract: "Prints Swift source that builds the model of a schema for Core Data.",
        discussion: """
            The source has a function that makes an NSManagedObjectModel, where Core Data can be imported. What a schema has and \
            Core Data does not is listed in comments.

            """ + SchemaSource.help
                + """


                EXAMPLES
                  mortise schema coredata json:library.json > LibraryModel.swift
                """)

    @Argument(help: ArgumentHelp("The schema.", valueName: "schema"))
    var source: String

    @Option(help: ArgumentHelp("The name of the enum that has the function.", valueName: "name"))
    var name = "StoreModel"

    func run() throws {
        try ToolContext.current.output.write(CoreDataSource(SchemaSource(source).document, name: name).text)
    }
}
#endif
