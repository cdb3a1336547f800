import Foundation

extension QueryEvaluator {
    /// The expressions about sequences, strings and dictionaries.
    func collection(_ expression: QueryExpression, _ frame: inout Frame) throws -> Value {
        switch expression {
        case .count(let base):
            if case .stored(.string(let text)) = try value(base, &frame) { return .stored(.integer(Int64(text.count))) }
            if case .stored(.data(let data)) = try value(base, &frame) { return .stored(.integer(Int64(data.count))) }
            return .stored(.integer(Int64(try elements(base, &frame).count)))
        case .isEmpty(let base):
            if case .stored(.string(let text)) = try value(base, &frame) { return .stored(.bool(text.isEmpty)) }
            if case .stored(.data(let data)) = try value(base, &frame) { return .stored(.bool(data.isEmpty)) }
            return .stored(.bool(try elements(base, &frame).isEmpty))
        case .first(let base): return try elements(base, &frame).first ?? .null
        case .last(let base): return try elements(base, &frame).last ?? .null
        case .element(let base, let place):
            let elements = try elements(base, &frame)
            guard case .stored(.integer(let index)) = try value(place, &frame) else { throw unfit(expression) }
            guard index >= 0, index < elements.count else {
                throw QueryEvaluationError.indexOutOfRange(
                    expression: "\(expression)", index: Int(index), count: elements.count)
            }
            return elements[Int(index)]
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
                frame.variables[variable] = element
                if try bool(test, &frame) { return .stored(.bool(true)) }
            }
            return .stored(.bool(false))
        case .all(let base, let variable, let test):
            for element in try elements(base, &frame) {
                frame.variables[variable] = element
                if try !bool(test, &frame) { return .stored(.bool(false)) }
            }
            return .stored(.bool(true))
        case .filter(let base, let variable, let test):
            return .list(
                try elements(base, &frame).filter { element in
                    frame.variables[variable] = element
                    return try bool(test, &frame)
                })
        case .startsWith(let base, let prefix):
            if case .stored(.string(let text)) = try value(base, &frame),
                case .stored(.string(let start)) = try value(prefix, &frame)
            {
                return .stored(.bool(text.starts(with: start)))
            }
            return .stored(.bool(try elements(base, &frame).starts(with: elements(prefix, &frame), by: areEqual)))
        case .minimum(let base): return try extreme(base, .orderedAscending, &frame)
        case .maximum(let base): return try extreme(base, .orderedDescending, &frame)
        case .hasRun(let base, let run): return .stored(.bool(try hasRun(base, run, &frame)))
        case .range(let lower, let upper, let isClosed):
            let bounds = (stored(try value(lower, &frame)), stored(try value(upper, &frame)))
            guard let order = ValueSemantics.compare(bounds.0, bounds.1), order != .orderedDescending else {
                throw QueryEvaluationError.invalidRange(expression: "\(expression)")
            }
            return .range(bounds.0, bounds.1, isClosed: isClosed)
        default: return try text(expression, &frame)
        }
    }

    func elements(_ expression: QueryExpression, _ frame: inout Frame) throws -> [Value] {
        switch try value(expression, &frame) {
        case .list(let elements): return elements
        case .stored(.null): return []
        case .stored(.string(let text)): return text.map { .stored(.string(String($0))) }
        case .stored(.data(let data)): return data.map { .stored(.integer(Int64($0))) }
        case .range(.integer(let lower), .integer(let upper), let isClosed):
            let end = isClosed ? upper : upper - 1
            guard lower <= end else { return [] }
            return (lower...end).map { .stored(.integer($0)) }
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
        let end = isClosed ? upper + 1 : upper
        guard lower >= 0, end <= elements.count, lower <= end else {
            throw QueryEvaluationError.indexOutOfRange(
                expression: "\(expression)", index: Int(lower < 0 ? lower : end), count: elements.count)
        }
        return Array(elements[Int(lower)..<Int(end)])
    }

    private func contains(
        _ base: QueryExpression, _ element: QueryExpression, _ expression: QueryExpression, _ frame: inout Frame
    ) throws -> Bool {
        let wanted = try value(element, &frame)
        if case .range(let lower, let upper, let isClosed) = try value(base, &frame) {
            let value = stored(wanted)
            return ValueSemantics.holds(.greaterOrEqual, value, lower)
                && ValueSemantics.holds(isClosed ? .lessOrEqual : .less, value, upper)
        }
        return try elements(base, &frame).contains { areEqual($0, wanted) }
    }

    private func extreme(
        _ base: QueryExpression, _ wanted: ComparisonResult, _ frame: inout Frame
    ) throws -> Value {
        var best: Value?
        for element in try elements(base, &frame) {
            guard let current = best else {
                best = element
                continue
            }
            // The last of equal maxima counts, and the first of equal minima, as in the standard library.
            let order = ValueSemantics.compare(stored(element), stored(current))
            if order == wanted || (wanted == .orderedDescending && order == .orderedSame) { best = element }
        }
        return best ?? .null
    }

    private func hasRun(_ base: QueryExpression, _ run: QueryExpression, _ frame: inout Frame) throws -> Bool {
        if case .stored(.string(let text)) = try value(base, &frame),
            case .stored(.string(let part)) = try value(run, &frame)
        {
            return TextSearch.contains(text, part)
        }
        let all = try elements(base, &frame)
        let part = try elements(run, &frame)
        if part.isEmpty { return true }
        guard all.count >= part.count else { return false }
        return (0...(all.count - part.count)).contains { start in
            zip(all[start..<(start + part.count)], part).allSatisfy(areEqual)
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
        case .compareStrings(.caseInsensitive, let a, let b):
            return .stored(.integer(Int64(try string(a).caseInsensitiveCompare(string(b)).rawValue)))
        case .compareStrings(.localized, let a, let b):
            return .stored(.integer(Int64(try string(a).localizedCompare(string(b)).rawValue)))
        case .matches(let base, let pattern):
            guard let regex = try? Regex(pattern) else { throw QueryEvaluationError.invalidRegex(pattern) }
            return .stored(.bool(try string(base).contains(regex)))
        default: throw unfit(expression)
        }
    }
}

/// Looking for text in text.
enum TextSearch {
    /// Whether the characters of one string appear as a run in another, as the standard library's `contains` says.
    static func contains(_ text: String, _ part: String) -> Bool { text.contains(part) }

    /// Case, diacritics and width are of no matter.
    static func localizedStandardContains(_ text: String, _ part: String) -> Bool {
        text.range(of: part, options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: .current) != nil
    }
}
