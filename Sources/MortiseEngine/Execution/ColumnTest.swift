import Foundation
import MortiseCore

/// A condition that is evaluated chunk by chunk on a table's columns, without making a value of any row. It cannot fail,
/// and says what `QueryEvaluator` says.
struct ColumnTest {
    /// What one row costs, roughly, in terms of comparing two numbers.
    let cost: Int
    /// The column that is read first; nil if the test reads several.
    let slot: Int?
    /// Takes the rows out for which the condition does not hold.
    let narrow: (ChunkPlace, SelectedRows) -> Void

    /// Nil for a condition that has to be evaluated row by row.
    init?(_ expression: QueryExpression, _ table: TableVersion) {
        guard let test = ColumnTestCompiler(table: table).test(expression) else { return nil }
        self = test
    }

    init(cost: Int, slot: Int? = nil, narrow: @escaping (ChunkPlace, SelectedRows) -> Void) {
        self.cost = cost
        self.slot = slot
        self.narrow = narrow
    }
}

struct ColumnTestCompiler {
    let table: TableVersion

    func test(_ expression: QueryExpression) -> ColumnTest? {
        switch expression {
        case .and(let parts): return all(parts)
        case .or(let parts): return any(parts)
        case .not(let part): return test(part).map(negated)
        case .compare(let comparison, .compareStrings(let way, let a, let b), .constant(.integer(let bound))):
            return compareStrings(way, a, b) { ValueSemantics.holds(comparison, $0, bound) }
        case .compare(let comparison, let property, .constant(let value)): return compare(comparison, property, value)
        case .compare(let comparison, .constant(let value), let property):
            return compare(comparison.mirrored, property, value)
        case .constant(.bool(let value)):
            return ColumnTest(cost: 0) { _, rows in if !value { rows.clear() } }
        case .property: return compare(.equal, expression, .bool(true))
        case .conditional(let condition, let a, let b):
            return any([.and([condition, a]), .and([.not(condition), b])])
        case .contains(.range(.constant(let lower), .constant(let upper), let isClosed), let property):
            // A range that ends before it begins is an error, which is not for a test to find.
            guard ValueSemantics.holds(.lessOrEqual, lower, upper),
                let first = compare(.greaterOrEqual, property, lower),
                let second = compare(isClosed ? .lessOrEqual : .less, property, upper)
            else { return nil }
            return joined([first, second])
        case .contains(.list(let elements), let property): return contains(elements, property)
        default: return text(expression)
        }
    }

    // MARK: Connectives

    private func all(_ parts: [QueryExpression]) -> ColumnTest? {
        let tests = parts.compactMap(test)
        return tests.count == parts.count ? joined(tests) : nil
    }

    private func joined(_ tests: [ColumnTest]) -> ColumnTest {
        let sorted = tests.sorted { $0.cost < $1.cost }
        return ColumnTest(cost: tests.reduce(0) { $0 + $1.cost }, slot: sorted.first?.slot) { place, rows in
            for test in sorted { test.narrow(place, rows) }
        }
    }

    private func any(_ parts: [QueryExpression]) -> ColumnTest? {
        let tests = parts.compactMap(test)
        guard tests.count == parts.count else { return nil }
        return ColumnTest(cost: tests.reduce(1) { $0 + $1.cost }) { place, rows in
            // What passes no test so far is given to the next one.
            var left = Words(rows.words)
            var passed = Words()
            for test in tests {
                var asked = left
                asked.withPointer { test.narrow(place, SelectedRows(words: $0, count: rows.count)) }
                passed.formUnion(asked)
                left.subtract(asked)
            }
            passed.write(to: rows.words)
        }
    }

    func negated(_ test: ColumnTest) -> ColumnTest {
        ColumnTest(cost: test.cost + 1, slot: test.slot) { place, rows in
            var passed = Words(rows.words)
            var all = passed
            passed.withPointer { test.narrow(place, SelectedRows(words: $0, count: rows.count)) }
            all.subtract(passed)
            all.write(to: rows.words)
        }
    }

