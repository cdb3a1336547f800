import Foundation
import MortiseCore
import MortiseEngine

/// All that is wrong with the files of a store.
public struct AppendLogVerification: Sendable {
    public var problems: [AppendLogError] = []
    /// Transactions that can be read.
    public var transactions = 0
    /// Records after the last of them.
    public var records = 0
    /// Bytes behind the last whole frame that were never acknowledged.
    public var tornBytes: Int64 = 0

    public var isSound: Bool { problems.isEmpty }
}

extension AppendLogStore {
    /// Reads every byte of a log, its checkpoint and the files of data that its records name, and lists what is wrong. Changes nothing and takes no lock.
    /// - Throws: `FileError` where the log cannot be read at all.
    public static func verify(
        _ path: String, in fileSystem: any FileSystem = POSIXFileSystem()
    ) throws -> AppendLogVerification {
        let files = ExternalFiles(beside: try fileSystem.resolvingLinks(path), in: fileSystem)
        return try verify(path, in: fileSystem) { $0.checkFiles(files, noting: &$1) }
    }

    /// - Parameter check: gets the records, to look at the files of data that they name.
    static func verify(
        _ path: String, in fileSystem: any FileSystem,
        files check: (_ records: ReplayTables, _ problems: inout [AppendLogError]) throws -> Void
    ) throws -> AppendLogVerification {
        var survey = LogSurvey(path: path, fileSystem: fileSystem)
        try survey.run()
        var result = AppendLogVerification(
            problems: survey.problems, transactions: survey.transactions, records: survey.tables?.count ?? 0,
            tornBytes: survey.tornBytes)
        if let checkpoint = survey.checkpointAtEnd, survey.isComplete, survey.hasWholeCheckpoint,
            let tables = survey.tables,
            !tables.hasSameRecords(as: checkpoint)
        {
            result.problems.append(
                AppendLogError(
                    path: path + LogOpening.checkpointSuffix,
                    fault: .malformed(offset: 0, what: "has other records than the log")))
        }
        if let tables = survey.tables { try check(tables, &result.problems) }
        return result
    }
}

extension ReplayTables {
    func error(_ fault: ExternalFileFault, _ entity: Int, _ sequence: UInt64, _ slot: Int) -> AppendLogError {
        AppendLogError(
            path: fault.path,
            fault: .damagedValue(
                entity: catalog.names[entity], property: catalog.layouts[entity].slots[slot].name, record: sequence,
                reason: fault.reason))
    }

    /// Reads the files of data that the records name, and notes what is wrong with each.
    fileprivate func checkFiles(_ files: ExternalFiles, noting problems: inout [AppendLogError]) {
        forEachFile { entity, sequence, slot, reference in
            do throws(ExternalFileFault) {
                try files.check(reference)
            } catch {
                problems.append(self.error(error, entity, sequence, slot))
            }
        }
    }

    /// Calls the body for each value that is in a file of its own.
    func forEachFile(
        _ body: (_ entity: Int, _ sequence: UInt64, _ slot: Int, _ reference: ExternalReference) throws -> Void
    ) rethrows {
        try forEach { entity, sequence, values in
            for slot in catalog.storedSlots[entity]
            where catalog.layouts[entity].slots[slot].property.attribute?.kind == .data {
                if let reference = ExternalReference(storedForm: values[slot]) {
                    try body(entity, sequence, slot, reference)
                }
            }
        }
    }
}

/// Reads as much of a store's files as can be read.
struct LogSurvey {
    let path: String
    let fileSystem: any FileSystem
    private(set) var problems: [AppendLogError] = []
    private(set) var transactions = 0
    private(set) var tornBytes: Int64 = 0
    /// The records as far as they could be followed.
    private(set) var tables: ReplayTables?
    /// What the checkpoint has, with the log's transactions behind it.
    private(set) var checkpointAtEnd: ReplayTables?
    /// Whether the log alone makes the records.
    private(set) var isComplete = true
    /// Whether all of the checkpoint can be read.
    private(set) var hasWholeCheckpoint = false

    init(path: String, fileSystem: any FileSystem) {
        self.path = path
        self.fileSystem = fileSystem
    }

    mutating func run() throws {
        let file = try fileSystem.open(path, mode: .read)
        defer { try? file.close() }
        let size = try file.info().size
        let header: FileHeader
        do {
            header = try FileHeader(try file.readAll(count: Int(min(size, 64)), at: 0), expecting: .log)
        } catch {
            note(error)
            return
        }
        isComplete = header.base == 0
        let reader = FrameReader(file, size: size, seed: header.seed)
        var checkpoint = try readCheckpoint(header) ?? salvageCheckpoint(header)
        checkpointAtEnd = checkpoint?.takeTables()
        try follow(reader, header, checkpoint)
        if !isComplete, var found = checkpointAtEnd, let checkpoint {
            // What is left of the history may have what the checkpoint has lost.
            let names = found.catalog.names
            if let tables { found.add(tables) { checkpoint.mayHaveHad(names[$0], $1) } }
            checkpointAtEnd = found
            tables = found
        }
    }

    private mutating func note(_ fault: any Error, of path: String? = nil) {
        if let fault = fault as? LogFault {
            problems.append(AppendLogError(path: path ?? self.path, fault: fault))
        } else if let fault = fault as? PayloadFault {
            problems.append(
                AppendLogError(
                    path: path ?? self.path, fault: .malformed(offset: Int64(fault.offset), what: fault.what)))
        } else {
            problems.append(AppendLogError(path: path ?? self.path, fault: .malformed(offset: 0, what: "\(fault)")))
        }
    }

