#if Tool
import MortiseCore

/// How alike a property or an entity that is gone and a new one are, from 0 to 100.
enum RenameScore {
    /// Of an old property and a new one.
    static func of(_ a: StoredProperty, in old: StoredEntity, _ b: StoredProperty, in new: StoredEntity) -> Int {
        var score: Double = 0
        switch (a.content, b.content) {
        case (.attribute(let x), .attribute(let y)):
            guard x.kind == y.kind || x.kind.widens(to: y.kind) else { return 0 }
            score += x.kind == y.kind ? 30 : 15
            if x.options == y.options, a.isOptional == b.isOptional { score += 8 }
            if x.defaultValue == y.defaultValue { score += 4 }
        case (.relationship(let x), .relationship(let y)):
            guard x.isToMany == y.isToMany, x.destination == y.destination || x.inverse == y.inverse else { return 0 }
            if x.destination == y.destination { score += 20 }
            if x.inverse == y.inverse { score += 10 }
            if x.deleteRule == y.deleteRule, a.isOptional == b.isOptional { score += 8 }
            if x.minimumCount == y.minimumCount, x.maximumCount == y.maximumCount { score += 4 }
        default: return 0
        }
        score += name(a.name, b.name)
        let (before, after) = (neighbors(of: a.name, in: old), neighbors(of: b.name, in: new))
        if before.previous == after.previous { score += 4 }
        if before.next == after.next { score += 4 }
        if constraints(of: a.name, in: old) == constraints(of: b.name, in: new) { score += 5 }
        return min(100, Int(score.rounded()))
    }

    /// What entities are compared by.
    struct Shape {
        let name: String
        /// Names and kinds of its properties.
        let properties: Set<String>
        /// The relationships of others that lead to it.
        let links: Set<String>
    }

    static func shapes(_ entities: [StoredEntity], in schema: StoredSchema) -> [Shape] {
        var links: [String: Set<String>] = [:]
        for entity in schema.entities {
            for property in entity.properties {
                guard let destination = property.relationship?.destination, destination != entity.name else { continue }
                links[destination, default: []].insert("\(entity.name).\(property.name)")
            }
        }
        return entities.map { entity in
            Shape(
                name: entity.name, properties: Set(entity.properties.map(shape)), links: links[entity.name] ?? [])
        }
    }

    /// Of entities: what they have in common, their names, and what leads to them.
    static func of(_ a: Shape, _ b: Shape) -> Int {
        let score =
            60 * share(a.properties, b.properties) + 25 * nearness(a.name, b.name) + 15 * share(a.links, b.links)
        return min(100, Int(score.rounded()))
    }

    /// How much of both sets is in both.
    private static func share(_ a: Set<String>, _ b: Set<String>) -> Double {
        let all = a.union(b).count
        return all == 0 ? 1 : Double(a.intersection(b).count) / Double(all)
    }

    private static func shape(_ property: StoredProperty) -> String {
        switch property.content {
        case .attribute(let attribute): "\(property.name) \(attribute.kind.rawValue)"
        case .relationship(let relationship): "\(property.name) \(relationship.isToMany ? "to-many" : "to-one")"
        }
    }

    // MARK: Names

    /// Up to 30 for near names, and 10 more where the words of one contain those of the other, also as parts of words.
    static func name(_ a: String, _ b: String) -> Double {
        let (x, y) = (words(a).joined(separator: " "), words(b).joined(separator: " "))
        return 30 * nearness(a, b) + (x.contains(y) || y.contains(x) ? 10 : 0)
    }

    private static func nearness(_ a: String, _ b: String) -> Double {
        let (x, y) = (Array(words(a).joined(separator: " ")), Array(words(b).joined(separator: " ")))
        let (p, q) = (Array(x.prefix(64)), Array(y.prefix(64)))
        let longer = max(p.count, q.count)
        return longer == 0 ? 1 : 1 - Double(Suggestion.distance(p, q)) / Double(longer)
    }

    /// The words of a name in lower case: a capital begins one, but not behind another capital.
    static func words(_ name: String) -> [String] {
        var words: [String] = []
        var isCapital = true
        for character in name {
            if character == "_" || character == " " || character == "-" {
                words.append("")
            } else if character.isUppercase, !isCapital || words.isEmpty {
                words.append(character.lowercased())
            } else {
                if words.isEmpty { words.append("") }
                words[words.count - 1] += character.lowercased()
            }
            isCapital = character.isUppercase
        }
        return words.filter { !$0.isEmpty }
    }

    // MARK: Neighborhood

    private static func neighbors(of name: String, in entity: StoredEntity) -> (previous: String?, next: String?) {
        guard let place = entity.properties.firstIndex(where: { $0.name == name }) else { return (nil, nil) }
        return (
            place > 0 ? entity.properties[place - 1].name : nil,
            place + 1 < entity.properties.count ? entity.properties[place + 1].name : nil
        )
    }

    /// The constraints and indexes that have the property, without its name.
    private static func constraints(of name: String, in entity: StoredEntity) -> Set<String> {
        func others(_ names: [String]) -> String { names.map { $0 == name ? "" : $0 }.joined(separator: "\u{0}") }
        return Set(
            entity.uniquenessConstraints.filter { $0.contains(name) }.map { "unique " + others($0) }
                + entity.indices.filter { $0.properties.contains(name) }
                .map { "\($0.kind.rawValue) " + others($0.properties) })
    }
}
#endif
