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

    /// The history that a token refers to is no longer kept, in words: for a store that provides history.
    /// - Parameters:
    ///   - store: what the text calls the store, such as its path.
    ///   - number: the number that the token has for it.
    ///   - oldest: the oldest number that the history may still have.
    ///   - why: what is missing, or not as it was.
    /// - Returns: the error, which equals `historyTokenExpired`.
    public static func historyTokenExpired(
        store: String, after number: Int64, oldest: Int64, because why: String
    ) -> SwiftDataError {
        SwiftDataError(
            .historyTokenExpired,
            "The history of the store \(store) cannot be told from transaction \(number) on: \(why). The oldest that can be read is "
                + "\(oldest). Fetch the current state, and go on from a new token.")
    }

    /// Two errors are equal if their codes are.
    public static func == (lhs: SwiftDataError, rhs: SwiftDataError) -> Bool { lhs.code == rhs.code }
    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// Whether an error has the same code: another `SwiftDataError`, or one of the framework's own types.
    public static func ~= (lhs: SwiftDataError, rhs: any Error) -> Bool {
        if let error = rhs as? SwiftDataError { return error == lhs }
        guard let error = rhs as? any SwiftDataErrorConvertible else { return false }
        return error.swiftDataError == lhs || error.furtherSwiftDataErrors.contains(lhs)
    }
}

extension SwiftDataError: CustomStringConvertible {
    /// The explanation; the code's name if the explanation is empty.
    public var description: String { explanation.isEmpty ? code.words : explanation }
}

/// An error type, of this framework or of an adapter, that matches one of SwiftData's errors.
public protocol SwiftDataErrorConvertible: Error {
    /// The error of SwiftData's that this one matches in a `catch`; where it matches several, the one that says most.
    var swiftDataError: SwiftDataError { get }
    /// Others that it matches in a `catch` as well: an app that catches SwiftData's general error catches what says more, too. None by
    /// default.
    var furtherSwiftDataErrors: [SwiftDataError] { get }
}

extension SwiftDataErrorConvertible {
    /// None.
    public var furtherSwiftDataErrors: [SwiftDataError] { [] }
}

extension SwiftDataError.Code {
    /// What happened and what to do, where nothing more is known.
    fileprivate var words: String {
        switch self {
        case .includePendingChangesWithBatchSize:
            "A fetch in batches cannot include unsaved changes. Save first, or set includePendingChanges to false."
        case .unsupportedPredicate: "The predicate cannot be evaluated. Correct it, or filter what was fetched."
        case .unsupportedKeyPath: "The key path leads to no property of the schema. Name a property that is stored."
        case .sortingPendingChangesWithIdentifiers:
            "A fetch of identifiers cannot sort unsaved changes. Save first, or set includePendingChanges to false."
        case .unsupportedSortDescriptor: "The sort order cannot be evaluated. Sort by stored properties."
        case .duplicateConfiguration:
            "Two configurations have one name, one store, or entities in common. Give each its own."
        case .configurationFileNameTooLong: "The name of a configuration's file is too long. Shorten it."
        case .configurationFileNameContainsInvalidCharacters:
            "The name of a configuration's file has characters that no file name can have. Remove them."
        case .configurationSchemaNotFoundInContainerSchema:
            "A configuration names models that the container's schema lacks. Add them to the container."
        case .loadIssueModelContainer: "A store of the container cannot be opened. Look at the underlying error."
        case .modelValidationFailure: "A model breaks a rule of its schema. Correct it, then save again."
        case .missingModelContext: "The model has no context, or one that is gone. Fetch or insert it first."
        case .backwardMigration: "The store has a newer schema than the program. Update the program."
        case .unknownSchema: "The schema cannot be read or written. Look at its models."
        case .unknownDataStoreSchema:
            "The store has a schema that the migration plan does not know. Add its version to the plan."
        case .historyTokenExpired:
            "The history no longer has what follows the token. Fetch the current state, and go on from a new token."
        case .invalidTransactionFetchRequest: "The history cannot be fetched so. Correct the descriptor."
        }
    }
}
