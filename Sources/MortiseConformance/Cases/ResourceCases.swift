import Foundation
import MortiseCore

// What openings leave behind in the process.

extension ConformanceCase {
    static let resourceCases: [ConformanceCase] = [
        ConformanceCase(
            "resources.descriptors", level: .full, capability: .reopening,
            requirement:
                "Fifty openings that save and are closed leave no more files open in the storage's folder than one.",
            hint: "Closing the store does not close its files."
        ) { c in
            let folder = try c.folder()
            try c.openSaveAndClose()
            let before = try ProcessResources.openFiles(in: folder)
            for _ in 0..<50 { try c.openSaveAndClose() }
            let after = try ProcessResources.openFiles(in: folder)
            try c.expect(after - before < 10, "no more open files than \(before)", found: "\(after)")
        },
        ConformanceCase(
            "resources.files-of-a-process", level: .full, capability: .reopening,
            requirement:
                "A process that opens, saves and closes fifty times has as many files open at last as after ten times.",
            hint: "A file, a socket or a pipe that does not lie in the storage's folder is not closed."
        ) { c in
            let (early, late) = try c.usedByOpenings()
            try c.expect(
                late.files - early.files < 10, "no more open files than \(early.files), as after ten openings",
                found: "\(late.files)")
        },
        ConformanceCase(
            "resources.memory", level: .full, capability: .reopening,
            requirement:
                "A process that opens, saves and closes fifty times uses no more than 24 MiB more at last than after ten times.",
            hint: "What an opening has read is kept by a cache, a closure or a list that closing does not empty."
        ) { c in
            let (early, late) = try c.usedByOpenings()
            try c.expect(
                late.bytes - early.bytes < 24 << 20,
                "about \(early.bytes >> 20) MiB of memory, as after ten openings", found: "\(late.bytes >> 20) MiB")
        },
        ConformanceCase(
            "resources.refused-openings", level: .full, capability: .reopening,
            requirement:
                "Fifty openings that are refused, since the files are damaged or the folder is missing, leave no files open.",
            hint: "An opening that throws does not close what it has opened until then."
        ) { c in
            _ = try c.fillFolder()
            let folder = try c.folder()
            for file in try c.files() {
                let data = try Data(contentsOf: file)
                try data.prefix(data.count / 2).write(to: file)
            }
            func openFifty(_ what: String) throws {
                // In the process, wherever they are; others may work in it.
                let before = try ProcessResources.openFiles(in: folder.deletingLastPathComponent())
                c.note("open the storage fifty times, whose \(what)")
                for _ in 0..<50 { try? c.open(for: ConformanceModels.schema).close() }
                let after = try ProcessResources.openFiles(in: folder.deletingLastPathComponent())
                try c.expect(after - before < 10, "no more open files than \(before)", found: "\(after)")
            }
            try openFifty("files were cut to half")
            try FileManager.default.moveItem(
                at: folder, to: folder.deletingLastPathComponent().appending(path: "aside"))
            try openFifty("folder is missing")
        },
        ConformanceCase(
            "resources.files", level: .full, capability: .reopening,
            requirement:
                "Thirty openings that save and are closed leave about as many files in the storage's folder as three.",
            hint: "What a save or an opening has replaced is not removed."
        ) { c in
            let folder = try c.folder()
            func count() -> Int { FileManager.default.subpaths(atPath: folder.path)?.count ?? 0 }
            for _ in 0..<3 { try c.openSaveAndClose() }
            let before = count()
            for _ in 0..<27 { try c.openSaveAndClose() }
            let after = count()
            try c.expect(after - before < 10, "about \(before) files", found: "\(after)")
        },
        ConformanceCase(
            "resources.second-openings", level: .full, capability: .reopening,
            requirement:
                "Fifty second openings, whether refused or closed again, leave no more files open in the storage's folder than one.",
            hint: "An opening that is refused does not close the file that it has opened to find out."
        ) { c in
            let folder = try c.folder()
            func openTwice() throws {
                if (try? c.otherConnection()) != nil { try c.closeOthers() }
            }
            try c.session().store(Entry("x"))
            try openTwice()
            let before = try ProcessResources.openFiles(in: folder)
            c.note("open the storage fifty times more")
            for _ in 0..<50 { try openTwice() }
            let after = try ProcessResources.openFiles(in: folder)
            try c.expect(after - before < 10, "no more open files than \(before)", found: "\(after)")
        },
        ConformanceCase(
            "resources.threads", level: .full, capability: .reopening,
            requirement: "Fifty openings that save and are closed leave no threads behind.",
            hint: "Closing the store does not end its threads or its connection's."
        ) { c in
            try c.openSaveAndClose()
            let before = try ProcessResources.threads()
            for _ in 0..<50 { try c.openSaveAndClose() }
            let after = try ProcessResources.threads()
            // Others may work in the same process, and the system's own pool grows; one for each opening is many more.
            try c.expect(after - before < 40, "about \(before) threads", found: "\(after)")
        },
        ConformanceCase(
            "resources.stores", level: .full, capability: .reopening,
            requirement: "A store that was closed and is not referred to any more leaves memory.",
            hint: "The store is kept by a closure, a timer or a list of its own."
        ) { c in
            var kept = 0
            for _ in 0..<5 {
                let store = ReleasedStore(try c.store.store)
                try c.session().store(Entry("x"))
                try c.close()
                if store.isKept { kept += 1 }
            }
            try c.expect(kept == 0, "that no closed store is kept", found: "\(kept) of 5")
        },
    ]
}

/// A store that nobody should refer to any more.
struct ReleasedStore {
    private weak var store: (any DataStore)?

    init(_ store: any DataStore) { self.store = store }

    /// Whether somebody keeps it. A thread of its own may be at work for a moment still.
    var isKept: Bool {
        let end = ContinuousClock.now + .seconds(1)
        while store != nil, .now < end { Thread.sleep(forTimeInterval: 0.01) }
        return store != nil
    }
}

extension CaseContext {
    fileprivate func openSaveAndClose() throws {
        let session = try session()
        session.insert(Entry("x"))
        try session.save()
        try close()
    }

    /// What another process uses that opens the storage fifty times, saves and closes: after ten times and at last.
    /// - Throws: `Untried` where the system does not tell, or no process can be started.
    fileprivate func usedByOpenings() throws -> (early: (files: Int, bytes: Int), late: (files: Int, bytes: Int)) {
        note("in another process: open the storage fifty times, save and close")
        guard let told = try OtherProcess.work(.openings, processes: 1, 50, in: self).first else {
            throw Untried(reason: "no process was started")
        }
        if let error = told.error { throw failure(expected: "fifty openings that save", found: error) }
        guard told.used.count == 2 else {
            throw Untried(reason: "this system does not tell what a process uses")
        }
        return (told.used[0], told.used[1])
    }
}
