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

extension AppendLogHistory {
    /// The rule that decides, by number and time, whether a transaction is kept; nil if all are. `store` is the store's
    /// identifier.
    func rule(now: Date, store: String) -> ((_ transaction: UInt64, _ time: Date) -> Bool)? {
        switch self {
        case .keepAll: return nil
        case .keep(let days):
            let limit = now.addingTimeInterval(-Double(days) * 86_400)
            return { _, time in time >= limit }
        case .keepSince(let token):
            let last = UInt64(clamping: token.tokenValue?[store] ?? 0)
            return { transaction, _ in transaction > last }
        }
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
            guard let keeps = configuration.history.rule(now: now, store: catalog.store) else { return }
            let (header, position) = writer.state
            let checkpoint = try fileSystem.infoIfPresent(checkpointPath, followingLinks: true)?.size ?? 0
            let total = position.end + checkpoint
            let least = configuration.leastGarbage
            compactions.plan(at: position.end + max(least, total / 8))
            guard try isForgotten(upTo: max(least, total / 2), of: header, position, keeps) else { return }
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
