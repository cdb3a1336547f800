import Foundation
import MortiseCore

/// An index of one version of a table, for carrying out queries.
///
/// Ranges are in terms of `ValueSemantics`: what comparisons leave out (null, NaN) no comparison's range has; a range for
/// equality with null has the rows that are null. Rows with equal keys come in identity order, whatever the direction.
struct TableIndex {
    let table: TableVersion
    let definition: IndexDefinition
    private let tree: OrderedIndex

    init(_ table: TableVersion, _ number: Int) {
        self.table = table
        definition = table.plan.indexes[number]
        tree = table.indexes[number]
    }

    /// How many entries there are: one for each row that is there.
    var count: Int { tree.count }

    // MARK: Ranges

    /// The rows whose first values equal these.
    /// - Returns: nil if no row can match: one of the values is NaN, or of another kind.
    func equal(to values: [StoredValue]) -> IndexRange? {
        prefix(values).map { IndexRange(beginningWith: $0.bytes) }
    }

    /// The rows whose first values equal these and whose next value lies between the bounds.
    /// - Returns: nil if no row can match.
    func between(
        _ lower: IndexRange.Bound?, _ upper: IndexRange.Bound?, after values: [StoredValue] = []
    ) -> IndexRange? {
        guard values.count < definition.components.count, let buffer = prefix(values) else { return nil }
        let component = definition.components[values.count]
        let start = buffer.count
        var range = IndexRange(lower: [], upper: nil)
        if let lower {
            guard append(lower.value, component, to: buffer), !lower.value.isNull else { return nil }
            if lower.isIncluded {
                range.lower = buffer.bytes
            } else {
                guard let behind = IndexRange.successor(of: buffer.bytes) else { return nil }
                range.lower = behind
            }
        } else {
            component.appendLowestComparable(to: buffer)
            range.lower = buffer.bytes
        }
        buffer.truncate(to: start)
        if let upper {
            guard append(upper.value, component, to: buffer), !upper.value.isNull else { return nil }
            range.upper = upper.isIncluded ? IndexRange.successor(of: buffer.bytes) : buffer.bytes
        } else {
            range.upper = IndexRange.successor(of: buffer.bytes)
        }
        return range
    }

    /// The rows whose first values equal these and whose next value, a string, begins with the given one, scalar for
    /// scalar in composed form. That is every string that begins with it character for character, and may be more.
    func beginning(with string: String, after values: [StoredValue] = []) -> IndexRange? {
        guard values.count < definition.components.count, let buffer = prefix(values) else { return nil }
        let component = definition.components[values.count]
        guard component.kind == .string else { return nil }
        if component.isOptional { buffer.append(1) }
        buffer.appendPrefix(string)
        return IndexRange(beginningWith: buffer.bytes)
    }

    /// The rows whose first values equal these and whose next value, a date, is NaN: it is neither before nor after any
    /// other, so that `<=` and `>=` hold for it.
    func nanDates(after values: [StoredValue]) -> IndexRange? {
        guard values.count < definition.components.count, definition.components[values.count].kind == .date else {
            return nil
        }
        return notANumber(after: values)
    }

    /// The rows whose first values equal these and whose next value is NaN; nil if it cannot be NaN.
    func notANumber(after values: [StoredValue]) -> IndexRange? {
        guard values.count < definition.components.count, let buffer = prefix(values) else { return nil }
        let component = definition.components[values.count]
        if component.isOptional { buffer.append(1) }
        switch component.kind {
        case .float, .double, .date: buffer.append(bigEndian: 0)
        case .decimal: buffer.append(0)
        default: return nil
        }
        return IndexRange(beginningWith: buffer.bytes)
    }

    /// The positions of the least and the greatest of the next values, for rows whose first values equal these, within
    /// optional bounds. Both are in the first range that has any rows; null does not count, and NaN is in the last
    /// range only.
    func extremes(
        _ lower: IndexRange.Bound?, _ upper: IndexRange.Bound?, after values: [StoredValue]
    ) -> [IndexRange] {
        guard values.count < definition.components.count else { return [] }
        var numbers = between(lower, upper, after: values)
        guard let others = notANumber(after: values) else { return numbers.map { [$0] } ?? [] }
        if let end = others.upper, numbers?.lower.lexicographicallyPrecedes(end) == true { numbers?.lower = end }
        let isBounded = lower != nil || upper != nil
        let mayHold =
            switch definition.components[values.count].kind {
            case .float, .double: !isBounded
            case .date: !isBounded || lower?.isIncluded ?? false || upper?.isIncluded ?? false
            default: true
            }
        return (numbers.map { [$0] } ?? []) + (mayHold ? [others] : [])
    }

