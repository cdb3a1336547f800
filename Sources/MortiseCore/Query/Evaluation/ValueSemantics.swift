import Foundation

/// The meaning of comparing two values, on every store. This is its only definition.
///
/// - Equality: nulls are equal to each other and to nothing else. Numbers as numbers: NaN equals nothing, 0.0 equals
///   -0.0. Strings are equal when canonically equivalent, as Swift's are. Dates, UUIDs, data, decimals and URLs by
///   value.
/// - Order in comparisons (`<`, `<=`, `>`, `>=`) is that of the Swift type's own operators: every comparison with a
///   floating-point NaN is false; a date that is NaN is neither before nor after another, so that `<=` and `>=` hold;
///   Decimal's NaN equals itself and is below every number; strings are ordered as in Swift, but if Swift's `<` finds
///   neither of two unequal strings before the other, a store may use the order of sorting, as an index does.
///   Comparisons of Booleans and comparisons with null are false.
/// - Order in sorting is total: null first, then NaN, then the rest as in comparisons, false before true; descending is
///   exactly the reverse. Strings are ordered as in Swift, and by their composed scalars where Swift's `<` is not an
///   order, as for some strings with combining marks.
///
/// How operands are evaluated before the comparison is part of the meaning. `QueryEvaluator` is the reference:
///
/// - Enums compare equal if their raw values do. They have no order, so `<` on them is left to code. An enum without a
///   scalar raw value is a coded value.
/// - Coded values (structs, dictionaries, sets) compare by their type's own `==`, which is code; their members, and
///   lists of scalars, compare here by the kinds that the Swift types have.
/// - Optional chains: a property of null is null, and so is a chain with a null anywhere; `flatMap` does not evaluate
///   its body for null. A to-many relationship of null has no members. `??` uses its second value only for null. `as?`
///   of a record of another entity is null, and so are its properties.
/// - Quantifiers over no elements: `contains(where:)` is false and `allSatisfy` true, `filter` is empty, `min()`,
///   `max()`, `first` and `last` are null, `isEmpty` is true. `starts(with:)` and `contains(_:)` of an empty run are
///   true. `min()` and `max()` compare with `<`, in identity order for relationships, so that NaN wins only if it comes
///   first.
/// - Integer arithmetic uses the integer's own type. A result that does not fit throws
///   `QueryEvaluationError.arithmeticOverflow`: sums, differences, products, `-` of the least value, and its quotient
///   and remainder by -1. Dividing an integer by zero throws `divisionByZero`. Floating-point numbers follow IEEE 754
///   and never throw; Decimals give NaN.
/// - Other expressions that end the process in Swift throw too: `!` of null and `as!` of another entity throw
///   `unwrappedNull`, an index or a slice out of bounds `indexOutOfRange`, a range that ends before it begins
///   `invalidRange`.
/// - `&&`, `||`, `?:` and quantifiers evaluate no further than they have to, from left to right. A conjunct that may
///   throw is never evaluated for a record that an earlier conjunct has ruled out (`QueryExpression.mayThrow`). A store
///   may also skip records that a later conjunct rules out, for example by an index, so that less throws and never
///   more. Conjuncts that cannot throw are evaluated in any order; those that may throw keep their order.
public enum ValueSemantics {
    /// Whether `==` holds in a query: null equals null, NaN equals nothing, -0.0 equals 0.0, and canonically equivalent
    /// strings are equal.
    public static func areEqual(_ a: StoredValue, _ b: StoredValue) -> Bool {
        switch (a, b) {
        case (.null, .null): return true
        case (.null, _), (_, .null): return false
        case (.double(let x), .double(let y)): return x == y
        case (.float(let x), .float(let y)): return x == y
        case (.date(let x), .date(let y)): return x == y
        case (.integer(let x), .integer(let y)): return x == y
        case (.string(let x), .string(let y)): return x == y
        case (.array(let x), .array(let y)): return x.count == y.count && zip(x, y).allSatisfy(areEqual)
        case (.object(let x), .object(let y)):
            return x.count == y.count && x.allSatisfy { key, value in y[key].map { areEqual(value, $0) } ?? false }
        default:
            if a == b { return true }
            // Members of coded values have lost their kind; numbers are numbers there.
            if a.isWhole, b.isWhole { return a.asUnsigned != nil && a.asUnsigned == b.asUnsigned }
            if let x = a.asNumber, let y = b.asNumber { return x == y }
            return codedForm(a).map { $0 == b } ?? codedForm(b).map { $0 == a } ?? false
        }
    }

    /// Whether a comparison holds for two values; false for values of different kinds, including null.
    public static func holds(_ comparison: QueryExpression.Comparison, _ a: StoredValue, _ b: StoredValue) -> Bool {
        switch (comparison, a, b) {
        case (.equal, _, _): areEqual(a, b)
        case (.notEqual, _, _): !areEqual(a, b)
        case (_, .integer(let x), .integer(let y)): holds(comparison, x, y)
        case (_, .double(let x), .double(let y)): holds(comparison, x, y)
        case (_, .string(let x), .string(let y)): holds(comparison, x, y)
        case (_, .date(let x), .date(let y)): holds(comparison, x, y)
        case (_, .unsigned(let x), .unsigned(let y)): holds(comparison, x, y)
        case (_, .float(let x), .float(let y)): holds(comparison, x, y)
        case (_, .decimal(let x), .decimal(let y)): holds(comparison, x, y)
        case (_, .uuid(let x), .uuid(let y)): holds(comparison, x, y)
        case (_, .identifier(let x), .identifier(let y)): holds(comparison, x, y)
        default:
            if let x = a.asNumber, let y = b.asNumber { holds(comparison, x, y) } else { false }
        }
    }

