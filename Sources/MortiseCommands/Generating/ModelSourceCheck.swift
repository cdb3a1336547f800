#if Tool
import MortiseCore

/// Which relationships go together, and which side of a pair names the other in Swift.
struct StoredInverses {
    struct Name: Hashable {
        let entity: String
        let property: String
    }

    struct Relation {
        let name: Name
        let isToMany: Bool
        let destination: String
        let inverse: String?
    }

    private let schema: StoredSchema
    private let entities: [String: StoredEntity]
    /// By entity, its relationships, inherited ones first.
    private let relations: [String: [Relation]]
    /// The relationships with an inverse that is theirs.
    private let paired: Set<Name>

    init(_ schema: StoredSchema) {
        self.schema = schema
        let entities = Dictionary(schema.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.entities = entities
        relations = entities.mapValues { entity in
            let chain = sequence(first: entity) { $0.superentity.flatMap { entities[$0] } }
            return Array(chain).reversed().flatMap { ancestor in
                ancestor.properties.compactMap { property in
                    property.relationship.map {
                        Relation(
                            name: Name(entity: ancestor.name, property: property.name), isToMany: $0.isToMany,
                            destination: $0.destination, inverse: $0.inverse)
                    }
                }
            }
        }
        var paired: Set<Name> = []
        for entity in schema.entities {
            for property in entity.properties {
                guard let relationship = property.relationship, let inverse = relationship.inverse else { continue }
                guard
                    let back = entities[relationship.destination]?.properties.first(where: { $0.name == inverse })?
                        .relationship
                else { continue }
                if back.destination == entity.name, back.inverse == property.name {
                    paired.insert(Name(entity: entity.name, property: property.name))
                }
            }
        }
        self.paired = paired
    }

    /// Whether a relationship names its inverse: one of the two does, that which holds many if the other holds one.
    func names(_ property: String, in entity: String) -> Bool {
        guard let mine = entities[entity]?.properties.first(where: { $0.name == property })?.relationship,
            let inverse = mine.inverse,
            let theirs = entities[mine.destination]?.properties.first(where: { $0.name == inverse })?.relationship
        else { return false }
        if mine.isToMany != theirs.isToMany { return mine.isToMany }
        return "\(entity).\(property)".utf8.lexicographicallyPrecedes("\(mine.destination).\(inverse)".utf8)
    }

    /// What is wrong with the inverses, for people.
    var faults: [String] {
        var faults: [String] = []
        for entity in schema.entities {
            for property in entity.properties {
                guard let relationship = property.relationship else { continue }
                let name = Name(entity: entity.name, property: property.name)
                let shown = "\(entity.name).\(property.name)".shown()
                if let inverse = relationship.inverse {
                    if relationship.destination == entity.name, inverse == property.name {
                        faults.append("\(shown) is its own inverse, which no model can say; remove the inverse")
                    } else if !paired.contains(name) {
                        faults.append(
                            "\(shown) has the inverse \(inverse.shown()), which \(relationship.destination.shown()) does not declare "
                                + "as leading back by it; correct it")
                    }
                } else if let partner = inferred(name), partner != name, inferred(partner) == name {
                    let pair = "\(partner.entity).\(partner.property)"
                    if "\(entity.name).\(property.name)".utf8.lexicographicallyPrecedes(pair.utf8) {
                        faults.append(
                            "\(shown) and \(pair.shown()) would be taken for inverses of each other, which the schema does not say; "
                                + "make them inverses there")
                    }
                }
            }
        }
        return faults
    }

    private func inherits(_ entity: String, from ancestor: String) -> Bool {
        sequence(first: entity) { entities[$0]?.superentity }.contains(ancestor)
    }

    /// The relationship that the library takes for the inverse of one without a named one; see `ModelLayout.partner(of:)`.
    private func inferred(_ name: Name) -> Name? {
        guard let mine = relations[name.entity]?.first(where: { $0.name == name }) else { return nil }
        let destination = mine.destination
        func isUnclaimed(_ relation: Relation, towards target: String) -> Bool {
            !paired.contains(relation.name) && inherits(target, from: relation.destination)
        }
        let back = (relations[destination] ?? []).filter {
            isUnclaimed($0, towards: name.entity) && $0.name != name
        }
        let there = (relations[name.entity] ?? []).filter { candidate in
            isUnclaimed(candidate, towards: destination)
                && !(destination == name.entity && back.contains { $0.name == candidate.name }
                    && candidate.name != name)
        }
        guard back.count == 1, there.map(\.name) == [name], back[0].name.entity == destination,
            back[0].destination == name.entity, !(mine.isToMany && back[0].isToMany)
        else { return nil }
        return back[0].name
    }
}

/// What of a schema no class can say.
struct ModelSourceCheck {
    private(set) var faults: [String] = []

