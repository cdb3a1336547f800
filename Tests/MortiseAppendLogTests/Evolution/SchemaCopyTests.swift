import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// The copy that is made before a schema drops something: of stores whose checkpoint cannot be read, with long names, and of
/// processes that were killed meanwhile.
@Suite struct SchemaCopyTests {
    private static let old = schema(
        1, entity("Note", textProperty("text"), textProperty("rank")),
        entity(
            "Picture",
            StoredProperty(
                name: "data", isOptional: true,
                content: .attribute(StoredAttribute(kind: .data, options: .externalStorage)))))
    private static let new = schema(
        2, entity("Note", textProperty("text")),
        entity(
            "Picture",
            StoredProperty(
                name: "data", isOptional: true,
                content: .attribute(StoredAttribute(kind: .data, options: .externalStorage)))))

    private func fill(_ world: SchemaWorld, count: Int = 3) throws -> Records {
        let store = try world.open(Self.old)
        for number in 0..<count {
            try insert(store, "Note", [.string("text \(number)"), .string("rank \(number)")], Self.old)
        }
        try insert(store, "Picture", [.data(Data(repeating: 7, count: 5_000))], Self.old)
        let records = try world.records(store, Self.old)
        try world.close(store)
        return records
    }

    private func insert(
        _ store: any EngineDataStore, _ entity: String, _ values: [StoredValue], _ schema: StoredSchema
    ) throws {
        let records = [(PersistentIdentifier.temporary(entityName: entity), values)]
        try (store as? AppendLogStore)?.insert(records, schema)
        try (store as? JSONFileStore)?.insert(records, schema)
    }

    /// Defect: one flipped bit of a checkpoint that nobody needs refused every save under a schema that drops something.
    @Test func anUnreadableCheckpointIsLeftOutOfTheCopy() throws {
        let world = try SchemaWorld(.log)
        let records = try fill(world, count: 20)
        let checkpointPath = world.path + ".checkpoint"
        let made = try #require(try world.open(Self.old) as? AppendLogStore)
        try made.checkpoint()
        try made.close()
        let whole = try #require(world.disk.contents(at: checkpointPath))
        let log = try #require(world.disk.contents(at: world.path))
        var refused = 0
        for place in stride(from: 5, to: whole.count, by: max(1, whole.count / 40)) {
            var rotten = whole
            rotten[place] ^= 1
            try world.disk.install(rotten, at: checkpointPath)
            if try !AppendLogStore.verify(world.path, in: world.disk).isSound { refused += 1 }
            let configuration = AppendLogConfiguration(path: world.path, in: world.disk)
            _ = try configuration.backUpStore(to: "/data/backup")
            let reader = try world.open(Self.old, allowsSave: false, at: "/data/backup")
            #expect(try world.records(reader, Self.old) == records, "byte \(place)")
            try world.close(reader)
            #expect(try AppendLogStore.verify("/data/backup", in: world.disk).problems == [], "byte \(place)")
            for name in ["", ".checkpoint", ".lock"] { try? world.disk.unlink("/data/backup" + name) }
            let store = try world.open(Self.new)
            try insert(store, "Note", [.string("new")], Self.new)
            try world.close(store)
            let copy = try #require(try world.copies().first)
            let kept = try world.open(Self.old, allowsSave: false, at: copy)
            #expect(try world.records(kept, Self.old) == records, "byte \(place)")
            try world.close(kept)
            #expect(try AppendLogStore.verify(copy, in: world.disk).problems == [], "byte \(place)")
            for name in ["", ".checkpoint", ".lock"] { try? world.disk.unlink(copy + name) }
            try world.disk.install(log, at: world.path)
        }
        #expect(refused > 20)
    }

    /// Where the log needs its checkpoint, the error names that file.
    @Test func theErrorOfABackupNamesTheFileAtFault() throws {
        let world = try SchemaWorld(.log)
        _ = try fill(world)
        let configuration = AppendLogConfiguration(
            schema: Schema(stored: Self.old), path: world.path, history: .keep(days: 0), in: world.disk)
        let store = try AppendLogStore(configuration, migrationPlan: nil)
        try store.compact()
        try store.close()
        let checkpointPath = world.path + ".checkpoint"
        for place in [30, 300] {
            var rotten = try #require(world.disk.contents(at: checkpointPath))
            rotten[place] ^= 1
            try world.disk.install(rotten, at: checkpointPath)
            let error = #expect(throws: AppendLogError.self) { _ = try configuration.backUpStore(to: "/data/backup") }
            #expect(error?.path == checkpointPath, "\(String(describing: error))")
            rotten[place] ^= 1
            try world.disk.install(rotten, at: checkpointPath)
        }
    }

