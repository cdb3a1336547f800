import Foundation
import MortiseCore

// A save that could not be written is nowhere: not in what the same opening reads, not in what it saves next.

extension ConformanceCase {
    /// What is tried while nothing can be written.
    private struct Operation {
        let name: String
        /// Does it, as a program does; throws what the store throws.
        let run: (CaseContext) throws -> Void
        /// The entries that there are if it was acknowledged, of those before.
        let result: ([String]) -> [String]
    }

    private static func entry(_ session: CaseSession, _ name: String) throws -> Entry {
        try session.first(Entry.self, #Predicate { $0.name == name })
    }

    private static var savings: [Operation] {
        [
            Operation(name: "an insertion") {
                try $0.session().store(Entry("refused"))
            } result: {
                $0 + ["refused, nil"]
            },
            Operation(name: "an update") { c in
                let session = try c.session()
                let kept = try entry(session, "kept")
                session.change("rank of kept") { kept.rank = 9 }
                try session.save()
            } result: {
                $0.map { $0 == "kept, 1" ? "kept, 9" : $0 }
            },
            Operation(name: "a deletion") { c in
                let session = try c.session()
                session.delete(try entry(session, "other"))
                try session.save()
            } result: {
                $0.filter { $0 != "other, 2" }
            },
            Operation(name: "all of these and a relationship") { c in
                let session = try c.session()
                let (kept, person) = (try entry(session, "kept"), try session.only(Person.self))
                session.change("rank of kept, team of a person") {
                    kept.rank = 9
                    person.team = nil
                }
                session.delete(try entry(session, "other"))
                session.insert(Entry("refused"), Team("refused"))
                try session.save()
            } result: { names in
                ["kept, 9", "refused, nil", "person without team", "team", "team refused"]
            },
            Operation(name: "a deletion of all that match") { c in
                c.note("delete all entries of a rank")
                try c.session().context.delete(model: Entry.self, where: #Predicate { $0.rank == 2 })
            } result: {
                $0.filter { $0 != "other, 2" }
            },
            Operation(name: "an update of all that match") { c in
                c.note("update all entries of a rank")
                _ = try c.session().context.update(Entry.self, where: #Predicate { $0.rank == 1 }) {
                    $0.set(\.rank, to: 9)
                }
            } result: {
                $0.map { $0 == "kept, 1" ? "kept, 9" : $0 }
            },
        ]
    }

    static let failedWriteCases: [ConformanceCase] = [
        ConformanceCase(
            "folder.refused-save-is-nowhere", level: .full, capability: .reopening,
            requirement:
                "A save that could not be written is seen by no fetch of the same opening, and its next save does not store "
                + "it.",
            hint: "Memory takes the change before the files are written, and keeps it when that fails."
        ) { c in
            for (place, operation) in savings.enumerated() {
                // All of them at once is tried both ways.
                for hasFile in place == 3 ? [false, true] : [place % 2 == 1] {
                    try c.expectNowhere(
                        operation.name, operation.run, result: operation.result, hasFile: hasFile)
                }
            }
        },
        ConformanceCase(
            "folder.refused-erasure-is-nowhere", level: .full, capability: .reopening, and: [.erase],
            requirement: "An erasure that could not be written leaves everything as it was.",
            hint: "Memory is emptied before the files are."
        ) { c in
            try c.expectNowhere("an erasure", { try $0.container.erase() }, result: { _ in [] })
        },
        ConformanceCase(
            "folder.refused-erasure-of-the-store-is-nowhere", level: .full, capability: .reopening, and: [.erase],
            requirement:
                "An erasure that the store itself is asked for twice, and cannot write, leaves everything as it was.",
            hint: "Memory is emptied before the files are."
        ) { c in
            try c.expectNowhere(
                "an erasure of the store, twice",
                { one in
                    try? one.store.store.erase()
                    try one.store.store.erase()
                }, result: { _ in [] }, hasFile: true)
        },
        ConformanceCase(
            "folder.refused-deletion-of-history-is-nowhere", level: .full, capability: .reopening, and: [.history],
            requirement: "A deletion of history that could not be written leaves the history as it was.",
            hint: "Memory forgets the transactions before the files do."
        ) { c in
            try c.expectNowhere(
                "a deletion of the history",
                { try $0.session().context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>()) },
                result: { $0 }, forgetsHistory: true)
        },
        ConformanceCase(
            "folder.save-without-room-is-nowhere", level: .full, capability: .reopening,
            requirement:
                "A save that found no room is seen by no fetch of the same opening, and the next save, which finds room, does "
                + "not store it.",
            hint: "Memory takes the change when the first of several files is written, or before."
        ) { c in
            let states = try c.fillFolder()
            let before = try c.session().all(Entry.self).map(\.name)
            try c.close()
            let greatest = try c.files().map { try Data(contentsOf: $0).count }.max() ?? 0
            var hasFailed = false
            for limit in [40_000, greatest / 2 + 1, greatest + 600] {
                c.note("in another process: save with files of up to \(limit) bytes, then without a limit")
                let told = try OtherProcess.work(.withoutRoom, processes: 1, limit, in: c)[0]
                try c.expect(
                    told.error == nil, "a process that goes on and closes the storage", found: told.error ?? "")
                let added = try c.foundState().filter { !states[states.count - 1].contains($0) }
                let own = told.saved
                if let seen = told.seen {
                    hasFailed = true
                    let acknowledged = own.filter { !$0.hasSuffix("later") }
                    let more = seen.filter { !before.contains($0) && !acknowledged.contains($0) && $0.hasPrefix("p0") }
                    try c.expect(
                        more.isEmpty, "the entries of acknowledged saves, read by the same opening",
                        found: "\(more) as well")
                }
                let missing = own.filter { !added.contains($0) }
                let more = added.filter { $0.hasPrefix("p0") && !own.contains($0) }
                try c.expect(
                    missing.isEmpty && more.isEmpty, "the entries of acknowledged saves, after reopening",
                    found: "missing: \(missing), more: \(more)")
                // Each round begins with the same records.
                let session = try c.session()
                for entry in try session.all(Entry.self) where entry.name.hasPrefix("p0") { session.delete(entry) }
                try session.save()
                try c.close()
            }
            if !hasFailed { throw Untried(reason: "no save of the subject needed more room than there was") }
        },
    ]
}

extension CaseContext {
    /// Does something while the folder of a fresh storage is away, or while there is a file in its place; then looks for it
    /// everywhere.
    fileprivate func expectNowhere(
        _ name: String, _ run: (CaseContext) throws -> Void, result: ([String]) -> [String],
        forgetsHistory: Bool = false, hasFile: Bool = false
    ) throws {
        let storage = try subject.storage()
        let one = CaseContext(case: conformanceCase, subject: subject, storage: storage)
        defer { try? one.finish() }
        let session = try one.session()
        let team = Team("")
        session.insert(Entry("kept", rank: 1), Entry("other", rank: 2), team, Person("", team: team))
        try session.save()
        try one.expectNowhere(name, run, result: result, forgetsHistory, hasFile: hasFile)
    }

