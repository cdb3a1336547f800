extension QueryExpression {
    /// Calls the body with every part of the expression, the whole expression first.
    public func forEachPart(_ body: (QueryExpression) -> Void) {
        body(self)
        for child in children { child.forEachPart(body) }
    }

    /// Whether the test holds for the expression or for any part of it.
    func hasPart(where test: (QueryExpression) -> Bool) -> Bool {
        if test(self) { return true }
        // Asked many times for each fetch; the commonest expressions are gone through without an array of parts.
        switch self {
        case .constant, .variable, .onModels: return false
        case .property(let base, _), .not(let base): return base.hasPart(where: test)
        case .compare(_, let a, let b): return a.hasPart(where: test) || b.hasPart(where: test)
        case .list(let parts), .and(let parts), .or(let parts): return parts.contains { $0.hasPart(where: test) }
        default: return children.contains { $0.hasPart(where: test) }
        }
    }

    /// Whether a part can only be evaluated on models.
    public var needsModels: Bool { hasPart { if case .onModels = $0 { true } else { false } } }

    /// Whether evaluation may throw for a record. Then it must not be evaluated if an earlier condition is already
    /// false: Foundation stops there, and programs rely on it.
    public var mayThrow: Bool {
        hasPart { part in
            switch part {
            case .unwrap, .element, .slice, .onModels: true
            case .range(.constant, .constant, _): false
            case .range: true
            case .arithmetic(_, _, _, let kind), .negate(_, let kind): kind.isInteger
            default: false
            }
        }
    }
}

/// A property that an expression reads, by the entity through which it is named.
public struct QueryProperty: Sendable, Hashable, Codable {
    /// The entity of the record, or one that it inherits from.
    public let entity: String
    /// The property's name.
    public let name: String
    /// The property's slot in that entity's layout, and in the layouts of all entities that inherit from it.
    public let slot: Int

    /// Names a property of an entity by name and slot, which must match; this is not checked.
    public init(entity: String, name: String, slot: Int) {
        self.entity = entity
        self.name = name
        self.slot = slot
    }
}
