import ArgumentParser

/// The tool's verbs.
struct MortiseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mortise",
        abstract: "Looks into any store, asks it questions, checks it and copies it to another one.",
        discussion: """
            A store is named by its URL, such as json:library.json or log:library.log, with options as in \
            "log:library.log?durability=batched&interval=50ms". A name with an @ before it is looked up in the \
            configuration: "@library" is the store whose URL stands under stores.library.url, or in the environment \
            under MORTISE_STORES_LIBRARY_URL.

            Exit status: 0 all went well, 1 what was compared differs, 64 the command line is not understood, 65 a \
            store is damaged, 66 there is no store, 69 its kind cannot do this, 73 something is in the way, 74 a device \
            failed, 75 the store is locked, 77 permission denied, 78 stores contradict each other, 130 interrupted.

            Shell completions: mortise --generate-completion-script bash (or zsh, fish).
            """,
        subcommands: [
            Info.self, Fetch.self, Explain.self, Copy.self, Compare.self, Verify.self, Compact.self, Salvage.self,
            Reseal.self, Backup.self, Watch.self,
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
