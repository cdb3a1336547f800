extension QueryExpression {
    /// The deepest nesting of expressions in a query that is decoded or run. Expressions are processed recursively, and
    /// exhausting the stack would end the process.
    public static let deepest = 128

    /// The length of a coding path to which an expression of that depth leads at most: a case, its value and an index for
    /// each level.
    fileprivate static let longestPath = 3 * deepest + 8

    /// Whether parts are nested deeper than `deepest`. Descends no deeper than that.
    var isTooDeep: Bool { isDeeper(than: Self.deepest) }

    private func isDeeper(than depth: Int) -> Bool {
        if depth == 0 { return true }
        // Asked for each fetch; the commonest expressions are gone through without an array of parts.
        switch self {
        case .constant, .variable, .onModels: return false
        case .property(let base, _), .not(let base): return base.isDeeper(than: depth - 1)
        case .compare(_, let a, let b): return a.isDeeper(than: depth - 1) || b.isDeeper(than: depth - 1)
        case .list(let parts), .and(let parts), .or(let parts):
            return parts.contains { $0.isDeeper(than: depth - 1) }
        default: return children.contains { $0.isDeeper(than: depth - 1) }
        }
    }
}

extension StoreQuery {
    /// - Throws: `QueryEvaluationError.nestedTooDeep`.
    package func checkDepth() throws {
        if conjuncts.contains(where: { $0.expression.isTooDeep }) || order.contains(where: { $0.expression.isTooDeep })
        {
            throw QueryEvaluationError.nestedTooDeep(limit: QueryExpression.deepest)
        }
    }
}

// The decoding that the compiler makes for `QueryExpression` calls these for the parts of an expression, so that depth is
// checked before each step.
extension KeyedDecodingContainer {
    func decode(_ type: QueryExpression.Type, forKey key: Key) throws -> QueryExpression {
        try checkDepth(key)
        return try plain(type, key)
    }

    func decode(_ type: [QueryExpression].Type, forKey key: Key) throws -> [QueryExpression] {
        try checkDepth(key)
        return try plain(type, key)
    }

    func decodeIfPresent(_ type: QueryExpression.Type, forKey key: Key) throws -> QueryExpression? {
        try checkDepth(key)
        func plain<Value: Decodable>(_ type: Value.Type) throws -> Value? { try decodeIfPresent(type, forKey: key) }
        return try plain(type)
    }

    private func plain<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
        try decode(type, forKey: key)
    }

    private func checkDepth(_ key: Key) throws {
        guard codingPath.count > QueryExpression.longestPath else { return }
        throw DecodingError.dataCorruptedError(
            forKey: key, in: self,
            debugDescription: "The expression is nested deeper than \(QueryExpression.deepest) levels. Simplify it.")
    }
}
