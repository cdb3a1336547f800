import Foundation

/// A filter as closures, made once for a query and a table: what is common runs without walking the expression for each record, the
/// rest falls back to the reference evaluator. The meaning is that of `QueryEvaluator`.
public struct CompiledFilter {
    struct Test {
        let holds: (RecordReference) throws -> Bool
        init(_ holds: @escaping (RecordReference) throws -> Bool) { self.holds = holds }

        /// A test that all of some hold. One closure inside another: an array's elements would be counted at every call.
        static func all(_ tests: some Sequence<Test>) -> Test {
            var all: Test?
            for test in tests {
                if let first = all { all = Test { try first.holds($0) && test.holds($0) } } else { all = test }
            }
            return all ?? Test { _ in true }
        }
        static func any(_ tests: some Sequence<Test>) -> Test {
            var any: Test?
            for test in tests {
                if let first = any { any = Test { try first.holds($0) || test.holds($0) } } else { any = test }
            }
            return any ?? Test { _ in false }
        }
    }
    typealias Key = (RecordReference) throws -> StoredValue

    private let test: Test

    /// - Parameter table: the number of the table whose records the filter is for.
    public init(_ conjuncts: [QueryExpression], reader: RecordReader, table: Int) {
        let compiler = FilterCompiler(reader: reader, rows: reader.unchangedRows(ofTable: table))
        test = .all(conjuncts.map(compiler.test))
    }

    public func matches(_ record: RecordReference) throws -> Bool { try test.holds(record) }
}

private struct FilterCompiler {
    let reader: RecordReader
    /// Where the table's values can be read without asking the reader.
    let rows: RowSource?

    func test(_ expression: QueryExpression) -> CompiledFilter.Test {
        switch expression {
        case .and(let parts): return .all(parts.map(test))
        case .or(let parts): return .any(parts.map(test))
        case .not(let part):
            let test = test(part)
            return .init { try !test.holds($0) }
        case .compare(let comparison, let a, let b):
            if case .constant(let value) = b, let test = ownComparison(comparison, a, value) { return test }
            if case .constant(let value) = a, let test = ownComparison(comparison.mirrored, b, value) { return test }
            if case .constant(let value) = b, let key = key(a) { return self.comparison(comparison, key, value) }
            if case .constant(let value) = a, let key = key(b) {
                return self.comparison(comparison.mirrored, key, value)
            }
            if let left = key(a), let right = key(b) {
                return .init { ValueSemantics.holds(comparison, try left($0), try right($0)) }
            }
        case .contains(.list(let elements), let element):
            let values = elements.compactMap { element -> StoredValue? in
                if case .constant(let value) = element { value } else { nil }
            }
            guard values.count == elements.count, let key = key(element) else { break }
            // Hashing agrees with the meaning of equality only where that is equality of the stored bits.
            if values.count > 4, values.allSatisfy(\.hashesByMeaning) {
                let set = Set(values)
                return .init { set.contains(try key($0)) }
            }
            return .init { record in
                let found = try key(record)
                return values.contains { ValueSemantics.areEqual($0, found) }
            }
        case .matches(let base, let pattern):
            guard let key = key(base), let regex = try? Regex(pattern) else { break }
            return .init { record in
                guard case .string(let text) = try key(record) else {
                    throw QueryEvaluationError.unfit(expression: "\(expression)")
                }
                return text.contains(regex)
            }
        case .property:
            if let key = key(expression) {
                return .init { record in
                    guard case .bool(let value) = try key(record) else {
                        throw QueryEvaluationError.unfit(expression: "\(expression)")
                    }
                    return value
                }
            }
        default: break
        }
        let evaluator = QueryEvaluator(reader: reader)
        return .init { try evaluator.matches(expression, $0) }
    }

    /// A comparison of an attribute of the record itself, read in place.
    private func ownComparison(
        _ comparison: QueryExpression.Comparison, _ expression: QueryExpression, _ constant: StoredValue
    ) -> CompiledFilter.Test? {
        guard let rows, case .property(.variable(0), let property) = expression,
            let layout = reader.layout(of: property.entity), property.slot < layout.slots.count,
            layout.slots[property.slot].role == .attribute,
            layout.slots[property.slot].property.attribute?.kind != .coded
        else { return nil }
        let slot = property.slot
        switch (layout.slots[slot].property.attribute?.kind, constant) {
        case (.string, .string(let wanted)) where comparison == .equal || comparison == .notEqual:
            let text = TextToFind(wanted)
            let isWanted = comparison == .equal
            return .init { rows.isText(text, row: $0.row, slot: slot) == isWanted }
        case (.double, .double(let bound)): return scalar(comparison, rows, slot, bound)
        case (.date, .date(let bound)): return scalar(comparison, rows, slot, bound)
        case (.some(let kind), .integer(let bound)) where kind.integerRange != nil:
            return scalar(comparison, rows, slot, bound)
        // Whether there is a value takes no reading of one that lies elsewhere.
        case (_, .null) where comparison == .equal: return .init { rows.isNull(row: $0.row, slot: slot) }
        case (_, .null) where comparison == .notEqual: return .init { !rows.isNull(row: $0.row, slot: slot) }
        default:
            return .init { ValueSemantics.holds(comparison, rows.value(row: $0.row, slot: slot), constant) }
        }
    }

    /// A comparison of values of one type, without a `StoredValue` between.
    private func scalar<Value: PersistentScalar & Comparable>(
        _ comparison: QueryExpression.Comparison, _ rows: RowSource, _ slot: Int, _ bound: Value
    ) -> CompiledFilter.Test {
        switch comparison {
        case .equal: .init { Value._read(rows, row: $0.row, slot: slot).map { $0 == bound } ?? false }
        case .notEqual: .init { Value._read(rows, row: $0.row, slot: slot).map { $0 != bound } ?? true }
        case .less: .init { Value._read(rows, row: $0.row, slot: slot).map { $0 < bound } ?? false }
        case .lessOrEqual: .init { Value._read(rows, row: $0.row, slot: slot).map { $0 <= bound } ?? false }
        case .greater: .init { Value._read(rows, row: $0.row, slot: slot).map { $0 > bound } ?? false }
        case .greaterOrEqual: .init { Value._read(rows, row: $0.row, slot: slot).map { $0 >= bound } ?? false }
        }
    }

    private func comparison(
        _ comparison: QueryExpression.Comparison, _ key: @escaping CompiledFilter.Key, _ constant: StoredValue
    ) -> CompiledFilter.Test {
        switch (comparison, constant) {
        case (.equal, .null): .init { try key($0).isNull }
        case (.notEqual, .null): .init { try !key($0).isNull }
        default: .init { ValueSemantics.holds(comparison, try key($0), constant) }
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
            guard let layout = reader.layout(of: property.entity), property.slot < layout.slots.count else {
                return nil
            }
            let slot = property.slot
            switch layout.slots[slot].role {
            case .toManyStored, .toManyDerived: return nil
            case .toOne:
                guard let target = record(expression) else { return nil }
                return { record in try target(record).map { .identifier(reader.identifier($0)) } ?? .null }
            case .attribute:
                if layout.slots[slot].property.attribute?.kind == .coded { return nil }
                if base == .variable(0) {
                    if let rows { return { rows.value(row: $0.row, slot: slot) } }
                    return { reader.value($0, slot: slot) }
                }
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
                guard let owner = try base(record), case .identifier(let target) = reader.value(owner, slot: slot)
                else {
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
