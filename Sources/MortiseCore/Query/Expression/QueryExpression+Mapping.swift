extension QueryExpression {
    /// The expression with each of its direct parts replaced, in the order of `children`.
    public func mapChildren(_ body: (QueryExpression) throws -> QueryExpression) rethrows -> QueryExpression {
        switch self {
        case .constant, .variable, .onModels: self
        case .list(let parts): .list(try parts.map(body))
        case .property(let a, let property): .property(try body(a), property)
        case .member(let a, let name): .member(try body(a), name)
        case .decoded(let a, let kind): .decoded(try body(a), kind)
        case .identifier(let a): .identifier(try body(a))
        case .compare(let comparison, let a, let b): .compare(comparison, try body(a), try body(b))
        case .not(let a): .not(try body(a))
        case .and(let parts): .and(try parts.map(body))
        case .or(let parts): .or(try parts.map(body))
        case .arithmetic(let operation, let a, let b, let kind): .arithmetic(operation, try body(a), try body(b), kind)
        case .negate(let a, let kind): .negate(try body(a), kind)
        case .conditional(let a, let b, let c): .conditional(try body(a), try body(b), try body(c))
        case .coalesce(let a, let b): .coalesce(try body(a), try body(b))
        case .flatMap(let a, let variable, let b): .flatMap(try body(a), variable: variable, try body(b))
        case .unwrap(let a): .unwrap(try body(a))
        case .count(let a): .count(try body(a))
        case .isEmpty(let a): .isEmpty(try body(a))
        case .first(let a): .first(try body(a))
        case .last(let a): .last(try body(a))
        case .element(let a, let b): .element(try body(a), try body(b))
        case .slice(let a, let b): .slice(try body(a), try body(b))
        case .lookup(let a, let b, let c): .lookup(try body(a), try body(b), try c.map(body))
        case .contains(let a, let b): .contains(try body(a), try body(b))
        case .exists(let a, let variable, let b): .exists(try body(a), variable: variable, try body(b))
        case .all(let a, let variable, let b): .all(try body(a), variable: variable, try body(b))
        case .filter(let a, let variable, let b): .filter(try body(a), variable: variable, try body(b))
        case .startsWith(let a, let b): .startsWith(try body(a), try body(b))
        case .minimum(let a): .minimum(try body(a))
        case .maximum(let a): .maximum(try body(a))
        case .containsSequence(let a, let b): .containsSequence(try body(a), try body(b))
        case .range(let a, let b, let isClosed): .range(try body(a), try body(b), isClosed: isClosed)
        case .localizedStandardContains(let a, let b): .localizedStandardContains(try body(a), try body(b))
        case .compareStrings(let comparison, let a, let b): .compareStrings(comparison, try body(a), try body(b))
        case .matches(let a, let text): .matches(try body(a), text)
        case .isKind(let a, let entity): .isKind(try body(a), entity)
        case .cast(let a, let entity): .cast(try body(a), entity)
        }
    }
}
