import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing

/// Many saves of a JSON file that share one writing.
@Suite struct BulkSavingTests {
    private struct Failure: Error {}

    private func open(_ folder: ToolFolder) throws -> JSONFileStore {
        try #require(try TripStore.open(folder.path("a.json")) as? JSONFileStore)
    }

    private func bytes(_ folder: ToolFolder) -> Data? { try? Data(contentsOf: folder.url.appending(path: "a.json")) }

    @Test func theFileIsWrittenAtAFlushAndAtTheEnd() throws {
        let folder = try ToolFolder()
        let store = try open(folder)
        var writer = TripWriter(store)
        try writer.insertGuides()
        let before = bytes(folder)
        try store.saveInBulk { flush in
            try writer.insert(0..<3)
            try writer.insert(3..<6)
            #expect(bytes(folder) == before)
            #expect(store.currentVersion.rows(ofEntity: "Stop")?.count == 12)
            try flush()
            let flushed = bytes(folder)
            #expect(flushed != before)
            try flush()
            try writer.insert(6..<9)
            #expect(bytes(folder) == flushed)
        }
        try store.close()
        #expect(try open(folder).currentVersion.rows(ofEntity: "Stop")?.count == 18)
    }

    @Test func whatWasSavedBeforeAnErrorIsWritten() throws {
        let folder = try ToolFolder()
        let store = try open(folder)
        var writer = TripWriter(store)
        #expect(throws: Failure.self) {
            try store.saveInBulk { _ in
                try writer.insertGuides()
                throw Failure()
            }
        }
        try writer.insert(0..<1)
        try store.close()
        #expect(try open(folder).currentVersion.rows(ofEntity: "Guide")?.count == 3)
    }

    @Test func afterAFileThatCannotBeWrittenNothingIsSaved() throws {
        let folder = try ToolFolder()
        let store = try open(folder)
        var writer = TripWriter(store)
        try writer.insertGuides()
        #expect(throws: FileError.self) {
            try store.saveInBulk { _ in
                try writer.insert(0..<2)
                // Somebody else's file is in the way.
                try Data("x".utf8).write(to: folder.url.appending(path: "a.json"))
            }
        }
        #expect(bytes(folder) == Data("x".utf8))
        #expect { try writer.insert(2..<3) } throws: { "\($0)".contains("refuses saves because a write failed") }
        #expect(bytes(folder) == Data("x".utf8))
    }
}
