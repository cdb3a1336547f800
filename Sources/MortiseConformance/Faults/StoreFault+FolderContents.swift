import Foundation
import MortiseCore

extension StoreFault {
    /// Faults of a store in a folder: what it makes of files that are not as it has left them, and of failing writes.
    static let folderContentFaults: [StoreFault] = [
        StoreFault("empty-files-are-no-records", "takes a file of no bytes for one without records") { folder in
            folder.fits = { found, written in found == written || found == 0 }
        },
        StoreFault("empty-files-are-not-there", "takes a file of no bytes for one that is not there") { folder in
            folder.read = { file in
                let data = try Data(contentsOf: file)
                return data.isEmpty ? nil : data
            }
        },
        StoreFault("missing-files-are-no-records", "takes a file that is not there for one without records") { folder in
            folder.read = { file in
                do {
                    return try Data(contentsOf: file)
                } catch CocoaError.fileReadNoSuchFile {
                    return nil
                }
            }
        },
        StoreFault("longer-files-are-whole", "takes a file that is longer than it was written for that one") { folder in
            folder.fits = { found, written in found >= written }
        },
        StoreFault("longer-files-are-read-in-part", "drops the lines of a longer file that it cannot read") { folder in
            folder.fits = { found, written in found >= written }
            folder.parse = { data in
                data.split(separator: UInt8(ascii: "\n")).compactMap {
                    try? JSONDecoder().decode([String?].self, from: Data($0))
                }
            }
            folder.checksHistory = false
        },
        StoreFault("repeated-records-are-new", "takes a record that is in a file twice for two") { folder in
            folder.fits = { found, written in found >= written }
            folder.parse = { data in
                var rows = try FolderSteps().parse(data)
                var seen: Set<String> = []
                for place in rows.indices.dropFirst() {
                    guard let number = rows[place].first ?? nil, !seen.insert(number).inserted else { continue }
                    rows[place][0] = "9" + number
                }
                return rows
            }
        },
        StoreFault("counts-no-lines", "takes a file for whole that has fewer lines than it was written with") {
            folder in
            folder.fits = { found, written in found <= written && found > 0 }
        },
        StoreFault("misfits-are-nil", "takes a value of another kind for nil") { $0.checksValues = false },
        StoreFault("damaged-history-is-empty", "takes a history that it cannot read for an empty one") { folder in
            folder.checksHistory = false
        },
        StoreFault("unknown-files-are-damage", "takes a file that it does not know for damage") { folder in
            folder.check = { names in
                let unknown = names.first { $0 != "lock" && Int($0) == nil && !$0.hasSuffix(".new") }
                if let unknown { throw FolderStoreError.damaged(unknown) }
            }
        },
        StoreFault("numbers-are-its-own", "takes every name that begins with a number for one of its own") { folder in
            folder.check = { names in
                let number = names.first { $0.first?.isNumber == true && Int($0) == nil && !$0.hasSuffix(".new") }
                if let number { throw FolderStoreError.damaged(number) }
            }
        },
        StoreFault("tidies-its-folder", "removes what it does not know from its folder") { folder in
            folder.opened = { _, folder in
                let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
                for name in names where name != "lock" && Int(name) == nil {
                    try? FileManager.default.removeItem(at: folder.appending(path: name))
                }
            }
        },
        StoreFault("escapes-its-path", "takes a path in which characters are escaped for the path") { folder in
            folder.place = { asked in
                let place = URL(filePath: asked.path(percentEncoded: true))
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
                return place
            }
        },
        StoreFault("takes-its-path-for-a-url", "takes its path for the text of a URL") { folder in
            folder.place = { asked in
                let place = URL(string: "file://" + asked.path).map { URL(filePath: $0.path) } ?? asked
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
                return place
            }
        },
        StoreFault("remembers-refused-saves", "shows and stores a save whose writing failed") { folder in
            folder.remembersFirst = [.save]
        },
        StoreFault("remembers-refused-erasures", "is empty in memory if an erasure could not be written") { folder in
            folder.remembersFirst = [.erasure]
        },
        StoreFault("forgets-refused-history", "forgets transactions whose deletion could not be written") { folder in
            folder.remembersFirst = [.history]
        },
        StoreFault("keeps-what-it-names", "drops the files of entities that its schema lacks") { folder in
            folder.keepsTable = { table, schema in table.hasPrefix("_") || schema.entity(named: table) != nil }
        },
    ]
}
