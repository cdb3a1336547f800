#if SQLite
import Foundation
import MortiseCore
public import MortiseEngine
import MortiseSQL

/// The container migrates a store in the file itself, or, where a plan has code, by copying it into a file beside it. What is there is
/// then replaced in one transaction, so that other processes keep the file that they have open, and find another schema in it.
extension SQLiteConfiguration: ReplaceableConfiguration {
    /// Whether the store may be changed.
    public var allowsMigration: Bool { allowsSave }
    /// True: what needs no code is done in the file itself.
    public var adaptsWhenOpened: Bool { true }
    /// The same store, without a lock.
    public var readingOnly: SQLiteConfiguration { readOnly() }

    /// The same store, opened alone.
    public var exclusive: SQLiteConfiguration {
        var copy = self
        copy.isExclusive = true
        return copy
    }

    /// Begins a transaction in the file, which nobody else opens for writing until it ends. Code of a plan gets a copy of the records.
    /// - Throws: `SQLiteError`, `.inUse` if somebody has the store open; `MigrationError`.
    public func beginMigration(_ request: MigrationRequest) throws -> any StoreMigration {
        try SQLiteMigration(of: self, request)
    }

    /// Looks at the store, and says whether a copy of the records would be needed.
    /// - Throws: as `beginMigration(_:)`.
    public func previewMigration(_ request: MigrationRequest) throws -> any StoreMigration {
        try SQLitePreview(of: self, try copyingPreview(request))
    }

    /// Reads the file beside the store that says so.
    public func migrationUnderWay() -> MigrationUnderWay? { migrationAdvice.current }

    var migrationAdvice: MigrationAdvice {
        MigrationAdvice(forStoreAt: OpenPlace.absolute(path), in: POSIXFileSystem())
    }

    /// A store beside this one.
    /// - Throws: `SQLiteError`.
    public func sibling() throws -> SQLiteConfiguration {
        let siblingPath = StoreCopies(of: path).sibling
        StoreCopies.remove(siblingPath)
        var sibling = SQLiteConfiguration(
            name, path: siblingPath, durability: durability, busyTimeout: busyTimeout, cacheBytes: cacheBytes,
            readers: readers, walLimit: walLimit, dropping: dropping)
        let connection = try SQLiteConnection(path, .readOnly, busyTimeout: busyTimeout)
        defer { connection.close() }
        // A file with a write-ahead log keeps the size of its pages, and takes only a content of the same.
        sibling.pageSize = try DatabaseCopy.pageSize(connection)
        sibling.permissions = DatabaseCopy.permissions(of: path)
        return sibling
    }

    /// Replaces what the file has by what the sibling has, in one transaction.
    /// - Throws: `MigrationError.changedMeanwhile` if anybody has saved since the store was opened; `SQLiteError`.
    public func replace(with sibling: SQLiteConfiguration, keepingCopy keepsCopy: Bool) throws {
        let target = try SQLiteConnection(path, .readWrite, busyTimeout: busyTimeout)
        defer { target.close() }
        let stored = try StoreMetadata(target)
        let begun = OpenStores.lastTransaction(path: path)
        let copy = keepsCopy ? try StoreCopies(of: path).keep(target) : nil
        do {
            try replace(target, stored, with: sibling, unlessLaterThan: begun)
        } catch {
            // The next attempt makes another one. If it cannot be said that nothing was replaced, the copy stays.
            let now = try? StoreMetadata(target)
            if let copy, now?.schemaNumber == stored.schemaNumber { StoreCopies.remove(copy) }
            throw error
        }
        StoreCopies.remove(sibling.path)
    }

    private func replace(
        _ target: SQLiteConnection, _ stored: StoreMetadata, with sibling: SQLiteConfiguration,
        unlessLaterThan begun: Int64?
    ) throws {
        let source = try SQLiteConnection(sibling.path, .readWrite, busyTimeout: busyTimeout)
        defer { source.close() }
        // The new file has been made by a program that knows its own version.
        var metadata = try StoreMetadata(source)
        metadata.schema = metadata.schema.keepingNames(of: stored.schema)
        try metadata.write(source)
        // Programs that have the old schema open see that it is gone; transactions are not numbered again. What the code has changed is
        // not told, so that the history begins after it, and all tokens have expired.
        try source.run(
            "UPDATE mortise_store SET schemaNumber = ?, lastTransaction = max(lastTransaction, ?) + 1",
            [.integer(stored.schemaNumber + 1), .integer(try StoreMetadata.lastTransaction(target))])
        try source.run("UPDATE mortise_store SET horizon = lastTransaction, horizonMark = NULL, erasure = 0")
        try source.run("DELETE FROM mortise_history")
        try source.run("PRAGMA wal_checkpoint(TRUNCATE)")
        let reader = try SQLiteConnection(path, .readOnly, busyTimeout: busyTimeout)
        defer { reader.close() }
        try target.run("PRAGMA synchronous = FULL")
        try DatabaseCopy.copy(source, into: target) {
            // Nobody else can save from here on.
            guard let begun else { return }
            if try StoreMetadata.lastTransaction(reader) != begun { throw MigrationError.changedMeanwhile(store: name) }
        }
    }

    /// Removes copies of the store as it was before migrations, but the newest ones.
    public func removeCopies(exceptNewest most: Int) {
        StoreCopies(of: path).remove(exceptNewest: most)
    }

    /// The path of the copy with the greatest number.
    public func newestCopy() -> String? { StoreCopies(of: path).newest }

    /// Removes the file of a sibling.
    public func discard(_ sibling: SQLiteConfiguration) { StoreCopies.remove(sibling.path) }
}

extension SQLiteConfiguration: ScratchProviding {
    package func scratch() throws -> any OpenFile {
        try ScratchFile.open(beside: OpenPlace.absolute(path), permissions: 0o600, in: POSIXFileSystem())
    }
}
#endif
