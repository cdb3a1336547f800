import Foundation
import MortiseCore

// Second looks at a folder: what a save makes of damage, names that are nearly the same, and files that come while it is in use.

extension ConformanceCase {
    static let folderSecondCases: [ConformanceCase] = [
        ConformanceCase(
            "folder.save-on-damage", level: .full, capability: .reopening,
            requirement:
                "A save is refused while a file is damaged, or what is there afterwards is a whole earlier state and that save.",
            hint:
                "Damage that reading passes over becomes final with the next save, which writes what was read. Refuse to open."
        ) { c in try c.saveOnDamage() },
        ConformanceCase(
            "folder.value-of-no-kind-in-questions", level: .full, capability: .reopening,
            requirement:
                "A stored value of another kind is an error for conditions, orders and totals, and is not taken for nil.",
            hint: "What cannot be read as a number becomes nil or 0. Throw an error that names record and property."
        ) { c in try c.askForExchangedValues() },
        ConformanceCase(
            "folder.names-alike", level: .full, capability: .reopening,
            requirement:
                "Storages in folders whose names are the same once they are escaped, or read as part of a URL, are different ones.",
            hint: "A path goes through a URL's text. Use url.path(percentEncoded: false)."
        ) { c in
            let root = try c.folder().deletingLastPathComponent().appending(path: "alike")
            let names = ["a b", "a%20b", "a%2520b", "100%", "100%25", "x#1", "x", "x?1", "x%231"]
            let files = FileManager.default
            for name in names {
                try files.createDirectory(at: root.appending(path: name), withIntermediateDirectories: true)
            }
            for round in 1...2 {
                for name in names {
                    let container = try c.open(for: Schema([Entry.self]), in: root.appending(path: name))
                    let context = ModelContext(container)
                    let found = try context.fetch(FetchDescriptor<Entry>()).map(\.name)
                    context.insert(Entry("\(round) in \(name)"))
                    try context.save()
                    try container.close()
                    try c.expect(
                        found, is: round == 1 ? [] : ["1 in \(name)"], "names in the folder \(name.debugDescription):")
                }
                try c.expect(
                    try files.contentsOfDirectory(atPath: root.path).sorted(), is: names.sorted(),
                    "the folders that there are:")
            }
        },
        ConformanceCase(
            "folder.files-that-come-later", level: .full, capability: .reopening,
            requirement:
                "Files that others put into the folder while the storage is open outlast saves, openings and erasures, and change "
                + "nothing.",
            hint:
                "What is not of the last save is taken for damage or a remnant, and removed. Look for the store's own names."
        ) { c in
            let folder = try c.folder()
            let session = try c.session()
            try session.store(Entry("first", rank: 1))
            let names = ["notes.md", "1 copy", "12.bak", "2.orig", "Thumbs.db", ".sync", "shared folder"]
            c.note("put \(names.joined(separator: ", ")) into the folder")
            for name in names.dropLast() { try Data(name.utf8).write(to: folder.appending(path: name)) }
            let inner = folder.appending(path: names[names.count - 1])
            try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
            try Data("inner".utf8).write(to: inner.appending(path: "1"))
            func expectFiles(_ moment: String) throws {
                for name in names.dropLast() {
                    let data = try? Data(contentsOf: folder.appending(path: name))
                    try c.expect(
                        data == Data(name.utf8), "\(name) as it was put there, \(moment)",
                        found: data.map { "\($0.count) bytes" } ?? "no such file")
                }
                try c.expect(
                    (try? Data(contentsOf: inner.appending(path: "1"))) == Data("inner".utf8),
                    "the file in \(inner.lastPathComponent) as it was put there, \(moment)")
            }
            try session.store(Entry("second", rank: 2))
            try expectFiles("after a save")
            for round in 3...4 {
                try c.reopen()
                try c.session().store(Entry("round \(round)", rank: round))
                try c.expect(
                    try c.session().all(Entry.self).map(\.rank), is: Array(1...round), "ranks in round \(round):")
                try expectFiles("after opening \(round)")
            }
            guard c.subject.capabilities.contains(.erase) else { return }
            c.note("erase")
            try c.container.erase()
            try expectFiles("after an erasure")
            try c.reopen()
            try c.expect(try c.session().count(FetchDescriptor<Entry>()), is: 0, "entries after the erasure:")
            try expectFiles("after an erasure and reopening")
        },
        ConformanceCase(
            "folder.no-room-for-one-record", level: .full, capability: .reopening,
            requirement:
                "A record for which there is no room is refused, and leaves what was there, also when it is tried again.",
            hint: "The old file goes before the new one is whole, or a part of the record stays."
        ) { c in
            let states = try c.fillFolder()
            try c.close()
            let greatest = try c.files().map { try Data(contentsOf: $0).count }.max() ?? 0
            // Not to be made short by compression.
            var number: UInt64 = 88_172_645_463_325_252
            let name = String(
                (0..<60_000).map { _ -> Character in
                    number ^= number << 13
                    number ^= number >> 7
                    number ^= number << 17
                    return Character(UnicodeScalar(UInt8(97 + number % 26)))
                })
            let last = states[states.count - 1]
            var hasFailed = false
            for limit in [greatest + 10_000, greatest + 100] {
                let answer = try OtherProcess.save([name], in: c, fileLimit: limit)
                if case .refused = answer { hasFailed = true }
                let found = try c.foundState()
                // What was written before the refusal may be there, if it is whole.
                try c.expect(
                    found == last || found == last + [name],
                    "all records, with files of up to \(limit) bytes",
                    found: "\(found.count) of \(last.count); missing: \(last.filter { !found.contains($0) }.prefix(3))")
                if found != last { break }
            }
            if !hasFailed { throw Untried(reason: "no save of the subject needed more room than there was") }
        },
    ]
}

