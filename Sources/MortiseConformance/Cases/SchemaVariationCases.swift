import Foundation
import MortiseCore

// Further changes of a schema: defaults of every kind, other destinations, entities that are gone for a while, older programs.

extension ConformanceCase {
    private static func schema(
        _ id: String, _ requirement: String, hint: String, body: @escaping @Sendable (CaseContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "schema.\(id)", level: .full, capability: .reopening, requirement: requirement, hint: hint, body: body)
    }

    private static let badges = Schema([Badge.self, Receipt.self])

    private static func fillBadges(_ c: CaseContext) throws {
        try c.under(badges, "insert 2 badges and a receipt, save") { context in
            for number in 1...2 { context.insert(Badge(number)) }
            context.insert(Receipt("kept", total: 7))
            try context.save()
        }
    }

    /// What is expected of badges in a property.
    private static func each<M: PersistentModel, Value>(
        _ c: CaseContext, _ found: [M], _ keyPath: KeyPath<M, Value>, is value: Value, _ name: String
    ) throws {
        try c.expect(found.map { $0[keyPath: keyPath] }, is: found.map { _ in value }, "\(name), which is the default:")
    }

    private static func document(
        _ id: String, _ what: String, to other: [any PersistentModel.Type], names: [String],
        check: @escaping @Sendable (CaseContext, ModelContext) throws -> Void
    ) -> ConformanceCase {
        schema(
            "other-destination-of-\(id)",
            "\(what) that leads to another entity is refused, or empty; no record is handed out as one of the other entity.",
            hint:
                "References are kept as numbers alone, or the column of the new destination takes the place of the old one, "
                + "which then stands in the way."
        ) { c in
            let first = Schema([Leading.First.Document.self, Leading.Holder.self, Leading.Label.self])
            func isUnchanged(_ context: ModelContext) throws {
                let found = try context.fetch(FetchDescriptor<Leading.First.Document>())
                try c.expect(found.map(\.title), is: ["one", "two"], "titles under the first schema:")
                try c.expect(
                    found.map { $0.owner?.name ?? "none" }, is: ["h1", "none"], "owners under the first schema:")
                try c.expect(
                    found.map { $0.readers.map(\.name) }, is: [["h1", "h2"], []], "readers under the first schema:")
            }
            try c.under(first, "insert two documents, two holders and two labels, save") { context in
                let holders = ["h1", "h2"].map { Leading.Holder($0) }
                for holder in holders { context.insert(holder) }
                for name in ["l1", "l2"] { context.insert(Leading.Label(name)) }
                let documents = ["one", "two"].map { Leading.First.Document($0) }
                for document in documents { context.insert(document) }
                documents[0].owner = holders[0]
                documents[0].readers = holders
                try context.save()
            }
            let second = Schema(other)
            let isTaken = try c.tryUnder(second, refusingFor: names) { context in
                try check(c, context)
                try c.expect(
                    try context.fetch(FetchDescriptor<Leading.Holder>()).map(\.name), is: ["h1", "h2"], "holders:")
                try c.expect(
                    try context.fetch(FetchDescriptor<Leading.Label>()).map(\.name), is: ["l1", "l2"], "labels:")
            }
            guard isTaken else { return try c.under(first, "open for the first schema again") { try isUnchanged($0) } }
            // Who goes back finds everything, or is told what does not fit; the storage is not taken for a damaged one.
            do {
                try c.under(first, "open for the first schema again") { try isUnchanged($0) }
            } catch let failure as ConformanceFailure {
                throw failure
            } catch {
                try c.expectWords(of: error, on: names)
                let name = StoreErrorClass.name(of: error)
                try c.expect(
                    name != StoreErrorClass.damaged.rawValue && name != StoreErrorClass.failedInputOutput.rawValue,
                    "an error of a class that says that the schema does not fit, such as conflict",
                    found: "\(error), of class \(name ?? "unknown")")
                try c.under(second, "open for the other schema again") { try check(c, $0) }
            }
        }
    }

