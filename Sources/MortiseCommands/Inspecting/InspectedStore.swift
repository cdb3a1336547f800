#if Inspector
import Foundation
import MortiseCore

/// A store that the inspector shows. It stays open between requests, follows what other processes save, and is used by one
/// request at a time.
///
/// @unchecked Sendable: the lock guards everything that changes, and the open store with it.
package final class InspectedStore: @unchecked Sendable {
    /// What a reader gets while it has the store for itself.
    struct Reading {
        let store: OpenStore
        let text: PredicateText

        init(_ store: OpenStore) {
            self.store = store
            text = PredicateText(schema: store.schema, storeIdentifier: store.store.identifier)
        }
    }

    /// The URL as it may be shown.
    package let name: String
    /// The schema of the models in the tool; nil for a tool without models.
    let models: StoredSchema?
    private let argument: StoreArgument
    private let lock = NSLock()
    private var open: OpenStore?
    private var openedAs: FileStamp?
    private var isLeftBehind = false

    init(_ argument: StoreArgument, models: StoredSchema?) {
        self.argument = argument
        self.models = models
        name = argument.name
    }

    var configuration: any SelfDescribingConfiguration { get throws { try argument.selfDescribing() } }

    /// How long a query with a regular expression may take.
    private static let deadline = Duration.seconds(10)

    /// Runs a body that reads, with the store as it is now.
    /// - Throws: what opening the store throws; what the body throws.
    func read<R>(_ body: (Reading) throws -> R) throws -> R {
        try lock.withLock {
            let store = try current()
            store.refresh()
            return try StoreQueryRun.$deadline.withValue(Self.deadline) { try body(Reading(store)) }
        }
    }

    /// Opens the store once more for a body that takes long, so that other requests need not wait for it.
    /// - Throws: what opening the store throws; what the body throws.
    func readApart<R>(_ body: (Reading) throws -> R) throws -> R {
        let store = try OpenStore.reading(argument)
        let result = Result { try StoreQueryRun.$deadline.withValue(Self.deadline) { try body(Reading(store)) } }
        try store.close()
        return try result.get()
    }

    /// Opens the store for writing while a body runs. Readers are let go before, and open it again afterwards.
    /// - Throws: what opening the store throws; what the body throws, which has saved nothing then.
    func write<R>(_ body: (Reading) throws -> R) throws -> R {
        try lock.withLock {
            try close()
            let configuration = try argument.selfDescribing()
            guard let schema = try configuration.storedSchema() else { throw ToolError.missing(store: name) }
            let store = try OpenStore(configuration, schema: schema, name: name)
            store.author = StagedChanges.author
            let result = Result { try body(Reading(store)) }
            try store.close()
            return try result.get()
        }
    }

    private func current() throws -> OpenStore {
        if let open {
            if !isLeftBehind, openedAs == stamp(of: open) { return open }
            try close()
        }
        let store = try OpenStore.reading(argument, following: true)
        openedAs = stamp(of: store)
        isLeftBehind = false
        store.store.reportEvents { [weak self] event in
            if case .readerLeftBehind = event { self?.noteLeftBehind() }
        }
        open = store
        return store
    }

    private func noteLeftBehind() {
        // Not on the thread of the event, which may belong to a request that has the lock.
        DispatchQueue.global().async { [self] in lock.withLock { isLeftBehind = true } }
    }

    private func close() throws {
        guard let store = open else { return }
        open = nil
        try store.close()
    }

    /// What tells that a file was replaced, of a store that reads it once and does not follow others.
    private func stamp(of store: OpenStore) -> FileStamp? {
        guard store.versioned != nil, !store.store.announcesOtherProcesses,
            let path = (try? argument.selfDescribing())?.location
        else { return nil }
        return FileStamp(path)
    }
}

/// A state of a file, as far as the file system tells one from another.
private struct FileStamp: Equatable {
    private let file: UInt64
    private let bytes: Int64
    private let seconds: Int
    private let nanoseconds: Int

    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        file = UInt64(status.st_ino)
        bytes = Int64(status.st_size)
        #if canImport(Darwin)
        (seconds, nanoseconds) = (status.st_mtimespec.tv_sec, status.st_mtimespec.tv_nsec)
        #else
        (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        #endif
    }
}
#endif
