import Foundation
import MortiseCore

extension ConformanceCase {
    private static let claimHint =
        "Claim a condition as exact only where the store's own evaluation agrees with QueryEvaluator for every value."

    /// A case that puts queries about entries to the store itself, and holds its rows against its claims.
    private static func planning(
        _ id: String, level: Level = .core, _ requirement: String, hint: String,
        _ queries: @escaping @Sendable (PlanProbe) throws -> [StoreQuery]
    ) -> ConformanceCase {
        ConformanceCase(
            "planning.\(id)", level: level, capability: .queries, requirement: requirement, hint: hint
        ) { c in
            try storeEntries(c)
            let probe = try PlanProbe(c)
            for query in try queries(probe) { try probe.check(query) }
        }
    }

    private static func text(_ value: String) -> QueryExpression { .constant(.string(value)) }
    private static func number(_ value: Int64) -> QueryExpression { .constant(.integer(value)) }

    static let planningCases: [ConformanceCase] = [
        planning(
            "equality", "The rows for a claimed equality are those that are equal.", hint: claimHint
        ) { p in
            [
                StoreQuery("Entry", conjuncts: [.compare(.equal, try p.property("name"), text("delta"))]),
                StoreQuery("Entry", conjuncts: [.compare(.equal, try p.property("name"), text("Delta"))]),
                StoreQuery("Entry", conjuncts: [.compare(.equal, try p.property("rank"), number(4))]),
                StoreQuery("Entry", conjuncts: [.compare(.equal, try p.property("score"), .constant(.double(1.5)))]),
            ]
        },
        planning(
            "range", "The rows for a claimed comparison are those in the range, its end as it says.", hint: claimHint
        ) { p in
            try [.less, .lessOrEqual, .greater, .greaterOrEqual].map { comparison in
                StoreQuery(
                    "Entry",
                    conjuncts: [.compare(comparison, try p.property("score"), .constant(.double(1.5)))])
            }
        },
        planning(
            "range-on-both-sides", "Two comparisons of one property make a range.",
            hint: "Only one end of the range reached the index."
        ) { p in
            let score = try p.property("score")
            return [
                StoreQuery(
                    "Entry",
                    conjuncts: [
                        .compare(.greaterOrEqual, score, .constant(.double(0))),
                        .compare(.less, score, .constant(.double(1.5))),
                    ])
            ]
        },
        planning("nil", "The rows for a claimed condition on nil are those without a value.", hint: claimHint) { p in
            let rank = try p.property("rank")
            return [
                StoreQuery("Entry", conjuncts: [.compare(.equal, rank, .constant(.null))]),
                StoreQuery("Entry", conjuncts: [.compare(.notEqual, rank, .constant(.null))]),
                StoreQuery("Entry", conjuncts: [.compare(.notEqual, rank, number(4))]),
                StoreQuery("Entry", conjuncts: [.compare(.less, rank, number(3))]),
            ]
        },
        planning(
            "disjunction", "Of a disjunction a store takes all, or nothing.",
            hint: "A part of an or was pushed down by itself."
        ) { p in
            let either = QueryExpression.or([
                .compare(.equal, try p.property("group"), text("x")),
                .compare(.greater, try p.property("score"), .constant(.double(50))),
            ])
            return [StoreQuery("Entry", conjuncts: [either])]
        },
        planning(
            "negation", "A negation is claimed as exact, or not at all.",
            hint: "A superset was negated, which leaves too little."
        ) { p in
            let inner = QueryExpression.compare(.equal, try p.property("group"), text("x"))
            return [
                StoreQuery("Entry", conjuncts: [.not(inner)]),
                StoreQuery("Entry", conjuncts: [.not(.compare(.equal, try p.property("rank"), number(4)))]),
                StoreQuery("Entry", conjuncts: [.not(.not(inner))]),
            ]
        },
        planning(
            "among-values", "A condition to be among values looks at each of them.",
            hint: "A list of parameters is one short, or repeats its rows."
        ) { p in
            let names = QueryExpression.list([text("delta"), text("none"), text("delta"), text("Echo")])
            return [
                StoreQuery("Entry", conjuncts: [.contains(names, try p.property("name"))]),
                StoreQuery("Entry", conjuncts: [.contains(.list([]), try p.property("name"))]),
                StoreQuery(
                    "Entry", conjuncts: [.contains(.list([number(4), .constant(.null)]), try p.property("rank"))]),
            ]
        },
        planning("beginning", "A condition on the beginning of a text is anchored there.", hint: claimHint) { p in
            let name = try p.property("name")
            return ["", "e", "é", "E", "ech", "del"].map {
                StoreQuery("Entry", conjuncts: [.startsWith(name, text($0))])
            }
        },
        planning(
            "several-conditions", "Each of several conditions is claimed by itself, and keeps what it claims.",
            hint: "The first condition was carried out and all were claimed."
        ) { p in
            [
                StoreQuery(
                    "Entry",
                    conjuncts: [
                        .compare(.equal, try p.property("group"), text("x")),
                        .compare(.greater, try p.property("score"), .constant(.double(0))),
                        .compare(.notEqual, try p.property("note"), .constant(.null)),
                    ])
            ]
        },
        planning(
            "order", "A claimed order is that of the keys, and of identity where they are equal.",
            hint: "Ties are in no order, or turned around downwards."
        ) { p in
            [
                StoreQuery("Entry", order: [.init(try p.property("rank"))]),
                StoreQuery("Entry", order: [.init(try p.property("rank"), isAscending: false)]),
                StoreQuery("Entry"),
            ]
        },
        planning(
            "order-of-several-keys", "A claimed order looks at every key, each in its own direction.",
            hint: "An index of two properties runs in one direction only."
        ) { p in
            [
                StoreQuery(
                    "Entry",
                    order: [.init(try p.property("group"), isAscending: false), .init(try p.property("rank"))]),
                StoreQuery(
                    "Entry",
                    order: [.init(try p.property("group")), .init(try p.property("score"), isAscending: false)]),
            ]
        },
        planning(
            "order-of-some-keys", "Rows of which an order of the first keys is claimed are sorted by these.",
            hint: "The rows come from an index of another property."
        ) { p in
            [
                StoreQuery(
                    "Entry", conjuncts: [.compare(.notEqual, try p.property("name"), text("delta"))],
                    order: [.init(try p.property("group")), .init(try p.property("name"))])
            ]
        },
        planning(
            "window", "Offset and limit that a store takes leave what the whole order has at that place.",
            hint: "The window is cut before the rows are sorted, or off by one."
        ) { p in
            try [(0, 2), (1, 2), (4, 9), (2, nil)].map { offset, limit in
                StoreQuery("Entry", order: [.init(try p.property("name"))], offset: offset, limit: limit)
            }
        },
        planning(
            "window-after-a-condition", "Offset and limit that a store takes count what its conditions leave.",
            hint: "The window counts rows that a condition leaves out."
        ) { p in
            [
                StoreQuery(
                    "Entry", conjuncts: [.compare(.equal, try p.property("group"), text("x"))],
                    order: [.init(try p.property("name"))], offset: 1, limit: 1)
            ]
        },
        planning(
            "window-at-its-ends", level: .full, "A limit of 0, and an offset beyond the end, leave nothing.",
            hint: "0 was read as no limit, or an index runs past the end."
        ) { p in
            try [(0, 0), (6, nil), (7, 3), (5, 100), (Int.max, Int.max)].map { offset, limit in
                StoreQuery("Entry", order: [.init(try p.property("name"))], offset: offset, limit: limit)
            }
        },
        planning(
            "count", "Rows that are only to be counted are those of the same query.",
            hint: "The count leaves conditions out."
        ) { p in
            [
                StoreQuery(
                    "Entry", purpose: .count, conjuncts: [.compare(.equal, try p.property("group"), text("x"))]),
                StoreQuery("Entry", purpose: .count),
            ]
        },
        planning(
            "identifiers", "Rows whose identifiers are asked for are in the same order.",
            hint: "Identifiers come from an index in another order."
        ) { p in
            [
                StoreQuery(
                    "Entry", purpose: .identifiers, order: [.init(try p.property("name"), isAscending: false)]),
                StoreQuery("Entry", purpose: .identifiers),
            ]
        },
        planning(
            "deletion", "Rows that are to be deleted are those of the same query.",
            hint: "A deletion leaves conditions out."
        ) { p in
            [
                StoreQuery(
                    "Entry", purpose: .delete, conjuncts: [.compare(.equal, try p.property("group"), text("x"))])
            ]
        },
    ]
}