    static let schemaVariationCases: [ConformanceCase] = [
        schema(
            "defaults-of-every-kind",
            "New properties that have to have a value have their default in the records there are, whatever their kind, or are refused.",
            hint:
                "Defaults of some kinds are left out, or written in another form than values: a Bool as false, a date as text, "
                + "quotation marks as they are."
        ) { c in
            try fillBadges(c)
            typealias Badge = Lavish.Required.Badge
            let other = Schema([Badge.self, Receipt.self])
            func check(_ context: ModelContext) throws {
                let found = try context.fetch(FetchDescriptor<Badge>())
                try c.expect(found.map(\.number), is: [1, 2], "numbers:")
                try each(c, found, \.isNew, is: true, "isNew")
                try each(c, found, \.isOld, is: false, "isOld")
                try each(c, found, \.tiny, is: -128, "tiny")
                try each(c, found, \.large, is: .min, "large")
                try each(c, found, \.wide, is: .max, "wide")
                try each(c, found, \.single, is: 0.1, "single")
                try each(c, found, \.real, is: 0.1, "real")
                try each(c, found, \.price, is: Lavish.price, "price")
                try each(c, found, \.day, is: Lavish.day, "day")
                try each(c, found, \.empty, is: "", "empty")
                try each(c, found, \.quoted, is: "it's \"50%\"; ?1 \\ ü\n,", "quoted")
                try each(c, found, \.digits, is: "007", "digits")
                try each(c, found, \.bytes, is: Data([0, 255, 39]), "bytes")
                try each(c, found, \.token, is: Lavish.token, "token")
                try each(c, found, \.link, is: Lavish.link, "link")
                try each(c, found, \.tint, is: .white, "tint")
                try each(c, found, \.priority, is: .high, "priority")
                try each(c, found, \.place, is: Lavish.place, "place")
                try each(c, found, \.words, is: ["a", "", "it's"], "words")
                let (price, day) = (Lavish.price, Lavish.day)
                let matching = FetchDescriptor<Badge>(
                    predicate: #Predicate { $0.isNew && !$0.isOld && $0.price == price && $0.day == day })
                try c.expect(try context.fetchCount(matching), is: 2, "badges that match these defaults:")
            }
            let isTaken = try c.tryUnder(other, refusingFor: ["Badge"]) { context in
                try check(context)
                c.note("change a badge, save")
                try context.fetch(FetchDescriptor<Badge>()).first?.number = 1
                try context.fetch(FetchDescriptor<Badge>()).last?.tiny = -128
                try context.save()
            }
            if isTaken { try c.under(other, "open for the other schema again") { try check($0) } }
        },
        schema(
            "defaults-of-optionals",
            "New properties that may be nil have their default in the records there are, or are refused; nil that is saved is nil.",
            hint:
                "What may be nil is nil in the records there are, whatever its default; or nil is taken for a value that is "
                + "missing, and replaced by the default whenever it is read."
        ) { c in
            try fillBadges(c)
            typealias Badge = Lavish.Optional.Badge
            let other = Schema([Badge.self, Receipt.self])
            func checkDefaults(_ found: [Badge]) throws {
                try each(c, found, \.flag, is: true, "flag")
                try each(c, found, \.whole, is: 7, "whole")
                try each(c, found, \.real, is: 2.5, "real")
                try each(c, found, \.colour, is: "red", "colour")
                try each(c, found, \.price, is: Lavish.price, "price")
                try each(c, found, \.day, is: Lavish.day, "day")
                try each(c, found, \.tint, is: .green, "tint")
                try each(c, found, \.words, is: ["a"], "words")
                try each(c, found, \.nothing, is: nil, "nothing")
            }
            let isTaken = try c.tryUnder(other, refusingFor: ["Badge"]) { context in
                let found = try context.fetch(FetchDescriptor<Badge>())
                try c.expect(found.map(\.number), is: [1, 2], "numbers:")
                try checkDefaults(found)
                c.note("set the colour and flag of a badge to nil, insert one whose properties are nil, save")
                found.last?.colour = nil
                found.last?.flag = nil
                context.insert(Badge(3))
                try context.save()
            }
            guard isTaken else { return }
            try c.under(other, "open for the other schema again") { context in
                let found = try context.fetch(FetchDescriptor<Badge>())
                try c.expect(found.map(\.number), is: [1, 2, 3], "numbers:")
                try checkDefaults(Array(found.prefix(1)))
                try c.expect(found.map(\.colour), is: ["red", nil, nil], "colours, two of which were saved as nil:")
                try c.expect(found.map(\.flag), is: [true, nil, nil], "flags, two of which were saved as nil:")
                try c.expect(found.map(\.whole), is: [7, 7, nil], "whole numbers, one of which was saved as nil:")
                try c.expect(found.map(\.words), is: [["a"], ["a"], nil], "words, which were once saved as nil:")
                try c.expect(
                    try context.fetchCount(FetchDescriptor<Badge>(predicate: #Predicate { $0.colour == nil })), is: 2,
                    "badges without colour:")
            }
        },
        schema(
            "entity-gone-and-saved",
            "Records of an entity that the schema lacks outlive saves under that schema, unless the store says that it drops them.",
            hint:
                "What is written is what the schema names. Keep the rest, or say in schemaLoss what the next save drops."
        ) { c in
            try fillBadges(c)
            var isTold = false
            let isTaken = try c.tryUnder(Schema([Badge.self]), refusingFor: ["Receipt"]) { context in
                isTold = c.tellsLoss(context.container)
                let found = try context.fetch(FetchDescriptor<Badge>())
                try c.expect(found.map(\.number), is: [1, 2], "numbers:")
                c.note("change a badge, delete one and insert one under the smaller schema, in two saves")
                found.first?.number = 10
                try context.save()
                if let last = found.last { context.delete(last) }
                context.insert(Badge(3))
                try context.save()
            }
            if isTold { return c.note("the store says in schemaLoss that it drops something") }
            try c.under(badges, "open for the first schema again") { context in
                try c.expect(
                    try context.fetch(FetchDescriptor<Badge>()).map(\.number), is: isTaken ? [10, 3] : [1, 2],
                    "numbers:")
                let receipts = try context.fetch(FetchDescriptor<Receipt>())
                try c.expect(receipts.map(\.code), is: ["kept"], "codes of the entity that was gone for a while:")
                try c.expect(receipts.map(\.total), is: [7], "totals of the entity that was gone for a while:")
                c.note("insert a receipt, save")
                context.insert(Receipt("new", total: 8))
                try context.save()
                try c.expect(
                    try context.fetch(FetchDescriptor<Receipt>()).map(\.code), is: ["kept", "new"],
                    "codes after a save:")
            }
        },
        document(
            "to-one", "A reference",
            to: [Leading.OtherOwner.Document.self, Leading.Holder.self, Leading.Label.self],
            names: ["owner", "Document"]
        ) { c, context in
            let found = try context.fetch(FetchDescriptor<Leading.OtherOwner.Document>())
            try c.expect(found.map(\.title), is: ["one", "two"], "titles:")
            try c.expect(
                found.map { $0.owner?.name ?? "none" }, is: ["none", "none"], "owners, of which none is a label:")
            try c.expect(
                found.map { $0.readers.map(\.name) }, is: [["h1", "h2"], []], "readers, which are as before:")
        },
        document(
            "a-list", "A list", to: [Leading.OtherReaders.Document.self, Leading.Holder.self, Leading.Label.self],
            names: ["readers", "Document"]
        ) { c, context in
            let found = try context.fetch(FetchDescriptor<Leading.OtherReaders.Document>())
            try c.expect(found.map(\.title), is: ["one", "two"], "titles:")
            try c.expect(found.map { $0.owner?.name ?? "none" }, is: ["h1", "none"], "owners, which are as before:")
            try c.expect(found.map { $0.readers.map(\.name) }, is: [[], []], "readers, of which none is a label:")
        },
        schema(
            "older-program",
            "An older program is refused by a storage of a newer version, or leaves it as the newer one needs it.",
            hint:
                "The older program's version is stored as the storage's, so that stages of a plan seem due again. Refuse it: "
                + "checkIsNotNewer(than:store:)."
        ) { c in
            let newer = Schema(versionedSchema: Memos.Version2.self)
            try c.under(newer, "insert 2 memos and a receipt in version 2, save") { context in
                for text in ["a", "bb"] {
                    let memo = Memos.Version2.Memo(text)
                    memo.length = text.count
                    context.insert(memo)
                }
                context.insert(Receipt("kept", total: 7))
                try context.save()
            }
            func check(_ context: ModelContext, _ more: [String] = []) throws {
                let found = try context.fetch(FetchDescriptor<Memos.Version2.Memo>())
                try c.expect(found.map(\.text), is: ["a", "bb"] + more, "texts, which no stage changes any more:")
                try c.expect(found.prefix(2).map(\.length), is: [1, 2], "lengths of version 2:")
                try c.expect(try context.fetch(FetchDescriptor<Receipt>()).map(\.code), is: ["kept"], "codes:")
            }
            let takesPlans = try c.tryUnder(newer, plan: Memos.Plan.self, refusingFor: ["plan", "stage"]) {
                try check($0)
            }
            var more: [String] = []
            do {
                try c.under(Schema(versionedSchema: Memos.Version1.self), "open with the older program, of version 1") {
                    context in
                    try c.expect(
                        try context.fetch(FetchDescriptor<Memos.Version1.Memo>()).map(\.text), is: ["a", "bb"],
                        "texts in version 1:")
                    context.insert(Memos.Version1.Memo("older"))
                    try context.save()
                    more = ["older"]
                }
            } catch let failure as ConformanceFailure {
                throw failure
            } catch {
                c.note("→ \(type(of: error)): \(error)")
            }
            if takesPlans {
                try c.under(newer, plan: Memos.Plan.self, "open with the newer program and its plan") {
                    try check($0, more)
                }
            }
            try c.under(newer, "open with the newer program") { try check($0, more) }
        },
        ConformanceCase(
            "schema.names-that-differ-in-case", level: .full, capability: .reopening,
            requirement: "Properties and entities whose names differ in nothing but case are different ones.",
            hint:
                "Names of columns, tables or files are compared without case. Mark the letters that are capitals."
        ) { c in
            let schema = Schema([Cased.Note.self, Cased.NOTE.self])
            try c.under(schema, "insert two records of each of two entities, save") { context in
                let (one, two) = (Cased.Note("one"), Cased.Note("two"))
                context.insert(one)
                context.insert(two)
                (one.TITLE, one.größe, one.GRÖSSE) = ("ONE", 1, 2)
                (two.Größe, two.next, two.Next) = (3, one, two)
                one.all = [one]
                two.All = [one, two]
                context.insert(Cased.NOTE("first", note: two))
                context.insert(Cased.NOTE("second"))
                try context.save()
            }
            func check(_ context: ModelContext, _ title: String) throws {
                let found = try context.fetch(FetchDescriptor<Cased.Note>())
                try c.expect(found.map(\.title), is: ["one", "two"], "values of title:")
                try c.expect(found.map(\.Title), is: [title, "two 2"], "values of Title:")
                try c.expect(found.map(\.TITLE), is: ["ONE", nil], "values of TITLE:")
                try c.expect(found.map(\.größe), is: [1, nil], "values of größe:")
                try c.expect(found.map(\.GRÖSSE), is: [2, nil], "values of GRÖSSE:")
                try c.expect(found.map(\.Größe), is: [nil, 3], "values of Größe:")
                try c.expect(found.map { $0.next?.title ?? "none" }, is: ["none", "one"], "what next leads to:")
                try c.expect(found.map { $0.Next?.title ?? "none" }, is: ["none", "two"], "what Next leads to:")
                try c.expect(found.map { $0.all.map(\.title) }, is: [["one"], []], "members of all:")
                try c.expect(found.map { $0.All.map(\.title) }, is: [[], ["one", "two"]], "members of All:")
                let others = try context.fetch(FetchDescriptor<Cased.NOTE>())
                try c.expect(others.map(\.title), is: ["first", "second"], "titles of NOTE:")
                try c.expect(others.map { $0.note?.title ?? "none" }, is: ["two", "none"], "notes of NOTE:")
                let capital = FetchDescriptor<Cased.Note>(
                    predicate: #Predicate { $0.Title == title }, sortBy: [SortDescriptor(\.Title)])
                try c.expect(try context.fetch(capital).map(\.title), is: ["one"], "what is found by Title:")
            }
            try c.under(schema, "open again, set a Title") { context in
                try check(context, "one 2")
                try context.fetch(FetchDescriptor<Cased.Note>()).first?.Title = "new"
                try context.save()
            }
            try c.under(schema, "open again") { try check($0, "new") }
        },
        ConformanceCase(
            "schema.names-that-mean-something", level: .full, capability: .reopening,
            requirement:
                "Properties may have names that the storage has a use for, such as rowid, version, order and null.",
            hint: "A column of the store's own has such a name, or names are not quoted."
        ) { c in
            let schema = Schema([Cased.Words.self])
            try c.under(schema, "insert three records, save") { context in
                for number in [10, 20, 30] { context.insert(Cased.Words(number)) }
                try context.save()
            }
            func check(_ context: ModelContext, _ numbers: [Int], _ oid: [Int]) throws {
                let found = try context.fetch(FetchDescriptor<Cased.Words>())
                try c.expect(found.map(\.rowid), is: numbers, "values of rowid:")
                try c.expect(found.map(\.oid), is: oid, "values of oid:")
                try c.expect(found.map(\._rowid_), is: numbers.map { $0 + 2 }, "values of _rowid_:")
                try c.expect(found.map(\.entity), is: numbers.map { "entity \($0)" }, "values of entity:")
                try c.expect(found.map(\.version), is: numbers.map { $0 + 3 }, "values of version:")
                try c.expect(found.map(\.record), is: numbers.map { $0 + 4 }, "values of record:")
                try c.expect(found.map(\.key), is: numbers.map { "key \($0)" }, "values of key:")
                try c.expect(found.map(\.value), is: numbers.map { "value \($0)" }, "values of value:")
                try c.expect(found.map(\.order), is: numbers.map { $0 + 5 }, "values of order:")
                try c.expect(found.map(\.group), is: numbers.map { "group \($0)" }, "values of group:")
                try c.expect(found.map(\.select), is: numbers.map { $0 + 6 }, "values of select:")
                try c.expect(found.map(\.null), is: numbers.map { "null \($0)" }, "values of null:")
                try c.expect(found.map(\.table), is: numbers.map { "table \($0)" }, "values of table:")
                try c.expect(found.map(\.index), is: numbers.map { $0 + 7 }, "values of index:")
                let last = numbers.max() ?? 0
                let query = FetchDescriptor<Cased.Words>(
                    predicate: #Predicate { $0.rowid == last || $0.version == 13 && $0.null != "x" },
                    sortBy: [SortDescriptor(\.order, order: .reverse)])
                let matching = numbers.filter { $0 == last || $0 == 10 }.sorted(by: >)
                try c.expect(try context.fetch(query).map(\.rowid), is: matching, "what is found by such names:")
            }
            try c.under(schema, "open again, change a record and delete one") { context in
                try check(context, [10, 20, 30], [11, 21, 31])
                let found = try context.fetch(FetchDescriptor<Cased.Words>())
                found.first?.oid = 5
                if found.count > 1 { context.delete(found[1]) }
                try context.save()
            }
            try c.under(schema, "open again") { try check($0, [10, 30], [5, 31]) }
        },
    ]
}

extension CaseContext {
    /// Whether the store of a container says that its next save drops something.
    func tellsLoss(_ container: ModelContainer) -> Bool {
        guard let configuration = container.storeConfigurations.first else { return false }
        return Self.store(of: configuration, in: container)?.schemaLoss != nil
    }
}
