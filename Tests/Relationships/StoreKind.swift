import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseInMemory
import MortiseJSONFile
import Synchronization
import PackageTestSupport

/// The kinds of stores that programs are run on.
enum StoreKind: String, CaseIterable, Sendable {
    case memory, json, log
    /// Without versions, and asked by queries.
    case queried
    /// The same, with lists that are read when they are needed.
    case deferred

    private var hasVersions: Bool { self != .queried && self != .deferred }

    /// What is done in addition after a step. A context of a store without versions shows what it has read, which is a whole
    /// state only if it reads everything before others save again.
    func additions(after step: Step) -> [Step] {
        if hasVersions { return [] }
        return switch step {
        case .save, .rollback, .discard, .reopen: [.fetch(in: 0), .fetch(in: 1)]
        default: []
        }
    }

    func open(_ schema: Schema, in folder: String) throws -> ModelContainer {
        let configuration: any DataStoreConfiguration =
            switch self {
            case .memory: InMemoryConfiguration()
            case .json: JSONFileConfiguration(path: folder + "/store.json")
            case .log: log(folder)
            case .queried, .deferred: QueriedConfiguration(try records(schema, folder))
            }
        return try ModelContainer(for: schema, configurations: [configuration])
    }

    /// What stores have kept, by their folders. A file there says that it is of the program that runs.
    private static let kept = Mutex<[String: QueriedRecords]>([:])

    private func records(_ schema: Schema, _ folder: String) throws -> QueriedRecords {
        try Self.kept.withLock { kept in
            let mark = folder + "/store.\(rawValue)"
            if let records = kept[folder], FileManager.default.fileExists(atPath: mark) { return records }
            let records = try QueriedRecords(schema, defersLists: self == .deferred)
            try Data().write(to: URL(filePath: mark))
            kept[folder] = records
            return records
        }
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
        case .memory, .queried, .deferred: []
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
