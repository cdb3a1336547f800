import Foundation
import MortiseCore

// What counts as locked: that another opening has the storage, and nothing else. Programs wait for that and try again.

extension ConformanceCase {
    static let openerErrorCases: [ConformanceCase] = [
        ConformanceCase(
            "openers.failed-lock-is-not-locked", level: .full, capability: .reopening,
            requirement:
                "A storage that cannot be opened for another reason than an opening elsewhere, such as a folder that is missing, "
                + "is refused with an error that is not of class locked.",
            hint:
                "Every failure to take the lock counts as locked, so that programs wait for an opening that nobody has. Only "
                + "EWOULDBLOCK of flock says that; name the cause of others."
        ) { c in
            try c.session().store(Entry("kept"))
            try c.close()
            let folder = try c.folder()
            let aside = folder.deletingLastPathComponent().appending(path: "aside")
            let files = FileManager.default
            for what in ["missing", "a file", "a link to itself"] {
                try files.moveItem(at: folder, to: aside)
                switch what {
                case "a file": try Data("x".utf8).write(to: folder)
                case "a link to itself": try files.createSymbolicLink(at: folder, withDestinationURL: folder)
                default: break
                }
                c.note("have the folder be \(what), and open the storage")
                do {
                    try c.open(for: ConformanceModels.schema).close()
                } catch {
                    c.note("→ \(type(of: error))")
                    try c.expectNotLocked(error)
                }
                try? files.removeItem(at: folder)
                try files.moveItem(at: aside, to: folder)
            }
            try c.expectNames(["kept"], "names once the folder is back:")
        },
        ConformanceCase(
            "errors.closed-is-not-locked", level: .core,
            requirement: "What a closed store refuses it does not refuse as locked: nobody else has the storage.",
            hint: "A lock that was given back is taken for one that somebody else has. Say that the store was closed."
        ) { c in
            try c.session().store(Entry("one"))
            let store = try c.store
            try c.close()
            func ask(_ what: String, _ body: () throws -> Void) throws {
                c.note("\(what) of the closed store")
                do {
                    try body()
                } catch let failure as ConformanceFailure {
                    throw failure
                } catch {
                    c.note("→ \(type(of: error))")
                    try c.expectNotLocked(error)
                }
            }
            try ask("save") { try store.save(inserted: [Entry("never")]) }
            try ask("records") { _ = try store.records(Entry.self) }
            try ask("count") { _ = try store.count(Entry.self) }
        },
    ]
}

extension CaseContext {
    func expectNotLocked(_ error: any Error) throws {
        let name = StoreErrorClass.name(of: error)
        try expect(
            name != StoreErrorClass.locked.rawValue, "an error of another class than locked",
            found: "\(type(of: error)): \(error)")
    }
}
