import Foundation
import Mortise
import MortiseEngine

extension Row {
    static let log = "Mortise, log:"
    static let rawFile = "pwrite and fdatasync of the same bytes"

    /// A commit through the context, beside the least that durability costs.
    static var logCommit: Row {
        Row(
            name: "log-commit", title: "save one record durably", unit: "save",
            targets: [
                .ratio(to: rawFile, atMost: 1.2, fromRecords: 0),
                .faster(than: sqliteDurable, times: 1, fromRecords: 0),
            ]
        ) { fixture in
            // Few at a time, so that the ways take turns on a medium whose speed changes from second to second.
            let saves = 20
            let size = try LogFiles.bytesOfOneSave(fixture)
            // A store that has been open for a while, with all records and no background work due.
            let container = try LogFiles.filled(fixture)
            return [
                Way(name: log, units: saves) {
                    let context = ModelContext(container)
                    // The first one makes room in the file for the others, where there is none.
                    context.insert(Trip(fixture.trips[0], traveler: nil))
                    try context.save()
                    let before = try context.fetchCount(FetchDescriptor<Trip>())
                    return {
                        for number in 0..<saves {
                            context.insert(Trip(fixture.trips[number % fixture.trips.count], traveler: nil))
                            try context.save()
                        }
                        return { try ModelContext(container).fetchCount(FetchDescriptor<Trip>()) - before }
                    }
                },
                Way(name: rawFile, units: saves) {
                    let path = fixture.newFile("raw")
                    let files = POSIXFileSystem()
                    let file = try files.open(path, mode: .createExclusive(permissions: 0o600))
                    let bytes = [UInt8](repeating: 7, count: size)
                    // Written into zeros that are there already, as the log does.
                    try file.writeAll([UInt8](repeating: 0, count: 256 << 10), at: 0)
                    try file.sync(.data)
                    return {
                        for number in 1...saves {
                            try file.writeAll(bytes, at: Int64(number * size))
                            try file.sync(.data)
                        }
                        return {
                            try file.close()
                            LogFiles.remove(path)
                            return saves
                        }
                    }
                },
            ] + (try fixture.peers.ways(.commit(saves: saves)))
        }
    }

    /// Eight writers share the syncs of a medium that takes a millisecond for each.
    static var logWriters: Row {
        Row(
            name: "log-writers", title: "save durably where a sync takes 1 ms, 8 writers at once", unit: "save",
            isSized: false, targets: [.faster(than: "one writer", times: 4, fromRecords: 0)]
        ) { fixture in
            [
                Way(name: "8 writers", units: 160) { try LogFiles.writers(8, saves: 20, fixture) },
                Way(name: "one writer", units: 160) { try LogFiles.writers(1, saves: 160, fixture) },
            ]
        }
    }
}

