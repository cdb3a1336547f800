/// Why a schema cannot be stored. Thrown when a container is created, before any store is opened.
///
/// Every case also matches `SwiftDataError.loadIssueModelContainer`.
public enum SchemaError: Error, Hashable, Sendable {
    /// Two model types have the same entity name.
    case duplicateEntity(entity: String)
    /// A property is declared twice, perhaps in a subclass and its superclass.
    case duplicateProperty(entity: String, property: String)
    /// The property's type is neither `Codable` nor a model.
    case unsupportedType(entity: String, property: String, type: String)
    /// An ephemeral property has no default value, and its type has no empty one: a fetched model would have none to show.
    case ephemeralWithoutValue(entity: String, property: String, type: String)
    /// `@Relationship` is on a property whose type is not a model.
    case notARelationship(entity: String, property: String, type: String)
    /// A unique constraint includes a to-many relationship.
    case uniqueToMany(entity: String, property: String)
    /// `#Unique` or `#Index` names something that is not a persisted property.
    case unknownKeyPath(entity: String, keyPath: String)
    /// The key path given as inverse is not a relationship of the destination.
    case unknownInverse(entity: String, property: String, destination: String)
    /// The inverse leads to another entity than the one that names it.
    case inverseOfAnotherEntity(entity: String, property: String, inverse: String, leadsTo: String)
    /// Two relationships claim the same inverse, or an inverse names a third relationship as its own.
    case inverseMismatch(entity: String, property: String, inverse: String, claimedBy: String)
    /// The minimum number of models is above the maximum, or negative.
    case impossibleCount(entity: String, property: String)
    /// A subclass of a model is not marked `@Model`.
    case unmarkedSubclass(entity: String, superclass: String)
    /// A default value makes a schema that includes the model whose default value it is.
    case neededByDefaultValue(entity: String)
    /// The schema was decoded, or made of entities by hand: it has no model types.
    case noModelTypes(entity: String)
}

extension SchemaError: CustomStringConvertible {
    /// The entity and property at fault and the way out, in one line.
    public var description: String {
        switch self {
        case .duplicateEntity(let entity):
            "Two models are called \(entity): an entity has the name of its class without module and enclosing types. "
                + "Rename one, or keep them in schemas of their own."
        case .duplicateProperty(let entity, let property):
            "\(entity).\(property) is declared twice, here and in a superclass. Remove one."
        case .unsupportedType(let entity, let property, let type):
            "\(entity).\(property) is of type \(type), which cannot be stored. Make the type Codable, mark the "
                + "property "
                + "@Transient, or store it @Attribute(.transformable(by:))."
        case .ephemeralWithoutValue(let entity, let property, let type):
            "\(entity).\(property) is ephemeral, and a fetched model has no value of type \(type) to show. "
                + "Give the property a default value where it is declared, or make it optional."
        case .notARelationship(let entity, let property, let type):
            "\(entity).\(property) is marked @Relationship, but \(type) is neither a model nor an array of models. "
                + "Remove @Relationship, or make it @Attribute."
        case .uniqueToMany(let entity, let property):
            "\(entity).\(property) is a to-many relationship, which cannot be unique. Leave it out of the constraint."
        case .unknownKeyPath(let entity, let keyPath):
            "\(keyPath) is not a persisted property of \(entity). Name stored properties in #Unique and #Index."
        case .unknownInverse(let entity, let property, let destination):
            "The inverse of \(entity).\(property) is not a relationship of \(destination). "
                + "Name one, as in inverse: \\\(destination).\(entity.prefix(1).lowercased() + entity.dropFirst())."
        case .inverseOfAnotherEntity(let entity, let property, let inverse, let leadsTo):
            "\(entity).\(property) names \(inverse) as its inverse, which leads to \(leadsTo), not to \(entity). "
                + "Name a relationship that leads back."
        case .inverseMismatch(let entity, let property, let inverse, let claimedBy):
            "\(entity).\(property) and \(claimedBy) both claim \(inverse) as their inverse. "
                + "Give each relationship an inverse of its own."
        case .impossibleCount(let entity, let property):
            "\(entity).\(property) has a negative minimum, or a minimum above its maximum. "
                + "Correct minimumModelCount and maximumModelCount."
        case .unmarkedSubclass(let entity, let superclass):
            "\(entity) inherits from the model \(superclass). Mark it '@Model' as well."
        case .neededByDefaultValue(let entity):
            "A default value of \(entity), or of a model that it reaches, opens a store of \(entity). "
                + "Open the store elsewhere, and set the property in an initializer."
        case .noModelTypes(let entity):
            "The schema describes \(entity) and knows no model type for it: it was decoded, or made of entities. "
                + "Make it of the types, as in Schema([\(entity).self]). To read a store without its models, use "
                + "Schema(stored:)."
        }
    }
}

extension SchemaError: SwiftDataErrorConvertible {
    /// The error of SwiftData that this one matches: `loadIssueModelContainer`.
    public var swiftDataError: SwiftDataError { .loadIssueModelContainer }
}
