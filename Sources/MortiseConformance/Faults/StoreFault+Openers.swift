import Foundation
import MortiseCore

extension StoreFault {
    /// Faults of stores that several open: how they lock, and what they remember.
    static let openerFaults: [StoreFault] = [
        StoreFault("locks-its-path", "keeps a list of the paths that it has open, and looks for no links") { folder in
            folder.lock = { try FolderLock($0, of: [.processes, .ownByPath]) }
        },
        StoreFault("locks-elsewhere", "locks by a file that lies with the temporary ones") { folder in
            folder.lock = { try FolderLock($0, of: [.elsewhere, .own]) }
        },
        StoreFault("every-failure-is-locked", "takes every failure of its lock for a folder that is open elsewhere") {
            folder in
            folder.lock = { url in
                do {
                    return try FolderLock(url, of: [.processes, .own])
                } catch {
                    throw FolderStoreError.locked
                }
            }
        },
        StoreFault("closed-is-locked", "says that its folder is open elsewhere when it was closed") { folder in
            folder.closedError = .locked
        },
        StoreFault("removes-its-lock", "removes the file of its lock when it is closed") { folder in
            folder.lock = { try FolderLock($0, of: [.removed]) }
        },
        StoreFault("bequeaths-its-lock", "leaves its lock to every program that is started while it is open") {
            folder in
            folder.lock = { try FolderLock($0, of: [.inherited]) }
        },
        StoreFault("reads-before-it-locks", "looks for the latest save before it has its lock") { folder in
            folder.readsFirst = true
        },
        StoreFault("makes-itself-in-place", "makes a new storage under its final name, in two steps") { folder in
            folder.place = { asked in
                let sign = asked.appending(path: "made")
                if let data = try? Data(contentsOf: sign) {
                    if data.isEmpty { throw FolderStoreError.damaged("made") }
                    return asked
                }
                try Data().write(to: sign)
                // Long enough for another to come.
                Thread.sleep(forTimeInterval: 0.015)
                try Data("whole".utf8).write(to: sign)
                return asked
            }
        },
        shared("counts-once", "counts records once, and again after its own next save") { $0.countsOnce = true },
    ]
}
