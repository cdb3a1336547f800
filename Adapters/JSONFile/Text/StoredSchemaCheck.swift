import MortiseCore

extension StoredSchema {
    /// Makes sure that the schema can be laid out, in time and memory that its limits bound.
    /// - Throws: `StoredSchemaFault`.
    func checkForDocument() throws(StoredSchemaFault) {
        guard entities.count <= StoredSchemaLimit.entities.value else { throw .limitExceeded(.entities) }
        var indices: [String: Int] = [:]
        for (index, entity) in entities.enumerated() {
            guard entity.name.utf8.count <= StoredSchemaLimit.nameLength.value else {
                throw .limitExceeded(.nameLength)
            }
            guard indices.updateValue(index, forKey: entity.name) == nil else {
                throw .duplicateEntity(entity: entity.name)
            }
        }
        var chains: [[Int]] = []
        for index in entities.indices { chains.append(try chain(of: index, indices: indices)) }
        try checkCounts(chains)
        for (index, chain) in chains.enumerated() {
            let names = try checkNames(of: index, chain: chain)
            try checkConstraints(of: entities[index], names: names)
            for property in entities[index].properties {
                guard let relationship = property.relationship else { continue }
                try check(relationship, property.name, of: entities[index].name, chains: chains, indices: indices)
            }
        }
    }

    /// The entity and what it inherits from, nearest first.
    private func chain(of index: Int, indices: [String: Int]) throws(StoredSchemaFault) -> [Int] {
        var chain = [index]
        var next = entities[index].superentity
        while let name = next {
            guard let parent = indices[name] else {
                throw .unknownSuperentity(entity: entities[chain[chain.count - 1]].name, superentity: name)
            }
            guard !chain.contains(parent) else { throw .inheritanceCycle(entity: entities[parent].name) }
            guard chain.count <= StoredSchemaLimit.ancestors.value else { throw .limitExceeded(.ancestors) }
            chain.append(parent)
            next = entities[parent].superentity
        }
        return chain
    }

    private func checkCounts(_ chains: [[Int]]) throws(StoredSchemaFault) {
        let constrained = entities.map { entity in
            entity.uniquenessConstraints.reduce(0) { $0 + 1 + $1.count }
                + entity.indices.reduce(0) { $0 + 1 + $1.properties.count }
        }
        var allProperties = 0
        var allConstrained = 0
        for chain in chains {
            let properties = chain.reduce(0) { $0 + entities[$1].properties.count }
            guard properties <= StoredSchemaLimit.propertiesOfEntity.value else {
                throw .limitExceeded(.propertiesOfEntity)
            }
            allProperties += properties
            allConstrained += chain.reduce(0) { $0 + constrained[$1] }
        }
        guard allProperties <= StoredSchemaLimit.propertiesInAll.value else { throw .limitExceeded(.propertiesInAll) }
        guard allConstrained <= StoredSchemaLimit.constrainedPropertiesInAll.value else {
            throw .limitExceeded(.constrainedPropertiesInAll)
        }
    }

    private func checkNames(of index: Int, chain: [Int]) throws(StoredSchemaFault) -> Set<String> {
        var names: Set<String> = []
        for ancestor in chain.reversed() {
            for property in entities[ancestor].properties {
                guard property.name.utf8.count <= StoredSchemaLimit.nameLength.value else {
                    throw .limitExceeded(.nameLength)
                }
                guard property.name != DocumentPlan.identifierKey else {
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

    private func check(
        _ relationship: StoredRelationship, _ property: String, of entity: String, chains: [[Int]],
        indices: [String: Int]
    ) throws(StoredSchemaFault) {
        guard let destination = indices[relationship.destination] else {
            throw .unknownDestination(entity: entity, property: property, destination: relationship.destination)
        }
        guard let inverse = relationship.inverse else { return }
        let isThere = chains[destination].contains { ancestor in
            entities[ancestor].properties.contains { $0.name == inverse && $0.relationship != nil }
        }
        guard isThere else { throw .unknownInverse(entity: entity, property: property, inverse: inverse) }
    }
}
