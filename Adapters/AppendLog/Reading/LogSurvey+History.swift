import Foundation
import MortiseCore
import MortiseEngine

extension LogSurvey {
    /// Copies the readable transactions, with their schemas, into a log as its history.
    /// - Parameters:
    ///   - base: the last transaction to copy. Those whose numbers do not ascend are left out.
    ///   - schema: the store's last schema. After a gap that may have held a schema, transactions are skipped until the
    ///     next schema; before the base, where nothing shows that, only if the schema before the gap is not the last
    ///     one.
    ///   - frames: the writer of the new log.
    /// - Returns: how many transactions were copied, and the schema of the last one.
    /// - Throws: `FileError`.
    func copyHistory(
        upTo base: UInt64, _ schema: StoredSchema, into frames: inout FrameWriter
    ) throws -> (count: Int, schema: StoredSchema?) {
        guard let (header, seed) = log else { return (0, nil) }
        let file = try fileSystem.open(path, mode: .read)
        defer { try? file.close() }
        let reader = FrameReader(file, size: try file.info().size, seed: seed)
        var current: (catalog: LogCatalog, payload: [UInt8])?
        var writtenSchema: StoredSchema?
        var last: UInt64 = 0
        var seen: UInt64 = 0
        var count = 0
        var failure: (any Error)?
        var written = frames
        _ = try forEachFrame(reader, header, nil, keepingWhole: true) { frame in
            guard failure == nil else { return }
            seen = frame.header.transaction
            if frame.header.kind == .schema {
                let found = try? frame.reading { try $0.schema() }
                current = found.map { (LogCatalog($0, store: header.store.uuidString), Array(frame.payload)) }
                return
            }
            if frame.header.kind == .migration, current == nil {
                current = lastSchema(of: frame, store: header.store.uuidString)
                return
            }
            let number = frame.header.transaction
            guard frame.header.kind.isTransaction, number > last, number <= base, let (catalog, payload) = current
            else { return }
            var following = (catalog: catalog, payload: payload)
            guard (try? read(frame, &following)) != nil else {
                // What comes after it is under another schema than what comes before.
                if frame.header.kind == .migration { current = lastSchema(of: frame, store: header.store.uuidString) }
                return
            }
            do {
                if writtenSchema != catalog.schema { try written.append(.schema, payload) }
                try written.append(frame.header.kind, frame.payload, transaction: number)
                writtenSchema = following.catalog.schema
                current = following
                last = number
                count += 1
            } catch {
                failure = error
            }
        } damaged: { gap in
            if gap.losesSchema || seen < header.base && current?.catalog.schema != schema { current = nil }
        }
        if let failure { throw failure }
        frames = written
        return (count, writtenSchema)
    }

    /// The schema after a migration; nil if it cannot be read.
    private func lastSchema(
        of frame: ScannedFrame, store: String
    ) -> (catalog: LogCatalog, payload: [UInt8])? {
        guard let part = try? frame.parts().last(where: { $0.header.kind == .schema }),
            let schema = try? part.reading({ try $0.schema() })
        else { return nil }
        return (LogCatalog(schema, store: store), Array(part.payload))
    }

    /// Reads a transaction, or the parts of a migration, to see that it can be read. `current` is the schema in force, before and
    /// after it.
    /// - Throws: why it cannot be read.
    private func read(_ frame: ScannedFrame, _ current: inout (catalog: LogCatalog, payload: [UInt8])) throws {
        for part in try frame.parts() {
            if part.header.kind == .schema {
                let schema = try part.reading { try $0.schema() }
                current = (LogCatalog(schema, store: current.catalog.store), Array(part.payload))
            } else {
                var ignored = IgnoredRecords()
                try part.reading { [catalog = current.catalog] in try $0.transaction(catalog, to: &ignored) }
            }
        }
    }
}
