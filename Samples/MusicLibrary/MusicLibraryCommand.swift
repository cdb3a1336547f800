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
        discussion: "Without a sub-command it does so with every kind of store, and compares them.",
        subcommands: [Import.self, Questions.self])

    func run() throws { try Demonstration().run() }
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
            try LibraryImport.run(source, into: Library.open(store), store: store, replace: replace)
            print("imported \(source.rowCount) rows of \(source.tableCount) tables into \(Library.shown(store))")
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
            if let source { try LibraryImport.run(source, into: context, store: store) }
            if try Library.isEmpty(context) { throw LibraryError.holdsNothing(store: Library.shown(store)) }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            var answers: [String: Answer] = [:]
            for question in Question.all { answers[question.key] = try question.answer(context) }
            print(String(decoding: try encoder.encode(answers), as: UTF8.self))
        }
    }
}
#else
import Foundation
import MissingTrait

/// The main job alone: the sub-commands need the trait `Tool`, which brings the parser of command lines.
@main
struct MusicLibraryCommand {
    static func main() {
        guard CommandLine.arguments.count == 1 else { endForMissingTrait("Tool", program: "music-library") }
        do { try Demonstration().run() } catch {
            FileHandle.standardError.write(Data("Error: \(error)\n".utf8))
            exit(1)
        }
    }
}
#endif
