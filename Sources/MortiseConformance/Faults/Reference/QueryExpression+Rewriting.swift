import MortiseCore

extension QueryExpression {
    /// The expression with some of its parts exchanged, the innermost first; a part for which the body has nothing stays.
    func rewritten(by body: (QueryExpression) -> QueryExpression?) -> QueryExpression {
        func inner(_ part: QueryExpression) -> QueryExpression { part.rewritten(by: body) }
        let whole: QueryExpression =
            switch self {
            case .constant, .variable, .onModels: self
            case .list(let parts): .list(parts.map(inner))
            case .property(let a, let property): .property(inner(a), property)
            case .member(let a, let name): .member(inner(a), name)
            case .decoded(let a, let kind): .decoded(inner(a), kind)
            case .identifier(let a): .identifier(inner(a))
            case .compare(let comparison, let a, let b): .compare(comparison, inner(a), inner(b))
            case .not(let a): .not(inner(a))
            case .and(let parts): .and(parts.map(inner))
            case .or(let parts): .or(parts.map(inner))
            case .arithmetic(let operation, let a, let b, let kind): .arithmetic(operation, inner(a), inner(b), kind)
            case .negate(let a, let kind): .negate(inner(a), kind)
            case .conditional(let a, let b, let c): .conditional(inner(a), inner(b), inner(c))
            case .coalesce(let a, let b): .coalesce(inner(a), inner(b))
            case .flatMap(let a, let variable, let b): .flatMap(inner(a), variable: variable, inner(b))
            case .unwrap(let a): .unwrap(inner(a))
            case .count(let a): .count(inner(a))
            case .isEmpty(let a): .isEmpty(inner(a))
            case .first(let a): .first(inner(a))
            case .last(let a): .last(inner(a))
            case .element(let a, let b): .element(inner(a), inner(b))
            case .slice(let a, let b): .slice(inner(a), inner(b))
            case .lookup(let a, let b, let c): .lookup(inner(a), inner(b), c.map(inner))
            case .contains(let a, let b): .contains(inner(a), inner(b))
            case .exists(let a, let variable, let b): .exists(inner(a), variable: variable, inner(b))
            case .all(let a, let variable, let b): .all(inner(a), variable: variable, inner(b))
            case .filter(let a, let variable, let b): .filter(inner(a), variable: variable, inner(b))
            case .startsWith(let a, let b): .startsWith(inner(a), inner(b))
            case .minimum(let a): .minimum(inner(a))
            case .maximum(let a): .maximum(inner(a))
            case .hasRun(let a, let b): .hasRun(inner(a), inner(b))
            case .range(let a, let b, let isClosed): .range(inner(a), inner(b), isClosed: isClosed)
            case .localizedStandardContains(let a, let b): .localizedStandardContains(inner(a), inner(b))
            case .compareStrings(let comparison, let a, let b): .compareStrings(comparison, inner(a), inner(b))
            case .matches(let a, let text): .matches(inner(a), text)
            case .isKind(let a, let entity): .isKind(inner(a), entity)
            case .cast(let a, let entity): .cast(inner(a), entity)
            }
        return body(whole) ?? whole
    }
}
