public import Foundation

/// A key by which models are grouped: see `ModelContext.groups`.
///
/// Its values are those of attributes that are stored as they are, of enums by their raw values, models of to-one relationships, and
/// optional ones of all these. For any other type, calculating throws `AggregateError.unusableKey`.
public struct GroupKey<Model: PersistentModel, Value> {
    let lowered: () throws -> QueryExpression
    /// The key as in source, for errors.
    let text: String

    private init(_ text: String, _ lowered: @escaping () throws -> QueryExpression) {
        self.text = text
        self.lowered = lowered
    }

    /// A property, also one of a related model: `.property(\.category?.name)`. A to-one relationship is a key as well: models that
    /// lead to the same record are in one group, which has that model as its key. Such keys are in the order of the models'
    /// identifiers, and enums in that of their raw values.
    public static func property(_ keyPath: KeyPath<Model, Value>) -> GroupKey {
        GroupKey(KeyPathText.named(keyPath)) {
            let expression = try AggregateError.lowering(keyPath, of: Model.self)
            return GroupValue(Value.self)?.isModel == true ? .identifier(expression) : expression
        }
    }

    /// The value of an expression. `#Expression` accepts what `#Predicate` accepts.
    public static func expression(_ expression: Expression<Model, Value>) -> GroupKey {
        GroupKey("the expression") {
            var lowering = Lowering(root: expression.variable.key)
            do {
                return try lowering.lower(expression.expression)
            } catch {
                let reason = (error as? NotLowerable)?.reason ?? "\(error)"
                throw AggregateError.unusableKey(
                    entity: ModelLayout.of(Model.self).entityName, key: "the expression",
                    reason: KeyPathText.named(reason))
            }
        }
    }

    /// - Throws: `AggregateError.unusableKey` for a type whose values no group can have.
    func value() throws -> GroupValue<Value> {
        if let value = GroupValue(Value.self) { return value }
        throw unusable("values of the type \(Value.self) are not stored as they are")
    }

    func unusable(_ reason: String) -> AggregateError {
        .unusableKey(entity: ModelLayout.of(Model.self).entityName, key: text, reason: reason)
    }
}

extension GroupKey where Value == Date {
    /// The beginning of the year, month, week, day or hour in which a date lies: `.start(of: .month, \.date)`.
    /// - Parameters:
    ///   - unit: the length of a period.
    ///   - keyPath: the date.
    ///   - calendar: its time zone says where a day begins, and its first weekday where a week does.
    /// - Returns: the key.
    public static func start(
        of unit: CalendarPeriod.Unit, _ keyPath: KeyPath<Model, Date>, in calendar: Calendar = .current
    ) -> GroupKey { period(unit, keyPath, calendar) }
}

extension GroupKey where Value == Date? {
    /// The beginning of the period in which an optional date lies; nil for nil.
    /// - Parameters:
    ///   - unit: the length of a period.
    ///   - keyPath: the date.
    ///   - calendar: its time zone says where a day begins, and its first weekday where a week does.
    /// - Returns: the key.
    public static func start(
        of unit: CalendarPeriod.Unit, _ keyPath: KeyPath<Model, Date?>, in calendar: Calendar = .current
    ) -> GroupKey { period(unit, keyPath, calendar) }
}

extension GroupKey {
    fileprivate static func period(
        _ unit: CalendarPeriod.Unit, _ keyPath: KeyPath<Model, Value>, _ calendar: Calendar
    ) -> GroupKey {
        GroupKey(KeyPathText.named(keyPath)) {
            .start(try AggregateError.lowering(keyPath, of: Model.self), of: CalendarPeriod(unit, in: calendar))
        }
    }
}

/// How the stored key of a group becomes a value of a type.
struct GroupValue<Value> {
    let isModel: Bool
    private let make: (StoredValue, any ModelFinding) -> Any?

    /// - Returns: nil for a type whose values are not stored as they are.
    init?(_ type: Value.Type) {
        let optional = type as? any OptionalValue.Type
        let wrapped = optional?.wrappedType ?? type
        var isModel = false
        let make: (StoredValue, any ModelFinding) -> Any?
        if let scalar = wrapped as? any PersistentScalar.Type {
            make = { stored, _ in scalar.init(storedValue: stored) }
        } else if let model = wrapped as? any PersistentModel.Type {
            isModel = true
            _ = model
            make = { stored, models in
                guard case .identifier(let identifier) = stored else { return nil }
                return models.model(for: identifier)
            }
        } else if let raw = wrapped as? any RawRepresentable.Type, let scalar = Self.scalar(of: raw) {
            make = { stored, _ in scalar.init(storedValue: stored).flatMap { Self.value(of: raw, $0) } }
        } else {
            return nil
        }
        self.isModel = isModel
        self.make = { stored, models in
            if stored.isNull, let optional { return optional.none }
            return make(stored, models)
        }
    }

    private static func scalar<R: RawRepresentable>(of type: R.Type) -> (any PersistentScalar.Type)? {
        R.RawValue.self as? any PersistentScalar.Type
    }

    private static func value<R: RawRepresentable>(of type: R.Type, _ raw: Any) -> Any? {
        (raw as? R.RawValue).flatMap { R(rawValue: $0) }
    }

    /// - Returns: nil where a store gave something else.
    func callAsFunction(_ stored: StoredValue, _ models: any ModelFinding) -> Value? {
        make(stored, models).flatMap { $0 as? Value }
    }
}
