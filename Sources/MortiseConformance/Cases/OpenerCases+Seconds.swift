import Foundation
import MortiseCore

// Second looks at who has a storage open, and at what openings leave behind in the process.

extension ConformanceCase {
    static let openerSecondCases: [ConformanceCase] = [
        ConformanceCase(
            "openers.by-two-links", level: .full, capability: .reopening,
            requirement:
                "Openings by two links, neither of which is the folder's own path, count as openings of one storage: the second "
                + "is refused as locked, or both openings' saves are there.",
            hint:
                "What is open is remembered by its path. Compare the identity of the folder (its device and number), or its path "
                + "without links."
        ) { c in
            try c.session().store(Entry("before"))
            try c.close()
            var saved = ["before"]
            let root = try c.folder().deletingLastPathComponent()
            let links = ["one", "two"].map { root.appending(path: "link \($0)") }
            try FileManager.default.createSymbolicLink(at: links[0], withDestinationURL: try c.folder())
            try FileManager.default.createSymbolicLink(at: links[1], withDestinationURL: links[0])
            for (first, second) in [(links[0], links[1]), (links[1], links[0])] {
                let name = "by \(first.lastPathComponent)"
                let a = try c.otherConnection(at: first)
                saved += try c.saveUnlessRefused("\(name): first", in: a)
                if let b = try c.openUnlessLocked(at: second) {
                    saved += try c.saveUnlessRefused("\(name): second", in: b)
                    saved += try c.saveUnlessRefused("\(name): first again", in: a)
                }
                try c.closeOthers()
            }
            try c.expectNames(saved, "the names of all acknowledged saves, by the folder's own path:")
        },
        ConformanceCase(
            "openers.children-beside-a-moved-storage", level: .full, capability: .reopening,
            requirement:
                "Programs that were started while the storage was open keep it locked neither at its path nor at another.",
            hint:
                "The child has inherited the lock's file. Open files with O_CLOEXEC, and unlock the file before closing it."
        ) { c in
            var children: [SleepingChild] = []
            defer { for child in children { child.end() } }
            for round in 0..<3 {
                try c.session().store(Entry("round \(round)"))
                children.append(try SleepingChild())
                c.note("start a program that does nothing, close the storage and move its folder")
                try c.close()
                try c.moveFolder()
            }
            try c.expectNames((0..<3).map { "round \($0)" }, "names at the last path:")
        },
        ConformanceCase(
            "openers.wrong-paths-are-not-locked", level: .full, capability: .reopening,
            requirement:
                "A path at which no storage can be, such as one below a file, is refused with an error that is not of class locked.",
            hint:
                "Every failure to take the lock counts as locked, so that programs wait for an opening that nobody has."
        ) { c in
            let root = try c.folder().deletingLastPathComponent().appending(path: "wrong")
            let files = FileManager.default
            try files.createDirectory(at: root, withIntermediateDirectories: true)
            let file = root.appending(path: "file")
            try Data("x".utf8).write(to: file)
            let nowhere = root.appending(path: "nowhere")
            try files.createSymbolicLink(at: nowhere, withDestinationURL: root.appending(path: "none"))
            let paths = [
                ("below a file", file.appending(path: "storage")), ("of a link that leads nowhere", nowhere),
                ("of a name of 300 characters", root.appending(path: String(repeating: "n", count: 300))),
                ("below a folder that is missing", root.appending(path: "missing").appending(path: "storage")),
            ]
            for (what, path) in paths {
                do {
                    try c.open(for: Schema([Entry.self]), in: path).close()
                } catch let untried as Untried {
                    throw untried
                } catch {
                    c.note("the path \(what) → \(type(of: error))")
                    try c.expectNotLocked(error)
                }
            }
        },
        ConformanceCase(
            "resources.files-of-many-saves", level: .full, capability: .reopening,
            requirement: "Forty saves of one opening leave about as many files in the storage's folder as three.",
            hint: "What a save has replaced is not removed."
        ) { c in
            let folder = try c.folder()
            func count() -> Int { FileManager.default.subpaths(atPath: folder.path)?.count ?? 0 }
            func save(_ times: Int) throws {
                let session = try c.session()
                let entry = Entry("x")
                session.insert(entry)
                for rank in 0..<times {
                    entry.rank = rank
                    try session.save()
                }
            }
            try save(3)
            let before = count()
            try save(37)
            let after = count()
            try c.expect(after - before < 10, "about \(before) files", found: "\(after)")
            try c.close()
        },
        ConformanceCase(
            "resources.openings-that-read", level: .full, capability: .reopening,
            requirement:
                "A process that opens fifty times, reads and closes has no more files open at last than after ten times, and "
                + "uses no more than 24 MiB more.",
            hint: "A file, or what was read of it, is kept by a cache, a closure or a list that closing does not empty."
        ) { c in
            let a = try c.session()
            for number in 0..<20 { a.insert(Entry("\(number)", note: String(repeating: "n", count: 200))) }
            try a.save()
            try c.close()
            c.note("in another process: open the storage fifty times, read and close")
            guard let told = try OtherProcess.work(.readings, processes: 1, 50, in: c).first else {
                throw Untried(reason: "no process was started")
            }
            if let error = told.error { throw c.failure(expected: "fifty openings that read", found: error) }
            guard told.used.count == 2 else { throw Untried(reason: "this system does not tell what a process uses") }
            try c.expect(
                told.used[1].files - told.used[0].files < 10,
                "no more open files than \(told.used[0].files), as after ten openings", found: "\(told.used[1].files)")
            try c.expect(
                told.used[1].bytes - told.used[0].bytes < 24 << 20,
                "about \(told.used[0].bytes >> 20) MiB of memory, as after ten openings",
                found: "\(told.used[1].bytes >> 20) MiB")
        },
        ConformanceCase(
            "resources.threads-of-second-storages", level: .full, capability: .reopening,
            requirement: "Sixty openings of other folders, which read and are closed, leave no threads behind.",
            hint: "Closing the store does not end its threads or its connection's."
        ) { c in
            let root = try c.folder().deletingLastPathComponent().appending(path: "others")
            func open(_ number: Int) throws {
                let folder = root.appending(path: "\(number)")
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                let container = try c.open(for: Schema([Entry.self]), in: folder)
                _ = try ModelContext(container).fetchCount(FetchDescriptor<Entry>())
                try container.close()
            }
            try open(0)
            let before = try ProcessResources.threads()
            for number in 1...60 { try open(number) }
            let after = try ProcessResources.threads()
            // Others may work in the same process, and the system's own pool grows; one for each opening is many more.
            try c.expect(after - before < 48, "about \(before) threads", found: "\(after)")
        },
        ConformanceCase(
            "resources.stores-that-were-refused", level: .full, capability: .reopening,
            requirement:
                "A store whose contexts have read, and failed to save, leaves memory once it was closed and let go of.",
            hint: "The store is kept by a closure, a timer, an error or a list of its own."
        ) { c in
            // Whatever refers to the store ends with it.
            func useAndFail(_ round: Int) throws {
                let (a, gone) = (try c.session(), Entry("gone"))
                try a.store(gone, Entry("\(round)"))
                try c.store.save(deleted: [gone])
                try c.expectError("an error, since the record is gone") { try c.store.save(deleted: [gone]) }
                _ = try c.session().count(FetchDescriptor<Entry>())
            }
            var kept = 0
            for round in 0..<5 {
                let store = ReleasedStore(try c.store.store)
                try useAndFail(round)
                try c.close()
                if store.isKept { kept += 1 }
            }
            try c.expect(kept == 0, "that no closed store is kept", found: "\(kept) of 5")
        },
        ConformanceCase(
            "resources.openings-of-other-damage", level: .full, capability: .reopening,
            requirement:
                "Forty openings that are refused, since each file is empty or holds something else, leave no files open.",
            hint: "An opening that throws does not close what it has opened until then."
        ) { c in
            _ = try c.fillFolder()
            let folder = try c.folder()
            let whole = folder.deletingLastPathComponent().appending(path: "whole")
            try FileManager.default.copyItem(at: folder, to: whole)
            for (what, content) in [("hold something else", Data(repeating: 0x7B, count: 900)), ("are empty", Data())] {
                for file in try c.files() { try content.write(to: file) }
                let before = try ProcessResources.openFiles(in: folder.deletingLastPathComponent())
                c.note("open the storage forty times, whose files \(what)")
                for _ in 0..<40 { try? c.open(for: ConformanceModels.schema).close() }
                let after = try ProcessResources.openFiles(in: folder.deletingLastPathComponent())
                try c.expect(after - before < 10, "no more open files than \(before)", found: "\(after)")
                try FileManager.default.removeItem(at: folder)
                try FileManager.default.copyItem(at: whole, to: folder)
            }
        },
        ConformanceCase(
            "resources.second-openings-by-a-link", level: .full, capability: .reopening,
            requirement:
                "Forty second openings by a link, whether refused or closed again, leave no more files open in the folder than one.",
            hint: "An opening that is refused does not close the file that it has opened to find out."
        ) { c in
            let folder = try c.folder()
            let link = folder.deletingLastPathComponent().appending(path: "a link")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder)
            func openTwice() throws {
                if (try? c.otherConnection(at: link)) != nil { try c.closeOthers() }
            }
            let session = try c.session()
            try session.store(Entry("x"))
            try openTwice()
            let before = try ProcessResources.openFiles(in: folder)
            c.note("open the storage forty times more, by a link")
            for _ in 0..<40 { try openTwice() }
            let after = try ProcessResources.openFiles(in: folder)
            try c.expect(after - before < 10, "no more open files than \(before)", found: "\(after)")
            try session.store(Entry("y"))
            try c.expect(try c.session().count(FetchDescriptor<Entry>()), is: 2, "entries of the first opening:")
        },
    ]
}
