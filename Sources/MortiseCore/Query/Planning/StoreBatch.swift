/// One change that a store makes to many records in one transaction, without the records being read first.
public struct StoreBatch: Sendable, Hashable, Codable {
    /// Which records are changed.
    public enum Selection: Sendable, Hashable, Codable {
        /// The records for which all conjuncts of the query hold. The query has no offset, limit or order, and the
        /// store's own plan for it claims every conjunct as exact.
        case query(StoreQuery)
        /// The named records, all of which existed in the version `baseVersion`.
        case records([PersistentIdentifier])
    }

    /// A property and its new value.
    public struct Assignment: Sendable, Hashable, Codable {
        /// An attribute, or a to-one relationship without an inverse.
        public let property: QueryProperty
        /// The new value, evaluated for each record as it was before the batch; an identifier or null for a
        /// relationship.
        public let value: QueryExpression

        /// Assigns the value of an expression to a property.
        public init(property: QueryProperty, value: QueryExpression) {
            self.property = property
            self.value = value
        }
    }

    /// What happens to the selected records.
    public enum Change: Sendable, Hashable, Codable {
        /// The records are deleted, and their delete rules are applied to related records.
        case delete
        /// Every assignment is made in every record. No property is assigned twice.
        case update([Assignment])
    }

    /// Which records the batch changes.
    public var selection: Selection
    /// What happens to them.
    public var change: Change
    /// The author of the batch, for the store's history.
    public var author: String?
    /// The number of the version in which the selection was made; a store that has moved on since throws
    /// `VersionSuperseded` and changes nothing. Nil accepts any version.
    public var baseVersion: UInt64?

    /// Makes a batch. With `baseVersion` nil it applies to any version.
    public init(_ selection: Selection, _ change: Change, author: String? = nil, baseVersion: UInt64? = nil) {
        self.selection = selection
        self.change = change
        self.author = author
        self.baseVersion = baseVersion
    }
}

/// The result of a batch.
public struct StoreBatchResult: Sendable {
    /// How many records were selected, whether or not they differ afterwards.
    public var count: Int
    /// The records whose values differ afterwards, including those in which references to deleted records were cleared, and
    /// the deleted records. Values need not be given.
    public var changes: ChangeSet
    /// How many rows the store looked at to find the matches; nil if it does not report that.
    public var scanned: Int?
    /// How the store found the rows, in its own words, if decided after planning; nil if the plan's `detail` holds.
    public var detail: String?
    /// Whether every row was looked at, if that was decided after planning; nil if the plan's `isFullScan` holds.
    public var isFullScan: Bool?

    /// Makes a result. `changes` names each record once, in any order.
    public init(
        count: Int, changes: ChangeSet = ChangeSet(), scanned: Int? = nil, detail: String? = nil,
        isFullScan: Bool? = nil
    ) {
        self.count = count
        self.changes = changes
        self.scanned = scanned
        self.detail = detail
        self.isFullScan = isFullScan
    }
}

/// A store that executes batches itself.
///
/// The framework calls `plan(_:)` with the purpose `update` or `delete`. If the plan claims every conjunct as exact,
/// the store gets the query; otherwise the framework finds the records and names them. A batch is all or nothing, obeys
/// the schema's constraints as a save does, and is as durable as a save when it returns.
public protocol BatchChangingDataStore: DataStore {
    /// Whether deletion applies all delete rules of the schema. If false, because the store only clears references to
    /// deleted records, it is not asked to delete records whose delete rules require more.
    var followsDeleteRules: Bool { get }

    /// The store's plan for the query; see `QueryableDataStore` and `VersionedDataStore`.
    func plan(_ query: StoreQuery) -> FetchPlan

    /// Executes the whole batch, or throws and changes nothing.
    /// - Throws: `DataStoreError.unsupportedFeature` if the framework must execute this batch instead;
    ///   `VersionSuperseded`; the store's errors.
    func execute(_ batch: StoreBatch) throws -> StoreBatchResult
}

extension BatchChangingDataStore {
    /// False: the framework applies delete rules.
    public var followsDeleteRules: Bool { false }
}

extension StoreBatch.Assignment {
    /// The new value of the property of a record.
    /// - Throws: `QueryEvaluationError`.
    public func value(for record: RecordReference, in reader: RecordReader) throws -> StoredValue {
        switch value {
        case .constant(let value): value
        case .property(.variable(0), let other): reader.value(record, slot: other.slot)
        default: try QueryEvaluator(reader: reader).sortKey(value, record)
        }
    }
}
