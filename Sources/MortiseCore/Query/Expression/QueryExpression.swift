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

extension QueryExpression {
    /// Calls the body with every part of the expression, the whole expression first.
    public func forEachPart(_ body: (QueryExpression) -> Void) {
        body(self)
        for child in children { child.forEachPart(body) }
    }

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
