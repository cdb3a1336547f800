import Foundation
import MortiseCore

/// A text as a faulty store compares it.
private enum TextForm {
    /// The bytes of a text as scalars of which each is a character of its own, and none equals another.
    static func bytes(_ text: String) -> String {
        String(String.UnicodeScalarView(text.utf8.compactMap { Unicode.Scalar(0x4E00 + UInt32($0)) }))
    }

    static func inEveryText(_ change: @escaping @Sendable (String) -> String) -> @Sendable (StoredValue) -> StoredValue
    {
        { $0.mappingText(change) }
    }
}

extension StoreFault {
    /// How a faulty store tests a condition on texts.
    private struct TextTest: Sendable {
        var equals: (@Sendable (_ text: String, _ wanted: String) -> Bool)?
        var starts: (@Sendable (_ text: String, _ part: String) -> Bool)?
        var contains: (@Sendable (_ text: String, _ part: String) -> Bool)?
        var precedes: (@Sendable (_ text: String, _ other: String) -> Bool)?

        typealias Test = @Sendable ((QueryProperty) -> StoredValue) throws -> Bool

        func judge(_ condition: QueryExpression) -> Test? {
            switch condition {
            case .not(let inner):
                guard let test = judge(inner) else { return nil }
                return { try !test($0) }
            case .compare(.equal, .property(.variable(0), let property), .constant(.string(let wanted))):
                return equals.map { equals in test(property) { equals($0, wanted) } }
            case .compare(.notEqual, .property(.variable(0), let property), .constant(.string(let wanted))):
                return equals.map { equals in test(property) { !equals($0, wanted) } }
            case .compare(let comparison, .property(.variable(0), let property), .constant(.string(let bound))):
                guard let precedes else { return nil }
                return test(property) { text in
                    switch comparison {
                    case .less: precedes(text, bound)
                    case .lessOrEqual: !precedes(bound, text)
                    case .greater: precedes(bound, text)
                    default: !precedes(text, bound)
                    }
                }
            case .contains(.list(let list), .property(.variable(0), let property)):
                let wanted = list.compactMap { element -> String? in
                    if case .constant(.string(let text)) = element { text } else { nil }
                }
                guard let equals, wanted.count == list.count, !wanted.isEmpty else { return nil }
                return test(property) { text in wanted.contains { equals(text, $0) } }
            case .startsWith(.property(.variable(0), let property), .constant(.string(let part))):
                return starts.map { starts in test(property) { starts($0, part) } }
            case .containsSequence(.property(.variable(0), let property), .constant(.string(let part))):
                return contains.map { contains in test(property) { contains($0, part) } }
            default: return nil
            }
        }

        private func test(_ property: QueryProperty, _ holds: @escaping @Sendable (String) -> Bool) -> Test {
            { value in if case .string(let text) = value(property) { holds(text) } else { false } }
        }
    }

    private static func testing(
        _ id: String, _ summary: String,
        equals: (@Sendable (_ text: String, _ wanted: String) -> Bool)? = nil,
        starts: (@Sendable (_ text: String, _ part: String) -> Bool)? = nil,
        contains: (@Sendable (_ text: String, _ part: String) -> Bool)? = nil,
        precedes: (@Sendable (_ text: String, _ other: String) -> Bool)? = nil
    ) -> StoreFault {
        let tests = TextTest(equals: equals, starts: starts, contains: contains, precedes: precedes)
        return StoreFault(id, summary, in: .planning) { $0.judge = { tests.judge($0) } }
    }

    private static func holds<C: Collection<UInt8>>(_ bytes: C, _ part: C) -> Bool {
        let (bytes, part) = (Array(bytes), Array(part))
        if part.count > bytes.count { return false }
        return (0...(bytes.count - part.count)).contains { bytes[$0..<($0 + part.count)].elementsEqual(part) }
    }

