import Foundation
import MortiseCore

extension ConformanceCase {
    private static let lossHint =
        "A save returns before the next process can find its data, or only closing the store writes it."

    private static func durable(
        _ id: String, level: Level = .core, and others: [StoreCapability] = [], _ requirement: String,
        hint: String = lossHint, body: @escaping @Sendable (CaseContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "durability.\(id)", level: level, capability: .durability, and: others, requirement: requirement,
            hint: hint,
            body: body)
    }

    static let durabilityCases: [ConformanceCase] = [
        durable("insertions", "Inserted records of a save that returned survive the end of the process.") { c in
            try c.session().store(Entry("one", rank: 1), Entry("two"), Team("red"))
            try c.crash()
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["one", "two"], "names:")
            try c.expect(try c.session().all(Entry.self).map(\.rank), is: [1, nil], "ranks:")
            try c.expect(try c.session().all(Team.self).map(\.name), is: ["red"], "teams:")
        },
        durable("updates", "Updates of a save that returned survive the end of the process.") { c in
            let a = try c.session()
            let entry = Entry("one", rank: 1)
            try a.store(entry)
            a.change("rank") { entry.rank = 2 }
            try a.save()
            try c.crash()
            try c.expect(try c.session().all(Entry.self).map(\.rank), is: [2], "ranks:")
        },
        durable("deletions", "Deletions of a save that returned survive the end of the process.") { c in
            let a = try c.session()
            let entry = Entry("gone")
            try a.store(entry, Entry("kept"))
            a.delete(entry)
            try a.save()
            try c.crash()
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["kept"], "names:")
        },
        durable("relationships", "Relationships of a save that returned survive the end of the process.") { c in
            let a = try c.session()
            let ada = Person("Ada", team: Team("red"))
            ada.projects = [Project("p")]
            try a.store(ada)
            a.change("mentor") { ada.mentor = Person("Bob") }
            try a.save()
            try c.crash()
            let found = try c.session().first(Person.self, #Predicate { $0.name == "Ada" })
            try c.expect(found.team?.name, is: "red", "team:")
            try c.expect(found.projects.map(\.title), is: ["p"], "projects:")
            try c.expect(found.mentor?.pupils.map(\.name), is: ["Ada"], "pupils of the mentor:")
        },
        durable(
            "every-save", "Of several saves that returned every one survives, the last too."
        ) { c in
            let a = try c.session()
            for number in 0..<7 { try a.store(Entry("e\(number)", rank: number)) }
            try c.crash()
            try c.expect(try c.session().all(Entry.self).map(\.rank), is: (0..<7).map { $0 }, "ranks:")
        },
        durable(
            "unsaved-is-gone", "Unsaved changes are gone after the end of the process.",
            hint: "Something is written before the save."
        ) { c in
            let a = try c.session()
            let entry = Entry("one", rank: 1)
            try a.store(entry)
            a.change("rank, and do not save") { entry.rank = 2 }
            a.insert(Entry("unsaved"))
            try c.crash()
            try c.expect(try c.session().all(Entry.self).map(\.rank), is: [1], "ranks:")
        },
        durable(
            "failed-save-is-gone",
            "The changes of a failed save are not there after the end of the process.",
            hint: "The store undid the save in memory, but not in the storage."
        ) { c in
            let a = try c.session()
            let gone = Entry("gone")
            try a.store(Entry("kept"), gone)
            try c.store.save(deleted: [gone])
            try c.expectError("an error") { try c.store.save(inserted: [Entry("never")], deleted: [gone]) }
            try c.crash()
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["kept"], "names:")
        },
        durable(
            "identifiers-go-on", "After the end of the process no record gets the identifier of one that was there.",
            hint: "The counter of identifiers is written when the store is closed."
        ) { c in
            let a = try c.session()
            let gone = Entry("gone")
            try a.store(Entry("one"), gone)
            let before = gone.persistentModelID
            a.delete(gone)
            try a.save()
            try c.crash()
            let new = Entry("new")
            try c.session().store(new)
            try c.expect(
                new.persistentModelID != before, "another identifier than that of the deleted record",
                found: "\(new.persistentModelID)")
        },
        durable(
            "usable-afterwards", "After the end of the process the storage can be saved to, and ended again.",
            hint: "A lock or a temporary file of the old process is in the way."
        ) { c in
            for round in 0..<3 {
                try c.session().store(Entry("e\(round)"))
                try c.crash()
            }
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["e0", "e1", "e2"], "names:")
        },
        durable(
            "erasure", level: .full, and: [.erase], "An erased store is empty after the end of the process.",
            hint: "The erasure is written when the store is closed."
        ) { c in
            try c.session().store(Entry("old"))
            c.note("erase")
            try c.container.erase()
            try c.crash()
            try c.expect(try c.session().all(Entry.self).count, is: 0, "entries:")
        },
        durable(
            "long-run", level: .full, "After two hundred saves everything survives the end of the process.",
            hint: "A checkpoint or compaction on the way loses what came while it ran."
        ) { c in
            let a = try c.session()
            var expected: [String] = []
            for number in 0..<200 {
                let entry = Entry("e\(number)")
                a.context.insert(entry)
                try a.context.save()
                if number % 3 == 0 {
                    a.context.delete(entry)
                    try a.context.save()
                } else {
                    expected.append("e\(number)")
                }
            }
            c.note("200 saves of an insertion, every third with a deletion after it")
            try c.crash()
            try c.expect(try c.session().all(Entry.self).map(\.name), is: expected, "names:")
        },
    ]

    // MARK: Storage that fails

    private static func failing(
        _ id: String, _ requirement: String, hint: String, body: @escaping @Sendable (CaseContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "storage.\(id)", level: .full, capability: .faultInjection, requirement: requirement, hint: hint, body: body
        )
    }

    /// How many operations of the storage a save takes that the body prepares.
    private static func operations(_ c: CaseContext, of body: () throws -> Void) throws -> Int {
        let before = try c.faults.operationCount()
        try body()
        return try c.faults.operationCount() - before
    }

    static let storageCases: [ConformanceCase] = [
        failing(
            "failed-operation-fails-the-save", "A save during which a storage operation fails throws, or is whole.",
            hint: "The error of a write or a sync is ignored."
        ) { c in
            let count = try operations(c) { try c.session().store(Entry("0a"), Entry("0b")) }
            try c.expect(count > 0, "operations of the storage in a save", found: "none")
            for number in 1...count {
                let storage = try c.subject.storage()
                let one = CaseContext(case: c.conformanceCase, subject: c.subject, storage: storage)
                defer { try? one.finish() }
                try one.session().store(Entry("kept"))
                let faults = try c.require(storage.faults, "faults of the storage")
                faults.failOperation(number)
                var didThrow = false
                do { try one.session().store(Entry("new a"), Entry("new b")) } catch { didThrow = true }
                faults.failOperation(nil)
                c.note("fail operation \(number) of \(count) of a save → \(didThrow ? "an error" : "no error")")
                guard !didThrow else { continue }
                try one.crash()
                try c.expect(
                    try one.session().all(Entry.self).map(\.name), is: ["kept", "new a", "new b"],
                    "names after a save that threw nothing, and the end of the process:")
            }
        },
        failing(
            "failed-save-is-not-shown", "After a save failed because of the storage, readers see none of it.",
            hint: "Memory is changed before the storage is."
        ) { c in
            let a = try c.session()
            try a.store(Entry("kept"))
            try c.faults.failOperation(1)
            c.note("fail the next operation of the storage")
            try c.expectError("an error of the storage") { try a.store(Entry("never")) }
            try c.faults.failOperation(nil)
            // A store that does not know any more what is on its storage may refuse to be read; it may not be wrong.
            if let names = try? c.session().all(Entry.self).map(\.name) {
                try c.expect(names, is: ["kept"], "names that another context sees:")
            }
        },
        failing(
            "reopens-after-a-failure", "After a save failed because of the storage, the storage opens again as it was.",
            hint: "Half of the failed save is on the storage, or a temporary file is in the way."
        ) { c in
            let count = try operations(c) { try c.session().store(Entry("0a"), Entry("0b")) }
            for number in 1...max(count, 1) {
                let storage = try c.subject.storage()
                let one = CaseContext(case: c.conformanceCase, subject: c.subject, storage: storage)
                defer { try? one.finish() }
                try one.session().store(Entry("kept"))
                let faults = try c.require(storage.faults, "faults of the storage")
                faults.failOperation(number)
                let didThrow: Bool
                do {
                    try one.session().store(Entry("new a"), Entry("new b"))
                    didThrow = false
                } catch { didThrow = true }
                faults.failOperation(nil)
                c.note("fail operation \(number) of \(count), reopen")
                try one.reopen()
                let names = try one.session().all(Entry.self).map(\.name)
                try c.expect(
                    names == ["kept", "new a", "new b"] || (didThrow && names == ["kept"]),
                    didThrow ? "kept alone, or the whole save" : "the whole save", found: "\(names)")
            }
        },
        failing(
            "goes-on-after-a-failure",
            "After a failed save the next one succeeds, or says that the store has to be reopened.",
            hint: "The failed save has left the store in between, and the next one writes on top of it."
        ) { c in
            let a = try c.session()
            try a.store(Entry("kept"))
            try c.faults.failOperation(1)
            c.note("fail the next operation of the storage")
            try c.expectError("an error of the storage") { try a.store(Entry("failed")) }
            try c.faults.failOperation(nil)
            let b = try c.session()
            var names = ["kept"]
            do {
                try b.store(Entry("next"))
                names.append("next")
            } catch {
                c.note("→ \(type(of: error)): \(error)")
                try c.expect(
                    "\(error)".localizedStandardContains("open"), "an error that says to open the store again",
                    found: "\(error)")
                try c.reopen()
                try c.session().store(Entry("next"))
                names.append("next")
            }
            try c.expect(try c.session().all(Entry.self).map(\.name), is: names, "names:")
            try c.crash()
            try c.expect(
                try c.session().all(Entry.self).map(\.name), is: names, "names after the end of the process:")
        },
        failing(
            "error-of-the-storage-is-told", "If the storage fails a save, the error describes the failure in words.",
            hint: "The error of the storage is replaced by one that says nothing."
        ) { c in
            let a = try c.session()
            try a.store(Entry("kept"))
            try c.faults.failOperation(1)
            c.note("fail the next operation of the storage")
            try c.expectError(
                "an error of several words", matching: { "\($0)".split(separator: " ").count > 2 }
            ) { try a.store(Entry("failed")) }
            try c.faults.failOperation(nil)
        },
        failing(
            "power-loss-at-every-operation", "Losing power after any operation of a save leaves all of it or nothing.",
            hint: "The old state is changed in place, or the new one counts before it is whole."
        ) { c in
            let a = try c.session()
            try a.store(Entry("kept", rank: 1))
            let before = try c.faults.operationCount()
            let entry = try a.only(Entry.self)
            a.change("an update and two insertions") { entry.rank = 2 }
            a.insert(Entry("new a"), Entry("new b"))
            try a.save()
            let after = try c.faults.operationCount()
            let old = ["kept 1"]
            let new = ["kept 2", "new a nil", "new b nil"]
            for operation in before...after {
                let storage = try c.subject.storage()
                let one = CaseContext(case: c.conformanceCase, subject: c.subject, storage: storage)
                defer { try? one.finish() }
                let session = try one.session()
                try session.store(Entry("kept", rank: 1))
                let entry = try session.only(Entry.self)
                entry.rank = 2
                session.insert(Entry("new a"), Entry("new b"))
                try session.save()
                c.note("lose power after operation \(operation) of \(before)...\(after)")
                try one.crash(after: operation)
                let found = try one.session().all(Entry.self).map { "\($0.name) \($0.rank.map(String.init) ?? "nil")" }
                try c.expect(
                    found == new || (found == old && operation < after),
                    "\(operation < after ? "\(old) or " : "")\(new)",
                    found: "\(found)")
            }
        },
    ]
}
