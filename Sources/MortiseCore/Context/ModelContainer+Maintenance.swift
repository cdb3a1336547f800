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
    /// What a maintenance operation has come to in one store.
    public struct StoreReport: Sendable, Hashable {
        /// Why nothing was done with a store.
        public enum PassedOver: String, Sendable, Hashable, Codable, CaseIterable {
            /// Its kind of store cannot do that, as a store in memory cannot be copied.
            case unsupported
            /// It has saved nothing yet, so that there is no file.
            case nothingStored
            /// It is open for reading only.
            case readOnly
        }

        /// The name of the store's configuration.
        public let store: String
        /// Figures and problems; empty for a store that was passed over.
        public let report: MaintenanceReport
        /// Why nothing was done with the store; nil if it was done.
        public let passedOver: PassedOver?

        init(_ store: String, _ report: MaintenanceReport) {
            (self.store, self.report, passedOver) = (store, report, nil)
        }
        init(_ store: String, passedOver: PassedOver) {
            (self.store, report, self.passedOver) = (store, MaintenanceReport(), passedOver)
        }
    }

    /// Reads everything that the stores have and lists what is wrong; nothing changes. Others may save meanwhile.
    /// - Returns: one report for each store, in the order of the configurations. Stores that cannot be verified, such as those in memory,
    ///   and those that have no file yet, are passed over: see `StoreReport.passedOver`.
    /// - Throws: `MaintenanceError.unsupported` if no store can be verified; `ModelContextError.containerClosed`; the stores' errors for
    ///   what cannot be read at all, such as a file that is gone.
    public func verify() throws -> [StoreReport] {
        try checkOpen()
        try checkSupport(for: .verify)
        return try reports { configuration, _ in
            try configuration.capable(of: .verify).map { StoreReport(configuration.name, try $0.verifyStore()) }
        }
    }

    /// Writes a copy of each store, as of one moment, into a folder; others may save meanwhile. Each copy opens as its store
    /// does. Several stores are copied one after the other.
    /// - Parameter folder: the path of the folder, which is made if it does not exist. A copy has the name of its store's file, behind
    ///   that of its configuration where another copy would have that name, too.
    /// - Returns: one report for each store, in the order of the configurations. Stores that cannot be copied, such as those in memory,
    ///   and those that have no file yet, are passed over: see `StoreReport.passedOver`.
    /// - Throws: `MaintenanceError.unsupported` if no store can be copied, `.folderNotMade`; `ModelContextError.containerClosed`; the
    ///   stores' errors, also if a copy's path has something already, or a store's file is gone. Copies that were finished before stay.
    @discardableResult
    public func backUp(to folder: String) throws -> [StoreReport] {
        try checkOpen()
        try checkSupport(for: .backUp)
        let root = URL(fileURLWithPath: folder, isDirectory: true)
        do {
            try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        } catch {
            throw MaintenanceError.folderNotMade(path: folder, fault: MaintenanceError.FolderFault(error))
        }
        let names = BackupNames(storeConfigurations)
        return try reports { configuration, _ in
            guard let source = configuration.capable(of: .backUp) else { return nil }
            let file = root.appending(path: names.name(of: configuration))
            return StoreReport(configuration.name, try source.backUpStore(to: file.path(percentEncoded: false)))
        }
    }

    /// Drops what the stores' configurations do not keep, such as old history; no record changes.
    /// - Returns: one report for each store, in the order of the configurations. Stores that cannot be made smaller while they are open,
    ///   that have no file yet, or that are open for reading only, are passed over: see `StoreReport.passedOver`.
    /// - Throws: `ModelContextError.containerClosed`; the stores' errors.
    @discardableResult
    public func compact() throws -> [StoreReport] {
        try checkOpen()
        return try reports { configuration, connection in
            try connection.calling { store in
                if !store.allowsSave { return StoreReport(configuration.name, passedOver: .readOnly) }
                return try store.compactStore().map { StoreReport(configuration.name, $0) }
            }
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

    /// A copy that nobody has made looks like one until it is needed.
    /// - Throws: `MaintenanceError.unsupported` if no store can do that.
    private func checkSupport(for operation: MaintenanceOperation) throws {
        if storeConfigurations.contains(where: { $0.capable(of: operation) != nil }) { return }
        throw MaintenanceError.unsupported(
            operation, store: storeConfigurations.map(\.locationOrName).joined(separator: ", "))
    }

    private func reports(
        _ body: (any DataStoreConfiguration, StoreConnection) throws -> StoreReport?
    ) throws -> [StoreReport] {
        try zip(storeConfigurations, stores).map { configuration, connection in
            // One that has saved nothing yet does not exist outside of this process.
            // A damaged one does, and is for the operation to report.
            if let described = configuration as? any SelfDescribingConfiguration, configuration.keepsFiles,
                case .success(nil) = Result(catching: { try described.storedSchema() })
            {
                // One whose file is gone knows that it had one.
                try connection.calling { try $0.checkHealth() }
                return StoreReport(configuration.name, passedOver: .nothingStored)
            }
            return try body(configuration, connection) ?? StoreReport(configuration.name, passedOver: .unsupported)
        }
    }
}

extension DataStoreConfiguration {
    /// Whether there is anything that an operation on files may find: a store in memory never saves one.
    fileprivate var keepsFiles: Bool { capable(of: .verify) != nil || capable(of: .backUp) != nil }
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
