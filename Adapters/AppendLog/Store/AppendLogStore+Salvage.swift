import Foundation
import MortiseCore
public import MortiseEngine

/// What a salvage could and could not bring over.
public struct AppendLogSalvage: Sendable {
    /// Records in the new store.
    public var records = 0
    /// Transactions that could be read. They are not carried over: the history of the new store begins with the salvage.
    public var forgottenTransactions = 0
    /// What could not be read, and frames of kinds that are not known, which are not carried over.
    public var lost: [AppendLogError] = []
    /// How many bytes at the end of the log were left of what was never acknowledged, or look like it.
    public var tornBytes: Int64 = 0
    /// Whether nothing says any more what the store's identifier was, so that it and its records have new ones.
    public var hasNewIdentifier = false
    /// Records that were left out because others have their unique values, or are required and not there.
    public var leftOut: [PersistentIdentifier] = []
    /// How many references to records that are not there were cleared.
    public var clearedReferences = 0
}

extension AppendLogStore {
    /// Writes the records that can be read of a damaged store into a new one, in which they keep their identifiers. The
    /// history is not carried over: that of the new store begins with the salvage. The old files stay as they are. Data whose file is at fault are left out: the value is null there, or empty where there has to be one.
    /// - Throws: `FileError` (`alreadyExists` where there is something at the new path); `AppendLogError` where nothing
    ///   can be read.
    public static func salvage(
        _ path: String, to newPath: String, in fileSystem: any FileSystem = POSIXFileSystem()
    ) throws -> AppendLogSalvage {
        for taken in [newPath, newPath + LogOpening.checkpointSuffix]
        where try fileSystem.infoIfPresent(taken, followingLinks: false) != nil {
            throw FileError(.alreadyExists, operation: .replace, path: taken)
        }
        var survey = LogSurvey(path: path, fileSystem: fileSystem)
        try survey.run()
        var result = AppendLogSalvage(lost: survey.problems)
        result.lost += survey.laterFrames
        result.hasNewIdentifier = survey.hasLostIdentifier
        result.forgottenTransactions = survey.transactions
        result.tornBytes = survey.tornBytes
        guard var tables = survey.takeTables(), let store = UUID(uuidString: tables.catalog.store) else {
            // What keeps everything from being read says more than where it begins.
            let reason = survey.problems.first { if case .schemaMissing = $0.fault { true } else { false } }
            throw reason ?? survey.problems.first ?? AppendLogError(path: path, fault: .notALog)
        }
        // An empty store would look as if there had been nothing.
        if tables.count == 0, !survey.isComplete, let problem = survey.problems.first { throw problem }
        result.clearedReferences = tables.clearDanglingReferences(leavingOut: &result.leftOut)
        try tables.copyFiles(
            from: ExternalFiles(beside: try fileSystem.resolvingLinks(path), in: fileSystem),
            to: ExternalFiles(beside: try fileSystem.resolvingLinks(newPath), in: fileSystem), losing: &result.lost)
        let schema = tables.catalog.schema
        var version: EngineVersion?
        while version == nil {
            do {
                version = try tables.version(1, schema: schema)
            } catch EngineError.notUnique(_, _, let record, _) {
                result.leftOut.append(record)
                tables.remove(record)
                result.clearedReferences += tables.clearDanglingReferences(leavingOut: &result.leftOut)
            }
        }
        guard let version else { return result }
        // Everything is in the version now.
        tables = ReplayTables(LogCatalog(schema, store: store.uuidString))
        let lock = try FileLock(forStoreAt: newPath, in: fileSystem)
        defer { lock.release() }
        let origin = TransactionOrigin(
            timestamp: Date(), author: "salvage", process: ProcessInfo.processInfo.processName, bundle: "")
        let catalog = LogCatalog(schema, store: store.uuidString)
        let empty = EngineVersion.empty(Catalog(schema: schema, storeIdentifier: catalog.store))
        try DurableReplacement(of: newPath, in: fileSystem).replace { file in
            var frames = try FrameWriter(FileHeader(kind: .log, store: store), to: file)
            try frames.append(.schema, try catalog.schemaPayload())
            var number: UInt64 = 0
            // Not in one, which would have to be held whole; nobody sees the store before the last of them is there.
            try version.forEachPiece(of: 4_096) { records in
                var changes = CommittedChanges()
                changes.inserted = records
                var payload = ByteWriter(capacity: 1 << 16)
                try payload.transaction(changes, from: empty, to: version, origin: origin, catalog: catalog)
                number += 1
                try frames.append(
                    payload.hasFiles ? .transactionWithFiles : .transaction, payload.bytes, transaction: number)
                result.records += records.count
            }
        }
        return result
    }
}

