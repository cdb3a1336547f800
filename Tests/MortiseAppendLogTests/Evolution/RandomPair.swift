import MortiseCore
import PackageTestSupport

/// Two relationships that are each other's inverse; the first leads to one record and is stored.
struct RandomPair {
    let entity: String
    let name: String
    let destination: String
    let inverse: String
    /// Whether the inverse leads to one record, too.
    let isOneToOne: Bool
}

extension StoredSchema {
    /// The pairs, each once.
    var pairs: [RandomPair] {
        entities.flatMap { entity in
            entity.properties.compactMap { property -> RandomPair? in
                guard let relationship = property.relationship, !relationship.isToMany,
                    let name = relationship.inverse,
                    let back = self.entity(named: relationship.destination)?.properties.first(where: { $0.name == name }
                    )?
                    .relationship
                else { return nil }
                // Of two that lead to one record each, the first by name.
                if !back.isToMany, name < property.name { return nil }
                return RandomPair(
                    entity: entity.name, name: property.name, destination: relationship.destination, inverse: name,
                    isOneToOne: !back.isToMany)
            }
        }
    }
}

extension [StoredEntity] {
    func addingInverses(_ random: inout SeededGenerator, _ names: inout Int) -> [StoredEntity] {
        var entities = self
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            guard let first = indices.randomElement(using: &random), let second = indices.randomElement(using: &random)
            else { continue }
            names += 2
            let (name, inverse, isToMany) = ("r\(names - 1)", "r\(names)", random.chance(2))
            entities[first].properties.append(
                StoredProperty(
                    name: name, isOptional: true,
                    content: .relationship(
                        StoredRelationship(destination: self[second].name, isToMany: false, inverse: inverse))))
            entities[second].properties.append(
                StoredProperty(
                    name: inverse, isOptional: !isToMany,
                    content: .relationship(
                        StoredRelationship(destination: self[first].name, isToMany: isToMany, inverse: name))))
        }
        return entities
    }
}

extension RandomStage.Content {
    mutating func fill(_ pair: RandomPair, _ random: inout SeededGenerator) {
        let owners = records[pair.entity]?.keys.sorted() ?? []
        var free = Set(records[pair.destination]?.keys.sorted() ?? [])
        for owner in owners { records[pair.entity]?[owner]?[pair.name] = .value(.null) }
        if pair.isOneToOne {
            for number in free { records[pair.destination]?[number]?[pair.inverse] = .value(.null) }
        }
        for owner in owners where !random.chance(3) {
            guard let target = free.sorted().randomElement(using: &random) else { continue }
            records[pair.entity]?[owner]?[pair.name] = .link(pair.destination, target)
            guard pair.isOneToOne else { continue }
            free.remove(target)
            records[pair.destination]?[target]?[pair.inverse] = .link(pair.entity, owner)
        }
    }

    /// What one-to-one relationships lead to when records become one with others: a survivor without a partner gets the first
    /// partner of those that go, and the other partners have none any more.
    func partners(
        of entity: String, _ schema: StoredSchema, _ survivors: [UInt64: UInt64]
    ) -> [(owner: (String, UInt64), property: String, value: Value)] {
        var changes: [(owner: (String, UInt64), property: String, value: Value)] = []
        for pair in schema.pairs where pair.isOneToOne {
            var sides: [(String, String, String, String)] = []
            if pair.entity == entity { sides.append((pair.entity, pair.name, pair.destination, pair.inverse)) }
            if pair.destination == entity { sides.append((pair.destination, pair.inverse, pair.entity, pair.name)) }
            for (own, name, other, back) in sides {
                var given: [UInt64: UInt64] = [:]
                for (gone, survivor) in survivors.sorted(by: { $0.key < $1.key }) {
                    guard case .link(_, let partner)? = records[own]?[gone]?[name],
                        other != entity || survivors[partner] == nil
                    else { continue }
                    if case .link? = records[own]?[survivor]?[name] {
                        changes.append(((other, partner), back, .value(.null)))
                    } else if given[survivor] == nil {
                        given[survivor] = partner
                        changes.append(((own, survivor), name, .link(other, partner)))
                        changes.append(((other, partner), back, .link(own, survivor)))
                    } else {
                        changes.append(((other, partner), back, .value(.null)))
                    }
                }
            }
        }
        return changes
    }
}
