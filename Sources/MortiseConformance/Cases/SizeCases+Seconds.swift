import Foundation
import MortiseCore

/// Second looks at much of something: other operations on it, and other limits than the first ones.
extension ConformanceCase {
    private static let portionHint =
        "Work is done in portions, of which the last is left out, or a statement has one parameter for each record."

    static let sizeSecondCases: [ConformanceCase] = [
        size(
            "batches-one-after-the-other",
            "Batches that increment, set and delete 1,250 records of several classes leave none out, and tell how many.",
            hint: portionHint
        ) { c in
            let a = try c.session()
            a.change("insert 1,250 animals, dogs and puppies") {
                for number in 0..<1_250 {
                    switch number % 3 {
                    case 0: a.context.insert(Animal("\(number)", legs: number))
                    case 1: a.context.insert(Dog("\(number)", age: 1))
                    default: a.context.insert(Puppy("\(number)", weeks: number))
                    }
                }
            }
            try a.save()
            c.note("set the legs of all to 4, and increment them, in batches")
            try c.expect(
                try a.context.update(Animal.self) { $0.set(\.legs, to: 4) }, is: 1_250, "records that are set:")
            try c.expect(
                try a.context.update(Animal.self, where: #Predicate { $0.legs == 4 }) { $0.increment(\.legs, by: 1) },
                is: 1_250, "records that are incremented:")
            let others = FetchDescriptor<Animal>(predicate: #Predicate { $0.legs != 5 })
            try c.expect(try c.session().count(others), is: 0, "animals without five legs:")
            try a.context.delete(model: Animal.self, where: #Predicate { $0.legs == 5 })
            try c.expect(try c.session().count(FetchDescriptor<Animal>()), is: 0, "animals left:")
        },
        size(
            "conditions-beside-an-order",
            "Conditions of 600 parts or 40 deep are decided rightly beside another one, and in an ordered window.",
            hint: "Engines take expressions of some depth. Leave what is deeper or longer to the framework.",
            capability: .queries
        ) { c in
            let a = try c.session()
            for number in 0..<12 {
                a.context.insert(Entry("n\(number * 60)", group: "g\(number % 2)", rank: number * 60))
            }
            try a.save()
            let p = try PlanProbe(c)
            let (name, group, rank) = (try p.property("name"), try p.property("group"), try p.property("rank"))
            let beside = QueryExpression.compare(.equal, group, .constant(.string("g0")))
            let order = [StoreQuery.Order(rank, isAscending: false)]
            func check(_ condition: QueryExpression) throws {
                try p.check(StoreQuery("Entry", conjuncts: [condition, beside], order: order, limit: 3))
                try p.check(StoreQuery("Entry", purpose: .count, conjuncts: [beside, .not(condition)]))
            }
            let parts = (0..<600).map { place -> QueryExpression in
                .compare(.equal, rank, .constant(.integer(Int64(599 - place) + 100)))
            }
            try check(.or(parts))
            try check(.and(parts.map { .not($0) }))
            for depth in [32, 40] {
                var condition = QueryExpression.compare(.equal, name, .constant(.string("n120")))
                for level in 0..<depth {
                    let number = QueryExpression.constant(.integer(Int64(level * 60)))
                    condition =
                        level % 2 == 0
                        ? .or([.compare(.equal, rank, number), condition])
                        : .and([condition, .not(.compare(.equal, rank, number))])
                }
                try check(condition)
            }
        },
        size(
            "text-of-18-mebibytes-by-an-update",
            "Text of 18 MiB that takes the place of a short one comes back, or is refused with a class and leaves that; 9 MiB then.",
            hint: lengthHint
        ) { c in
            try replaced(
                c, [18, 9], of: \.text, make: { String(repeating: "t\u{E9}xt ", count: ($0 << 20) / 6) + "." }
            ) {
                Data($0.utf8)
            }
        },
        size(
            "data-of-18-mebibytes-by-an-update",
            "Data of 18 MiB that takes the place of short data comes back, or is refused with a class and leaves that; 9 MiB then.",
            hint: lengthHint
        ) { c in
            try replaced(c, [18, 9], of: \.bytes, make: { Data(repeating: 0xA7, count: $0 << 20) + [1] }) { $0 }
        },
        size(
            "history-of-large-batches", "The history tells each of 1,100 records that batches update and delete.",
            hint: portionHint, capability: .history
        ) { c in
            let context = try c.session().context
            for number in 0..<1_100 { context.insert(Entry("\(number)", rank: number)) }
            try context.save()
            var known = 1
            func records(_ what: String, _ body: () throws -> Void) throws {
                c.note(what)
                try body()
                let found = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
                let changes = found.dropFirst(known).flatMap(\.changes)
                try c.expect(changes.count, is: 1_100, "changes of what was done to \(what):")
                try c.expect(
                    Set(changes.map(\.changedPersistentIdentifier)).count, is: 1_100, "records of \(what):")
                known = found.count
            }
            try records("update all in a batch") { try context.update(Entry.self) { $0.set(\.group, to: "x") } }
            try records("delete all of a group in a batch") {
                try context.delete(model: Entry.self, where: #Predicate { $0.group == "x" })
            }
        },
        size(
            "members-of-many-to-many",
            "A record has 1,100 members of a list without inverse, and of one with, less one that goes.",
            hint: "Members are loaded or written in portions, or a list of them has a greatest length."
        ) { c in
            let a = try c.session()
            let (hub, reader) = (Node("hub"), Writer("reader"))
            let nodes = (0..<1_100).map { Node("\($0)") }
            let books = (0..<1_100).map { Book("\($0)") }
            a.change("insert 1,100 nodes that a hub links to, and 1,100 books of one reader") {
                a.context.insert(hub)
                a.context.insert(reader)
                for node in nodes { a.context.insert(node) }
                for book in books { a.context.insert(book) }
                hub.links = nodes
                reader.read = books
            }
            try a.save()
            func check(_ count: Int) throws {
                try checkAlsoReopened(c) { b in
                    let found = try b.first(Node.self, #Predicate { $0.name == "hub" })
                    try c.expect(Set(found.links.map(\.name)).count, is: count, "links of the hub:")
                    try c.expect(
                        Set(try b.only(Writer.self).read.map(\.title)).count, is: count, "books of the reader:")
                }
            }
            try check(1_100)
            let b = try c.session()
            let (node, book) = (
                try b.first(Node.self, #Predicate { $0.name == "1050" }),
                try b.first(Book.self, #Predicate { $0.title == "1050" })
            )
            b.change("delete one of each") {
                b.context.delete(node)
                b.context.delete(book)
            }
            try b.save()
            try check(1_099)
        },
        size(
            "refused-changes-leave-nothing",
            "A save of 1,100 insertions and 300 updates that is refused changes none, nor does the next one that goes through.",
            hint: "Each portion of a save is made to count by itself."
        ) { c in
            let a = try c.session()
            let entries = (0..<300).map { Entry("\($0)", rank: 0) }
            let gone = Entry("gone", rank: 0)
            for entry in entries + [gone] { a.context.insert(entry) }
            try a.save()
            try c.store.save(deleted: [gone])
            for entry in entries { entry.rank = 1 }
            try c.expectError("an error from the store") {
                try c.store.save(
                    inserted: (0..<1_100).map { Entry("new \($0)", rank: 2) }, updated: entries, deleted: [gone])
            }
            a.context.rollback()
            try c.session().store(Team("later"))
            try checkAlsoReopened(c) { b in
                try c.expect(try b.count(FetchDescriptor<Entry>()), is: 300, "entries:")
                let changed = FetchDescriptor<Entry>(predicate: #Predicate { $0.rank != 0 })
                try c.expect(try b.count(changed), is: 0, "entries of another rank:")
            }
        },
        size(
            "windows-and-targets-beyond-16-bits",
            "Of 66,000 records, conditions, counts and windows reach those beyond the 65,535th, and references lead to them.",
            hint: "The number of a record, of a row or of a target, or a count, is kept in 16 bits."
        ) { c in
            let count = 66_000
            let a = try c.session()
            c.note("insert \(count) badges in a batch")
            let identifiers = try a.context.insert(Badge.self, from: 0..<count) { try $0.set(\.number, to: $1) }
            try c.expect(Set(identifiers).count, is: count, "different identifiers:")
            let b = try c.session()
            let last = FetchDescriptor<Badge>(predicate: #Predicate { $0.number >= 65_990 })
            c.note("count all, fetch the last ten")
            try c.expect(try b.count(FetchDescriptor<Badge>()), is: count, "count:")
            let found = try b.context.fetch(last)
            try c.expect(found.map(\.number), is: Array(65_990..<count), "numbers of the last:")
            let person = Person("of the last", age: 1)
            let next = Badge(count)
            b.change("give a person the last badge but one, insert another badge") {
                b.context.insert(person)
                b.context.insert(next)
                person.badge = found.last
            }
            try b.save()
            let target = identifiers[count - 1]
            let d = try c.session()
            try c.expect(try d.only(Person.self).badge?.number, is: count - 1, "number of the person's badge:")
            let of = FetchDescriptor<Person>(predicate: #Predicate { $0.badge?.persistentModelID == target })
            try c.expect(try d.count(of), is: 1, "people of that badge:")
            try c.expect(
                !identifiers.contains(next.persistentModelID), "an identifier of its own for the next badge")
        },
    ]

    /// Puts a long value in the place of a short one, or the next shorter if the store says that it has no room for it.
    private static func replaced<Value>(
        _ c: CaseContext, _ mebibytes: [Int], of property: ReferenceWritableKeyPath<ValueSample, Value>,
        make: (Int) -> Value, _ bytes: (Value) -> Data
    ) throws {
        let sample = ValueSample()
        let short = sample[keyPath: property]
        try c.session().store(sample)
        for size in mebibytes {
            let stored = bytes(make(size))
            let a = try c.session()
            let found = try a.only(ValueSample.self)
            a.change("put \(stored.count) bytes in the place of few") { found[keyPath: property] = make(size) }
            var isTaken = true
            do {
                try a.save()
            } catch {
                c.note("→ \(type(of: error))")
                isTaken = false
                a.context.rollback()
                try c.expect(
                    StoreErrorClass.name(of: error) != nil, "an error with a class, or a save",
                    found: "\(type(of: error)): \(String("\(error)".prefix(400)))",
                    hint: "Let the error conform to ClassifiedStoreError, and say what the store has no room for.")
            }
            if c.subject.capabilities.contains(.reopening) { try c.reopen() }
            let read = bytes(try c.session().only(ValueSample.self)[keyPath: property])
            try c.expect(
                read == (isTaken ? stored : bytes(short)),
                "the \(isTaken ? "long value" : "short one") as it was saved",
                found: "\(read.count) bytes")
            if isTaken { return }
        }
    }

    static let longTextSecondCases: [ConformanceCase] = [
        ConformanceCase(
            "text.long-values-in-questions", level: .core,
            requirement:
                "Long texts that differ in their last character are found, counted, grouped and sorted as different ones.",
            hint:
                "Long values are compared by their beginnings. Compare whole values, or leave the condition to the framework."
        ) { c in
            let a = try c.session()
            var texts: [String] = []
            for length in [260, 1_100, 2_100, 8_200] {
                let start = String(repeating: "l", count: length)
                // The first of each pair is the greater one, so that the order of insertion is not the answer.
                texts += [start + "b", start + "a", start + "b"]
            }
            for (place, text) in texts.enumerated() { a.context.insert(Entry(text, group: "g", rank: place)) }
            try a.save()
            let b = try c.session()
            for place in stride(from: 1, to: texts.count, by: 3) {
                let text = texts[place]
                let equal = FetchDescriptor<Entry>(predicate: #Predicate { $0.name == text && $0.group == "g" })
                try c.expect(try b.context.fetch(equal).map(\.rank), is: [place], "place of the text of \(text.count):")
                let other = FetchDescriptor<Entry>(predicate: #Predicate { !($0.name == text) })
                try c.expect(
                    try b.context.fetchCount(other), is: texts.count - 1, "texts unlike that of \(text.count):")
            }
            for isForward in [true, false] {
                let order = texts.indices.sorted { left, right in
                    texts[left] == texts[right] ? left < right : (texts[left] < texts[right]) == isForward
                }
                let sorted = FetchDescriptor<Entry>(
                    sortBy: [SortDescriptor(\.group), SortDescriptor(\.name, order: isForward ? .forward : .reverse)])
                try c.expect(
                    try b.context.fetch(sorted).map(\.rank), is: order,
                    "places, \(isForward ? "upwards" : "downwards"):")
            }
            let counts = Dictionary(grouping: texts) { $0 }.mapValues(\.count)
            c.note("group by name, by the context and by the store")
            let groups = try b.context.aggregate(FetchDescriptor<Entry>(), by: \.name, .count)
            try c.expect(groups.count, is: counts.count, "groups:")
            for group in groups {
                try c.expect(
                    group.values, is: counts[group.key] ?? 0, "members of the group of a text of \(group.key.count):")
            }
            guard let stored = try AggregateProbe.stored(c, "Entry", by: ["name"], [.count], of: "name") else { return }
            try c.expect(stored.count, is: counts.count, "the store's own groups:")
        },
        ConformanceCase(
            "text.long-uniqueness-by-update", level: .core, capability: .uniqueness,
            requirement: "A store that enforces uniqueness refuses an update to a long text that another record has.",
            hint: "The constraint compares the beginning of a text, or none of a long one."
        ) { c in
            let a = try c.session()
            for length in [250, 2_100, 9_000] {
                let start = String(repeating: "u", count: length)
                let (one, two) = (
                    Account(start + "1", country: "one \(length)", number: length),
                    Account(start + "2", country: "two \(length)", number: length)
                )
                try a.store(one, two)
                a.change("the email of the second to that of the first, of \(length + 1) characters") {
                    two.email = one.email
                }
                try c.expectError("an error from the store") { try c.store.save(updated: [two]) }
                a.context.rollback()
                a.change("the email of the second to another") { two.email = start + "3" }
                try c.store.save(updated: [two])
                a.context.rollback()
            }
            try c.expect(
                try c.session().all(Account.self).map { $0.email.last.map(String.init) ?? "" },
                is: ["1", "3", "1", "3", "1", "3"], "ends of the emails:")
        },
    ]
}
