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
