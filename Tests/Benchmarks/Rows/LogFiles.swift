import Foundation
import Mortise

extension Row {
    /// As the peers do it: from values, without an object for each record.
    static var logBulk: Row {
        Row(
            name: "log-bulk", title: "insert all in bulk and save to a log, three indexes", unit: "record",
            targets: [
                .ratio(to: memory, atMost: 1.3, fromRecords: 100_000),
                .faster(than: grdb, times: 8, fromRecords: 100_000),
                .faster(than: lmdb, times: 1, fromRecords: 100_000),
                .faster(than: lmdbIndexed, times: 1, fromRecords: 100_000),
            ]
        ) { fixture in
            try inserting(fixture) { try fixture.insertInBulk(into: $0) } + fixture.peers.ways(.insertToDisk)
        }
    }

    static var logInsert: Row {
        Row(
            name: "log-insert", title: "insert all as models and save to a log, three indexes", unit: "record",
            targets: [.ratio(to: memory, atMost: 1.3, fromRecords: 100_000)]
        ) { fixture in
            try inserting(fixture) { context in
                fixture.insertAll(into: context)
                try context.save()
            }
        }
    }

    /// All records into a new log, and into a new store in memory.
    private static func inserting(
        _ fixture: Fixture, _ insert: @escaping (ModelContext) throws -> Void
    ) throws -> [Way] {
        [(log, "log:"), (memory, "memory:")].map { name, scheme in
            Way(name: name, units: fixture.records) {
                let path = fixture.newFile("log")
                let container = try fixture.newContainer(store: scheme == "log:" ? scheme + path : scheme)
                return {
                    try insert(ModelContext(container))
                    return {
                        let count = try ModelContext(container).fetchCount(FetchDescriptor<Trip>())
                        try container.close()
                        LogFiles.remove(path)
                        return count
                    }
                }
            }
        }
    }

