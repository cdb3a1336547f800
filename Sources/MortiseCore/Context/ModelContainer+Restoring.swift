import Foundation

extension ModelContainer {
    /// Puts the copies that `backUp(to:)` has written in the places of their stores, which nobody may have open for writing.
    ///
    /// Every backup is read whole, and every new store is written beside the old one, before the first store is replaced. What
    /// fails until then leaves all of them as they were, a disk without room among it. Then they are replaced one after the other: a
    /// crash, or an error of the disk, leaves each of them as it was, or as its backup has it. A backup of an earlier schema is
    /// migrated when it is opened; one of a later schema opens in a later program only. Who has the stores open for reading has to
    /// open them again, if they cannot take the change in: an append log's readers cannot. What a store has saved since the backup is gone, and numbers of records
    /// and transactions that it has given since are given again: identifiers and history tokens from then may name others.
    /// - Parameters:
    ///   - configurations: those of the container that was backed up, but for stores in memory.
    ///   - folder: the path of the folder with the copies.
    ///   - replacing: whether stores that exist are replaced.
    /// - Returns: one report for each store, in the order of the configurations.
    /// - Throws: `MaintenanceError.unsupported` for a store that cannot be restored, such as one in memory; `RestoreError`; the
    ///   stores' errors, where another process has one open among them.
    @discardableResult
    public static func restore(
        _ configurations: [any DataStoreConfiguration], from folder: String, replacing: Bool = false
    ) throws -> [StoreReport] {
        let root = URL(fileURLWithPath: folder, isDirectory: true)
        let names = BackupNames(configurations)
        let sources = try configurations.map { configuration in
            guard let target = configuration.capable(of: .restore) else { throw configuration.unsupported(.restore) }
            guard let file = names.existing(of: configuration, in: root) else {
                let path = root.appending(path: names.name(of: configuration)).path(percentEncoded: false)
                throw RestoreError.noBackup(store: configuration.name, path: path)
            }
            return (target, file)
        }
        var reports: [StoreReport?] = Array(repeating: nil, count: sources.count)
        // Each store is replaced when all that come after it are ready, and have been replaced.
        func restore(from index: Int) throws {
            guard index < sources.count else { return }
            let (target, file) = sources[index]
            var outcome: Result<Void, any Error>?
            func restoreOthers() throws {
                let known = outcome ?? Result { try restore(from: index + 1) }
                outcome = known
                try known.get()
            }
            let report = try target.restoreStore(from: file, replacing: replacing, whenReady: restoreOthers)
            reports[index] = StoreReport(target.name, report)
            // Also where the adapter never said that it is ready, or passed over what went wrong then.
            try restoreOthers()
        }
        try restore(from: 0)
        return reports.compactMap(\.self)
    }

    /// Puts the copies that `backUp(to:)` has written in the places of this container's stores, once the container is closed. It
    /// stays closed: make another one to use what was restored. Stores in memory are passed over. A store that had no file when the
    /// backup was made has no copy: restore the others by `restore(_:from:replacing:)`.
    /// - Returns: one report for each store that was restored, in the order of the configurations.
    /// - Throws: `RestoreError.containerIsOpen`; as `restore(_:from:replacing:)`.
    @discardableResult
    public func restore(from folder: String, replacing: Bool = false) throws -> [StoreReport] {
        guard isClosed else { throw RestoreError.containerIsOpen }
        let configurations = storeConfigurations.filter { $0.capable(of: .backUp) != nil }
        if configurations.isEmpty, let first = storeConfigurations.first { throw first.unsupported(.restore) }
        return try Self.restore(configurations, from: folder, replacing: replacing)
    }
}

/// What the copies of a container's stores are called in their folder.
struct BackupNames {
    private let configurations: [any DataStoreConfiguration]

    init(_ configurations: [any DataStoreConfiguration]) {
        self.configurations = configurations.filter { $0.capable(of: .backUp) != nil }
    }

    func name(of configuration: any DataStoreConfiguration) -> String {
        let own = file(of: configuration)
        // Stores in several folders may have files of one name, or of one that a copy of another has for that reason.
        let isTaken = configurations.contains { other in
            other.name != configuration.name && (file(of: other) == own || long(other) == own)
        }
        return isTaken ? long(configuration) : own
    }

    /// The path of a configuration's copy; nil without a copy.
    func existing(of configuration: any DataStoreConfiguration, in root: URL) -> String? {
        // A container with more stores may have written it, and the short name is another's then.
        [long(configuration), name(of: configuration)]
            .map { root.appending(path: $0).path(percentEncoded: false) }
            .first { FileManager.default.fileExists(atPath: $0) }
    }

    private func file(of configuration: any DataStoreConfiguration) -> String {
        let location = (configuration as? any SelfDescribingConfiguration)?.location ?? configuration.name
        return URL(fileURLWithPath: location).lastPathComponent
    }

    private func long(_ configuration: any DataStoreConfiguration) -> String {
        let prefix = configuration.name.replacing("/", with: "-").replacing("\0", with: "-")
        return "\(prefix)-\(file(of: configuration))"
    }
}
