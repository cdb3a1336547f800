package import MortiseCore

extension StoredSchema {
    /// Makes sure that the schema can be laid out, in time and memory that the limits bound. Nothing is laid out before.
    /// - Parameters:
    ///   - limits: those of the file's format.
    ///   - reservedName: a name that no property may have in it.
    /// - Throws: `StoredSchemaFault`.
    package func check(
        _ limits: StoredSchemaLimits, reservedName: String? = nil
    ) throws(StoredSchemaFault) {
        try limits.check(.entities, entities.count)
        var indices: [String: Int] = [:]
        for (index, entity) in entities.enumerated() {
            try limits.check(.nameLength, entity.name.utf8.count)
            guard indices.updateValue(index, forKey: entity.name) == nil else {
                throw .duplicateEntity(entity: entity.name)
            }
        }
        var chains: [[Int]] = []
        for index in entities.indices { chains.append(try chain(of: index, indices: indices, limits)) }
        try checkCounts(chains, limits)
        let relationships = entities.map { entity in
            Set(entity.properties.lazy.filter { $0.relationship != nil }.map(\.name))
        }
        for (index, chain) in chains.enumerated() {
            let names = try checkNames(of: index, chain: chain, limits, reservedName)
            try checkConstraints(of: entities[index], names: names)
            for property in entities[index].properties {
                switch property.content {
                case .attribute(let attribute):
                    guard attribute.options.isSubset(of: .known) else {
                        throw .unknownOption(entity: entities[index].name, property: property.name)
                    }
                case .relationship(let relationship):
                    guard let destination = indices[relationship.destination] else {
                        throw .unknownDestination(
                            entity: entities[index].name, property: property.name,
                            destination: relationship.destination)
                    }
                    guard let inverse = relationship.inverse else { continue }
                    guard chains[destination].contains(where: { relationships[$0].contains(inverse) }) else {
                        throw .unknownInverse(
                            entity: entities[index].name, property: property.name, inverse: inverse)
                    }
                }
            }
        }
    }

    /// The entity and what it inherits from, nearest first.
    private func chain(
        of index: Int, indices: [String: Int], _ limits: StoredSchemaLimits
    ) throws(StoredSchemaFault) -> [Int] {
        var chain = [index]
        var next = entities[index].superentity
        while let name = next {
            guard let parent = indices[name] else {
                throw .unknownSuperentity(entity: entities[chain[chain.count - 1]].name, superentity: name)
            }
            guard !chain.contains(parent) else { throw .inheritanceCycle(entity: entities[parent].name) }
            try limits.check(.ancestors, chain.count)
            chain.append(parent)
            next = entities[parent].superentity
        }
        return chain
    }

    private func checkCounts(_ chains: [[Int]], _ limits: StoredSchemaLimits) throws(StoredSchemaFault) {
        let constrained = entities.map { entity in
            entity.uniquenessConstraints.reduce(0) { $0 + 1 + $1.count }
                + entity.indices.reduce(0) { $0 + 1 + $1.properties.count }
        }
        let relationships = entities.map { $0.properties.count { $0.relationship != nil } }
        var (allProperties, allConstrained, allRelationships) = (0, 0, 0)
        for chain in chains {
            let properties = chain.reduce(0) { $0 + entities[$1].properties.count }
            try limits.check(.propertiesOfEntity, properties)
            allProperties += properties
            allConstrained += chain.reduce(0) { $0 + constrained[$1] }
            allRelationships += chain.reduce(0) { $0 + relationships[$1] }
        }
        try limits.check(.propertiesInAll, allProperties)
        try limits.check(.constrainedPropertiesInAll, allConstrained)
        try limits.check(.entitiesTimesRelationships, entities.count * allRelationships)
    }

    private func checkNames(
        of index: Int, chain: [Int], _ limits: StoredSchemaLimits, _ reservedName: String?
    ) throws(StoredSchemaFault) -> Set<String> {
        var names: Set<String> = []
        for ancestor in chain.reversed() {
            for property in entities[ancestor].properties {
                try limits.check(.nameLength, property.name.utf8.count)
                guard property.name != reservedName else {
                    throw .reservedName(entity: entities[ancestor].name, property: property.name)
                }
                guard names.insert(property.name).inserted else {
                    throw .duplicateProperty(entity: entities[index].name, property: property.name)
                }
            }
        }
        return names
    }

    private func checkConstraints(of entity: StoredEntity, names: Set<String>) throws(StoredSchemaFault) {
        for list in entity.uniquenessConstraints + entity.indices.map(\.properties) {
            for name in list where !names.contains(name) {
                throw .unknownConstrainedProperty(entity: entity.name, property: name)
            }
        }
    }
}

extension StoredSchemaLimits {
    /// - Throws: `StoredSchemaFault.limitExceeded`.
    package func check(_ limit: StoredSchemaLimit, _ count: Int) throws(StoredSchemaFault) {
        guard count <= self[limit] else { throw .limitExceeded(limit, found: count, most: self[limit]) }
    }
}

extension StoredAttribute.Options {
    fileprivate static let known: Self = [
        .unique, .externalStorage, .preserveValueOnDeletion, .ephemeral, .spotlight, .allowsCloudEncryption,
        .transformable,
    ]
}
