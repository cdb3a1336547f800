import Foundation
import MortiseCore

// What happens to files from outside, without a seam: for stores whose storage is a folder.

extension ConformanceCase {
    static let folderCases: [ConformanceCase] = [
        damage(
            "cut-file", to: "cut to half", "The store reads as far as it comes. Keep a count, a length or a checksum."
        ) { data in data.prefix(data.count / 2) },
        damage(
            "file-without-its-end", to: "cut by a few bytes",
            "A last record that is not whole is passed over, though the save was acknowledged. Keep a length or a checksum."
        ) { data in data.prefix(max(0, data.count - 7)) },
        damage(
            "file-cut-near-its-beginning", to: "cut to its first bytes",
            "A file with a header and nothing else is taken for an empty one."
        ) { data in data.prefix(max(1, data.count / 16)) },
        damage(
            "file-cut-at-a-line", to: "cut after a line",
            "What is left can be read as lines. Keep how many there are, or a length or checksum of the file."
        ) { data in
            let half = data.prefix(data.count * 2 / 3)
            return half.lastIndex(of: UInt8(ascii: "\n")).map { data.prefix(through: $0) } ?? half
        },
        ConformanceCase(
            "folder.file-replaced-by-folder", level: .full, capability: .reopening,
            requirement: "A file in whose place there is a folder is an error, and no record is passed over.",
            hint: "An error of reading is taken for a file that is not there."
        ) { c in
            try c.damageEachFile("replaced by a folder") { file in
                try FileManager.default.removeItem(at: file)
                try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            }
        },
        ConformanceCase(
            "folder.file-that-cannot-be-opened", level: .full, capability: .reopening,
            requirement: "A file that cannot be opened is an error, and no record is passed over.",
            hint: "An error of opening is taken for a file that is not there. Only that one error says so."
        ) { c in
            // A link to itself cannot be opened by anybody, whatever the permissions.
            try c.damageEachFile("replaced by a link to itself") { file in
                try FileManager.default.removeItem(at: file)
                try FileManager.default.createSymbolicLink(at: file, withDestinationURL: file)
            }
        },
        ConformanceCase(
            "folder.moved", level: .core, capability: .reopening,
            requirement:
                "A closed storage that was moved to another path opens there, saves there, and leaves nothing at the "
                + "old path.",
            hint: "The store keeps an absolute path in its files."
        ) { c in
            let states = try c.fillFolder()
            let old = try c.folder()
            for round in 0..<2 {
                try c.moveFolder()
                try c.expect(
                    try c.foundState(), is: states[states.count - 1] + (0..<round).map { "moved \($0)" },
                    "what is read at the new path:")
                try c.session().store(Entry("moved \(round)"))
                try c.reopen()
                try c.close()
            }
            try c.expect(
                !FileManager.default.fileExists(atPath: old.path), "nothing at the old path",
                found: "\((try? FileManager.default.contentsOfDirectory(atPath: old.path)) ?? [])")
        },
        ConformanceCase(
            "folder.copied", level: .core, capability: .reopening,
            requirement:
                "A copy of a closed storage's folder holds the same, and saves to the original do not reach it.",
            hint: "The store keeps an absolute path in its files, or something outside the folder."
        ) { c in
            let states = try c.fillFolder()
            let before = try c.folder()
            let copy = before.deletingLastPathComponent().appending(path: "copy")
            try FileManager.default.copyItem(at: before, to: copy)
            try c.session().store(Entry("later"))
            try c.close()
            try FileManager.default.removeItem(at: before)
            try FileManager.default.moveItem(at: copy, to: before)
            try c.expect(try c.foundState(), is: states[states.count - 1], "what is read from the copy:")
        },
        ConformanceCase(
            "folder.replaced-by-a-file", level: .full, capability: .reopening,
            requirement: "A save whose folder has become a file is refused or kept; it is not acknowledged and lost.",
            hint: "Errors of writing are passed over."
        ) { c in
            let states = try c.fillFolder()
            _ = try c.session().all(Entry.self)
            let folder = try c.folder()
            let aside = folder.deletingLastPathComponent().appending(path: "aside")
            try FileManager.default.moveItem(at: folder, to: aside)
            try Data().write(to: folder)
            c.note("put a file in the folder's place")
            var isAcknowledged = false
            do {
                try c.session().store(Entry("late"))
                isAcknowledged = true
            } catch {
                c.note("→ \(type(of: error))")
            }
            // A store that holds its files open may go on writing to them.
            try? c.close()
            c.abandon()
            try FileManager.default.removeItem(at: folder)
            try FileManager.default.moveItem(at: aside, to: folder)
            let last = states[states.count - 1]
            let found = try c.foundState()
            try c.expect(
                found == last + ["late"] || (!isAcknowledged && found == last),
                isAcknowledged ? "all records and the acknowledged one" : "all records",
                found: "\(found.filter { !last.contains($0) }) more, and \(last.filter { !found.contains($0) }) missing"
            )
        },
        ConformanceCase(
            "folder.no-room", level: .full, capability: .reopening,
            requirement:
                "A save that finds no room is refused with an error; what was acknowledged before stays readable.",
            hint: "Errors of writing are passed over, or a file is replaced before the new one is whole."
        ) { c in
            let states = try c.fillFolder()
            try c.close()
            let names = (0..<24).map { "no room \($0)" }
            let greatest = try c.files().map { try Data(contentsOf: $0).count }.max() ?? 0
            var hasFailed = false
            // Somewhere the writing of a file fails: in the first save, or in a later one.
            for limit in [greatest / 2 + 1, greatest + 600, greatest + 20_000] {
                let answer = try OtherProcess.save(names, in: c, fileLimit: limit)
                if case .refused = answer { hasFailed = true }
                let expected = states[states.count - 1] + answer.saved
                let found = try c.foundState()
                try c.expect(
                    expected.allSatisfy(found.contains) && found.count <= expected.count + 1,
                    "all records and those of \(answer.saved.count) acknowledged saves, with files of up to \(limit) bytes",
                    found: "\(found.count) records; missing \(expected.filter { !found.contains($0) })")
                // Each round begins with the same records.
                let session = try c.session()
                for entry in try session.all(Entry.self) where entry.name.hasPrefix("no room") { session.delete(entry) }
                try session.save()
                try c.close()
            }
            if !hasFailed { throw Untried(reason: "no save of the subject needed more room than there was") }
        },
    ]

