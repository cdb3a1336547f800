import Foundation
import MortiseCore
import MortiseEngine

/// The history beside a JSON file: appended before each replacement of the file, and read when somebody asks.
///
/// @unchecked Sendable: what changes is behind the lock.
final class JSONHistory: @unchecked Sendable {
    let path: String
    let store: String
    private let schema: StoredSchema
    private let permissions: UInt32
    private let retention: HistoryRetention
    private let isSynced: Bool
    private let isWritable: Bool
    let fileSystem: any FileSystem
    let holderFile: HistoryHolderFile
    private let lock = NSLock()
    private var state = State.unread
    /// The store's file as it is; nil if there is none.
    private var key: DocumentKey?
    private var file: (any OpenFile)?
    /// What the next replacement of the file writes.
    private var staged: [Staged] = []
    /// What the history is once the file is replaced.
    private var proposed: (index: HistoryIndex, key: DocumentKey)?
    /// What the version of the engine's number 0 has for a number here.
    private var offset: Int64?
    /// How long the history was when it was last looked at for what is not kept.
    private var trimmedSize: Int64 = 0

    private struct Staged {
        var frame: HistoryFrame
        let payload: [UInt8]
        let schema: StoredSchema
        /// The version of the engine that it made.
        let version: UInt64
        /// Whether it names all that has changed.
        let isWhole: Bool
    }

    private enum State {
        case unread
        case known(HistoryIndex)
        /// Saves go on without it.
        case failed(any Error)
    }

    /// Reads nothing yet. `key` is the store's file as it was read; nil if there is none.
    init(
        of path: String, store: String, _ schema: StoredSchema, _ configuration: JSONFileConfiguration,
        key: DocumentKey?
    ) {
        self.path = StoreFiles(resolved: path).history
        self.store = store
        self.schema = schema
        self.key = key
        permissions = configuration.newFilePermissions
        retention = configuration.history
        isSynced = configuration.historyDurability == .withSave
        isWritable = configuration.allowsSave
        fileSystem = RepeatingFileSystem(configuration.fileSystem)
        holderFile = HistoryHolderFile(
            beside: path, permissions: configuration.newFilePermissions, in: fileSystem)
    }

    // MARK: What it is

    private func index() throws -> HistoryIndex {
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
        var index = try reader.index(header, of: key, store: store)
        if index.beginsAnew {
            let start = index.bounds.last + 1
            index.bounds = HistoryBounds(horizon: start, last: start)
            (index.count, index.stubs, index.oldest) = (0, 0, nil)
        }
        return index
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
        let index = try lock.withLock { () throws -> HistoryIndex in try self.index() }
        guard let header = index.header else { return try body(index, nil) }
        let file = try fileSystem.open(path, mode: .read)
        defer { try? file.close() }
        return try body(index, HistoryReader(file, path: path, seed: header.seed, size: index.end))
    }

    /// The token of the transaction that made a version of the engine; nil where no history is written.
    func token(ofVersion number: UInt64, mark: UInt64?) -> DefaultHistoryToken? {
        lock.withLock {
            guard let offset, case .known = state else { return nil }
            return DefaultHistoryToken(Int64(clamping: number) + offset, mark: mark, store: store)
        }
    }

    // MARK: A save

    /// Notes what a save has changed, for the next replacement of the file.
    /// - Parameters:
    ///   - changes: the changes.
    ///   - before: the records before.
    ///   - after: the records after.
    ///   - kind: nil for what the changes are.
    ///   - isWhole: whether the changes are all there were; otherwise the history begins after them.
    /// - Throws: `ExternalValueError` for data that a deletion preserves and that cannot be read.
    func stage(
        _ changes: ChangeSet, from before: EngineVersion, to after: EngineVersion, _ kind: HistoryEntry.Kind? = nil,
        isWhole: Bool = true
    ) throws {
        try lock.withLock {
            guard (try? index()) != nil, let entry = HistoryEntry(of: changes, kind: kind) else { return }
            let schema = after.catalog.schema
            var payload = ChangeBytes(schema)
            payload.origin(author: entry.author, process: entry.process, bundle: entry.bundle)
            try payload.changes(changes, from: before, to: after)
            payload.byte(0xFF)
            let frame = HistoryFrame(
                .init(entry.kind), number: 0, mark: entry.mark ?? HistoryMark.next(),
                time: entry.timestamp.timeIntervalSinceReferenceDate)
            staged.append(
                Staged(
                    frame: frame, payload: payload.bytes, schema: schema, version: after.number, isWhole: isWhole))
        }
    }

