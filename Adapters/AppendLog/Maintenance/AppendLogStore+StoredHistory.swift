import Foundation
public import MortiseCore
import MortiseEngine

extension AppendLogStore: StoredHistoryProviding {
    /// Reads the log as it is now, also what other processes have appended since the store was opened.
    /// - Throws: `FileError`; `AppendLogError` for damage.
    public func storedTransactions(after number: UInt64, last: Int?) throws -> [StoredTransaction] {
        let file = try configuration.fileSystem.open(opened.path, mode: .read)
        defer { try? file.close() }
        let size = try file.info().size
        return try AppendLogError.naming(opened.path) {
            let header = try FileHeader(
                try file.readAll(count: Int(min(size, Int64(FileHeader.size))), at: 0), expecting: .log)
            let reader = FrameReader(file, size: size, seed: header.seed)
            var catalog: LogCatalog?
            var found: [StoredTransaction] = []
            _ = try reader.scan(from: .first, allowingGapsTo: header.base) { frame in
                if frame.header.kind == .schema {
                    catalog = LogCatalog(try frame.reading { try $0.schema() }, store: identifier)
                } else if let catalog, frame.header.transaction > number {
                    var collector = NameCollector(catalog: catalog, number: frame.header.transaction)
                    try frame.reading { try $0.transaction(catalog, to: &collector) }
                    if let transaction = collector.transaction { found.append(transaction) }
                    // Twice as many as asked for are held at most, so that none is moved more than once.
                    if let last, found.count > 2 * max(last, 8) { found.removeFirst(found.count - last) }
                }
                return true
            }
            if let last, found.count > last { found.removeFirst(found.count - max(last, 0)) }
            return found
        }
    }
}

/// Collects a transaction's records and names, without its values.
private struct NameCollector: TransactionVisitor {
    let catalog: LogCatalog
    let number: UInt64
    private var origin: TransactionOrigin?
    private var isErasure = false
    private var inserted: [PersistentIdentifier] = []
    private var updated: [StoredTransaction.Update] = []
    private var deleted: [PersistentIdentifier] = []

    init(catalog: LogCatalog, number: UInt64) {
        self.catalog = catalog
        self.number = number
    }

    mutating func begin(_ origin: TransactionOrigin, isErasure: Bool, nextSequence: UInt64) throws {
        self.origin = origin
        self.isErasure = isErasure
    }
    mutating func deleted(_ entity: Int, _ sequence: UInt64, preserved: [(slot: Int, value: StoredValue)]) throws {
        deleted.append(catalog.identifier(entity, sequence))
    }
    mutating func updated(_ entity: Int, _ sequence: UInt64, _ changes: [(slot: Int, value: StoredValue)]) throws {
        let slots = catalog.layouts[entity].slots
        updated.append(
            .init(record: catalog.identifier(entity, sequence), properties: changes.map { slots[$0.slot].name }))
    }
    mutating func inserted(_ entity: Int, _ sequence: UInt64, _ values: ContiguousArray<StoredValue>) throws {
        inserted.append(catalog.identifier(entity, sequence))
    }

    var transaction: StoredTransaction? {
        origin.map { origin in
            StoredTransaction(
                number: number, timestamp: origin.timestamp, author: origin.author, process: origin.process,
                isErasure: isErasure, inserted: inserted.sorted(), updated: updated, deleted: deleted)
        }
    }
}
