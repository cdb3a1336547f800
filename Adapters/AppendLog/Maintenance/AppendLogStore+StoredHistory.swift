import Foundation
public import MortiseCore
import MortiseEngine

extension AppendLogStore {
    /// Reads the log as it is now, also what other processes have appended since the store was opened.
    /// - Throws: `FileError`; `AppendLogError` for damage.
    public func storedTransactions(after number: UInt64, last: Int?) throws -> [ChangeSet]? {
        let file = try configuration.fileSystem.open(opened.path, mode: .read)
        defer { try? file.close() }
        let size = try file.info().size
        return try AppendLogError.naming(opened.path) {
            let header = try FileHeader(
                try file.readAll(count: Int(min(size, Int64(FileHeader.size))), at: 0), expecting: .log)
            let reader = FrameReader(file, size: size, seed: header.seed)
            var catalog: LogCatalog?
            var found: [ChangeSet] = []
            _ = try reader.scan(from: .first, allowingGapsTo: header.base) { frame in
                if frame.header.kind == .schema {
                    catalog = LogCatalog(try frame.reading { try $0.schema() }, store: identifier)
                } else if let catalog, frame.header.transaction > number {
                    var collector = ChangeCollector(catalog: catalog, keepsValues: false)
                    try frame.reading { try $0.transaction(catalog, to: &collector) }
                    if let transaction = collector.takeTransaction(frame.header.transaction) {
                        found.append(transaction)
                    }
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
