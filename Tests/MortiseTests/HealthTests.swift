import CustomStore
import Foundation
import Mortise
import Testing

@Model private final class Reading {
    var value: Int
    init(_ value: Int) { self.value = value }
}

@Model private final class ShelfLabel {
    var text: String
    init(_ text: String) { self.text = text }
}

/// What `ModelContainer.health()` says of stores that work, and of such that do not.
@Suite struct HealthTests {
    private func open(_ url: String) throws -> ModelContainer { try ModelContainer(for: Reading.self, store: url) }

    private func save(_ container: ModelContainer) throws {
        let context = ModelContext(container)
        for value in 0..<10 { context.insert(Reading(value)) }
        try context.save()
    }

    @Test(arguments: ["log", "json", "memory", "model"]) func aStoreThatWorksIsHealthy(_ kind: String) throws {
        let folder = try Folder()
        let path = folder.path("s." + kind)
        let container =
            switch kind {
            case "memory": try open("memory:")
            case "model":
                try ModelContainer(
                    for: Reading.self, configurations: ModelConfiguration(url: URL(fileURLWithPath: path)))
            default: try open("\(kind):\(path)")
            }
        #expect(container.health().map(\.status) == [.healthy])
        try save(container)
        let health = try #require(container.health().first)
        #expect(health.status == .healthy && health.answers && health.fault == nil)
        if kind == "memory" {
            #expect(health.freeSpace == nil)
        } else {
            #expect(health.location == path)
            #expect(try #require(health.freeSpace) > 0)
            let low = try #require(container.health(leastFreeSpace: .max).first)
            #expect(low.status == .lowOnSpace && low.answers && low.fault?.contains("Make room") == true)
        }
        try container.close()
        #expect(container.health().map(\.status) == [.closed])
        #expect(container.health().allSatisfy { !$0.answers && $0.fault != nil })
    }

    private func open(_ kind: String, at path: String, allowsSave: Bool = true) throws -> ModelContainer {
        kind == "model"
            ? try ModelContainer(
                for: Reading.self,
                configurations: ModelConfiguration(url: URL(fileURLWithPath: path), allowsSave: allowsSave))
            : try open("\(kind):\(path)?allowsSave=\(allowsSave)")
    }

    /// Defect: one that is open for reading was healthy whatever had become of its file.
    @Test(arguments: ["log", "json", "model"], [true, false])
    func aFileThatIsGoneOrReplacedIsAFault(_ kind: String, allowsSave: Bool) throws {
        let folder = try Folder()
        let path = folder.path("s." + kind)
        let writer = try open(kind, at: path)
        try save(writer)
        if !allowsSave { try writer.close() }
        let container = allowsSave ? writer : try open(kind, at: path, allowsSave: false)
        #expect(container.health().map(\.status) == [.healthy])
        try FileManager.default.moveItem(atPath: path, toPath: path + ".moved")
        let health = try #require(container.health().first)
        #expect(health.status == .failing && !health.answers && health.fault?.contains(path) == true, "\(health)")
        try FileManager.default.moveItem(atPath: path + ".moved", toPath: path)
        #expect(container.health().map(\.status) == [.healthy])
        try container.close()
    }

    /// Defect: a reader of a file that it could not take in told one fetch, and was healthy.
    @Test func aFileThatAReaderCannotTakeInIsAFault() throws {
        let folder = try Folder()
        let path = folder.path("s.json")
        let writer = try open("json", at: path)
        try save(writer)
        try writer.close()
        let reader = try open("json", at: path, allowsSave: false)
        let good = try Data(contentsOf: URL(fileURLWithPath: path))
        try good.dropLast(20).write(to: URL(fileURLWithPath: path))
        // It is looked at again after a while, for as long as it may still be being written.
        while reader.health().map(\.status) == [.healthy] {
            _ = try? ModelContext(reader).fetchCount(FetchDescriptor<Reading>())
            Thread.sleep(forTimeInterval: 0.01)
        }
        #expect(reader.health().map(\.status) == [.damaged])
        _ = try? ModelContext(reader).fetchCount(FetchDescriptor<Reading>())
        #expect(reader.health().map(\.status) == [.damaged])
        try good.write(to: URL(fileURLWithPath: path))
        #expect(try ModelContext(reader).fetchCount(FetchDescriptor<Reading>()) == 10)
        #expect(reader.health().map(\.status) == [.healthy])
        try reader.close()
    }

