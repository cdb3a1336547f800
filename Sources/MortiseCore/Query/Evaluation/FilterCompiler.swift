import Foundation

/// Makes closures of expressions: of conditions here, of values beside. What they say and throw is what `QueryEvaluator`
/// says and throws, which evaluates whatever has no closure of its own.
struct FilterCompiler {
    typealias Test = CompiledFilter.Test

    /// What is put in while a closure runs, for closures inside it.
    final class Box<Value> {
        var value: Value
        init(_ value: Value) { self.value = value }
    }

    /// What a variable is bound to.
    enum Binding {
        case record(Box<RecordReference>)
        case value(Box<StoredValue>)
    }

    let reader: RecordReader
    /// Where the values of the closures' argument can be read without asking the reader.
    var rows: RowSource?
    /// The variable that is the closures' argument.
    var argument = 0
    /// The other variables.
    var bindings: [Int: Binding] = [:]

    init(reader: RecordReader, rows: RowSource?) {
        self.reader = reader
        self.rows = rows
    }

    func test(_ expression: QueryExpression) -> Test {
        compiled(expression) ?? evaluated(expression)
    }

    /// The reference evaluator's word.
    private func evaluated(_ expression: QueryExpression) -> Test {
        let evaluator = QueryEvaluator(reader: reader)
        if argument == 0, bindings.isEmpty { return .init { try evaluator.matches(expression, $0) } }
        return .init { [argument, bindings] record in
            var frame = QueryEvaluator.Frame(record)
            frame[argument] = .record(record)
            for (variable, binding) in bindings {
                switch binding {
                case .record(let box): frame[variable] = .record(box.value)
                case .value(let box): frame[variable] = evaluator.expand(box.value)
                }
            }
            return try evaluator.bool(expression, &frame)
        }
    }

    private func compiled(_ expression: QueryExpression) -> Test? {
        switch expression {
        case .constant(.bool(let value)): return .init { _ in value }
        case .and(let parts): return .all(parts.map(test))
        case .or(let parts): return .any(parts.map(test))
        case .not(let part):
            let test = test(part)
            return .init { try !test.holds($0) }
        case .conditional(let condition, let a, let b):
            let (condition, first, second) = (test(condition), test(a), test(b))
            return .init { try condition.holds($0) ? first.holds($0) : second.holds($0) }
        case .compare(let comparison, let a, let b): return compared(comparison, a, b)
        case .contains(.list(let elements), let element): return oneOf(elements, element)
        case .contains(.range(let lower, let upper, let isClosed), let element):
            return inRange(lower, upper, isClosed, element, expression)
        case .startsWith(let base, .constant(.string(let start))):
            guard let text = text(base) else { return nil }
            // Null has no characters.
            return .init { try text($0).map { $0.starts(with: start) } ?? start.isEmpty }
        case .containsSequence(let base, .constant(.string(let part))):
            guard let text = text(base) else { return nil }
            return .init { try text($0).map { TextSearch.contains($0, part) } ?? part.isEmpty }
        case .localizedStandardContains(let base, .constant(.string(let part))):
            guard let text = required(base) else { return nil }
            return .init { TextSearch.localizedStandardContains(try text($0), part) }
        case .matches(let base, let pattern):
            guard let text = required(base), let regex = try? Regex(pattern) else { return nil }
            return .init { MatchWatch.isFound(regex, pattern, in: try text($0)) }
        case .isEmpty(let base):
            if let text = text(base) { return .init { try text($0)?.isEmpty ?? true } }
            guard let count = count(base) else { return nil }
            return .init { try count($0) == 0 }
        case .exists(let base, let variable, let body): return quantified(base, variable, body, isAll: false)
        case .all(let base, let variable, let body): return quantified(base, variable, body, isAll: true)
        case .isKind(let base, let entity):
            guard let record = record(base) else { return nil }
            return .init { [reader] in try record($0).map { reader.isKind($0.table, entity) } ?? false }
        case .property, .coalesce, .flatMap, .unwrap:
            guard let key = key(expression) else { return nil }
            return .init { record in
                guard case .bool(let value) = try key(record) else {
                    throw QueryEvaluationError.unfit(expression: "\(expression)")
                }
                return value
            }
        default: return nil
        }
    }

    // MARK: Comparisons

    private func compared(
        _ comparison: QueryExpression.Comparison, _ a: QueryExpression, _ b: QueryExpression
    ) -> Test? {
        if case .constant(let value) = b, let test = ownComparison(comparison, a, value) { return test }
        if case .constant(let value) = a, let test = ownComparison(comparison.mirrored, b, value) { return test }
        if let left = integer(a), let right = integer(b) { return typed(comparison, left, right) }
        if let left = double(a), let right = double(b) { return typed(comparison, left, right) }
        guard let left = key(a), let right = key(b) else { return nil }
        switch (comparison, b) {
        case (.equal, .constant(.null)): return .init { try left($0).isNull }
        case (.notEqual, .constant(.null)): return .init { try !left($0).isNull }
        case (_, .constant(let value)): return .init { ValueSemantics.holds(comparison, try left($0), value) }
        default: return .init { ValueSemantics.holds(comparison, try left($0), try right($0)) }
        }
    }

