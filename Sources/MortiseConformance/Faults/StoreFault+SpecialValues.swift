import Foundation
import MortiseCore

extension StoreFault {
    /// A store that keeps values otherwise.
    private static func keeping(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (StoredValue, RecordLayout.Slot) -> StoredValue?
    ) -> StoreFault {
        StoreFault(id, summary) { steps in
            let keep = steps.keep
            steps.keep = { value, slot in change(value, slot) ?? keep(value, slot) }
        }
    }

    /// A store whose conditions and orders see values otherwise than they are kept.
    private static func seeing(
        _ id: String, _ summary: String, _ see: @escaping @Sendable (StoredValue) -> StoredValue?
    ) -> StoreFault {
        StoreFault(id, summary, in: .planning) { $0.seen = { see($0) ?? $0 } }
    }

    private static func date(_ value: StoredValue) -> Double? {
        if case .date(let date) = value { date.timeIntervalSinceReferenceDate } else { nil }
    }
    private static func kept(_ seconds: Double) -> StoredValue { .date(Date(timeIntervalSinceReferenceDate: seconds)) }

    static let specialValueFaults: [StoreFault] = [
        seeing("urls-without-bases", "compares URLs by the text of what they lead to") { value in
            guard case .url(let url) = value, url.baseURL != nil else { return nil }
            return .url(url.absoluteURL)
        },
        keeping("infinite-dates-are-distant", "keeps an infinite date as the distant future or past") { value, _ in
            guard let seconds = date(value), seconds.isInfinite else { return nil }
            return .date(seconds < 0 ? .distantPast : .distantFuture)
        },
        keeping("dates-to-year-9999", "keeps dates from the year 1 to 9999, and the nearest of these for others") {
            value, _ in
            guard let seconds = date(value), abs(seconds) > 1e12 else { return nil }
            return kept(seconds < 0 ? -63_114_076_800 : 252_423_993_600)
        },
        keeping("nan-dates-are-zero", "keeps a date that is not a number as the first of 2001") { value, _ in
            guard let seconds = date(value), seconds.isNaN else { return nil }
            return kept(0)
        },
        keeping("nan-dates-are-nil", "has no null for dates but NaN") { value, slot in
            guard let seconds = date(value), seconds.isNaN, slot.property.isOptional else { return nil }
            return .null
        },
        keeping("infinite-dates-are-nil", "keeps an optional date without end as nil") { value, slot in
            guard let seconds = date(value), seconds.isInfinite, slot.property.isOptional else { return nil }
            return .null
        },
        keeping("one-nan-for-dates", "keeps every date that is not a number as the same") { value, _ in
            guard let seconds = date(value), seconds.isNaN else { return nil }
            return kept(.nan)
        },
        keeping("one-nan", "keeps every NaN as the same") { value, _ in
            guard case .double(let number) = value, number.isNaN else { return nil }
            return .double(.nan)
        },
        keeping("nan-without-sign", "keeps NaN without its sign") { value, _ in
            guard case .double(let number) = value, number.isNaN else { return nil }
            return .double(Double(bitPattern: number.bitPattern & ~(1 << 63)))
        },
        keeping("one-nan-for-floats", "keeps every NaN of 32 bits as the same") { value, _ in
            guard case .float(let number) = value, number.isNaN else { return nil }
            return .float(.nan)
        },
        keeping("optional-nan-is-nil", "keeps an optional NaN as nil") { value, slot in
            guard case .double(let number) = value, number.isNaN, slot.property.isOptional else { return nil }
            return .null
        },
        keeping("infinities-are-largest", "keeps an infinity as the greatest number") { value, _ in
            guard case .double(let number) = value, number.isInfinite else { return nil }
            return .double(number < 0 ? -.greatestFiniteMagnitude : .greatestFiniteMagnitude)
        },
        keeping("infinite-floats-are-largest", "keeps an infinity of 32 bits as the greatest number") { value, _ in
            guard case .float(let number) = value, number.isInfinite else { return nil }
            return .float(number < 0 ? -.greatestFiniteMagnitude : .greatestFiniteMagnitude)
        },
        keeping("nan-decimals-are-zero", "keeps a decimal that is not a number as 0") { value, _ in
            guard case .decimal(let number) = value, number.isNaN else { return nil }
            return .decimal(0)
        },
        keeping("nan-decimals-are-nil", "has no null for decimals but NaN") { value, slot in
            guard case .decimal(let number) = value, number.isNaN, slot.property.isOptional else { return nil }
            return .null
        },
        keeping("decimals-of-30-places", "keeps 30 places of a decimal after its point") { value, _ in
            guard case .decimal(var number) = value, !number.isNaN else { return nil }
            var rounded = Decimal()
            NSDecimalRound(&rounded, &number, 30, .plain)
            return .decimal(rounded)
        },
        keeping("decimals-below-1e100", "keeps decimals below the hundredth power of ten") { value, _ in
            guard case .decimal(let number) = value, !number.isNaN, let limit = Decimal(string: "1e100") else {
                return nil
            }
            return number.magnitude >= limit ? .decimal(number < 0 ? -limit : limit) : nil
        },
        keeping("urls-without-base", "keeps the absolute text of a URL") { value, _ in
            if case .url(let url) = value, url.baseURL != nil { .url(url.absoluteURL) } else { nil }
        },
        keeping("urls-lose-their-base", "keeps the text of a URL without its base") { value, _ in
            guard case .url(let url) = value, url.baseURL != nil else { return nil }
            return URL(string: url.relativeString).map(StoredValue.url)
        },
        keeping("urls-are-standardized", "keeps paths of URLs without points") { value, _ in
            guard case .url(let url) = value, url.relativeString.contains("..") else { return nil }
            return .url(url.standardized)
        },
        StoreFault("compares-absolute-urls", "does not write a URL that has the same absolute text") { steps in
            let merge = steps.merge
            steps.merge = { old, new, slots in
                let merged = merge(old, new, slots)
                var values = merged.values
                for place in values.indices {
                    if case .url(let a) = old.values[place], case .url(let b) = values[place],
                        a.absoluteString == b.absoluteString
                    {
                        values[place] = old.values[place]
                    }
                }
                return DefaultSnapshot(
                    persistentIdentifier: merged.persistentIdentifier, layout: merged.layout, values: values)
            }
        },
        seeing("infinite-dates-compare-as-distant", "compares an infinite date as the distant future or past") {
            value in
            guard let seconds = date(value), seconds.isInfinite else { return nil }
            return .date(seconds < 0 ? .distantPast : .distantFuture)
        },
        seeing("nan-dates-compare-as-zero", "compares a date that is not a number as the first of 2001") { value in
            guard let seconds = date(value), seconds.isNaN else { return nil }
            return kept(0)
        },
        seeing("nan-decimals-compare-as-zero", "compares a decimal that is not a number as 0") { value in
            guard case .decimal(let number) = value, number.isNaN else { return nil }
            return .decimal(0)
        },
        seeing("compares-bits-of-nan", "compares NaN with a sign as less than every number") { value in
            guard case .double(let number) = value, number.isNaN, number.sign == .minus else { return nil }
            return .double(-.infinity)
        },
        seeing("compares-payloads", "compares NaN with a payload as a number") { value in
            guard case .double(let number) = value, number.isNaN, number.bitPattern != Double.nan.bitPattern else {
                return nil
            }
            return .double(.greatestFiniteMagnitude)
        },
    ]
}