    /// The checkpoint, whole.
    private mutating func readCheckpoint(_ header: FileHeader) throws -> CheckpointSalvage? {
        let found: CheckpointContent
        do {
            guard
                let content = try CheckpointContent.read(
                    checkpointPath, of: header, external: external, in: fileSystem)
            else {
                if header.base > 0 { note(LogFault.checkpointMissing(transaction: header.base)) }
                return nil
            }
            found = content
        } catch {
            note(error, of: checkpointPath)
            return nil
        }
        do {
            let tables = try found.tables()
            for what in found.version.inconsistencies() {
                note(LogFault.malformed(offset: 0, what: what), of: checkpointPath)
            }
            hasWholeCheckpoint = true
            return CheckpointSalvage(found, tables)
        } catch let error as AppendLogError {
            problems.append(error)
            return nil
        }
    }

    /// As much of the checkpoint as can be read.
    private mutating func salvageCheckpoint(_ header: FileHeader) -> CheckpointSalvage? {
        guard
            let found = try? CheckpointContent.salvage(
                checkpointPath, of: header, external: external, in: fileSystem)
        else { return nil }
        for case let problem as AppendLogError in found.problems where !problems.contains(problem) {
            problems.append(problem)
        }
        return found
    }

    private var checkpointPath: String { path + LogOpening.checkpointSuffix }
    /// Stands for files that nobody reads here.
    private var external: ExternalFiles { ExternalFiles(beside: path, in: fileSystem) }

    /// Reads frame after frame, and where one is damaged goes on at the next that is not.
    private mutating func follow(_ reader: FrameReader, _ header: FileHeader, _ checkpoint: CheckpointSalvage?) throws {
        var position = LogPosition.first
        var catalog: LogCatalog?
        while true {
            var last = position
            do {
                let scan = try reader.scan(from: position, allowingGapsTo: header.base) { frame in
                    read(frame, header, checkpoint, &catalog)
                    last = frame.position.following(frame.header)
                    return true
                }
                if case .torn(let bytes) = scan.end { tornBytes = bytes }
                return
            } catch {
                note(error)
                isComplete = false
                guard let next = try reader.nextFrame(behind: last.offset) else { return }
                position = next
            }
        }
    }

    private mutating func read(
        _ frame: ScannedFrame, _ header: FileHeader, _ checkpoint: CheckpointSalvage?, _ catalog: inout LogCatalog?
    ) {
        let isBehindCheckpoint = checkpoint?.isFollowed(by: frame) ?? false
        do {
            if frame.header.kind == .schema {
                let schema = try frame.reading { try $0.schema() }
                catalog = LogCatalog(schema, store: header.store.uuidString)
                if tables == nil { tables = catalog.map { ReplayTables($0) } } else { try tables?.migrate(to: schema) }
                if isBehindCheckpoint { try checkpointAtEnd?.migrate(to: schema) }
                return
            }
            let behind = isBehindCheckpoint ? checkpointAtEnd?.catalog : nil
            guard frame.header.kind.isTransaction, catalog != nil || behind != nil else {
                throw LogFault.malformed(offset: frame.position.offset, what: "does not belong there")
            }
            transactions += 1
            if let catalog {
                var lenient = LenientReplay(tables: tables ?? ReplayTables(catalog), isStrict: isComplete)
                tables = nil
                defer { tables = lenient.tables }
                try frame.reading { try $0.transaction(catalog, to: &lenient) }
            }
            if let behind, let found = checkpointAtEnd.take() {
                var lenient = LenientReplay(tables: found, isStrict: isComplete && hasWholeCheckpoint)
                defer { checkpointAtEnd = lenient.tables }
                try frame.reading { try $0.transaction(behind, to: &lenient) }
            }
        } catch {
            note(error)
            isComplete = false
        }
    }
}

extension FrameReader {
    /// The next header that verifies behind a place, as the position to go on at.
    fileprivate func nextFrame(behind offset: Int64) throws -> LogPosition? {
        var place = offset + 8
        while size - place >= Int64(FrameHeader.size) {
            let isMarker = try withBytes(at: place, count: 4) {
                $0.loadUnaligned(as: UInt32.self).littleEndian == FrameHeader.marker
            }
            if isMarker, let header = try header(at: place) {
                return LogPosition(
                    end: place, sequence: header.sequence,
                    transaction: header.kind.isTransaction
                        ? header.transaction - min(1, header.transaction) : header.transaction)
            }
            place += 8
        }
        return nil
    }
}

/// Applies what can be applied, and passes over what refers to records that are not there.
struct LenientReplay: TransactionVisitor {
    var tables: ReplayTables
    let isStrict: Bool

    private mutating func attempt(_ body: (inout ReplayTables) throws -> Void) throws {
        do {
            try body(&tables)
        } catch {
            if isStrict { throw error }
        }
    }

    mutating func begin(_ origin: TransactionOrigin, isErasure: Bool, nextSequence: UInt64) throws {
        try attempt { try $0.begin(origin, isErasure: isErasure, nextSequence: nextSequence) }
    }
    mutating func deleted(_ entity: Int, _ sequence: UInt64, preserved: [(slot: Int, value: StoredValue)]) throws {
        try attempt { try $0.deleted(entity, sequence, preserved: preserved) }
    }
    mutating func updated(_ entity: Int, _ sequence: UInt64, _ changes: [(slot: Int, value: StoredValue)]) throws {
        try attempt { try $0.updated(entity, sequence, changes) }
    }
    mutating func inserted(_ entity: Int, _ sequence: UInt64, _ values: ContiguousArray<StoredValue>) throws {
        try attempt { try $0.inserted(entity, sequence, values) }
    }
}