    init(_ schema: StoredSchema, _ inverses: StoredInverses, _ layouts: [String: RecordLayout]) {
        let entities = Set(schema.entities.map(\.name))
        for entity in schema.entities {
            let shown = entity.name.shown()
            if !SwiftName.isIdentifier(entity.name) {
                faults.append("\"\(shown)\" is no name of a class; rename the entity")
            } else if ReservedSwiftNames.entities.contains(entity.name) {
                faults.append("\(shown) is a name that Swift or Foundation has; rename the entity")
            }
            checkProperties(of: entity, entities)
            checkOriginalNames(of: entity)
            let slots = layouts[entity.name]?.slots ?? []
            for constraint in entity.uniquenessConstraints {
                for name in constraint {
                    guard let slot = slots.first(where: { $0.name == name }) else { continue }
                    let subject = "\(shown).\(name.shown())"
                    if slot.role.isToMany {
                        faults.append("\(subject) holds many and cannot be unique; remove the constraint")
                    } else if slot.property.attribute?.options.contains(.ephemeral) == true {
                        faults.append("\(subject) is not stored and cannot be unique; remove the constraint")
                    }
                }
            }
        }
        faults += inverses.faults
    }

    private mutating func checkProperties(of entity: StoredEntity, _ entities: Set<String>) {
        let names = Set(entity.properties.map(\.name))
        for property in entity.properties {
            let subject = "\(entity.name.shown()).\(property.name.shown())"
            if !SwiftName.isIdentifier(property.name) {
                faults.append("\"\(subject)\" is no name of a property; rename it")
            } else if ReservedSwiftNames.properties.contains(property.name) {
                faults.append("\(subject) has a name that models have already; rename it")
            } else if entities.contains(property.name) || ReservedSwiftNames.used.contains(property.name) {
                faults.append("\(subject) has the name of a type; rename it")
            } else if ReservedSwiftNames.prefixes.contains(where: {
                property.name.hasPrefix($0) && names.contains(String(property.name.dropFirst($0.count)))
            }) {
                faults.append("\(subject) has a name that the macros give to another property's parts; rename it")
            }
            if property.isUniqueByItself, !entity.uniquenessConstraints.contains([property.name]) {
                faults.append("\(subject) has the option unique, and there is no constraint for it; add it")
            }
            if let relationship = property.relationship {
                let (minimum, maximum) = (relationship.minimumCount ?? 0, relationship.maximumCount ?? 0)
                if minimum < 0 || maximum < 0 || (maximum > 0 && minimum > maximum) {
                    faults.append("\(subject) has counts that no relationship can have; correct them")
                }
            } else if let attribute = property.attribute {
                if attribute.options.isSuperset(of: [.unique, .ephemeral]) {
                    faults.append("\(subject) is not stored and cannot be unique; remove one of the options")
                }
                if attribute.options.contains(.transformable), attribute.kind != .data {
                    faults.append("\(subject) has a transformer and is not of kind data; correct the kind")
                }
                if attribute.options.rawValue >> 7 != 0 {
                    faults.append("\(subject) has options that this tool does not know; update it")
                }
                if let value = attribute.defaultValue, !value.isNull,
                    SwiftLiteral(type: { $0 }).expression(value, kind: attribute.kind) == nil
                {
                    faults.append("\(subject) has a default value that Swift has no expression for; remove it")
                }
            }
        }
    }

    private mutating func checkOriginalNames(of entity: StoredEntity) {
        var successors: [String: String] = [:]
        for property in entity.properties where property.originalName != property.name {
            guard let other = successors.updateValue(property.name, forKey: property.originalName) else { continue }
            faults.append(
                "\(entity.name.shown()).\(property.name.shown()) and \(other.shown()) both have the original name "
                    + "\(property.originalName.shown()), which models cannot say; keep one")
        }
    }
}
#endif
