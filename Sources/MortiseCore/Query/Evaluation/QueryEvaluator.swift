import Foundation

/// The reference evaluator: it defines the meaning of every query expression, record by record. It is slow and plain;
/// faster evaluators are compared with it.
public struct QueryEvaluator {
    let reader: RecordReader

    /// Makes an evaluator that reads records through a reader.
    public init(reader: RecordReader) { self.reader = reader }

    /// A value during evaluation.
    enum Value: Sendable {
        case stored(StoredValue)
        case record(RecordReference)
        case list([Value])
        case range(StoredValue, StoredValue, isClosed: Bool)

        static let null = Value.stored(.null)
        var isNull: Bool {
            if case .stored(.null) = self { true } else { false }
        }
    }

    /// Whether a filter holds for a record.
    /// - Throws: `QueryEvaluationError`.
    public func matches(_ filter: QueryExpression, _ record: RecordReference) throws -> Bool {
        var frame = Frame(record)
        return try bool(filter, &frame)
    }

    /// The value of an expression for a record, as a sort key.
    /// - Throws: `QueryEvaluationError`.
    public func sortKey(_ expression: QueryExpression, _ record: RecordReference) throws -> StoredValue {
        var frame = Frame(record)
        return stored(try value(expression, &frame))
    }

    /// What variables are bound to. Expressions have few of them: the record in question, and those of chains and quantifiers
    /// around the part that is evaluated.
    struct Frame {
        private let record: RecordReference
        private var bound: [(variable: Int, value: Value)] = []

        init(_ record: RecordReference) { self.record = record }

        subscript(variable: Int) -> Value? {
            get {
                for place in bound.indices.reversed() where bound[place].variable == variable {
                    return bound[place].value
                }
                return variable == 0 ? .record(record) : nil
            }
            set {
                guard let newValue else { return }
                for place in bound.indices where bound[place].variable == variable {
                    bound[place].value = newValue
                    return
                }
                bound.append((variable, newValue))
            }
        }
    }

    func bool(_ expression: QueryExpression, _ frame: inout Frame) throws -> Bool {
        switch expression {
        case .and(let parts):
            for part in parts where try !bool(part, &frame) { return false }
            return true
        case .or(let parts):
            for part in parts where try bool(part, &frame) { return true }
            return false
        case .not(let part): return try !bool(part, &frame)
        case .compare(let comparison, let a, let b):
            return try compare(comparison, value(a, &frame), value(b, &frame))
        default:
            guard case .stored(.bool(let result)) = try value(expression, &frame) else { throw unfit(expression) }
            return result
        }
    }

    func value(_ expression: QueryExpression, _ frame: inout Frame) throws -> Value {
        switch expression {
        case .constant(let value): return expand(value)
        case .list(let elements): return .list(try elements.map { try value($0, &frame) })
        case .variable(let index):
            guard let value = frame[index] else { throw unfit(expression) }
            return value
        case .property(let base, let property): return try self.property(property, of: value(base, &frame), expression)
        case .member(let base, let name):
            switch try value(base, &frame) {
            case .stored(.object(let members)): return expand(members[name] ?? .null)
            case .stored(.null): return .null
            default: throw unfit(expression)
            }
        case .decoded(let base, let kind): return try decode(value(base, &frame), kind, expression)
        case .identifier(let base):
            switch try value(base, &frame) {
            case .record(let record): return .stored(.identifier(reader.identifier(record)))
            case .stored(.null): return .null
            case .stored(.identifier(let identifier)): return .stored(.identifier(identifier))
            default: throw unfit(expression)
            }
        case .compare, .not, .and, .or: return .stored(.bool(try bool(expression, &frame)))
        case .arithmetic(let operation, let a, let b, let kind):
            return .stored(
                try Calculation(expression).apply(
                    operation, stored(value(a, &frame)), stored(value(b, &frame)), kind))
        case .negate(let base, let kind):
            return .stored(try Calculation(expression).negate(stored(value(base, &frame)), kind))
        case .conditional(let test, let a, let b): return try value(bool(test, &frame) ? a : b, &frame)
        case .coalesce(let a, let b):
            let first = try value(a, &frame)
            return first.isNull ? try value(b, &frame) : first
        case .flatMap(let base, let variable, let body):
            let inner = try value(base, &frame)
            if inner.isNull { return .null }
            frame[variable] = inner
            return try value(body, &frame)
        case .unwrap(let base):
            let inner = try value(base, &frame)
            if inner.isNull { throw QueryEvaluationError.unwrappedNull(expression: "\(expression)") }
            return inner
        case .isKind(let base, let entity):
            guard case .record(let record) = try value(base, &frame) else { return .stored(.bool(false)) }
            return .stored(.bool(reader.isKind(record.table, entity)))
        case .cast(let base, let entity):
            guard case .record(let record) = try value(base, &frame), reader.isKind(record.table, entity) else {
                return .null
            }
            return .record(record)
        case .start(let base, let period):
            switch try value(base, &frame) {
            case .stored(.null): return .null
            case .stored(.date(let date)): return .stored(.date(period.start(of: date)))
            default: throw unfit(expression)
            }
        case .onModels(_, let text): throw QueryEvaluationError.codeUnavailable(text: text)
        default: return try collection(expression, &frame)
        }
    }

    private func property(_ property: QueryProperty, of base: Value, _ expression: QueryExpression) throws -> Value {
        switch base {
        case .stored(.null): return .null
        case .record(let record):
            let layout = reader.tables[record.table].layout
            guard property.slot < layout.slots.count else { throw unfit(expression) }
            return relate(reader.value(record, slot: property.slot), layout.slots[property.slot].role)
        default: throw unfit(expression)
        }
    }

    private func decode(_ value: Value, _ kind: StorageKind, _ expression: QueryExpression) throws -> Value {
        switch value {
        case .list(let elements): return .list(try elements.map { try decode($0, kind, expression) })
        case .stored(let coded):
            guard let scalar = coded.coerced(to: kind) else { throw unfit(expression) }
            return .stored(scalar)
        default: throw unfit(expression)
        }
    }

    private func relate(_ value: StoredValue, _ role: RecordLayout.Role) -> Value {
        switch value {
        case .identifier(let identifier): return reader.record(identifier).map(Value.record) ?? .null
        case .identifiers(let identifiers):
            return .list(identifiers.compactMap { reader.record($0).map(Value.record) })
        case .null where role.isToMany: return .list([])
        default: return expand(value)
        }
    }

    func expand(_ value: StoredValue) -> Value {
        if case .array(let elements) = value { return .list(elements.map(expand)) }
        return .stored(value)
    }

    func stored(_ value: Value) -> StoredValue {
        switch value {
        case .stored(let value): value
        case .record(let record): .identifier(reader.identifier(record))
        case .list(let elements): .array(elements.map(stored))
        case .range: .null
        }
    }

    private func compare(_ comparison: QueryExpression.Comparison, _ a: Value, _ b: Value) throws -> Bool {
        switch comparison {
        case .equal: return areEqual(a, b)
        case .notEqual: return !areEqual(a, b)
        default: return ValueSemantics.holds(comparison, stored(a), stored(b))
        }
    }

    func areEqual(_ a: Value, _ b: Value) -> Bool {
        switch (a, b) {
        case (.record(let x), .record(let y)): x == y
        case (.list(let x), .list(let y)): x.count == y.count && zip(x, y).allSatisfy(areEqual)
        default: ValueSemantics.areEqual(stored(a), stored(b))
        }
    }

    func unfit(_ expression: QueryExpression) -> QueryEvaluationError { .unfit(expression: "\(expression)") }
}
