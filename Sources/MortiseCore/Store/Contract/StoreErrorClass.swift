public import Foundation

/// The class of an error, for programs that choose exit codes, retries or alarms without knowing every store's errors.
public enum StoreErrorClass: String, Sendable, Hashable, CaseIterable {
    /// The request is invalid: a URL, an option, a predicate or a name.
    case usage
    /// The store does not exist.
    case missing
    /// The store is damaged, or is not a store of this kind.
    case damaged
    /// The target of the operation already exists.
    case alreadyExists
    /// Another process or opening holds the store.
    case locked
    /// The user lacks the permission.
    case denied
    /// This kind of store does not support the operation.
    case unsupported
    /// The device, the disk or the network failed.
    case failedInputOutput
    /// The store and the request contradict each other: different schemas, values that are not unique, or a save by somebody else.
    case conflict
    /// What is to be saved breaks a rule of its model: a value that is missing, too few or too many members.
    case invalid
}

/// An error that says what happened and what to do, and has a class: what a program does about it is one switch.
///
///     switch (error as? any ClassifiedStoreError)?.errorClass {
///     case .missing: 404
///     case .denied: 403
///     case .conflict, .locked, .alreadyExists: 409
///     case .invalid, .usage: 422
///     default: 500
///     }
///
/// All errors of the library conform. Their `localizedDescription` is their description.
public protocol ClassifiedStoreError: LocalizedError, CustomStringConvertible {
    /// The class of the error.
    var errorClass: StoreErrorClass { get }
}

extension ClassifiedStoreError {
    /// The description.
    public var errorDescription: String? { description }
    /// Nil: the description has the reason.
    public var failureReason: String? { nil }
    /// Nil: the description has the way out.
    public var recoverySuggestion: String? { nil }
    /// Nil.
    public var helpAnchor: String? { nil }
}

extension StoreURLError: ClassifiedStoreError {
    /// `usage`: the URL is at fault.
    public var errorClass: StoreErrorClass { .usage }
}

extension QueryEvaluationError: ClassifiedStoreError {
    /// `usage`: the query is at fault.
    public var errorClass: StoreErrorClass { .usage }
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
    /// `usage` for a property that is not stored; `unsupported` for an adapter that does not do what it claims.
    public var errorClass: StoreErrorClass {
        switch self {
        case .notStored: .usage
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
    /// `missing` for a record that is gone, `denied` for a store that may not be changed, `conflict` for values that are not unique,
    /// `damaged` for a stored value that its type cannot have, `unsupported` for an adapter that breaks its contract, else
    /// `usage`.
    public var errorClass: StoreErrorClass {
        switch self {
        case .noSuchModel: .missing
        case .readOnly: .denied
        case .notUnique: .conflict
        case .invalidStoredValue: .damaged
        case .storeContract: .unsupported
        case .unknownModel, .registeredElsewhere, .containerClosed, .unsavedChanges: .usage
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
