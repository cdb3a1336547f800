import MortiseCore

extension ConformanceCase {
    static let uniquenessCases: [ConformanceCase] = [
        ConformanceCase(
            "uniqueness.stored-record-is-updated", level: .core,
            requirement: "Saving a second record with the unique value of a stored one updates that one.",
            hint: "The context cannot find the stored record: the store's fetch leaves some out, or its values differ."
        ) { c in
            try c.session().store(Account("a@x", country: "NO", number: 1, owner: "old"))
            let stored = try c.session().only(Account.self).persistentModelID
            let b = try c.session()
            try b.store(
                Account("a@x", country: "SE", number: 2, owner: "new"), Account("b@x", country: "NO", number: 3))
            let found = try c.session().all(Account.self)
            try c.expect(found.map(\.email), is: ["a@x", "b@x"], "e-mail addresses:")
            try c.expect(found.map(\.owner), is: ["new", ""], "owners:")
            try c.expect(found.map(\.country), is: ["SE", "NO"], "countries:")
            try c.expect(found.first?.persistentModelID, is: stored, "the first record's identifier:")
        },
        ConformanceCase(
            "uniqueness.pending-records-are-united", level: .core,
            requirement: "Of several new records with the same unique value one is stored, with the last values.",
            hint: "The store adds the records that were merged away."
        ) { c in
            let a = try c.session()
            try a.store(
                Account("a@x", country: "NO", number: 1, owner: "first"),
                Account("a@x", country: "NO", number: 1, owner: "second"),
                Account("a@x", country: "DK", number: 9, owner: "third"))
            let found = try c.session().only(Account.self)
            try c.expect(found.owner, is: "third", "owner:")
            try c.expect(found.country, is: "DK", "country:")
        },
        ConformanceCase(
            "uniqueness.compound", level: .core,
            requirement:
                "Properties that are unique together may repeat one by one, and unite records when all are equal.",
            hint: "Each property of a compound constraint is treated as unique by itself."
        ) { c in
            try c.session().store(
                Account("a@x", country: "NO", number: 1), Account("b@x", country: "NO", number: 2),
                Account("c@x", country: "SE", number: 1))
            try c.expect(
                try c.session().all(Account.self).count, is: 3, "records that differ in one of two properties:")
            try c.session().store(Account("d@x", country: "NO", number: 2, owner: "new"))
            let found = try c.session().all(Account.self)
            try c.expect(found.map(\.email), is: ["a@x", "d@x", "c@x"], "e-mail addresses:")
            try c.expect(found.map(\.owner), is: ["", "new", ""], "owners:")
        },
        ConformanceCase(
            "uniqueness.nil-is-never-equal", level: .core,
            requirement: "Records with nil in a unique set of properties do not conflict.",
            hint: "Null is compared like a value."
        ) { c in
            try c.session().store(
                Account("a@x", country: "NO", number: nil), Account("b@x", country: "NO", number: nil))
            try c.session().store(Account("c@x", country: "NO", number: nil))
            try c.expect(
                try c.session().all(Account.self).map(\.email), is: ["a@x", "b@x", "c@x"], "e-mail addresses:")
        },
        ConformanceCase(
            "uniqueness.freed-by-deletion", level: .core,
            requirement: "A unique value is free again once its record is deleted, or has another value.",
            hint: "The index of unique values keeps what updates and deletions leave behind."
        ) { c in
            let a = try c.session()
            let first = Account("a@x", country: "NO", number: 1)
            let second = Account("b@x", country: "NO", number: 2)
            try a.store(first, second)
            a.delete(first)
            a.change("rename the second account") { second.email = "z@x" }
            try a.save()
            try a.store(Account("a@x", country: "NO", number: 1), Account("b@x", country: "NO", number: 3))
            try c.expect(
                try c.session().all(Account.self).map(\.email), is: ["z@x", "a@x", "b@x"], "e-mail addresses:")
        },
        ConformanceCase(
            "uniqueness.exchanged-values", level: .core,
            requirement: "Two stored records can exchange their unique values in one save.",
            hint: "The constraint is checked record by record instead of at the end of the save."
        ) { c in
            let a = try c.session()
            let first = Account("a@x", country: "NO", number: 1)
            let second = Account("b@x", country: "SE", number: 2)
            try a.store(first, second)
            a.change("exchange the addresses") {
                first.email = "b@x"
                second.email = "a@x"
            }
            try a.save()
            try c.expect(try c.session().all(Account.self).map(\.email), is: ["b@x", "a@x"], "e-mail addresses:")
        },
        ConformanceCase(
            "uniqueness.changed-into-a-conflict", level: .core,
            requirement: "A stored record cannot take the unique value of another: the save fails and changes nothing.",
            hint: "Updated records are not checked, or the check comes after the first write."
        ) { c in
            let a = try c.session()
            let first = Account("a@x", country: "NO", number: 1)
            let second = Account("b@x", country: "SE", number: 2)
            try a.store(first, second)
            a.change("give the second account the first one's address") { second.email = "a@x" }
            try c.expectError("an error") { try a.save() }
            try c.expect(
                try c.session().all(Account.self).map(\.email), is: ["a@x", "b@x"],
                "e-mail addresses after the save failed:")
        },
        ConformanceCase(
            "uniqueness.enforced-by-the-store", level: .core, capability: .uniqueness,
            requirement: "A store that enforces uniqueness refuses a save with two records alike, and stores neither.",
            hint: "The store lacks the constraint, or the save is not atomic."
        ) { c in
            try c.expectError("an error from the store") {
                try c.store.save(inserted: [
                    Account("same@x", country: "NO", number: 1), Account("same@x", country: "SE", number: 2),
                ])
            }
            try c.expect(try c.session().all(Account.self).count, is: 0, "accounts after the refused save:")
        },
    ]
}
