import Foundation
import MortiseCore

/// Second looks at a storage under another schema: what is asked for by new and renamed properties, and not only read.
extension ConformanceCase {
    private static func schema(
        _ id: String, _ requirement: String, hint: String, body: @escaping @Sendable (CaseContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "schema.\(id)", level: .full, capability: .reopening, requirement: requirement, hint: hint, body: body)
    }

    private static let questionHint =
        "Values are put in their place when a record is handed out, and conditions, orders and counts look at the old places."

    /// A case in which shelves are asked for under another schema.
    private static func shelves(
        _ id: String, _ what: String, to other: [any PersistentModel.Type], names: [String],
        check: @escaping @Sendable (CaseContext, ModelContext) throws -> Void
    ) -> ConformanceCase {
        schema(
            "questions-\(id)",
            "\(what) are found, counted and sorted by the values that reading shows, or the schema is refused.",
            hint: questionHint
        ) { c in
            try c.under(Schema([Renamed.Before.Shelf.self]), "insert three shelves, save") { context in
                for (code, note) in zip(1..., ["n1", nil, ""]) {
                    context.insert(Renamed.Before.Shelf(code, label: "l\(code)", title: "t\(code)", note: note))
                }
                try context.save()
            }
            _ = try c.tryUnder(Schema(other), refusingFor: names) { context in try check(c, context) }
        }
    }

