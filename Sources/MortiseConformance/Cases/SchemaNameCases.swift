import Foundation
import MortiseCore

extension ConformanceCase {
    /// A case in which a storage is written under one schema, and opened under another in which properties have other names.
    ///
    /// A store may refuse the other schema, with an error that names one of `names`; the storage is then as it was. What it
    /// takes it reads as `check` says, in a fresh context, and once more after something was saved and the storage reopened.
    private static func renaming(
        _ id: String, _ requirement: String, hint: String, from first: [any PersistentModel.Type],
        to second: [any PersistentModel.Type], names: [String],
        fill: @escaping @Sendable (ModelContext) -> Void,
        unchanged: @escaping @Sendable (CaseContext, ModelContext) throws -> Void,
        _ check: @escaping @Sendable (CaseContext, ModelContext) throws -> Void,
        change: @escaping @Sendable (ModelContext) throws -> Void = { _ in },
        changed: (@Sendable (CaseContext, ModelContext) throws -> Void)? = nil
    ) -> ConformanceCase {
        ConformanceCase("schema.\(id)", level: .full, capability: .reopening, requirement: requirement, hint: hint) {
            c in
            try c.under(Schema(first), "insert records under the first schema, save") { context in
                fill(context)
                try context.save()
            }
            let isTaken = try c.tryUnder(Schema(second), refusingFor: names) { context in
                try check(c, context)
                try change(context)
                try context.save()
            }
            guard isTaken else {
                try c.under(Schema(first), "open for the first schema again") { try unchanged(c, $0) }
                return
            }
            try c.under(Schema(second), "open for the other schema again") { try (changed ?? check)(c, $0) }
            // The older program finds the records under the first names, or is told what does not fit.
            let isBack = try c.tryUnder(Schema(first), refusingFor: names) { context in
                if changed == nil { try unchanged(c, context) }
            }
            if isBack { return }
            try c.under(Schema(second), "open for the other schema once more") { try (changed ?? check)(c, $0) }
        }
    }

    private static let nameHint =
        "Properties are looked for by their present names only, so that renamed ones come back empty or as nil."

    @Sendable private static func fillShelves(_ context: ModelContext) {
        let first = Renamed.Before.Shelf(1, label: "l1", title: "t1", note: "n1")
        let second = Renamed.Before.Shelf(2, label: "l2", title: "t2", note: nil)
        let third = Renamed.Before.Shelf(3, label: "l3", title: "t3", note: "")
        for shelf in [first, second, third] { context.insert(shelf) }
        first.next = second
        second.next = third
        first.beside = [second, third]
        third.beside = [first]
    }

    @Sendable private static func shelvesAreUnchanged(_ c: CaseContext, _ context: ModelContext) throws {
        let found = try context.fetch(FetchDescriptor<Renamed.Before.Shelf>())
        try c.expect(found.map(\.code), is: [1, 2, 3], "codes under the first names:")
        try c.expect(found.map(\.label), is: ["l1", "l2", "l3"], "labels under the first names:")
        try c.expect(found.map(\.title), is: ["t1", "t2", "t3"], "titles under the first names:")
        try c.expect(found.map(\.note), is: ["n1", nil, ""], "notes under the first names:")
        try c.expect(found.map { $0.next?.code ?? 0 }, is: [2, 3, 0], "next shelves under the first names:")
        try c.expect(
            found.map { $0.beside.map(\.code) }, is: [[2, 3], [], [1]], "shelves beside, under the first names:")
    }

