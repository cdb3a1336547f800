import Foundation
import Logging

extension DataStoreConfiguration {
    /// Does what needs the store's lock, after a migration that another container is carrying out.
    /// - Parameters:
    ///   - patience: how long to wait for that migration.
    ///   - hasMigrated: whether this container has just migrated the store: one that waited for that may have opened it first, and is
    ///     waited for as well, for a second.
    ///   - logger: gets a notice when this begins to wait.
    ///   - body: is called again while the store is locked and another container says that it migrates the store, and for a second
    ///     after that: a container that has migrated a store opens it next.
    /// - Returns: what the body returns.
    /// - Throws: `MigrationError.migrationInProgress`; `CancellationError`; what the body throws.
    func waiting<R>(
        _ patience: Duration, hasMigrated: Bool = false, _ logger: Logger, _ body: () throws -> R
    ) throws -> R {
        var end: ContinuousClock.Instant?
        var ofMigration = hasMigrated ? ContinuousClock.now : nil
        while true {
            do {
                return try body()
            } catch {
                guard let classified = error as? any ClassifiedStoreError,
                    [.locked, .busy].contains(classified.errorClass)
                else { throw error }
                if case MigrationError.stageFailed = error { throw error }
                let now = ContinuousClock.now
                guard let migration = (self as? any MigratableConfiguration)?.migrationUnderWay() else {
                    // Who has migrated the store opens it next, and may close it at once.
                    guard let ended = ofMigration, now < ended + .seconds(1) else { throw error }
                    Thread.sleep(forTimeInterval: 0.01)
                    continue
                }
                ofMigration = now
                if end == nil {
                    // In the code of a stage this thread would wait for itself.
                    end = MigrationMeter.isMigrating ? now : now + max(.zero, patience)
                    if patience > .zero, !MigrationMeter.isMigrating {
                        logger.notice("waiting for a migration", metadata: ["store": "\(name)", "by": "\(migration)"])
                    }
                }
                if let end, now >= end { throw MigrationError.migrationInProgress(store: name, migration: migration) }
                try MigrationMeter.Reporting.checkCancellation()
                // Nobody tells when a lock of another process is free.
                Thread.sleep(forTimeInterval: 0.01)
            }
        }
    }
}
