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
    /// The store and the request contradict each other: different schemas, or values that are not unique.
    case conflict
}

/// An error that has a class.
public protocol ClassifiedStoreError: Error {
    /// The class of the error.
    var errorClass: StoreErrorClass { get }
}

extension StoreURLError: ClassifiedStoreError {
    /// `usage`: the URL is at fault.
    public var errorClass: StoreErrorClass { .usage }
}

extension QueryEvaluationError: ClassifiedStoreError {
    /// `usage`: the query is at fault.
    public var errorClass: StoreErrorClass { .usage }
}