    @Sendable private static func shelvesAreRenamed(_ c: CaseContext, _ context: ModelContext) throws {
        let found = try context.fetch(FetchDescriptor<Renamed.After.Shelf>())
        try c.expect(found.map(\.number), is: [1, 2, 3], "numbers, which were codes:")
        try c.expect(found.map(\.label), is: ["l1", "l2", "l3"], "labels:")
        try c.expect(found.map(\.title), is: ["t1", "t2", "t3"], "titles:")
        try c.expect(found.map(\.remark), is: ["n1", nil, ""], "remarks, which were notes:")
        try c.expect(found.map { $0.following?.number ?? 0 }, is: [2, 3, 0], "following shelves, which were next:")
        try c.expect(
            found.map { $0.neighbours.map(\.number) }, is: [[2, 3], [], [1]], "neighbours, which were beside:")
        try c.expect(
            try context.fetchCount(FetchDescriptor<Renamed.After.Shelf>(predicate: #Predicate { $0.number > 1 })),
            is: 2,
            "shelves whose number is above 1:")
    }

    @Sendable private static func fillOrchard(_ context: ModelContext) {
        let basket = Renamed.Orchard.Basket("b")
        let pear = Renamed.Orchard.Fruit("pear", weight: 5)
        let apple = Renamed.Orchard.Apple("apple", weight: 7, sort: "cox")
        context.insert(basket)
        context.insert(pear)
        context.insert(apple)
        basket.fruit = [pear, apple]
    }

    static let schemaNameCases: [ConformanceCase] = [
        renaming(
            "renamed-properties",
            "Attributes and relationships that were renamed keep their values, or the schema is refused by name.",
            hint: nameHint, from: [Renamed.Before.Shelf.self], to: [Renamed.After.Shelf.self],
            names: ["number", "remark", "following", "neighbours", "code", "note", "next", "beside"],
            fill: fillShelves, unchanged: shelvesAreUnchanged, shelvesAreRenamed
        ),
        renaming(
            "renamed-and-written",
            "Records that are changed, inserted and deleted after a renaming are what was saved when they are read again.",
            hint: "Records are written under one name and read under the other, or renamed again at each opening.",
            from: [Renamed.Before.Shelf.self], to: [Renamed.After.Shelf.self],
            names: ["number", "remark", "following", "neighbours", "code", "note", "next", "beside"],
            fill: fillShelves, unchanged: shelvesAreUnchanged, shelvesAreRenamed,
            change: { context in
                let found = try context.fetch(FetchDescriptor<Renamed.After.Shelf>())
                found.first?.number = 10
                found.first?.remark = nil
                found.first?.following = found.last
                if found.count > 1 { context.delete(found[1]) }
                let new = Renamed.After.Shelf(4, label: "l4", title: "t4", remark: "n4")
                context.insert(new)
                new.neighbours = found.suffix(1)
            },
            changed: { c, context in
                let found = try context.fetch(FetchDescriptor<Renamed.After.Shelf>())
                try c.expect(found.map(\.number), is: [10, 3, 4], "numbers, as they were changed:")
                try c.expect(found.map(\.remark), is: [nil, "", "n4"], "remarks, as they were changed:")
                try c.expect(found.map { $0.following?.number ?? 0 }, is: [3, 0, 0], "following shelves, as changed:")
                try c.expect(
                    found.map { $0.neighbours.map(\.number) }, is: [[3], [10], [3]], "neighbours, as they were changed:"
                )
            }),
        renaming(
            "swapped-names",
            "Two properties that exchange their names exchange their values with them, once, or the schema is refused.",
            hint: "A property is looked for by its present name first, or exchanged again at each opening.",
            from: [Renamed.Before.Shelf.self], to: [Renamed.Swapped.Shelf.self], names: ["label", "title"],
            fill: fillShelves, unchanged: shelvesAreUnchanged,
            { c, context in
                let found = try context.fetch(FetchDescriptor<Renamed.Swapped.Shelf>())
                try c.expect(found.map(\.label), is: ["t1", "t2", "t3"], "labels, which were titles:")
                try c.expect(found.map(\.title), is: ["l1", "l2", "l3"], "titles, which were labels:")
                try c.expect(found.map(\.code), is: [1, 2, 3], "codes:")
            },
            change: { context in
                try context.fetch(FetchDescriptor<Renamed.Swapped.Shelf>()).first?.label = "new"
            },
            changed: { c, context in
                let found = try context.fetch(FetchDescriptor<Renamed.Swapped.Shelf>())
                try c.expect(found.map(\.label), is: ["new", "t2", "t3"], "labels after a save:")
                try c.expect(found.map(\.title), is: ["l1", "l2", "l3"], "titles after a save:")
            }),
        renaming(
            "name-used-again", "A new property that takes the name from which another was renamed is nil at first.",
            hint:
                "Both properties take the value of the old name, or the one without original name is looked for first.",
            from: [Renamed.Before.Shelf.self], to: [Renamed.Reused.Shelf.self], names: ["number", "code"],
            fill: fillShelves, unchanged: shelvesAreUnchanged,
            { c, context in
                let found = try context.fetch(FetchDescriptor<Renamed.Reused.Shelf>())
                try c.expect(found.map(\.number), is: [1, 2, 3], "numbers, which were codes:")
                try c.expect(found.map(\.code), is: [nil, nil, nil], "codes, which are new:")
            },
            change: { context in
                for shelf in try context.fetch(FetchDescriptor<Renamed.Reused.Shelf>()) {
                    shelf.code = shelf.number * 10
                }
            },
            changed: { c, context in
                let found = try context.fetch(FetchDescriptor<Renamed.Reused.Shelf>())
                try c.expect(found.map(\.number), is: [1, 2, 3], "numbers after a save:")
                try c.expect(found.map(\.code), is: [10, 20, 30], "codes after a save:")
            }),
        renaming(
            "renamed-in-a-family",
            "Renamed properties of a superclass and of a subclass keep their values in the records of both.",
            hint: "Original names are looked at in the entity that declares the property, and not in those below it.",
            from: [Renamed.Orchard.Fruit.self, Renamed.Orchard.Apple.self, Renamed.Orchard.Basket.self],
            to: [Renamed.Market.Fruit.self, Renamed.Market.Apple.self, Renamed.Market.Basket.self],
            names: ["weight", "mass", "sort", "kind", "basket", "holder", "fruit", "content"],
            fill: fillOrchard,
            unchanged: { c, context in
                let found = try context.fetch(FetchDescriptor<Renamed.Orchard.Fruit>())
                try c.expect(found.map(\.weight), is: [5, 7], "weights under the first names:")
                try c.expect(found.map { ($0 as? Renamed.Orchard.Apple)?.sort }, is: [nil, "cox"], "sorts:")
                try c.expect(
                    try context.fetch(FetchDescriptor<Renamed.Orchard.Basket>()).map { $0.fruit.map(\.name) },
                    is: [["pear", "apple"]], "fruit of the basket:")
            },
            { c, context in
                let found = try context.fetch(FetchDescriptor<Renamed.Market.Fruit>())
                try c.expect(found.map(\.mass), is: [5, 7], "masses, which were weights:")
                try c.expect(
                    found.map { ($0 as? Renamed.Market.Apple)?.kind }, is: [nil, "cox"], "kinds, which were sorts:")
                try c.expect(found.map { $0.holder?.name }, is: ["b", "b"], "holders, which were baskets:")
                try c.expect(
                    try context.fetch(FetchDescriptor<Renamed.Market.Basket>()).map { $0.content.map(\.name) },
                    is: [["pear", "apple"]], "content of the basket, which was its fruit:")
            }),
        ConformanceCase(
            "schema.renamed-twice", level: .full, capability: .reopening,
            requirement:
                "A property that is renamed again, from the first name, keeps what was saved under the second.",
            hint: "The original name alone is looked for, which no record has any more."
        ) { c in
            try c.under(Schema([Renamed.Before.Shelf.self]), "insert records under the first schema, save") { context in
                fillShelves(context)
                try context.save()
            }
            let names = ["number", "serial", "code", "remark", "following", "neighbours", "note", "next", "beside"]
            let isTaken = try c.tryUnder(Schema([Renamed.After.Shelf.self]), refusingFor: names) { context in
                for shelf in try context.fetch(FetchDescriptor<Renamed.After.Shelf>()) { shelf.number += 100 }
                try context.save()
            }
            guard isTaken else { return }
            let isTakenAgain = try c.tryUnder(Schema([Renamed.Later.Shelf.self]), refusingFor: names) { context in
                let found = try context.fetch(FetchDescriptor<Renamed.Later.Shelf>())
                try c.expect(found.map(\.serial), is: [101, 102, 103], "serial numbers, which were numbers:")
                try c.expect(found.map(\.remark), is: ["n1", nil, ""], "remarks:")
            }
            if isTakenAgain { return }
            try c.under(Schema([Renamed.After.Shelf.self]), "open for the second schema again") { context in
                let found = try context.fetch(FetchDescriptor<Renamed.After.Shelf>())
                try c.expect(found.map(\.number), is: [101, 102, 103], "numbers:")
            }
        },
        renaming(
            "new-name-without-original",
            "A property with a new name and no original name is new: it takes over no other property's values.",
            hint: "Properties are matched by their place or kind where the names differ.",
            from: [Renamed.Before.Shelf.self], to: [Renamed.Unnamed.Shelf.self], names: ["number", "code"],
            fill: fillShelves,
            unchanged: { c, context in
                // A program that opened the storage for a schema without codes, and saved, may have dropped them.
                let found = try context.fetch(FetchDescriptor<Renamed.Before.Shelf>())
                try c.expect(found.map(\.label), is: ["l1", "l2", "l3"], "labels under the first names:")
            },
            { c, context in
                let found = try context.fetch(FetchDescriptor<Renamed.Unnamed.Shelf>())
                try c.expect(found.map(\.number), is: [nil, nil, nil], "numbers, which are new:")
                try c.expect(found.map(\.label), is: ["l1", "l2", "l3"], "labels:")
                try c.expect(found.map { $0.beside.count }, is: [2, 0, 1], "numbers of the shelves beside:")
            }),
        ConformanceCase(
            "schema.entity-of-another-name", level: .full, capability: .reopening,
            requirement:
                "An entity under another name is another one: it is empty or refused, and the first one's stay.",
            hint: "Entities are matched by their place or properties, or the records of unknown ones are dropped."
        ) { c in
            let first = Schema([Badge.self, Receipt.self])
            try c.under(first, "insert two badges and a receipt, save") { context in
                for number in 1...2 { context.insert(Badge(number)) }
                context.insert(Receipt("kept", total: 7))
                try context.save()
            }
            let isTaken = try c.tryUnder(Schema([Entry.self, Receipt.self]), refusingFor: ["Badge", "Entry"]) {
                context in
                try c.expect(try context.fetchCount(FetchDescriptor<Entry>()), is: 0, "records of the other name:")
                try c.expect(try context.fetch(FetchDescriptor<Receipt>()).map(\.code), is: ["kept"], "codes:")
            }
            try c.under(first, "open for the first schema again, \(isTaken ? "after" : "without") another one") {
                context in
                try c.expect(try context.fetch(FetchDescriptor<Badge>()).map(\.number), is: [1, 2], "numbers:")
                try c.expect(try context.fetch(FetchDescriptor<Receipt>()).map(\.code), is: ["kept"], "codes:")
            }
        },
        ConformanceCase(
            "schema.older-again", level: .full, capability: .reopening,
            requirement:
                "An older schema, opened after changes under a newer one, shows these or is refused; nothing is lost by it.",
            hint: "Opening for the older schema drops what it does not name, or shows records as they were before."
        ) { c in
            let older = Schema([Badge.self])
            let newer = Schema([OtherBadges.Extended.Badge.self])
            try c.under(older, "insert 3 badges under the older schema, save") { context in
                for number in 1...3 { context.insert(Badge(number)) }
                try context.save()
            }
            let isTaken = try c.tryUnder(newer, refusingFor: ["Badge", "colour"]) { context in
                let found = try context.fetch(FetchDescriptor<OtherBadges.Extended.Badge>())
                try c.require(found.first, "a badge under the newer schema").colour = "red"
                try c.require(found.last, "a badge under the newer schema").number = 30
                let new = OtherBadges.Extended.Badge(4)
                new.colour = "blue"
                context.insert(new)
                if found.count > 1 { context.delete(found[1]) }
                c.note("change two badges, insert one and delete one under the newer schema, save")
                try context.save()
            }
            guard isTaken else {
                try c.under(older, "open for the older schema again") { context in
                    try c.expect(try context.fetch(FetchDescriptor<Badge>()).map(\.number), is: [1, 2, 3], "numbers:")
                }
                return
            }
            _ = try c.tryUnder(older, refusingFor: ["Badge", "colour"]) { context in
                try c.expect(
                    try context.fetch(FetchDescriptor<Badge>()).map(\.number), is: [1, 30, 4],
                    "numbers under the older schema:")
            }
            try c.under(newer, "open for the newer schema again") { context in
                let found = try context.fetch(FetchDescriptor<OtherBadges.Extended.Badge>())
                try c.expect(found.map(\.number), is: [1, 30, 4], "numbers under the newer schema:")
                try c.expect(found.map(\.colour), is: ["red", nil, "blue"], "colours under the newer schema:")
            }
        },
    ]
}

extension CaseContext {
    /// Opens the storage for a schema, which the store has to take, and closes it.
    func under(
        _ schema: Schema, plan: (any SchemaMigrationPlan.Type)? = nil, _ what: String,
        _ body: (ModelContext) throws -> Void
    ) throws {
        note(what)
        let container = try open(for: schema, plan: plan)
        do {
            try body(ModelContext(container))
        } catch {
            try? container.close()
            throw error
        }
        try container.close()
    }

    /// Opens the storage for a schema, which the store may refuse in words, when it opens or at the latest when it is read.
    /// - Returns: whether the store took the schema.
    func tryUnder(
        _ schema: Schema, plan: (any SchemaMigrationPlan.Type)? = nil, refusingFor names: [String],
        _ body: (ModelContext) throws -> Void
    ) throws -> Bool {
        do {
            try under(schema, plan: plan, "use the storage under another schema", body)
            return true
        } catch let failure as ConformanceFailure {
            throw failure
        } catch {
            try expectWords(of: error, on: names)
            return false
        }
    }
}
