/// What looking after a store brought to light: figures and faults. Names and numbers, never values of records.
public struct MaintenanceReport: Sendable, Hashable {
    public struct Figure: Sendable, Hashable {
        /// In a few words, such as "transactions dropped".
        public let name: String
        public let value: Int64

        public init(_ name: String, _ value: Int64) {
            self.name = name
            self.value = value
        }
    }

    public var figures: [Figure]
    /// Each with its place; none where all is well.
    public var problems: [String]
    /// What is worth knowing and no fault.
    public var notes: [String]

    public init(figures: [Figure] = [], problems: [String] = [], notes: [String] = []) {
        self.figures = figures
        self.problems = problems
        self.notes = notes
    }
}

/// A store that can be checked whole without being opened.
public protocol VerifiableConfiguration: DataStoreConfiguration {
    /// Reads everything and lists what is wrong. Changes nothing and takes no lock.
    /// - Throws: the adapter's errors where there is nothing to check or it cannot be read at all.
    func verifyStore() throws -> MaintenanceReport
}

/// A store that can be made smaller.
public protocol CompactableConfiguration: DataStoreConfiguration {
    /// Drops what the store's configuration does not keep; no record changes. A crash at any moment leaves the store as it
    /// was or compacted.
    func compactStore() throws -> MaintenanceReport
}

/// A store of which something can be saved when it is damaged.
public protocol SalvageableConfiguration: DataStoreConfiguration {
    /// Writes what can be read into a new store at a path, which holds nothing yet. The damaged one stays as it is.
    func salvageStore(to path: String) throws -> MaintenanceReport
}

/// A store that people may edit with other programs, and whose checksum is then made anew.
public protocol ResealableConfiguration: DataStoreConfiguration {
    /// Checks everything first; a fault is thrown, and the store is as it was.
    func resealStore() throws -> MaintenanceReport
}

/// A store that can be copied, as of one moment, while others write it.
public protocol BackupConfiguration: DataStoreConfiguration {
    /// Writes a copy that opens as this store does to a path, where there is nothing yet.
    func backUpStore(to path: String) throws -> MaintenanceReport
}
