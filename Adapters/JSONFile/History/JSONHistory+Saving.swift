import Foundation
import MortiseCore
import MortiseEngine

// What a save appends.

extension JSONHistory {
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

    /// Forgets what a failed save has noted. `count` is how many were noted before it.
    func abandon(after count: Int = 0) {
        lock.withLock {
            staged.removeLast(max(0, staged.count - count))
            proposed = nil
        }
    }

    /// Forgets everything noted, and cuts off what `write` has appended for a file that was not put in place. What cannot be cut off does not
    /// count.
    func takeBack() {
        lock.withLock {
            staged = []
            if proposed.take() != nil { cutOff() }
        }
    }

    /// Cuts off what does not count.
    private func cutOff() {
        guard case .known(let index) = state, let file else { return }
        if index.header == nil {
            self.file = nil
            try? file.close()
            try? fileSystem.unlink(path)
        } else if let size = try? file.extent().size, size > index.end {
            try? file.truncate(to: index.end)
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
                if (error as? FileError)?.outcomeIsUnknown != true { cutOff() }
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
            let frame = HistoryFrame(
                .beginning, number: index.bounds.last, mark: index.bounds.horizonMark ?? HistoryMark.next(), time: now)
            frames.append((frame, text.bytes, nil))
        }
        let showedFile = index.showsFile
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
        // A process that died may have left the name of the store's file only in memory. Once this is written, a store without its
        // file is refused.
        if self.key != nil, !hasPlacedFile, !showedFile { try fileSystem.syncDirectory(PathText.directory(of: path)) }
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
            hasPlacedFile = true
            trim()
        }
    }
}
