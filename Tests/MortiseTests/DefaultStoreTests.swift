import Foundation
import Mortise
import Testing

/// What the store behind a `ModelConfiguration` tells of the file that it keeps.
@Suite struct DefaultStoreTests {
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