    /// How many saves were noted that no replacement of the file has written yet.
    var noted: Int { lock.withLock { staged.count } }

    /// Forgets what a failed save has noted, after so many others.
    func abandon(after count: Int = 0) {
        lock.withLock {
            staged.removeLast(max(0, staged.count - count))
            proposed = nil
        }
    }

    /// Appends what was noted, as the history of the file that is about to be put in place. It counts once that is.
    /// - Throws: `FileError`; nothing that counts has changed.
    func write(for key: DocumentKey) throws {
        try lock.withLock {
            guard var index = try? index() else { return }
            do {
                try append(for: key, &index)
            } catch {
                file = nil
                throw error
            }
            proposed = (index, key)
        }
    }

    private func append(for key: DocumentKey, _ index: inout HistoryIndex) throws {
        let now = Date().timeIntervalSinceReferenceDate
        // What somebody else has removed or replaced is gone.
        if index.header != nil, try !isInPlace() {
            let start = max(index.bounds.last + 1, Int64(now * 1_000))
            index = HistoryIndex(store: store)
            index.bounds = HistoryBounds(horizon: start, last: start)
        }
        if !staged.allSatisfy(\.isWhole) {
            let start = index.bounds.last + 1
            index.bounds = HistoryBounds(horizon: start, last: start)
            index.beginsAnew = true
            if let last = staged.last { offset = start - Int64(clamping: last.version) }
            staged = []
        }
        var frames: [(frame: HistoryFrame, payload: [UInt8], schema: StoredSchema?)] = []
        if index.header == nil || index.beginsAnew {
            var text = ChangeBytes(schema)
            text.text(store)
            let frame = HistoryFrame(.beginning, number: index.bounds.last, mark: HistoryMark.next(), time: now)
            frames.append((frame, text.bytes, nil))
        }
        var inForce = index.schemas.last
        var number = index.bounds.last
        for item in staged {
            if inForce != item.schema {
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                let payload = [UInt8](try encoder.encode(item.schema))
                frames.append((HistoryFrame(.schema, number: number, mark: 0, time: now), payload, item.schema))
                inForce = item.schema
            }
            number += 1
            var frame = item.frame
            frame.number = number
            offset = number - Int64(clamping: item.version)
            frames.append((frame, item.payload, nil))
        }
        if frames.isEmpty {
            frames.append((HistoryFrame(.rewritten, number: number, mark: index.lastMark ?? 0, time: now), [], nil))
        }
        frames[frames.count - 1].frame.key = key
        let header = index.header ?? HistoryHeader()
        let start = index.end
        var bytes: [UInt8] = []
        if index.header == nil {
            bytes = header.bytes
            index.end = Int64(HistoryHeader.size)
            index.header = header
        }
        index.beginsAnew = false
        for (frame, payload, schema) in frames {
            var frame = frame
            frame.length = Int64(payload.count)
            bytes += frame.bytes(payload, seed: header.seed)
            index.note(frame, schema: schema)
        }
        let file = try openFile(isNew: start == 0)
        if try file.extent().size > start { try file.truncate(to: start) }
        try file.writeAll(bytes, at: start)
        if isSynced { try file.sync(.data) }
        // Its name has to be there before that of the file that counts on it.
        if isSynced, start == 0 { try fileSystem.syncDirectory(PathText.directory(of: path)) }
    }

    private func isInPlace() throws -> Bool {
        guard let named = try fileSystem.extentIfPresent(path, followingLinks: false) else { return false }
        guard let file, let extent = try? file.extent() else { return true }
        return named.isSameFile(as: extent)
    }

    private func openFile(isNew: Bool) throws -> any OpenFile {
        if let file, !isNew { return file }
        try? file?.close()
        try fileSystem.refuseAllButFile(at: path)
        let opened = try fileSystem.open(path, mode: isNew ? .create(permissions: permissions) : .readWrite)
        file = opened
        return opened
    }

    /// The file is in place, and what was written counts.
    func confirm() {
        lock.withLock {
            staged = []
            guard let (index, key) = proposed.take() else { return }
            state = .known(index)
            self.key = key
            trim()
        }
    }

