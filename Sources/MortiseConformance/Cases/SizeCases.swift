import Foundation
import MortiseCore

/// Much of something at once: where engines have limits, stores work in portions, and numbers have too few bits.
extension ConformanceCase {
    static func size(
        _ id: String, _ requirement: String, hint: String, capability: StoreCapability? = nil,
        body: @escaping @Sendable (CaseContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "sizes.\(id)", level: .full, capability: capability, requirement: requirement, hint: hint, isLarge: true,
            body: body)
    }

    private static let portionHint =
        "A save is carried out in portions, or by a statement with one parameter for each record, of which there is a limit."
    private static let listHint =
        "A list becomes one parameter or one expression for each value, of which there is a limit. Look the values up in a set or a "
        + "table of their own, or claim residual beyond the limit."
    static let lengthHint = "A column, a buffer or a message has a greatest length."

    /// Checks in a fresh context, and in another after reopening if the subject claims that.
    static func checkAlsoReopened(_ c: CaseContext, _ body: (CaseSession) throws -> Void) throws {
        try body(c.session())
        guard c.subject.capabilities.contains(.reopening) else { return }
        try c.reopen()
        try body(c.session())
    }

    /// Compares long lists, and names the first place where they differ.
    static func expect<Element: Equatable>(
        _ found: [Element], are expected: [Element], _ what: String, _ c: CaseContext
    ) throws {
        if found == expected { return }
        if found.count != expected.count {
            throw c.failure(expected: "\(expected.count) \(what)", found: "\(found.count)")
        }
        let place = zip(found, expected).prefix { $0 == $1 }.count
        throw c.failure(
            expected: "\(what) with \(expected[place]) at place \(place)", found: "\(found[place]) there")
    }

    private static func insert(_ count: Int, _ a: CaseSession, _ make: (Int) -> Entry) -> [Entry] {
        let entries = (0..<count).map(make)
        a.change("insert \(count) entries") { for entry in entries { a.context.insert(entry) } }
        return entries
    }

    static let sizeCases: [ConformanceCase] = saveSizes + partSizes + listSizes + valueSizes + numberSizes

    // MARK: Records in one save