    // MARK: Comparisons

    func column(_ expression: QueryExpression) -> Column? {
        guard case .property(.variable(0), let property) = expression, property.slot < table.plan.columns.count else {
            return nil
        }
        let column = table.plan.columns[property.slot]
        return column.role == .attribute && column.form != .none ? column : nil
    }

    private func compare(
        _ comparison: QueryExpression.Comparison, _ expression: QueryExpression, _ value: StoredValue
    ) -> ColumnTest? {
        if let column = reference(expression) { return target(comparison, column, [value]) }
        guard let column = column(expression) else { return nil }
        if comparison == .notEqual { return compare(.equal, expression, value).map(negated) }
        let slot = column.slot
        switch (value, column.form) {
        case (.null, _):
            guard comparison == .equal else { return nil }
            return ColumnTest(cost: 1) { place, rows in rows.keep(place, place.entry(slot), present: false) }
        case (.bool(let wanted), .bool):
            guard comparison == .equal else { return nil }
            return ColumnTest(cost: 2) { place, rows in
                let entry = place.entry(slot)
                rows.keep(place, entry, as: UInt8.self) { ($0 != 0) == wanted }
                rows.keep(place, entry, present: true)
            }
        case (.integer(let bound), _) where column.kind?.integerRange != nil:
            return integers(comparison, slot, bound, column.form)
        case (.unsigned(let bound), .uint64): return numbers(comparison, slot, bound, UInt64Bits.self)
        case (.double(let bound), .double): return numbers(comparison, slot, bound, DoubleBits.self)
        case (.float(let bound), .float): return numbers(comparison, slot, bound, FloatBits.self)
        case (.date(let bound), .date):
            return numbers(
                comparison, slot, Instant(interval: bound.timeIntervalSinceReferenceDate), DateBits.self)
        case (.uuid(let wanted), .uuid):
            guard comparison == .equal else { return nil }
            let bits = Bits128(wanted.uuid)
            return ColumnTest(cost: 2) { place, rows in
                let entry = place.entry(slot)
                rows.keep(place, entry, as: Bits128.self) { $0 == bits }
                rows.keep(place, entry, present: true)
            }
        case (.decimal(let bound), .decimal):
            return ColumnTest(cost: 12) { place, rows in
                let entry = place.entry(slot)
                rows.keep(place, entry, present: true)
                rows.keep { ValueSemantics.holds(comparison, place.decimal(entry, $0), bound) }
            }
        case (.data(let wanted), .bytes) where column.kind == .data:
            // What a cell has may name a file that has the bytes.
            guard comparison == .equal, !table.mayHaveFiles(in: column) else { return nil }
            let bytes = [UInt8](wanted)
            return ColumnTest(cost: 6) { place, rows in
                let entry = place.entry(slot)
                rows.keep(place, entry, present: true)
                rows.keep { offset in
                    let found = place.bytes(entry, offset)
                    return found.count == bytes.count && found.elementsEqual(bytes)
                }
            }
        case (.string(let wanted), .text):
            switch comparison {
            case .equal:
                let text = TextToFind(wanted)
                return strings(column, { text.equals($0) }) { $0 == wanted }
            case .notEqual: return strings(column) { $0 != wanted }
            case .less: return strings(column) { $0 < wanted }
            case .lessOrEqual: return strings(column) { $0 <= wanted }
            case .greater: return strings(column) { $0 > wanted }
            case .greaterOrEqual: return strings(column) { $0 >= wanted }
            }
        default: return nil
        }
    }

