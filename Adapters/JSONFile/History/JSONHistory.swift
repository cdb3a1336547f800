import Foundation
import MortiseCore
import MortiseEngine

/// The history beside a JSON file: appended before each replacement of the file, and read when somebody asks.
///
/// @unchecked Sendable: what changes is behind the lock.
final class JSONHistory: @unchecked Sendable {
    let path: String
    let store: String
    let schema: StoredSchema
    let permissions: UInt32
    let retention: HistoryRetention
    let isSynced: Bool
    let isWritable: Bool
    let fileSystem: any FileSystem
    let holderFile: HistoryHolderFile
    /// What events call the store.
    let configurationName: String
    let report: @Sendable (StoreEvent) -> Void
    let lock = NSLock()
    var state = State.unread
    /// The store's file as it is; nil before the first save.
    var key: DocumentKey?
    /// Whether a save of this opening has put the file in place, with a name that is durable.
    var hasPlacedFile = false
    var file: (any OpenFile)?
    /// What the next replacement of the file writes.
    var staged: [Staged] = []
    /// What the history is once the file is replaced.
    var proposed: (index: HistoryIndex, key: DocumentKey)?
    /// What the version of the engine's number 0 has for a number here.
    var offset: Int64?
    /// How long the history was when it was last looked at for what is not kept.
    var trimmedSize: Int64 = 0

    struct Staged {
        var frame: HistoryFrame
        let payload: [UInt8]
        let schema: StoredSchema
        /// The version of the engine that it made.
        let version: UInt64
        /// Whether it names all that has changed.
        let isWhole: Bool
    }

    enum State {
        case unread
        case known(HistoryIndex)
        /// Saves go on without it.
        case failed(any Error)
    }

    /// Reads nothing yet. `key` is the store's file as it was read; nil before the first save.
    init(
        of path: String, store: String, _ schema: StoredSchema, _ configuration: JSONFileConfiguration,
        key: DocumentKey?, reportingTo report: @escaping @Sendable (StoreEvent) -> Void = { StoreEvents.emit($0) }
    ) {
        self.path = StoreFiles(resolved: path).history
        self.store = store
        self.schema = schema
        self.key = key
        self.report = report
        configurationName = configuration.name
        permissions = configuration.newFilePermissions
        retention = configuration.history
        isSynced = configuration.historyDurability == .withSave
        isWritable = configuration.allowsSave
        fileSystem = RepeatingFileSystem(configuration.fileSystem)
        holderFile = HistoryHolderFile(
            beside: path, of: store, permissions: configuration.newFilePermissions, in: fileSystem)
    }

    func index() throws -> HistoryIndex {
        switch state {
        case .known(let index): return index
        case .failed(let error): throw error
        case .unread: break
        }
        do {
            let index = try readIndex()
            state = .known(index)
            trimmedSize = index.end
            return index
        } catch {
            state = .failed(error)
            throw error
        }
    }

    private func readIndex() throws -> HistoryIndex {
        try fileSystem.refuseAllButFile(at: path)
        var new = HistoryIndex(store: store)
        guard try fileSystem.infoIfPresent(path, followingLinks: false) != nil else {
            guard key != nil else { return new }
            // Later than any number that was given before.
            let start = Int64(Date().timeIntervalSinceReferenceDate * 1_000)
            new.bounds = HistoryBounds(horizon: start, last: start)
            return new
        }
        // That of a store that is gone.
        guard let key else { return new }
        let file = try fileSystem.open(path, mode: .read)
        defer { try? file.close() }
        let size = try file.info().size
        let header: HistoryHeader
        do throws(ChangeBytesFault) {
            let bytes = (try? file.readAll(count: HistoryHeader.size, at: 0)) ?? []
            header = try HistoryHeader(bytes)
        } catch {
            throw HistoryDamaged(path: path, offset: 0, reason: error.reason)
        }
        var reader = HistoryReader(file, path: path, seed: header.seed, size: size)
        var index = try reader.index(header, of: key, store: store, mayEndInPart: !isSynced)
        if index.beginsAnew {
            let start = index.bounds.last + 1
            // A transaction of that number may have been lost with its frame.
            index.bounds = HistoryBounds(horizon: start, horizonMark: key.mark, last: start)
            (index.count, index.stubs, index.oldest) = (0, 0, nil)
        }
        return index
    }

    /// Refuses to begin an empty store where a history shows that a file was saved. What the first save of a store leaves when it is
    /// cut off shows nothing, nor does what is not a history.
    /// - Parameters:
    ///   - path: the store's file, which is missing.
    ///   - fileSystem: where to look.
    /// - Throws: `FileError`, `historyWithoutStore`; another one where the history cannot be read, and so may show a file.
    static func refuseHistory(withoutStoreAt path: String, in fileSystem: any FileSystem) throws {
        let fileSystem = RepeatingFileSystem(fileSystem)
        let history = StoreFiles(resolved: path).history
        guard try fileSystem.ownInfo(history)?.kind == .regular else { return }
        let file = try fileSystem.open(history, mode: .read)
        defer { try? file.close() }
        let bytes = try file.readAll(count: HistoryHeader.size, at: 0)
        guard let header = try? HistoryHeader(bytes) else { return }
        var reader = HistoryReader(file, path: history, seed: header.seed, size: try file.info().size)
        var index = HistoryIndex(header: header, store: "")
        index.end = Int64(HistoryHeader.size)
        while !index.showsFile, let frame = try reader.frame(at: index.end) { index.note(frame, schema: nil) }
        if index.showsFile { throw FileError(.historyWithoutStore(history: history), operation: .open, path: path) }
    }

    /// A reader's file is another one.
    func follow(_ key: DocumentKey) {
        lock.withLock {
            self.key = key
            state = .unread
        }
    }

    /// Runs a body with what is known, and a reader of the frames that count; without one as long as the file is to be made.
    /// - Throws: `HistoryDamaged`; `FileError`; what the body throws.
    func reading<R>(_ body: (HistoryIndex, HistoryReader?) throws -> R) throws -> R {
        let (index, file) = try lock.withLock { try opened() }
        guard let file, let header = index.header else { return try body(index, nil) }
        defer { try? file.close() }
        return try body(index, HistoryReader(file, path: path, seed: header.seed, size: index.end))
    }

    /// What is known, and the file of which it is known, open: another one may get its name at any time. Nil as long as it is to be made.
    private func opened() throws -> (index: HistoryIndex, file: (any OpenFile)?) {
        var attempts = 0
        while true {
            let index = try self.index()
            guard let header = index.header else { return (index, nil) }
            let file = try fileSystem.open(path, mode: .read)
            attempts += 1
            // Only a reader has to expect that others write it again. What it finds there once more is damage.
            if isWritable || attempts > 8 || HistoryHeader(of: file)?.identifier == header.identifier {
                return (index, file)
            }
            try? file.close()
            state = .unread
        }
    }

    /// The token of the transaction that made a version of the engine; nil where no history is written.
    func token(ofVersion number: UInt64, mark: UInt64?) -> DefaultHistoryToken? {
        lock.withLock {
            guard let offset, case .known = state else { return nil }
            return DefaultHistoryToken(Int64(clamping: number) + offset, mark: mark, store: store)
        }
    }

    func close() {
        lock.withLock {
            try? file?.close()
            file = nil
        }
    }
}