extension CaseContext {
    /// The kinds of damage, each with the files that it is tried on.
    private var damages: [(what: String, isTried: (URL, [URL]) throws -> Bool, change: (URL) throws -> Void)] {
        let files = FileManager.default
        // A storage of one file is a new one without it, whatever lies beside.
        func holdRecords(_ file: URL, _ others: [URL]) throws -> Bool {
            try others.count { file in
                let data = try Data(contentsOf: file)
                return ["entry 0.0", "person 0", "team 0"].contains { data.range(of: Data($0.utf8)) != nil }
            } > 1
        }
        return [
            ("without content", { _, _ in true }, { try Data().write(to: $0) }),
            ("removed", holdRecords, { try files.removeItem(at: $0) }),
            (
                "replaced by a folder", { _, _ in true },
                {
                    try files.removeItem(at: $0)
                    try files.createDirectory(at: $0, withIntermediateDirectories: false)
                }
            ),
            (
                "replaced by a link that leads nowhere", holdRecords,
                {
                    try files.removeItem(at: $0)
                    try files.createSymbolicLink(at: $0, withDestinationURL: $0.appendingPathExtension("gone"))
                }
            ),
            (
                "given a line more, like its last one with another number", { _, _ in true },
                { file in
                    let data = try Data(contentsOf: file)
                    guard data.last == UInt8(ascii: "\n"),
                        let start = data.dropLast().lastIndex(of: UInt8(ascii: "\n"))
                    else { return }
                    try (data + ConformanceCase.anotherNumber(Data(data[(start + 1)...]))).write(to: file)
                }
            ),
        ]
    }

    fileprivate func saveOnDamage() throws {
        let states = try fillFolder()
        let folder = try folder()
        let whole = folder.deletingLastPathComponent().appending(path: "whole")
        let manager = FileManager.default
        try manager.copyItem(at: folder, to: whole)
        let files = try files()
        for (what, isTried, damage) in damages {
            for file in files where try isTried(file, files.filter { $0 != file }) {
                note("have \(file.lastPathComponent) \(what), and save")
                try damage(file)
                if try savesAndCloses("late") {
                    try expectState("an earlier state and the save") { found in
                        states.contains { $0 + ["late"] == found }
                    }
                }
                try manager.removeItem(at: folder)
                try manager.copyItem(at: whole, to: folder)
            }
        }
        try expect(try foundState(), is: states[states.count - 1], "what is read once the damage is undone:")
    }

    /// Whether a save in a new opening is acknowledged.
    private func savesAndCloses(_ name: String) throws -> Bool {
        defer {
            try? close()
            abandon()
        }
        do {
            try session().store(Entry(name))
            try close()
            return true
        } catch let failure as ConformanceFailure {
            throw failure
        } catch {
            note("→ \(type(of: error))")
            return false
        }
    }

    /// Checks what is read; an error of reading is as good.
    private func expectState(_ what: String, _ isRight: ([String]) -> Bool) throws {
        do {
            let found = try foundState()
            try expect(isRight(found), "an error, or \(what)", found: "\(found.count) records: \(found.suffix(4))")
        } catch let failure as ConformanceFailure {
            throw failure
        } catch {
            note("→ \(type(of: error))")
        }
    }

    /// Exchanges each stored number for letters, and asks for records by it.
    fileprivate func askForExchangedValues() throws {
        let session = try session()
        session.insert(Entry("entry", rank: 7_654_321), Entry("other", rank: 1))
        try session.save()
        // What comes last may be taken for what was cut off.
        for number in 0..<3 { try session.store(Entry("later \(number)", rank: 2)) }
        func answers() throws -> [String] {
            let session = try self.session()
            let none = FetchDescriptor<Entry>(predicate: #Predicate { $0.rank == nil })
            let some = FetchDescriptor<Entry>(predicate: #Predicate { $0.rank != nil })
            var first = FetchDescriptor<Entry>(sortBy: [SortDescriptor(\.rank, order: .reverse)])
            first.fetchLimit = 1
            return [
                "without rank: \(try session.count(none))", "with rank: \(try session.count(some))",
                "last by rank: \(try session.fetch(first).map(\.name))",
                "total: \(try session.context.aggregate(FetchDescriptor<Entry>(), Aggregate<Entry, Int>.sum(\.rank)))",
            ]
        }
        try expectNoOther(than: "the answers of before", afterExchanging: "7654321", answers)
    }
}
