import Foundation
import MortiseCore
import MortiseEngine
import MortiseTestSupport
import Synchronization
import Testing

@testable import MortiseAppendLog

/// Bugs: a token was a number alone, so that after a backup was restored, or in a copy that had gone its own way, others' transactions were
/// taken for those that had been seen. And each fetch of the history read the log from its start.
struct HistoryMarksTests {
    private typealias Descriptor = HistoryDescriptor<DefaultHistoryTransaction>

    private func save(_ labels: [String], _ context: ModelContext) throws {
        for label in labels {
            context.author = label
            context.insert(Box(label))
            try context.save()
        }
    }

    private func authors(_ context: ModelContext, after token: DefaultHistoryToken) throws -> [String?] {
        try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > token })).map(\.author)
    }

    @Test func aTokenOfWhatABackupTookBackHasExpired() throws {
        let disk = try makeDisk()
        let (backup, kept, lost) = try withLog(logConfiguration(disk)) { context in
            try save(["a", "b"], context)
            let backup = try #require(disk.contents(at: logPath))
            let kept = try #require(try context.fetchHistory(Descriptor()).last).token
            try save(["lost 1", "lost 2"], context)
            return (backup, kept, try #require(try context.fetchHistory(Descriptor()).last).token)
        }
        let restored = try makeDisk(with: backup)
        try withLog(logConfiguration(restored)) { context in
            #expect(throws: SwiftDataError.historyTokenExpired) { try authors(context, after: lost) }
            try save(["c", "d", "e"], context)
            #expect(throws: SwiftDataError.historyTokenExpired) { try authors(context, after: lost) }
            #expect(try authors(context, after: kept) == ["c", "d", "e"])
            let unmarked = DefaultHistoryToken(lost.tokenValue ?? [:])
            #expect(try authors(context, after: unmarked) == ["e"])
        }
    }

    @Test func aCompactionKeepsNumbersAndMarks() throws {
        let disk = try makeDisk()
        let all = try withLog(logConfiguration(disk)) { context in
            try save(["a", "b", "c", "d"], context)
            let all = try context.fetchHistory(Descriptor())
            let second = all[1].transactionIdentifier
            try context.deleteHistory(Descriptor(predicate: #Predicate { $0.transactionIdentifier == second }))
            return all
        }
        try withLog(logConfiguration(disk)) { context in
            let left = try context.fetchHistory(Descriptor())
            #expect(left.map(\.token) == [all[0], all[2], all[3]].map(\.token))
            #expect(left.map(\.token.marks) == [all[0], all[2], all[3]].map(\.token.marks))
            #expect(throws: SwiftDataError.historyTokenExpired) { try authors(context, after: all[0].token) }
            // The stub has its mark too.
            #expect(try authors(context, after: all[1].token) == ["c", "d"])
            try context.deleteHistory(Descriptor(predicate: #Predicate { $0.author == "a" }))
            let status = try context.container.historyStatus()[0]
            #expect(status.horizon == 2 && status.holes == 0 && status.transactions == 2)
            #expect(try authors(context, after: all[1].token) == ["c", "d"])
            let store = try #require(all[1].token.storeIdentifier)
            let other = DefaultHistoryToken([store: 2], marks: [store: 7])
            #expect(throws: SwiftDataError.historyTokenExpired) { try authors(context, after: other) }
        }
        #expect(try AppendLogStore.verify(logPath, in: disk).isSound)
    }

    @Test func holdersAreBesideTheLog() throws {
        let disk = try makeDisk()
        try withLog(logConfiguration(disk, history: .keep(days: 0))) { context in
            try save(["a", "b", "c"], context)
            let token = try context.fetchHistory(Descriptor())[0].token
            try context.container.holdHistory("sync", after: token)
        }
        #expect(disk.contents(at: logPath + ".holders") != nil)
        try withLog(logConfiguration(disk, history: .keep(days: 0))) { context in
            #expect(try context.container.historyHolders.map(\.name) == ["sync"])
            let store = try #require(context.container.store(AppendLogStore.self))
            #expect(try store.compact() == 1)
            #expect(try context.fetchHistory(Descriptor()).map(\.author) == ["b", "c"])
            try context.container.releaseHistory("sync")
            #expect(try store.compact() == 2)
        }
    }

    @Test(arguments: [1_500, 4_500]) func fetchingAfterATokenReadsNoMoreOfALongerLog(count: Int) throws {
        let disk = try makeDisk()
        let counted = CountingFileSystem(disk)
        try withLog(logConfiguration(counted, durability: .none)) { context in
            for number in 0..<count {
                context.insert(Box("\(number)"))
                try context.save()
            }
            let token = try #require(try context.fetchHistory(Descriptor(predicate: nil)).dropLast(3).last).token
            let before = counted.bytes
            #expect(try authors(context, after: token).count == 3)
            let read = counted.bytes - before
            #expect(read > 0 && read < 160 << 10, "\(read) bytes of \(disk.contents(at: logPath)?.count ?? 0)")
        }
    }
}

/// Counts the bytes that are read, of one file or of all.
final class CountingFileSystem: FileSystem {
    private let base: any FileSystem
    private let counted: String?
    fileprivate let count = Mutex(0)
    var bytes: Int { count.withLock { $0 } }

    init(_ base: any FileSystem, of path: String? = nil) {
        self.base = base
        counted = path
    }

    fileprivate func note(_ bytes: Int, of path: String) {
        if counted.map({ $0 == path }) ?? true { count.withLock { $0 += bytes } }
    }

    var processID: Int32 { base.processID }
    func uniqueNumber() -> UInt64 { base.uniqueNumber() }
    func open(_ path: String, mode: OpenMode) throws(FileError) -> any OpenFile {
        CountingFile(try base.open(path, mode: mode), self)
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
    func rename(_ source: String, to target: String) throws(FileError) { try base.rename(source, to: target) }
    func unlink(_ path: String) throws(FileError) { try base.unlink(path) }
    func syncDirectory(_ path: String) throws(FileError) { try base.syncDirectory(path) }
}

private final class CountingFile: OpenFile {
    private let base: any OpenFile
    private let counter: CountingFileSystem

    init(_ base: any OpenFile, _ counter: CountingFileSystem) {
        self.base = base
        self.counter = counter
    }

    var path: String { base.path }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        let read = try base.read(into: buffer, at: offset)
        counter.note(read, of: base.path)
        return read
    }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        try base.write(bytes, at: offset)
    }
    func sync(_ kind: SyncKind) throws(FileError) { try base.sync(kind) }
    func truncate(to size: Int64) throws(FileError) { try base.truncate(to: size) }
    func info() throws(FileError) -> FileInfo { try base.info() }
    func extent() throws(FileError) -> FileExtent { try base.extent() }
    func startWriting(_ range: Range<Int64>) throws(FileError) { try base.startWriting(range) }
    func setPermissions(_ permissions: UInt32) throws(FileError) { try base.setPermissions(permissions) }
    func setOwner(user: UInt32?, group: UInt32?) throws(FileError) { try base.setOwner(user: user, group: group) }
    func tryLock(_ kind: LockKind) throws(FileError) -> Bool { try base.tryLock(kind) }
    func close() throws(FileError) { try base.close() }
}
