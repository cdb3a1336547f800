import Foundation
import MortiseCore
import MortiseEngine
import Synchronization

/// Replaces what cannot be read of a checkpoint by replaying the log, which has to reach back to its first transaction.
final class CheckpointFallback: Sendable {
    private struct State {
        var fault: LogFault?
        var observers: [@Sendable (LogFault) -> Void] = []
    }

    private let path: String
    private let header: FileHeader
    private let external: ExternalFiles
    private let fileSystem: any FileSystem
    private let state = Mutex(State())

    init(_ path: String, _ header: FileHeader, external: ExternalFiles, in fileSystem: any FileSystem) {
        self.path = path
        self.header = header
        self.external = external
        self.fileSystem = fileSystem
    }

    /// Why the log was replayed in place of the checkpoint; nil while the checkpoint could be read.
    var fault: LogFault? { state.withLock { $0.fault } }

    /// Calls the observer at the first fault from now on, and only then.
    func observe(_ observer: @escaping @Sendable (LogFault) -> Void) {
        state.withLock { $0.observers.append(observer) }
    }

    private func note(_ error: any Error) {
        let fault: LogFault =
            switch error {
            case let error as AppendLogError: error.fault
            case let error as FileError: .unreadable(offset: nil, error: error)
            default: .damagedRegion(offset: 0, what: "cannot be read: \(error)")
            }
        let observers = state.withLock { state in
            state.fault = fault
            return state.observers
        }
        for observer in observers { observer(fault) }
    }

    /// A source of the checkpoint's records: a replay of the log up to `position`, the end of what the checkpoint
    /// covers. `schema` is the checkpoint's.
    func source(upTo position: LogPosition, _ schema: StoredSchema) -> PackedSource {
        PackedSource(
            version: { [self] in try replay(upTo: position, schema) }, note: { [weak self] in self?.note($0) })
    }

    /// The records after the transactions before a position.
    /// - Throws: what reading the log throws; `LogFault` where it is not the one that was opened.
    private func replay(upTo position: LogPosition, _ schema: StoredSchema) throws -> EngineVersion {
        let file = try fileSystem.open(path, mode: .read)
        defer { try? file.close() }
        let found = try FileHeader(try file.readAll(count: FileHeader.size, at: 0), expecting: .log)
        guard found == header, header.base == 0 else { throw LogFault.checkpointOfAnother }
        var records = LogRecords(nil, store: header.store.uuidString, external: external)
        let scan = try FrameReader(file, size: position.end, seed: header.seed).scan(from: .first) { frame in
            guard frame.header.sequence < position.sequence else { return false }
            try records.apply(frame)
            return true
        }
        guard scan.position.sequence == position.sequence, records.schema == schema else {
            throw LogFault.checkpointOfAnother
        }
        return try records.version(position.transaction, for: schema).version
    }
}