    /// Defect: opening refused what is no file in a checkpoint's place, and verifying and salvaging passed it over.
    @Test(arguments: [FileKind.directory, .fifo]) func aCheckpointThatIsNoFileIsRefusedByAll(kind: FileKind) throws {
        let world = try SchemaWorld(.log)
        let records = try fill(world)
        try? world.disk.unlink(world.path + ".checkpoint")
        try world.disk.install(kind, at: world.path + ".checkpoint")
        let before = world.disk.paths
        let configuration = AppendLogConfiguration(path: world.path, in: world.disk)
        let requests: [(String, () throws -> Void)] = [
            ("open", { try world.close(world.open(Self.old)) }),
            ("read", { try world.close(world.open(Self.old, allowsSave: false)) }),
            ("schema", { _ = try world.storedSchema() }),
            ("verify", { _ = try AppendLogStore.verify(world.path, in: world.disk) }),
            ("backup", { _ = try configuration.backUpStore(to: "/data/copy") }),
            ("salvage", { _ = try AppendLogStore.salvage(world.path, to: "/data/copy", in: world.disk) }),
        ]
        for (name, request) in requests {
            let error = #expect(throws: FileError.self, "\(name)") { try request() }
            #expect(error?.reason == .notARegularFile(kind), "\(name)")
            #expect(error?.path == world.path + ".checkpoint", "\(name)")
        }
        #expect(world.disk.paths == before)
        try world.disk.rename(world.path + ".checkpoint", to: "/data/moved")
        let store = try world.open(Self.old)
        #expect(try world.records(store, Self.old) == records)
        try world.close(store)
    }

    /// Defect: what a killed process had copied stayed for good, gigabytes perhaps.
    @Test(arguments: SchemaWorld.Kind.allCases) func whatAKilledCopyLeftGoesWithTheNextOpening(
        _ kind: SchemaWorld.Kind
    ) throws {
        let world = try SchemaWorld(kind)
        _ = try fill(world)
        if kind == .log {
            let store = try #require(try world.open(Self.old) as? AppendLogStore)
            try store.checkpoint()
            try store.close()
        }
        let first = world.disk.operationCount
        let store = try world.open(Self.new)
        try insert(store, "Note", [.string("new")], Self.new)
        let last = world.disk.operationCount
        try world.close(store)
        var (withRemains, withCopy) = (0, 0)
        for operation in first...last {
            let disk = world.disk.crashed(after: operation, losing: .nothing)
            let left = try disk.list("/data").filter { $0.hasSuffix(".mortise-tmp") && $0.contains(".schema-") }
            if !left.isEmpty { withRemains += 1 }
            let other = try SchemaWorld(kind, on: disk)
            try other.close(other.open(Self.new))
            let names = try disk.list("/data")
            #expect(!names.contains { $0.hasSuffix(".mortise-tmp") }, "operation \(operation): \(names)")
            let copies = try other.copies()
            if !copies.isEmpty { withCopy += 1 }
            for name in names where name.contains(".schema-") && !name.hasSuffix(".external") {
                #expect(copies.contains { "/data/\(name)".hasPrefix($0) }, "operation \(operation): \(name)")
            }
            for name in names where name.contains(".schema-") && name.hasSuffix(".external") && copies.isEmpty {
                #expect(try disk.list("/data/\(name)") == [], "operation \(operation): \(name)")
            }
            for copy in copies {
                let kept = try other.open(Self.old, allowsSave: false, at: copy)
                #expect(try other.records(kept, Self.old)["Picture"]?.count == 1)
                try other.close(kept)
            }
        }
        #expect(withRemains > 0 && withCopy > 0)
    }

