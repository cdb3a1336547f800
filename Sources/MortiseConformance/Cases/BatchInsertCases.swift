import Foundation
import MortiseCore

/// Batch inserts: many records in one transaction, without models.
extension ConformanceCase {
    static let batchInsertCases: [ConformanceCase] = [
        ConformanceCase(
            "batch.insert-in-order", level: .core,
            requirement:
                "insert(_:from:) stores a record for each element and returns their identifiers in that order.",
            hint: "The identifiers are returned in an order that is not that of the elements."
        ) { c in
            let a = try c.session()
            c.note("insert 5 entries in a batch")
            let names = ["e", "d", "c", "b", "a"]
            let identifiers = try a.context.insert(Entry.self, from: names) { record, name in
                try record.set(\.name, to: name)
                try record.set(\.group, to: "g\(name)")
                try record.set(\.score, to: 0.5)
                try record.set(\.stamp, to: Date(timeIntervalSinceReferenceDate: 7.25))
            }
            try c.expect(identifiers.map(\.isTemporary), is: names.map { _ in false }, "whether they are temporary:")
            let entries = try c.session().all(Entry.self)
            try c.expect(entries.map(\.name), is: names, "names in the order of insertion:")
            try c.expect(entries.map(\.group), is: names.map { "g\($0)" }, "groups:")
            try c.expect(entries.map(\.rank), is: names.map { _ in nil }, "ranks, which were not set:")
            try c.expect(
                entries.map(\.stamp.timeIntervalSinceReferenceDate), is: names.map { _ in 7.25 }, "stamps:")
            let found = try identifiers.map { identifier in
                try c.require(
                    entries.first { $0.persistentModelID == identifier }, "an entry with the identifier \(identifier)")
            }
            try c.expect(found.map(\.name), is: names, "names of the records by identifier:")
        },
        ConformanceCase(
            "batch.insert-many", level: .full,
            requirement: "A batch of thousands of records is stored whole and in order.",
            hint: "The storage limits how much it takes at once, and the rest is left out."
        ) { c in
            let count = 2_500
            c.note("insert \(count) badges in a batch")
            let identifiers = try c.session().context.insert(Badge.self, from: 0..<count) { record, number in
                try record.set(\.number, to: number)
            }
            try c.expect(Set(identifiers).count, is: count, "identifiers:")
            let b = try c.session()
            try c.expect(try b.count(FetchDescriptor<Badge>()), is: count, "count:")
            try c.expect(try b.all(Badge.self).map(\.number) == Array(0..<count), "every number once and in order")
        },
        ConformanceCase(
            "batch.insert-of-unique-values", level: .core,
            requirement:
                "A record of a batch with the unique values of a stored record updates that record with what was set.",
            hint: "Batches bypass the check of unique values."
        ) { c in
            let a = try c.session()
            try a.store(Account("a@x", country: "NO", number: 1, owner: "Ada"))
            c.note("insert two accounts in a batch, one with an email that there is")
            let identifiers = try a.context.insert(Account.self, from: ["a@x", "b@x"]) { record, email in
                try record.set(\.email, to: email)
                try record.set(\.country, to: "SE")
                try record.set(\.owner, to: "new")
            }
            let accounts = try c.session().all(Account.self)
            try c.expect(accounts.map(\.email), is: ["a@x", "b@x"], "emails:")
            try c.expect(accounts.map(\.country), is: ["SE", "SE"], "countries:")
            try c.expect(accounts.map(\.number), is: [1, nil], "numbers, which were not set:")
            try c.expect(accounts.map(\.persistentModelID), is: identifiers, "identifiers:")
        },
        ConformanceCase(
            "batch.insert-with-relationships", level: .core,
            requirement: "Records of a batch can relate to stored ones, and the other side follows.",
            hint: "Relationships of records without a model are ignored."
        ) { c in
            let a = try c.session()
            let team = Team("red")
            try a.store(team)
            c.note("insert two people of the team in a batch")
            try a.context.insert(Person.self, from: ["Ada", "Bob"]) { record, name in
                try record.set(\.name, to: name)
                try record.set(\.team, to: team)
            }
            let b = try c.session()
            try c.expect(try b.all(Person.self).map { $0.team?.name }, is: ["red", "red"], "teams:")
            try c.expect(try b.only(Team.self).members.map(\.name), is: ["Ada", "Bob"], "members:")
        },
        ConformanceCase(
            "batch.insert-survives-a-crash", level: .full, capability: .durability,
            requirement: "The records of a batch that has returned survive the end of the process.",
            hint: "A large save is written later, or by another thread."
        ) { c in
            c.note("insert 40 badges in a batch")
            let identifiers = try c.session().context.insert(Badge.self, from: 0..<40) { record, number in
                try record.set(\.number, to: number)
            }
            try c.crash()
            let badges = try c.session().all(Badge.self)
            try c.expect(badges.map(\.number), is: Array(0..<40), "numbers after the crash:")
            try c.expect(badges.map(\.persistentModelID), is: identifiers, "identifiers after the crash:")
        },
        ConformanceCase(
            "batch.insert-with-failing-storage", level: .full, capability: .faultInjection,
            requirement: "A batch of new records that the storage refuses throws, and no reader sees any of it.",
            hint: "Memory is changed before the storage is."
        ) { c in
            let a = try c.session()
            try a.store(Badge(-1))
            try c.faults.failOperation(1)
            c.note("fail the next operation of the storage; insert 40 badges in a batch")
            try c.expectError("an error of the storage") {
                try a.context.insert(Badge.self, from: 0..<40) { record, number in
                    try record.set(\.number, to: number)
                }
            }
            try c.faults.failOperation(nil)
            // A store that does not know any more what is on its storage may refuse to be read; it may not be wrong.
            if let numbers = try? c.session().all(Badge.self).map(\.number) {
                try c.expect(numbers, is: [-1], "numbers after the insertion failed:")
            }
        },
    ]
}