    /// A case that damages one file after the other, each on its own.
    private static func damage(
        _ name: String, to what: String, _ hint: String, change: @escaping @Sendable (Data) -> Data
    ) -> ConformanceCase {
        ConformanceCase(
            "folder.\(name)", level: .full, capability: .reopening,
            requirement:
                "A file that was \(what) is an error, or the records are all there or those of an earlier save; none is "
                + "passed over.",
            hint: hint
        ) { c in
            try c.damageEachFile(what) { file in
                let data = try Data(contentsOf: file)
                try Data(change(data)).write(to: file)
            }
        }
    }
}

extension CaseContext {
    /// Fills the storage with several saves, each of which changes records of the one before in two entities, and closes it.
    /// - Returns: what is there after each save, with the history where `readsHistory` says so and the store claims one.
    func fillFolder(readsHistory: Bool = false) throws -> [[String]] {
        // The records take more room than whatever an empty storage has already, so that what is cut off are records.
        _ = try session()
        try close()
        let empty = try files().map { try Data(contentsOf: $0).count }.max() ?? 0
        let note = String(repeating: "n", count: max(300, empty / 3))
        var states: [[String]] = []
        for save in 0..<5 {
            let session = try session()
            for entry in try session.all(Entry.self) { session.change("rank of \(entry.name)") { entry.rank = save } }
            for number in 0..<4 {
                session.insert(
                    Entry("entry \(save).\(number)", group: "\(save)", rank: save, note: note))
            }
            let team = Team("team \(save)")
            session.insert(team, Person("person \(save)", age: save, team: team))
            try session.save()
            states.append(try state(of: session, readsHistory: readsHistory))
        }
        try close()
        return states
    }

