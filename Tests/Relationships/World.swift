import MortiseCore
import PackageTestSupport

/// The description of a random set of models: which entities there are, and how they relate.
///
/// An entity is a place in one of five families of classes, each a root with a subclass and a subclass of that. A link is
/// a relationship with its inverse, or one without.
struct World: Hashable, Sendable {
    struct Entity: Hashable, Sendable {
        let family: Int
        /// 0 for the root of the family, 2 for the subclass of its subclass.
        let level: Int

        var name: String { String("ABCDE".dropFirst(family).prefix(1)) + (level == 0 ? "" : "\(level)") }

        /// Whether models of the other entity are models of this one.
        func includes(_ other: Entity) -> Bool { family == other.family && level <= other.level }
    }

    enum Kind: Int, Hashable, Sendable { case optional, required, many }

    /// One property.
    struct End: Hashable, Sendable {
        var owner: Entity
        var kind: Kind
        var rule: Schema.Relationship.DeleteRule
        /// Whether a to-many property is an optional array.
        var isOptionalArray = false
    }

    /// Which property names the other as its inverse.
    enum Naming: Int, Hashable, Sendable { case left, right, both, inferred }

    struct Link: Hashable, Sendable {
        var left: End
        /// Nil for a relationship without inverse, and for one that is its own inverse.
        var right: End?
        /// Where the left property leads.
        var target: Entity
        var isSymmetric = false
        var naming = Naming.both

        func end(_ side: Side) -> End? { side == .left || isSymmetric ? left : right }
        func target(_ side: Side) -> Entity { side == .left ? target : left.owner }
    }

    enum Side: Int, Hashable, Sendable {
        case left, right
        var other: Side { self == .left ? .right : .left }
    }

    /// A property of an entity: the end of a link.
    struct Property: Hashable, Sendable {
        let link: Int
        let side: Side
    }

    var entities: [Entity]
    /// Nil where a link was taken out, so that the others keep their numbers.
    var links: [Link?]

    func end(_ property: Property) -> End? { links[property.link]?.end(property.side) }
    func target(_ property: Property) -> Entity? { links[property.link]?.target(property.side) }
    func name(_ property: Property) -> String {
        let isRight = property.side == .right && links[property.link]?.isSymmetric != true
        return "\(isRight ? "s" : "r")\(property.link)"
    }

    /// The properties that an entity declares itself, in the order of their slots.
    func ownProperties(_ entity: Entity) -> [Property] {
        links.indices.flatMap { index -> [Property] in
            guard let link = links[index] else { return [] }
            var own: [Property] = []
            if link.left.owner == entity { own.append(Property(link: index, side: .left)) }
            if link.right?.owner == entity { own.append(Property(link: index, side: .right)) }
            return own
        }
    }

    /// All properties of an entity, inherited ones included, with their slots.
    func properties(_ entity: Entity) -> [(property: Property, slot: Int)] {
        let all = (0...entity.level).flatMap { ownProperties(Entity(family: entity.family, level: $0)) }
        return all.enumerated().map { ($1, $0 + Self.attributeCount) }
    }

    /// The root's attributes come first: `n`, the number of the model, and `v`, its value.
    static let attributeCount = 2

    func subtree(_ entity: Entity) -> [Entity] { entities.filter(entity.includes) }
}

// MARK: - Making worlds

