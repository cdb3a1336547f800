#if Tool
import ArgumentParser

/// The tool's verbs.
struct MortiseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mortise",
        abstract: "Inspects, queries, checks and copies stores.",
        discussion: """
            A store is named by its URL, such as json:library.json or log:library.log, with options as in \
            "log:library.log?durability=batched&interval=50ms". A name after an @ is looked up in the \
            configuration: the URL of "@library" is the setting stores.library.url, in the environment \
            MORTISE_STORES_LIBRARY_URL.

            Exit status: 0 success, 1 the compared stores or schemas differ, 64 invalid command line, 65 damaged store, 66 no such \
            store, 69 not supported by this kind of store, 70 an error of the tool itself, 73 the target exists, 74 device \
            failure, 75 the store is locked, 77 permission denied, 78 the stores do not match, 130 interrupted.

            Shell completions: mortise --generate-completion-script bash (or zsh, fish). Manual pages: mortise man.
            """,
        subcommands: [
            Info.self, Fetch.self, Explain.self, Copy.self, Compare.self, Verify.self, Compact.self, Salvage.self,
            Reseal.self, Backup.self, Restore.self, Watch.self, History.self, Export.self, Import.self, SetValues.self,
            Delete.self, Serve.self,
            SchemaCommand.self, Migrate.self, NewAdapter.self, Shell.self, Manual.self,
        ])
}

/// The one store that a verb looks at.
struct StoreOption: ParsableArguments {
    @Argument(help: ArgumentHelp("The store's URL, such as json:library.json.", valueName: "store"))
    var store: String

    func argument() throws -> StoreArgument { try StoreArgument(store) }
}

/// How a verb prints what it found.
enum ReportFormat: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
}
#endif
