import Foundation

extension QueryExpression: CustomStringConvertible {
    /// The expression as written in a predicate.
    public var description: String {
        switch self {
        case .constant(let value): "\(value)"
        case .list(let elements): "[" + elements.map(\.description).joined(separator: ", ") + "]"
        case .variable(let index): index == 0 ? "$0" : "$\(index)"
        case .property(.variable(0), let property): property.name
        case .property(let base, let property): "\(base.operand).\(property.name)"
        case .member(let base, let name): "\(base.operand).\(name)"
        case .decoded(let base, _): "\(base)"
        case .identifier(let base): "\(base).persistentModelID"
        case .compare(let comparison, let a, let b): "\(a.operand) \(comparison.symbol) \(b.operand)"
        case .not(let base): "!\(base.operand)"
        case .and(let parts): parts.isEmpty ? "true" : parts.map(\.operand).joined(separator: " && ")
        case .or(let parts): parts.isEmpty ? "false" : parts.map(\.operand).joined(separator: " || ")
        case .arithmetic(let operation, let a, let b, _): "\(a.operand) \(operation.symbol) \(b.operand)"
        case .negate(let base, _): "-\(base.operand)"
        case .conditional(let test, let a, let b): "\(test.operand) ? \(a.operand) : \(b.operand)"
        case .coalesce(let a, let b): "\(a.operand) ?? \(b.operand)"
        case .flatMap(let base, let variable, let body): "\(base.operand).flatMap { $\(variable) in \(body) }"
        case .unwrap(let base): "\(base.operand)!"
        case .count(let base): "\(base.operand).count"
        case .isEmpty(let base): "\(base.operand).isEmpty"
        case .first(let base): "\(base.operand).first"
        case .last(let base): "\(base.operand).last"
        case .element(let base, let index), .slice(let base, let index): "\(base.operand)[\(index)]"
        case .lookup(let base, let key, let fallback):
            "\(base.operand)[\(key)" + (fallback.map { ", default: \($0)" } ?? "") + "]"
        case .contains(let base, let element): "\(base.operand).contains(\(element))"
        case .exists(let base, let variable, let test): "\(base.operand).contains { $\(variable) in \(test) }"
        case .all(let base, let variable, let test): "\(base.operand).allSatisfy { $\(variable) in \(test) }"
        case .filter(let base, let variable, let test): "\(base.operand).filter { $\(variable) in \(test) }"
        case .startsWith(let base, let prefix): "\(base.operand).starts(with: \(prefix))"
        case .minimum(let base): "\(base.operand).min()"
        case .maximum(let base): "\(base.operand).max()"
        case .containsSequence(let base, let run): "\(base.operand).contains(\(run))"
        case .range(let lower, let upper, let isClosed): "\(lower.operand)\(isClosed ? "..." : "..<")\(upper.operand)"
        case .localizedStandardContains(let base, let part): "\(base.operand).localizedStandardContains(\(part))"
        case .compareStrings(.caseInsensitive, let a, let b): "\(a.operand).caseInsensitiveCompare(\(b))"
        case .compareStrings(.localized, let a, let b): "\(a.operand).localizedCompare(\(b))"
        case .matches(let base, let regex): "\(base.operand).contains(/\(regex)/)"
        case .isKind(let base, let entity): "\(base.operand) is \(entity)"
        case .cast(let base, let entity): "\(base.operand) as? \(entity)"
        case .start(let base, let period): "\(base.operand).start(of: \(period))"
        case .onModels(_, let text): "code(\(text))"
        }
    }

    /// The expression as part of another: in parentheses where it is not one word.
    private var operand: String {
        switch self {
        case .compare, .and, .or, .arithmetic, .conditional, .coalesce, .range, .isKind, .cast: "(\(self))"
        default: description
        }
    }
}

extension Date {
    /// Whether Foundation can format the date; it ends the process for other dates.
    var isPrintable: Bool { abs(timeIntervalSinceReferenceDate) < 1e11 }

    var safeText: String { isPrintable ? "\(self)" : "Date(\(timeIntervalSinceReferenceDate))" }
}

extension QueryExpression.Comparison {
    var symbol: String {
        switch self {
        case .equal: "=="
        case .notEqual: "!="
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }

    /// The equivalent comparison with its operands swapped.
    public var mirrored: QueryExpression.Comparison {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }
}

extension QueryExpression.Arithmetic {
    var symbol: String {
        switch self {
        case .add: "+"
        case .subtract: "-"
        case .multiply: "*"
        case .divide: "/"
        case .remainder: "%"
        }
    }
}
