import Foundation
import MortiseCore

/// Whether a column's value is one of several: a look into a set for each row, not a comparison with each of them.
extension ColumnTestCompiler {
    /// Nil for kinds whose equality is not that of their bits.
    func members(_ column: Column, _ values: [StoredValue]) -> ColumnTest? {
        let slot = column.slot
        let hasNull = values.contains(where: \.isNull)
        let given = values.filter { !$0.isNull }
        func numbers<Coding: NumberBits>(_ coding: Coding.Type, _ numbers: [Coding.Number]) -> ColumnTest?
        where Coding.Number: Hashable {
            guard numbers.count == given.count else { return nil }
            // Equal numbers are one element of the set, and NaN equals nothing.
            let set = Set(numbers.filter { $0 == $0 })
            guard let least = set.min(), let greatest = set.max() else { return withNull(hasNull, nil, slot) }
            let test = ColumnTest(cost: 6) { place, rows in
                let entry = place.entry(slot)
                // What lies outside is left out by comparisons, which take no more than an instruction for several rows.
                rows.keep(place, entry, as: Coding.Bits.self) {
                    let number = Coding.number($0)
                    return number >= least && number <= greatest
                }
                rows.keep(place, entry, present: true)
                rows.keep { set.contains(Coding.number(place.load(entry, $0, as: Coding.Bits.self))) }
            }
            return withNull(hasNull, test, slot)
        }
        let integers = given.compactMap { if case .integer(let number) = $0 { number } else { nil } }
        switch column.form {
        case .int8: return numbers(Int8Bits.self, integers)
        case .int16: return numbers(Int16Bits.self, integers)
        case .int32: return numbers(Int32Bits.self, integers)
        case .int64: return numbers(Int64Bits.self, integers)
        case .uint8: return numbers(UInt8Bits.self, integers)
        case .uint16: return numbers(UInt16Bits.self, integers)
        case .uint32: return numbers(UInt32Bits.self, integers)
        case .uint64:
            return numbers(
                UInt64Bits.self, given.compactMap { if case .unsigned(let number) = $0 { number } else { nil } })
        case .double:
            return numbers(
                DoubleBits.self, given.compactMap { if case .double(let number) = $0 { number } else { nil } })
        case .float:
            return numbers(FloatBits.self, given.compactMap { if case .float(let number) = $0 { number } else { nil } })
        case .date:
            let dates = given.compactMap { value in
                if case .date(let date) = value { Instant(interval: date.timeIntervalSinceReferenceDate) } else { nil }
            }
            return numbers(DateBits.self, dates)
        case .uuid:
            let wanted = given.compactMap { if case .uuid(let uuid) = $0 { Bits128(uuid.uuid) } else { nil } }
            guard wanted.count == given.count else { return nil }
            let set = Set(wanted)
            let test = ColumnTest(cost: 8) { place, rows in
                let entry = place.entry(slot)
                rows.keep(place, entry, present: true)
                rows.keep { set.contains(place.load(entry, $0, as: Bits128.self)) }
            }
            return withNull(hasNull, test, slot)
        case .decimal:
            let wanted = given.compactMap { if case .decimal(let number) = $0 { number } else { nil } }
            guard wanted.count == given.count else { return nil }
            let set = Set(wanted)
            let test = ColumnTest(cost: 20) { place, rows in
                let entry = place.entry(slot)
                rows.keep(place, entry, present: true)
                rows.keep { set.contains(place.decimal(entry, $0)) }
            }
            return withNull(hasNull, test, slot)
        default: return nil
        }
    }

    /// The test, or also the rows that have no value; no rows where there is neither.
    func withNull(_ hasNull: Bool, _ test: ColumnTest?, _ slot: Int) -> ColumnTest {
        guard let test else {
            return ColumnTest(cost: 1) { place, rows in
                if hasNull { rows.keep(place, place.entry(slot), present: false) } else { rows.clear() }
            }
        }
        if !hasNull { return test }
        return ColumnTest(cost: test.cost + 1) { place, rows in
            var passing = Words(rows.words)
            passing.withPointer {
                SelectedRows(words: $0, count: rows.count).keep(place, place.entry(slot), present: false)
            }
            test.narrow(place, rows)
            passing.formUnion(Words(rows.words))
            passing.write(to: rows.words)
        }
    }

    // MARK: Relationships

    /// The column of a to-one relationship of the record, which or whose identifier is asked for.
    func reference(_ expression: QueryExpression) -> Column? {
        switch expression {
        case .identifier(let base): return reference(base)
        case .property(.variable(0), let property) where property.slot < table.plan.columns.count:
            let column = table.plan.columns[property.slot]
            return column.role == .toOne ? column : nil
        default: return nil
        }
    }

    /// Whether a relationship leads to one of some records, or to none where null is among these.
    func target(_ comparison: QueryExpression.Comparison, _ column: Column, _ values: [StoredValue]) -> ColumnTest? {
        if comparison == .notEqual { return target(.equal, column, values).map(negated) }
        guard comparison == .equal else { return nil }
        let slot = column.slot
        var wanted: Set<Reference> = []
        for value in values {
            switch value {
            case .null: continue
            case .identifier(let identifier):
                // An identifier that cannot be a target of the relationship matches nothing.
                if let found = table.plan.reference(identifier, at: slot) {
                    wanted.insert(Reference(sequence: found.sequence, target: Int(found.entity)))
                }
            default: return nil
            }
        }
        let hasNull = values.contains(where: \.isNull)
        guard let only = wanted.first else { return withNull(hasNull, nil, slot) }
        let isOne = wanted.count == 1
        let test = ColumnTest(cost: isOne ? 3 : 8) { place, rows in
            let entry = place.entry(slot)
            rows.keep(place, entry, present: true)
            if isOne {
                rows.keep { offset in
                    let found = place.reference(entry, offset)
                    return found.sequence == only.sequence && found.target == only.target
                }
            } else {
                rows.keep { offset in
                    let found = place.reference(entry, offset)
                    return wanted.contains(Reference(sequence: found.sequence, target: found.target))
                }
            }
        }
        return withNull(hasNull, test, slot)
    }

    private struct Reference: Hashable {
        let sequence: UInt64
        let target: Int
    }
}