    /// A comparison of values of one type, of which null equals itself and is in no order.
    private func typed<Value: Comparable>(
        _ comparison: QueryExpression.Comparison, _ left: @escaping (RecordReference) throws -> Value?,
        _ right: @escaping (RecordReference) throws -> Value?
    ) -> Test {
        .init { record in
            let (a, b) = (try left(record), try right(record))
            if let a, let b { return ValueSemantics.holds(comparison, a, b) }
            switch comparison {
            case .equal: return a == nil && b == nil
            case .notEqual: return a != nil || b != nil
            default: return false
            }
        }
    }

    /// A comparison of an attribute of the record itself, read in place.
    private func ownComparison(
        _ comparison: QueryExpression.Comparison, _ expression: QueryExpression, _ constant: StoredValue
    ) -> Test? {
        guard let (rows, slot, kind) = own(expression) else { return nil }
        switch (kind, constant) {
        case (.string, .string(let wanted)) where comparison == .equal || comparison == .notEqual:
            let text = TextToFind(wanted)
            let isWanted = comparison == .equal
            return .init { rows.isText(text, row: $0.row, slot: slot) == isWanted }
        case (.double, .double(let bound)): return scalar(comparison, rows, slot, bound)
        case (.date, .date(let bound)): return scalar(comparison, rows, slot, bound)
        case (let kind, .integer(let bound)) where kind.integerRange != nil:
            return scalar(comparison, rows, slot, bound)
        case (_, .null) where comparison == .equal: return .init { rows.isNull(row: $0.row, slot: slot) }
        case (_, .null) where comparison == .notEqual: return .init { !rows.isNull(row: $0.row, slot: slot) }
        default:
            return .init { ValueSemantics.holds(comparison, rows.value(row: $0.row, slot: slot), constant) }
        }
    }

    /// A comparison of values of one type, without a `StoredValue` between.
    private func scalar<Value: PersistentScalar & Comparable>(
        _ comparison: QueryExpression.Comparison, _ rows: RowSource, _ slot: Int, _ bound: Value
    ) -> Test {
        switch comparison {
        case .equal: .init { Value._read(rows, row: $0.row, slot: slot).map { $0 == bound } ?? false }
        case .notEqual: .init { Value._read(rows, row: $0.row, slot: slot).map { $0 != bound } ?? true }
        case .less: .init { Value._read(rows, row: $0.row, slot: slot).map { $0 < bound } ?? false }
        case .lessOrEqual: .init { Value._read(rows, row: $0.row, slot: slot).map { $0 <= bound } ?? false }
        case .greater: .init { Value._read(rows, row: $0.row, slot: slot).map { $0 > bound } ?? false }
        case .greaterOrEqual: .init { Value._read(rows, row: $0.row, slot: slot).map { $0 >= bound } ?? false }
        }
    }

    // MARK: Sets, ranges and quantifiers

    private func oneOf(_ elements: [QueryExpression], _ element: QueryExpression) -> Test? {
        let values = elements.compactMap { element -> StoredValue? in
            if case .constant(let value) = element { value } else { nil }
        }
        guard values.count == elements.count, let key = key(element) else { return nil }
        // Hashing agrees with the meaning of equality only where that is equality of the stored bits.
        if values.count > 4, values.allSatisfy(\.hashesByMeaning) {
            let set = Set(values)
            return .init { set.contains(try key($0)) }
        }
        return .init { record in
            let found = try key(record)
            return values.contains { ValueSemantics.areEqual($0, found) }
        }
    }

    private func inRange(
        _ lower: QueryExpression, _ upper: QueryExpression, _ isClosed: Bool, _ element: QueryExpression,
        _ expression: QueryExpression
    ) -> Test? {
        guard let lower = key(lower), let upper = key(upper), let key = key(element),
            case .contains(let range, _) = expression
        else { return nil }
        let end = isClosed ? QueryExpression.Comparison.lessOrEqual : .less
        return .init { record in
            let (first, last) = (try lower(record), try upper(record))
            guard ValueSemantics.holds(.lessOrEqual, first, last) else {
                throw QueryEvaluationError.invalidRange(expression: "\(range)")
            }
            let value = try key(record)
            return ValueSemantics.holds(.greaterOrEqual, value, first) && ValueSemantics.holds(end, value, last)
        }
    }

    /// A test of the members of a to-many relationship.
    private func quantified(
        _ base: QueryExpression, _ variable: Int, _ body: QueryExpression, isAll: Bool
    ) -> Test? {
        guard let members = members(base) else { return nil }
        let outer = Box(RecordReference(table: 0, row: 0))
        var compiler = self
        compiler.bindings[argument] = .record(outer)
        compiler.bindings[variable] = nil
        compiler.argument = variable
        // Members may be of several tables.
        compiler.rows = nil
        let test = compiler.test(body)
        return .init { [reader] record in
            for identifier in try members(record) {
                guard let member = reader.record(identifier) else { continue }
                outer.value = record
                if try test.holds(member) != isAll { return !isAll }
            }
            return isAll
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
