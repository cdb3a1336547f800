import Foundation
import MortiseCore

extension StoreFault {
    /// A store that asks for another value than it is asked for.
    private static func asking(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (QueryExpression) -> QueryExpression?
    ) -> StoreFault {
        StoreFault(id, summary, in: .planning) { $0.rewrite = change }
    }

    /// A store that looks for other values than those of a list.
    private static func listing(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (StoredValue) -> StoredValue?
    ) -> StoreFault {
        asking(id, summary) { part in
            switch part {
            case .contains(.list(let values), let element):
                .contains(
                    .list(
                        values.map { value in
                            if case .constant(let constant) = value {
                                .constant(change(constant) ?? constant)
                            } else {
                                value
                            }
                        }), element)
            case .contains(.constant(.array(let values)), let element):
                .contains(.constant(.array(values.map { change($0) ?? $0 })), element)
            default: nil
            }
        }
    }

    /// A store that compares a property with the values of a list in its own way.
    private static func among(
        _ id: String, _ summary: String,
        _ isEqual: @escaping @Sendable (_ stored: StoredValue, _ wanted: StoredValue) -> Bool?
    ) -> StoreFault {
        StoreFault(id, summary, in: .planning) { $0.judge = { judge($0, isEqual) } }
    }

    private static func judge(
        _ condition: QueryExpression, _ isEqual: @escaping @Sendable (StoredValue, StoredValue) -> Bool?
    ) -> (@Sendable ((QueryProperty) -> StoredValue) throws -> Bool)? {
        func test(
            _ property: QueryProperty, _ wanted: [StoredValue]
        ) -> (@Sendable ((QueryProperty) -> StoredValue) throws -> Bool) {
            { value in
                let stored = value(property)
                return wanted.contains { isEqual(stored, $0) ?? ValueSemantics.areEqual(stored, $0) }
            }
        }
        switch condition {
        case .not(let inner):
            guard let test = judge(inner, isEqual) else { return nil }
            return { try !test($0) }
        case .contains(.list(let list), .property(.variable(0), let property)):
            let wanted = list.compactMap { if case .constant(let value) = $0 { value } else { nil } }
            return wanted.count == list.count ? test(property, wanted) : nil
        case .contains(.constant(.array(let wanted)), .property(.variable(0), let property)):
            return test(property, wanted)
        default: return nil
        }
    }

    private static func seeing(
        _ id: String, _ summary: String, _ see: @escaping @Sendable (StoredValue) -> StoredValue?
    ) -> StoreFault {
        StoreFault(id, summary, in: .planning) { $0.seen = { see($0) ?? $0 } }
    }

    /// A date to a number of parts of a second.
    private static func rounded(_ value: StoredValue, to parts: Double) -> StoredValue? {
        guard case .date(let date) = value, date.timeIntervalSinceReferenceDate.isFinite else { return nil }
        return .date(
            Date(timeIntervalSinceReferenceDate: (date.timeIntervalSinceReferenceDate * parts).rounded() / parts))
    }

    static let captureFaults: [StoreFault] = [
        asking("asks-in-milliseconds", "rounds the date that it is asked for to milliseconds") { part in
            if case .constant(let value) = part { rounded(value, to: 1_000).map { .constant($0) } } else { nil }
        },
        asking("asks-in-microseconds", "rounds the date that it is asked for to microseconds") { part in
            if case .constant(let value) = part { rounded(value, to: 1_000_000).map { .constant($0) } } else { nil }
        },
        asking("bounds-in-milliseconds", "rounds the bounds of a date to milliseconds") { part in
            guard case .compare(let comparison, let property, .constant(let value)) = part, comparison != .equal,
                comparison != .notEqual, let bound = rounded(value, to: 1_000)
            else { return nil }
            return .compare(comparison, property, .constant(bound))
        },
        asking("turns-no-comparison", "takes a constant on the left for one on the right") { part in
            guard case .compare(let comparison, .constant(let value), let property) = part else { return nil }
            return .compare(comparison, property, .constant(value))
        },
        listing("lists-dates-in-milliseconds", "rounds the dates of a list to milliseconds") { rounded($0, to: 1_000) },
        listing("lists-decimals-as-fractions", "looks for the nearest fractions of the decimals of a list") { value in
            guard case .decimal(let number) = value, !number.isNaN, let fraction = Double("\(number)") else {
                return nil
            }
            return .decimal(Decimal(fraction))
        },
        listing("lists-signed-integers", "takes the integers of a list for signed ones") { value in
            guard case .unsigned(let number) = value, number > Int64.max else { return nil }
            return .unsigned(UInt64(Int64.max))
        },
        listing("lists-without-nil", "looks for 0 in place of the nil of a list") { $0.isNull ? .double(0) : nil },
        among("lists-fractions-by-text", "compares a number with those of a list by their texts") { stored, wanted in
            switch (stored, wanted) {
            case (.double(let a), .double(let b)): "\(a)" == "\(b)"
            default: nil
            }
        },
        among("lists-floats-by-bits", "compares a number of 32 bits with those of a list by its bits") {
            stored, wanted in
            switch (stored, wanted) {
            case (.float(let a), .float(let b)): a.bitPattern == b.bitPattern
            default: nil
            }
        },
        among("lists-decimals-by-form", "finds a decimal in a list where it has as many places") { stored, wanted in
            switch (stored, wanted) {
            case (.decimal(let a), .decimal(let b)): a == b && a.exponent == b.exponent
            default: nil
            }
        },
        seeing("compares-255-bytes-of-data", "compares the first 255 bytes of data") { value in
            if case .data(let data) = value { .data(data.prefix(255)) } else { nil }
        },
        seeing("compares-64-kibibytes-of-data", "compares the first 65,535 bytes of data") { value in
            if case .data(let data) = value { .data(data.prefix(65_535)) } else { nil }
        },
        seeing("compares-2000-characters-of-urls", "compares the first 2,000 characters of a URL") { value in
            guard case .url(let url) = value, url.baseURL == nil else { return nil }
            return URL(string: String(url.absoluteString.prefix(2_000))).map { .url($0) }
        },
    ]
}