/// What the rows about logs share.
enum LogFiles {
    static func remove(_ path: String) {
        for suffix in ["", ".checkpoint", ".lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    static func size(_ path: String) throws -> Int {
        try ["", ".checkpoint"].reduce(0) { sum, suffix in
            guard FileManager.default.fileExists(atPath: path + suffix) else { return sum }
            return sum + ((try FileManager.default.attributesOfItem(atPath: path + suffix)[.size] as? Int) ?? 0)
        }
    }

    /// How much a log grows by a save of one record.
    static func bytesOfOneSave(_ fixture: Fixture) throws -> Int {
        let path = fixture.newFile("log")
        defer { remove(path) }
        try fixture.newContainer(store: "log:\(path)").close()
        let before = try size(path)
        let container = try fixture.newContainer(store: "log:\(path)")
        let context = ModelContext(container)
        context.insert(Trip(fixture.trips[0], traveler: nil))
        try context.save()
        try container.close()
        return try size(path) - before
    }

    /// An open log that has all records, in a checkpoint as well.
    static func filled(_ fixture: Fixture) throws -> ModelContainer {
        let configuration = AppendLogConfiguration(path: fixture.newFile("log"))
        let container = try ModelContainer(
            for: Schema([Trip.self, Traveler.self]), configurations: [configuration])
        let context = ModelContext(container)
        fixture.insertAll(into: context)
        try context.save()
        try container.store(AppendLogStore.self)?.checkpoint()
        return container
    }

    /// A log with all records, made in one save, and without a checkpoint.
    static func make(_ fixture: Fixture) throws -> String {
        try make(Schema([Trip.self, Traveler.self]), fixture) { fixture.insertAll(into: $0) }
    }

    static func make(_ schema: Schema, _ fixture: Fixture, _ insert: (ModelContext) -> Void) throws -> String {
        let path = fixture.newFile("log")
        let container = try ModelContainer(
            for: schema, configurations: [AppendLogConfiguration(path: path, checkpoints: .onCall)])
        let context = ModelContext(container)
        insert(context)
        try context.save()
        try container.close()
        return path
    }

    static func writers(_ count: Int, saves: Int, _ fixture: Fixture) throws -> Work {
        let path = fixture.newFile("log")
        let configuration = AppendLogConfiguration(path: path, in: SlowSyncs(base: POSIXFileSystem()))
        let container = try ModelContainer(for: Schema([Trip.self, Traveler.self]), configurations: [configuration])
        let trips = fixture.trips
        return {
            // Threads of their own: a pool has no more than there are cores.
            let group = DispatchGroup()
            for writer in 0..<count {
                group.enter()
                Thread.detachNewThread {
                    let context = ModelContext(container)
                    for number in 0..<saves {
                        let values = trips[(writer * saves + number) % trips.count]
                        context.insert(Trip(values, traveler: nil))
                        // A save that fails is missing from the count below.
                        try? context.save()
                    }
                    group.leave()
                }
            }
            group.wait()
            return {
                let found = try ModelContext(container).fetchCount(FetchDescriptor<Trip>())
                try container.close()
                remove(path)
                return found
            }
        }
    }
}

/// A file system on which a sync takes a millisecond.
private struct SlowSyncs: FileSystem {
    let base: POSIXFileSystem

    var processID: Int32 { base.processID }
    func uniqueNumber() -> UInt64 { base.uniqueNumber() }
    func open(_ path: String, mode: OpenMode) throws(FileError) -> any OpenFile {
        SlowFile(base: try base.open(path, mode: mode))
    }
    func info(_ path: String, followingLinks: Bool) throws(FileError) -> FileInfo {
        try base.info(path, followingLinks: followingLinks)
    }
    func readLink(_ path: String) throws(FileError) -> String { try base.readLink(path) }
    func list(_ directory: String) throws(FileError) -> [String] { try base.list(directory) }
    func createDirectory(_ path: String, permissions: UInt32) throws(FileError) {
        try base.createDirectory(path, permissions: permissions)
    }
    func rename(_ source: String, to target: String) throws(FileError) { try base.rename(source, to: target) }
    func unlink(_ path: String) throws(FileError) { try base.unlink(path) }
    func syncDirectory(_ path: String) throws(FileError) { try base.syncDirectory(path) }
}

private final class SlowFile: OpenFile {
    let base: any OpenFile
    init(base: any OpenFile) { self.base = base }

    var path: String { base.path }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        try base.read(into: buffer, at: offset)
    }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        try base.write(bytes, at: offset)
    }
    func sync(_ kind: SyncKind) throws(FileError) {
        // What the device takes.
        Thread.sleep(forTimeInterval: 0.001)
        try base.sync(kind)
    }
    func truncate(to size: Int64) throws(FileError) { try base.truncate(to: size) }
    func info() throws(FileError) -> FileInfo { try base.info() }
    func setPermissions(_ permissions: UInt32) throws(FileError) { try base.setPermissions(permissions) }
    func setOwner(user: UInt32?, group: UInt32?) throws(FileError) { try base.setOwner(user: user, group: group) }
    func tryLock(_ kind: LockKind) throws(FileError) -> Bool { try base.tryLock(kind) }
    func close() throws(FileError) { try base.close() }
}
