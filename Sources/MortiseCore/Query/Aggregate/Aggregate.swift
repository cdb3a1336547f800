public import Foundation

/// What to calculate from the models that a fetch would return: see `ModelContext.aggregate(_:_:)`.
///
/// - Nil values are ignored; `count` counts models, whatever their values.
/// - The sum of no values is zero; the average, minimum or maximum of no values is nil.
/// - Sums have the property's own type. Integers are added without a limit on intermediate results; only a final result
///   that does not fit that type is an error. Floating-point numbers are added one after the other in the order of the
///   fetch, each addition rounded; NaN makes the sum NaN. A decimal sum that is too large is NaN, as in `Decimal`.
/// - NaN is the minimum or maximum only if there is no other value. Of equal values the first is returned.
public struct Aggregate<Model: PersistentModel, Value> {
    enum Operation { case count, sum, average, minimum, maximum }

    let operation: Operation
    let keyPath: AnyKeyPath?
    let kind: StorageKind
    let decode: (StoredValue) -> Value?

    private init(
        _ operation: Operation, _ keyPath: AnyKeyPath?, _ kind: StorageKind, _ decode: @escaping (StoredValue) -> Value?
    ) {
        self.operation = operation
        self.keyPath = keyPath
        self.kind = kind
        self.decode = decode
    }
}

extension Aggregate where Value == Int {
    /// The number of models.
    public static var count: Aggregate { Aggregate(.count, nil, .int64) { Int(storedValue: $0) } }
}

extension Aggregate {
    /// The sum of a property's values; 0 if there are no models.
    public static func sum(_ keyPath: KeyPath<Model, Value>) -> Aggregate
    where Value: PersistentScalar & AdditiveArithmetic {
        Aggregate(.sum, keyPath, Value.storageKind) { Value(storedValue: $0) }
    }
    /// The sum of a property's values, ignoring nil; 0 if no model has a value.
    public static func sum(_ keyPath: KeyPath<Model, Value?>) -> Aggregate
    where Value: PersistentScalar & AdditiveArithmetic {
        Aggregate(.sum, keyPath, Value.storageKind) { Value(storedValue: $0) }
    }

    /// The least of a property's values; nil if there are no models.
    public static func minimum<V: PersistentScalar & Comparable>(_ keyPath: KeyPath<Model, V>) -> Aggregate
    where Value == V? { extreme(.minimum, keyPath) }
    /// The least of a property's values, ignoring nil; nil if no model has a value.
    public static func minimum<V: PersistentScalar & Comparable>(_ keyPath: KeyPath<Model, V?>) -> Aggregate
    where Value == V? { extreme(.minimum, keyPath) }

    /// The greatest of a property's values; nil if there are no models.
    public static func maximum<V: PersistentScalar & Comparable>(_ keyPath: KeyPath<Model, V>) -> Aggregate
    where Value == V? { extreme(.maximum, keyPath) }
    /// The greatest of a property's values, ignoring nil; nil if no model has a value.
    public static func maximum<V: PersistentScalar & Comparable>(_ keyPath: KeyPath<Model, V?>) -> Aggregate
    where Value == V? { extreme(.maximum, keyPath) }

    private static func extreme<V: PersistentScalar>(_ operation: Operation, _ keyPath: AnyKeyPath) -> Aggregate
    where Value == V? {
        Aggregate(operation, keyPath, V.storageKind) { value in
            if value.isNull { return .some(nil) }
            return V(storedValue: value).map { .some($0) }
        }
    }
}

