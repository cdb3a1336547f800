import Foundation
import Synchronization

/// The records of an order behind a place, as queries: their answers, one after the other, are these records in that order.
///
/// Behind the values `(a, b)` are first the records that have both values, if they come later in identity order, then those that have
/// `a` and another value behind `b`, and then those with a value behind `a`. Each of these lies together in an index over the keys.
struct PageSteps {
    struct Step {
        var conditions: [QueryExpression]
        var order: [StoreQuery.Order]
    }

    let steps: [Step]

    /// The key of identity order, for walking it backward.
    static let identity = QueryExpression.identifier(.variable(0))

    /// - Parameters:
    ///   - order: the keys, in the direction of the walk.
    ///   - keys: a value for each of them.
    ///   - record: the record beside the place.
    ///   - isBackward: whether what is equal in all keys comes in the opposite of identity order.
    ///   - mayBeNull: whether a key may be null.
    init(
        _ order: [StoreQuery.Order], behind keys: [StoredValue], _ record: PersistentIdentifier, isBackward: Bool,
        mayBeNull: (QueryExpression) -> Bool
    ) {
        let same = zip(order, keys).map { Self.isSame($0.expression, $1) }
        let ties = isBackward ? [StoreQuery.Order(Self.identity, isAscending: false)] : []
        var steps: [Step] = []
        let bound = QueryExpression.compare(
            isBackward ? .less : .greater, Self.identity, .constant(.identifier(record)))
        steps.append(Step(conditions: same + [bound], order: ties))
        for place in order.indices.reversed() {
            let key = order[place]
            // They are equal in these, so that the direction of what follows serves as well, and one index serves all.
            let leading = order[..<place].map {
                StoreQuery.Order($0.expression, isAscending: key.isAscending, stringOrder: $0.stringOrder)
            }
            for condition in Self.behind(key, keys[place], mayBeNull: mayBeNull(key.expression)) {
                steps.append(
                    Step(
                        conditions: same[..<place] + [condition], order: leading + order[place...] + ties))
            }
        }
        self.steps = steps
    }

    /// Whether the steps say all of a key with that value.
    static func canSay(_ key: StoreQuery.Order, _ value: StoredValue) -> Bool {
        if key.stringOrder != nil { return false }
        switch value {
        case .null, .bool, .integer, .unsigned, .float, .double, .decimal, .date, .uuid: return true
        // Conditions are made of Swift's `<`. For others that is no order, in which each has its place, and not the one of keys.
        case .string(let text): return text.utf8.allSatisfy { $0 < 0x80 }
        default: return false
        }
    }

    /// Whether a key is where sorting finds the value.
    private static func isSame(_ key: QueryExpression, _ value: StoredValue) -> QueryExpression {
        value.isNotANumberInOrder ? isNotANumber(key, value) : .compare(.equal, key, .constant(value))
    }

    private static func isNotANumber(_ key: QueryExpression, _ value: StoredValue) -> QueryExpression {
        // A Decimal that is not a number equals itself.
        if case .decimal = value { return .compare(.equal, key, .constant(value)) }
        return .compare(.notEqual, key, key)
    }

    /// The keys behind a value, in one or more parts that follow each other.
    private static func behind(
        _ key: StoreQuery.Order, _ value: StoredValue, mayBeNull: Bool
    ) -> [QueryExpression] {
        let expression = key.expression
        func compared(_ comparison: QueryExpression.Comparison, _ other: StoredValue) -> QueryExpression {
            .compare(comparison, expression, .constant(other))
        }
        guard key.isAscending else {
            let null = mayBeNull ? [compared(.equal, .null)] : []
            switch value {
            case .null: return []
            case .bool(let value): return (value ? [compared(.equal, .bool(false))] : []) + null
            case _ where value.isNotANumberInOrder: return null
            case .float, .double, .date: return [compared(.less, value), isNotANumber(expression, value)] + null
            case .decimal: return [compared(.less, value)] + null
            default: return [compared(.less, value)] + null
            }
        }
        switch value {
        case .null: return [compared(.notEqual, .null)]
        case .bool(let value): return value ? [] : [compared(.equal, .bool(true))]
        case .float where value.isNotANumberInOrder: return [compared(.greaterOrEqual, .float(-.infinity))]
        case .double where value.isNotANumberInOrder: return [compared(.greaterOrEqual, .double(-.infinity))]
        case .date where value.isNotANumberInOrder:
            // `>=` holds for dates that are not a number.
            let first = StoredValue.date(Date(timeIntervalSinceReferenceDate: -.infinity))
            return [.or([compared(.greater, first), compared(.equal, first)])]
        default: return [compared(.greater, value)]
        }
    }
}

extension StoredValue {
    /// Whether sorting puts the value between null and the numbers.
    fileprivate var isNotANumberInOrder: Bool {
        switch self {
        case .float(let number): number.isNaN
        case .double(let number): number.isNaN
        case .decimal(let number): number.isNaN
        case .date(let date): date.timeIntervalSinceReferenceDate.isNaN
        default: false
        }
    }
}

extension StoreQuery {
    /// What tells the query's conditions from others, in every process. The order of a captured set's members does not.
    var conditionsDigest: String {
        PageDigests.digest(.conditions(conjuncts.map(\.expression), includesSubentities)) { makeConditionsDigest() }
    }

    private func makeConditionsDigest() -> String {
        func settled(_ expression: QueryExpression) -> QueryExpression {
            if case .list(let elements) = expression {
                // By all that is written: as text, data is no more than its length.
                return .list(
                    elements.map(settled).map { (Self.encoded($0), $0) }
                        .sorted { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1))
            }
            return expression.mapChildren(settled)
        }
        return Self.digest(conjuncts.map { settled($0.expression) }, includesSubentities)
    }

    /// What tells the query's sort keys from others.
    var orderDigest: String { PageDigests.digest(.order(order)) { Self.digest(order, false) } }

    private static func encoded(_ value: some Encodable) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return (try? encoder.encode(value)) ?? Data("\(value)".utf8)
    }

    private static func digest(_ value: some Encodable, _ flag: Bool) -> String {
        let bytes = [flag ? 1 : 0] + [UInt8](encoded(value))
        return SHA256Digest.of(bytes).prefix(12).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
    }
}

/// The digests that were asked for last: pages of one descriptor ask for the same ones again and again, and making one takes longer
/// than fetching the page.
private enum PageDigests {
    enum Key: Hashable {
        case conditions([QueryExpression], Bool)
        case order([StoreQuery.Order])
    }

    private static let most = 64
    private static let known = Mutex<[Key: String]>([:])

    static func digest(_ key: Key, _ make: () -> String) -> String {
        let isSafe =
            switch key {
            case .conditions(let conditions, _): conditions.allSatisfy(isExact)
            case .order(let order): order.allSatisfy { isExact($0.expression) }
            }
        guard isSafe else { return make() }
        if let known = known.withLock({ $0[key] }) { return known }
        let made = make()
        known.withLock {
            if $0.count >= most { $0 = [:] }
            $0[key] = made
        }
        return made
    }

    /// Whether equal expressions are written alike, to the byte.
    private static func isExact(_ expression: QueryExpression) -> Bool {
        !expression.hasPart { part in
            switch part {
            case .onModels, .matches: return true
            case .constant(let value):
                switch value {
                case .null, .bool, .integer, .unsigned, .float, .double, .date, .uuid: return false
                case .string(let text): return !text.utf8.allSatisfy { $0 < 0x80 }
                default: return true
                }
            default: return false
            }
        }
    }
}
