import Foundation
public import MortiseCore
import MortiseEngine

extension AppendLogStore {
    /// Reads the log as it is now, also what other processes have appended since the store was opened.
    /// - Throws: `FileError`; `AppendLogError` for damage.
    public func storedTransactions(after number: UInt64, last: Int?) throws -> [ChangeSet]? {
        var found: [ChangeSet] = []
        _ = try readStoredTransactions(after: number, withValues: false) { transaction in
            found.append(transaction)
            // Twice as many as asked for are held at most, so that none is moved more than once.
            if let last, found.count / 2 > max(last, 8) { found.removeFirst(found.count - max(last, 0)) }
            return true
        }
        if let last, found.count > last { found.removeFirst(found.count - max(last, 0)) }
        return found
    }

    /// Reads the log as it is now, frame by frame. Values are those that the log has, except in transactions that name too many
    /// records.
    /// - Throws: `FileError`; `AppendLogError` for damage; what the body throws.
    public func readStoredTransactions(
        after number: UInt64, withValues: Bool, _ body: (ChangeSet) throws -> Bool
    ) throws -> Bool {
        let file = try configuration.fileSystem.open(opened.path, mode: .read)
        defer { try? file.close() }
        let size = try file.info().size
        try AppendLogError.naming(opened.path) {
            let header = try FileHeader(
                try file.readAll(count: Int(min(size, Int64(FileHeader.size))), at: 0), expecting: .log)
            let reader = FrameReader(file, size: size, seed: header.seed)
            var catalog: LogCatalog?
            var begun: ChangeSet?
            _ = try reader.scan(from: .first, allowingGapsTo: header.base) { frame in
                if frame.header.kind == .schema {
                    catalog = LogCatalog(try frame.reading { try $0.schema() }, store: identifier)
                } else if let catalog, frame.header.transaction > number {
                    var collector = ChangeCollector(catalog: catalog, keepsValues: withValues)
                    try frame.reading { try $0.transaction(catalog, to: &collector) }
                    var transaction = collector.takeTransaction(frame.header.transaction)
                    if let earlier = begun.take() { transaction?.follow(earlier) }
                    if frame.isContinued {
                        begun = transaction
                    } else if let transaction {
                        return try body(transaction)
                    }
                }
                return true
            }
        }
        return true
    }
}

extension ChangeSet {
    /// Takes in changes of the same transaction that came before, under an earlier schema. Of a record that was changed under both
    /// the later change is told.
    fileprivate mutating func follow(_ earlier: ChangeSet) {
        let created = Set(earlier.inserted.records)
        let gone = Set(deleted.map(\.record))
        let changed = Set(updated.map(\.record))
        inserted = Insertions(records: earlier.inserted.records.filter { !gone.contains($0) } + inserted.records)
        updated =
            earlier.updated.filter { !gone.contains($0.record) && !changed.contains($0.record) }
            + updated.filter { !created.contains($0.record) }
        deleted = earlier.deleted + deleted.filter { !created.contains($0.record) }
        isErasure = isErasure || earlier.isErasure
    }
}