    /// What the storage holds, read by a new opening, which is closed again. `token` is that of a transaction which the history has to
    /// have, or to refuse as expired.
    func foundState(readsHistory: Bool = false, after token: DefaultHistoryToken? = nil) throws -> [String] {
        // What cannot be read does not keep its storage locked.
        defer {
            try? close()
            abandon()
        }
        // A history that was lost and begins anew is no shorter one to who goes on from a token.
        if let token {
            _ = try session().context.fetchHistory(
                HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token }))
        }
        let found = try state(of: session(), readsHistory: readsHistory)
        try close()
        return found
    }

    /// The token of the first transaction in the history of a closed storage; nil where the store claims no history.
    private func firstToken() throws -> DefaultHistoryToken? {
        guard subject.capabilities.contains(.history) else { return nil }
        let transactions = try session().context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        try close()
        return try require(transactions.first, "a transaction in the history").token
    }

    /// What a session reads: entries, people and teams, and the history.
    func state(of session: CaseSession, readsHistory: Bool) throws -> [String] {
        // Entries that other processes save count by their names alone.
        let entries = try session.all(Entry.self)
        let people = try session.all(Person.self).map { "\($0.name) of \($0.team?.name ?? "no team")" }
        let teams = try session.all(Team.self).map { "\($0.name) with \($0.members.map(\.name))" }
        var history: [String] = []
        if readsHistory, subject.capabilities.contains(.history) {
            history = try session.context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).map {
                "transaction \($0.transactionIdentifier) of \($0.changes.count) changes"
            }
        }
        return
            (entries.filter { !$0.group.isEmpty && $0.group != "other" }.map {
                "\($0.name), rank \($0.rank.map(String.init) ?? "nil"), note of \($0.note?.count ?? 0)"
            } + people + teams).sorted() + entries.filter { $0.group.isEmpty || $0.group == "other" }.map(\.name)
            + history
    }

    /// The files of the storage that hold something.
    func files() throws -> [URL] {
        let folder = try folder()
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
        return names.map { folder.appending(path: $0) }.filter { file in
            let values = try? file.resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
            return values?.isRegularFile == true && (values?.fileSize ?? 0) > 0
        }
    }

    /// Damages each file of a closed storage, one at a time, and reads everything: the records, and the history that the store
    /// claims to keep, from a token of before the damage and as a whole. `counts` says which files are damaged.
    func damageEachFile(
        _ what: String, where counts: (_ file: URL, _ others: [URL]) throws -> Bool = { _, _ in true },
        _ damage: (URL) throws -> Void
    ) throws {
        let states = try fillFolder(readsHistory: true)
        let token = try firstToken()
        let folder = try folder()
        let whole = folder.deletingLastPathComponent().appending(path: "whole")
        try FileManager.default.copyItem(at: folder, to: whole)
        let files = try files()
        try expect(!files.isEmpty, "files in the folder", found: "none, though records were saved")
        for file in files where try counts(file, files.filter { $0 != file }) {
            let name = file.path.dropFirst(folder.path.count)
            note("have \(name) \(what), and read everything")
            try damage(file)
            do {
                let found = try foundState(readsHistory: true, after: token)
                let last = states.last ?? []
                try expect(
                    states.contains(found), "an error, or all records and transactions as after one of the saves",
                    found: "\(found.count) of \(last.count), and no error; more: "
                        + "\(found.filter { !last.contains($0) }.prefix(3)), missing: "
                        + "\(last.filter { !found.contains($0) }.prefix(3))")
            } catch let error as ConformanceFailure {
                throw error
            } catch {
                note("→ \(type(of: error))")
            }
            try FileManager.default.removeItem(at: folder)
            try FileManager.default.copyItem(at: whole, to: folder)
        }
        try expect(
            try foundState(readsHistory: true, after: token), is: states[states.count - 1],
            "what is read once the damage is undone:")
    }
}