    static let schemaQuestionCases: [ConformanceCase] = [
        shelves(
            "after-reusing-a-name", "Properties of which one has taken the name that another had",
            to: [Renamed.Reused.Shelf.self], names: ["number", "code"]
        ) { c, context in
            typealias Shelf = Renamed.Reused.Shelf
            func count(_ predicate: Predicate<Shelf>) throws -> Int {
                try context.fetchCount(FetchDescriptor(predicate: predicate))
            }
            try c.expect(try count(#Predicate { $0.code == nil }), is: 3, "shelves whose new code is nil:")
            try c.expect(try count(#Predicate { $0.code != nil }), is: 0, "shelves with a new code:")
            try c.expect(
                try count(#Predicate { $0.number > 1 }), is: 2, "shelves whose number, once the code, is above 1:")
            let sorted = FetchDescriptor<Shelf>(sortBy: [
                SortDescriptor(\.code), SortDescriptor(\.number, order: .reverse),
            ])
            try c.expect(try context.fetch(sorted).map(\.number), is: [3, 2, 1], "numbers by code, then downwards:")
        },
        shelves(
            "without-original-name", "Properties of a new name", to: [Renamed.Unnamed.Shelf.self],
            names: ["number", "code"]
        ) { c, context in
            typealias Shelf = Renamed.Unnamed.Shelf
            let (none, some) = (
                FetchDescriptor<Shelf>(predicate: #Predicate { $0.number == nil }),
                FetchDescriptor<Shelf>(predicate: #Predicate { ($0.number ?? 0) > 0 })
            )
            try c.expect(try context.fetchCount(none), is: 3, "shelves without number, which is new:")
            try c.expect(try context.fetchCount(some), is: 0, "shelves with a number:")
            let sorted = FetchDescriptor<Shelf>(sortBy: [
                SortDescriptor(\.number, order: .reverse), SortDescriptor(\.label, order: .reverse),
            ])
            try c.expect(try context.fetch(sorted).map(\.label), is: ["l3", "l2", "l1"], "labels, downwards:")
        },
        schema(
            "questions-in-a-family",
            "Renamed properties of a superclass are found by in the records of its subclass, or the schema is refused.",
            hint: "Original names are looked at in the entity that declares the property, and not in those below it."
        ) { c in
            try c.under(
                Schema([Renamed.Orchard.Fruit.self, Renamed.Orchard.Apple.self, Renamed.Orchard.Basket.self]),
                "insert fruit in a basket, save"
            ) { context in
                let basket = Renamed.Orchard.Basket("b")
                let fruit = [
                    Renamed.Orchard.Fruit("pear", weight: 5), Renamed.Orchard.Apple("apple", weight: 7, sort: "cox"),
                    Renamed.Orchard.Apple("windfall", weight: 2, sort: "cox"),
                ]
                context.insert(basket)
                for one in fruit { context.insert(one) }
                basket.fruit = Array(fruit.prefix(2))
                try context.save()
            }
            typealias Fruit = Renamed.Market.Fruit
            let names = ["weight", "mass", "sort", "kind", "basket", "holder", "fruit", "content"]
            _ = try c.tryUnder(
                Schema([Fruit.self, Renamed.Market.Apple.self, Renamed.Market.Basket.self]), refusingFor: names
            ) { context in
                let heavy = FetchDescriptor<Fruit>(predicate: #Predicate { ($0.mass ?? 0) > 4 })
                try c.expect(try context.fetch(heavy).map(\.name), is: ["pear", "apple"], "fruit of a mass above 4:")
                let sorted = FetchDescriptor<Renamed.Market.Apple>(sortBy: [SortDescriptor(\.mass)])
                try c.expect(try context.fetch(sorted).map(\.name), is: ["windfall", "apple"], "apples by mass:")
                let held = FetchDescriptor<Renamed.Market.Apple>(
                    predicate: #Predicate { $0.holder?.name == "b" && $0.kind == "cox" })
                try c.expect(try context.fetchCount(held), is: 1, "apples of that kind in the basket:")
            }
        },
        schema(
            "questions-after-renaming-twice",
            "What was saved under a second name is found under the third, or refused.",
            hint: "The first name alone is looked for, which no record has any more."
        ) { c in
            try c.under(Schema([Renamed.Before.Shelf.self]), "insert two shelves, save") { context in
                for code in 1...2 {
                    context.insert(Renamed.Before.Shelf(code, label: "l\(code)", title: "t\(code)", note: nil))
                }
                try context.save()
            }
            let names = ["number", "serial", "code", "remark", "following", "neighbours", "note", "next", "beside"]
            let isTaken = try c.tryUnder(Schema([Renamed.After.Shelf.self]), refusingFor: names) { context in
                let third = Renamed.After.Shelf(3, label: "l3", title: "t3", remark: "third")
                let found = try context.fetch(FetchDescriptor<Renamed.After.Shelf>())
                context.insert(third)
                found.first?.remark = "first"
                found.last?.following = third
                try context.save()
            }
            guard isTaken else { return }
            typealias Shelf = Renamed.Later.Shelf
            _ = try c.tryUnder(Schema([Shelf.self]), refusingFor: names) { context in
                let sorted = FetchDescriptor<Shelf>(
                    predicate: #Predicate { $0.remark != nil }, sortBy: [SortDescriptor(\.serial, order: .reverse)])
                try c.expect(
                    try context.fetch(sorted).map { "\($0.serial ?? 0) \($0.remark ?? "-")" },
                    is: ["3 third", "1 first"], "serial numbers and remarks, downwards:")
                let above = FetchDescriptor<Shelf>(predicate: #Predicate { ($0.serial ?? 0) > 1 })
                try c.expect(try context.fetchCount(above), is: 2, "shelves of a serial number above 1:")
            }
        },
        schema(
            "questions-of-defaults",
            "New properties with a default are found, totalled and changed by batches as that default, or refused.",
            hint:
                "An empty text or 0 is stored where the default belongs, or the default is put in place when a record is read."
        ) { c in
            try c.under(Schema([MortiseConformance.Badge.self, Receipt.self]), "insert 3 badges, save") { context in
                for number in 1...3 { context.insert(MortiseConformance.Badge(number)) }
                try context.save()
            }
            typealias Badge = OtherBadges.Defaulted.Badge
            let schema = Schema([Badge.self, Receipt.self])
            let isTaken = try c.tryUnder(schema, refusingFor: ["owner", "grade"]) { context in
                let owned = FetchDescriptor<Badge>(predicate: #Predicate { $0.owner == "nobody's" && $0.grade == 10 })
                try c.expect(try context.fetchCount(owned), is: 3, "badges of nobody, of grade 10:")
                let empty = FetchDescriptor<Badge>(predicate: #Predicate { $0.owner == "" || $0.grade == 0 })
                try c.expect(try context.fetchCount(empty), is: 0, "badges of an empty owner or of grade 0:")
                try c.expect(
                    try context.aggregate(FetchDescriptor<Badge>(), Aggregate<Badge, Int>.sum(\.grade)), is: 30,
                    "total of the grades:")
                c.note("raise the grades in a batch")
                try context.update(Badge.self, where: #Predicate { $0.number > 1 }) { $0.increment(\.grade, by: 1) }
            }
            guard isTaken else { return }
            try c.under(schema, "open for the other schema again") { context in
                let found = try context.fetch(FetchDescriptor<Badge>())
                try c.expect(found.map(\.grade), is: [10, 11, 11], "grades after the batch:")
                try c.expect(found.map(\.owner), is: Array(repeating: "nobody's", count: 3), "owners after the batch:")
            }
        },
        schema(
            "questions-of-optional-defaults",
            "New properties that may be nil are found by their default, and by nil only where nil was saved, or refused.",
            hint:
                "What may be nil is nil in the records there are, or nil is replaced by the default whenever it is read."
        ) { c in
            try c.under(Schema([MortiseConformance.Badge.self, Receipt.self]), "insert 3 badges, save") { context in
                for number in 1...3 { context.insert(MortiseConformance.Badge(number)) }
                try context.save()
            }
            typealias Badge = Lavish.Optional.Badge
            let schema = Schema([Badge.self, Receipt.self])
            func count(_ context: ModelContext, _ predicate: Predicate<Badge>) throws -> Int {
                try context.fetchCount(FetchDescriptor(predicate: predicate))
            }
            let isTaken = try c.tryUnder(schema, refusingFor: ["flag", "whole", "colour"]) { context in
                try c.expect(try count(context, #Predicate { $0.colour == "red" }), is: 3, "red badges:")
                try c.expect(
                    try count(context, #Predicate { $0.whole == nil || $0.flag == nil }), is: 0,
                    "badges whose new properties are nil:")
                c.note("set colours and whole numbers to nil in a batch")
                try context.update(Badge.self, where: #Predicate { $0.number > 1 }) {
                    $0.set(\.colour, to: nil)
                    $0.set(\.whole, to: nil)
                }
                try context.save()
            }
            guard isTaken else { return }
            try c.under(schema, "open for the other schema again") { context in
                try c.expect(try count(context, #Predicate { $0.colour == nil }), is: 2, "badges without colour:")
                try c.expect(try count(context, #Predicate { $0.whole == 7 }), is: 1, "badges with the default:")
                let found = try context.fetch(FetchDescriptor<Badge>(sortBy: [SortDescriptor(\.number)]))
                try c.expect(found.map(\.colour), is: ["red", nil, nil], "colours:")
                try c.expect(found.map(\.whole), is: [7, nil, nil], "whole numbers:")
                try c.expect(found.map(\.flag), is: [true, true, true], "flags:")
            }
        },
        schema(
            "questions-of-names-in-other-case",
            "Conditions, orders and batches tell apart properties and entities whose names differ in nothing but case.",
            hint: "Names of columns, tables or files are compared without case. Mark the letters that are capitals."
        ) { c in
            let schema = Schema([Cased.Note.self, Cased.NOTE.self])
            try c.under(schema, "insert three records of one entity and two of another, save") { context in
                for (place, title) in ["b", "a", "c"].enumerated() {
                    let note = Cased.Note(title)
                    context.insert(note)
                    (note.Title, note.TITLE) = ("\(place)", place == 1 ? title : nil)
                    (note.größe, note.Größe, note.GRÖSSE) = (place, 10 - place, nil)
                }
                for title in ["a", "b"] { context.insert(Cased.NOTE(title)) }
                try context.save()
            }
            try c.under(schema, "ask for them") { context in
                func titles(_ descriptor: FetchDescriptor<Cased.Note>) throws -> [String] {
                    try context.fetch(descriptor).map(\.title)
                }
                try c.expect(
                    try titles(FetchDescriptor(sortBy: [SortDescriptor(\.title)])), is: ["a", "b", "c"], "by title:")
                try c.expect(
                    try titles(FetchDescriptor(sortBy: [SortDescriptor(\.Title, order: .reverse)])),
                    is: ["c", "a", "b"], "by Title, downwards:")
                try c.expect(
                    try titles(FetchDescriptor(predicate: #Predicate { $0.TITLE == "a" && $0.Title == "1" })),
                    is: ["a"], "by TITLE and Title:")
                try c.expect(
                    try titles(FetchDescriptor(predicate: #Predicate { ($0.größe ?? 0) > 0 && ($0.Größe ?? 0) > 8 })),
                    is: ["a"], "by größe and Größe:")
                try c.expect(
                    try context.fetchCount(FetchDescriptor<Cased.Note>(predicate: #Predicate { $0.GRÖSSE == nil })),
                    is: 3, "records whose GRÖSSE is nil:")
                try c.expect(try context.fetchCount(FetchDescriptor<Cased.NOTE>()), is: 2, "records of NOTE:")
                c.note("delete all of NOTE in a batch")
                try context.delete(model: Cased.NOTE.self)
                try context.save()
            }
            try c.under(schema, "open again") { context in
                try c.expect(try context.fetchCount(FetchDescriptor<Cased.Note>()), is: 3, "records of Note:")
                try c.expect(try context.fetchCount(FetchDescriptor<Cased.NOTE>()), is: 0, "records of NOTE:")
            }
        },
        schema(
            "questions-of-names-that-mean-something",
            "Properties called rowid, oid, key, order or null are found, sorted and changed as what was saved in them.",
            hint:
                "A column of the engine answers in place of the property, or a name stands in a statement without quotes."
        ) { c in
            let schema = Schema([Cased.Words.self])
            try c.under(schema, "insert three records, save") { context in
                for number in [70, 50, 60] { context.insert(Cased.Words(number)) }
                try context.save()
            }
            try c.under(schema, "ask for them, and change one") { context in
                typealias Words = Cased.Words
                try c.expect(
                    try context.fetch(FetchDescriptor<Words>(sortBy: [SortDescriptor(\.rowid)])).map(\.oid),
                    is: [51, 61, 71], "oid by rowid:")
                let found = FetchDescriptor<Words>(
                    predicate: #Predicate { $0.rowid > 50 && $0.order < 70 && $0.null != "null 1" })
                try c.expect(try context.fetch(found).map(\.select), is: [66], "select by rowid, order and null:")
                c.note("lower rowid in a batch")
                try context.update(Words.self, where: #Predicate { $0.key == "key 70" }) { $0.set(\.rowid, to: 2) }
            }
            try c.under(schema, "open again") { context in
                try c.expect(
                    try context.fetch(FetchDescriptor<Cased.Words>()).map(\.rowid), is: [2, 50, 60], "values of rowid:")
            }
        },
    ]
}
