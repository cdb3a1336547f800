import Foundation
import MortiseCore
public import MortiseEngine

/// What a salvage could and could not bring over.
public struct AppendLogSalvage: Sendable {
    /// Records in the new store.
    public var records = 0
    /// Transactions in the new store's history: those that could be read.
    public var transactions = 0
    /// What could not be read, and frames of kinds that are not known, which are not carried over.
    public var lost: [AppendLogError] = []
    /// The number of unacknowledged bytes at the end of the log, or of bytes that look like that.
    public var tornBytes: Int64 = 0
    /// Whether the store's identifier was lost, so that the new store and its records have new ones.
    public var hasNewIdentifier = false
    /// Records that were dropped because another record has their unique values, or because a record or value that they
    /// require is missing.
    public var leftOut: [PersistentIdentifier] = []
    /// The number of references that were cleared because their record is missing, or does not refer back although the two
    /// are each other's inverse.
    public var clearedReferences = 0
}

extension AppendLogStore {
    /// Writes what can be read of a damaged store into a new one: the records, which keep their identifiers, and the
    /// transactions of the history, which keep their numbers. The old files stay as they are. Data whose file is missing
    /// or damaged is dropped: the value is null, or empty if the property is required.
    ///
    /// The history lists what was saved, not what the salvage dropped. No number that a lost record or transaction
    /// may have had is given to another one.
    /// - Throws: `FileError` (`alreadyExists` if something exists at the new path, `permissionDenied` if the user may not read
    ///   external data); `AppendLogError` if nothing can be
    ///   read; `EngineError` if the schema itself does not admit the records. Files begun at the new path are then
    ///   removed, except an empty folder of data.
    public static func salvage(
        _ path: String, to newPath: String, in fileSystem: any FileSystem = POSIXFileSystem()
    ) throws -> AppendLogSalvage {
        let source = try StoreFiles.log(path, in: fileSystem)
        let info = try fileSystem.info(source.main, followingLinks: true)
        let place = try NewLogPlace(newPath, permissions: info.permissions, in: fileSystem)
        do {
            let result = try salvage(source, to: place.files, info, in: fileSystem)
            place.lock.release()
            return result
        } catch {
            place.lock.abandon(in: fileSystem)
            throw error
        }
    }

    private static func salvage(
        _ source: StoreFiles, to target: StoreFiles, _ info: FileInfo, in fileSystem: any FileSystem
    ) throws -> AppendLogSalvage {
        let path = source.main
        var survey = LogSurvey(path: path, fileSystem: fileSystem)
        try survey.run()
        if let contradiction = try survey.findContradiction() {
            if contradiction.fault == .checkpointOfAnother {
                survey.note(contradiction)
            } else {
                survey = LogSurvey(path: path, fileSystem: fileSystem, contradiction: contradiction)
                try survey.run()
            }
        }
        var result = AppendLogSalvage(lost: survey.problems)
        result.lost += survey.laterFrames
        result.hasNewIdentifier = survey.hasLostIdentifier
        result.tornBytes = survey.tornBytes
        guard var tables = survey.takeTables(), let store = UUID(uuidString: tables.catalog.store) else {
            // What keeps everything from being read says more than where it begins.
            let reason = survey.problems.first { if case .schemaMissing = $0.fault { true } else { false } }
            throw reason ?? survey.problems.first ?? AppendLogError(path: path, fault: .notALog)
        }
        // An empty store would look as if there had been nothing.
        if tables.count == 0, !survey.isComplete, let problem = survey.problems.first { throw problem }
        tables.clearWhatDoesNotFit(&result)
        let copies = ExternalFiles(beside: target.main, permissions: info.permissions, in: fileSystem)
        copies.identify(store.uuidString)
        copies.removeUnfinishedMarks()
        var copied: [ExternalReference.Name] = []
        do {
            try tables.copyFiles(
                from: ExternalFiles(beside: path, in: fileSystem), to: copies, &copied,
                losing: &result.lost)
            try write(&tables, of: survey, store, to: target, info, &result, in: fileSystem)
        } catch {
            // If another process has made a store there meanwhile, its records may refer to them.
            if (error as? FileError)?.reason != .alreadyExists { copies.abandon(copied) }
            throw error
        }
        return result
    }