extension ReplayTables {
    mutating func remove(_ record: PersistentIdentifier) {
        guard let entity = catalog.numbers[record.entityName], let sequence = record.sequenceNumber else { return }
        try? deleted(entity, sequence, preserved: [])
    }

    /// Clears references to records that are not there; records that require one are left out, and what refers to them is
    /// cleared in turn.
    fileprivate mutating func clearDanglingReferences(leavingOut: inout [PersistentIdentifier]) -> Int {
        var cleared = 0
        while true {
            var changes: [(entity: Int, sequence: UInt64, slot: Int, value: StoredValue)] = []
            var removed: Set<PersistentIdentifier> = []
            forEach { entity, sequence, values in
                for slot in catalog.storedSlots[entity] {
                    switch values[slot] {
                    case .identifier(let target) where !contains(target):
                        if catalog.layouts[entity].slots[slot].property.isOptional {
                            changes.append((entity, sequence, slot, .null))
                        } else {
                            removed.insert(catalog.identifier(entity, sequence))
                        }
                    case .identifiers(let targets) where !targets.allSatisfy(contains):
                        changes.append((entity, sequence, slot, .identifiers(targets.filter(contains))))
                    default: break
                    }
                }
            }
            for change in changes { try? updated(change.entity, change.sequence, [(change.slot, change.value)]) }
            for record in removed { remove(record) }
            cleared += changes.count
            leavingOut += removed.sorted()
            if removed.isEmpty { return cleared }
        }
    }

    /// Copies the files of data that the records name; values whose files are at fault are left out.
    fileprivate mutating func copyFiles(
        from files: ExternalFiles, to copies: ExternalFiles, losing: inout [AppendLogError]
    ) throws {
        var lost: [(entity: Int, sequence: UInt64, slot: Int)] = []
        var hasCopies = false
        try forEachFile { entity, sequence, slot, reference in
            do {
                try copies.copy(reference, from: files)
                hasCopies = true
            } catch let fault as ExternalFileFault {
                losing.append(error(fault, entity, sequence, slot))
                lost.append((entity, sequence, slot))
            }
        }
        for (entity, sequence, slot) in lost {
            let isOptional = catalog.layouts[entity].slots[slot].property.isOptional
            try updated(entity, sequence, [(slot, isOptional ? .null : .data(Data()))])
        }
        if hasCopies { try copies.makeDurable() }
    }
}

extension EngineVersion {
    /// Hands over the records in pieces of so many at most; once with none where there are none.
    fileprivate func forEachPiece(of count: Int, _ body: ([PersistentIdentifier]) throws -> Void) rethrows {
        var piece: [PersistentIdentifier] = []
        var isFirst = true
        for name in LogCatalog(catalog.schema, store: catalog.storeIdentifier).names {
            guard let table = tables[name] else { continue }
            for row in 0..<table.endRow where table.contains(row: row) {
                piece.append(table.identifier(ofRow: row))
                guard piece.count == count else { continue }
                try body(piece)
                isFirst = false
                piece.removeAll(keepingCapacity: true)
            }
        }
        if !piece.isEmpty || isFirst { try body(piece) }
    }
}
