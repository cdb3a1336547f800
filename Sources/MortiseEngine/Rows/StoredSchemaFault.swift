/// Why a schema cannot be kept in a file.
public enum StoredSchemaFault: Error, Hashable, Sendable {
    /// Two entities have the same name.
    case duplicateEntity(entity: String)
    /// The entity inherits from one that the schema does not have.
    case unknownSuperentity(entity: String, superentity: String)
    /// The entity inherits from itself.
    case inheritanceCycle(entity: String)
    /// The property appears twice, perhaps in an ancestor.
    case duplicateProperty(entity: String, property: String)
    /// In a JSON file `$id` is the name of the record's number.
    case reservedName(entity: String, property: String)
    /// The relationship leads to an entity that the schema does not have.
    case unknownDestination(entity: String, property: String, destination: String)
    /// The destination has no relationship of that name.
    case unknownInverse(entity: String, property: String, inverse: String)
    /// A constraint or an index names what the entity does not have.
    case unknownConstrainedProperty(entity: String, property: String)
    /// The default value is not of the attribute's kind, or cannot be written.
    case unsuitableDefault(entity: String, property: String)
    /// An option that the format has no word for.
    case unknownOption(entity: String, property: String)
    /// A limit of the format is exceeded: how many there are, or at least, and how many there may be.
    case limitExceeded(StoredSchemaLimit, found: Int, most: Int)
}

/// What is limited in a schema that is kept in a file. The limits bound what reading a hostile file can cost.
public enum StoredSchemaLimit: Hashable, Sendable {
    /// Entities of a schema.
    case entities
    /// Entities that an entity inherits from.
    case ancestors
    /// Properties of an entity, inherited ones included.
    case propertiesOfEntity
    /// Properties of all entities, each with those that it inherits.
    case propertiesInAll
    /// UTF-8 bytes of the name of an entity or property.
    case nameLength
    /// Property names in the constraints and indices of all entities, each with those that it inherits.
    case constrainedPropertiesInAll
    /// Entities times relationships of all entities, each with those that it inherits. Each table has links for all of these.
    case entitiesTimesRelationships
}

/// How much of everything a format allows.
package struct StoredSchemaLimits: Sendable {
    /// The limits of a JSON file.
    package static let document = StoredSchemaLimits(
        entities: 4_096, ancestors: 32, propertiesOfEntity: 1_024, propertiesInAll: 16_384, nameLength: 1_024,
        constrainedPropertiesInAll: 16_384)
    /// The limits of a log, which bounds the properties that entities declare besides.
    package static let log = StoredSchemaLimits(
        entities: 4_096, ancestors: 64, propertiesOfEntity: 16_384, propertiesInAll: 131_072, nameLength: .max,
        constrainedPropertiesInAll: 131_072)

    let entities: Int
    let ancestors: Int
    let propertiesOfEntity: Int
    let propertiesInAll: Int
    let nameLength: Int
    let constrainedPropertiesInAll: Int

    /// The largest number allowed.
    package subscript(limit: StoredSchemaLimit) -> Int {
        switch limit {
        case .entities: entities
        case .ancestors: ancestors
        case .propertiesOfEntity: propertiesOfEntity
        case .propertiesInAll: propertiesInAll
        case .nameLength: nameLength
        case .constrainedPropertiesInAll: constrainedPropertiesInAll
        case .entitiesTimesRelationships: 1 << 24
        }
    }
}

extension StoredSchemaFault: CustomStringConvertible {
    /// The entity or property at fault and the way out.
    public var description: String { "\(cause). \(wayOut)" }

    /// The entity or property at fault, without a full stop.
    package var cause: String {
        switch self {
        case .duplicateEntity(let entity): "The schema has two entities \(entity)"
        case .unknownSuperentity(let entity, let superentity):
            "\(entity) inherits from \(superentity), which the schema does not have"
        case .inheritanceCycle(let entity): "\(entity) inherits from itself"
        case .duplicateProperty(let entity, let property):
            "\(entity) has two properties \(property), perhaps one by inheritance"
        case .reservedName(let entity, let property): "\(entity).\(property): the name is reserved"
        case .unknownDestination(let entity, let property, let destination):
            "\(entity).\(property) leads to \(destination), which the schema does not have"
        case .unknownInverse(let entity, let property, let inverse):
            "\(entity).\(property) names \(inverse) as its inverse, which is not a relationship of its destination"
        case .unknownConstrainedProperty(let entity, let property):
            "A constraint or index names \(entity).\(property), which does not exist"
        case .unsuitableDefault(let entity, let property):
            "The default of \(entity).\(property) is not of the attribute's kind"
        case .unknownOption(let entity, let property):
            "\(entity).\(property) has an option that the file format does not know"
        case .limitExceeded(let limit, let found, let most):
            "The schema has \(found) \(limit.subject); the limit is \(most)"
        }
    }

    private var wayOut: String {
        switch self {
        case .duplicateEntity, .duplicateProperty: "Rename one."
        case .unknownSuperentity: "Add it."
        case .inheritanceCycle: "Break the cycle."
        case .reservedName: "Rename the property."
        case .unknownDestination: "Add that entity."
        case .unknownInverse, .unknownConstrainedProperty, .unsuitableDefault: "Correct it."
        case .unknownOption: "Remove it, or update the library."
        case .limitExceeded: "Make it smaller, or split it over several stores."
        }
    }
}

extension StoredSchemaLimit {
    fileprivate var subject: String {
        switch self {
        case .entities: "entities"
        case .nameLength: "bytes in a name"
        case .ancestors: "levels of inheritance for an entity"
        case .propertiesOfEntity: "properties in an entity"
        case .propertiesInAll: "properties in all entities, inherited ones counted again"
        case .constrainedPropertiesInAll: "properties in constraints and indices, inherited ones counted again"
        case .entitiesTimesRelationships: "entities times relationships, inherited ones counted again"
        }
    }
}