    /// Opening is nearly independent of how many records and transactions there are.
    static var logOpen: Row {
        Row(
            name: "log-open", title: "open a log with a checkpoint and look one record up by name", unit: "opening",
            targets: [.independent(atMost: 3), .limit(atMost: 10_000_000, fromRecords: 100_000)]
        ) { fixture in
            let path = try LogFiles.make(fixture)
            try LogFiles.checkpoint(path, fixture)
            let name = fixture.trips[fixture.records / 2].name
            return [
                Way(name: log, units: 1) {
                    {
                        let container = try fixture.newContainer(store: "log:\(path)")
                        let found = try ModelContext(container).fetch(
                            FetchDescriptor<Trip>(predicate: #Predicate { $0.name == name }))
                        let notes = found.map(\.note)
                        return {
                            try container.close()
                            return notes.isEmpty ? 0 : 1
                        }
                    }
                }
            ]
        }
    }

    /// The same with a tail: one in a hundred records changed and one in two hundred deleted since the checkpoint, all over the store.
    static var logOpenTail: Row {
        Row(
            name: "log-open-tail",
            title: "open a log with 1.5 % of the records changed behind its checkpoint, look one up by name",
            unit: "changed record", targets: [.linear(atMost: 3)]
        ) { fixture in
            let path = try LogFiles.make(fixture)
            try LogFiles.checkpoint(path, fixture)
            try LogFiles.change(path, fixture)
            let name = fixture.trips[fixture.records / 2].name
            return [
                Way(name: log, units: max(1, fixture.records * 3 / 200)) {
                    {
                        let container = try fixture.newContainer(store: "log:\(path)")
                        let found = try ModelContext(container).fetch(
                            FetchDescriptor<Trip>(predicate: #Predicate { $0.name == name }))
                        let notes = found.map(\.note)
                        return {
                            try container.close()
                            return notes.isEmpty ? 0 : 1
                        }
                    }
                }
            ]
        }
    }

    /// Writing a checkpoint, which reads itself back before it takes the old one's place; beside it, the same bytes written,
    /// synchronized and read.
    static var logCheckpoint: Row {
        Row(
            name: "log-checkpoint",
            title: "write a checkpoint of all records and read it back, three indexes and links",
            unit: "record", targets: [flat]
        ) { fixture in
            let path = try LogFiles.make(fixture)
            try LogFiles.checkpoint(path, fixture)
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path + ".checkpoint"))
            return [
                Way(name: log, units: fixture.records) {
                    let container = try fixture.newContainer(store: "log:\(path)")
                    let store = container.store(AppendLogStore.self)
                    return {
                        try store?.checkpoint()
                        return {
                            let count = try ModelContext(container).fetchCount(FetchDescriptor<Trip>())
                            try container.close()
                            return count
                        }
                    }
                },
                Way(name: rawBytes, units: fixture.records) {
                    let copy = fixture.newFile("bytes")
                    return {
                        try Data().write(to: URL(fileURLWithPath: copy))
                        let file = try FileHandle(forUpdating: URL(fileURLWithPath: copy))
                        try file.write(contentsOf: bytes)
                        try file.synchronize()
                        try file.seek(toOffset: 0)
                        let count = try file.readToEnd()?.count ?? 0
                        try file.close()
                        return {
                            try FileManager.default.removeItem(atPath: copy)
                            return count == bytes.count ? fixture.records : 0
                        }
                    }
                },
            ]
        }
    }

    static let rawBytes = "the same bytes, raw"

    static var logReplay: Row {
        Row(
            name: "log-replay", title: "replay a log without a checkpoint, three indexes and links rebuilt",
            unit: "kB of log", targets: [.limit(atMost: 10_000, fromRecords: 100_000), .linear(atMost: 2)]
        ) { fixture in
            let path = try LogFiles.make(fixture)
            return [try LogFiles.replaying(Trip.self, path, Schema([Trip.self, Traveler.self]))]
        }
    }

    static var logReplayUnindexed: Row {
        Row(
            name: "log-replay-unindexed", title: "replay a log without a checkpoint, no index", unit: "kB of log",
            targets: [.limit(atMost: 3_333, fromRecords: 100_000), .linear(atMost: 2)]
        ) { fixture in
            let schema = Schema([UnindexedTrip.self])
            let path = try LogFiles.make(schema, fixture) { context in
                for values in fixture.trips { context.insert(UnindexedTrip(values)) }
            }
            return [try LogFiles.replaying(UnindexedTrip.self, path, schema)]
        }
    }

    /// The files of a log without history.
    static var logSize: Row {
        Row(
            name: "log-size", title: "size of a compacted log's files, no history", unit: "record",
            targets: [.ratio(to: sqlite, atMost: 1, fromRecords: 100_000)], ways: { _ in [] }
        ) { fixture in
            [
                Gauge(name: log, units: fixture.records, quantity: .bytes) {
                    let path = try LogFiles.make(fixture)
                    try LogFiles.checkpoint(path, fixture)
                    defer { LogFiles.remove(path) }
                    return Double(try LogFiles.size(path))
                }
            ] + fixture.peers.size(fixture)
        }
    }
}

extension LogFiles {
    /// Opens a log as a reader, who has nothing to write first, and reads all of it.
    static func replaying<T: PersistentModel>(_ type: T.Type, _ path: String, _ schema: Schema) throws -> Way {
        guard !FileManager.default.fileExists(atPath: path + ".checkpoint") else { throw ReplayedNothing() }
        return Way(name: Row.log, units: try size(path) / 1_000) {
            {
                let container = try ModelContainer(
                    for: schema,
                    configurations: [AppendLogConfiguration(path: path, allowsSave: false, checkpoints: .onCall)])
                return {
                    let count = try ModelContext(container).fetchCount(FetchDescriptor<T>())
                    try container.close()
                    return count
                }
            }
        }
    }

    /// Writes a checkpoint and drops the history before it.
    /// Changes one in a hundred records and deletes one in two hundred, and leaves that behind the checkpoint.
    static func change(_ path: String, _ fixture: Fixture) throws {
        let container = try ModelContainer(
            for: Schema([Trip.self, Traveler.self]),
            configurations: [
                AppendLogConfiguration(path: path, history: .keep(days: 0), checkpoints: .onCall, compaction: .onCall)
            ])
        let context = ModelContext(container)
        let trips = try context.fetch(FetchDescriptor<Trip>())
        for number in stride(from: 0, to: trips.count, by: 200) {
            trips[number].note += " changed"
            if number + 70 < trips.count { trips[number + 70].note += " changed" }
            if number + 130 < trips.count { context.delete(trips[number + 130]) }
        }
        try context.save()
        try container.close()
    }

    static func checkpoint(_ path: String, _ fixture: Fixture) throws {
        let container = try ModelContainer(
            for: Schema([Trip.self, Traveler.self]),
            configurations: [AppendLogConfiguration(path: path, history: .keep(days: 0))])
        try container.store(AppendLogStore.self)?.compact()
        try container.close()
    }
}

/// There was a checkpoint, so that opening the log would have replayed nothing of it.
struct ReplayedNothing: Error {}
