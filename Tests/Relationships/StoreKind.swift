import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseInMemory
import MortiseJSONFile

/// The kinds of stores that programs are run on.
enum StoreKind: String, CaseIterable, Sendable {
    case memory, json, log

    func open(_ schema: Schema, in folder: String) throws -> ModelContainer {
        let configuration: any DataStoreConfiguration =
            switch self {
            case .memory: InMemoryConfiguration()
            case .json: JSONFileConfiguration(path: folder + "/store.json")
            case .log: log(folder)
            }
        return try ModelContainer(for: schema, configurations: [configuration])
    }

    /// Power cuts are not what is tried here.
    private func log(_ folder: String) -> AppendLogConfiguration {
        AppendLogConfiguration(path: folder + "/store.log", durability: .none)
    }

    /// What is wrong with the files of a closed store.
    func faults(_ schema: Schema, in folder: String) throws -> [String] {
        let isThere = FileManager.default.fileExists(atPath: folder + "/store.\(rawValue)")
        // Nothing was ever saved.
        guard isThere || self == .log else { return [] }
        return switch self {
        case .memory: []
        case .json:
            try JSONFileConfiguration(schema: schema, path: folder + "/store.json").verifyStore().problems
        case .log:
            try AppendLogConfiguration(schema: schema, path: folder + "/store.log").verifyStore().problems
        }
    }

    /// Makes a log ready to be opened from a checkpoint.
    func prepareToClose(_ container: ModelContainer) throws {
        if self == .log { try container.store(AppendLogStore.self)?.checkpoint() }
    }
}
