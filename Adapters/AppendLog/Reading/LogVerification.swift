import Foundation
import MortiseCore
import MortiseEngine

/// All that is wrong with the files of a store.
public struct AppendLogVerification: Sendable {
    /// What is wrong, in the order in which it was found; empty for a sound store.
    public var problems: [AppendLogError] = []
    /// Transactions that can be read.
    public var transactions = 0
    /// Records after the last of them.
    public var records = 0
    /// The number of bytes after the last whole frame; none was ever acknowledged.
    public var tornBytes: Int64 = 0

    /// Whether nothing is wrong.
    public var isSound: Bool { problems.isEmpty }
}

extension AppendLogStore {
    /// Reads every byte of a log, its checkpoint and the files of data that its records name, and lists what is wrong.
    /// Changes nothing and takes no lock.
    ///
    /// Of a sound store it holds what opening it holds, and the checkpoint. Where it finds damage it holds the records row
    /// by row besides, which takes more. What looks like damage is read again if the files have changed meanwhile: a
    /// checkpoint or a compaction may have come between the reading of one and of the other.
    /// - Throws: `FileError` where the log cannot be read at all, and where the user may not read external data.
    public static func verify(
        _ path: String, in fileSystem: any FileSystem = POSIXFileSystem()
    ) throws -> AppendLogVerification {
        let files = try StoreFiles.log(path, in: fileSystem)
        let external = ExternalFiles(beside: files.main, in: fileSystem)
        var attempts = 1
        while true {
            let mark = try Self.mark(of: files, in: fileSystem)
            let result = Result { try verify(files.main, in: fileSystem) { try external.check($0) } }
            if case .success(let found) = result, found.isSound { return found }
            if attempts == 5 { return try result.get() }
            if try Self.mark(of: files, in: fileSystem) == mark { return try result.get() }
            attempts += 1
        }
    }

    /// What changes with the files.
    private static func mark(of files: StoreFiles, in fileSystem: any FileSystem) throws(FileError) -> [FileIdentity?] {
        [
            try fileSystem.infoIfPresent(files.main, followingLinks: true)?.identity,
            try fileSystem.infoIfPresent(files.checkpoint, followingLinks: true)?.identity,
        ]
    }

    /// Verifies a log with its checkpoint. `check` looks at an external file that a record names; an
    /// `ExternalFileFault` that it throws becomes a problem of that record.
    static func verify(
        _ path: String, in fileSystem: any FileSystem, files check: (ExternalReference) throws -> Void
    ) throws -> AppendLogVerification {
        let sound: Result<SoundReading, any Error> = Result { try SoundReading(path, in: fileSystem) }
        switch sound {
        case .success(let sound):
            var result = AppendLogVerification(
                problems: sound.inconsistencies.map {
                    AppendLogError(
                        path: path, fault: .malformed(part: .log, offset: nil, what: "contradicts itself: \($0)"))
                },
                transactions: sound.transactions, records: sound.records, tornBytes: sound.tornBytes)
            try sound.version?.forEachReference { table, slot, row, reference in
                do {
                    try check(reference)
                } catch let fault as ExternalFileFault {
                    try fault.throwIfDenied()
                    result.problems.append(AppendLogError(sound.version?.error(fault, table, slot, row), fault))
                }
            }
            return result
        case .failure(let fault):
            var survey = LogSurvey(path: path, fileSystem: fileSystem)
            try survey.run()
            // What makes opening fail is a problem, also where everything can be read nevertheless.
            if survey.problems.isEmpty { survey.note(fault) }
            var result = AppendLogVerification(
                problems: survey.problems, transactions: survey.transactions, records: survey.tables?.count ?? 0,
                tornBytes: survey.tornBytes)
            try survey.tables?.forEachFile { entity, sequence, slot, reference in
                do {
                    try check(reference)
                } catch let fault as ExternalFileFault {
                    try fault.throwIfDenied()
                    if let tables = survey.tables {
                        result.problems.append(tables.error(fault, entity, sequence, slot))
                    }
                }
            }
            return result
        }
    }
}

extension AppendLogError {
    init(_ error: ExternalValueError?, _ fault: ExternalFileFault) {
        self.init(
            path: fault.path,
            fault: .damagedValue(
                entity: error?.entity ?? "", property: error?.property ?? "", record: error?.record.sequenceNumber ?? 0,
                reason: fault.reason))
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

    /// Calls the body for each external value.
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
