import Foundation
import MortiseAppendLog
public import MortiseCore
import MortiseEngine
import MortiseJSONFile

extension ModelConfiguration {
    fileprivate typealias FileConfiguration = MaintainableConfiguration & MigratableConfiguration
        & SelfDescribingConfiguration

    /// What opens the file; nil for a store in memory.
    fileprivate var file: (any FileConfiguration)? {
        get throws {
            if isStoredInMemoryOnly { return nil }
            return switch try DefaultStore.file(of: self) {
            case .json(let file): file
            case .log(let file): file
            }
        }
    }

    /// - Throws: `DataStoreError.unsupportedFeature` for a store in memory.
    fileprivate var requiredFile: any FileConfiguration {
        get throws {
            guard let file = try file else { throw DataStoreError.unsupportedFeature }
            return file
        }
    }

    /// What opens the file, for an operation with the whole store.
    /// - Throws: `MaintenanceError.unsupported` for a store in memory.
    private func file(for operation: MaintenanceOperation) throws -> any FileConfiguration {
        guard let file = try file else { throw unsupported(operation) }
        return file
    }
}

extension ModelConfiguration: MaintainableConfiguration {
    /// Verifying, backing up and restoring, and what else the store in the file can do; nothing for a store in memory.
    public var maintenance: Set<MaintenanceOperation> {
        if isStoredInMemoryOnly { return [] }
        // One that cannot be examined is for the operations to report.
        return (try? file)?.maintenance ?? [.verify, .backUp, .restore]
    }

    /// Reads all of the store in the file and lists what is wrong.
    /// - Throws: its errors; `MaintenanceError.unsupported` for a store in memory.
    public func verifyStore() throws -> MaintenanceReport { try file(for: .verify).verifyStore() }

    /// Drops what the store in the file does not keep, while nobody has it open for writing.
    /// - Throws: its errors; `MaintenanceError.unsupported` for a store in memory.
    public func compactStore() throws -> MaintenanceReport { try file(for: .compact).compactStore() }

    /// Writes what can be read of the store in the file to a path where nothing exists.
    /// - Throws: its errors; `MaintenanceError.unsupported` for a store in memory, and in a JSON file.
    public func salvageStore(to path: String) throws -> MaintenanceReport {
        try file(for: .salvage).salvageStore(to: path)
    }

    /// Renews the seal of the store in the file.
    /// - Throws: its errors; `MaintenanceError.unsupported` for a store in memory, and in a log.
    public func resealStore() throws -> MaintenanceReport { try file(for: .reseal).resealStore() }

    /// Writes a copy of the store in the file, as of one moment, to a path where nothing exists.
    /// - Throws: its errors; `MaintenanceError.unsupported` for a store in memory.
    public func backUpStore(to path: String) throws -> MaintenanceReport {
        try file(for: .backUp).backUpStore(to: path)
    }

    /// Puts a backup in the place of the store, which is of the backup's kind then.
    /// - Throws: `RestoreError`; its errors; `MaintenanceError.unsupported` for a store in memory.
    public func restoreStore(
        from path: String, replacing: Bool, whenReady ready: () throws -> Void
    ) throws -> MaintenanceReport {
        if isStoredInMemoryOnly { throw unsupported(.restore) }
        guard allowsSave else { throw RestoreError.readOnly(store: name) }
        guard FileManager.default.fileExists(atPath: path) else { throw RestoreError.noBackup(store: name, path: path) }
        let isJSON = try DefaultStore.isJSON(path)
        let isThere = FileManager.default.fileExists(atPath: url.path(percentEncoded: false))
        if isThere, replacing, try DefaultStore.isOfOtherKind(url.path(percentEncoded: false), thanJSON: isJSON) {
            // The files of the other kind would stay beside it.
            throw RestoreError.otherStore(
                location: location, found: isJSON ? "an append log" : "a JSON file",
                backup: isJSON ? "a JSON file" : "an append log")
        }
        if !isThere {
            try url.makeFolder()
        }
        switch DefaultStore.file(of: self, asJSON: isJSON) {
        case .json(let file): return try file.restoreStore(from: path, replacing: replacing, whenReady: ready)
        case .log(let file): return try file.restoreStore(from: path, replacing: replacing, whenReady: ready)
        }
    }
}

extension ModelConfiguration: SelfDescribingConfiguration {
    /// The same store for reading only.
    public func readOnly() -> ModelConfiguration {
        if isStoredInMemoryOnly { return self }
        var result = ModelConfiguration(
            name, schema: schema, url: url, allowsSave: false, cloudKitDatabase: cloudKitDatabase)
        result.dropping = dropping
        return result
    }

    /// The path of the file; `memory` for a store in memory.
    public var location: String { isStoredInMemoryOnly ? "memory" : url.path(percentEncoded: false) }

    /// The files of the store; empty for a store in memory.
    /// - Throws: the errors of the store in the file.
    public func storeFiles() throws -> [StoreFile] { try file?.storeFiles() ?? [] }

    /// The room where the file is; nil for a store in memory.
    /// - Throws: the errors of the store in the file.
    public func freeSpace() throws -> Int64? { try file?.freeSpace() }

    /// That of the store in the file; `process` for a store in memory, and where the file cannot be examined.
    public var durabilityGrade: DurabilityGrade { (try? requiredFile)?.durabilityGrade ?? .process }

    /// True: the store itself compares the schemas.
    public var checksStoredSchema: Bool { true }
}

extension ModelConfiguration: MigratableConfiguration {
    /// The room that a migration of the file takes.
    /// - Throws: what the store in the file throws.
    public func migrationSpace(keepingCopy keepsCopy: Bool) throws -> MigrationSpace? {
        try file?.migrationSpace(keepingCopy: keepsCopy)
    }

    /// The schema of the file; nil if it does not exist yet, and for a store in memory.
    /// - Throws: what the store in the file throws.
    public func storedSchema() throws -> StoredSchema? { try file?.storedSchema() }

    /// Whether the configuration allows saving.
    public var allowsMigration: Bool { allowsSave }

    /// Begins a migration of the file.
    /// - Throws: what the store in the file throws; `DataStoreError.unsupportedFeature` for a store in memory.
    public func beginMigration() throws -> any StoreMigration { try requiredFile.beginMigration() }

    /// As `beginMigration()`, with what the container knows of the models.
    /// - Throws: as `beginMigration()`.
    public func beginMigration(_ request: MigrationRequest) throws -> any StoreMigration {
        try requiredFile.beginMigration(request)
    }

    /// What a process says that migrates the file.
    public func migrationUnderWay() -> MigrationUnderWay? { (try? requiredFile)?.migrationUnderWay() }

    /// Begins a migration that is never committed.
    /// - Throws: as `beginMigration()`.
    public func previewMigration() throws -> any StoreMigration { try requiredFile.previewMigration() }
}
