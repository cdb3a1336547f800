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
    /// Another process or opening has the store open, and keeps it until it closes the store.
    case locked
    /// Somebody else is writing, or all connections are in use, for a moment: the same call may succeed soon. Nothing was changed.
    case busy
    /// The container or the store was closed. Nothing succeeds until it is opened again.
    case closed
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

extension StoreErrorClass {
    /// Why something of this class fails, in one sentence.
    public var failureReason: String {
        switch self {
        case .usage: "The request is not valid."
        case .missing: "What was asked for does not exist."
        case .damaged: "The stored data are damaged, or are not of the expected kind."
        case .alreadyExists: "Something exists already where something new was to be made."
        case .locked: "The data are open elsewhere."
        case .busy: "The data are in use at this moment."
        case .closed: "The data were closed."
        case .denied: "The permission for this is missing."
        case .unsupported: "This kind of store cannot do this."
        case .failedInputOutput: "A device, a disk or a connection has failed."
        case .conflict: "The change contradicts what is stored."
        case .invalid: "A value breaks a rule."
        }
    }

    /// What to do about it, in one sentence.
    public var recoverySuggestion: String {
        switch self {
        case .usage: "Correct the request, and repeat it."
        case .missing: "Look for it elsewhere, or fetch again to see what there is."
        case .damaged: "Restore a backup."
        case .alreadyExists: "Choose another place or name."
        case .locked: "Close the data there, and try again."
        case .busy: "Try again in a moment."
        case .closed: "Open the data again."
        case .denied: "Ask for the permission, or choose another place."
        case .unsupported: "Choose another way, or another kind of store."
        case .failedInputOutput: "Check the free space, the device and the connection, and try again."
        case .conflict: "Fetch the current state, and repeat the change."
        case .invalid: "Correct the value, and save again."
        }
    }
}

/// An error that says what happened and what to do, and has a class: what a program does about it is one switch.
///
///     switch (error as? any ClassifiedStoreError)?.errorClass {
///     case .missing: 404
///     case .denied: 403
///     case .conflict, .locked, .alreadyExists: 409
///     case .busy, .closed: 503
///     case .invalid, .usage: 422
///     default: 500
///     }
///
/// All errors of the library conform. Their `localizedDescription` is their description: what happened, where, and what the developer or
/// operator does about it, for logs and responses. `failureReason` and `recoverySuggestion` follow from the class, for the person in front of
/// an app, who needs no paths and options; an error may say more in them.
public protocol ClassifiedStoreError: LocalizedError, CustomStringConvertible {
    /// The class of the error.
    var errorClass: StoreErrorClass { get }
}

extension ClassifiedStoreError {
    /// The description.
    public var errorDescription: String? { description }
    /// That of the class; the description has the particulars.
    public var failureReason: String? { errorClass.failureReason }
    /// That of the class; the description has the particulars.
    public var recoverySuggestion: String? { errorClass.recoverySuggestion }
    /// Nil.
    public var helpAnchor: String? { nil }
}
