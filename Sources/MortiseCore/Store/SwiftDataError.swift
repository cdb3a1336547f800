/// An error of SwiftData's vocabulary, with the particulars.
///
/// Two are equal, and one matches the other in a pattern, when they are of the same sort; the particulars do not count.
/// The framework's own error types match the sort to which they belong:
/// `catch SwiftDataError.loadIssueModelContainer` also catches a `SchemaError`.
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

    public static let includePendingChangesWithBatchSize = SwiftDataError(.includePendingChangesWithBatchSize)
    public static let unsupportedPredicate = SwiftDataError(.unsupportedPredicate)
    public static let unsupportedKeyPath = SwiftDataError(.unsupportedKeyPath)
    public static let sortingPendingChangesWithIdentifiers = SwiftDataError(.sortingPendingChangesWithIdentifiers)
    public static let unsupportedSortDescriptor = SwiftDataError(.unsupportedSortDescriptor)
    public static let duplicateConfiguration = SwiftDataError(.duplicateConfiguration)
    public static let configurationFileNameTooLong = SwiftDataError(.configurationFileNameTooLong)
    public static let configurationFileNameContainsInvalidCharacters = SwiftDataError(
        .configurationFileNameContainsInvalidCharacters)
    public static let configurationSchemaNotFoundInContainerSchema = SwiftDataError(
        .configurationSchemaNotFoundInContainerSchema)
    public static let loadIssueModelContainer = SwiftDataError(.loadIssueModelContainer)
    public static let modelValidationFailure = SwiftDataError(.modelValidationFailure)
    public static let missingModelContext = SwiftDataError(.missingModelContext)
    public static let backwardMigration = SwiftDataError(.backwardMigration)
    public static let unknownSchema = SwiftDataError(.unknownSchema)
    public static let unknownDataStoreSchema = SwiftDataError(.unknownDataStoreSchema)
    public static let historyTokenExpired = SwiftDataError(.historyTokenExpired)
    public static let invalidTransactionFetchRequest = SwiftDataError(.invalidTransactionFetchRequest)

    public static func == (lhs: SwiftDataError, rhs: SwiftDataError) -> Bool { lhs.code == rhs.code }
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// Whether an error is of the same sort: another `SwiftDataError`, or one of the framework's own types.
    public static func ~= (lhs: SwiftDataError, rhs: any Error) -> Bool {
        if let error = rhs as? SwiftDataError { return error == lhs }
        return (rhs as? any SwiftDataErrorConvertible)?.swiftDataError == lhs
    }
}

extension SwiftDataError: CustomStringConvertible {
    public var description: String { explanation.isEmpty ? code.rawValue : explanation }
}

/// An error type of ours or of an adapter that belongs to one of SwiftData's sorts of error.
public protocol SwiftDataErrorConvertible: Error {
    var swiftDataError: SwiftDataError { get }
}

extension SchemaError: SwiftDataErrorConvertible {
    public var swiftDataError: SwiftDataError { .loadIssueModelContainer }
}
