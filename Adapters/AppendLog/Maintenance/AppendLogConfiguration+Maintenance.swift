public import MortiseCore
import MortiseEngine

extension AppendLogConfiguration: MaintainableConfiguration {
    /// All but resealing: nobody edits a log by hand.
    public var maintenance: Set<MaintenanceOperation> { [.verify, .compact, .salvage, .backUp, .restore] }

    /// - Throws: `FileError` where the log cannot be read at all, and where the user may not read external data.
    public func verifyStore() throws -> MaintenanceReport {
        let found = try AppendLogStore.verify(path, in: fileSystem)
        var report = MaintenanceReport(
            figures: [
                .init("transactions", Int64(found.transactions)), .init("records", Int64(found.records)),
                .init("bytes", try storeFiles().reduce(0) { $0 + $1.bytes }),
            ],
            problems: found.problems.map { "\($0)" })
        if found.tornBytes > 0 {
            report.notes.append(
                "\(found.tornBytes) unacknowledged bytes follow the last transaction; opening moves them to a "
                    + "file of their own"
            )
        }
        return report
    }

    /// Writes a checkpoint, and drops the transactions that the configuration does not keep.
    /// - Throws: `FileError`, also `locked`; `AppendLogError`.
    public func compactStore() throws -> MaintenanceReport {
        guard let stored = try storedSchema() else { throw FileError(.notFound, operation: .open, path: path) }
        var configuration = self
        configuration.schema = Schema(stored: stored)
        // One in the background would have dropped what this one is to report.
        configuration.compaction = .onCall
        let store = try AppendLogStore(configuration, migrationPlan: nil)
        let result = Result { try store.compactStore() }
        try store.close()
        return try result.get() ?? MaintenanceReport()
    }

    /// - Throws: `FileError`, `alreadyExists` among them; `AppendLogError` where nothing can be read.
    public func salvageStore(to newPath: String) throws -> MaintenanceReport {
        let found = try AppendLogStore.salvage(path, to: newPath, in: fileSystem)
        return MaintenanceReport(
            figures: [
                .init("records", Int64(found.records)), .init("records left out", Int64(found.leftOut.count)),
                .init("references cleared", Int64(found.clearedReferences)),
                .init("transactions of the history", Int64(found.transactions)),
                .init("unacknowledged bytes at the end", found.tornBytes),
            ],
            problems: found.lost.map { "\($0)" }
                + found.leftOut.map { "\($0) was left out: it conflicts with another record, or needs a missing one" },
            notes: found.hasNewIdentifier
                ? ["the store's identifier could not be recovered; the store and its records have new identifiers"] : []
        )
    }
}
