/// What the translation of a condition yields: an expression of SQL, and whether it means the same.
///
/// It is true wherever the condition holds. If it `isExact`, it is true nowhere else; it may be null where it is not true.
package struct Fragment: Sendable, Hashable {
    /// The expression.
    package var sql: SQLExpression
    /// Whether it is true only where the condition holds.
    package var isExact: Bool

    package init(_ sql: SQLExpression, isExact: Bool = true) {
        self.sql = sql
        self.isExact = isExact
    }

    /// What is not translated: it may hold anywhere.
    package static let unknown = Fragment(.truth(true), isExact: false)

    /// What always holds, or never.
    static func truth(_ holds: Bool) -> Fragment { Fragment(.truth(holds)) }

    /// Whether nothing was translated.
    package var isUnknown: Bool { !isExact && sql == .truth(true) }

    /// What all fulfil.
    static func and(_ parts: [Fragment]) -> Fragment {
        if parts.contains(where: { $0.isExact && $0.sql == .truth(false) }) { return .truth(false) }
        let isExact = parts.allSatisfy(\.isExact)
        let left = parts.map(\.sql).filter { $0 != .truth(true) }
        if left.isEmpty { return Fragment(.truth(true), isExact: isExact) }
        return Fragment(left.count == 1 ? left[0] : .and(left), isExact: isExact)
    }

    /// What one fulfils.
    static func or(_ parts: [Fragment]) -> Fragment {
        if let whole = parts.first(where: { $0.isExact && $0.sql == .truth(true) }) { return whole }
        if parts.contains(where: \.isUnknown) { return .unknown }
        let left = parts.filter { $0.sql != .truth(false) }
        if left.isEmpty { return .truth(false) }
        return Fragment(left.count == 1 ? left[0].sql : .or(left.map(\.sql)), isExact: left.allSatisfy(\.isExact))
    }
}
