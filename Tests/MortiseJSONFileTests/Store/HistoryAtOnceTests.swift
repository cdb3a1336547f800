import Foundation
import Mortise
import MortiseEngine
import MortiseJSONFile
import MortiseTestSupport
import Synchronization
import Testing

@Model private final class Note {
    var text: String
    init(_ text: String) { self.text = text }
}

/// Histories that are written again while others read them or save.
@Suite struct HistoryAtOnceTests {
    private typealias Descriptor = HistoryDescriptor<DefaultHistoryTransaction>
    private static let path = "/notes.json"
    private let disk = SimulatedFileSystem(seed: 3)

    private func container(_ configuration: JSONFileConfiguration) throws -> ModelContainer {
        try ModelContainer(for: Note.self, configurations: configuration)
    }

    private func save(_ authors: [String], _ context: ModelContext) throws {
        for author in authors {
            context.author = author
            context.insert(Note(author))
            try context.save()
        }
    }

    private func authors(_ context: ModelContext, after token: DefaultHistoryToken? = nil) throws -> [String?] {
        try context.fetchHistory(Descriptor(predicate: token.map { token in #Predicate { $0.token > token } }))
            .map(\.author)
    }

    /// Bug: the places of a file that was not there any more were looked up in the one that had replaced it, and the history was called
    /// damaged.
    @Test(arguments: [false, true]) func aReaderTakesInThatTheHistoryWasWrittenAgain(isHole: Bool) throws {
        let writer = try container(JSONFileConfiguration(path: Self.path, in: disk))
        let context = ModelContext(writer)
        try save(["a", "b", "c", "d"], context)
        let reader = try container(
            JSONFileConfiguration(path: Self.path, allowsSave: false, in: disk.process(300)))
        let reading = ModelContext(reader)
        let known = try reading.fetchHistory(Descriptor())
        #expect(known.map(\.author) == ["a", "b", "c", "d"])
        let doomed = isHole ? "c" : "a"
        try context.deleteHistory(Descriptor(predicate: #Predicate { $0.author == doomed }))
        // The records are as they were, and so is their file.
        let left = ["a", "b", "c", "d"].filter { $0 != doomed }
        #expect(try authors(reading) == left)
        #expect(try authors(reading, after: known[2].token) == ["d"])
        if isHole {
            #expect(throws: SwiftDataError.historyTokenExpired) { try authors(reading, after: known[0].token) }
        }
        try save(["e"], context)
        #expect(try authors(reading) == left + ["e"])
        try reader.close()
        try writer.close()
    }

    /// Bug: a deletion between the save's frames and the renaming of its file replaced the history by one without them, and the next save
    /// wrote behind its end: it could not be read any more.
    @Test func aDeletionWaitsForTheSaveThatIsUnderWay() throws {
        let pausing = PausingFileSystem(disk)
        let container = try container(JSONFileConfiguration(path: Self.path, in: pausing))
        let context = ModelContext(container)
        try save(["a", "b", "c"], context)
        let isDone = DispatchGroup()
        let failure = Mutex<String?>(nil)
        pausing.beforeNaming(Self.path) {
            isDone.enter()
            DispatchQueue.global().async {
                let author = "a"
                do {
                    try ModelContext(container).deleteHistory(Descriptor(predicate: #Predicate { $0.author == author }))
                } catch { failure.withLock { $0 = "\(error)" } }
                isDone.leave()
            }
            // Long enough for one that does not wait.
            _ = isDone.wait(timeout: .now() + .milliseconds(300))
        }
        try save(["d"], context)
        #expect(isDone.wait(timeout: .now() + .seconds(60)) == .success)
        #expect(failure.withLock { $0 } == nil)
        #expect(try authors(context) == ["b", "c", "d"])
        try save(["e"], context)
        #expect(try authors(context) == ["b", "c", "d", "e"])
        try container.close()
        let again = try self.container(JSONFileConfiguration(path: Self.path, in: disk))
        #expect(try authors(ModelContext(again)) == ["b", "c", "d", "e"])
        try again.close()
    }
}

/// Does something once, before a file gets a name.
private final class PausingFileSystem: FileSystem {
    private struct Pause: Sendable {
        let path: String
        let body: @Sendable () -> Void
    }

    private let base: SimulatedFileSystem
    private let pause = Mutex<Pause?>(nil)

    init(_ base: SimulatedFileSystem) { self.base = base }

    func beforeNaming(_ path: String, _ body: @escaping @Sendable () -> Void) {
        pause.withLock { $0 = Pause(path: path, body: body) }
    }

    func rename(_ source: String, to target: String) throws(FileError) {
        let found = pause.withLock { pause in
            defer { if pause?.path == target { pause = nil } }
            return pause?.path == target ? pause : nil
        }
        found?.body()
        try base.rename(source, to: target)
    }

    var processID: Int32 { base.processID }
    func uniqueNumber() -> UInt64 { base.uniqueNumber() }
    func open(_ path: String, mode: OpenMode) throws(FileError) -> any OpenFile {
        try base.open(path, mode: mode)
    }
    func info(_ path: String, followingLinks: Bool) throws(FileError) -> FileInfo {
        try base.info(path, followingLinks: followingLinks)
    }
    func extent(_ path: String, followingLinks: Bool) throws(FileError) -> FileExtent {
        try base.extent(path, followingLinks: followingLinks)
    }
    func readLink(_ path: String) throws(FileError) -> String { try base.readLink(path) }
    func list(_ directory: String) throws(FileError) -> [String] { try base.list(directory) }
    func createDirectory(_ path: String, permissions: UInt32) throws(FileError) {
        try base.createDirectory(path, permissions: permissions)
    }
    func unlink(_ path: String) throws(FileError) { try base.unlink(path) }
    func syncDirectory(_ path: String) throws(FileError) { try base.syncDirectory(path) }
}
