#if SQLite
import Foundation
public import MortiseCore
import MortiseSQL

extension SQLiteConfiguration: MaintainableConfiguration {
    /// Verifying, compacting, backing up while others write, and restoring.
    public var maintenance: Set<MaintenanceOperation> { [.verify, .compact, .backUp, .restore] }

    private func connection(_ mode: SQLiteConnection.Mode = .readOnly) throws -> SQLiteConnection {
        guard SQLiteOpening.exists(path) else { throw SQLiteError(path, .missing) }
        return try SQLiteConnection(path, mode, busyTimeout: busyTimeout)
    }

    /// Checks all pages and indexes, all references, and all values.
    /// - Throws: `SQLiteError` for a file that cannot be read at all.
    public func verifyStore() throws -> MaintenanceReport {
        let connection = try connection()
        defer { connection.close() }
        let metadata = try StoreMetadata(connection)
        var report = MaintenanceReport()
        do {
            try connection.run("PRAGMA integrity_check(100)") { row in
                if let text = row.text(0), text != "ok" { report.problems.append(text) }
            }
            try connection.run("PRAGMA foreign_key_check") { row in
                guard report.problems.count < 200 else { return }
                report.problems.append(
                    "record \(row.integer(1)) of \(row.text(0) ?? "a table") refers to a missing one of \(row.text(2) ?? "another")"
                )
            }
        } catch let error as SQLiteError {
            report.problems.append(error.fault.description)
        }
        let mapping = TableMapping(metadata.schema, metadata.catalog)
        var count: Int64 = 0
        for (name, entities) in mapping.tables {
            let decoding = RecordDecoding(entities.map(\.number), mapping)
            do {
                try connection.run("SELECT \(decoding.columns) FROM \(SQLName.quoted(name)) t0") { row in
                    count += 1
                    // Records of entities that the schema lacks are not of this program.
                    guard
                        mapping.byNumber[Int(clamping: row.integer(1))] != nil
                            || mapping.catalog.entities.allSatisfy({
                                $0.number != Int(clamping: row.integer(1))
                            })
                    else { return }
                    do {
                        _ = try decoding.record(row, store: metadata.identifier, path: path)
                        if let property = decoding.propertyWithOtherKey(row), report.problems.count < 200 {
                            report.problems.append(
                                "\(property) of record \(row.integer(0)) of \(name) is not the value that queries compare: "
                                    + "save it again")
                        }
                    } catch let error as SQLiteError where report.problems.count < 200 {
                        report.problems.append(error.fault.description)
                    }
                }
            } catch let error as SQLiteError {
                report.problems.append("\(name): \(error.fault)")
            }
        }
        try verifyNumbers(connection, mapping, &report)
        try verifyHistory(connection, &report)
        report.figures = [
            .init("records", count), .init("bytes", try storeFiles().reduce(0) { $0 + $1.bytes }),
        ]
        return report
    }

    /// The next record gets a number that no other has.
    private func verifyNumbers(
        _ connection: SQLiteConnection, _ mapping: TableMapping, _ report: inout MaintenanceReport
    ) throws {
        do {
            // Others may save meanwhile.
            try connection.transaction(writes: false) {
                var next: Int64 = 1
                try connection.run("SELECT s.nextNumber FROM mortise_store s") {
                    next = try StoreMetadata.number($0, 0, "nextNumber", path)
                }
                _ = try StoreMetadata.lastTransaction(connection)
                for (name, _) in mapping.tables {
                    try connection.run("SELECT max(t.\"id\") FROM \(SQLName.quoted(name)) t") { row in
                        guard row.integer(0) >= max(next, 1) else { return }
                        report.problems.append(
                            "\(name) has the record \(row.integer(0)), and the next one would be \(next)")
                    }
                }
            }
        } catch let error as SQLiteError {
            report.problems.append(error.fault.description)
        }
    }

    /// What is wrong in the history concerns no record.
    private func verifyHistory(_ connection: SQLiteConnection, _ report: inout MaintenanceReport) throws {
        do {
            try connection.run(
                "SELECT h.n, h.kind, h.changes, (SELECT s.nextNumber FROM mortise_store s) FROM mortise_history h "
                    + "ORDER BY h.n"
            ) { row in
                let kind = row.number(1).flatMap(UInt8.init(exactly:)).flatMap(HistoryEntry.Kind.init)
                guard report.notes.count < 100 else { return }
                if kind == .stub { return }
                if case .blob(let changes)? = row.value(2), kind != nil,
                    HistoryChanges(changes, below: row.number(3) ?? .max) != nil
                {
                    return
                }
                report.notes.append("Transaction \(row.integer(0)) of the history cannot be read.")
            }
        } catch let error as SQLiteError {
            report.notes.append("The history cannot be read: \(error.fault)")
        }
    }

    /// Gives the space of deleted records back. Nobody may write meanwhile.
    /// - Throws: `SQLiteError`.
    public func compactStore() throws -> MaintenanceReport {
        let before = try storeFiles().reduce(0) { $0 + $1.bytes }
        let connection = try connection(.readWrite)
        _ = try StoreMetadata(connection)
        defer { connection.close() }
        try connection.run("VACUUM")
        try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
        return MaintenanceReport(figures: [
            .init("bytes before", before), .init("bytes after", try storeFiles().reduce(0) { $0 + $1.bytes }),
        ])
    }