    /// Compares by the type's own operators, since `a <= b` is not always `a < b || a == b`.
    @inline(__always)
    package static func holds<T: Comparable>(_ comparison: QueryExpression.Comparison, _ x: T, _ y: T) -> Bool {
        switch comparison {
        case .equal: x == y
        case .notEqual: x != y
        case .less: x < y
        case .lessOrEqual: x <= y
        case .greater: x > y
        case .greaterOrEqual: x >= y
        }
    }

    /// The order of two sort keys: total, null first, then NaN.
    public static func sortOrder(_ a: StoredValue, _ b: StoredValue) -> ComparisonResult {
        switch (rank(a), rank(b)) {
        case (let x, let y) where x != y: return order(x, y)
        case (2, _): break
        default: return .orderedSame
        }
        switch (a, b) {
        case (.bool(let x), .bool(let y)): return x == y ? .orderedSame : y ? .orderedAscending : .orderedDescending
        case (.data(let x), .data(let y)):
            return x == y ? .orderedSame : x.lexicographicallyPrecedes(y) ? .orderedAscending : .orderedDescending
        case (.url(let x), .url(let y)): return order(x.absoluteString, y.absoluteString)
        case (.string(let x), .string(let y)):
            return x == y ? .orderedSame : CanonicalText.precedes(x, y) ? .orderedAscending : .orderedDescending
        default: return holds(.less, a, b) ? .orderedAscending : holds(.less, b, a) ? .orderedDescending : .orderedSame
        }
    }

    private static func rank(_ value: StoredValue) -> Int {
        switch value {
        case .null: 0
        case .double(let number) where number.isNaN: 1
        case .float(let number) where number.isNaN: 1
        case .date(let date) where date.timeIntervalSinceReferenceDate.isNaN: 1
        case .decimal(let number) where number.isNaN: 1
        default: 2
        }
    }

    @inline(__always)
    private static func order<T: Comparable>(_ a: T, _ b: T) -> ComparisonResult {
        a < b ? .orderedAscending : b < a ? .orderedDescending : .orderedSame
    }

    /// The form that a scalar takes inside a coded value.
    private static func codedForm(_ value: StoredValue) -> StoredValue? {
        switch value {
        case .date(let date): .double(date.timeIntervalSinceReferenceDate)
        case .uuid(let uuid): .string(uuid.uuidString)
        case .url(let url): .string(url.absoluteString)
        case .decimal(let decimal): .string(decimal.description)
        case .data(let data): .string(data.base64EncodedString())
        default: nil
        }
    }
}

extension StoredValue {
    fileprivate var isWhole: Bool {
        switch self {
        case .integer, .unsigned: true
        default: false
        }
    }
    fileprivate var asUnsigned: UInt64? {
        switch self {
        case .integer(let value): UInt64(exactly: value)
        case .unsigned(let value): value
        default: nil
        }
    }
    fileprivate var asNumber: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .double(let value): value
        case .float(let value): Double(value)
        default: nil
        }
    }
}

/// Why an expression has no value for a record. Thrown where Foundation's own evaluation would end the process.
public enum QueryEvaluationError: Error, Hashable, Sendable {
    /// A nil was force-unwrapped.
    case unwrappedNull(expression: String)
    /// A result does not fit the type it is calculated in.
    case arithmeticOverflow(expression: String)
    /// A division by zero.
    case divisionByZero(expression: String)
    /// The collection has no element at the index.
    case indexOutOfRange(expression: String, index: Int, count: Int)
    /// A range ends before it begins.
    case invalidRange(expression: String)
    /// The expression is left to code, and this program does not have the code.
    case codeUnavailable(text: String)
    /// The parts of the expression do not match each other; it was not made from a predicate.
    case unfit(expression: String)
    /// The text is not a valid regular expression.
    case invalidRegex(String)
    /// One match of a regular expression took longer than the limit.
    case regexTooSlow(pattern: String, limit: Duration)
    /// The parts of an expression are nested deeper than the limit.
    case nestedTooDeep(limit: Int)
}

extension QueryEvaluationError: CustomStringConvertible, SwiftDataErrorConvertible {
    /// The expression at fault and the way out, in one line.
    public var description: String {
        switch self {
        case .unwrappedNull(let expression): "\(expression) force-unwraps nil. Use ?? to give a value for that case."
        case .arithmeticOverflow(let expression): "\(expression) does not fit its type. Calculate in a wider one."
        case .divisionByZero(let expression): "\(expression) divides by zero. Test the divisor first."
        case .indexOutOfRange(let expression, let index, let count):
            "\(expression) asks for index \(index) of \(count) elements. Test the count first."
        case .invalidRange(let expression):
            "\(expression) is a range that ends before it begins. Test the bounds first."
        case .codeUnavailable(let text):
            "\"\(text)\" can only be evaluated by the program that wrote it. Run the query there."
        case .unfit(let expression):
            "\(expression) cannot be evaluated: the types of its parts do not match."
        case .invalidRegex(let text): "\"\(text)\" is not a valid regular expression. Correct the pattern."
        case .regexTooSlow(let pattern, let limit):
            "Matching the regular expression \"\(pattern)\" against one text took longer than \(limit). Avoid repetitions "
                + "within repetitions, such as (a*)*, and anchor the pattern with ^ or $."
        case .nestedTooDeep(let limit):
            "An expression is nested deeper than \(limit) levels. Simplify the query."
        }
    }
    /// The error of SwiftData that this one matches: `unsupportedPredicate`.
    public var swiftDataError: SwiftDataError { .unsupportedPredicate }
}
