import Foundation
import MortiseCore

extension ConformanceCase {
    private static let codedHint = "Coded values are searched as text. Claim superset, and leave the rest."
    private static let joinHint =
        "The relationship was followed by an inner join, or through the wrong property. Claim residual, or join outwards."

    static let collectionExpressionCases: [ConformanceCase] = elementExpressions + relationshipExpressions

    private static let elementExpressions: [ConformanceCase] = [
        query(
            "expressions.array-contains", "An element is found whole.", hint: codedHint,
            finds: ["anvil", "timber", "engine"]
        ) { #Predicate { $0.tags.contains("a") } },
        query(
            "expressions.array-starts", "An array starts with others in their order.", hint: codedHint,
            finds: ["anvil", "engine"]
        ) {
            let tags = ["a"]
            return #Predicate { $0.tags.starts(with: tags) }
        },
        query(
            "expressions.array-count", "The count of an array is exact.", hint: "The count was read as a minimum.",
            finds: ["timber", "engine"]
        ) { #Predicate { $0.numbers.count == 2 } },
        query(
            "expressions.array-is-empty", "An empty array is empty.",
            hint: "An empty array is kept as null, or looked for so.",
            finds: ["bell", "e\u{301}crin", "bellows", "horn"]
        ) { #Predicate { $0.numbers.isEmpty } },
        query(
            "expressions.array-first", "The first element is the first.", hint: "Elements are in another order.",
            finds: ["anvil"]
        ) {
            #Predicate { $0.numbers.first == 1 }
        },
        query(
            "expressions.array-last", "The last element is the last.",
            hint: "Elements are in another order, or only the first is looked at.", finds: ["timber"]
        ) {
            #Predicate { $0.numbers.last == 1 && $0.numbers.count > 1 }
        },
        query(
            "expressions.array-index", "An element is found by its index, counted from 0.",
            hint: "The store counts from 1.", finds: ["timber"]
        ) { #Predicate { $0.numbers.count > 1 && $0.numbers[1] == 1 } },
        impossible(
            "expressions.array-index-outside", "An index that is not there throws.",
            hint: "The store gives null, or another element.", "indexOutOfRange",
            matching: { if case .indexOutOfRange = $0 { true } else { false } }
        ) { #Predicate { $0.numbers[1] == 1 } },
        query(
            "expressions.array-slice", "A slice ends before its upper bound.",
            hint: "The bound was taken as inside.", finds: ["timber"]
        ) { #Predicate { $0.numbers.count > 1 && $0.numbers[0..<2].contains(3) } },
        query(
            "expressions.array-contains-where", "One element that meets a condition is enough.",
            hint: "All elements were asked for.", finds: ["anvil", "Candle", "timber", "engine"]
        ) { #Predicate { $0.numbers.contains { $0 > 2 } } },
        query(
            "expressions.array-all-satisfy", "Every element has to meet the condition; an empty array meets it.",
            hint: "One element was enough, or the empty array failed.",
            finds: ["bell", "Candle", "engine", "e\u{301}crin", "bellows", "horn"]
        ) { #Predicate { $0.numbers.allSatisfy { $0 > 1 } } },
        query(
            "expressions.array-filter", "What a filter leaves is counted.", hint: "All elements were counted.",
            finds: ["anvil", "engine"]
        ) { #Predicate { $0.numbers.filter { $0 > 1 }.count == 2 } },
        query(
            "expressions.array-minimum", "The smallest element is found at any position.",
            hint: "The array was assumed to be sorted.", finds: ["anvil", "timber"]
        ) { #Predicate { $0.numbers.min() == 1 } },
        query(
            "expressions.array-maximum", "The largest element is found at any position.",
            hint: "The array was assumed to be sorted.", finds: ["anvil", "timber"]
        ) { #Predicate { $0.numbers.max() == 3 } },
        query(
            "expressions.dictionary-key", "A key is found as it is written.",
            hint: "Keys are compared without regard to case.",
            finds: ["e\u{301}crin"]
        ) { #Predicate { $0.marks["A"] == 1 } },
        query(
            "expressions.dictionary-default", "A missing key gives the default.", hint: "The default was dropped.",
            finds: ["bell", "timber", "engine", "e\u{301}crin", "bellows", "horn"]
        ) { #Predicate { $0.marks["a", default: 7] == 7 } },
        query(
            "expressions.composite-member", "A member of a struct is compared whole.", hint: codedHint, finds: ["anvil"]
        ) { #Predicate { $0.place.name == "oslo" } },
        query(
            "expressions.optional-composite-member", "A member of an optional struct is compared where it is there.",
            hint: "Only the presence of the struct was asked for.", finds: ["anvil"]
        ) { #Predicate { $0.branch?.name == "north" } },
        query(
            "expressions.coded-equality", "Structs are compared by their type's own ==, by the framework.",
            hint: "A condition that only code can evaluate cannot be claimed: leave it residual.", finds: ["anvil"]
        ) {
            let place = Place(name: "oslo", latitude: 59.9)
            return #Predicate<Item> { $0.place == place }
        },
        query(
            "expressions.computed-property", "A property without storage is evaluated on models, by the framework.",
            hint: "A condition that only code can evaluate cannot be claimed: leave it residual.", finds: ["Candle"]
        ) { #Predicate { $0.loud == "CANDLE" } },
    ]

    private static let relationshipExpressions: [ConformanceCase] = [
        query(
            "expressions.to-one-chain", "A property is read through a to-one relationship.", hint: joinHint,
            finds: ["bell"]
        ) { #Predicate { $0.crate?.label == "attic" } },
        query(
            "expressions.two-to-one-chains", "A property is read through two to-one relationships.", hint: joinHint,
            finds: ["anvil", "horn"]
        ) { #Predicate { $0.crate?.outer?.label == "attic" } },
        query(
            "expressions.missing-target", "!= through a relationship holds where that is nil.", hint: joinHint,
            finds: ["anvil", "Candle", "timber", "engine", "e\u{301}crin", "bellows", "horn"]
        ) { #Predicate { $0.crate?.label != "attic" } },
        query(
            "expressions.to-one-is-nil", "The identifier of a missing target is nil.", hint: joinHint,
            finds: ["Candle", "timber", "engine", "e\u{301}crin", "bellows"]
        ) { #Predicate { $0.crate?.persistentModelID == nil } },
        query(
            "expressions.to-many-count", "The members of a to-many relationship are counted.",
            hint: "The pairs are read from the wrong side.", finds: ["anvil"]
        ) { #Predicate { $0.peers.count == 2 } },
        query(
            "expressions.to-many-derived-count", "The members of the side that follows from the other are counted.",
            hint: "The pairs are read from the wrong side.", finds: ["bell", "Candle", "engine"]
        ) { #Predicate { $0.friends.count == 1 } },
        query(
            "expressions.to-many-is-empty", "A to-many relationship without members is empty.",
            hint: "A join without rows was read as null.",
            finds: ["bell", "Candle", "engine", "e\u{301}crin", "bellows", "horn"]
        ) { #Predicate { $0.peers.isEmpty } },
        query(
            "expressions.to-many-contains-where", "One member that meets a condition is enough.",
            hint: "All members were asked for, or the condition was put to the record itself.", finds: ["anvil"]
        ) { #Predicate { $0.peers.contains { $0.size > 3 } } },
        query(
            "expressions.to-many-all-satisfy",
            "Every member has to meet the condition; an empty relationship meets it.",
            hint: "One member was enough, or the empty relationship failed.",
            finds: ["bell", "Candle", "timber", "engine", "e\u{301}crin", "bellows", "horn"]
        ) { #Predicate { $0.peers.allSatisfy { $0.size < 4 } } },
        query(
            "expressions.to-many-through-to-one", "A condition on members may follow their relationships.",
            hint: "The subquery asks the outer record's relationship.", finds: ["anvil"]
        ) { #Predicate { $0.peers.contains { $0.crate?.label == "attic" } } },
        query(
            "expressions.nested-quantifiers", "An inner condition may compare with the outer member.",
            hint: "Two variables of nested conditions were confused.", finds: ["inner", "attic"], in: storeItems,
            { (crate: Crate) in crate.label }
        ) {
            #Predicate<Crate> { crate in
                crate.items.contains { item in item.size < 3 && item.peers.allSatisfy { $0.size > item.size } }
            }
        },
        ConformanceCase(
            "expressions.identifiers-in-a-set", level: .core,
            requirement: "Records are found by a set of identifiers, every one of them and no other.",
            hint: "Contexts read records this way: a list of parameters is one short."
        ) { c in
            try storeEntries(c)
            let wanted = try c.session().all(Entry.self).prefix(3).map(\.persistentModelID)
            let found = try c.session().fetch(
                FetchDescriptor<Entry>(predicate: #Predicate<Entry> { wanted.contains($0.persistentModelID) }))
            try c.expect(found.map(\.name), is: ["delta", "alpha", "charlie"], "names:")
        },
        query(
            "expressions.inherited-property", "Inherited and own properties are compared with each other.",
            hint: "A slot of the superentity was used for the subentity.", finds: ["engine"], in: storeItems,
            { (item: SpecialItem) in item.name }
        ) { #Predicate<SpecialItem> { $0.size == $0.extra } },
        query(
            "expressions.subclass-records", "A predicate on a superclass finds records of its subclasses.",
            hint: "Conditions look at one entity's records only.", finds: ["engine", "bellows", "horn"]
        ) { #Predicate { $0.size > 4 } },
        query(
            "expressions.type-check", "is holds for the subclass's records.",
            hint: "The superclass was tested instead of the type.", finds: ["engine", "horn"]
        ) { #Predicate { $0 is SpecialItem } },
        query(
            "expressions.type-cast", "as? gives nil for records of other types.",
            hint: "A column of the subentity was read from other records.", finds: ["horn"]
        ) { #Predicate { ($0 as? SpecialItem)?.extra == 1 } },
    ]
}
