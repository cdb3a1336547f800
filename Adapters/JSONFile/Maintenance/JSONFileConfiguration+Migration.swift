public import MortiseCore
import MortiseEngine

extension JSONFileConfiguration: MigratableConfiguration {
    /// Whether the configuration allows saving.
    public var allowsMigration: Bool { allowsSave }

    /// Reads the file, without its lock.
    /// - Throws: as opening the store for reading does.
    public func previewMigration() throws -> any StoreMigration {
        // What this process has open is what the file has, too.
        let bytes = try fileSystem.readWhole(path, limit: largestFile).bytes
        let version = try JSONFileError.naming(path) {
            try JSONFile.load(bytes, integrity, try externalFiles()).version
        }
        return EngineMigration(previewing: version, named: name) {}
    }

    /// A copy of the store, and the new text beside the old one: taken to be as long again.
    public func migrationSpace(keepingCopy keepsCopy: Bool) throws -> MigrationSpace? {
        let files = try storeFiles()
        let text = files.first?.bytes ?? 0
        return MigrationSpace(
            needed: files.reduce(0) { $0 + $1.bytes } + text + text / 20,
            free: try fileSystem.freeSpace(at: path))
    }

    /// Takes the lock of the file and reads it. What is prepared is the whole new text, in a temporary file, and a copy of the old file
    /// that stays beside it as `NAME.schema-VERSION-NUMBER`; the switch is a renaming.
    /// - Throws: `MigrationError.openElsewhere`; as opening the store does.
    public func beginMigration() throws -> any StoreMigration { try beginMigration(MigrationRequest()) }

    /// As `beginMigration()`. Until the end, a file beside the store says which process migrates it.
    /// - Throws: as `beginMigration()`.
    public func beginMigration(_ request: MigrationRequest) throws -> any StoreMigration {
        let engine = try openingUnderStoredSchema { stored in
            var configuration = self
            configuration.schema = Schema(stored: stored)
            configuration.isMigrating = true
            do {
                let engine = try OpenJSONFiles.shared.engine(for: configuration, schema: stored)
                if (engine.sink as? JSONFile)?.isUnderOtherSchema != true { return engine }
                try? OpenJSONFiles.shared.close(engine)
                return nil
            } catch EngineError.openWithOtherOptions {
                throw MigrationError.openElsewhere(store: name)
            }
        }
        let advice = try migrationAdvice()
        do {
            let migration = MigrationUnderWay(from: engine.version.catalog.schema.version, to: request.target)
            // Only now: who held the lock until then may have failed, and then removed its own.
            advice.write(try migration.following(advice.current, store: name), permissions: newFilePermissions)
        } catch {
            advice.clear()
            try? OpenJSONFiles.shared.close(engine)
            throw error
        }
        var isWhole = true
        let adapter = EngineMigration.Adapter(
            // The new file has the result whole. What was changed under a schema in between is not told in the history.
            note: { step in if case .changes = step { isWhole = false } },
            prepare: { outcome in
                guard let file = engine.sink as? JSONFile else { throw DataStoreError.unsupportedFeature }
                let (copy, prepared) = try file.prepare(outcome, isWhole: isWhole)
                return .init(
                    copy: copy,
                    commit: {
                        try file.commit(prepared, keeping: copy)
                        if !outcome.loss.isEmpty {
                            StoreEvents.emit(.schemaLoss(store: name, loss: outcome.loss, copy: copy))
                        }
                        if let most = outcome.mostCopies {
                            SchemaChangeover.removeCopies(of: file.path, except: most, newest: copy, in: fileSystem)
                        }
                    }, discard: { file.discard(prepared, copy: copy) })
            },
            release: {
                advice.remove()
                try? OpenJSONFiles.shared.close(engine)
            })
        return EngineMigration(of: engine.version, named: name, adapter)
    }

    /// Reads the file beside the store that says so.
    public func migrationUnderWay() -> MigrationUnderWay? { (try? migrationAdvice())?.current }

    private func migrationAdvice() throws -> MigrationAdvice {
        MigrationAdvice(forStoreAt: try fileSystem.resolvingLinks(path), in: fileSystem)
    }
}
