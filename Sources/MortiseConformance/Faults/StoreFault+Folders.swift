import Foundation
import Synchronization

extension StoreFault {
    /// Faults of a store in a folder: what happens when files are damaged, when several open them, and what is left behind.
    static let folderFaults: [StoreFault] = [
        StoreFault("opens-for-everybody", "lets several openings write the whole of what each has read") { folder in
            folder.lock = nil
        },
        StoreFault("locks-out-processes-alone", "locks its folder for other processes, and not for itself") { folder in
            folder.lock = { try FolderLock($0, of: [.processes]) }
        },
        StoreFault("locks-out-itself-alone", "locks its folder for the own process, and not for others") { folder in
            folder.lock = { try FolderLock($0, of: [.own]) }
        },
        StoreFault("does-not-say-locked", "refuses a second opening with an error that does not say why") { folder in
            folder.lock = { url in
                do {
                    return try FolderLock(url, of: [.processes, .own])
                } catch {
                    throw FolderStoreError.busy
                }
            }
        },
        StoreFault("keeps-its-lock", "keeps its lock when it is closed") { folder in folder.releasesLock = false },
        StoreFault("leaves-its-lock", "locks by a file that it does not remove") { folder in
            folder.lock = { try FolderLock($0, of: [.leftover]) }
        },
        StoreFault("passes-over-unreadable-files", "takes a file that cannot be read for one that is not there") {
            folder in
            folder.read = { try? Data(contentsOf: $0) }
        },
        StoreFault("passes-over-folders", "takes a folder in a file's place for a file that is not there") { folder in
            folder.read = { file in
                let values = try? file.resourceValues(forKeys: [.isDirectoryKey])
                return values?.isDirectory == true ? nil : try Data(contentsOf: file)
            }
        },
        StoreFault("passes-over-links", "passes over links that lead nowhere") { folder in
            folder.read = { file in
                if FileManager.default.fileExists(atPath: file.path) { return try Data(contentsOf: file) }
                return (try? FileManager.default.destinationOfSymbolicLink(atPath: file.path)) == nil
                    ? try Data(contentsOf: file) : nil
            }
        },
        StoreFault("takes-short-files", "takes a file that was cut after a line for a shorter one") { folder in
            folder.checksLengths = false
        },
        StoreFault("reads-as-far-as-it-comes", "drops the lines of a file from the first that it cannot read") {
            folder in
            folder.checksLengths = false
            folder.parse = { data in
                var rows: [[String?]] = []
                for line in data.split(separator: UInt8(ascii: "\n")) {
                    guard let row = try? JSONDecoder().decode([String?].self, from: Data(line)) else { break }
                    rows.append(row)
                }
                return rows
            }
        },
        StoreFault("drops-a-torn-end", "drops the last line of a file if it is not whole") { folder in
            folder.checksLengths = false
            folder.parse = { data in
                let lines = data.split(separator: UInt8(ascii: "\n"))
                return try lines.enumerated().compactMap { place, line in
                    do {
                        return try JSONDecoder().decode([String?].self, from: Data(line))
                    } catch {
                        if place == lines.count - 1 { return nil }
                        throw error
                    }
                }
            }
        },
        StoreFault("headers-are-empty-files", "takes a file of which little is left for an empty one") { folder in
            folder.read = { file in
                let data = try Data(contentsOf: file)
                return data.count < 250 && !data.contains(UInt8(ascii: "\n")) && file.lastPathComponent != "lengths"
                    ? nil : data
            }
        },
        StoreFault("remembers-its-path", "goes on with the folder in which its files were made") { folder in
            folder.place = { asked in
                let note = asked.appending(path: "path")
                // What a case has made of the note leads nowhere else.
                if let text = try? String(contentsOf: note, encoding: .utf8), text.hasPrefix("/") {
                    try FileManager.default.createDirectory(
                        at: URL(fileURLWithPath: text), withIntermediateDirectories: true)
                    return URL(fileURLWithPath: text)
                }
                try Data(asked.path.utf8).write(to: note)
                return asked
            }
        },
        StoreFault("writes-beside-its-folder", "keeps a file outside of its folder, under a name of its path") {
            folder in
            folder.write = { data, file in
                guard file.lastPathComponent == "lengths" else { return try data.write(to: file) }
                try data.write(to: file)
                let beside = file.deletingLastPathComponent().deletingLastPathComponent().appendingPathExtension("seen")
                try data.write(to: beside)
            }
            folder.read = { file in
                let beside = file.deletingLastPathComponent().deletingLastPathComponent().appendingPathExtension("seen")
                if file.lastPathComponent == "lengths", !FileManager.default.fileExists(atPath: beside.path) {
                    throw FolderStoreError.damaged("seen")
                }
                return try Data(contentsOf: file)
            }
        },
        StoreFault("passes-over-failing-writes", "acknowledges what it could not write to its files") { folder in
            folder.write = { data, file in
                do {
                    try data.write(to: file)
                } catch {
                    throw PassedOver()
                }
            }
        },
        StoreFault("acknowledges-failed-saves", "acknowledges a save whatever fails while it is written") { folder in
            folder.passesOverFailures = true
        },
        StoreFault("writes-files-in-part", "takes a file that was written in part for a whole one") { folder in
            folder.checksLengths = false
            folder.write = { data, file in
                if (try? data.write(to: file)) == nil { try? data.prefix(400).write(to: file) }
            }
        },
        StoreFault("removes-before-it-writes", "removes the old files before the new ones are whole") { folder in
            folder.replacesFirst = true
        },
        StoreFault("leaves-files-open", "does not close its files") { folder in
            folder.opened = { _, folder in
                guard let number = try? FileHandle(forReadingFrom: folder.appending(path: "lock")) else { return }
                Litter.keep(number)
            }
        },
        StoreFault("keeps-old-files", "leaves the files of every earlier save in its folder") { folder in
            folder.removesOld = false
        },
        StoreFault("leaves-files-open-when-refused", "does not close the file by which it finds its folder locked") {
            folder in
            folder.lock = { url in
                do {
                    return try FolderLock(url, of: [.processes, .own])
                } catch {
                    if let file = try? FileHandle(forReadingFrom: url.appending(path: "lock")) { Litter.keep(file) }
                    throw error
                }
            }
        },
        StoreFault("leaves-files-open-when-damaged", "does not close its files where it finds them damaged") { folder in
            folder.refused = { url in
                if let file = try? FileHandle(forReadingFrom: url.appending(path: "lock")) { Litter.keep(file) }
            }
        },
        StoreFault("leaves-other-files-open", "leaves a file open that does not lie in its folder") { folder in
            folder.opened = { _, _ in
                if let file = FileHandle(forReadingAtPath: "/dev/null") { Litter.keep(file) }
            }
        },
        StoreFault("keeps-what-it-read", "keeps what an opening has read for ever") { folder in
            folder.opened = { _, _ in Litter.keep(NSMutableData(data: Data(repeating: 1, count: 2 << 20))) }
        },
        StoreFault("leaves-threads", "begins a thread at every opening and ends none") { folder in
            folder.opened = { _, _ in
                Thread { while true { Thread.sleep(forTimeInterval: 3_600) } }.start()
            }
        },
        StoreFault("keeps-itself", "is never let go of") { folder in
            folder.opened = { store, _ in Litter.keep(store) }
        },
    ]
}

/// What faulty stores keep for ever.
private enum Litter {
    private struct Kept: @unchecked Sendable {
        // Never used again, only kept.
        let object: AnyObject
    }
    private static let all = Mutex<[Kept]>([])

    static func keep(_ object: AnyObject) {
        let kept = Kept(object: object)
        all.withLock { $0.append(kept) }
    }
}
