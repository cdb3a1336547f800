import Foundation
import MortiseCore
import MortiseJSONFile
import Synchronization
import Testing

@testable import MortiseAppendLog
@testable import MortiseEngine
import MortiseTestSupport

/// Bug: a compaction that came between the creation of an external file and the note of its name removed that file for good;
/// the save that had written it succeeded.
@Suite struct SweptWhileWrittenTests {
    private static let pictures = schema(
        1,
        entity(
            "Picture",
            StoredProperty(
                name: "data", isOptional: true,
                content: .attribute(StoredAttribute(kind: .data, options: .externalStorage)))))

    private func insert(_ number: UInt8, into store: any EngineDataStore) throws {
        let record = [
            (
                PersistentIdentifier.temporary(entityName: "Picture"),
                [StoredValue.data(Data(repeating: number, count: 5_000))]
            )
        ]
        try (store as? AppendLogStore)?.insert(record, Self.pictures)
        try (store as? JSONFileStore)?.insert(record, Self.pictures)
    }

    private func openStore(_ kind: SchemaWorld.Kind, _ fileSystem: any FileSystem) throws -> any EngineDataStore {
        let schema = Schema(stored: Self.pictures)
        switch kind {
        case .json:
            return try JSONFileStore(
                JSONFileConfiguration(schema: schema, path: "/data/store", in: fileSystem), migrationPlan: nil)
        case .log:
            var configuration = logConfiguration(fileSystem, path: "/data/store")
            configuration.schema = schema
            return try AppendLogStore(configuration, migrationPlan: nil)
        }
    }

    @Test(.timeLimit(.minutes(15)), arguments: SchemaWorld.Kind.allCases)
    func aCompactionRightAfterTheCreationLeavesTheFile(_ kind: SchemaWorld.Kind) throws {
        let world = try SchemaWorld(kind)
        let fileSystem = InterruptedFileSystem(base: world.disk)
        let store = try openStore(kind, fileSystem)
        // The first makes the folder.
        try insert(1, into: store)
        let removed = Mutex<[Int]>([])
        let refused = Mutex(0)
        fileSystem.afterOpening { path, mode in
            guard case .createExclusive = mode, path.hasPrefix("/data/store.external/") else { return }
            let ended = DispatchSemaphore(value: 0)
            // On another thread, as it is where stores are compacted in the background.
            Thread.detachNewThread {
                do {
                    let count =
                        try (store as? AppendLogStore)?.compact()
                        ?? JSONFileStore.compact("/data/store", in: world.disk)
                    removed.withLock { $0.append(count) }
                } catch {
                    refused.withLock { $0 += 1 }
                }
                ended.signal()
            }
            ended.wait()
        }
        try insert(2, into: store)
        fileSystem.afterOpening(nil)
        // Nobody compacts a JSON file that is open.
        #expect(
            removed.withLock(\.count) == (kind == .log ? 1 : 0) && refused.withLock { $0 } == (kind == .log ? 0 : 1))
        try world.close(store)
        let reader = try world.open(Self.pictures, allowsSave: false)
        #expect(try world.records(reader, Self.pictures)["Picture"]?.count == 2)
        try world.close(reader)
        let problems =
            switch kind {
            case .log: try AppendLogConfiguration(path: world.path, in: world.disk).verifyStore().problems
            case .json: try JSONFileConfiguration(path: world.path, in: world.disk).verifyStore().problems
            }
        #expect(problems == [])
    }

    /// A name that could not be used for a file is not kept for good.
    @Test func aFileThatCannotBeMadeIsForgotten() throws {
        let world = try SchemaWorld(.log)
        let store = try openStore(.log, world.disk)
        try insert(1, into: store)
        let files = try #require(store.engine.version.catalog.external)
        world.disk.inject(.fail(.noSpace), at: 1, of: .open)
        #expect(throws: FileError.self) { try insert(2, into: store) }
        world.disk.removeFaults()
        #expect(files.state.withLock(\.unsettled) == [])
        try world.close(store)
    }

    /// A sweep moves a file back between a reader's look at the one place and at the other.
    @Test func aFileThatIsMovedBackWhileItIsReadIsRead() throws {
        let world = try SchemaWorld(.log)
        let fileSystem = InterruptedFileSystem(base: world.disk)
        let files = ExternalFiles(beside: "/data/store", in: fileSystem)
        let data = Data(repeating: 3, count: 5_000)
        let reference = try files.write(data)
        try world.disk.createDirectory(files.asideFolder, permissions: 0o700)
        try world.disk.rename(files.path(of: reference.name), to: files.asidePath(of: reference.name))
        #expect(try files.read(reference) == data)
        fileSystem.beforeOpening { path, _ in
            guard path == files.asidePath(of: reference.name) else { return }
            try? world.disk.rename(path, to: files.path(of: reference.name))
        }
        #expect(try files.read(reference) == data)
    }
}

/// Does something whenever a file is opened.
private final class InterruptedFileSystem: FileSystem {
    typealias Action = @Sendable (_ path: String, _ mode: OpenMode) -> Void

    private let base: SimulatedFileSystem
    private let actions = Mutex<(before: Action?, after: Action?)>((nil, nil))

    init(base: SimulatedFileSystem) { self.base = base }

    func beforeOpening(_ action: Action?) { actions.withLock { $0.before = action } }
    func afterOpening(_ action: Action?) { actions.withLock { $0.after = action } }

    func open(_ path: String, mode: OpenMode) throws(FileError) -> any OpenFile {
        actions.withLock(\.before)?(path, mode)
        let file = try base.open(path, mode: mode)
        actions.withLock(\.after)?(path, mode)
        return file
    }
    var processID: Int32 { base.processID }
    func uniqueNumber() -> UInt64 { base.uniqueNumber() }
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
    func rename(_ source: String, to target: String) throws(FileError) { try base.rename(source, to: target) }
    func unlink(_ path: String) throws(FileError) { try base.unlink(path) }
    func syncDirectory(_ path: String) throws(FileError) { try base.syncDirectory(path) }
}
