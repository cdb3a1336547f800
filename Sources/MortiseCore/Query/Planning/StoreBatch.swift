/// One change that a store makes to many records in one transaction, without their being read first.
public struct StoreBatch: Sendable, Hashable, Codable {
    /// Which records are changed.
    public enum Selection: Sendable, Hashable, Codable {
        /// Those for which all conjuncts of the query hold. It has no offset, limit or order, and the store's own plan for
        /// it claims every conjunct as exact.
        case query(StoreQuery)
        /// Those named, which all were there in the version `baseVersion`.
        case records([PersistentIdentifier])
    }

    /// A property and what it becomes.
    public struct Assignment: Sendable, Hashable, Codable {
        /// An attribute, or a to-one relationship whose inverse is none.
        public let property: QueryProperty
        /// Evaluated for each record as it was before the batch; for a relationship an identifier or null.
        public let value: QueryExpression

        public init(property: QueryProperty, value: QueryExpression) {
            self.property = property
            self.value = value
        }
    }

    public enum Change: Sendable, Hashable, Codable {
        /// The records are removed, and whatever their delete rules say happens to the records related to them.
        case delete
        /// Every assignment is made in every record. No property is assigned twice.
        case update([Assignment])
    }

    public var selection: Selection
    public var change: Change
    /// Goes into the store's history.
    public var author: String?
    /// The number of the version in which the selection was made; a store that has moved on since throws
    /// `VersionSuperseded` and changes nothing. Nil where any version will do.
    public var baseVersion: UInt64?

    public init(_ selection: Selection, _ change: Change, author: String? = nil, baseVersion: UInt64? = nil) {
        self.selection = selection
        self.change = change
        self.author = author
        self.baseVersion = baseVersion
    }
}

/// What a batch did.
public struct StoreBatchResult: Sendable, Hashable {
    /// How many records were selected, whether or not they differ afterwards.
    public var count: Int
    /// The records whose values differ afterwards, those included from which references to deleted ones were cleared.
    public var updated: [PersistentIdentifier]
    /// The records that are gone.
    public var deleted: [PersistentIdentifier]
    /// How many rows the store looked at to find those that match; nil where it does not say.
    public var scanned: Int?
    /// How the store found the rows, in its own words, where that was decided after planning; nil for what the plan says.
    public var detail: String?
    /// Whether every row was looked at, where that was decided after planning; nil for what the plan says.
    public var isFullScan: Bool?

    public init(
        count: Int, updated: [PersistentIdentifier] = [], deleted: [PersistentIdentifier] = [], scanned: Int? = nil,
        detail: String? = nil, isFullScan: Bool? = nil
    ) {
        self.count = count
        self.updated = updated
        self.deleted = deleted
        self.scanned = scanned
        self.detail = detail
        self.isFullScan = isFullScan
    }
}

/// A store that carries out batches itself.
///
/// The framework asks `plan(_:)` with the purpose `update` or `delete`. Where every conjunct is claimed as exact the store
/// gets the query; otherwise the framework finds the records and names them. A batch is all or nothing, obeys the
/// schema's constraints as a save does, and is as durable as a save when it returns.
public protocol BatchChangingDataStore: DataStore {
    /// Whether deleting does all that the schema's delete rules say. A store that only clears references to what is gone
    /// says no, and is not asked to delete records of which a rule says more than that.
    var followsDeleteRules: Bool { get }

    /// What the store will do of the query; see `QueryableDataStore` and `VersionedDataStore`.
    func plan(_ query: StoreQuery) -> FetchPlan

    /// Carries out a batch: all of it, or nothing and throws.
    /// - Throws: `DataStoreError.unsupportedFeature`, with nothing done, where the store leaves this one to the framework.
    func execute(_ batch: StoreBatch) throws -> StoreBatchResult
}

extension BatchChangingDataStore {
    public var followsDeleteRules: Bool { false }
}

extension StoreBatch.Assignment {
    /// What the property of a record becomes.
    /// - Throws: `QueryEvaluationError`.
    public func value(for record: RecordReference, in reader: RecordReader) throws -> StoredValue {
        switch value {
        case .constant(let value): value
        case .property(.variable(0), let other): reader.value(record, slot: other.slot)
        default: try QueryEvaluator(reader: reader).sortKey(value, record)
        }
    }
}