    private func integers(
        _ comparison: QueryExpression.Comparison, _ slot: Int, _ bound: Int64, _ form: ColumnForm
    ) -> ColumnTest? {
        switch form {
        case .int8: numbers(comparison, slot, bound, Int8Bits.self)
        case .int16: numbers(comparison, slot, bound, Int16Bits.self)
        case .int32: numbers(comparison, slot, bound, Int32Bits.self)
        case .int64: numbers(comparison, slot, bound, Int64Bits.self)
        case .uint8: numbers(comparison, slot, bound, UInt8Bits.self)
        case .uint16: numbers(comparison, slot, bound, UInt16Bits.self)
        case .uint32: numbers(comparison, slot, bound, UInt32Bits.self)
        default: nil
        }
    }

    private func numbers<Coding: NumberBits>(
        _ comparison: QueryExpression.Comparison, _ slot: Int, _ bound: Coding.Number, _ coding: Coding.Type
    ) -> ColumnTest {
        switch comparison {
        case .equal: numbers(slot, bound, coding, Equal.self, cost: 1)
        case .notEqual: negated(numbers(slot, bound, coding, Equal.self, cost: 1))
        case .less: numbers(slot, bound, coding, Less.self, cost: 2)
        case .lessOrEqual: numbers(slot, bound, coding, LessOrEqual.self, cost: 2)
        case .greater: numbers(slot, bound, coding, Greater.self, cost: 2)
        case .greaterOrEqual: numbers(slot, bound, coding, GreaterOrEqual.self, cost: 2)
        }
    }

    /// A loop of its own for each type and operator: generic, so that the compiler makes them.
    private func numbers<Coding: NumberBits, Operator: NumberOperator>(
        _ slot: Int, _ bound: Coding.Number, _ coding: Coding.Type, _ operator: Operator.Type, cost: Int
    ) -> ColumnTest {
        ColumnTest(cost: cost, slot: slot) { place, rows in
            let entry = place.entry(slot)
            rows.keep(place, entry, as: Coding.Bits.self) { Operator.holds(Coding.number($0), bound) }
            rows.keep(place, entry, present: true)
        }
    }

    // MARK: Strings and sets

    /// Returns a test of strings, which tests each distinct string of a coded column once. `cost` is that of testing
    /// one string. `holdsForBytes` is the same test on UTF-8, if that is cheaper than making a string.
    func strings(
        _ column: Column, cost: Int = 20, _ holdsForBytes: ((UnsafeRawBufferPointer) -> Bool)? = nil,
        _ holds: @escaping (String) -> Bool
    ) -> ColumnTest {
        let slot = column.slot
        let dictionary = table.dictionaries[slot]
        let codes = CodeSet(dictionary, cost: cost, holds)
        return ColumnTest(cost: codes.cost, slot: slot) { place, rows in
            let entry = place.entry(slot)
            switch entry.form {
            case .code:
                codes.narrow(rows, place, entry)
                rows.keep(place, entry, present: true)
            case .text:
                rows.keep(place, entry, present: true)
                if let holdsForBytes {
                    rows.keep { offset in holdsForBytes(place.bytes(entry, offset)) }
                } else {
                    rows.keep { offset in holds(place.text(entry, offset)) }
                }
            default: rows.clear()
            }
        }
    }

    private func contains(_ elements: [QueryExpression], _ expression: QueryExpression) -> ColumnTest? {
        let values = elements.compactMap { element -> StoredValue? in
            if case .constant(let value) = element { value } else { nil }
        }
        guard values.count == elements.count else { return nil }
        if let column = reference(expression) { return target(.equal, column, values) }
        guard let column = column(expression) else { return nil }
        if column.form == .text {
            let given = values.filter { !$0.isNull }
            let texts = given.compactMap { if case .string(let text) = $0 { text } else { nil } }
            guard texts.count == given.count else { return nil }
            let wanted = Set(texts)
            let test = wanted.isEmpty ? nil : strings(column) { wanted.contains($0) }
            return withNull(given.count < values.count, test, column.slot)
        }
        if values.count <= 4 {
            let tests = values.compactMap { compare(.equal, expression, $0) }
            return tests.count == values.count ? any(values.map { .compare(.equal, expression, .constant($0)) }) : nil
        }
        return members(column, values)
    }
}