    private func expectNowhere(
        _ name: String, _ run: (CaseContext) throws -> Void, result: ([String]) -> [String], _ forgetsHistory: Bool,
        hasFile: Bool
    ) throws {
        let before = try contents()
        var transactions = try transactions()
        let isAcknowledged = try withoutFolder(hasFile: hasFile) {
            note("meanwhile: \(name)")
            try run(self)
        }
        let wanted = (isAcknowledged ? result(before) : before).sorted()
        let now = isAcknowledged ? "acknowledged" : "refused"
        try expect(try contents(), is: wanted, "what the same opening reads after \(name), which was \(now):")
        // What a store tells of acknowledged changes is another case's.
        if isAcknowledged {
            let left = try self.transactions()
            if forgetsHistory { try expect(left, is: [], "transactions after an acknowledged deletion:") }
            transactions = left
        } else {
            try expect(try self.transactions(), is: transactions, "transactions after \(name), which was refused:")
        }
        var later: [String] = []
        do {
            try self.session().store(Entry("later"))
            later = ["later, nil"]
            try expect(
                try contents(), is: (wanted + later).sorted(), "what the same opening reads after the next save:")
        } catch let failure as ConformanceFailure {
            throw failure
        } catch {
            // A store may ask to be opened again.
            note("→ \(type(of: error)): \(error)")
        }
        try? close()
        abandon()
        note("reopen the storage")
        try expect(
            try contents(), is: (wanted + later).sorted(),
            "what is there after \(name), which was \(now), and reopening:")
        let count = transactions.count + (subject.capabilities.contains(.history) ? later.count : 0)
        try expect(try self.transactions().count, is: count, "number of transactions after reopening:")
    }

    /// Whether something was acknowledged that was done while the folder was away, or a file in its place.
    private func withoutFolder(hasFile: Bool, _ body: () throws -> Void) throws -> Bool {
        let files = FileManager.default
        let folder = try folder()
        let aside = folder.deletingLastPathComponent().appending(path: "aside")
        note(hasFile ? "put a file in the folder's place" : "move the folder away")
        try files.moveItem(at: folder, to: aside)
        if hasFile { try Data().write(to: folder) }
        var isAcknowledged = true
        do {
            try body()
        } catch let failure as ConformanceFailure {
            throw failure
        } catch {
            note("→ \(type(of: error))")
            isAcknowledged = false
        }
        note("move the folder back")
        // A store may have made it anew, with all that it holds.
        let isDirectory = try? folder.resourceValues(forKeys: [.isDirectoryKey]).isDirectory
        if isDirectory == true, isAcknowledged { return true }
        if isDirectory != nil { try files.removeItem(at: folder) }
        try files.moveItem(at: aside, to: folder)
        return isAcknowledged
    }

    private func contents() throws -> [String] {
        let session = try session()
        let entries = try session.all(Entry.self).map { "\($0.name), \($0.rank.map(String.init) ?? "nil")" }
        let people = try session.all(Person.self).map { $0.team == nil ? "person without team" : "person of a team" }
        return (entries + people + (try session.all(Team.self).map { $0.name.isEmpty ? "team" : "team \($0.name)" }))
            .sorted()
    }

    private func transactions() throws -> [String] {
        guard subject.capabilities.contains(.history) else { return [] }
        return try session().context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).map {
            "transaction \($0.transactionIdentifier) of \($0.changes.count) changes"
        }
    }
}