    /// Copies the frames up to those of a state of the store's file, for a backup of that. Without such frames there is nothing to copy.
    /// - Parameters:
    ///   - document: the bytes of the store's file.
    ///   - store: the identifier of the store.
    ///   - source: the path of the store.
    ///   - target: the path of the backup.
    ///   - permissions: the permission bits of the copy.
    ///   - fileSystem: the file system that has both.
    /// - Returns: how many bytes were copied.
    /// - Throws: `FileError` for what cannot be written. A history that cannot be read is left out.
    static func copy(
        for document: [UInt8], store: String, of source: String, to target: String, permissions: UInt32,
        in fileSystem: any FileSystem
    ) throws -> Int64 {
        let path = StoreFiles(resolved: source).history
        guard let file = try? fileSystem.open(path, mode: .read) else { return 0 }
        defer { try? file.close() }
        guard let size = try? file.info().size, let bytes = try? file.readAll(count: HistoryHeader.size, at: 0),
            let header = try? HistoryHeader(bytes)
        else { return 0 }
        var reader = HistoryReader(file, path: path, seed: header.seed, size: size)
        guard let index = try? reader.index(header, of: DocumentKey(of: document), store: store), !index.beginsAnew
        else {
            return 0
        }
        let copy = StoreFiles(resolved: target).history
        try DurableReplacement(of: copy, newFilePermissions: permissions, in: fileSystem).replace { writer in
            var offset: Int64 = 0
            while offset < index.end {
                let piece = try file.readAll(count: Int(min(index.end - offset, 1 << 20)), at: offset)
                if piece.isEmpty { break }
                try writer.append(piece)
                offset += Int64(piece.count)
            }
        }
        return index.end
    }

    func close() {
        lock.withLock {
            try? file?.close()
            file = nil
        }
    }

    // MARK: What is kept

    /// Drops what exceeds the retention, where a part of the history has come since this was last tried. A failure leaves the history as it
    /// is, for the next time.
    private func trim() {
        guard !retention.isUnlimited, isWritable, case .known(let index) = state else { return }
        let most = retention.transactions.map { index.count > $0 + max(16, $0 / 4) } ?? false
        guard most || index.end - trimmedSize > max(trimmedSize / 4, 16 << 10) else { return }
        trimmedSize = index.end
        _ = try? dropExcess()
    }

    /// Drops what exceeds the retention.
    /// - Returns: how many transactions were dropped.
    func compact() throws -> Int {
        try lock.withLock { try dropExcess() }
    }

    private func dropExcess() throws -> Int {
        let index = try index()
        guard index.header != nil, !retention.isUnlimited else { return 0 }
        let now = Date()
        var holders = try holderFile.read()
        var lost: Set<String> = []
        var (count, size, last) = (index.count, index.end, index.bounds.horizon)
        var dropped = 0
        try forEachFrame(index) { frame, offset, _ in
            guard let kind = frame.kind.entryKind else { return true }
            let saved = Date(timeIntervalSinceReferenceDate: frame.time)
            guard
                kind == .stub || retention.drops(oldestOf: count, taking: size, saved: saved, at: now)
            else { return false }
            for place in holders.indices where holders[place].settled(at: now).state == .active {
                guard frame.number > holders[place].token.tokenValue?[store] ?? 0 else { continue }
                guard let most = holders[place].maximumLag, index.end - offset > most else { return false }
                holders[place].state = .lost
                lost.insert(holders[place].name)
            }
            if kind != .stub {
                count -= 1
                dropped += 1
            }
            size -= Int64(HistoryFrame.size) + frame.length
            last = frame.number
            return true
        }
        guard dropped > 0 else { return 0 }
        if !lost.isEmpty {
            try holderFile.update { all in
                for place in all.indices where lost.contains(all[place].name) { all[place].state = .lost }
            }
        }
        try rewrite(index) { frame in frame.number <= last ? .gone : .kept }
        return dropped
    }

    /// Reads all frames that count.
    /// - Returns: how many transactions there are.
    /// - Throws: `HistoryDamaged`; `FileError`.
    func verify() throws -> Int {
        try lock.withLock {
            let index = try index()
            try forEachFrame(index) { frame, offset, reader in
                _ = try reader.payload(of: frame, at: offset)
                return true
            }
            return index.count
        }
    }

    enum Fate { case kept, stub, gone }

