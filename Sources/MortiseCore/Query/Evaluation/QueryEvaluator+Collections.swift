import Foundation

extension QueryEvaluator {
    /// The expressions about sequences, strings and dictionaries.
    func collection(_ expression: QueryExpression, _ frame: inout Frame) throws -> Value {
        switch expression {
        case .count(let base):
            return .stored(.integer(try count(value(base, &frame), base)))
        case .isEmpty(let base):
            if case .stored(.string(let text)) = try value(base, &frame) { return .stored(.bool(text.isEmpty)) }
            return .stored(.bool(try count(value(base, &frame), base) == 0))
        case .first(let base): return try elements(base, &frame).first ?? .null
        case .last(let base): return try elements(base, &frame).last ?? .null
        case .element(let base, let place):
            let elements = try elements(base, &frame)
            guard case .stored(.integer(let index)) = try value(place, &frame) else { throw unfit(expression) }
            guard index >= 0, index < elements.count else {
                throw QueryEvaluationError.indexOutOfRange(
                    expression: "\(expression)", index: Int(index), count: elements.count)
            }
            return elements[UInt64(index)]
        case .slice(let base, let range): return .list(try slice(base, range, expression, &frame))
        case .lookup(let base, let key, let fallback):
            guard case .stored(.object(let members)) = try value(base, &frame),
                case .stored(.string(let name)) = try value(key, &frame)
            else { throw unfit(expression) }
            if let member = members[name] { return expand(member) }
            return try fallback.map { try value($0, &frame) } ?? .null
        case .contains(let base, let element): return .stored(.bool(try contains(base, element, expression, &frame)))
        case .exists(let base, let variable, let test):
            for element in try elements(base, &frame) {
                frame[variable] = element
                if try bool(test, &frame) { return .stored(.bool(true)) }
            }
            return .stored(.bool(false))
        case .all(let base, let variable, let test):
            for element in try elements(base, &frame) {
                frame[variable] = element
                if try !bool(test, &frame) { return .stored(.bool(false)) }
            }
            return .stored(.bool(true))
        case .filter(let base, let variable, let test):
            return .list(
                try elements(base, &frame).filter { element in
                    frame[variable] = element
                    return try bool(test, &frame)
                })
        case .startsWith(let base, let prefix):
            let (whole, start) = (try value(base, &frame), try value(prefix, &frame))
            if case .stored(.string(let text)) = whole, case .stored(.string(let start)) = start {
                return .stored(.bool(text.starts(with: start)))
            }
            return .stored(.bool(try elements(of: whole, base).starts(with: elements(of: start, prefix), by: areEqual)))
        case .minimum(let base):
            return try extreme(base, &frame) { element, best in ValueSemantics.holds(.less, element, best) }
        case .maximum(let base):
            return try extreme(base, &frame) { element, best in ValueSemantics.holds(.less, best, element) }
        case .containsSequence(let base, let run): return .stored(.bool(try containsSequence(base, run, &frame)))
        case .range(let lower, let upper, let isClosed):
            let bounds = (stored(try value(lower, &frame)), stored(try value(upper, &frame)))
            guard ValueSemantics.holds(.lessOrEqual, bounds.0, bounds.1) else {
                throw QueryEvaluationError.invalidRange(expression: "\(expression)")
            }
            return .range(bounds.0, bounds.1, isClosed: isClosed)
        default: return try text(expression, &frame)
        }
    }

    func elements(_ expression: QueryExpression, _ frame: inout Frame) throws -> Elements {
        try elements(of: value(expression, &frame), expression)
    }

    private func count(_ value: Value, _ expression: QueryExpression) throws -> Int64 {
        switch value {
        case .stored(.string(let text)): return Int64(text.count)
        case .stored(.data(let data)): return Int64(data.count)
        case .range(.integer(let lower), .integer(let upper), let isClosed):
            let (distance, overflows) = upper.subtractingReportingOverflow(lower)
            guard !overflows, distance < .max else {
                throw QueryEvaluationError.arithmeticOverflow(expression: "\(expression).count")
            }
            return isClosed ? distance + 1 : distance
        default: return Int64(try elements(of: value, expression).count)
        }
    }

    private func elements(of value: Value, _ expression: QueryExpression) throws -> Elements {
        switch value {
        case .list(let elements): return .values(elements)
        case .stored(.null): return .values([])
        case .stored(.string(let text)): return .values(text.map { .stored(.string(String($0))) })
        case .stored(.data(let data)): return .values(data.map { .stored(.integer(Int64($0))) })
        case .range(.integer(let lower), .integer(let upper), let isClosed):
            let (count, overflows) = UInt64(bitPattern: upper &- lower).addingReportingOverflow(isClosed ? 1 : 0)
            if overflows { throw QueryEvaluationError.arithmeticOverflow(expression: "\(expression).count") }
            return .numbers(from: lower, count: count)
        default: throw unfit(expression)
        }
    }

