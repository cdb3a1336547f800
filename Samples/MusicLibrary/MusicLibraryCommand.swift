#if Tool
import ArgumentParser
import Foundation
import Mortise
import MortiseConfiguration

/// A music shop's records, imported once and asked questions.
@main
struct MusicLibraryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "music-library",
        abstract: "Imports the Chinook music shop into a store and answers questions about it.",
        subcommands: [Import.self, Questions.self])
}

/// What every sub-command takes: where the library is.
struct StoreOption: ParsableArguments {
    @Option(
        name: .customLong("store"),
        help:
            "The URL of the store that keeps the library: json:PATH, log:PATH or memory:. MORTISE_STORE_URL does as well."
    )
    var url: String?

    /// The store's URL, from the command line, the environment or the file that `MORTISE_CONFIG` names.
    var store: String {
        get throws {
            if let url { return url }
            guard let url = try StoreSettings.standard(arguments: []).url(registry: .standard) else {
                throw ValidationError("Pass --store, or set MORTISE_STORE_URL.")
            }
            return url
        }
    }
}

/// The file of an import, and what it means for the store.
enum LibraryImport {
    /// Imports all of a file into an open library, or nothing of it.
    /// - Returns: how many rows of how many tables, in words.
    /// - Throws: ``LibraryError`` if the library holds data and `replace` is false; what reading and saving throw.
    static func run(_ source: ChinookFile, into context: ModelContext, store: String, replace: Bool) throws -> String {
        if try !Library.isEmpty(context) {
            guard replace else { throw LibraryError.holdsData(store: Library.shown(store)) }
            try Library.deleteAll(in: context)
        }
        var importer = ChinookImport(into: context)
        try importer.insert(source)
        try context.save()
        return "\(source.rowCount) rows of \(source.tableCount) tables"
    }
}

extension MusicLibraryCommand {
    /// Imports the JSON file: all of it or, if anything in it is wrong, nothing.
    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Imports the Chinook JSON file into a store.")

        @Argument(help: "The file ChinookData.json.")
        var file: String

        @OptionGroup var option: StoreOption

        @Flag(help: "Replace what the store holds; without it, a store that holds data is refused.")
        var replace = false

        func run() throws {
            let source = try ChinookFile(contentsOf: URL(fileURLWithPath: file))
            let store = try option.store
            let imported = try LibraryImport.run(source, into: Library.open(store), store: store, replace: replace)
            print("imported \(imported) into \(Library.shown(store))")
        }
    }

    /// Answers the questions about an imported library.
    struct Questions: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "answers", abstract: "Prints one JSON object: each question's key and its answer.")

        @OptionGroup var option: StoreOption

        @Option(
            help: "Import this Chinook JSON file first; a library in memory, which ends with the program, needs that.")
        var from: String?

        func run() throws {
            let source = try from.map { try ChinookFile(contentsOf: URL(fileURLWithPath: $0)) }
            let store = try option.store
            let context = try Library.open(store)
            if let source { _ = try LibraryImport.run(source, into: context, store: store, replace: false) }
            if try Library.isEmpty(context) { throw LibraryError.holdsNothing(store: Library.shown(store)) }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            print(String(decoding: try encoder.encode(Answers(from: context)), as: UTF8.self))
        }
    }
}

/// Why a command cannot use a store.
enum LibraryError: Error, Equatable, CustomStringConvertible {
    case holdsData(store: String)
    case holdsNothing(store: String)

    var description: String {
        switch self {
        case .holdsData(let store): "the store \(store) holds data already; pass --replace to replace it"
        case .holdsNothing(let store): "the store \(store) holds no library; import one first"
        }
    }
}
#else
import MissingTrait

@main
struct MusicLibraryCommand {
    static func main() { endForMissingTrait("Tool", program: "music-library") }
}
#endif
