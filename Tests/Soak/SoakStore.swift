import MortiseAppendLog
import MortiseCore
import MortiseJSONFile

/// A kind of store that is soaked.
struct SoakStore: Sendable {
    let name: String
    /// How many records there are at most: a store that writes its file whole with each save takes fewer.
    let capacity: Int
    /// How many operations come between two openings, at most.
    let session: Int
    let configuration: @Sendable (_ folder: String) -> any MaintainableConfiguration

    static let all = [
        SoakStore(name: "json", capacity: 300, session: 4_000) { JSONFileConfiguration(path: $0 + "/soak.json") },
        SoakStore(name: "log", capacity: 12_000, session: 12_000) { AppendLogConfiguration(path: $0 + "/soak.log") },
        SoakStore(name: "log?keepDays=0", capacity: 12_000, session: 12_000) {
            AppendLogConfiguration(path: $0 + "/soak.log", history: .keep(days: 0))
        },
    ]
}