    /// Writes the records and the history as a log and its checkpoint; leaves neither where it fails.
    private static func write(
        _ tables: inout ReplayTables, of survey: LogSurvey, _ store: UUID, to target: StoreFiles, _ info: FileInfo,
        _ result: inout AppendLogSalvage, in fileSystem: any FileSystem
    ) throws {
        var base = survey.lastTransaction
        if !result.lost.isEmpty || result.tornBytes > 0 {
            // A record takes a byte at least, a transaction a header.
            let bytes = UInt64(clamping: info.size)
            tables.skipNumbers(bytes)
            base = min(base + bytes / UInt64(FrameHeader.size), EngineVersion.numberLimit - 2)
        }
        base = max(base, 1)
        let catalog = LogCatalog(tables.catalog.schema, store: store.uuidString)
        let version = try tables.soundVersion(base, &result)
        // Everything is in the version now.
        tables = ReplayTables(catalog)
        result.records = version.tables.values.reduce(0) { $0 + $1.count }
        let header = FileHeader(kind: .log, store: store, base: base)
        let checkpoint = CheckpointWriter(catalog: catalog, version: version, store: store)
        var begun: [String] = []
        do {
            let log = DurableReplacement(of: target.main, newFilePermissions: info.permissions, in: fileSystem)
            try log.replace(isNew: true) { file in
                var frames = try FrameWriter(header, to: file)
                let (count, schema) = try survey.copyHistory(upTo: base, catalog.schema, into: &frames)
                result.transactions = count
                if schema != catalog.schema { try frames.append(.schema, try catalog.schemaPayload()) }
                frames.skip(to: base)
                // So that after a crash the next process sees what the checkpoint belongs to.
                try file.sync(.data)
                begun.append(target.checkpoint)
                try checkpoint.write(
                    to: target.checkpoint, places: [.init(log: header.file, position: frames.position)],
                    permissions: info.permissions, in: fileSystem)
                begun.append(target.main)
            }
        } catch {
            // Half a store would block the next attempt. What another process has put there stays.
            if (error as? FileError)?.reason == .alreadyExists { begun.removeAll { $0 == target.main } }
            for file in begun { try? fileSystem.unlink(file) }
            throw error
        }
    }
}

extension ReplayTables {
    mutating func remove(_ record: PersistentIdentifier) {
        guard let entity = catalog.numbers[record.entityName], let sequence = record.sequenceNumber else { return }
        try? deleted(entity, sequence, preserved: [])
    }

    /// Clears references to records that are not there, that none of the kind may lead to, or that have to refer back and do
    /// not; and sets values that have to be there to their defaults. Records that cannot be without what they lack are left
    /// out, and what refers to them is cleared in turn.
    fileprivate mutating func clearWhatDoesNotFit(_ result: inout AppendLogSalvage) {
        var check = SalvageCheck(self)
        forEach { entity, sequence, values in check.look(at: values, entity, sequence, in: self) }
        // Each further round looks only at what the one before concerns: a chain of required references has as many rounds as
        // links.
        var referrers: [PersistentIdentifier: [PersistentIdentifier]]?
        while !check.isEmpty {
            let found = check.take()
            for change in found.changes { try? updated(change.entity, change.sequence, [(change.slot, change.value)]) }
            for record in found.removed { remove(record) }
            result.clearedReferences += found.cleared
            result.leftOut += found.removed.sorted()
            var concerned = found.released
            if !found.removed.isEmpty {
                let known = referrers ?? self.referrers()
                referrers = known
                for record in found.removed { concerned.formUnion(known[record] ?? []) }
            }
            for record in concerned {
                guard let entity = catalog.numbers[record.entityName], let sequence = record.sequenceNumber,
                    let values = values(entity, sequence)
                else { continue }
                check.look(at: values, entity, sequence, in: self)
            }
        }
    }

    /// The records that refer to each record.
    private func referrers() -> [PersistentIdentifier: [PersistentIdentifier]] {
        var found: [PersistentIdentifier: [PersistentIdentifier]] = [:]
        forEach { entity, sequence, values in
            let record = catalog.identifier(entity, sequence)
            for slot in catalog.storedSlots[entity]
            where catalog.layouts[entity].slots[slot].property.relationship != nil {
                for target in values[slot].targets { found[target, default: []].append(record) }
            }
        }
        return found
    }

    /// The version with these records but for those that contradict others.
    fileprivate mutating func soundVersion(_ number: UInt64, _ result: inout AppendLogSalvage) throws -> EngineVersion {
        while true {
            do {
                return try version(number, schema: catalog.schema)
            } catch EngineError.notUnique {
                let found = try duplicates()
                for record in found { remove(record) }
                result.leftOut += found
            } catch EngineError.unfitValue(let entity, let property, let record, let value) {
                guard contains(record) else {
                    throw EngineError.unfitValue(entity: entity, property: property, record: record, found: value)
                }
                remove(record)
                result.leftOut.append(record)
            }
            clearWhatDoesNotFit(&result)
        }
    }

    /// Copies the files of data that the records name; values whose files are at fault are left out.
    fileprivate mutating func copyFiles(
        from files: ExternalFiles, to copies: ExternalFiles, _ copied: inout [ExternalReference.Name],
        losing: inout [AppendLogError]
    ) throws {
        var lost: [(entity: Int, sequence: UInt64, slot: Int)] = []
        var hasCopies = false
        try forEachFile { entity, sequence, slot, reference in
            do {
                try copies.copy(reference, from: files, noting: &copied)
                hasCopies = true
            } catch let fault as ExternalFileFault {
                try fault.throwIfDenied()
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
