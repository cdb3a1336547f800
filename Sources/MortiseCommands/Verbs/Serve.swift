#if Tool
import ArgumentParser
import Foundation
import MortiseCore

/// `mortise serve`
struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows stores as web pages, on this machine alone.",
        discussion: """
            Prints an address to open in a browser; it has a secret that nobody else knows, and is valid until the tool ends \
            (control-C). Nothing can be changed unless --edit is given: then changes are staged, shown, and saved as one transaction \
            of the author "inspector".

            The verb is in tools that were built with the trait Inspector.

            EXAMPLES
              mortise serve log:library.log
              mortise serve json:library.json sqlite:library.db --edit --port 8080
            """)

    @Argument(help: ArgumentHelp("The stores' URLs, such as json:library.json.", valueName: "store"))
    var stores: [String]

    @Flag(help: "Allow changes.")
    var edit = false

    @Option(parsing: .unconditional, help: "The port; any free one if not given.")
    var port = 0

    @Option(
        help: ArgumentHelp(
            "The address to listen on.",
            discussion: "Other machines reach it with an address of theirs. The connection is not encrypted.",
            valueName: "address"))
    var host = "127.0.0.1"

    func validate() throws {
        if port < 0 || port > 65_535 { throw ValidationError("The port must be 0 to 65535.") }
        if stores.isEmpty { throw ValidationError("Name at least one store.") }
        if ["0.0.0.0", "::", "*", ""].contains(host) {
            throw ValidationError("Give one address to listen on; pages answer to no other name.")
        }
    }

    func run() throws {
        guard let server = ToolContext.current.server else { throw NoServer() }
        #if Inspector
        let models = ToolContext.current.models
        let served = try stores.map { text in
            let argument = try StoreArgument(text)
            _ = try argument.selfDescribing()
            try argument.checkPresence()
            return InspectedStore(argument, models: models)
        }
        try server.serve(ServedStores(stores: served, host: host, port: port, isEditable: edit)) { address in
            // By a thread of the server, and not kept back where the output is a pipe.
            FileHandle.standardOutput.write(Data("\(address)\n".utf8))
        }
        #else
        _ = server
        throw NoServer()
        #endif
    }
}

/// The tool was built without what serves pages.
struct NoServer: ClassifiedStoreError, CustomStringConvertible {
    var errorClass: StoreErrorClass { .unsupported }
    var description: String {
        "this tool was built without the inspector; build one that has it: "
            + "swift build -c release --traits Tool,Inspector --product mortise"
    }
}
#endif
