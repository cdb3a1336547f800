import Foundation
import MortiseCore

// Many who open one storage in turn, or make it at the same moment.

extension ConformanceCase {
    /// A case in which processes open, save and close one storage in turn. `work` starts them, and calls what it is given once
    /// they have begun.
    private static func inTurn(
        _ id: String, _ who: String, hint: String,
        work: @escaping @Sendable (CaseContext, _ started: () throws -> Void) throws -> [OtherProcess.Told]
    ) -> ConformanceCase {
        ConformanceCase(
            "openers.\(id)", level: .full, capability: .reopening,
            requirement: "\(who) each is refused as locked or saves on top of what the others have saved.", hint: hint
        ) { c in
            let schema = Schema([Entry.self])
            let first = try c.open(for: schema)
            func store(_ name: String) throws {
                let context = ModelContext(first)
                context.insert(Entry(name))
                try context.save()
            }
            try store("before")
            c.note("several processes open, save and close the storage, again and again")
            let told = try work(c) {
                // There is nothing to ask whether a process waits for the lock, or was refused.
                Thread.sleep(forTimeInterval: 0.1)
                try store("late")
                try first.close()
            }
            for process in told {
                try c.expect(
                    process.error == nil, "processes that save, or are refused as locked", found: process.error ?? "")
            }
            let saved = ["before", "late"] + told.flatMap(\.saved)
            try c.under(schema, "read what is there") { context in
                let names = try context.fetch(FetchDescriptor<Entry>()).map(\.name)
                let missing = Set(saved).subtracting(names)
                try c.expect(
                    names.count == saved.count && missing.isEmpty, "the \(saved.count) entries of acknowledged saves",
                    found: "\(names.count); missing: \(missing.sorted())")
            }
        }
    }

    static let openerProcessCases: [ConformanceCase] = [
        inTurn(
            "processes-in-turn", "Of processes that open a storage, save and close it, again and again,",
            hint: "The lock's file is removed when the storage is closed, so that two processes lock two files."
        ) { c, started in try OtherProcess.work(.inTurn, processes: 4, 16, in: c, started: started) },
        inTurn(
            "processes-that-stop", "Of processes that open a storage, save and close it, and stop now and then,",
            hint: "The storage, or the name of its latest file, is read before the lock is taken."
        ) { c, started in
            // Reading the latest save takes longer.
            let folder = try c.folder()
            for number in 0..<2_000 { try Data().write(to: folder.appending(path: ".unknown \(number)")) }
            c.note("put 2,000 files that nobody knows into the folder")
            return try OtherProcess.work(.haltingly, processes: 3, 14, in: c, started: started)
        },
        ConformanceCase(
            "openers.threads-make-it-at-once", level: .full, capability: .reopening,
            requirement:
                "Of threads that open a new storage at the same moment, each is refused as locked or has its save kept.",
            hint:
                "The storage is made under its final name and is not complete at first, or made twice. Make it under another "
                + "name, and give it the final one as the last step, which fails if that is there."
        ) { c in
            c.note(
                "for each of 6 new storages, four threads open it, save an entry and close it, again while it is locked"
            )
            for round in 0..<6 {
                let storage = try c.subject.storage()
                let one = CaseContext(case: c.conformanceCase, subject: c.subject, storage: storage)
                defer { try? one.finish() }
                let configurations = try (0..<4).map { _ in try Opening(configuration: storage.open()) }
                try threads(4) { place in try configurations[place].save("\(round).\(place)") }
                try one.under(Schema([Entry.self]), "read what is there") { context in
                    let names = try context.fetch(FetchDescriptor<Entry>()).map(\.name).sorted()
                    try one.expect(
                        names, is: (0..<4).map { "\(round).\($0)" }, "the names of all acknowledged saves:")
                }
            }
        },
        ConformanceCase(
            "openers.processes-make-it-at-once", level: .full, capability: .reopening,
            requirement:
                "Of processes that open a new storage at the same moment, each is refused as locked or has its save kept.",
            hint:
                "The storage is made under its final name and is not complete at first, or made twice. Make it under another "
                + "name, and give it the final one as the last step, which fails if that is there."
        ) { c in
            let folder = try c.folder().deletingLastPathComponent().appending(path: "new ones")
            let rounds = 8
            for round in 1...rounds {
                try FileManager.default.createDirectory(
                    at: folder.appending(path: "\(round)"), withIntermediateDirectories: true)
            }
            c.note("five processes open each of \(rounds) new storages at the same moment, save an entry and close it")
            let told = try OtherProcess.work(.anew, processes: 5, rounds, in: c, folder: folder)
            for process in told {
                try c.expect(
                    process.error == nil, "processes that save, or are refused as locked", found: process.error ?? "")
            }
            for round in 1...rounds {
                let wanted = told.flatMap(\.saved).filter { $0.hasSuffix(".\(round)") }
                let container = try c.open(for: Schema([Entry.self]), in: folder.appending(path: "\(round)"))
                let names = try ModelContext(container).fetch(FetchDescriptor<Entry>()).map(\.name)
                try container.close()
                try c.expect(names.sorted(), is: wanted.sorted(), "the names of all acknowledged saves:")
            }
        },
    ]

    /// An opening that a thread makes.
    ///
    /// @unchecked Sendable: the configuration is made for one thread, and only that one uses it.
    private struct Opening: @unchecked Sendable {
        let configuration: any DataStoreConfiguration

        /// Opens the storage, again while it is locked, saves an entry and closes it.
        func save(_ name: String) throws {
            for attempt in 1... {
                do {
                    return try Self.save(name, configuration)
                } catch  where StoreErrorClass.isInUse(error) && attempt < 4_000 {
                    // As others are about to do.
                    Thread.sleep(forTimeInterval: 0.001)
                }
            }
        }

        private static func save<C: DataStoreConfiguration>(_ name: String, _ configuration: C) throws {
            let container = try ModelContainer(for: Schema([Entry.self]), configurations: [configuration])
            do {
                let context = ModelContext(container)
                context.insert(Entry(name))
                try context.save()
            } catch {
                try? container.close()
                throw error
            }
            try container.close()
        }
    }
}
