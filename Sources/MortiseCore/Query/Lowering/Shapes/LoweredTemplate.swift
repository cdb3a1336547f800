/// A query expression with places for captured values.
indirect enum LoweredTemplate: Sendable {
    case fixed(QueryExpression)
    case value(CapturedValue)
    case compare(QueryExpression.Comparison, LoweredTemplate, LoweredTemplate)
    /// An expression whose direct parts are to be replaced.
    case parts(QueryExpression, [LoweredTemplate])

    /// The placeholder for a captured value while a template is made; no expression has a variable of that number.
    static func placeholder(_ number: Int) -> QueryExpression { .variable(-1 - number) }

    init(_ expression: QueryExpression, _ values: [CapturedValue]) {
        if case .variable(let number) = expression, number < 0, -1 - number < values.count {
            self = .value(values[-1 - number])
            return
        }
        let parts = expression.children.map { LoweredTemplate($0, values) }
        if parts.allSatisfy(\.isFixed) {
            self = .fixed(expression)
        } else if case .compare(let comparison, _, _) = expression {
            self = .compare(comparison, parts[0], parts[1])
        } else {
            self = .parts(expression, parts)
        }
    }

    private var isFixed: Bool { if case .fixed = self { true } else { false } }

    /// The expression, filled in with the values that a predicate expression holds.
    /// - Throws: `NotLowerable` for a value without stored form.
    func filled(from expression: UnsafeRawPointer) throws -> QueryExpression {
        switch self {
        case .fixed(let expression): return expression
        case .value(let value): return try value.lowered(in: expression)
        case .compare(let comparison, let a, let b):
            return .compare(comparison, try a.filled(from: expression), try b.filled(from: expression))
        case .parts(let whole, let parts):
            var next = 0
            return try whole.mapChildren { _ in
                defer { next += 1 }
                return try parts[next].filled(from: expression)
            }
        }
    }
}