    private func slice(
        _ base: QueryExpression, _ range: QueryExpression, _ expression: QueryExpression, _ frame: inout Frame
    ) throws -> [Value] {
        let elements = try elements(base, &frame)
        guard case .range(.integer(let lower), .integer(let upper), let isClosed) = try value(range, &frame) else {
            throw unfit(expression)
        }
        let isInside = lower >= 0 && (isClosed ? upper < elements.count : upper <= elements.count)
        guard isInside else {
            throw QueryEvaluationError.indexOutOfRange(
                expression: "\(expression)", index: Int(lower < 0 ? lower : upper), count: elements.count)
        }
        return Array(elements[UInt64(lower)..<UInt64(isClosed ? upper + 1 : upper)])
    }

    private func contains(
        _ base: QueryExpression, _ element: QueryExpression, _ expression: QueryExpression, _ frame: inout Frame
    ) throws -> Bool {
        let all = try value(base, &frame)
        let wanted = try value(element, &frame)
        if case .range(let lower, let upper, let isClosed) = all {
            let value = stored(wanted)
            return ValueSemantics.holds(.greaterOrEqual, value, lower)
                && ValueSemantics.holds(isClosed ? .lessOrEqual : .less, value, upper)
        }
        return try elements(of: all, base).contains { areEqual($0, wanted) }
    }

    private func extreme(
        _ base: QueryExpression, _ frame: inout Frame, isBetter: (StoredValue, StoredValue) -> Bool
    ) throws -> Value {
        let elements = try elements(base, &frame)
        guard var best = elements.first else { return .null }
        if case .numbers = elements, let last = elements.last {
            return isBetter(stored(last), stored(best)) ? last : best
        }
        // The first of equal ones counts, and NaN is never better, as in the standard library's `min()` and `max()`.
        for element in elements.dropFirst() where isBetter(stored(element), stored(best)) { best = element }
        return best
    }

    private func containsSequence(_ base: QueryExpression, _ run: QueryExpression, _ frame: inout Frame) throws -> Bool
    {
        let (whole, wanted) = (try value(base, &frame), try value(run, &frame))
        if case .stored(.string(let text)) = whole, case .stored(.string(let part)) = wanted {
            return TextSearch.contains(text, part)
        }
        let all = try elements(of: whole, base)
        let part = try elements(of: wanted, run)
        if part.isEmpty { return true }
        guard all.count >= part.count else { return false }
        return (0...(all.endIndex - part.endIndex)).contains { start in
            zip(all[start..<(start + part.endIndex)], part).allSatisfy(areEqual)
        }
    }

    private func text(_ expression: QueryExpression, _ frame: inout Frame) throws -> Value {
        func string(_ expression: QueryExpression) throws -> String {
            guard case .stored(.string(let text)) = try value(expression, &frame) else { throw unfit(expression) }
            return text
        }
        switch expression {
        case .localizedStandardContains(let base, let part):
            return .stored(.bool(try TextSearch.localizedStandardContains(string(base), string(part))))
        case .compareStrings(let way, let a, let b):
            return .stored(.integer(Int64(TextSearch.compare(way, try string(a), try string(b)).rawValue)))
        case .matches(let base, let pattern):
            guard let regex = try? Regex(pattern) else { throw QueryEvaluationError.invalidRegex(pattern) }
            return .stored(.bool(MatchWatch.isFound(regex, pattern, in: try string(base))))
        default: throw unfit(expression)
        }
    }
}

extension QueryEvaluator {
    /// What an expression about a sequence goes through. A range may be as long as integers go, and is not written out.
    enum Elements: BidirectionalCollection {
        case values([Value])
        case numbers(from: Int64, count: UInt64)

        var startIndex: UInt64 { 0 }
        var endIndex: UInt64 {
            switch self {
            case .values(let values): UInt64(values.count)
            case .numbers(_, let count): count
            }
        }
        /// No more than an `Int` holds.
        var count: Int { Int(clamping: endIndex) }
        var isEmpty: Bool { endIndex == 0 }
        func index(after index: UInt64) -> UInt64 { index + 1 }
        func index(before index: UInt64) -> UInt64 { index - 1 }
        subscript(index: UInt64) -> Value {
            switch self {
            case .values(let values): values[Int(index)]
            case .numbers(let first, _): .stored(.integer(first &+ Int64(bitPattern: index)))
            }
        }
    }
}

/// Looking for text in text.
package enum TextSearch {
    /// Whether the characters of one collection appear contiguously in another, by the standard library's rules.
    /// Strings have their own `contains`, which Foundation's evaluation does not use.
    package static func contains<C: Collection>(_ text: C, _ part: C) -> Bool where C.Element: Equatable {
        text.contains(part)
    }

    /// Whether a text contains another, ignoring case, diacritics and width.
    package static func localizedStandardContains(_ text: String, _ part: String) -> Bool {
        let whole = NSString(string: text)
        let found = whole.range(
            of: part, options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive],
            range: NSRange(location: 0, length: whole.length), locale: .current)
        // Foundation takes U+0000 for what comes after the last character of a text. Making that a range of a string traps.
        return found.location != NSNotFound && found.location + found.length <= whole.length
    }

    /// Compares two strings by one of the kinds of comparison.
    package static func compare(
        _ way: QueryExpression.StringComparison, _ a: String, _ b: String
    ) -> ComparisonResult {
        switch way {
        case .caseInsensitive: a.caseInsensitiveCompare(b)
        case .localized: a.localizedCompare(b)
        }
    }
}