extension World {
    /// - Parameter seed: says all about the world.
    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed ^ 0x5EED_0F_307E1D)
        let count = 2 + random.below(4)
        var entities = [Entity(family: 0, level: 0)]
        while entities.count < count {
            let family = entities[entities.count - 1].family
            let level = entities[entities.count - 1].level
            if level < 2, random.chance(percent: 40) {
                entities.append(Entity(family: family, level: level + 1))
            } else {
                entities.append(Entity(family: family + 1, level: 0))
            }
        }
        self.entities = entities
        links = []
        for _ in 0..<(2 + random.below(5)) {
            if let link = Self.link(among: entities, &random), Self.keepsInferenceClear(link, links) {
                links.append(link)
            }
        }
    }

    private static func link(among entities: [Entity], _ random: inout SeededGenerator) -> Link? {
        let left = random.pick(entities)
        // A quarter leads back to the same entity.
        let right = random.chance(percent: 25) ? left : random.pick(entities)
        let rules: [Schema.Relationship.DeleteRule] = [.nullify, .nullify, .cascade, .cascade, .deny, .noAction]
        func end(_ owner: Entity, to target: Entity) -> End {
            var kind = random.pick([Kind.optional, .optional, .many, .many, .required])
            // Only towards an earlier family, so that the first model of all can be made.
            if kind == .required, owner.family <= target.family { kind = .optional }
            let rule = random.pick(rules)
            return End(
                owner: owner, kind: kind, rule: rule, isOptionalArray: kind == .many && random.chance(percent: 20))
        }
        var link = Link(left: end(left, to: right), right: end(right, to: left), target: right)
        if left == right, random.chance(percent: 20) {
            link.right = nil
            link.isSymmetric = true
            link.naming = .left
            return link
        }
        if random.chance(percent: 15) {
            link.right = nil
            return link
        }
        link.naming = random.pick([Naming.left, .right, .both, .inferred])
        if link.naming == .inferred, link.left.kind == .many, link.right?.kind == .many { link.naming = .both }
        return link
    }

    /// Which inverse is inferred must not be a question: at most one relationship that names none joins two families. A
    /// subclass may have one more, without inverse, to where its superclass has one that is inferred.
    private static func keepsInferenceClear(_ link: Link, _ others: [Link?]) -> Bool {
        let isUnnamed = !link.isSymmetric && (link.right == nil || link.naming == .inferred)
        guard isUnnamed else { return true }
        if link.naming == .inferred, link.right != nil, link.left.owner.family == link.target.family { return false }
        let families: Set = [link.left.owner.family, link.target.family]
        let rivals = others.compactMap { $0 }.filter { other in
            !other.isSymmetric && (other.right == nil || other.naming == .inferred)
                && families == [other.left.owner.family, other.target.family]
        }
        if rivals.isEmpty { return true }
        guard rivals.count == 1, let rival = rivals.first, rival.right != nil, link.right == nil else { return false }
        return rival.left.owner.includes(link.left.owner) && rival.left.owner != link.left.owner
            && rival.target == link.target
            || rival.target.includes(link.left.owner) && rival.target != link.left.owner
                && rival.left.owner == link.target
    }
}

// MARK: - Text

extension World: CustomStringConvertible {
    /// The models as Swift source.
    var description: String {
        entities.map { entity in
            let parent = entity.level == 0 ? "" : ": \(Entity(family: entity.family, level: entity.level - 1).name)"
            var lines = ["@Model class \(entity.name)\(parent) {"]
            if entity.level == 0 { lines.append("    var n: Int, v: Int") }
            lines += ownProperties(entity).map { "    " + declaration($0) }
            return (lines + ["}"]).joined(separator: "\n")
        }.joined(separator: "\n")
    }

    private func declaration(_ property: Property) -> String {
        guard let link = links[property.link], let end = end(property), let target = target(property) else { return "" }
        var arguments = end.rule == .nullify ? [] : ["deleteRule: .\(end.rule)"]
        if names(property) {
            let inverse = link.isSymmetric ? property : Property(link: property.link, side: property.side.other)
            arguments.append("inverse: \\\(target.name).\(name(inverse))")
        }
        let type =
            switch end.kind {
            case .optional: "\(target.name)?"
            case .required: target.name
            case .many: "[\(target.name)]\(end.isOptionalArray ? "?" : "")"
            }
        let attribute = arguments.isEmpty ? "" : "@Relationship(\(arguments.joined(separator: ", "))) "
        return "\(attribute)var \(name(property)): \(type)\(end.kind == .many ? " = []" : "")"
    }

    /// Whether the property says what its inverse is.
    func names(_ property: Property) -> Bool {
        guard let link = links[property.link] else { return false }
        if link.isSymmetric { return true }
        guard link.right != nil else { return false }
        switch link.naming {
        case .both: return true
        case .left: return property.side == .left
        case .right: return property.side == .right
        case .inferred: return false
        }
    }
}