    /// Defect: of several threads that asked at once, one looked at a JSON file, and the others took it for one that was being
    /// written.
    @Test(arguments: ["log", "json", "model"]) func allThreadsAreToldTheSame(_ kind: String) throws {
        let folder = try Folder()
        let path = folder.path("s." + kind)
        let container = try open(kind, at: path)
        try save(container)
        try FileManager.default.moveItem(atPath: path, toPath: path + ".moved")
        let healthy = Tally()
        DispatchQueue.concurrentPerform(iterations: 2_000) { _ in
            if container.health().map(\.status) != [.failing] { healthy.add() }
        }
        #expect(healthy.count == 0)
        try FileManager.default.moveItem(atPath: path + ".moved", toPath: path)
        // Nor is one that works ever taken for one that does not, while it is saved.
        let unhealthy = Tally()
        let context = ModelContext(container)
        let done = DispatchSemaphore(value: 0)
        let asking = Thread {
            while !Thread.current.isCancelled {
                if container.health().map(\.status) != [.healthy] { unhealthy.add() }
            }
            done.signal()
        }
        asking.start()
        for value in 0..<200 {
            context.insert(Reading(value))
            try context.save()
            if value % 50 == 0 { try container.compact() }
        }
        asking.cancel()
        done.wait()
        #expect(unhealthy.count == 0)
        try container.close()
    }

    /// Defects: the container's policy about scans was applied to the record that is read of a store which cannot be asked, and of
    /// two stores that could have an entity the first was asked in the name of both.
    @Test func aStoreThatCannotBeAskedIsRead() throws {
        let folder = try Folder()
        let path = folder.path("s.json")
        var csv = CSVConfiguration(folder: folder.url.appending(path: "csv"))
        try FileManager.default.createDirectory(at: csv.folder, withIntermediateDirectories: true)
        let schema = Schema([Reading.self, ShelfLabel.self])
        csv.schema = schema
        let container = try ModelContainer(
            for: schema,
            configurations: [JSONFileConfiguration(schema: Schema([Reading.self]), path: path), csv])
        container.fullScanPolicy = .refuse
        try save(container)
        let context = ModelContext(container)
        context.insert(ShelfLabel("a"))
        try context.save()
        #expect(container.health().map(\.status) == [.healthy, .healthy])
        try container.store(JSONFileStore.self)?.close()
        #expect(container.health().map(\.status) == [.failing, .healthy])
        try container.close()
    }

    @Test(arguments: ["log", "json"]) func aLockThatIsTakenAwayIsSeen(_ kind: String) throws {
        let folder = try Folder()
        let path = folder.path("s." + kind)
        let container = try open("\(kind):\(path)")
        try save(container)
        try FileManager.default.removeItem(atPath: path + ".lock")
        let health = try #require(container.health().first)
        #expect(health.status == .locked && health.fault?.contains("lock") == true, "\(health)")
        try? container.close()
    }

    @Test func damageThatWasMetIsToldOn() throws {
        let folder = try Folder()
        let path = folder.path("s.log")
        var container = try open("log:\(path)?keepDays=0")
        try save(container)
        try container.compact()
        try container.close()
        let checkpoint = URL(fileURLWithPath: path + ".checkpoint")
        var bytes = try Data(contentsOf: checkpoint)
        // Behind the header lie the chunks of the records.
        for place in 64..<min(400, bytes.count - 400) { bytes[place] ^= 0xFF }
        try bytes.write(to: checkpoint)
        guard let opened = try? open("log:\(path)") else {
            Issue.record("the damage should show when the records are read")
            return
        }
        container = opened
        #expect {
            try ModelContext(container).fetch(FetchDescriptor<Reading>()).map(\.value)
        } throws: {
            ($0 as? any ClassifiedStoreError)?.errorClass == .damaged
        }
        let health = try #require(container.health().first)
        #expect(health.status == .damaged && health.fault?.contains(path) == true, "\(health)")
        try? container.close()
    }
}
