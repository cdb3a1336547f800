import Foundation
import Mortise
import Testing

@Model private final class Reading {
    var value: Int
    init(_ value: Int) { self.value = value }
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

    @Test(arguments: ["log", "json"]) func aFileThatIsGoneOrReplacedIsAFault(_ kind: String) throws {
        let folder = try Folder()
        let path = folder.path("s." + kind)
        let container = try open("\(kind):\(path)")
        try save(container)
        try FileManager.default.moveItem(atPath: path, toPath: path + ".moved")
        let health = try #require(container.health().first)
        #expect(health.status == .failing && !health.answers && health.fault?.contains(path) == true, "\(health)")
        try FileManager.default.moveItem(atPath: path + ".moved", toPath: path)
        #expect(container.health().map(\.status) == [.healthy])
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
