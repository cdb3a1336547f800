#if SQLite
import Foundation
import MortiseCore
public import MortiseEngine
import MortiseSQL

/// The container migrates a store by copying it into a file beside it. What is there is then replaced in one transaction, so that
/// other processes keep the file that they have open, and find another schema in it.
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

    private var siblingPath: String { path + ".migrating" }

    /// A store beside this one.
    /// - Throws: `SQLiteError`.
    public func sibling() throws -> SQLiteConfiguration {
        remove(siblingPath)
        var sibling = SQLiteConfiguration(
            name, path: siblingPath, durability: durability, busyTimeout: busyTimeout, cacheBytes: cacheBytes,
            readers: readers, walLimit: walLimit, dropping: dropping)
        let connection = try SQLiteConnection(path, .readOnly, busyTimeout: busyTimeout)
        defer { connection.close() }
        // A file with a write-ahead log keeps the size of its pages, and takes only a content of the same.
        sibling.pageSize = try DatabaseCopy.pageSize(connection)
        return sibling
    }

    /// Replaces what the file has by what the sibling has, in one transaction.
    /// - Throws: `MigrationError.changedMeanwhile` if anybody has saved since the store was opened; `SQLiteError`.
    public func replace(with sibling: SQLiteConfiguration, keepingCopy keepsCopy: Bool) throws {
        let target = try SQLiteConnection(path, .readWrite, busyTimeout: busyTimeout)
        defer { target.close() }
        let stored = try StoreMetadata(target)
        let begun = OpenStores.lastTransaction(path: path)
        if keepsCopy { try DatabaseCopy.write(target, to: copyPath()) }
        let source = try SQLiteConnection(sibling.path, .readWrite, busyTimeout: busyTimeout)
        defer { source.close() }
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
        source.close()
        remove(sibling.path)
    }

    private static let copyMark = ".before-migration-"

    private func copyPath() -> String {
        let numbers = copies().map(\.number)
        return path + Self.copyMark + "\((numbers.max() ?? 0) + 1)"
    }

    private func copies() -> [(number: Int, path: String)] {
        let file = URL(fileURLWithPath: path)
        let folder = file.deletingLastPathComponent()
        let beginning = file.lastPathComponent + Self.copyMark
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
        return names.compactMap { name in
            guard name.hasPrefix(beginning), let number = Int(name.dropFirst(beginning.count)) else { return nil }
            return (number, folder.appending(path: name).path(percentEncoded: false))
        }.sorted { $0.number < $1.number }
    }

    /// Removes copies of the store as it was before migrations, but the newest ones.
    public func removeCopies(exceptNewest most: Int) {
        for copy in copies().dropLast(max(most, 0)) { remove(copy.path) }
    }

    /// Removes the file of a sibling.
    public func discard(_ sibling: SQLiteConfiguration) { remove(sibling.path) }

    private func remove(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal", OpeningLock.suffix] { unlink(path + suffix) }
    }
}
#endif
