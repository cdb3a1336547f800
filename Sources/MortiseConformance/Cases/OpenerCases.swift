import Foundation
import MortiseCore

// Two who open one storage at once: both saves are there, or one of them is told why not.

extension ConformanceCase {
    static let openerCases: [ConformanceCase] = [
        ConformanceCase(
            "openers.second-in-the-process", level: .core, capability: .reopening,
            requirement:
                "A storage that is open refuses a second opening with an error of class locked, or both openings' saves "
                + "are there.",
            hint:
                "Each opening keeps records of its own and writes all of them. Lock the storage, or check before a save that "
                + "it is as it was read. A lock of fcntl does not exclude the own process; one of flock does."
        ) { c in
            let a = try c.session()
            try a.store(Entry("before"))
            var saved = ["before"]
            if let b = try c.openUnlessLocked() {
                saved += try c.saveUnlessRefused("second", in: b)
                saved += try c.saveUnlessRefused("first", in: a)
                saved += try c.saveUnlessRefused("second again", in: b)
                try c.closeOthers()
            } else {
                try a.store(Entry("first"))
                saved.append("first")
            }
            try c.reopen()
            try c.expectNames(saved, "the names of all acknowledged saves, after reopening:")
        },
        ConformanceCase(
            "openers.changes-beside-the-second", level: .core, capability: .reopening,
            requirement:
                "Two openings that change and delete different records lose neither's changes, or one is refused.",
            hint: "A save writes what the opening has read of records that it did not change."
        ) { c in
            let a = try c.session()
            try a.store(Entry("changed by the first", rank: 1), Entry("changed by the second", rank: 1), Entry("gone"))
            var ranks = ["changed by the first": 1, "changed by the second": 1]
            var names = Set(ranks.keys).union(["gone"])
            func change(_ name: String, in session: CaseSession) throws {
                let entry = try session.first(Entry.self, #Predicate { $0.name == name })
                session.change("rank of \(name)") { entry.rank = 2 }
                if try c.acknowledges({ try session.save() }, in: session) { ranks[name] = 2 }
            }
            if let b = try c.openUnlessLocked() {
                try change("changed by the second", in: b)
                try change("changed by the first", in: a)
                if let gone = try b.all(Entry.self).first(where: { $0.name == "gone" }) {
                    b.delete(gone)
                    if try c.acknowledges({ try b.save() }, in: b) { names.remove("gone") }
                }
                try c.closeOthers()
            } else {
                try change("changed by the first", in: a)
            }
            try c.reopen()
            let found = try c.session().all(Entry.self)
            try c.expect(found.map(\.name).sorted(), is: names.sorted(), "names after reopening:")
            for (name, rank) in ranks.sorted(by: { $0.key < $1.key }) {
                try c.expect(found.first { $0.name == name }?.rank, is: rank, "the acknowledged rank of \(name):")
            }
        },
        ConformanceCase(
            "openers.saves-at-the-same-moment", level: .full, capability: .recordVersions,
            requirement: "Two openings that save at the same moment wait for each other: all of their saves are there.",
            hint:
                "A transaction that reads first and then writes is refused by an engine if another has written in between. Take "
                + "the lock for writing at its beginning, and wait for it."
        ) { c in
            let a = try c.session()
            try a.store(Entry("first", rank: 0), Entry("second", rank: 0))
            guard let b = try c.openUnlessLocked() else { return }
            let containers = try [c.container, b.context.container]
            let names = ["first", "second"]
            c.note("two threads, each with an opening of its own, save 40 times")
            try threads(2) { place in
                let context = ModelContext(containers[place])
                let name = names[place]
                for number in 1...40 {
                    let found = FetchDescriptor<Entry>(predicate: #Predicate { $0.name == name })
                    try context.fetch(found).first?.rank = number
                    context.insert(Entry("\(name) \(number)"))
                    try context.save()
                }
            }
            try c.closeOthers()
            let found = try c.session().all(Entry.self)
            try c.expect(found.count, is: 82, "entries:")
            for name in names {
                try c.expect(found.first { $0.name == name }?.rank, is: 40, "the last rank of \(name):")
            }
        },
        ConformanceCase(
            "openers.after-closing", level: .core, capability: .reopening,
            requirement:
                "A closed storage can be opened at once, also after an opening was refused, and as often as wanted.",
            hint: "Closing does not release the lock, or a refused opening keeps it."
        ) { c in
            let a = try c.session()
            try a.store(Entry("0"))
            for round in 1...5 {
                if try c.openUnlessLocked() != nil { try c.closeOthers() }
                try c.reopen()
                try c.session().store(Entry("\(round)"))
            }
            try c.expectNames((0...5).map { "\($0)" }, "names after six openings:")
        },
        ConformanceCase(
            "openers.second-process", level: .core, capability: .reopening,
            requirement:
                "A storage that one process has open refuses another with an error of class locked, or both processes' "
                + "saves are there.",
            hint:
                "Each process keeps records of its own and writes all of them. Lock the storage (flock), or check before a "
                + "save that it is as it was read."
        ) { c in
            let a = try c.session()
            try a.store(Entry("before"))
            let answer = try OtherProcess.save(["other"], in: c)
            try c.expectLocked(answer)
            var saved = ["before"] + answer.saved
            saved += try c.saveUnlessRefused("after", in: a)
            try c.reopen()
            try c.expectNames(saved, "the names of all acknowledged saves, after reopening:")
        },
        ConformanceCase(
            "openers.process-after-closing", level: .core, capability: .reopening,
            requirement:
                "What a process has saved and closed another one opens, sees and adds to, and the first sees that.",
            hint: "A lock outlives its store, or the store remembers what it read when it is opened again."
        ) { c in
            try c.session().store(Entry("first"))
            try c.close()
            let answer = try OtherProcess.save(["second", "third"], in: c)
            try c.expect(
                answer == .saved(["second", "third"]), "that the other process saves two entries", found: "\(answer)")
            try c.expectNames(["first", "second", "third"], "names:")
        },
    ]
}

extension CaseContext {
    /// A session of a second opening, at another path to the folder if there is one.
    /// - Returns: nil where the opening is refused with an error of class `locked`.
    /// - Throws: `ConformanceFailure` for other errors.
    func openUnlessLocked(at path: URL? = nil) throws -> CaseSession? {
        do {
            return try otherConnection(at: path)
        } catch let error as ConformanceFailure {
            throw error
        } catch let error as Untried {
            throw error
        } catch {
            note("open the storage once more → \(type(of: error))")
            try expectLocked(error)
            return nil
        }
    }

    func expectLocked(_ error: any Error) throws {
        let name = StoreErrorClass.name(of: error)
        try expect(
            name == StoreErrorClass.locked.rawValue, "an error of class locked, or an opening that saves",
            found: "\(type(of: error)): \(error), of class \(name ?? "unknown")",
            hint: "Let the error conform to ClassifiedStoreError, so that programs can tell it from damage.")
    }

    func expectLocked(_ answer: OtherProcess.Answer) throws {
        guard case .refused(let name, _, _) = answer else { return }
        try expect(
            name == StoreErrorClass.locked.rawValue, "an error of class locked, or an opening that saves",
            found: "\(answer)",
            hint: "Let the error conform to ClassifiedStoreError, so that programs can tell it from damage.")
    }

    /// Saves an entry.
    /// - Returns: its name, or nothing where the save is refused because of what another opening has done.
    func saveUnlessRefused(_ name: String, in session: CaseSession) throws -> [String] {
        try acknowledges({ try session.store(Entry(name)) }, in: session) ? [name] : []
    }

    /// Whether a save is acknowledged; false where it is refused because of what another opening has done.
    /// - Throws: `ConformanceFailure` for other errors.
    func acknowledges(_ save: () throws -> Void, in session: CaseSession) throws -> Bool {
        do {
            try save()
            return true
        } catch let error as ConformanceFailure {
            throw error
        } catch {
            note("→ \(type(of: error))")
            let name = StoreErrorClass.name(of: error)
            let isAboutOthers =
                name == StoreErrorClass.locked.rawValue || name == StoreErrorClass.conflict.rawValue
                || error is RecordsSuperseded || error is VersionSuperseded
            try expect(
                isAboutOthers, "a save, or an error of class locked or conflict",
                found: "\(type(of: error)): \(error), of class \(name ?? "unknown")")
            session.context.rollback()
            return false
        }
    }

    func expectNames(_ names: [String], _ what: String) throws {
        try expect(try session().all(Entry.self).map(\.name).sorted(), is: names.sorted(), what)
    }
}
