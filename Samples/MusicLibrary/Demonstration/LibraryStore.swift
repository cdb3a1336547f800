import Foundation
import Mortise

/// A store that the main job fills: one line says where, and everything else is the same for all of them.
struct LibraryStore {
    /// The scheme of the URL, such as `json`.
    let kind: String
    let url: String

    /// A store of each kind that this build has: those of files in a folder, and the one that needs a server where the
    /// environment says.
    static func all(in folder: String) -> [LibraryStore] {
        let local = ["memory", "json", "log", "sqlite"].filter(isKnown).map { kind in
            LibraryStore(kind: kind, url: kind == "memory" ? "memory:" : "\(kind):\(folder)/library.\(kind)")
        }
        return isKnown("postgres") ? local + [server().store].compactMap(\.self) : local
    }

    /// Why a kind of store that this build has is not among ``all(in:)``, a line for each.
    static var leftOut: [String] { isKnown("postgres") ? [server().leftOut].compactMap(\.self) : [] }

    /// The variable with the URL of a database.
    static let serverVariable = "MORTISE_POSTGRES_URL"
    /// The schema of that database which the library takes, and empties first.
    static let serverSchema = "mortise_music_library"

    /// The store on a server, or the reason why it is left out.
    static func server(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> (store: LibraryStore?, leftOut: String?) {
        guard let url = environment[serverVariable], !url.isEmpty else {
            return (nil, "postgres: left out; set \(serverVariable) to the URL of a database")
        }
        guard let parsed = try? StoreURL(url), parsed.scheme == "postgres" else {
            return (nil, "postgres: left out; \(serverVariable) is no URL that begins with postgres:")
        }
        // What is there would be replaced, so it has to be the library's own.
        guard parsed.options["schema"] == nil else {
            return (nil, "postgres: left out; \(serverVariable) names a schema, and the library has its own")
        }
        return (
            LibraryStore(kind: "postgres", url: url + (url.contains("?") ? "&" : "?") + "schema=" + serverSchema), nil
        )
    }

    private static func isKnown(_ scheme: String) -> Bool {
        StoreRegistry.standard.knownSchemes.contains { $0.name == scheme }
    }

    /// Whether the library of the last run is there still: a folder has been replaced, a server has not.
    var isOfLastRun: Bool { kind == "postgres" }

    /// Whether the library is still there when the program has ended.
    var isKept: Bool { kind != "memory" }

    /// What a save that has returned survives, in a few words.
    static func promise(of grade: DurabilityGrade?) -> String {
        switch grade {
        case .full: "survives a loss of power"
        case .system, .interval: "survives a killed program"
        case .process, nil: "ends with the program"
        }
    }
}