    /// Copies the file as of one moment, while others read and write it.
    /// - Throws: `SQLiteError`, also if something exists at the path.
    public func backUpStore(to path: String) throws -> MaintenanceReport {
        let connection = try connection()
        defer { connection.close() }
        _ = try StoreMetadata(connection)
        try DatabaseCopy.write(connection, to: path)
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
        return MaintenanceReport(figures: [.init("bytes", size?.int64Value ?? 0)])
    }

    /// Puts a backup in the store's place, in one transaction.
    /// - Throws: `RestoreError`; `SQLiteError`; what `ready` throws.
    public func restoreStore(
        from path: String, replacing: Bool, whenReady ready: () throws -> Void
    ) throws -> MaintenanceReport {
        var backup = self
        guard allowsSave else { throw RestoreError.readOnly(store: name) }
        guard SQLiteOpening.exists(path) else { throw RestoreError.noBackup(store: name, path: path) }
        let isThere = SQLiteOpening.exists(self.path)
        if isThere, try FileIdentity(path) == FileIdentity(self.path) { throw RestoreError.backupIsStore(path: path) }
        if isThere, !replacing { throw RestoreError.storeExists(location: self.path) }
        backup = SQLiteConfiguration(name, path: path, allowsSave: false, busyTimeout: busyTimeout)
        let report: MaintenanceReport
        let source: SQLiteConnection
        let metadata: StoreMetadata
        do {
            report = try backup.verifyStore()
            source = try SQLiteConnection(path, .readOnly, busyTimeout: busyTimeout)
            metadata = try StoreMetadata(source)
        } catch let error as SQLiteError {
            throw RestoreError.damagedBackup(path: path, reason: "\(error.fault)")
        }
        defer { source.close() }
        if let problem = report.problems.first {
            throw RestoreError.damagedBackup(path: path, reason: problem.hasSuffix(".") ? problem : problem + ".")
        }
        guard isThere else {
            let new = StoreCopies.temporary(for: self.path)
            defer { StoreCopies.remove(new) }
            try DatabaseCopy.make(source, at: new)
            try ready()
            // Others may have made a store meanwhile, which stays.
            guard try SQLiteOpening.name(new, self.path) else {
                throw RestoreError.storeExists(location: self.path)
            }
            try DatabaseCopy.syncFolder(of: self.path)
            return report
        }
        // Nobody else has the store open for writing until the end.
        let lock = try OpeningLock.ofOpening(self.path, isExclusive: true)
        defer { lock.release() }
        let target: SQLiteConnection
        do {
            target = try connection(.readWrite)
            let found = try StoreMetadata(target)
            if found.identifier != metadata.identifier {
                target.close()
                throw RestoreError.otherStore(
                    location: self.path, found: found.identifier, backup: metadata.identifier)
            }
        } catch let error as SQLiteError where error.errorClass == .damaged {
            try replaceFile(with: source, whenReady: ready)
            return report
        }
        defer { target.close() }
        // A file with a write-ahead log keeps the size of its pages.
        if try DatabaseCopy.pageSize(source) != DatabaseCopy.pageSize(target) {
            try target.run("PRAGMA journal_mode = DELETE")
        }
        try target.run("PRAGMA synchronous = FULL")
        try DatabaseCopy.copy(source, into: target, check: ready)
        return report
    }

    /// Replaces a file that cannot be read: a copy is made beside it, and takes its name.
    private func replaceFile(with source: SQLiteConnection, whenReady ready: () throws -> Void) throws {
        let new = StoreCopies.temporary(for: path)
        defer { StoreCopies.remove(new) }
        try DatabaseCopy.make(source, at: new, inPlaceOf: path)
        try ready()
        // With the log of the old file beside it, the new one would be damaged.
        let old = StoreCopies.temporary(for: path)
        var moved: [String] = []
        func moveBack() { for suffix in moved { rename(old + suffix, path + suffix) } }
        for suffix in ["-wal", "-shm"] where rename(path + suffix, old + suffix) == 0 { moved.append(suffix) }
        do {
            // Also after a power cut the log is gone before the new file is there.
            try DatabaseCopy.syncFolder(of: path)
        } catch {
            moveBack()
            throw error
        }
        guard rename(new, path) == 0 else {
            let code = errno
            moveBack()
            throw SQLiteError(
                path, .engine(code: .ofSystem(code), message: "the file cannot be replaced: \(systemText(code))"))
        }
        for suffix in moved { unlink(old + suffix) }
        try DatabaseCopy.syncFolder(of: path)
    }
}

extension SQLiteStore {
    /// Writes the log into the file, and gives the space of deleted records back to the system.
    /// - Throws: `SQLiteError`.
    public func compactStore() throws -> MaintenanceReport? {
        try pool.writing { connection in
            _ = try check(connection)
            let before = try configuration.storeFiles().reduce(0) { $0 + $1.bytes }
            try connection.run("VACUUM")
            try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
            return MaintenanceReport(figures: [
                .init("bytes before", before),
                .init("bytes after", try configuration.storeFiles().reduce(0) { $0 + $1.bytes }),
            ])
        }
    }
}
#endif
