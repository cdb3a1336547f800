#if Tool
import ArgumentParser

/// A catalog of the files in a folder that knows what has happened since it last looked.
@main
struct FileCatalogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "file-catalog",
        abstract: "Catalogs the files of a folder and lists what was added, changed and removed since the last scan.",
        discussion: """
            Symbolic links are counted and not followed. Hidden files are files like any other, but .git, .build and \
            what .gitignore files name is left out and counted, unless --everything is given. The catalog is kept in \
            the user's data folder, one for each scanned folder, unless --store names another place.
            """,
        subcommands: [Scan.self, Largest.self, Newest.self, Duplicates.self, Totals.self],
        defaultSubcommand: Scan.self)
}

/// What every sub-command takes: the folder, and where its catalog is.
struct CatalogOptions: ParsableArguments {
    @Argument(help: "The folder to catalog.")
    var folder = "."

    @Option(
        help:
            "The URL of the store that keeps the catalog: log:PATH, json:PATH or memory:. MORTISE_STORE_URL does as well."
    )
    var store: String?

    @Flag(help: "Leave nothing out: also .git, .build and what .gitignore files name.")
    var everything = false
}

/// A bound on how much a sub-command prints.
struct LimitOption: ParsableArguments {
    @Option(help: "How many entries to print at most; 0 for all of them.")
    var limit = 20

    func validate() throws {
        if limit < 0 { throw ValidationError("The limit must not be negative.") }
    }

    /// The limit in the form that `FetchDescriptor.fetchLimit` takes.
    var fetchLimit: Int? { limit == 0 ? nil : limit }
}
#else
import MissingTrait

@main
struct FileCatalogCommand {
    static func main() { endForMissingTrait("Tool", program: "file-catalog") }
}
#endif
