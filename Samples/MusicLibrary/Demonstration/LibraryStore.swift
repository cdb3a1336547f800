import Foundation
import Mortise

/// A store that the main job fills: one line says where, and everything else is the same for all of them.
struct LibraryStore {
    /// The scheme of the URL, such as `json`.
    let kind: String
    let url: String

    /// A store of each kind that this build has, in a folder.
    static func all(in folder: String) -> [LibraryStore] {
        let known = Set(StoreRegistry.standard.knownSchemes.map(\.name))
        return ["memory", "json", "log", "sqlite"].filter(known.contains).map { kind in
            LibraryStore(kind: kind, url: kind == "memory" ? "memory:" : "\(kind):\(folder)/library.\(kind)")
        }
    }

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
