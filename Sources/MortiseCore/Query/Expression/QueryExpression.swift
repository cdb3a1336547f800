/// The content of a predicate as a value: typed over a schema's properties, sendable, storable, readable by any
/// adapter.
///
/// An expression is evaluated with variables bound to records or values; variable 0 is the record in question.
/// `QueryEvaluator` defines the meaning of every case: an adapter that evaluates an expression differently must claim
/// it as superset or residual.
public indirect enum QueryExpression: Sendable, Hashable, Codable {
    /// A value that is the same for every record.
    case constant(StoredValue)
    /// Several values: a captured array or set.
    case list([QueryExpression])
    /// The value bound to the variable of that number; 0 is the record in question.
    case variable(Int)
    /// A property of a record. A null record has null in every property and no members in every to-many relationship.
    case property(QueryExpression, QueryProperty)
    /// A member of a composite value.
    case member(QueryExpression, String)
    /// A part of a coded value, or each element of one, converted to the scalar kind of its Swift type: coded values
    /// keep dates as numbers, for example.
    case decoded(QueryExpression, StorageKind)
    /// The identifier of a record.
    case identifier(QueryExpression)

    /// Whether a comparison of two values holds.
    case compare(Comparison, QueryExpression, QueryExpression)
    /// Whether a condition does not hold.
    case not(QueryExpression)
    /// Whether all conditions hold; evaluation stops at the first that does not.
    case and([QueryExpression])
    /// Whether one of the conditions holds; evaluation stops at the first that does.
    case or([QueryExpression])

    /// The result of an operation on two numbers of a kind. Evaluation throws `arithmeticOverflow` or `divisionByZero`
    /// where integers have no result, and `unfit` for values that are not of that kind, also for null.
    case arithmetic(Arithmetic, QueryExpression, QueryExpression, StorageKind)
    /// A number of a kind with the opposite sign. Evaluation throws `arithmeticOverflow` if an integer has no opposite,
    /// and `unfit` for a value that is not of that kind, also for null.
    case negate(QueryExpression, StorageKind)
    /// The second value if the first, a condition, holds, else the third.
    case conditional(QueryExpression, QueryExpression, QueryExpression)
    /// The first value unless it is null, else the second.
    case coalesce(QueryExpression, QueryExpression)
    /// Null if the first value is null, else the second expression with the variable bound to the first.
    case flatMap(QueryExpression, variable: Int, QueryExpression)
    /// The value, which must not be null; otherwise evaluation throws `unwrappedNull`.
    case unwrap(QueryExpression)

    /// The number of elements; for a string, of characters.
    case count(QueryExpression)
    /// Whether a collection or a string has no elements.
    case isEmpty(QueryExpression)
    /// The first element; null if there is no element.
    case first(QueryExpression)
    /// The last element; null if there is no element.
    case last(QueryExpression)
    /// The element at an index; evaluation throws `indexOutOfRange` if the index is out of bounds.
    case element(QueryExpression, QueryExpression)
    /// The elements in a range; evaluation throws `indexOutOfRange` if the range is out of bounds.
    case slice(QueryExpression, QueryExpression)
    /// The value of a key in a dictionary; if the key is missing, the last expression, or null without one.
    case lookup(QueryExpression, QueryExpression, QueryExpression?)
    /// Whether a collection has an element that equals the second value.
    case contains(QueryExpression, QueryExpression)
    /// Whether a condition holds for at least one element, bound to the variable.
    case exists(QueryExpression, variable: Int, QueryExpression)
    /// Whether a condition holds for every element, bound to the variable; true for no elements.
    case all(QueryExpression, variable: Int, QueryExpression)
    /// The elements for which a condition holds, each bound to the variable.
    case filter(QueryExpression, variable: Int, QueryExpression)
    /// Whether a collection, such as a string, begins with the elements of another.
    case startsWith(QueryExpression, QueryExpression)
    /// The least element by `<`; null if there is no element.
    case minimum(QueryExpression)
    /// The greatest element by `<`; null if there is no element.
    case maximum(QueryExpression)
    /// Whether a collection, such as a string, contains another contiguously.
    case containsSequence(QueryExpression, QueryExpression)
    /// A range from the first value to the second, which belongs to it if `isClosed` is true. Evaluation throws
    /// `invalidRange` if the second value is less than the first.
    case range(QueryExpression, QueryExpression, isClosed: Bool)

    /// Whether a string contains another, ignoring case, diacritics and width.
    case localizedStandardContains(QueryExpression, QueryExpression)
    /// -1, 0 or 1 for the order of two strings by a kind of comparison.
    case compareStrings(StringComparison, QueryExpression, QueryExpression)
    /// Whether a string contains a match of a regular expression, given as text.
    case matches(QueryExpression, String)

    /// Whether a record is of an entity or one that inherits from it.
    case isKind(QueryExpression, String)
    /// The record if it is of the entity or one that inherits from it, else null.
    case cast(QueryExpression, String)

    /// The beginning of the period in which a date lies; null for null. Evaluation throws `unfit` for anything else.
    case start(QueryExpression, of: CalendarPeriod)

    /// A part that only the program's own code can evaluate, on models. Number and text are encoded, the code is not:
    /// evaluating the expression outside the fetch that it was made for throws `QueryEvaluationError.codeUnavailable`.
    case onModels(id: Int, text: String)

    /// A comparison of two values, with the meaning of `ValueSemantics`.
    public enum Comparison: String, Sendable, Hashable, Codable {
        /// The operators `==`, `!=`, `<`, `<=`, `>` and `>=`.
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    }
    /// An operation on two numbers of the same kind.
    public enum Arithmetic: String, Sendable, Hashable, Codable {
        /// The operators `+`, `-`, `*`, `/` and `%`. Integers that overflow or are divided by zero throw `QueryEvaluationError`.
        case add, subtract, multiply, divide, remainder
    }
    /// A kind of comparison of two strings.
    public enum StringComparison: String, Sendable, Hashable, Codable {
        /// `caseInsensitiveCompare(_:)`, without regard to the locale.
        case caseInsensitive
        /// `localizedCompare(_:)`, in the current locale.
        case localized
    }
}

// Every case is named here, and nowhere else but where it is evaluated.

extension QueryExpression {
    /// The direct parts.
    public var children: [QueryExpression] {
        switch self {
        case .constant, .variable, .onModels: []
        case .list(let elements): elements
        case .property(let base, _), .member(let base, _), .identifier(let base), .not(let base), .negate(let base, _),
            .unwrap(let base), .count(let base), .isEmpty(let base), .first(let base), .last(let base),
            .minimum(let base), .maximum(let base), .matches(let base, _), .isKind(let base, _), .cast(let base, _),
            .decoded(let base, _), .start(let base, _):
            [base]
        case .compare(_, let a, let b), .arithmetic(_, let a, let b, _), .coalesce(let a, let b),
            .flatMap(let a, _, let b),
            .element(let a, let b), .slice(let a, let b), .contains(let a, let b), .exists(let a, _, let b),
            .all(let a, _, let b), .filter(let a, _, let b), .startsWith(let a, let b), .containsSequence(let a, let b),
            .range(let a, let b, _), .localizedStandardContains(let a, let b), .compareStrings(_, let a, let b):
            [a, b]
        case .and(let parts), .or(let parts): parts
        case .conditional(let a, let b, let c): [a, b, c]
        case .lookup(let a, let b, let c): c.map { [a, b, $0] } ?? [a, b]
        }
    }

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
        case .start(let a, let period): .start(try body(a), of: period)
        }
    }
}

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
