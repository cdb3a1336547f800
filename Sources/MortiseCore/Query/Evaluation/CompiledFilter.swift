import Foundation

/// A filter as closures, made once for a query: what is common runs without walking the expression for each record, the
/// rest falls back to the reference evaluator. The meaning is that of `QueryEvaluator`.
public struct CompiledFilter {
    typealias Test = (RecordReference) throws -> Bool
    typealias Key = (RecordReference) throws -> StoredValue

    private let tests: [Test]

    public init(_ conjuncts: [QueryExpression], reader: RecordReader) {
        let compiler = FilterCompiler(reader: reader)
        tests = conjuncts.map(compiler.test)
    }

    public func matches(_ record: RecordReference) throws -> Bool {
        for test in tests where try !test(record) { return false }
        return true
    }
}

private struct FilterCompiler {
    let reader: RecordReader

    func test(_ expression: QueryExpression) -> CompiledFilter.Test {
        switch expression {
        case .and(let parts):
            let tests = parts.map(test)
            return { record in
                for test in tests where try !test(record) { return false }
                return true
            }
        case .or(let parts):
            let tests = parts.map(test)
            return { record in
                for test in tests where try test(record) { return true }
                return false
            }
        case .not(let part):
            let test = test(part)
            return { try !test($0) }
        case .compare(let comparison, let a, let b):
            if case .constant(let value) = b, let key = key(a) { return self.comparison(comparison, key, value) }
            if case .constant(let value) = a, let key = key(b) {
                return self.comparison(comparison.mirrored, key, value)
            }
            if let left = key(a), let right = key(b) {
                return { ValueSemantics.holds(comparison, try left($0), try right($0)) }
            }
        case .contains(.list(let elements), let element):
            let values = elements.compactMap { element -> StoredValue? in
                if case .constant(let value) = element { value } else { nil }
            }
            // Hashing agrees with the meaning of equality only where that is equality of the stored bits.
            if values.count == elements.count, values.count > 4, values.allSatisfy(\.hashesByMeaning), let key = key(element) {
                let set = Set(values)
                return { set.contains(try key($0)) }
            }
        case .property:
            if let key = key(expression) {
                return { record in
                    guard case .bool(let value) = try key(record) else {
                        throw QueryEvaluationError.unfit(expression: "\(expression)")
                    }
                    return value
                }
            }
        default: break
        }
        let evaluator = QueryEvaluator(reader: reader)
        return { try evaluator.matches(expression, $0) }
    }

    private func comparison(
        _ comparison: QueryExpression.Comparison, _ key: @escaping CompiledFilter.Key, _ constant: StoredValue
    ) -> CompiledFilter.Test {
        switch (comparison, constant) {
        case (.equal, .null): { try key($0).isNull }
        case (.notEqual, .null): { try !key($0).isNull }
        case (.equal, .string(let wanted)):
            { record in if case .string(let found) = try key(record) { found == wanted } else { false } }
        case (.equal, .integer(let wanted)):
            { record in
                let found = try key(record)
                return if case .integer(let number) = found { number == wanted } else { ValueSemantics.areEqual(found, constant) }
            }
        case (.less, .double(let bound)): double(key, comparison, constant) { $0 < bound }
        case (.lessOrEqual, .double(let bound)): double(key, comparison, constant) { $0 <= bound }
        case (.greater, .double(let bound)): double(key, comparison, constant) { $0 > bound }
        case (.greaterOrEqual, .double(let bound)): double(key, comparison, constant) { $0 >= bound }
        case (.less, .integer(let bound)): integer(key, comparison, constant) { $0 < bound }
        case (.lessOrEqual, .integer(let bound)): integer(key, comparison, constant) { $0 <= bound }
        case (.greater, .integer(let bound)): integer(key, comparison, constant) { $0 > bound }
        case (.greaterOrEqual, .integer(let bound)): integer(key, comparison, constant) { $0 >= bound }
        default: { ValueSemantics.holds(comparison, try key($0), constant) }
        }
    }

    private func double(
        _ key: @escaping CompiledFilter.Key, _ comparison: QueryExpression.Comparison, _ constant: StoredValue,
        _ test: @escaping (Double) -> Bool
    ) -> CompiledFilter.Test {
        { record in
            let found = try key(record)
            return if case .double(let number) = found { test(number) } else {
                ValueSemantics.holds(comparison, found, constant)
            }
        }
    }

    private func integer(
        _ key: @escaping CompiledFilter.Key, _ comparison: QueryExpression.Comparison, _ constant: StoredValue,
        _ test: @escaping (Int64) -> Bool
    ) -> CompiledFilter.Test {
        { record in
            let found = try key(record)
            return if case .integer(let number) = found { test(number) } else {
                ValueSemantics.holds(comparison, found, constant)
            }
        }
    }

    /// The expressions that give one stored scalar: constants, attributes of the record and of what it leads to.
    private func key(_ expression: QueryExpression) -> CompiledFilter.Key? {
        let reader = reader
        switch expression {
        case .constant(let value):
            if case .array = value { return nil }
            return { _ in value }
        case .property(let base, let property):
            guard let layout = reader.layout(of: property.entity), property.slot < layout.slots.count else { return nil }
            let slot = property.slot
            switch layout.slots[slot].role {
            case .toManyStored, .toManyDerived: return nil
            case .toOne:
                guard let target = record(expression) else { return nil }
                return { record in try target(record).map { .identifier(reader.identifier($0)) } ?? .null }
            case .attribute:
                if layout.slots[slot].property.attribute?.kind == .coded { return nil }
                if base == .variable(0) { return { reader.value($0, slot: slot) } }
                guard let base = record(base) else { return nil }
                return { record in try base(record).map { reader.value($0, slot: slot) } ?? .null }
            }
        case .identifier(.variable(0)): return { .identifier(reader.identifier($0)) }
        case .coalesce(let a, let b):
            guard let first = key(a), let second = key(b) else { return nil }
            return { record in
                let value = try first(record)
                return value.isNull ? try second(record) : value
            }
        default: return nil
        }
    }

    /// The expressions that lead to one record.
    private func record(_ expression: QueryExpression) -> ((RecordReference) throws -> RecordReference?)? {
        let reader = reader
        switch expression {
        case .variable(0): return { $0 }
        case .property(let base, let property):
            guard let base = record(base) else { return nil }
            let slot = property.slot
            return { record in
                guard let owner = try base(record), case .identifier(let target) = reader.value(owner, slot: slot) else {
                    return nil
                }
                return reader.record(target)
            }
        default: return nil
        }
    }
}

extension StoredValue {
    /// Whether two values of this case are equal exactly when their stored bits are.
    fileprivate var hashesByMeaning: Bool {
        switch self {
        case .string, .integer, .uuid, .identifier, .bool: true
        default: false
        }
    }
}
