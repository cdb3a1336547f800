/// Whether the parts of a schema fit together, in time that the limits bound.
struct SchemaDocumentCheck {
    private let entities: [StoredEntity]
    private let places: [(entity: Int, properties: [Int])]
    private let cursor: SchemaTextCursor

    /// Takes with the entities where each of them and of their properties begins in the text.
    init(_ entities: [StoredEntity], _ places: [(entity: Int, properties: [Int])], _ cursor: SchemaTextCursor) {
        self.entities = entities
        self.places = places
        self.cursor = cursor
    }

    /// - Throws: `SchemaDocumentError`.
    func run() throws {
        if let first = try faults(most: 1).first { throw first }
    }

    /// The first hundred faults.
    var all: [SchemaDocumentError] {
        do { return try faults(most: 100) } catch { return (error as? SchemaDocumentError).map { [$0] } ?? [] }
    }

    /// - Throws: `SchemaDocumentError` for what leaves nothing to look at.
    private func faults(most: Int) throws -> [SchemaDocumentError] {
        var numbers: [String: Int] = [:]
        for (index, entity) in entities.enumerated() {
            guard numbers.updateValue(index, forKey: entity.name) == nil else {
                throw error(.duplicateEntity(entity.name), index)
            }
        }
        let chains = try entities.indices.map { try chain(of: $0, numbers) }
        let own = entities.map { Set($0.properties.map(\.name)) }
        let relationships = entities.map { entity in
            Set(entity.properties.lazy.filter { $0.relationship != nil }.map(\.name))
        }
        var found: [SchemaDocumentError] = []
        var (inAll, constrained) = (0, 0)
        for (index, chain) in chains.enumerated() {
            let count = chain.reduce(0) { $0 + entities[$1].properties.count }
            inAll += count
            constrained += chain.reduce(0) { $0 + names(in: entities[$1]) }
            try check("properties in an entity", count, SchemaDocumentLimit.propertiesOfEntity, index)
            try check("properties in all entities", inAll, SchemaDocumentLimit.propertiesInAll, index)
            try check("names in constraints and indexes", constrained, SchemaDocumentLimit.constrained, index)
            do { try checkNames(of: index, chain, own) } catch let error as SchemaDocumentError { found.append(error) }
            for (place, property) in entities[index].properties.enumerated() {
                guard let relationship = property.relationship else { continue }
                if let fault = fault(of: relationship, property.name, index, numbers, chains, relationships) {
                    found.append(error(fault, index, place))
                }
                if found.count >= most { return Array(found.prefix(most)) }
            }
            if found.count >= most { return Array(found.prefix(most)) }
        }
        return found
    }

    private func fault(
        of relationship: StoredRelationship, _ name: String, _ index: Int, _ numbers: [String: Int], _ chains: [[Int]],
        _ relationships: [Set<String>]
    ) -> SchemaDocumentError.Fault? {
        let entity = entities[index].name
        guard let destination = numbers[relationship.destination] else {
            return .unknownDestination(entity: entity, property: name, destination: relationship.destination)
        }
        guard let inverse = relationship.inverse,
            !chains[destination].contains(where: { relationships[$0].contains(inverse) })
        else { return nil }
        return .unknownInverse(entity: entity, property: name, inverse: inverse)
    }

    private func names(in entity: StoredEntity) -> Int {
        entity.uniquenessConstraints.reduce(0) { $0 + 1 + $1.count }
            + entity.indices.reduce(0) { $0 + 1 + $1.properties.count }
    }

    /// The entity and what it inherits from, nearest first.
    private func chain(of index: Int, _ numbers: [String: Int]) throws -> [Int] {
        var chain = [index]
        var next = entities[index].superentity
        while let name = next {
            let last = chain[chain.count - 1]
            guard let parent = numbers[name] else {
                throw error(.unknownSuperentity(entity: entities[last].name, superentity: name), last)
            }
            guard !chain.contains(parent) else { throw error(.inheritanceCycle(entity: entities[parent].name), parent) }
            try check("levels of inheritance", chain.count, SchemaDocumentLimit.ancestors, index)
            chain.append(parent)
            next = entities[parent].superentity
        }
        return chain
    }

    private func checkNames(of index: Int, _ chain: [Int], _ own: [Set<String>]) throws {
        let entity = entities[index]
        var seen: Set<String> = []
        for (place, property) in entity.properties.enumerated() {
            guard seen.insert(property.name).inserted,
                !chain.dropFirst().contains(where: { own[$0].contains(property.name) })
            else { throw error(.duplicateProperty(entity: entity.name, property: property.name), index, place) }
        }
        for name in entity.uniquenessConstraints.joined() + entity.indices.flatMap(\.properties)
        where !chain.contains(where: { own[$0].contains(name) }) {
            throw error(.unknownConstrainedProperty(entity: entity.name, property: name), index)
        }
    }

    private func check(_ what: String, _ count: Int, _ most: Int, _ index: Int) throws {
        guard count <= most else { throw error(.limitExceeded(what, most: most), index) }
    }

    private func error(
        _ fault: SchemaDocumentError.Fault, _ entity: Int, _ property: Int? = nil
    ) -> SchemaDocumentError {
        guard places.indices.contains(entity) else { return SchemaDocumentError(fault) }
        let place = places[entity]
        if let property, place.properties.indices.contains(property) {
            return cursor.error(fault, at: place.properties[property])
        }
        return cursor.error(fault, at: place.entity)
    }
}
