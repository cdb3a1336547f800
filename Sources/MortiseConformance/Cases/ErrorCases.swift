import Foundation
import MortiseCore

extension ConformanceCase {
    /// Whether an error says more than its number.
    private static func expectGood(
        _ c: CaseContext, naming words: [String], _ body: () throws -> Void
    ) throws {
        do {
            try body()
        } catch let failure as ConformanceFailure {
            throw failure
        } catch {
            c.note("→ \(type(of: error)): \(error)")
            let text = "\(error)"
            for word in words {
                try c.expect(text.contains(word), "an error that names \(word)", found: text)
            }
            return
        }
        throw c.failure(expected: "an error", found: "none")
    }

    /// Whether a closed store answers a read as it did before, or says that it is closed.
    private static func expectRightOrClosed(_ c: CaseContext, _ what: String, _ read: () throws -> Bool) throws {
        do {
            try c.expect(try read(), "\(what), as before the store was closed, or an error that says closed")
        } catch let failure as ConformanceFailure {
            throw failure
        } catch {
            c.note("→ \(type(of: error)): \(error)")
            try c.expect("\(error)".contains("closed"), "an error that names closed", found: "\(error)")
        }
    }

    private static let namingHint =
        "Name the entity and the record in the error: its reader has no debugger."

    static let errorCases: [ConformanceCase] = [
        ConformanceCase(
            "errors.missing-record-is-named", level: .core,
            requirement: "The error of an update of a record that is gone names its entity.", hint: namingHint
        ) { c in
            let a = try c.session()
            let gone = Entry("gone")
            try a.store(gone)
            try c.store.save(deleted: [gone])
            gone.rank = 1
            try expectGood(c, naming: ["Entry"]) { try c.store.save(updated: [gone]) }
            a.context.rollback()
        },
        ConformanceCase(
            "errors.missing-deletion-is-named", level: .full,
            requirement: "The error of a deletion of a record that is gone names its entity.", hint: namingHint
        ) { c in
            let a = try c.session()
            let gone = Team("gone")
            try a.store(gone)
            try c.store.save(deleted: [gone])
            try expectGood(c, naming: ["Team"]) { try c.store.save(deleted: [gone]) }
        },
        ConformanceCase(
            "errors.are-of-the-store", level: .core,
            requirement: "A refused save throws a type of the store's or the framework's, not a bare NSError.",
            hint: "Wrap what a library throws in an error of your own, with what you were about to do."
        ) { c in
            let a = try c.session()
            let gone = Entry("gone")
            try a.store(gone)
            try c.store.save(deleted: [gone])
            try c.expectError(
                "an error of a Swift type", matching: { !("\(type(of: $0))".contains("NSError")) }
            ) { try c.store.save(deleted: [gone]) }
        },
        ConformanceCase(
            "errors.are-said-in-words", level: .full,
            requirement: "A refused save throws an error that is a sentence, or a case with its particulars.",
            hint: "The error is an enum case without associated values."
        ) { c in
            let a = try c.session()
            let gone = Entry("gone")
            try a.store(gone)
            try c.store.save(deleted: [gone])
            try c.expectError(
                "an error of more than a word", matching: { "\($0)".contains { $0 == " " || $0 == "(" } }
            ) { try c.store.save(deleted: [gone]) }
        },
        ConformanceCase(
            "errors.same-twice", level: .full,
            requirement: "A refused save that is tried again is refused with the same error.",
            hint: "The first failure leaves a state behind that changes the second."
        ) { c in
            let a = try c.session()
            let gone = Entry("gone")
            try a.store(gone, Entry("kept"))
            try c.store.save(deleted: [gone])
            var errors: [String] = []
            for _ in 0..<2 {
                do {
                    try c.store.save(inserted: [Entry("never")], deleted: [gone])
                    errors.append("none")
                } catch { errors.append("\(type(of: error)): \(error)") }
            }
            c.note("→ \(errors[0])")
            try c.expect(errors[0] != "none", "an error", found: "none")
            try c.expect(errors[1], is: errors[0], "the second error:")
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["kept"], "names:")
        },
        ConformanceCase(
            "errors.unique-values-are-named", level: .core, capability: .uniqueness,
            requirement: "The error of two records with the same unique value names the entity and the property.",
            hint: namingHint
        ) { c in
            try expectGood(c, naming: ["Account", "email"]) {
                try c.store.save(inserted: [
                    Account("same@x", country: "NO", number: 1), Account("same@x", country: "SE", number: 2),
                ])
            }
        },
        ConformanceCase(
            "errors.missing-target-is-named", level: .core, capability: .referentialIntegrity,
            requirement: "The error of a reference to nothing names the property.", hint: namingHint
        ) { c in
            let a = try c.session()
            let team = Team("gone")
            try a.store(team)
            let person = Person("Ada", team: team)
            try c.store.save(deleted: [team])
            try expectGood(c, naming: ["team"]) { try c.store.save(inserted: [person]) }
            a.context.rollback()
        },
        ConformanceCase(
            "errors.closed-store-says-so", level: .core, capability: .closing,
            requirement:
                "A store that was closed throws that it is closed: for writing, and for each read that it cannot answer rightly.",
            hint: "The store continues in memory, answers with nothing, or ends the process."
        ) { c in
            let a = try c.session()
            let entry = Entry("one")
            try a.store(entry)
            let store = try c.store
            let container = try c.container
            c.note("close the container, use the store itself")
            try container.close()
            try expectGood(c, naming: ["closed"]) { try store.save(inserted: [Entry("never")]) }
            c.note("store.close, once more")
            try store.store.close()
            try expectGood(c, naming: ["closed"]) { try store.save(inserted: [Entry("never")]) }
            try expectRightOrClosed(c, "records") {
                try store.records(Entry.self).map(\.identifier) == [entry.persistentModelID]
            }
            try expectRightOrClosed(c, "a count of 1") { try store.count(Entry.self) == 1 }
            try expectRightOrClosed(c, "identifiers") { try store.identifiers(Entry.self) == [entry.persistentModelID] }
            try expectRightOrClosed(c, "no team") { try store.records(Team.self).isEmpty }
            try c.reopen()
            if c.subject.capabilities.contains(.reopening) {
                try c.expect(try c.session().all(Entry.self).map(\.name), is: ["one"], "names after reopening:")
            }
        },
    ]
}
