/// What sort of thing went wrong, for programs that decide by it without knowing every store's errors: exit codes,
/// retries, alarms.
public enum StoreErrorClass: String, Sendable, Hashable, CaseIterable {
    /// What was asked for is not understood: a URL, an option, a predicate, a name.
    case usage
    /// There is no store.
    case missing
    /// The store holds what it should not: it is damaged, or not of this kind.
    case damaged
    /// There is something already where something new should go.
    case alreadyExists
    /// Somebody else has the store.
    case locked
    /// The user may not do this.
    case denied
    /// This store cannot do this.
    case unsupported
    /// The device, the disk or the network failed.
    case failedInputOutput
    /// The store and the request contradict each other: other schemas, values that are not unique.
    case conflict
}

/// An error that says of what class it is.
public protocol ClassifiedStoreError: Error {
    var errorClass: StoreErrorClass { get }
}

extension StoreURLError: ClassifiedStoreError {
    public var errorClass: StoreErrorClass { .usage }
}

extension QueryEvaluationError: ClassifiedStoreError {
    public var errorClass: StoreErrorClass { .usage }
}
