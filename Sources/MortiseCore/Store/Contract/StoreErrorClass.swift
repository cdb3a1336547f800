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
