import Foundation
public import MortiseCore
import MortiseEngine

extension AppendLogConfiguration: TransparentConfiguration {
    /// The answer keeps at least this many of the latest parts of a record.
    private static let mostParts = 1_000

    /// What each transaction in the log says of the record, as it is written there. What the checkpoint has is not among it: that keeps
    /// values by columns, together with those of other records. It reads the whole log.
    /// - Throws: `FileError`; `AppendLogError` for damage.
    public func storedParts(of record: PersistentIdentifier, limit: Int) throws -> [StoredPart] {
        guard let sequence = record.sequenceNumber else { return [] }
        let log = try StoreFiles(path, in: fileSystem).main
        let file = try fileSystem.open(log, mode: .read)
        defer { try? file.close() }
        let size = try file.info().size
        return try AppendLogError.naming(log) {
            let header = try FileHeader(
                try file.readAll(count: Int(min(size, Int64(FileHeader.size))), at: 0), expecting: .log)
            let reader = FrameReader(file, size: size, seed: header.seed)
            var catalog: LogCatalog?
            var parts: [StoredPart] = []
            _ = try reader.scan(from: .first, allowingGapsTo: header.base) { frame in
                if frame.header.kind == .schema {
                    catalog = LogCatalog(try frame.reading { try $0.schema() }, store: record.storeIdentifier ?? "")
                } else if let catalog, frame.header.kind.isTransaction {
                    for (what, range) in try frame.reading({ try $0.places(ofRecord: sequence, catalog) }) {
                        parts.append(
                            StoredPart(
                                name: "transaction \(frame.header.transaction), \(what)", place: log,
                                offset: frame.offset(of: range.lowerBound),
                                bytes: Data(frame.payload[range].prefix(max(limit, 0))),
                                byteCount: Int64(range.count)))
                    }
                    // Of a record that was changed again and again, the latest are enough.
                    if parts.count > 2 * Self.mostParts { parts.removeFirst(parts.count - Self.mostParts) }
                }
                return true
            }
            return parts
        }
    }
}
