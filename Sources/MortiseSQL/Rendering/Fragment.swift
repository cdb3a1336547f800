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
        let ways = gathered(left.map(\.sql))
        return Fragment(ways.count == 1 ? ways[0] : .or(ways), isExact: left.allSatisfy(\.isExact))
    }

    /// Alternatives with those that compare one value with constants as one list: what a database does with thousands of them takes
    /// time by their square.
    private static func gathered(_ parts: [SQLExpression]) -> [SQLExpression] {
        if parts.count < 9 { return parts }
        var places: [SQLExpression: Int] = [:]
        var lists: [Int: [SQLValue]] = [:]
        var ways: [SQLExpression] = []
        for part in parts {
            guard case .compare(.equal, let side, .value(let value)) = part, !value.isNull else {
                ways.append(part)
                continue
            }
            if let place = places[side] {
                lists[place, default: []].append(value)
            } else {
                places[side] = ways.count
                lists[ways.count] = [value]
                ways.append(part)
            }
        }
        for (side, place) in places {
            if let values = lists[place], values.count > 1 { ways[place] = .isIn(side, values) }
        }
        return ways
    }
}
