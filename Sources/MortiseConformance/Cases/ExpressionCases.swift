import Foundation
import MortiseCore

extension ConformanceCase {
    private static let textHint = "Text is matched by LIKE or a collation. Claim superset, and leave the rest."
    private static let nullHint =
        "SQL's null is neither equal nor unequal to anything; a predicate's nil equals nil. Claim residual, or add IS NULL."
    private static let operatorHint = "The predicate's operator was translated into another one."

    static let expressionCases: [ConformanceCase] = comparisonExpressions + logicExpressions + textExpressions

    private static let comparisonExpressions: [ConformanceCase] = [
        query(
            "expressions.equality", "A text equals itself and no longer text.", hint: textHint, finds: ["bell"]
        ) { #Predicate { $0.name == "bell" } },
        query(
            "expressions.inequality-and-nil", "!= holds for nil and a value.", hint: nullHint,
            finds: ["bell", "Candle", "timber", "engine", "e\u{301}crin", "bellows", "horn"]
        ) { #Predicate { $0.note != "n" } },
        query("expressions.less", "< leaves out equal values.", hint: operatorHint, finds: ["anvil", "e\u{301}crin"]) {
            #Predicate { $0.size < 2 }
        },
        query(
            "expressions.less-or-equal", "<= holds for equal values.", hint: operatorHint,
            finds: ["anvil", "bell", "e\u{301}crin"]
        ) { #Predicate { $0.size <= 2 } },
        query(
            "expressions.greater", "> leaves out equal values.", hint: operatorHint,
            finds: ["engine", "bellows", "horn"]
        ) { #Predicate { $0.size > 4 } },
        query(
            "expressions.greater-or-equal", ">= holds for equal values.", hint: operatorHint,
            finds: ["timber", "engine", "bellows", "horn"]
        ) { #Predicate { $0.size >= 4 } },
        query(
            "expressions.nil-literal", "== nil holds for nil, and not for an empty text.", hint: nullHint,
            finds: ["bell", "engine", "e\u{301}crin", "horn"]
        ) { #Predicate { $0.note == nil } },
        query(
            "expressions.boolean-property", "A boolean property is a condition by itself.",
            hint: "A column without a comparison was ignored.", finds: ["anvil", "Candle"]
        ) { #Predicate { $0.flag } },
        query(
            "expressions.constant", "A predicate that is false finds nothing.",
            hint: "A condition without a property was ignored.", finds: []
        ) { #Predicate { _ in false } },
        query(
            "expressions.enum", "An enum is compared by its raw value.",
            hint: "Cases are kept by name where the predicate has raw values.", finds: ["Candle"]
        ) { #Predicate { $0.tint.rawValue == "weiß" } },
        query(
            "expressions.half-open-range", "The end of a half-open range is outside.",
            hint: "BETWEEN includes both ends.", finds: ["bell", "Candle"]
        ) { #Predicate { (2..<4).contains($0.size) } },
        query(
            "expressions.closed-range", "The end of a closed range is inside.",
            hint: "The range was translated as a half-open one.", finds: ["bell", "Candle", "timber"]
        ) { #Predicate { (2...4).contains($0.size) } },
        query(
            "expressions.captured-sequence", "A property is looked for among captured values, the last one too.",
            hint: "A list of parameters is one short.", finds: ["bell", "Candle"]
        ) {
            let names = ["bell", "none", "Candle"]
            return #Predicate { names.contains($0.name) }
        },
        query(
            "expressions.captured-empty-sequence", "An empty sequence contains nothing.",
            hint: "IN () is not valid SQL, and was left out.", finds: []
        ) {
            let names: [String] = []
            return #Predicate { names.contains($0.name) }
        },
    ]

    private static let logicExpressions: [ConformanceCase] = [
        query(
            "expressions.conjunction", "Every part of a conjunction has to hold.",
            hint: "Only the first condition reached the store.", finds: ["anvil"]
        ) { #Predicate { $0.flag && $0.size < 3 && $0.note == "n" } },
        query(
            "expressions.nested-conjunction", "A conjunction inside a disjunction stays one.",
            hint: "Parentheses were lost.", finds: ["anvil", "timber"]
        ) { #Predicate { ($0.flag && $0.size < 3) || $0.name == "timber" } },
        query(
            "expressions.disjunction", "One part of a disjunction is enough.",
            hint: "A part was pushed down by itself. Of an or, all or nothing can be pushed down.",
            finds: ["anvil", "Candle", "e\u{301}crin"]
        ) { #Predicate { $0.flag || $0.size < 1 } },
        query(
            "expressions.negation", "! holds where its operand does not.", hint: operatorHint,
            finds: ["bell", "timber", "engine", "e\u{301}crin", "bellows", "horn"]
        ) { #Predicate { !$0.flag } },
        query(
            "expressions.negated-disjunction", "Not (a or b) is neither of them.",
            hint: "The negation was moved into the or without making it an and.", finds: ["bell", "e\u{301}crin"]
        ) { #Predicate { !($0.flag || $0.size > 3) } },
        query(
            "expressions.negated-comparison-and-nil", "! of a comparison with nil holds where the comparison does not.",
            hint: nullHint, finds: ["bell", "Candle", "timber", "engine", "e\u{301}crin", "bellows", "horn"]
        ) { #Predicate { !($0.note == "n") } },
        query(
            "expressions.conditional", "A conditional gives its second value where the condition holds.",
            hint: "The branches of CASE were exchanged.", finds: ["anvil", "bellows", "horn"]
        ) { #Predicate { $0.flag ? $0.size < 3 : $0.size > 5 } },
        query(
            "expressions.nil-coalescing", "?? gives its second value for nil.",
            hint: "The default of ?? was dropped, and null compares with nothing.",
            finds: ["bell", "engine", "e\u{301}crin", "horn"]
        ) { #Predicate { ($0.rank ?? 9) > 8 } },
        query(
            "expressions.guarded-unwrap", "A condition before a forced unwrap guards it.",
            hint: "Conditions were evaluated in another order than written.", finds: ["Candle", "timber", "bellows"]
        ) { #Predicate { $0.rank != nil && $0.rank! > 1 } },
        impossible(
            "expressions.forced-unwrap", "A forced unwrap of nil throws, and neither matches nor ends the process.",
            hint: "The unwrap was ignored.", "unwrappedNull",
            matching: { if case .unwrappedNull = $0 { true } else { false } }
        ) { #Predicate { $0.rank! > 1 } },
        query(
            "expressions.optional-chain", "A chain over nil is nil, and not the answer for an empty value.",
            hint: "A missing text was read as an empty one.", finds: ["Candle"]
        ) { #Predicate { $0.note?.isEmpty == true } },
        query(
            "expressions.addition", "Sums are compared.", hint: operatorHint, finds: ["bell"]
        ) { #Predicate { $0.size + 1 == 3 } },
        query(
            "expressions.subtraction", "Differences have an order.", hint: "The operands were exchanged.",
            finds: ["bell"]
        ) { #Predicate { $0.size - 1 == 1 } },
        query(
            "expressions.multiplication", "Products are compared.", hint: operatorHint, finds: ["Candle"]
        ) { #Predicate { $0.size * 2 == 6 } },
        query(
            "expressions.unary-minus", "A minus sign turns a number around.", hint: "The sign was ignored.",
            finds: ["Candle", "timber", "engine", "bellows", "horn"]
        ) { #Predicate { -$0.size < -2 } },
        query(
            "expressions.division", "Fractions are divided as fractions.",
            hint: "The store divides integers, or the other way round.", finds: ["anvil"]
        ) { #Predicate { $0.weight / 2 == 0.75 } },
        query(
            "expressions.integer-division", "Integers are divided towards zero.",
            hint: "The store rounds, or makes a fraction of it.", finds: ["bell", "Candle"]
        ) { #Predicate { $0.size / 2 == 1 } },
        query(
            "expressions.remainder", "The remainder has the sign of the dividend.",
            hint: "The store's modulo is never negative.", finds: ["Candle", "e\u{301}crin"]
        ) { #Predicate { ($0.size - 4) % 3 == -1 } },
        impossible(
            "expressions.division-by-zero", "A division by zero throws, and neither matches nor ends the process.",
            hint: "The store gives null for it.", "divisionByZero",
            matching: { if case .divisionByZero = $0 { true } else { false } }
        ) { #Predicate { 1 / $0.size == 1 } },
    ]

    private static let textExpressions: [ConformanceCase] = [
        query(
            "expressions.text-contains", "A text is found anywhere in another.", hint: textHint,
            finds: ["timber"]
        ) { #Predicate { $0.name.contains("imb") } },
        query(
            "expressions.text-contains-wildcard", "% and _ in a text are ordinary characters.",
            hint: "Escape the wildcards of LIKE.", finds: ["bellows"]
        ) { #Predicate { ($0.note ?? "").contains("%") } },
        query(
            "expressions.text-starts", "starts(with:) looks at the beginning only.", hint: textHint,
            finds: ["bell", "bellows"]
        ) { #Predicate { $0.name.starts(with: "be") } },
        query(
            "expressions.text-starts-with-nothing", "Every text starts with the empty one.",
            hint: "An empty pattern matches nothing.",
            finds: ["anvil", "bell", "Candle", "timber", "engine", "e\u{301}crin", "bellows", "horn"]
        ) { #Predicate { $0.name.starts(with: "") } },
        query(
            "expressions.text-count", "The count of a text is that of its characters, exactly.",
            hint: "The store counts bytes or scalars, or takes the count for a least one.",
            finds: ["anvil", "e\u{301}crin"]
        ) { #Predicate { $0.name.count == 5 } },
        query(
            "expressions.text-case", "Text is compared with regard to case.", hint: textHint, finds: []
        ) { #Predicate { $0.name == "candle" } },
        query(
            "expressions.text-canonical-equality", "Two ways to write the same character are equal.",
            hint: "The store compares bytes. Claim residual, or compare in normal form.", finds: ["e\u{301}crin"]
        ) { #Predicate { $0.name == "écrin" } },
        query(
            "expressions.text-localized-standard",
            "localizedStandardContains looks without regard to case and diacritics, as people search.",
            hint: "It was treated as contains, or used only the collation's rules for case.", finds: ["e\u{301}crin"]
        ) { #Predicate { $0.name.localizedStandardContains("ECR") } },
        query(
            "expressions.text-regular-expression", "A regular expression matches anywhere in a text, as a pattern.",
            hint: "The pattern was searched as text, or read as one of LIKE or GLOB.", finds: ["bell", "bellows"]
        ) {
            #Predicate { $0.name.contains(/b.l+/) }
        },
        query(
            "expressions.text-order", "Text is ordered as Swift does, capitals first.",
            hint: "The store's collation is another one.", finds: ["anvil", "Candle"]
        ) { #Predicate { $0.name < "b" } },
    ]
}