    /// A copy that another process makes, or has open, keeps its files; so does one whose main file somebody has moved.
    @Test func whatIsNotLeftOverStays() throws {
        let world = try SchemaWorld(.log)
        _ = try fill(world)
        let number = "0123456789abcdef"
        let temporary = "/data/.store.schema-1.0.0-\(number).77-\(number).mortise-tmp"
        let copy = "/data/store.schema-1.0.0-\(number)"
        let lock = try FileLock(forStoreAt: copy, in: world.disk)
        let strangers = [
            temporary, "/data/.store.schema-x.77-\(number).mortise-tmp", "/data/other.schema-1.0.0-\(number).lock",
            copy + ".external/" + String(repeating: "0a", count: 16), "/data/store.schema-1.0.0-notanumber.lock",
        ]
        for path in strangers { try world.disk.install([1], at: path) }
        try world.close(world.open(Self.old))
        for path in strangers + [copy + ".lock"] { #expect(world.disk.contents(at: path) != nil, "\(path)") }
        lock.release()
        try world.disk.unlink(temporary)
        try world.close(world.open(Self.old))
        for path in strangers.dropFirst() { #expect(world.disk.contents(at: path) != nil, "\(path)") }
        #expect(world.disk.contents(at: copy + ".lock") == nil)
    }

    /// Defect: any temporary of a copy's main file was taken for that of a copy that was never finished. A finished copy that was
    /// being compacted by a process that died, and whose main file somebody moved then, lost its data and its checkpoint.
    @Test(arguments: [false, true]) func onlyTheTemporaryOfANewFileSaysThatACopyIsUnfinished(isNew: Bool) throws {
        let world = try SchemaWorld(.log)
        let records = try fill(world)
        let store = try world.open(Self.new)
        try insert(store, "Note", [.string("new")], Self.new)
        try world.close(store)
        let copy = try #require(try world.copies().first)
        let kept = try AppendLogStore(
            AppendLogConfiguration(
                schema: Schema(stored: Self.old), path: copy, history: .keep(days: 0), compaction: .onCall,
                in: world.disk),
            migrationPlan: nil)
        try kept.compact()
        try kept.close()
        // As a process leaves it that is killed while it writes the next log, or the copy itself.
        let temporary = TemporaryName(of: copy, isNew: isNew, in: world.disk).path
        try world.disk.install(try #require(world.disk.contents(at: copy)), at: temporary)
        try world.disk.rename(copy, to: "/data/moved")
        if isNew {
            #expect(
                try NewLogPlace(
                    copy, permissions: 0o600, in: world.disk.crashed(after: world.disk.operationCount, losing: .nothing)
                ).files.main == copy)
        } else {
            #expect(throws: FileError.self) { try AppendLogStore.salvage(world.path, to: copy, in: world.disk) }
        }
        try world.close(world.open(Self.new))
        let left = world.disk.paths.filter { $0.hasPrefix(copy + ".") }
        #expect(left.contains(copy + ".checkpoint") == !isNew)
        #expect(left.contains { $0.hasPrefix(copy + ".external/") } == !isNew, "\(left)")
        #expect(world.disk.contents(at: temporary) == nil)
        if isNew { return }
        try world.disk.rename("/data/moved", to: copy)
        let reader = try world.open(Self.old, allowsSave: false, at: copy)
        #expect(try world.records(reader, Self.old) == records)
        try world.close(reader)
        #expect(try AppendLogStore.verify(copy, in: world.disk).problems == [])
    }

    /// Defect: names that a configuration accepts left no room for the copy's, and the first save failed.
    @Test(arguments: SchemaWorld.Kind.allCases, ["a", "ä", "🙂"])
    func theLongestNamesLeaveRoomForTheCopy(_ kind: SchemaWorld.Kind, letter: String) throws {
        for bytes in [150, 174, 190, 203] {
            let name = String(repeating: letter, count: bytes / letter.utf8.count)
            let world = try SchemaWorld(kind, at: "/data/" + name)
            let records = try fill(world)
            let first = world.disk.operationCount
            let store = try world.open(Self.new)
            try insert(store, "Note", [.string("new")], Self.new)
            let last = world.disk.operationCount
            try world.close(store)
            let copy = try #require(
                try world.disk.list("/data").first {
                    $0.contains(".schema-1.0.0-") && !$0.hasSuffix(".external") && !$0.hasSuffix(".lock")
                })
            #expect(name.hasPrefix(copy.prefix { $0 != "." }))
            let kept = try world.open(Self.old, allowsSave: false, at: "/data/" + copy)
            #expect(try world.records(kept, Self.old) == records)
            try world.close(kept)
            // These are known as what they are.
            for operation in first...last where isFullSize || operation % 6 == bytes % 6 {
                let disk = world.disk.crashed(after: operation, losing: .nothing)
                let other = try SchemaWorld(kind, on: disk, at: world.path)
                try other.close(other.open(Self.new))
                #expect(try !disk.list("/data").contains { $0.hasSuffix(".mortise-tmp") }, "operation \(operation)")
            }
        }
    }
}