    private static let saveSizes: [ConformanceCase] = [
        size("updates-in-one-save", "1,200 updates in one save are all stored.", hint: portionHint) { c in
            let a = try c.session()
            let entries = insert(1_200, a) { Entry("\($0)", rank: -1) }
            try a.save()
            a.change("the rank of each") { for (place, entry) in entries.enumerated() { entry.rank = place } }
            try a.save()
            try checkAlsoReopened(c) {
                try expect(try $0.all(Entry.self).map(\.rank), are: Array(0..<1_200), "ranks", c)
            }
        },
        size("deletions-in-one-save", "1,200 deletions in one save are all carried out.", hint: portionHint) { c in
            let a = try c.session()
            let entries = insert(1_210, a) { Entry("\($0)", rank: $0) }
            try a.save()
            a.change("delete all but each 121st") {
                for (place, entry) in entries.enumerated() where place % 121 != 0 { a.context.delete(entry) }
            }
            try a.save()
            let left = (0..<10).map { $0 * 121 }
            try checkAlsoReopened(c) { b in
                try c.expect(try b.count(FetchDescriptor<Entry>()), is: 10, "entries left:")
                try c.expect(try b.all(Entry.self).map(\.rank), is: left, "ranks of what is left:")
            }
        },
        size(
            "insertions-in-one-save", "6,000 insertions in one save are all stored, in order, and fetched all at once.",
            hint: portionHint
        ) { c in
            let a = try c.session()
            let entries = insert(6_000, a) { Entry("entry \($0)", rank: $0) }
            try a.save()
            try c.expect(Set(entries.map(\.persistentModelID)).count, is: 6_000, "different identifiers:")
            try checkAlsoReopened(c) { b in
                try expect(try b.all(Entry.self).map(\.rank), are: Array(0..<6_000), "ranks", c)
                try c.expect(try b.count(FetchDescriptor<Entry>()), is: 6_000, "count:")
                var window = FetchDescriptor<Entry>(sortBy: [SortDescriptor(\.rank, order: .reverse)])
                (window.fetchOffset, window.fetchLimit) = (5_100, 3)
                try c.expect(try b.fetch(window).map(\.rank), is: [899, 898, 897], "ranks in a window far behind:")
            }
        },
        size(
            "changes-of-all-kinds", "1,100 insertions, updates and deletions of one save are all stored.",
            hint: portionHint
        ) { c in
            let a = try c.session()
            let entries = insert(2_200, a) { Entry("\($0)", rank: $0) }
            try a.save()
            _ = insert(1_100, a) { Entry("\($0)", rank: 10_000 + $0) }
            a.change("delete each second, and change the others") {
                for (place, entry) in entries.enumerated() {
                    if place % 2 == 0 { a.context.delete(entry) } else { entry.rank = -place }
                }
            }
            try a.save()
            let expected = (0..<1_100).map { -2 * $0 - 1 } + (0..<1_100).map { 10_000 + $0 }
            try checkAlsoReopened(c) { try expect(try $0.all(Entry.self).map(\.rank), are: expected, "ranks", c) }
        },
        size(
            "refused-save-leaves-nothing", "A save of 1,200 insertions that is refused leaves none of them.",
            hint: "Each portion of a save is made to count by itself."
        ) { c in
            let gone = Entry("gone")
            try c.session().store(gone)
            try c.store.save(deleted: [gone])
            try c.expectError("an error from the store") {
                try c.store.save(inserted: (0..<1_200).map { Entry("\($0)") }, deleted: [gone])
            }
            try checkAlsoReopened(c) { try c.expect(try $0.count(FetchDescriptor<Entry>()), is: 0, "entries:") }
        },
        size(
            "members-of-one-record", "A record has 1,200 members on either side of a relationship, and loses them all.",
            hint: "Members are loaded or cleared in portions, or a list of them has a greatest length."
        ) { c in
            let a = try c.session()
            let (team, leader) = (Team("all"), Person("leader"))
            let people = (0..<1_200).map { (place: Int) in Person("\(place)", age: place) }
            let projects = (0..<1_200).map { Project("\($0)") }
            a.change("insert 1,200 people in a team, and a leader of 1,200 projects") {
                for person in people { a.context.insert(person) }
                a.context.insert(leader)
                team.members = people
                leader.projects = projects
            }
            try a.save()
            try checkAlsoReopened(c) { b in
                try expect(
                    try b.only(Team.self).members.map { $0.age ?? -1 }, are: Array(0..<1_200), "members' ages", c)
                let found = try b.first(Person.self, #Predicate { $0.name == "leader" })
                try c.expect(found.projects.count, is: 1_200, "projects of the leader:")
                let led = FetchDescriptor<Project>(predicate: #Predicate { !$0.people.isEmpty })
                try c.expect(try b.count(led), is: 1_200, "projects that are led:")
            }
            let b = try c.session()
            b.delete(try b.only(Team.self))
            try b.save()
            try checkAlsoReopened(c) { b in
                let free = FetchDescriptor<Person>(predicate: #Predicate { $0.team == nil })
                try c.expect(try b.count(free), is: 1_201, "people without a team:")
            }
        },
        size("batches", "Batches that update and delete 1,500 records leave none out.", hint: portionHint) { c in
            let a = try c.session()
            _ = insert(1_600, a) { Entry("\($0)", group: $0 < 1_500 ? "x" : "y", rank: $0) }
            try a.save()
            c.note("update and delete 1,500 of them in batches")
            let updated = try a.context.update(Entry.self, where: #Predicate { $0.group == "x" }) {
                $0.set(\.rank, to: 7)
            }
            try c.expect(updated, is: 1_500, "records that the update counts:")
            let left = FetchDescriptor<Entry>(predicate: #Predicate { $0.group == "x" && $0.rank != 7 })
            try c.expect(try c.session().count(left), is: 0, "records that were not updated:")
            try a.context.delete(model: Entry.self, where: #Predicate { $0.group == "x" })
            try checkAlsoReopened(c) { b in
                try expect(try b.all(Entry.self).map(\.rank), are: Array(1_500..<1_600), "ranks of what is left", c)
            }
        },
        size(
            "history-of-a-large-save", "The history tells each of 1,200 changes of a save.", hint: portionHint,
            capability: .history
        ) { c in
            let a = try c.session()
            let entries = insert(1_200, a) { Entry("\($0)") }
            try a.save()
            a.change("the rank of each") { for entry in entries { entry.rank = 1 } }
            try a.save()
            a.change("delete each") { for entry in entries { a.context.delete(entry) } }
            try a.save()
            c.note("fetch the history")
            let found = try a.context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
            try c.expect(found.map(\.changes.count), is: [1_200, 1_200, 1_200], "changes of each save:")
            for transaction in found {
                let records = Set(transaction.changes.map(\.changedPersistentIdentifier))
                try c.expect(records.count, is: 1_200, "different records:")
            }
        },
    ]

    // MARK: Parts of one condition

    private static let partSizes: [ConformanceCase] = [
        size(
            "condition-of-1000-parts",
            "A condition of 1,000 parts, any or each of which has to hold, is decided rightly.",
            hint:
                "Engines take expressions of some depth, and AND and OR of many parts are deep for them. Leave them to the framework.",
            capability: .queries
        ) { c in
            let a = try c.session()
            _ = insert(12, a) { Entry("name \($0 * 100)", group: "g\($0 % 2)", rank: $0 * 100) }
            try a.save()
            let p = try PlanProbe(c)
            let (name, rank) = (try p.property("name"), try p.property("rank"))
            let parts = (0..<1_000).map { place -> QueryExpression in
                place % 2 == 0
                    ? .compare(.equal, rank, .constant(.integer(Int64(place))))
                    : .compare(.equal, name, .constant(.string("name \(place)")))
            }
            for condition in [QueryExpression.or(parts), .not(.or(parts)), .and(parts.map { .not($0) })] {
                try p.check(StoreQuery("Entry", conjuncts: [condition]))
                try p.check(StoreQuery("Entry", purpose: .count, conjuncts: [condition]))
            }
            try p.check(StoreQuery("Entry", conjuncts: parts.map { .not($0) }))
        },
        size(
            "condition-100-deep", "A condition whose parts are 100 deep is decided rightly.",
            hint: "Parsers have room for some open parentheses. Leave what is deeper to the framework.",
            capability: .queries
        ) { c in
            let a = try c.session()
            _ = insert(12, a) { Entry("name \($0)", group: "g\($0 % 2)", rank: $0) }
            try a.save()
            let p = try PlanProbe(c)
            let (group, rank) = (try p.property("group"), try p.property("rank"))
            // Mixed, and each kind of part alone.
            for (shape, depth) in (0..<4).flatMap({ shape in [9, 10, 11, 12, 20, 50, 100].map { (shape, $0) } }) {
                var condition = QueryExpression.compare(.equal, group, .constant(.string("g1")))
                for level in 0..<depth {
                    let number = QueryExpression.constant(.integer(Int64(level % 12)))
                    condition =
                        switch shape == 0 ? level % 3 : shape - 1 {
                        case 0: .or([condition, .compare(.equal, rank, number)])
                        case 1: .and([.compare(.notEqual, rank, number), condition])
                        default: .not(condition)
                        }
                }
                try p.check(StoreQuery("Entry", conjuncts: [condition]))
                try p.check(StoreQuery("Entry", purpose: .count, conjuncts: [.not(condition)]))
            }
        },
    ]

    // MARK: Values in one condition

    /// Where limits lie, and the portions that stores make because of them.
    private static func places(below count: Int) -> [Int] {
        let limits = [
            1, 100, 127, 128, 255, 256, 499, 500, 512, 999, 1_000, 1_024, 1_999, 2_000, 2_048, 4_096, 8_192, 10_000,
            16_384,
            32_766, 32_767, 32_768, 50_000, 65_534, 65_535, 65_536, count,
        ]
        return Set(limits.flatMap { [$0 - 1, $0] }.filter { (0..<count).contains($0) }).sorted()
    }

    private static let listSizes: [ConformanceCase] = [
        size("list-of-2500-texts", "A property is looked for among 2,500 captured texts.", hint: listHint) { c in
            let texts = (0..<2_500).map { "name \($0)" }
            let wanted = places(below: texts.count)
            let a = try c.session()
            a.change("insert \(wanted.count) entries that are in the list, and three that are not") {
                for place in wanted { a.context.insert(Entry(texts[place], group: "in")) }
                for name in ["", "name 2500", "Name 1"] { a.context.insert(Entry(name, group: "out")) }
            }
            try a.save()
            let b = try c.session()
            c.note("fetch what is in the list, and what is not")
            let among = FetchDescriptor<Entry>(predicate: #Predicate { texts.contains($0.name) })
            try expect(try b.context.fetch(among).map(\.name), are: wanted.map { texts[$0] }, "names", c)
            try c.expect(try b.context.fetchCount(among), is: wanted.count, "count of them:")
            let others = FetchDescriptor<Entry>(predicate: #Predicate { !texts.contains($0.name) })
            try c.expect(try b.context.fetch(others).map(\.name), is: ["", "name 2500", "Name 1"], "the other names:")
            let both = FetchDescriptor<Entry>(
                predicate: #Predicate { $0.group == "in" && texts.contains($0.name) && $0.name != "name 0" })
            try c.expect(try b.context.fetchCount(both), is: wanted.count - 1, "count, with conditions beside it:")
        },
        size("list-of-70000-numbers", "A property is looked for among 70,000 captured numbers.", hint: listHint) { c in
            let numbers = (0..<70_000).map { $0 * 2 + 1 }
            let wanted = places(below: numbers.count)
            let a = try c.session()
            a.change("insert \(wanted.count) badges that are in the list, and three that are not") {
                for place in wanted { a.context.insert(Badge(numbers[place])) }
                for number in [0, -1, 140_001] { a.context.insert(Badge(number)) }
            }
            try a.save()
            let b = try c.session()
            c.note("fetch what is in the list, and what is not")
            let among = FetchDescriptor<Badge>(predicate: #Predicate { numbers.contains($0.number) })
            try expect(try b.context.fetch(among).map(\.number), are: wanted.map { numbers[$0] }, "numbers", c)
            let others = FetchDescriptor<Badge>(predicate: #Predicate { !numbers.contains($0.number) })
            try c.expect(try b.context.fetch(others).map(\.number), is: [0, -1, 140_001], "the other numbers:")
        },
        size("list-of-70000-identifiers", "Records are fetched by 70,000 identifiers.", hint: listHint) { c in
            let a = try c.session()
            let wanted = places(below: 70_000)
            let badges = wanted.map { Badge($0) }
            let other = Badge(-1)
            a.change("insert \(badges.count) badges that are in the list, and one that is not") {
                for badge in badges { a.context.insert(badge) }
                a.context.insert(other)
            }
            try a.save()
            let store = try c.store.identifier
            var identifiers = (0..<70_000).map {
                PersistentIdentifier.numbered(1 << 40 + UInt64($0), storeIdentifier: store, entityName: "Badge")
            }
            for (place, badge) in zip(wanted, badges) { identifiers[place] = badge.persistentModelID }
            let list = identifiers
            let b = try c.session()
            c.note("fetch what is in the list, and what is not")
            let among = FetchDescriptor<Badge>(predicate: #Predicate { list.contains($0.persistentModelID) })
            try expect(try b.context.fetch(among).map(\.number), are: wanted, "numbers", c)
            try c.expect(try b.context.fetchCount(among), is: wanted.count, "count of them:")
            let others = FetchDescriptor<Badge>(predicate: #Predicate { !list.contains($0.persistentModelID) })
            try c.expect(try b.context.fetch(others).map(\.number), is: [-1], "the other number:")
        },
    ]

    // MARK: Numbers of records

    private static let numberSizes: [ConformanceCase] = [
        size(
            "records-beyond-16-bits",
            "70,000 records are stored at once, those that follow are themselves, and are found among 70,000 identifiers.",
            hint: "The number of a record, of a row or of a target is kept in 16 bits, or a list has a greatest length."
        ) { c in
            let count = 70_000
            let a = try c.session()
            c.note("insert \(count) badges in a batch")
            let identifiers = try a.context.insert(Badge.self, from: 0..<count) { try $0.set(\.number, to: $1) }
            try c.expect(Set(identifiers).count, is: count, "different identifiers:")
            let all = try c.session()
            c.note("fetch the identifiers of all")
            try expect(try all.context.fetchIdentifiers(FetchDescriptor<Badge>()), are: identifiers, "identifiers", c)
            try checkAlsoReopened(c) { b in
                try c.expect(try b.count(FetchDescriptor<Badge>()), is: count, "records that are counted:")
                let places = [65_534, 65_535, 65_536, count - 1]
                let there = FetchDescriptor<Badge>(predicate: #Predicate { places.contains($0.number) })
                c.note("fetch the badges of the numbers \(places)")
                let found = try b.context.fetch(there)
                try c.expect(found.map(\.number), is: places, "numbers where 16 bits end:")
                try c.expect(
                    found.map(\.persistentModelID), is: places.map { identifiers[$0] }, "identifiers where 16 bits end:"
                )
            }
            // Few are left, so that a store that hands out all its records for every fetch is not asked for 70,000 each time.
            c.note("erase them, and go on")
            if c.subject.capabilities.contains(.erase) {
                try c.container.erase()
            } else {
                try c.session().context.delete(model: Badge.self)
            }
            let writer = try c.session()
            let badges = (0..<300).map { Badge($0) }
            let people = stride(from: 0, to: 300, by: 50).map { (place: Int) in Person("\(place)", age: place) }
            writer.change("insert \(badges.count) badges, and \(people.count) people with some of them") {
                for badge in badges { writer.context.insert(badge) }
                for person in people {
                    writer.context.insert(person)
                    person.badge = badges[person.age ?? 0]
                }
            }
            try writer.save()
            let later = badges.map(\.persistentModelID)
            try c.expect(
                Set(later).isDisjoint(with: identifiers), "identifiers that were not used before", found: "used ones")
            try checkAlsoReopened(c) { b in
                let found = try b.all(Badge.self)
                try expect(found.map(\.number), are: Array(0..<300), "numbers of badges", c)
                try expect(found.map(\.persistentModelID), are: later, "identifiers of badges", c)
                try c.expect(
                    try b.all(Person.self).map { $0.badge?.number }, is: people.map(\.age),
                    "numbers of people's badges:")
                c.note("fetch by the identifiers of all there were")
                let ever = identifiers + later
                let among = FetchDescriptor<Badge>(predicate: #Predicate { ever.contains($0.persistentModelID) })
                try expect(try b.context.fetch(among).map(\.number), are: Array(0..<300), "badges by identifier", c)
            }
            let b = try c.session()
            let changed: Badge = try b.context.existingModel(for: later[299])
            let deleted: Badge = try b.context.existingModel(for: later[150])
            b.change("number of the last") { changed.number = -1 }
            b.delete(deleted)
            try b.save()
            let expected = (0..<300).filter { $0 != 150 }.map { $0 == 299 ? -1 : $0 }
            try checkAlsoReopened(c) { b in
                try expect(try b.all(Badge.self).map(\.number), are: expected, "numbers of badges at last", c)
                try c.expect(
                    try b.all(Person.self).map { $0.badge?.number }, is: people.map { $0.age == 150 ? nil : $0.age },
                    "numbers of people's badges at last:")
            }
        }
    ]
}
