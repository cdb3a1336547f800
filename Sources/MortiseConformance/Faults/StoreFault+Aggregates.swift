import Foundation
import MortiseCore

extension StoreFault {
    /// A store that gives functions other values than those of its records.
    private static func adding(
        _ id: String, _ summary: String,
        _ change: @escaping @Sendable (StoredValue, AggregateFunction) -> StoredValue?
    ) -> StoreFault {
        shared(id, summary) { $0.addend = { change($0, $1) ?? $0 } }
    }

    /// A store that answers with other groups than those that it has found.
    private static func answering(
        _ id: String, _ summary: String,
        _ change: @escaping @Sendable ([AggregateGroup], AggregateQuery) -> [AggregateGroup]
    ) -> StoreFault {
        shared(id, summary) { $0.aggregated = change }
    }

    /// A store that forms groups by other values.
    private static func grouping(
        _ id: String, _ summary: String, _ key: @escaping @Sendable (StoredValue) -> StoredValue?
    ) -> StoreFault {
        shared(id, summary) { $0.groupKey = { key($0) ?? $0 } }
    }

    /// A store that forms groups by other expressions.
    private static func groupingBy(
        _ id: String, _ summary: String, _ key: @escaping @Sendable (QueryExpression) -> QueryExpression?
    ) -> StoreFault {
        shared(id, summary) { $0.groupExpression = { key($0) ?? $0 } }
    }

    /// The periods of a calendar that is changed.
    private static func period(
        _ key: QueryExpression, _ change: (inout Calendar) -> Void
    ) -> QueryExpression? {
        guard case .start(let date, let period) = key else { return nil }
        var calendar = period.calendar
        change(&calendar)
        return .start(date, of: CalendarPeriod(period.unit, in: calendar))
    }

    /// A store that answers with other results of a function.
    private static func resulting(
        _ id: String, _ summary: String,
        _ change: @escaping @Sendable (StoredValue, AggregateFunction) -> StoredValue?
    ) -> StoreFault {
        answering(id, summary) { groups, query in
            groups.map { group in
                let values = zip(group.values, query.functions).map { change($0, $1) ?? $0 }
                return AggregateGroup(keys: group.keys, values: values)
            }
        }
    }

    private static func zero(_ kind: StorageKind) -> StoredValue {
        switch kind {
        case .double: .double(0)
        case .float: .float(0)
        case .decimal: .decimal(0)
        case .uint64: .unsigned(0)
        default: .integer(0)
        }
    }

    private static func isNaN(_ value: StoredValue) -> Bool {
        switch value {
        case .double(let value): value.isNaN
        case .float(let value): value.isNaN
        default: false
        }
    }

    static let aggregateFaults: [StoreFault] = functionFaults + groupFaults

    private static let functionFaults: [StoreFault] = [
        adding("averages-count-nil", "counts nil as 0 in an average") { value, function in
            guard case .average(_, let kind) = function, value.isNull else { return nil }
            return zero(kind)
        },
        adding("averages-of-fractions-count-nil", "counts nil as 0 in an average of fractions and decimals") {
            value, function in
            guard case .average(_, let kind) = function, value.isNull, kind.integerRange == nil, kind != .uint64 else {
                return nil
            }
            return zero(kind)
        },
        adding("ends-count-nil", "takes nil for 0 where the least or the greatest is looked for") { value, function in
            switch function {
            case .minimum, .maximum: value.isNull ? .integer(0) : nil
            default: nil
            }
        },
        resulting("totals-of-nothing-are-nil", "has nil for a sum of nothing, as databases do") { value, function in
            guard case .sum(_, let kind) = function, value == zero(kind) else { return nil }
            return .null
        },
        resulting("averages-of-nothing-are-zero", "has 0 for an average of nothing") { value, function in
            guard case .average(_, let kind) = function, value.isNull else { return nil }
            return kind == .decimal ? .decimal(0) : .double(0)
        },
        resulting("averages-are-whole", "divides integers as integers for their average") { value, function in
            guard case .average(_, let kind) = function, kind.integerRange != nil, case .double(let average) = value
            else { return nil }
            return .double(average.rounded(.towardZero))
        },
        adding("nan-is-the-least", "takes NaN for less than every number") { value, function in
            switch function {
            case .minimum where isNaN(value): .double(-.infinity)
            default: nil
            }
        },
        adding("totals-leave-out-nan", "leaves out NaN as nil") { value, function in
            switch function {
            case .sum, .average: isNaN(value) ? .null : nil
            default: nil
            }
        },
        adding("ends-in-milliseconds", "looks for the least and the greatest date among milliseconds") {
            value, function in
            guard case .date(let date) = value else { return nil }
            return .date(
                Date(timeIntervalSinceReferenceDate: (date.timeIntervalSinceReferenceDate * 1_000).rounded() / 1_000))
        },
        adding("ends-by-255-characters", "looks for the least and the greatest text by 255 characters") {
            value, function in
            guard case .string(let text) = value else { return nil }
            return .string(String(text.prefix(255)))
        },
    ]