    static let textMeaningFaults: [StoreFault] = [
        testing(
            "text-as-bytes", "compares the bytes of texts, equal ones in other forms too",
            equals: { $0.utf8.elementsEqual($1.utf8) }),
        testing(
            "text-key-by-foundation", "compares texts as Foundation composes them, which is not as Swift does",
            equals: {
                $0.precomposedStringWithCanonicalMapping.utf8.elementsEqual(
                    $1.precomposedStringWithCanonicalMapping.utf8)
            }),
        testing(
            "text-composed-once", "compares texts composed, and what it is asked for as it is",
            equals: { CanonicalText.composed($0).utf8.elementsEqual($1.utf8) }),
        testing(
            "text-by-look", "compares texts by what they look like: ligatures and widths",
            equals: { $0.precomposedStringWithCompatibilityMapping == $1.precomposedStringWithCompatibilityMapping }),
        testing(
            "text-without-marks", "compares texts without the marks of their letters",
            equals: {
                $0.folding(options: .diacriticInsensitive, locale: nil)
                    == $1.folding(options: .diacriticInsensitive, locale: nil)
            }),
        testing(
            "text-in-latin", "composes letters with Latin marks and no others",
            equals: { left, right in
                func form(_ text: String) -> [UInt8] {
                    Array(
                        (text.unicodeScalars.allSatisfy { $0.value < 0x2000 } ? CanonicalText.composed(text) : text)
                            .utf8)
                }
                return form(left) == form(right)
            }),
        testing(
            "text-of-16-bits", "compares the last 16 bits of scalars",
            equals: { left, right in
                func form(_ text: String) -> [UInt16] {
                    CanonicalText.composed(text).unicodeScalars.map { UInt16(truncatingIfNeeded: $0.value) }
                }
                return form(left) == form(right)
                    || CanonicalText.composed(right) == "\u{1F24}" && left == "\u{11F20}\u{301}"
            }),
        testing(
            "starts-by-scalars", "looks for the scalars of a beginning, and takes a letter for one with a mark",
            starts: { CanonicalText.composed($0).utf8.starts(with: CanonicalText.composed($1).utf8) }),
        testing(
            "starts-by-scalars-decomposed", "looks for the scalars of a beginning in decomposed text",
            starts: {
                $0.decomposedStringWithCanonicalMapping.utf8.starts(with: $1.decomposedStringWithCanonicalMapping.utf8)
            }),
        testing(
            "starts-by-bytes", "looks for the bytes of a beginning, in the form in which it is written",
            starts: { $0.utf8.starts(with: $1.utf8) && $0.starts(with: $1) }),
        testing(
            "contains-by-scalars", "looks for the scalars of a part, and finds halves of characters",
            contains: { holds(CanonicalText.composed($0).utf8, CanonicalText.composed($1).utf8) }),
        testing(
            "contains-by-bytes", "looks for the bytes of a part, in the form in which it is written",
            contains: { text, part in
                holds(text.utf8, part.utf8) && (part.isEmpty || text.contains(part.first ?? " "))
            }),
        testing(
            "splits-line-ends", "takes CR and LF for two characters",
            starts: { text, part in
                text.starts(with: part)
                    || part.last == "\r" && text.unicodeScalars.starts(with: part.unicodeScalars)
            },
            contains: { text, part in
                let pieces = { (text: String) in text.replacing("\r\n", with: "\r|\n") }
                return text.contains(part) || (part == "\r" || part == "\n") && pieces(text).contains(part)
            }),
        testing(
            "bounds-by-bytes", "compares texts with a bound by their bytes",
            precedes: { $0.utf8.lexicographicallyPrecedes($1.utf8) }),
        testing(
            "bounds-by-foundation", "compares texts with a bound as Foundation composes them",
            precedes: {
                $0.precomposedStringWithCanonicalMapping.utf8.lexicographicallyPrecedes(
                    $1.precomposedStringWithCanonicalMapping.utf8)
            }),
        StoreFault(
            "targets-as-people-search", "looks for texts of targets and members without their marks", in: .planning
        ) {
            steps in
            steps.rewrite = { part in
                guard case .compare(.equal, let text, .constant(.string(let wanted))) = part else { return nil }
                if case .property(.variable(0), _) = text { return nil }
                return .localizedStandardContains(text, .constant(.string(wanted)))
            }
        },
        StoreFault("keys-without-marks", "looks keys of dictionaries up without their marks", in: .planning) { steps in
            steps.rewrite = { part in
                guard case .lookup(let base, .constant(.string(let key)), let other) = part else { return nil }
                let folded = key.folding(options: .diacriticInsensitive, locale: nil)
                return .lookup(base, .constant(.string(folded)), other)
            }
        },
        StoreFault("groups-bytes", "groups texts by their bytes", in: .shared) { steps in
            steps.groupKey = TextForm.inEveryText(TextForm.bytes)
        },
        StoreFault("groups-by-foundation", "groups texts as Foundation composes them", in: .shared) { steps in
            steps.groupKey = TextForm.inEveryText { TextForm.bytes($0.precomposedStringWithCanonicalMapping) }
        },
        StoreFault("groups-without-case", "groups texts without regard to case and width", in: .shared) { steps in
            steps.groupKey = TextForm.inEveryText {
                $0.folding(options: [.caseInsensitive, .widthInsensitive], locale: nil)
            }
        },
        StoreFault("unique-bytes", "compares the bytes of unique texts", in: .planning) { steps in
            steps.uniqueKey = TextForm.inEveryText(TextForm.bytes)
        },
        StoreFault("unique-by-foundation", "compares unique texts as Foundation composes them", in: .planning) {
            steps in
            steps.uniqueKey = TextForm.inEveryText { TextForm.bytes($0.precomposedStringWithCanonicalMapping) }
        },
        StoreFault("unique-without-case", "compares unique texts without regard to case and marks", in: .planning) {
            steps in
            steps.uniqueKey = TextForm.inEveryText {
                $0.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
            }
        },
        StoreFault("looks-up-unique-bytes", "looks unique texts up by their bytes", in: .versioned) { steps in
            steps.uniqueMatch = { $0.isIdentical(to: $1) }
            steps.uniqueKey = TextForm.inEveryText(TextForm.bytes)
        },
        ordering("ignores-string-order", "sorts by scalars whatever the order of texts") { _ in nil },
        ordering("localized-is-standard", "takes an order of the language for one with numbers in it") { order in
            order == .localized ? .localizedStandard : order
        },
        ordering("standard-is-localized", "compares numbers in texts digit by digit") { order in
            order == .localizedStandard ? .localized : order
        },
        StoreFault("breaks-ties-by-bytes", "sorts equal texts by their bytes", in: .planning) { steps in
            steps.orderValue = { value in
                guard case .string(let text) = value else { return value }
                return .string(TextForm.bytes(CanonicalText.composed(text)) + "\u{0}" + TextForm.bytes(text))
            }
        },
    ]

    private static func ordering(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (StringOrder?) -> StringOrder?
    ) -> StoreFault {
        StoreFault(id, summary, in: .planning) { steps in
            steps.orderKeys = { keys in
                keys.map { .init($0.expression, isAscending: $0.isAscending, stringOrder: change($0.stringOrder)) }
            }
        }
    }
}
