import Foundation
import MortiseCore

/// Second looks at each operator: in another place, from its other side, or with operands that keep a store from being right
/// by chance.
extension ConformanceCase {
    private static let literalHint =
        "The operator was translated for one form of its operands, and for another it was not."
    private static let nilHint = "nil was read as empty, as false or as zero."

    static let expressionVariationCases: [ConformanceCase] =
        operatorVariations + elementVariations + relationshipVariations

    private static let operatorVariations: [ConformanceCase] = [
        query(
            "expressions.condition-beside-a-disjunction", "A condition and a disjunction beside it both have to hold.",
            hint: "Parentheses were lost: AND binds more tightly than OR.", finds: ["bell", "engine"]
        ) { #Predicate { $0.flag == false && ($0.size == 2 || $0.size == 5 || $0.name == "anvil") } },
        query(
            "expressions.two-disjunctions", "Of two disjunctions each has to hold.",
            hint: "Parentheses were lost: AND binds more tightly than OR.", finds: ["anvil", "Candle"]
        ) { #Predicate { ($0.flag || $0.size == 7) && ($0.size < 4 || $0.name == "none") } },
        query(
            "expressions.negated-conjunction", "Not (a and b) holds where one of them does not.",
            hint: "The negation was put before the first condition only.",
            finds: ["bell", "Candle", "timber", "engine", "e\u{301}crin", "bellows", "horn"]
        ) { #Predicate { !($0.flag && $0.size < 3) } },
        query(
            "expressions.negation-beside-a-condition", "A negated property beside a comparison stays negated.",
            hint: literalHint, finds: ["bell", "e\u{301}crin"]
        ) { #Predicate { !$0.flag && $0.size < 3 } },
        query(
            "expressions.enum-unequal", "An enum is unequal to the raw values of its other cases.",
            hint: "Cases are kept by name where the predicate has raw values.",
            finds: ["anvil", "bell", "timber", "engine", "e\u{301}crin", "bellows", "horn"]
        ) { #Predicate { $0.tint.rawValue != "weiß" } },
        query(
            "expressions.range-of-one", "A closed range from a value to itself holds that value.",
            hint: "The range was translated as a half-open one.", finds: ["timber"]
        ) { #Predicate { (4...4).contains($0.size) } },
        query(
            "expressions.conditional-value", "A conditional gives a value to compare with.",
            hint: "The branches of CASE were exchanged.", finds: ["anvil", "Candle"]
        ) { #Predicate { ($0.flag ? 1 : 2) == 1 } },
        impossible(
            "expressions.forced-unwrap-unequal", "A forced unwrap of nil throws before !=, too.",
            hint: "The unwrap was ignored.", "unwrappedNull",
            matching: { if case .unwrappedNull = $0 { true } else { false } }
        ) { #Predicate { $0.rank! != 1 } },
        query(
            "expressions.optional-chain-unequal", "A chain over nil is not true, so it is unequal to true.",
            hint: nilHint,
            finds: ["anvil", "bell", "timber", "engine", "e\u{301}crin", "bellows", "horn"]
        ) { #Predicate { $0.note?.isEmpty != true } },
        query(
            "expressions.sum-of-properties", "A property is added to itself.", hint: literalHint, finds: ["bell"]
        ) { #Predicate { $0.size + $0.size == 4 } },
        query(
            "expressions.difference-of-constants", "A property is subtracted from a number.",
            hint: "The operands were exchanged.", finds: ["bellows"]
        ) { #Predicate { 10 - $0.size == 4 } },
        query(
            "expressions.product-of-properties", "A property is multiplied by itself.", hint: literalHint,
            finds: ["Candle"]
        ) { #Predicate { $0.size * $0.size == 9 } },
        query(
            "expressions.division-with-an-order", "Quotients of fractions have an order, infinity included.",
            hint: "The operands were exchanged.", finds: ["bell", "timber"]
        ) { #Predicate { $0.weight / 2 > 1 } },
        query(
            "expressions.integer-division-to-zero", "A quotient below one is zero.",
            hint: "The store rounds, or makes a fraction of it.", finds: ["anvil", "bell", "Candle", "e\u{301}crin"]
        ) { #Predicate { $0.size / 4 == 0 } },
        query(
            "expressions.negative-remainder", "A remainder of a negative number is negative.",
            hint: "The store's modulo is never negative.", finds: ["bell", "Candle", "e\u{301}crin"]
        ) { #Predicate { ($0.size - 4) % 3 < 0 } },
        impossible(
            "expressions.division-by-zero-calculated", "A division by a difference that is zero throws.",
            hint: "The store gives null for it.", "divisionByZero",
            matching: { if case .divisionByZero = $0 { true } else { false } }
        ) { #Predicate { 10 / ($0.size - 2) == 5 } },
        query(
            "expressions.text-contains-underscore", "_ in a text is an ordinary character.",
            hint: "Escape the wildcards of LIKE.", finds: []
        ) { #Predicate { ($0.note ?? "").contains("_") } },
        query(
            "expressions.text-localized-standard-capitals",
            "localizedStandardContains finds small letters by capitals.",
            hint: "It was treated as contains.", finds: ["Candle"]
        ) { #Predicate { $0.name.localizedStandardContains("CANDLE") } },
        query(
            "expressions.text-regular-expression-anchored", "A regular expression may be anchored at both ends.",
            hint: "The pattern was searched as text, or read as one of LIKE or GLOB.", finds: ["timber"]
        ) {
            #Predicate { $0.name.contains(/^t.*r$/) }
        },
    ]

    private static let elementVariations: [ConformanceCase] = [
        query(
            "expressions.array-contains-no-part", "A part of an element is no element.",
            hint: "Coded values are searched as text.", finds: []
        ) { #Predicate { $0.tags.contains("ba") } },
        query(
            "expressions.array-starts-with-a-later-one", "An array that has an element later does not start with it.",
            hint: "The elements are looked for anywhere.", finds: ["timber"]
        ) {
            let numbers = [3]
            return #Predicate<Item> { $0.numbers.starts(with: numbers) }
        },
        query(
            "expressions.array-first-of-several", "The first element is not the smallest or the last.",
            hint: "Elements are in another order.", finds: ["timber"]
        ) { #Predicate { $0.numbers.first == 3 } },
        query(
            "expressions.array-last-of-several", "The last element is not the first or the smallest.",
            hint: "Elements are in another order, or only the first is looked at.", finds: ["engine"]
        ) { #Predicate { $0.numbers.last == 4 } },
        query(
            "expressions.array-third", "The third element has the index 2.", hint: "The store counts from 1.",
            finds: ["anvil"]
        ) { #Predicate { $0.numbers.count > 2 && $0.numbers[2] == 3 } },
        impossible(
            "expressions.array-index-far-outside", "An index far beyond the end throws.",
            hint: "The store gives null, or another element.", "indexOutOfRange",
            matching: { if case .indexOutOfRange = $0 { true } else { false } }
        ) { #Predicate { $0.tags[70] != "a" } },
        query(
            "expressions.array-slice-of-one", "A slice of one element has no second one.",
            hint: "The bound was taken as inside.", finds: ["engine"]
        ) { #Predicate { $0.numbers.count > 1 && $0.numbers[0..<1].contains(2) } },
        query(
            "expressions.array-filter-to-nothing", "A filter that leaves nothing leaves an empty array.",
            hint: "All elements were looked at.",
            finds: ["anvil", "bell", "timber", "e\u{301}crin", "bellows", "horn"]
        ) { #Predicate { $0.numbers.filter { $0 > 3 }.isEmpty } },
        query(
            "expressions.array-minimum-compared", "The smallest element is compared, and is nil for an empty array.",
            hint: "The array was assumed to be sorted.", finds: ["Candle"]
        ) { #Predicate { ($0.numbers.min() ?? 0) > 2 } },
        query(
            "expressions.array-maximum-compared", "The largest element is compared, and is nil for an empty array.",
            hint: "The array was assumed to be sorted.", finds: ["bell", "e\u{301}crin", "bellows", "horn"]
        ) { #Predicate { ($0.numbers.max() ?? 0) < 3 } },
        query(
            "expressions.dictionary-key-is-missing", "A key that is there in small letters is missing in capitals.",
            hint: "Keys are compared without regard to case.",
            finds: ["anvil", "bell", "Candle", "timber", "engine", "e\u{301}crin", "bellows", "horn"]
        ) { #Predicate { $0.marks["B"] == nil } },
        query(
            "expressions.dictionary-default-with-an-order", "The default of a missing key has an order.",
            hint: "The default was dropped.",
            finds: ["anvil", "bell", "timber", "engine", "e\u{301}crin", "bellows", "horn"]
        ) { #Predicate { $0.marks["b", default: 9] > 4 } },
        query(
            "expressions.composite-member-in-part", "The beginning of a struct's member is not the member.",
            hint: "Coded values are searched as text.", finds: []
        ) { #Predicate { $0.place.name == "osl" } },
        query(
            "expressions.optional-composite-member-differs", "A member of another value is not found.",
            hint: "Only the presence of the struct was asked for.", finds: []
        ) { #Predicate { $0.branch?.name == "west" } },
    ]

    private static let joinHint =
        "The relationship was followed by an inner join, or through the wrong property. Claim residual, or join outwards."

    private static let relationshipVariations: [ConformanceCase] = [
        query(
            "expressions.two-to-one-chains-are-nil", "A chain is nil where one of its two relationships is.",
            hint: joinHint, finds: ["bell", "Candle", "timber", "engine", "e\u{301}crin", "bellows"]
        ) { #Predicate { $0.crate?.outer?.label == nil } },
        query(
            "expressions.missing-target-is-nil", "A property of a missing target is nil.", hint: joinHint,
            finds: ["Candle", "timber", "engine", "e\u{301}crin", "bellows"]
        ) { #Predicate { $0.crate?.label == nil } },
        query(
            "expressions.to-one-is-nil-beside-a-condition", "A missing target beside another condition is nil.",
            hint: joinHint, finds: ["timber", "engine", "bellows"]
        ) { #Predicate { $0.crate?.persistentModelID == nil && $0.size > 3 } },
        query(
            "expressions.to-many-derived-contains-where", "Members of the side that follows from the other are asked.",
            hint: "The pairs are read from the wrong side.", finds: ["bell", "engine"]
        ) { #Predicate { $0.friends.contains { $0.size == 1 } } },
        query(
            "expressions.to-many-derived-is-empty", "The side that follows from the other is empty without owners.",
            hint: "The pairs are read from the wrong side.",
            finds: ["anvil", "timber", "e\u{301}crin", "bellows", "horn"]
        ) { #Predicate { $0.friends.isEmpty } },
        query(
            "expressions.nested-quantifiers-unequal",
            "An inner condition compares with the outer member, not with itself.",
            hint: "Two variables of nested conditions were confused.", finds: ["inner"], in: storeItems,
            { (crate: Crate) in crate.label }
        ) {
            #Predicate<Crate> { crate in
                crate.items.contains { item in
                    item.peers.count == 2 && item.peers.allSatisfy { $0.size != item.size }
                }
            }
        },
        query(
            "expressions.type-check-negated", "! is holds for the records of all other types.",
            hint: "The superclass was tested instead of the type.",
            finds: ["anvil", "bell", "Candle", "timber", "e\u{301}crin", "bellows"]
        ) { #Predicate { !($0 is SpecialItem) } },
        query(
            "expressions.type-cast-compared", "A property of a subclass is compared in its records only.",
            hint: "A column of the subentity was read from other records.", finds: ["engine"]
        ) { #Predicate { ($0 as? SpecialItem)?.extra == 5 } },
    ]
}
