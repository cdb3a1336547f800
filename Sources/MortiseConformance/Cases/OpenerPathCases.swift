import Foundation
import MortiseCore
import Synchronization

// Two openings of one storage: what each answers after the other's saves, and by which path they came to it.

extension ConformanceCase {
    static let openerPathCases: [ConformanceCase] = [
        ConformanceCase(
            "openers.by-another-path", level: .full, capability: .reopening,
            requirement:
                "An opening by another path to the folder, such as a link, counts as one of the same storage: it is refused "
                + "as locked, or both openings' saves are there.",
            hint:
                "What is open is remembered by its path. Lock a file in the folder, or compare the identity of the file "
                + "(its device and number) or the path without links."
        ) { c in
            let a = try c.session()
            try a.store(Entry("before"))
            var saved = ["before"]
            let paths = try c.otherPaths()
            for (name, path) in paths {
                guard let b = try c.openUnlessLocked(at: path) else { continue }
                saved += try c.saveUnlessRefused("\(name): second", in: b)
                saved += try c.saveUnlessRefused("\(name): first", in: a)
                try c.closeOthers()
            }
            try c.reopen()
            try c.expectNames(saved, "the names of all acknowledged saves, after reopening:")
            try c.close()
            for (name, path) in paths {
                let b = try c.otherConnection(at: path)
                try b.store(Entry("\(name): alone"))
                saved.append("\(name): alone")
                if let a = try c.openUnlessLocked() {
                    saved += try c.saveUnlessRefused("\(name): by its own path", in: a)
                    saved += try c.saveUnlessRefused("\(name): again", in: b)
                }
                try c.closeOthers()
            }
            try c.expectNames(saved, "the names of all acknowledged saves, by the folder's own path:")
        },
        ConformanceCase(
            "openers.process-by-another-path", level: .full, capability: .reopening,
            requirement:
                "A process that comes by another path to a folder that is open is refused as locked, or both processes' "
                + "saves are there.",
            hint: "The lock is a file whose name follows from the path to the folder, and not from the folder."
        ) { c in
            let a = try c.session()
            try a.store(Entry("before"))
            var saved = ["before"]
            for (name, path) in try c.otherPaths().prefix(2) {
                let answer = try OtherProcess.save(["\(name): other"], in: c, path: path.path)
                try c.expectLocked(answer)
                saved += answer.saved
                saved += try c.saveUnlessRefused("\(name): first", in: a)
            }
            try c.reopen()
            try c.expectNames(saved, "the names of all acknowledged saves, after reopening:")
        },
        ConformanceCase(
            "openers.process-with-other-folders", level: .full, capability: .reopening,
            requirement:
                "A process with other folders for temporary files and for its user is refused while the storage is open, or "
                + "both processes' saves are there.",
            hint: "The lock lies in a folder for temporary files or of the user, which other processes do not share."
        ) { c in
            let a = try c.session()
            try a.store(Entry("before"))
            let other = try c.folder().deletingLastPathComponent().appending(path: "other folders")
            try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
            let names = ["TMPDIR", "TMP", "TEMP", "HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_STATE_HOME"]
            let answer = try OtherProcess.save(
                ["other"], in: c, environment: Dictionary(uniqueKeysWithValues: names.map { ($0, other.path) }))
            try c.expectLocked(answer)
            var saved = ["before"] + answer.saved
            saved += try c.saveUnlessRefused("after", in: a)
            try c.reopen()
            try c.expectNames(saved, "the names of all acknowledged saves, after reopening:")
        },
        ConformanceCase(
            "openers.child-that-outlives-the-opening", level: .full, capability: .reopening,
            requirement:
                "A program that was started while the storage was open, and still runs, does not keep the closed storage "
                + "locked.",
            hint:
                "The child has inherited the lock's file. Open files with O_CLOEXEC, and unlock the file before closing it."
        ) { c in
            try c.session().store(Entry("before"))
            let child = try SleepingChild()
            defer { child.end() }
            c.note("start a program that does nothing, and leave it running")
            try c.reopen()
            try c.session().store(Entry("after"))
            try c.close()
            var saved = ["before", "after"]
            if c.subject.program != nil {
                let answer = try OtherProcess.save(["other"], in: c)
                try c.expect(
                    answer == .saved(["other"]), "that another process saves after the store was closed",
                    found: "\(answer)")
                saved.append("other")
            }
            try c.expectNames(saved, "names:")
        },
        ConformanceCase(
            "openers.answers-beside-the-second", level: .core, capability: .reopening,
            requirement:
                "Counts, identifiers, values and totals of one opening follow the saves of another one, or one is refused.",
            hint: "An opening remembers an answer until its own next save. Ask the storage whether it has changed."
        ) { c in
            let a = try c.session()
            var ranks: [String: Int] = ["one": 1, "two": 2]
            try a.store(Entry("one", rank: 1), Entry("two", rank: 2))
            guard let b = try c.openUnlessLocked() else { return }
            let openings = [a, b]
            try c.expectAnswers(ranks, of: openings)
            for (number, session) in [b, a, b, b].enumerated() {
                let name = "new \(number)"
                if try c.acknowledges({ try session.store(Entry(name, rank: number)) }, in: session) {
                    ranks[name] = number
                }
                try c.expectAnswers(ranks, of: openings)
            }
            for (number, session) in [a, b].enumerated() {
                let name = "new \(number)"
                let entry = try session.first(Entry.self, #Predicate { $0.name == name })
                session.change("rank of \(name)") { entry.rank = 50 + number }
                if try c.acknowledges({ try session.save() }, in: session) { ranks[name] = 50 + number }
                try c.expectAnswers(ranks, of: openings)
                session.delete(try session.first(Entry.self, #Predicate { $0.name == name }))
                if try c.acknowledges({ try session.save() }, in: session) { ranks[name] = nil }
                try c.expectAnswers(ranks, of: openings)
            }
        },
        ConformanceCase(
            "openers.lists-at-the-same-moment", level: .full, capability: .recordVersions,
            requirement: "Two openings that append to one list at the same moment lose no member.",
            hint:
                "A save of a list alone leaves the version of its record as it was, so that the other one's is not refused."
        ) { c in
            try c.session().store(Person("Ada"))
            guard let b = try c.openUnlessLocked() else { return }
            let containers = try [c.container, b.context.container]
            c.note("two threads, each with an opening of its own, append 20 projects each to one person's")
            try threads(2) { place in
                for number in 0..<20 {
                    try retrying {
                        let context = ModelContext(containers[place])
                        let ada = try context.fetch(FetchDescriptor<Person>()).first
                        let project = Project("\(place).\(number)")
                        context.insert(project)
                        ada?.projects.append(project)
                        try context.save()
                    }
                }
            }
            try c.closeOthers()
            let wanted = (0..<2).flatMap { place in (0..<20).map { "\(place).\($0)" } }.sorted()
            let ada = try c.session().only(Person.self)
            try c.expect(ada.projects.map(\.title).sorted(), is: wanted, "projects, one for each acknowledged save:")
        },
        ConformanceCase(
            "openers.claims-at-the-same-moment", level: .full, capability: .recordVersions,
            requirement:
                "Of two openings that take a record at the same moment, where none may overwrite the other's change, one is refused.",
            hint:
                "A save of a reference alone, or of nil alone, leaves the version of its record as it was, so that the other "
                + "one's is not refused."
        ) { c in
            let a = try c.session()
            a.insert(Team("0"), Team("1"))
            for number in 0..<16 { a.insert(Person("\(number)", age: number)) }
            try a.save()
            guard let b = try c.openUnlessLocked() else { return }
            let containers = try [c.container, b.context.container]
            let claimed = Mutex<[String: Int]>([:])
            c.note(
                "two threads, each with an opening of its own, take 16 people for their team, and set their age to nil")
            try threads(2) { place in
                for number in 0..<16 {
                    for isAge in [true, false] {
                        let (name, own) = ("\(number)", "\(place)")
                        let context = ModelContext(containers[place])
                        context.mergePolicy = .error
                        let found = FetchDescriptor<Person>(predicate: #Predicate { $0.name == name })
                        let team = FetchDescriptor<Team>(predicate: #Predicate { $0.name == own })
                        guard let person = try context.fetch(found).first else { continue }
                        if isAge {
                            if person.age == nil { continue }
                            person.age = nil
                        } else {
                            if person.team != nil { continue }
                            person.team = try context.fetch(team).first
                        }
                        do {
                            try context.save()
                            claimed.withLock { $0["\(isAge ? "age" : "team") of \(name)", default: 0] += 1 }
                        } catch  where isAboutOthers(error) {}
                    }
                }
            }
            try c.closeOthers()
            let twice = claimed.withLock { $0.filter { $0.value > 1 }.map(\.key).sorted() }
            try c.expect(twice.isEmpty, "no record that both have taken", found: "\(twice)")
        },
    ]

    /// Whether an error says that another opening was faster.
    private static func isAboutOthers(_ error: any Error) -> Bool {
        let name = StoreErrorClass.name(of: error)
        return name == StoreErrorClass.locked.rawValue || name == StoreErrorClass.conflict.rawValue
            || error is RecordsSuperseded || error is VersionSuperseded || error is SaveConflict
    }

    /// Does something again while another opening is faster.
    private static func retrying(_ body: () throws -> Void) throws {
        for attempt in 1... {
            do {
                return try body()
            } catch  where isAboutOthers(error) && attempt < 400 {}
        }
    }
}

extension CaseContext {
    /// Other paths to the folder of the storage, each with a name: through links, and with parts that lead nowhere.
    fileprivate func otherPaths() throws -> [(name: String, path: URL)] {
        let folder = try folder()
        let root = folder.deletingLastPathComponent()
        let (link, above) = (root.appending(path: "a link"), root.appending(path: "above"))
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder)
        try FileManager.default.createSymbolicLink(at: above, withDestinationURL: root)
        let name = folder.lastPathComponent
        return [
            ("a link", link), ("a link above", above.appending(path: name)),
            ("up and down", folder.appending(path: "..").appending(path: name)),
            ("a full stop", root.appending(path: ".").appending(path: name)),
            ("a link, up and down", link.appending(path: "..").appending(path: name)),
        ]
    }

    /// Checks what each opening answers, each time in a context of its own.
    fileprivate func expectAnswers(_ ranks: [String: Int], of openings: [CaseSession]) throws {
        for opening in openings {
            let session = CaseSession(name: opening.name, context: ModelContext(opening.context.container), log: self)
            let all = FetchDescriptor<Entry>()
            let ranked = FetchDescriptor<Entry>(predicate: #Predicate { $0.rank != nil })
            try expect(try session.count(all), is: ranks.count, "count of \(opening.name):")
            try expect(try session.count(ranked), is: ranks.count, "count of \(opening.name), by a condition:")
            try expect(try session.identifiers(all).count, is: ranks.count, "number of identifiers of \(opening.name):")
            try expect(
                try session.all(Entry.self).map { "\($0.name) \($0.rank ?? -1)" }.sorted(),
                is: ranks.map { "\($0.key) \($0.value)" }.sorted(), "names and ranks of \(opening.name):")
            let total = try session.context.aggregate(all, Aggregate<Entry, Int>.sum(\.rank))
            try expect(total, is: ranks.values.reduce(0, +), "total of the ranks of \(opening.name):")
            let (least, greatest) = (
                try session.fetch(ranked.first(.forward)), try session.fetch(ranked.first(.reverse))
            )
            try expect(least.first?.rank, is: ranks.values.min(), "the least rank of \(opening.name):")
            try expect(greatest.first?.rank, is: ranks.values.max(), "the greatest rank of \(opening.name):")
        }
    }
}

extension FetchDescriptor<Entry> {
    /// The first entry by rank.
    fileprivate func first(_ order: SortOrder) -> FetchDescriptor<Entry> {
        var descriptor = self
        descriptor.sortBy = [SortDescriptor(\.rank, order: order)]
        descriptor.fetchLimit = 1
        return descriptor
    }
}
