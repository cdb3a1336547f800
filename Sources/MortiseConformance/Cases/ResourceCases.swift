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
                let store = WeakStore(try c.store.store)
                try c.session().store(Entry("x"))
                try c.close()
                if store.store != nil { kept += 1 }
            }
            try c.expect(kept == 0, "that no closed store is kept", found: "\(kept) of 5")
        },
    ]
}

/// What the process uses at present.
private enum ProcessResources {
    /// How many open files lead into a folder.
    /// - Throws: `Untried` where the system does not tell.
    static func openFiles(in folder: URL) throws -> Int {
        let files = FileManager.default
        guard let numbers = try? files.contentsOfDirectory(atPath: "/proc/self/fd") else {
            throw Untried(reason: "this system does not list a process's open files")
        }
        let root = folder.resolvingSymlinksInPath().path
        return numbers.count { number in
            (try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)"))?.hasPrefix(root) == true
        }
    }

    /// How many threads there are.
    /// - Throws: `Untried` where the system does not tell.
    static func threads() throws -> Int {
        guard let threads = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task") else {
            throw Untried(reason: "this system does not list a process's threads")
        }
        return threads.count
    }
}

private struct WeakStore {
    weak var store: (any DataStore)?

    init(_ store: any DataStore) { self.store = store }
}

extension CaseContext {
    fileprivate func openSaveAndClose() throws {
        let session = try session()
        session.insert(Entry("x"))
        try session.save()
        try close()
    }
}
