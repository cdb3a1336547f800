import Foundation
import Mortise
import Testing

/// What the store behind a `ModelConfiguration` tells of the file that it keeps.
@Suite struct DefaultStoreTests {
    @Test func aURLAloneMakesAnAppendLog() throws {
        let folder = try Folder()
        let url = folder.url.appending(path: "gauges.store")
        let container = try ModelContainer(for: Gauge.self, configurations: ModelConfiguration(url: url))
        let context = ModelContext(container)
        context.insert(Gauge())
        try context.save()
        try container.close()
        #expect(try Data(contentsOf: url).prefix(8) == Data([0x89, 0x4D, 0x4C, 0x4F, 0x47, 0x0D, 0x0A, 0x1A]))
        // What one adapter writes the same adapter reads.
        let log = AppendLogConfiguration(path: url.path, allowsSave: false)
        let reader = try ModelContainer(for: Schema([Gauge.self]), configurations: [log])
        #expect(try ModelContext(reader).fetchCount(FetchDescriptor<Gauge>()) == 1)
        try reader.close()
    }

    /// Each fetch shows what is saved by then, and what only the kind of store offers can be reached.
    @Test func aReaderFollowsAWriter() throws {
        let folder = try Folder()
        let url = folder.url.appending(path: "gauges.store")
        let writer = try ModelContainer(for: Gauge.self, configurations: ModelConfiguration(url: url))
        let reader = try ModelContainer(
            for: Gauge.self, configurations: ModelConfiguration(url: url, allowsSave: false))
        for count in 1...50 {
            let context = ModelContext(writer)
            context.insert(Gauge())
            try context.save()
            #expect(try ModelContext(reader).fetchCount(FetchDescriptor<Gauge>()) == count)
        }
        let log = try #require(writer.store(DefaultStore.self)?.base as? AppendLogStore)
        try log.checkpoint()
        #expect(FileManager.default.fileExists(atPath: url.path + ".checkpoint"))
        try reader.close()
        try writer.close()
    }

    @Test func itTellsWhatOpeningPutRight() throws {
        let folder = try Folder()
        let url = folder.url.appending(path: "gauges.store")
        func open() throws -> ModelContainer {
            try ModelContainer(for: Gauge.self, configurations: ModelConfiguration(url: url))
        }
        for _ in 0..<2 {
            let container = try open()
            #expect(try #require(container.store(DefaultStore.self)).recoveryDescription == nil)
            let context = ModelContext(container)
            context.insert(Gauge())
            try context.save()
            try container.close()
        }
        // As a crash leaves it: the end of the last transaction was never written.
        var bytes = try Data(contentsOf: url)
        bytes.removeSubrange(((bytes.lastIndex { $0 != 0 } ?? 0) - 20)...)
        try bytes.write(to: url)
        let container = try open()
        let store = try #require(container.store(DefaultStore.self))
        #expect(store.recoveryDescription?.contains("never acknowledged") == true)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Gauge>()) == 1)
        try container.close()
    }
}
