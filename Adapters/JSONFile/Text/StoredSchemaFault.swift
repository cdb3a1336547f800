import MortiseCore

/// Why a schema cannot be kept in a JSON store's file.
public enum StoredSchemaFault: Error, Hashable, Sendable {
    /// Two entities have the same name.
    case duplicateEntity(entity: String)
    /// The entity inherits from one that the schema does not have.
    case unknownSuperentity(entity: String, superentity: String)
    /// The entity inherits from itself.
    case inheritanceCycle(entity: String)
    /// The property appears twice, perhaps in an ancestor.
    case duplicateProperty(entity: String, property: String)
    /// `$id` is the name of the record's number.
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
    /// A limit of the format is exceeded.
    case limitExceeded(StoredSchemaLimit)
}

/// The limits of a schema in a JSON store's file. They bound what reading a hostile file can cost.
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

    /// The largest number allowed.
    public var value: Int {
        switch self {
        case .entities: 4096
        case .ancestors: 32
        case .propertiesOfEntity, .nameLength: 1024
        case .propertiesInAll, .constrainedPropertiesInAll: 16_384
        }
    }
}

extension StoredSchemaFault: CustomStringConvertible {
    /// The entity or property at fault and the way out.
    public var description: String {
        switch self {
        case .duplicateEntity(let entity): "The schema has two entities \(entity). Rename one."
        case .unknownSuperentity(let entity, let superentity):
            "\(entity) inherits from \(superentity), which the schema does not have. Add it."
        case .inheritanceCycle(let entity): "\(entity) inherits from itself. Break the cycle."
        case .duplicateProperty(let entity, let property):
            "\(entity) has two properties \(property), perhaps one by inheritance. Rename one."
        case .reservedName(let entity, let property):
            "\(entity).\(property): the name is reserved. Rename the property."
        case .unknownDestination(let entity, let property, let destination):
            "\(entity).\(property) leads to \(destination), which the schema does not have. Add that entity."
        case .unknownInverse(let entity, let property, let inverse):
            "\(entity).\(property) names \(inverse) as its inverse, which is not a relationship of its destination. "
                + "Correct it."
        case .unknownConstrainedProperty(let entity, let property):
            "A constraint or index names \(entity).\(property), which does not exist. Correct it."
        case .unsuitableDefault(let entity, let property):
            "The default of \(entity).\(property) is not of the attribute's kind. Correct it."
        case .unknownOption(let entity, let property):
            "\(entity).\(property) has an option that the file format cannot keep. Remove it, or update the library."
        case .limitExceeded(let limit):
            "The schema has more than \(limit.value) \(limit.subject), the limit. Make it smaller."
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
        }
    }
}
