import Foundation
import MortiseCore
import MortiseEngine

// What is kept.

extension JSONHistory {
    /// Drops what exceeds the retention, where a part of the history has come since this was last tried. A failure leaves the history as it
    /// is, for the next time.
    func trim() {
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
            let needing = holders.indices.filter { place in
                holders[place].settled(at: now).state == .active
                    && frame.number > holders[place].token.tokenValue?[store] ?? 0
            }
            // As long as one holds it, nobody loses it.
            guard needing.allSatisfy({ holders[$0].maximumLag.map { index.end - offset > $0 } ?? false }) else {
                return false
            }
            for place in needing {
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
        for name in lost.sorted() { report(.historyHolderLost(store: configurationName, holder: name)) }
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
        guard index.header != nil, let key else { return }
        // Another identifier: by that a reader knows that its places are those of an earlier file.
        let header = HistoryHeader()
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
