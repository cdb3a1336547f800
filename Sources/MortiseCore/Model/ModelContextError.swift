/// Why a context refuses a call.
public enum ModelContextError: Error, Hashable, Sendable {
    /// The container's schema does not include the model's type.
    case unknownModel(type: String)
    /// The model belongs to another context.
    case registeredElsewhere(model: PersistentIdentifier)
    /// No record has that identifier (any more).
    case noSuchModel(PersistentIdentifier)
    /// The container was closed.
    case containerClosed
    /// The configuration does not allow saving.
    case readOnly(configuration: String)
    /// `enumerate`, or a transaction that may be repeated, was called with unsaved changes.
    case unsavedChanges
    /// More than one model matches a descriptor of which at most one was expected.
    case severalModels(entity: String)
    /// A save would give two records of an entity the same unique values: `model`, and `other`, which has them. `values` are in the
    /// order of the properties; empty where a store has found them in a batch and has not said them.
    case notUnique(
        entity: String, properties: [String], values: [StoredValue], model: PersistentIdentifier,
        other: PersistentIdentifier)
    /// A stored value is not one that the property's type knows.
    case invalidStoredValue(entity: String, property: String, model: PersistentIdentifier, found: String)
    /// The context reads its stores as they were, and saves nothing.
    case readsPast
    /// The author of a context has more bytes of UTF-8 than the most that a history takes. Nothing was saved.
    case authorTooLong(bytes: Int, most: Int)
    /// A store returned something that breaks its contract.
    case storeContract(store: String, fault: String)
}

extension ModelContextError: CustomStringConvertible {
    /// The models and properties at fault, and the way out, in one line.
    public var description: String {
        switch self {
        case .unknownModel(let type):
            "The container's schema does not include \(type). Add it to the types in the container's initializer."
        case .registeredElsewhere(let model):
            "\(model) belongs to another context, or did before that context was released. Fetch it in this context "
                + "with model(for:), or make a new model."
        case .noSuchModel(let identifier):
            "There is no record \(identifier); it may have been deleted. Drop changes to it with rollback(), "
                + "or fetch again."
        case .containerClosed: "The container is closed. Create a new one."
        case .readOnly(let configuration):
            "The configuration \"\(configuration)\" does not allow saving. Open it with allowsSave: true, or its URL "
                + "without ?allowsSave=false."
        case .unsavedChanges:
            "The call requires a context without unsaved changes. Save them or drop them with rollback() first; enumerate also "
                + "takes allowEscapingMutations: true."
        case .severalModels(let entity):
            "Several models of \(entity) match, and at most one was expected. Narrow the predicate, or fetch all of them."
        case .notUnique(let entity, let properties, let values, let model, let other):
            "\(model) and \(other) of \(entity) would have the same \(Self.pairs(properties, values)). "
                + "Change one, or delete it first."
        case .invalidStoredValue(let entity, let property, let model, let found):
            "\(entity).\(property) of \(model) holds \(found), which is not a value of its type. "
                + "Add it to the type, or correct the stored value."
        case .readsPast:
            "The context reads its stores as they were at an earlier time, and saves nothing. Make the changes in a context of the present, "
                + "and drop them here with rollback()."
        case .authorTooLong(let bytes, let most):
            "The author of the context has \(bytes) bytes, and a history takes at most \(most). Shorten ModelContext.author."
        case .storeContract(let store, let fault): "The store \(store) broke its contract: \(fault)"
        }
    }
}

extension ModelContextError {
    /// Properties, with their values where these are known and short enough for a line.
    private static func pairs(_ properties: [String], _ values: [StoredValue]) -> String {
        guard properties.count == values.count else { return properties.joined(separator: ", ") }
        return zip(properties, values).map { name, value in
            let text = "\(value)"
            return text.count > 100 || text.contains(where: \.isNewline) ? name : "\(name) \(text)"
        }.joined(separator: ", ")
    }
}

extension ModelContextError: SwiftDataErrorConvertible {
    /// The error of SwiftData that this one matches.
    public var swiftDataError: SwiftDataError {
        switch self {
        case .containerClosed, .unknownModel, .registeredElsewhere, .noSuchModel: .missingModelContext
        default: .modelValidationFailure
        }
    }
}

/// Why a model cannot be saved as it is. Nothing was saved; the context keeps its changes.
///
/// Every case also matches `SwiftDataError.modelValidationFailure`.
public enum ModelValidationError: Error, Hashable, Sendable {
    /// A property that is not optional has no value.
    case missingValue(entity: String, property: String, model: PersistentIdentifier)
    /// A to-many relationship holds fewer models than it must.
    case tooFew(entity: String, property: String, model: PersistentIdentifier, count: Int, minimum: Int)
    /// A to-many relationship holds more models than it may.
    case tooMany(entity: String, property: String, model: PersistentIdentifier, count: Int, maximum: Int)
    /// The relationship's delete rule is `deny`, and it still has models.
    case deletionDenied(entity: String, property: String, model: PersistentIdentifier, count: Int)
    /// A model still refers to one that is deleted in the same save.
    case refersToDeleted(entity: String, property: String, model: PersistentIdentifier, deleted: PersistentIdentifier)
    /// The value could not be encoded for the store.
    case unencodableValue(entity: String, property: String, model: PersistentIdentifier)
}

extension ModelValidationError: CustomStringConvertible {
    /// The model and property at fault, and the way out, in one line.
    public var description: String {
        switch self {
        case .missingValue(let entity, let property, let model):
            "\(entity).\(property) of \(model) is required but has no value. Set it, or declare it optional."
        case .tooFew(let entity, let property, let model, let count, let minimum):
            "\(entity).\(property) of \(model) has \(Self.models(count)); the minimum is \(minimum). Add models "
                + "before saving."
        case .tooMany(let entity, let property, let model, let count, let maximum):
            "\(entity).\(property) of \(model) has \(Self.models(count)); the maximum is \(maximum). Remove models "
                + "before saving."
        case .deletionDenied(let entity, let property, let model, let count):
            "\(model) cannot be deleted while \(entity).\(property) has \(Self.models(count)): its delete rule is deny. "
                + "Delete or move \(count == 1 ? "it" : "them") first."
        case .refersToDeleted(let entity, let property, let model, let deleted):
            "\(entity).\(property) of \(model) refers to \(deleted), which this save deletes. "
                + "Clear the reference, or give the relationship the delete rule nullify or cascade."
        case .unencodableValue(let entity, let property, let model):
            "The value of \(entity).\(property) of \(model) cannot be encoded. Correct its encode(to:), or "
                + "register a value transformer that makes data of it."
        }
    }
}

extension ModelValidationError {
    private static func models(_ count: Int) -> String { count == 1 ? "1 model" : "\(count) models" }
}

extension ModelValidationError: SwiftDataErrorConvertible {
    /// The error of SwiftData that this one matches: `modelValidationFailure`.
    public var swiftDataError: SwiftDataError { .modelValidationFailure }
}
