/// An error of SwiftData's vocabulary, with details.
///
/// Two errors are equal, and match each other in a pattern, if their codes are equal; the details do not count. The
/// framework's own error types match the code to which they belong: `catch SwiftDataError.loadIssueModelContainer` also
/// catches a `SchemaError`.
public struct SwiftDataError: Error, Hashable, Sendable {
    enum Code: String, Sendable {
        case includePendingChangesWithBatchSize, unsupportedPredicate, unsupportedKeyPath
        case sortingPendingChangesWithIdentifiers, unsupportedSortDescriptor, duplicateConfiguration
        case configurationFileNameTooLong, configurationFileNameContainsInvalidCharacters
        case configurationSchemaNotFoundInContainerSchema, loadIssueModelContainer, modelValidationFailure
        case missingModelContext, backwardMigration, unknownSchema, unknownDataStoreSchema, historyTokenExpired
        case invalidTransactionFetchRequest
    }

    let code: Code
    /// What is at fault and what to do about it; empty for the bare constants.
    public let explanation: String

    init(_ code: Code, _ explanation: String = "") {
        self.code = code
        self.explanation = explanation
    }

    /// A fetch in batches was asked to include unsaved changes.
    public static let includePendingChangesWithBatchSize = SwiftDataError(.includePendingChangesWithBatchSize)
    /// A predicate cannot be evaluated, or was refused.
    public static let unsupportedPredicate = SwiftDataError(.unsupportedPredicate)
    /// A key path does not name a persisted property.
    public static let unsupportedKeyPath = SwiftDataError(.unsupportedKeyPath)
    /// A sorted fetch of identifiers was asked to include unsaved changes.
    public static let sortingPendingChangesWithIdentifiers = SwiftDataError(.sortingPendingChangesWithIdentifiers)
    /// A sort descriptor cannot be evaluated.
    public static let unsupportedSortDescriptor = SwiftDataError(.unsupportedSortDescriptor)
    /// Two configurations have the same name.
    public static let duplicateConfiguration = SwiftDataError(.duplicateConfiguration)
    /// The file name of a configuration is longer than file systems allow.
    public static let configurationFileNameTooLong = SwiftDataError(.configurationFileNameTooLong)
    /// The file name of a configuration has characters that file systems refuse.
    public static let configurationFileNameContainsInvalidCharacters = SwiftDataError(
        .configurationFileNameContainsInvalidCharacters)
    /// A configuration names a model that the container's schema lacks.
    public static let configurationSchemaNotFoundInContainerSchema = SwiftDataError(
        .configurationSchemaNotFoundInContainerSchema)
    /// A store could not be opened.
    public static let loadIssueModelContainer = SwiftDataError(.loadIssueModelContainer)
    /// A save or a read found a value that the schema does not allow.
    public static let modelValidationFailure = SwiftDataError(.modelValidationFailure)
    /// A model without a context was used where one is needed.
    public static let missingModelContext = SwiftDataError(.missingModelContext)
    /// The store has a newer schema version than the program.
    public static let backwardMigration = SwiftDataError(.backwardMigration)
    /// A schema cannot be read.
    public static let unknownSchema = SwiftDataError(.unknownSchema)
    /// A store has a schema that does not match the program's.
    public static let unknownDataStoreSchema = SwiftDataError(.unknownDataStoreSchema)
    /// The history that a token refers to is no longer kept.
    public static let historyTokenExpired = SwiftDataError(.historyTokenExpired)
    /// A fetch of history cannot be evaluated.
    public static let invalidTransactionFetchRequest = SwiftDataError(.invalidTransactionFetchRequest)

    /// Two errors are equal if their codes are.
    public static func == (lhs: SwiftDataError, rhs: SwiftDataError) -> Bool { lhs.code == rhs.code }
    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// Whether an error has the same code: another `SwiftDataError`, or one of the framework's own types.
    public static func ~= (lhs: SwiftDataError, rhs: any Error) -> Bool {
        if let error = rhs as? SwiftDataError { return error == lhs }
        return (rhs as? any SwiftDataErrorConvertible)?.swiftDataError == lhs
    }
}

extension SwiftDataError: CustomStringConvertible {
    /// The explanation; the code's name if the explanation is empty.
    public var description: String { explanation.isEmpty ? code.rawValue : explanation }
}

/// An error type, of this framework or of an adapter, that matches one of SwiftData's errors.
public protocol SwiftDataErrorConvertible: Error {
    /// The error of SwiftData's that this one matches in a `catch`.
    var swiftDataError: SwiftDataError { get }
}
