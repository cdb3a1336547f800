import Foundation
import MortiseCore
import MortiseEngine

/// When a store compacts its log.
public enum AppendLogCompaction: Sendable, Hashable {
    /// In the background, once the history that the configuration no longer keeps takes more than half of the files, and
    /// 4 MiB at least. Looked at after opening and after saves. Nothing is ever dropped that `compact()` would keep, so that
    /// none begins with `.keepAll`; nor does one of a shared log, which others would have to leave for that.
    ///
    /// Saves go on meanwhile, except for the moment in which the new log replaces the old one. Closing the store ends a
    /// running compaction. A failure is reported as `StoreEvent.compactionFailed` and leaves the store as it was.
    case automatic
    /// When `compact()` is called.
    case onCall
}

extension AppendLog {
    /// The rule that decides, by number and time, whether a transaction is kept: by the configuration, and because a holder needs it.
    /// Holders that are too far behind are lost, unless nothing may be dropped yet.
    /// - Parameter isLosing: whether these are noted as lost.
    /// - Returns: whether a transaction is kept; nil where all are.
    /// - Throws: `FileError`; `HistoryDamaged` for holders that cannot be read; `AppendLogError`.
    func historyRule(losing isLosing: Bool = true) throws -> ((_ transaction: UInt64, _ time: Date) -> Bool)? {
        guard let keeps = try configuredRule() else { return nil }
        let file = HistoryHolderFile(
            beside: path, of: catalog.store, permissions: configuration.newFilePermissions, in: fileSystem)
        var held = UInt64.max
        var behind: [(name: String, seen: UInt64)] = []
        for holder in try file.read() where holder.settled(at: now).state == .active {
            let seen = UInt64(clamping: holder.token.tokenValue?[catalog.store] ?? 0)
            if let most = holder.maximumLag, try length(after: seen) > most {
                behind.append((holder.name, seen))
            } else {
                held = min(held, seen)
            }
        }
        // As long as another one holds what it needs, nobody loses it.
        let lost = Set(behind.filter { $0.seen < held }.map(\.name))
        if isLosing, !lost.isEmpty {
            try file.update { all in
                for place in all.indices where lost.contains(all[place].name) { all[place].state = .lost }
            }
            for name in lost.sorted() {
                observers.post(.historyHolderLost(store: configuration.name, holder: name))
            }
        }
        return { transaction, time in transaction > held || keeps(transaction, time) }
    }

    private func configuredRule() throws -> ((_ transaction: UInt64, _ time: Date) -> Bool)? {
        switch configuration.history {
        case .keepAll: return nil
        case .keep(let days):
            let limit = now.addingTimeInterval(-Double(days) * 86_400)
            return { _, time in time >= limit }
        case .keepSince(let token):
            let last = UInt64(clamping: token.tokenValue?[catalog.store] ?? 0)
            return { transaction, _ in transaction > last }
        case .retain(let retention):
            if retention.isUnlimited { return nil }
            let last = writer.state.position.transaction
            var first: UInt64 = 0
            if let count = retention.transactions { first = last - min(last, UInt64(clamping: count)) }
            if let bytes = retention.bytes { first = max(first, try transaction(leaving: bytes)) }
            let now = now
            return { transaction, time in
                if let least = retention.atLeast, now.timeIntervalSince(time) < least.inSeconds { return true }
                if let age = retention.age, now.timeIntervalSince(time) > age.inSeconds { return false }
                return transaction > first
            }
        }
    }

    /// How many bytes of the log come after a transaction, to 256 frames.
    private func length(after transaction: UInt64) throws -> Int64 {
        guard let history else { return 0 }
        return try history.read(upTo: writer.state.position.transaction, in: fileSystem) { _, known in
            known.place(of: transaction + 1, from: nil).map { known.end.end - $0.position.end } ?? 0
        }
    }

    /// The last transaction that has more than so many bytes of the log after it, to 256 frames; 0 if none has.
    private func transaction(leaving bytes: Int64) throws -> UInt64 {
        guard let history else { return 0 }
        return try history.read(upTo: writer.state.position.transaction, in: fileSystem) { _, known in
            known.places.last { known.end.end - $0.position.end > bytes }?.position.transaction ?? 0
        }
    }
}

extension Duration {
    fileprivate var inSeconds: TimeInterval {
        TimeInterval(components.seconds) + TimeInterval(components.attoseconds) / 1e18
    }
}

extension AppendLog {
    /// Lets compactions begin in the background from now on.
    func startCompactions() {
        if isShared || configuration.history == .keepAll { return }
        compactions.plan(at: configuration.leastGarbage)
        compactions.start { [weak self] error in
            guard let self else { return }
            observers.post(.compactionFailed(store: configuration.name, reason: "\(error)"))
        } _: { [weak self] in
            try self?.compactIfWorthwhile()
        }
        // Under another schema the first save begins it, not an opening without any.
        if hasOtherSchema { return }
        compactions.noteAppended(upTo: writer.state.position.end)
    }

    /// Compacts where that leaves less than half of the files.
    private func compactIfWorthwhile() throws {
        let progress = MaintenanceProgress(isStopped: isStopping, observers.report)
        try maintaining(progress) {
            if hasOtherSchema { return }
            guard let keeps = try historyRule(losing: false) else { return }
            let (header, position) = writer.state
            let checkpoint = try fileSystem.infoIfPresent(checkpointPath, followingLinks: true)?.size ?? 0
            let total = position.end + checkpoint
            let least = configuration.leastGarbage
            compactions.plan(at: position.end + max(least, total / 8))
            guard try isForgotten(upTo: max(least, total / 2), of: header, position, keeps) else { return }
            // From here on it is dropped.
            _ = try historyRule()
            let start = ContinuousClock.now
            let dropped = try compactAlone(progress, dropping: .written, keeping: keeps)
            observers.post(
                .compaction(store: configuration.name, dropped: dropped, duration: ContinuousClock.now - start))
        }
    }

    /// Whether that many bytes at the beginning of the log are history that is not kept. Numbers ascend, and so do
    /// times unless a clock jumped, so one transaction decides for all before it.
    private func isForgotten(
        upTo size: Int64, of header: FileHeader, _ end: LogPosition, _ keeps: (UInt64, Date) -> Bool
    ) throws -> Bool {
        guard size < end.end else { return false }
        let file = try fileSystem.open(path, mode: .read)
        defer { try? file.close() }
        let reader = FrameReader(file, size: end.end, seed: header.seed)
        guard var place = try reader.nextFrame(from: size) else { return false }
        while let frame = try reader.header(at: place.offset), reader.hasWhole(frame, at: place.offset) {
            if frame.kind.isTransaction, frame.kind != .migration, frame.length >= 8 {
                let bits = try reader.withBytes(at: place.offset + Int64(FrameHeader.size), count: 8) {
                    UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self))
                }
                return !keeps(frame.transaction, Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)))
            }
            place = place.following(frame)
        }
        return false
    }
}
