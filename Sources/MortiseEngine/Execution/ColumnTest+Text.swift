import Foundation
import MortiseCore

/// What is looked for in strings. Strings that are coded are tested once for each that is different, whatever the test costs.
extension ColumnTestCompiler {
    func text(_ expression: QueryExpression) -> ColumnTest? {
        switch expression {
        case .startsWith(let property, .constant(.string(let start))):
            let text = TextToFind(start)
            return strings(property, nullHolds: start.isEmpty, cost: 20, { text.isBeginning(of: $0) }) {
                $0.starts(with: start)
            }
        case .containsSequence(let property, .constant(.string(let part))):
            let text = TextToFind(part)
            return strings(property, nullHolds: part.isEmpty, cost: 40, { text.isPart(of: $0) }) {
                TextSearch.contains($0, part)
            }
        case .isEmpty(let property):
            return strings(property, nullHolds: true, cost: 4, { $0.isEmpty }) { $0.isEmpty }
        case .localizedStandardContains(let property, .constant(.string(let part))):
            return required(property, cost: 400) { TextSearch.localizedStandardContains($0, part) }
        case .matches(let property, let pattern):
            // A text that is no regular expression is an error, which is not for a test to find.
            guard let regex = try? Regex(pattern) else { return nil }
            return required(property, cost: 400) { MatchWatch.isFound(regex, pattern, in: $0) }
        default: return nil
        }
    }

    /// A test of how strings compare with one, by people's rules.
    func compareStrings(
        _ way: QueryExpression.StringComparison, _ a: QueryExpression, _ b: QueryExpression,
        _ holds: @escaping (Int64) -> Bool
    ) -> ColumnTest? {
        switch (a, b) {
        case (_, .constant(.string(let other))):
            required(a, cost: 200) { holds(Int64(TextSearch.compare(way, $0, other).rawValue)) }
        case (.constant(.string(let other)), _):
            required(b, cost: 200) { holds(Int64(TextSearch.compare(way, other, $0).rawValue)) }
        default: nil
        }
    }

    /// A test for which null is an error: none of a property that may be null.
    private func required(
        _ expression: QueryExpression, cost: Int, _ holds: @escaping (String) -> Bool
    ) -> ColumnTest? {
        guard let column = column(expression), column.form == .text, !column.isOptional else { return nil }
        return strings(column, cost: cost, nil, holds)
    }

    private func strings(
        _ expression: QueryExpression, nullHolds: Bool, cost: Int,
        _ holdsForBytes: @escaping (UnsafeRawBufferPointer) -> Bool, _ holds: @escaping (String) -> Bool
    ) -> ColumnTest? {
        guard let column = column(expression), column.form == .text else { return nil }
        return withNull(nullHolds, strings(column, cost: cost, holdsForBytes, holds), column.slot)
    }
}