    /// Forgets transactions: those from the oldest on leave nothing, others a stub.
    func remove(_ numbers: [Int64]) throws {
        try lock.withLock {
            let index = try index()
            guard index.header != nil else { return }
            let doomed = Set(numbers)
            var horizon = index.bounds.horizon
            try forEachFrame(index) { frame, _, _ in
                guard let kind = frame.kind.entryKind else { return true }
                guard kind == .stub || doomed.contains(frame.number) else { return false }
                horizon = frame.number
                return true
            }
            try rewrite(index) { frame in
                frame.number <= horizon ? .gone : doomed.contains(frame.number) ? .stub : .kept
            }
        }
    }

    /// Hands over the frames that count after the last beginning, with their places, until the body returns false.
    private func forEachFrame(
        _ index: HistoryIndex, _ body: (HistoryFrame, Int64, inout HistoryReader) throws -> Bool
    ) throws {
        guard let header = index.header else { return }
        let file = try fileSystem.open(path, mode: .read)
        defer { try? file.close() }
        var reader = HistoryReader(file, path: path, seed: header.seed, size: index.end)
        var offset = Int64(HistoryHeader.size)
        while offset < index.end {
            guard let frame = try reader.frame(at: offset) else {
                throw reader.damage(offset, "no frame begins there")
            }
            let isBefore = frame.kind.entryKind != nil && frame.number <= index.bounds.horizon
            if try !isBefore && !body(frame, offset, &reader) { return }
            offset += Int64(HistoryFrame.size) + frame.length
        }
    }

    /// Replaces the file by one without some of its transactions. The store's file stays what it is.
    private func rewrite(_ index: HistoryIndex, _ fate: (HistoryFrame) -> Fate) throws {
        guard let header = index.header, let key else { return }
        var next = HistoryIndex(header: header, store: store)
        next.end = Int64(HistoryHeader.size)
        var horizon = (number: index.bounds.horizon, mark: index.bounds.horizonMark ?? HistoryMark.next())
        try forEachFrame(index) { frame, _, _ in
            guard frame.kind.entryKind != nil else { return true }
            guard fate(frame) == .gone else { return false }
            horizon = (frame.number, frame.mark)
            return true
        }
        try DurableReplacement(of: path, newFilePermissions: permissions, in: fileSystem).replace { writer in
            try writer.append(header.bytes)
            func put(_ frame: HistoryFrame, _ payload: [UInt8], _ schema: StoredSchema? = nil) throws {
                var frame = frame
                frame.length = Int64(payload.count)
                try writer.append(frame.bytes(payload, seed: header.seed))
                next.note(frame, schema: schema)
            }
            var text = ChangeBytes(schema)
            text.text(store)
            try put(HistoryFrame(.beginning, number: horizon.number, mark: horizon.mark, time: 0), text.bytes)
            var inForce: (payload: [UInt8], schema: StoredSchema?) = ([], nil)
            var written: StoredSchema?
            try forEachFrame(index) { frame, offset, reader in
                if let found = try reader.schema(in: frame, at: offset) {
                    inForce = (try reader.payload(of: frame, at: offset), found)
                }
                guard frame.kind.entryKind != nil else { return true }
                switch fate(frame) {
                case .gone: break
                case .kept:
                    if written != inForce.schema {
                        try put(
                            HistoryFrame(.schema, number: next.bounds.last, mark: 0, time: frame.time), inForce.payload,
                            inForce.schema)
                        written = inForce.schema
                    }
                    try put(frame, try reader.payload(of: frame, at: offset))
                case .stub:
                    var payload = ChangeBytes(schema)
                    if frame.kind == .stub {
                        try put(frame, try reader.payload(of: frame, at: offset))
                    } else {
                        var parts = ChangeBytesReader(
                            try reader.payload(of: frame, at: offset),
                            under: StoredSchema(version: .init(1, 0, 0), entities: []), ofStore: store)
                        let (author, process, bundle) = try parts.origin()
                        payload.origin(author: author, process: process, bundle: bundle)
                        payload.byte(0xFF)
                        var stub = frame
                        stub.kind = .stub
                        try put(stub, payload.bytes)
                    }
                }
                return true
            }
            var last = HistoryFrame(.rewritten, number: next.bounds.last, mark: next.lastMark ?? 0, time: 0)
            last.key = key
            try put(last, [])
        }
        try? file?.close()
        file = nil
        state = .known(next)
        trimmedSize = next.end
    }
}