extension Aggregate where Value == Double? {
    /// The average of a property's values; nil if there are no models.
    public static func average<V: PersistentScalar & BinaryInteger>(_ keyPath: KeyPath<Model, V>) -> Aggregate {
        average(keyPath, V.storageKind)
    }
    /// The average of a property's values, ignoring nil; nil if no model has a value.
    public static func average<V: PersistentScalar & BinaryInteger>(_ keyPath: KeyPath<Model, V?>) -> Aggregate {
        average(keyPath, V.storageKind)
    }
    /// The average of a property's values; nil if there are no models.
    public static func average<V: PersistentScalar & BinaryFloatingPoint>(_ keyPath: KeyPath<Model, V>) -> Aggregate {
        average(keyPath, V.storageKind)
    }
    /// The average of a property's values, ignoring nil; nil if no model has a value.
    public static func average<V: PersistentScalar & BinaryFloatingPoint>(_ keyPath: KeyPath<Model, V?>) -> Aggregate {
        average(keyPath, V.storageKind)
    }

    private static func average(_ keyPath: AnyKeyPath, _ kind: StorageKind) -> Aggregate {
        Aggregate(.average, keyPath, kind) { value in
            if value.isNull { return .some(nil) }
            return Double(storedValue: value).map { .some($0) }
        }
    }
}

extension Aggregate where Value == Decimal? {
    /// The average of a property's values; nil if there are no models.
    public static func average(_ keyPath: KeyPath<Model, Decimal>) -> Aggregate { decimalAverage(keyPath) }
    /// The average of a property's values, ignoring nil; nil if no model has a value.
    public static func average(_ keyPath: KeyPath<Model, Decimal?>) -> Aggregate { decimalAverage(keyPath) }

    private static func decimalAverage(_ keyPath: AnyKeyPath) -> Aggregate {
        Aggregate(.average, keyPath, .decimal) { value in
            if value.isNull { return .some(nil) }
            return Decimal(storedValue: value).map { .some($0) }
        }
    }
}

extension Aggregate {
    /// - Throws: `AggregateError.notStored`.
    func lowered() throws -> AggregateFunction {
        func expression() throws -> QueryExpression {
            guard let keyPath else { return .constant(.null) }
            return try AggregateError.lowering(keyPath, of: Model.self)
        }
        return switch operation {
        case .count: .count
        case .sum: .sum(try expression(), kind)
        case .average: .average(try expression(), kind)
        case .minimum: .minimum(try expression())
        case .maximum: .maximum(try expression())
        }
    }
}

/// Why an aggregate cannot be calculated without creating models.
public enum AggregateError: Error, Hashable, Sendable {
    /// The key path does not lead to a property that is stored as it is: the property is computed or transformable.
    case notStored(entity: String, keyPath: String)
    /// Models cannot be grouped by a key: its type is not stored as it is, an expression is nothing that a store could be asked,
    /// or a group's stored key is no value of the key's type.
    case unusableKey(entity: String, key: String, reason: String)
    /// A store's aggregate differs from the result for its rows. Detected only if `verifiesPushDown` is on.
    case falseResult(adapter: String, expected: String, found: String)

    static func lowering(_ keyPath: AnyKeyPath, of model: any PersistentModel.Type) throws -> QueryExpression {
        do {
            return try KeyPathLowering.lower(keyPath, of: model, on: .variable(0))
        } catch {
            throw AggregateError.notStored(
                entity: ModelLayout.of(model).entityName, keyPath: KeyPathText.named(keyPath))
        }
    }
}

extension AggregateError: CustomStringConvertible, SwiftDataErrorConvertible {
    /// What cannot be aggregated, and the way out, in one line.
    public var description: String {
        switch self {
        case .notStored(let entity, let keyPath):
            "\(keyPath) is not a stored property of \(entity). Fetch the models and calculate from them."
        case .unusableKey(let entity, let key, let reason):
            "\(entity) cannot be grouped by \(key): \(reason). Group by a stored property that has the value."
        case .falseResult(let adapter, let expected, let found):
            "\(adapter) calculated \(found) where its rows give \(expected)."
        }
    }
    /// The error of SwiftData that this one matches: `unsupportedKeyPath`.
    public var swiftDataError: SwiftDataError { .unsupportedKeyPath }
}