    private static let groupFaults: [StoreFault] = [
        groupingBy("groups-by-days-of-greenwich", "groups dates by days of Greenwich") {
            period($0) { $0.timeZone = .gmt }
        },
        groupingBy("groups-by-weeks-from-monday", "has weeks begin on Monday, whatever the calendar says") {
            period($0) { $0.firstWeekday = 2 }
        },
        groupingBy("groups-by-dates-themselves", "takes no notice of a period, and groups by the date") {
            if case .start(let date, _) = $0 { date } else { nil }
        },
        groupingBy("groups-by-nothing-of-the-related", "has one group of all records that lead to a record") {
            if case .identifier(let base) = $0, case .property = base {
                .conditional(.compare(.equal, base, .constant(.null)), .constant(.null), .identifier(.variable(0)))
            } else {
                nil
            }
        },
        answering("groups-without-nil", "leaves out the group of nil") { groups, query in
            query.keys.isEmpty ? groups : groups.filter { !$0.keys.contains(where: \.isNull) }
        },
        grouping("groups-nil-with-empty-texts", "has one group of nil and of empty texts") {
            $0.isNull ? .string("") : nil
        },
        grouping("groups-zeros-apart", "has a group of 0.0 and one of -0.0") { value in
            switch value {
            case .double(let number) where number == 0 && number.sign == .minus: .double(-.leastNonzeroMagnitude)
            case .float(let number) where number == 0 && number.sign == .minus: .float(-.leastNonzeroMagnitude)
            default: nil
            }
        },
        grouping("groups-dates-by-zeros", "has two groups of one date, whose zeros have two signs") { value in
            guard case .date(let date) = value, date.timeIntervalSinceReferenceDate == 0,
                date.timeIntervalSinceReferenceDate.sign == .minus
            else { return nil }
            return .date(Date(timeIntervalSinceReferenceDate: -.leastNonzeroMagnitude))
        },
        grouping("groups-nan-by-bits", "has a group for each NaN with other bits") { value in
            guard case .double(let number) = value, number.isNaN else { return nil }
            return .string("\(number.bitPattern)")
        },
        grouping("groups-by-milliseconds", "groups dates by milliseconds") { value in
            guard case .date(let date) = value, date.timeIntervalSinceReferenceDate.isFinite else { return nil }
            return .date(
                Date(timeIntervalSinceReferenceDate: (date.timeIntervalSinceReferenceDate * 1_000).rounded() / 1_000))
        },
        grouping("groups-by-fractions", "groups integers and decimals by the nearest fraction") { value in
            switch value {
            case .integer(let number): .double(Double(number))
            case .unsigned(let number): .double(Double(number))
            case .decimal(let number) where !number.isNaN: .double(Double("\(number)") ?? 0)
            default: nil
            }
        },
        answering("groups-by-joined-keys", "joins the keys of a group into one text") { groups, query in
            guard query.keys.count > 1 else { return groups }
            var joined: [AggregateGroup] = []
            var places: [String: Int] = [:]
            for group in groups {
                let text = group.keys.map { if case .string(let text) = $0 { text } else { "nil" } }.joined(
                    separator: ",")
                guard let place = places[text] else {
                    places[text] = joined.count
                    joined.append(group)
                    continue
                }
                joined[place].values = zip(joined[place].values, group.values).map { left, right in
                    guard case .integer(let a) = left, case .integer(let b) = right else { return left }
                    return .integer(a + b)
                }
            }
            return joined
        },
    ]
}
