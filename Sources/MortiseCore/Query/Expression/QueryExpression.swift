/// What a predicate says, as a value: typed over a schema's properties, sendable, storable, readable by any adapter.
///
/// An expression is evaluated with variables bound to records or values; variable 0 is the record in question. The meaning
/// of every case is that of `QueryEvaluator`, which is the reference: an adapter that evaluates an expression differently
/// claims it as superset or residual.
public indirect enum QueryExpression: Sendable, Hashable, Codable {
    case constant(StoredValue)
    /// Several values: an array or set that was captured.
    case list([QueryExpression])
    case variable(Int)
    /// A property of a record. A null record has null in every property and no members in every to-many relationship.
    case property(QueryExpression, QueryProperty)
    /// A member of a composite value.
    case member(QueryExpression, String)
    /// A part of a coded value, or each element of one, as the scalar kind that its type has: coded values keep dates as
    /// numbers, for example.
    case decoded(QueryExpression, StorageKind)
    /// The identifier of a record.
    case identifier(QueryExpression)

    case compare(Comparison, QueryExpression, QueryExpression)
    case not(QueryExpression)
    case and([QueryExpression])
    case or([QueryExpression])

    case arithmetic(Arithmetic, QueryExpression, QueryExpression, StorageKind)
    case negate(QueryExpression, StorageKind)
    case conditional(QueryExpression, QueryExpression, QueryExpression)
    /// The first where it is not null, else the second.
    case coalesce(QueryExpression, QueryExpression)
    /// Null where the first is null, else the second with the variable bound to it.
    case flatMap(QueryExpression, variable: Int, QueryExpression)
    /// The value, which must not be null.
    case unwrap(QueryExpression)

    case count(QueryExpression)
    case isEmpty(QueryExpression)
    case first(QueryExpression)
    case last(QueryExpression)
    /// The element at an index, which must be there.
    case element(QueryExpression, QueryExpression)
    /// The elements in a range, which must be there.
    case slice(QueryExpression, QueryExpression)
    /// The value of a key in a dictionary; the last, or null, where the key is missing.
    case lookup(QueryExpression, QueryExpression, QueryExpression?)
    case contains(QueryExpression, QueryExpression)
    case exists(QueryExpression, variable: Int, QueryExpression)
    case all(QueryExpression, variable: Int, QueryExpression)
    case filter(QueryExpression, variable: Int, QueryExpression)
    case startsWith(QueryExpression, QueryExpression)
    case minimum(QueryExpression)
    case maximum(QueryExpression)
    /// Whether a collection, such as a string, holds another as a run.
    case hasRun(QueryExpression, QueryExpression)
    case range(QueryExpression, QueryExpression, isClosed: Bool)

    /// Whether a string holds another as people search: without regard to case, diacritics and width.
    case localizedStandardContains(QueryExpression, QueryExpression)
    /// -1, 0 or 1 for two strings compared in a way.
    case compareStrings(StringComparison, QueryExpression, QueryExpression)
    /// Whether a string holds a match of a regular expression, given by its text.
    case matches(QueryExpression, String)

    /// Whether a record is of an entity or one that inherits from it.
    case isKind(QueryExpression, String)
    /// The record if it is of the entity or one that inherits from it, else null.
    case cast(QueryExpression, String)

    /// A part that only the program's own code can evaluate, on models. Number and text are encoded, the code is not: to
    /// evaluate the expression anywhere but in the fetch that it was made for throws `QueryEvaluationError.codeNotHere`.
    case onModels(id: Int, text: String)

    public enum Comparison: String, Sendable, Hashable, Codable {
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    }
    public enum Arithmetic: String, Sendable, Hashable, Codable {
        case add, subtract, multiply, divide, remainder
    }
    public enum StringComparison: String, Sendable, Hashable, Codable {
        case caseInsensitive, localized
    }
}

/// A property that an expression reads, by the entity through which it is named.
public struct QueryProperty: Sendable, Hashable, Codable {
    /// The entity of the record, or one that it inherits from.
    public let entity: String
    public let name: String
    /// The property's slot in that entity's layout, and in the layouts of all that inherit from it.
    public let slot: Int

    public init(entity: String, name: String, slot: Int) {
        self.entity = entity
        self.name = name
        self.slot = slot
    }
}

extension QueryExpression {
    /// Calls the body with every part of the expression, the whole first.
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
            .decoded(let base, _):
            [base]
        case .compare(_, let a, let b), .arithmetic(_, let a, let b, _), .coalesce(let a, let b),
            .flatMap(let a, _, let b),
            .element(let a, let b), .slice(let a, let b), .contains(let a, let b), .exists(let a, _, let b),
            .all(let a, _, let b), .filter(let a, _, let b), .startsWith(let a, let b), .hasRun(let a, let b),
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

    /// Whether evaluating it may throw for a record, so that it must not be evaluated where an earlier condition already
    /// says no: Foundation stops there, and programs rely on it.
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
