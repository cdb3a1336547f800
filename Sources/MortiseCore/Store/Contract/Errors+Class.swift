extension StoreURLError: ClassifiedStoreError {
    /// `usage`: the URL is at fault.
    public var errorClass: StoreErrorClass { .usage }
}

extension QueryEvaluationError: ClassifiedStoreError {
    /// `usage`: the query is at fault.
    public var errorClass: StoreErrorClass { .usage }
}

extension MatchWatchError: ClassifiedStoreError {
    package var errorClass: StoreErrorClass {
        switch self {
        case .queryTooSlow: .usage
        case .stillMatching: .busy
        }
    }
}

extension QueryPlanError: ClassifiedStoreError {
    /// `usage` for a scan that was refused; `unsupported` for an adapter that does not do what it claims.
    public var errorClass: StoreErrorClass {
        switch self {
        case .fullScanRefused: .usage
        case .illegalClaim, .falseClaim: .unsupported
        }
    }
}

extension AggregateError: ClassifiedStoreError {
    /// `usage` for what cannot be aggregated; `unsupported` for an adapter that does not do what it claims.
    public var errorClass: StoreErrorClass {
        switch self {
        case .notStored, .unusableKey: .usage
        case .falseResult: .unsupported
        }
    }
}

extension BatchError: ClassifiedStoreError {
    /// `usage`: the batch is at fault.
    public var errorClass: StoreErrorClass { .usage }
}

extension BatchError.Reason: ClassifiedStoreError {
    /// `usage`: the batch is at fault.
    public var errorClass: StoreErrorClass { .usage }
}

extension SchemaError: ClassifiedStoreError {
    /// `usage`: the models are at fault.
    public var errorClass: StoreErrorClass { .usage }
}

extension SchemaDocumentError: ClassifiedStoreError {
    /// `usage` for a schema that the format has no words for, else `damaged`.
    public var errorClass: StoreErrorClass {
        if case .unwritable = fault { .usage } else { .damaged }
    }
}

extension ModelContextError: ClassifiedStoreError {
    /// `missing` for a record that is gone, `closed` for a container that was closed, `denied` for what may not be changed, `conflict` for
    /// values that are not unique, `damaged` for a stored value that its type cannot have, `unsupported` for an adapter that breaks its contract, else
    /// `usage`.
    public var errorClass: StoreErrorClass {
        switch self {
        case .noSuchModel: .missing
        case .containerClosed: .closed
        case .readOnly, .readsPast: .denied
        case .notUnique, .severalModels: .conflict
        case .invalidStoredValue: .damaged
        case .storeContract: .unsupported
        case .unknownModel, .registeredElsewhere, .unsavedChanges, .authorTooLong: .usage
        }
    }
}

extension ModelValidationError: ClassifiedStoreError {
    /// `invalid`.
    public var errorClass: StoreErrorClass { .invalid }
}

extension SwiftDataError: ClassifiedStoreError {
    /// `invalid` for a model that breaks a rule, `conflict` for a store with another schema, `missing` for history that is gone, else
    /// `usage`.
    public var errorClass: StoreErrorClass {
        if self == .modelValidationFailure { return .invalid }
        if self == .historyTokenExpired { return .missing }
        let ofSchemas: [SwiftDataError] = [
            .backwardMigration, .unknownSchema, .unknownDataStoreSchema, .loadIssueModelContainer,
        ]
        return ofSchemas.contains(self) ? .conflict : .usage
    }
}

extension HistoryHolderError: ClassifiedStoreError {
    /// `missing`: the holder, or what it needs, is gone.
    public var errorClass: StoreErrorClass { .missing }
}

extension HistoryHeld: ClassifiedStoreError {
    /// `conflict`: somebody else needs what is to go.
    public var errorClass: StoreErrorClass { .conflict }
}

extension HistoryDamaged: ClassifiedStoreError {
    /// `damaged`.
    public var errorClass: StoreErrorClass { .damaged }
}

extension PageError: ClassifiedStoreError {
    /// `usage`.
    public var errorClass: StoreErrorClass { .usage }
}

extension DataStoreError: ClassifiedStoreError {
    /// `unsupported` for what a store cannot do, `usage` for an invalid predicate.
    public var errorClass: StoreErrorClass { self == .invalidPredicate ? .usage : .unsupported }
}

extension RecordsSuperseded: ClassifiedStoreError {
    /// `conflict`: somebody else has saved.
    public var errorClass: StoreErrorClass { .conflict }
}

extension VersionSuperseded: ClassifiedStoreError {
    /// What happened and what to do.
    public var description: String {
        "The save is based on a version of the store that is no longer the latest one. Fetch again, and repeat the change."
    }
    /// `conflict`: somebody else has saved.
    public var errorClass: StoreErrorClass { .conflict }
}

extension IdentifierTextError: ClassifiedStoreError {
    /// `usage` for a text that is no identifier, `missing` for one of a store that is not open.
    public var errorClass: StoreErrorClass {
        switch self {
        case .malformed: .usage
        case .unknown: .missing
        }
    }
}
