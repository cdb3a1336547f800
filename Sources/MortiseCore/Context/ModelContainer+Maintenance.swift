import Foundation

/// What one store of a container has.
public struct StoreStatistics: Sendable, Hashable {
    /// The name of the store's configuration.
    public let store: String
    /// Where the store is, such as a path, or `memory`; nil for one that does not tell.
    public let location: String?
    /// The version of the schema.
    public let schemaVersion: Schema.Version
    /// By entity, how many records are exactly of it.
    public let records: [String: Int]
    /// The store's files; empty for one without.
    public let files: [StoreFile]
    /// What an acknowledged save survives; nil for a store that does not tell.
    public let durability: DurabilityGrade?

    /// The records of all entities.
    public var recordCount: Int { records.values.reduce(0, +) }
    /// The bytes of all files.
    public var bytes: Int64 { files.reduce(0) { $0 + $1.bytes } }
}

extension ModelContainer {
    /// What a maintenance operation has found in one store.
    public struct StoreReport: Sendable, Hashable {
        /// The name of the store's configuration.
        public let store: String
        /// Figures and problems.
        public let report: MaintenanceReport
    }

    /// Reads everything that the stores have and lists what is wrong; nothing changes. Others may save meanwhile.
    /// - Returns: one report for each store that can be verified, in the order of the configurations. Stores in memory, and those
    ///   that have no file yet, cannot.
    /// - Throws: `ModelContextError.containerClosed`; the stores' errors for what cannot be read at all, such as a file that is gone.
    public func verify() throws -> [StoreReport] {
        try reports { configuration, _ in try configuration.capable(of: .verify)?.verifyStore() }
    }

    /// Writes a copy of each store, as of one moment, into a folder; others may save meanwhile. Each copy opens as its store
    /// does. Several stores are copied one after the other.
    /// - Parameter folder: the path of the folder, which is made if it does not exist. A copy has the name of its store's file, behind
    ///   that of its configuration where several have that name.
    /// - Returns: one report for each store that can be copied, in the order of the configurations. Stores in memory, and those
    ///   that have no file yet, cannot.
    /// - Throws: `ModelContextError.containerClosed`; the stores' errors, also if a copy's path has something already, or a store's
    ///   file is gone. Copies that were finished before stay.
    @discardableResult
    public func backUp(to folder: String) throws -> [StoreReport] {
        try checkOpen()
        let root = URL(fileURLWithPath: folder, isDirectory: true)
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        let names = BackupNames(storeConfigurations)
        return try reports { configuration, _ in
            guard let source = configuration.capable(of: .backUp) else { return nil }
            let file = root.appending(path: names.name(of: configuration))
            return try source.backUpStore(to: file.path(percentEncoded: false))
        }
    }

    /// Drops what the stores' configurations do not keep, such as old history; no record changes.
    /// - Returns: one report for each store that can be made smaller and changed, in the order of the configurations.
    /// - Throws: `ModelContextError.containerClosed`; the stores' errors.
    @discardableResult
    public func compact() throws -> [StoreReport] {
        try reports { _, connection in
            try connection.calling { $0.allowsSave ? try $0.compactStore() : nil }
        }
    }

    /// The saves of the stores that keep a history, as the descriptor asks: sort order and limit apply to all of them together; without
    /// a sort order, saves are in order of time.
    /// - Throws: `MaintenanceError.unsupported` if no store keeps a history; `ModelContextError.containerClosed`; the stores' errors.
    public func history(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction> = HistoryDescriptor()
    ) throws -> [DefaultHistoryTransaction] {
        do {
            return try ModelContext(self).fetchHistory(descriptor)
        } catch DataStoreError.unsupportedFeature {
            throw MaintenanceError.unsupported(
                .history, store: storeConfigurations.map(\.locationOrName).joined(separator: ", "))
        }
    }

    /// Counts what the stores have. A store without versions is asked for each entity, while others may save.
    /// - Returns: one value for each store, in the order of the configurations.
    /// - Throws: `ModelContextError.containerClosed`; the stores' errors.
    public func statistics() throws -> [StoreStatistics] {
        try checkOpen()
        let context = ModelContext(self)
        return try zip(storeConfigurations, stores).enumerated().map { index, pair in
            let (configuration, connection) = pair
            let described = configuration as? any SelfDescribingConfiguration
            let store = connection.underlying
            var records: [String: Int] = [:]
            if let version = connection.version {
                for entity in store.schema.entities {
                    records[entity.name] = version.rows(ofEntity: entity.name)?.count ?? 0
                }
                try version.check()
            } else {
                for entity in store.schema.entities where storeIndex(ofEntity: entity.name) == index {
                    records[entity.name] = try context.state.storedCount(ofEntity: entity.name)
                }
            }
            return StoreStatistics(
                store: configuration.name, location: described?.location, schemaVersion: store.schema.version,
                records: records, files: try described?.storeFiles() ?? [], durability: described?.durabilityGrade)
        }
    }

    private func reports(
        _ body: (any DataStoreConfiguration, StoreConnection) throws -> MaintenanceReport?
    ) throws -> [StoreReport] {
        try checkOpen()
        return try zip(storeConfigurations, stores).compactMap { configuration, connection in
            // One that has saved nothing yet does not exist outside of this process.
            // A damaged one does, and is for the operation to report.
            if let described = configuration as? any SelfDescribingConfiguration,
                case .success(nil) = Result(catching: { try described.storedSchema() })
            {
                // One whose file is gone knows that it had one.
                try connection.calling { try $0.checkHealth() }
                return nil
            }
            return try body(configuration, connection).map {
                StoreReport(store: configuration.name, report: $0)
            }
        }
    }
}

extension ContextState {
    /// How many records of a store without versions are of an entity and of none that inherits from it.
    fileprivate func storedCount(ofEntity name: String) throws -> Int {
        guard let table = table(named: name) else { return 0 }
        let query = StoreQuery(name, purpose: .count, includesSubentities: false)
        if let (found, plan) = try table.session.answer(query, admitting: { _ in }) {
            return plan.query.window(of: found.count ?? found.identifiers?.count ?? found.rows.count).count
        }
        // Descriptors count subclasses as well.
        func count<T: PersistentModel>(_ type: T.Type) throws -> Int {
            var descriptor = FetchDescriptor<T>()
            descriptor.fullScanPolicy = .allow
            return try fetchCount(descriptor)
        }
        let heirs = container.schema.stored.entities.filter { $0.superentity == name }
        return try heirs.reduce(count(table.layout.type)) { sum, heir in
            try sum - (self.table(named: heir.name).map { try count($0.layout.type) } ?? 0)
        }
    }
}
