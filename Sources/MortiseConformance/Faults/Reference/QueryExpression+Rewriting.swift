import MortiseCore

extension QueryExpression {
    /// The expression with some of its parts exchanged, the innermost first; a part for which the body has nothing stays.
    func rewritten(by body: (QueryExpression) -> QueryExpression?) -> QueryExpression {
        let whole = mapChildren { $0.rewritten(by: body) }
        return body(whole) ?? whole
    }
}
