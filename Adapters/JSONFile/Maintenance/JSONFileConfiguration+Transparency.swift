import Foundation
public import MortiseCore
import MortiseEngine

extension JSONFileConfiguration: TransparentConfiguration {
    /// The text of the record in the file, whose place a text editor finds. It reads the file up to there.
    /// - Throws: `FileError`; `JSONFileError`.
    public func storedParts(of record: PersistentIdentifier, limit: Int) throws -> [StoredPart] {
        guard let sequence = record.sequenceNumber else { return [] }
        let bytes = try fileSystem.readWhole(path, limit: largestFile).bytes
        return try JSONFileError.naming(path) {
            try bytes.withUnsafeBytes { buffer in
                guard let range = try StoreDocumentReader(buffer, integrity: integrity).range(ofRecord: sequence) else {
                    return []
                }
                return [
                    StoredPart(
                        name: "record", place: path, offset: Int64(range.lowerBound), kind: "JSON",
                        bytes: Data(buffer[range].prefix(max(limit, 0))), byteCount: Int64(range.count))
                ]
            }
        }
    }
}