    private func prefix(_ values: [StoredValue]) -> KeyBuffer? {
        guard values.count <= definition.components.count else { return nil }
        let buffer = KeyBuffer()
        for (component, value) in zip(definition.components, values) {
            guard append(value, component, to: buffer) else { return nil }
        }
        return buffer
    }

    private func append(_ value: StoredValue, _ component: KeyComponent, to buffer: KeyBuffer) -> Bool {
        if value.isNull, !component.isOptional { return false }
        if value.equalsNothing { return false }
        return buffer.append(value, component) { table.plan.reference($0, at: component.slot) }
    }

    // MARK: Reading

    /// How many rows lie in a range, without going through them: exact, and cheap enough to plan with.
    func count(in range: IndexRange) -> Int {
        range.withLower(isWide: tree.isWide) { lower in
            range.withUpper(isWide: tree.isWide) { tree.count(from: lower, to: $0) }
        }
    }

    /// Calls the body with the rows in a range, in key order, until it returns false. Leaves out the first `skipping`
    /// rows; in ascending order the cost of that does not depend on their number.
    func forEachRow(
        in range: IndexRange = .all, descending: Bool = false, skipping: Int = 0, _ body: (Int) throws -> Bool
    ) rethrows {
        try range.withLower(isWide: tree.isWide) { lower in
            try range.withUpper(isWide: tree.isWide) { upper in
                if descending {
                    var left = skipping
                    try tree.forEachRowDescending(from: lower, to: upper) { row in
                        if left > 0 {
                            left -= 1
                            return true
                        }
                        return try body(row)
                    }
                    return
                }
                var first = lower
                if skipping > 0 {
                    guard let later = tree.entry(at: tree.rank(lower) + skipping) else { return }
                    first = later
                }
                try tree.forEachRun(from: first, to: upper) { node, run in
                    for index in run {
                        if try !body(Int(node.row(index))) { return false }
                    }
                    return true
                }
            }
        }
    }

    /// The rows in several ranges, each once and in ascending order of rows: what an `IN` or an `OR` asks for.
    func rows(in ranges: [IndexRange]) -> [Int] {
        var rows: [Int] = []
        for range in ranges {
            forEachRow(in: range) { row in
                rows.append(row)
                return true
            }
        }
        rows.sort()
        var unique: [Int] = []
        unique.reserveCapacity(rows.count)
        for row in rows where unique.last != row { unique.append(row) }
        return unique
    }

    /// The rows in ranges that do not overlap, ascending; nil if there are more than `limit`.
    func rows(in ranges: [IndexRange], upTo limit: Int) -> [Int]? {
        var rows: [Int] = []
        for range in ranges {
            forEachRow(in: range) { row in
                rows.append(row)
                return rows.count <= limit
            }
            if rows.count > limit { return nil }
        }
        if rows.count > 1 { rows.sort() }
        return rows
    }

    /// The rows that have these values in all of the index's properties, ascending; nil if there are more than `limit`.
    func rows(equalTo values: [StoredValue], upTo limit: Int) -> [Int]? {
        guard let buffer = prefix(values) else { return [] }
        // No key is the beginning of another one, so that the whole key decides.
        let key = IndexProbe(buffer.key, row: 0, isWide: tree.isWide)
        // What an overlay hides behind the key is not shown, and would be gone through.
        let end =
            tree.overlay == nil
            ? nil : IndexProbe(head: key.head, second: key.second, tail: key.tail, row: .max)
        var rows: [Int] = []
        tree.forEachRun(from: key, to: end) { node, run in
            for index in run {
                if rows.count > limit || !node.hasKey(index, key) { return false }
                rows.append(Int(node.row(index)))
            }
            return true
        }
        // The probe points into the buffer.
        return withExtendedLifetime(buffer) { rows.count > limit ? nil : rows }
    }

    /// The row of that rank in key order, counted from 0.
    func row(at rank: Int) -> Int? { tree.entry(at: rank).map { Int($0.row) } }
}

extension StoredValue {
    /// A decimal NaN equals itself and is below every number, like any other value.
    fileprivate var equalsNothing: Bool {
        switch self {
        case .double(let value): value.isNaN
        case .float(let value): value.isNaN
        case .date(let value): value.timeIntervalSinceReferenceDate.isNaN
        default: false
        }
    }
}

extension KeyComponent {
    /// What the keys of all values that compare with others come at or after: after null and NaN.
    fileprivate func appendLowestComparable(to buffer: KeyBuffer) {
        if isOptional { buffer.append(1) }
        switch kind {
        case .float, .double, .date: buffer.append(bigEndian: 1)
        default: break
        }
    }
}
