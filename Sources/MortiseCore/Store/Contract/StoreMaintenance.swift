/// The result of a maintenance operation: figures and problems. It has names and numbers, never values of records.
public struct MaintenanceReport: Sendable, Hashable {
    /// A count that a report gives.
    public struct Figure: Sendable, Hashable {
        /// What was counted, in a few words such as "transactions dropped".
        public let name: String
        /// The count.
        public let value: Int64

        /// Makes a figure; `name` is a plural noun such as "records read".
        public init(_ name: String, _ value: Int64) {
            self.name = name
            self.value = value
        }
    }

    /// The counts, in the order of reporting.
    public var figures: [Figure]
    /// The problems, each with its position in the store; empty if the store is sound.
    public var problems: [String]
    /// Remarks that are not problems.
    public var notes: [String]

    /// Makes a report. Without problems the store is sound.
    public init(figures: [Figure] = [], problems: [String] = [], notes: [String] = []) {
        self.figures = figures
        self.problems = problems
        self.notes = notes
    }
}

/// A store that can be checked as a whole without being opened.
public protocol VerifiableConfiguration: DataStoreConfiguration {
    /// Reads everything and lists what is wrong. Changes nothing and takes no lock.
    /// - Throws: the adapter's errors if the store does not exist or cannot be read at all.
    func verifyStore() throws -> MaintenanceReport
}

/// A store that can be made smaller.
public protocol CompactableConfiguration: DataStoreConfiguration {
    /// Drops what the store's configuration does not keep; no record changes. A crash at any moment leaves the store as
    /// it was, or compacted.
    /// - Throws: the adapter's errors. The store's records do not change then either.
    func compactStore() throws -> MaintenanceReport
}

/// A store that can be salvaged when it is damaged.
public protocol SalvageableConfiguration: DataStoreConfiguration {
    /// Writes what can be read into a new store at a path where nothing exists. The damaged store does not change.
    /// - Throws: the adapter's errors, also if nothing can be read or something exists at the path.
    func salvageStore(to path: String) throws -> MaintenanceReport
}

/// A store that people may edit with other programs, and whose checksum can then be renewed.
public protocol ResealableConfiguration: DataStoreConfiguration {
    /// Renews the checksum after checking everything.
    /// - Throws: the first fault found; the store is then unchanged.
    func resealStore() throws -> MaintenanceReport
}

/// A store that can be copied, as of one moment, while others write it.
public protocol BackupConfiguration: DataStoreConfiguration {
    /// Writes a copy, which opens as this store does, to a path where nothing exists. What is wrong among the records and does
    /// not keep the store from opening is copied too, and listed as a problem.
    /// - Throws: the adapter's errors, also if something exists at the path.
    func backUpStore(to path: String) throws -> MaintenanceReport
}
