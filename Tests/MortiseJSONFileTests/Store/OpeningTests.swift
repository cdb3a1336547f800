import Foundation
import Mortise
import MortiseEngine
import Testing

/// Who may open a file, and how often.
@Suite struct OpeningTests {
    let folder: StoreFolder

    init() throws {
        folder = try StoreFolder()
        try folder.fill("one")
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/flock")))
    func aFileThatAnotherProcessWritesIsLockedAndTheHolderIsNamed() throws {
        let holder = Process()
        holder.executableURL = URL(fileURLWithPath: "/bin/sh")
        holder.arguments = [
            "-c", #"echo $$ > "$0"; exec flock -o "$0" sh -c "echo ready; read line""#, folder.lockPath,
        ]
        let (input, output) = (Pipe(), Pipe())
        holder.standardInput = input
        holder.standardOutput = output
        try holder.run()
        defer {
            try? input.fileHandleForWriting.close()
            holder.waitUntilExit()
        }
        try #require(!output.fileHandleForReading.availableData.isEmpty)
        #expect {
            _ = try folder.open()
        } throws: { error in
            guard case SwiftDataError.loadIssueModelContainer = error, let error = error as? FileError else {
                return false
            }
            return error.reason == .locked(holder: holder.processIdentifier)
                && "\(error)".contains("process \(holder.processIdentifier)") && "\(error)".contains("reading only")
                && "\(error)".contains(folder.path)
        }
        let reader = try folder.open(allowsSave: false)
        #expect(try ModelContext(reader).fetchCount(FetchDescriptor<Original.Note>()) == 1)
        try reader.close()
    }

    @Test func twoContainersWithEqualOptionsShareOneStore() throws {
        let first = try folder.open()
        let second = try folder.open()
        let writer = ModelContext(first)
        let reader = ModelContext(second)
        writer.insert(Original.Note(title: "two"))
        try writer.save()
        #expect(try reader.fetch(FetchDescriptor<Original.Note>()).map(\.title) == ["one", "two"])
        let again = Original.Note(title: "two", pages: 9)
        reader.insert(again)
        try reader.save()
        #expect(try writer.fetch(FetchDescriptor<Original.Note>()).map(\.pages) == [1, 9])
        try first.close()
        try first.store(JSONFileStore.self)?.close()
        let two = try #require(try reader.fetch(FetchDescriptor<Original.Note>()).last)
        two.pages = 10
        try reader.save()
        try second.close()
        let third = try folder.open()
        #expect(try ModelContext(third).fetch(FetchDescriptor<Original.Note>()).map(\.pages) == [1, 10])
        try third.close()
    }

    @Test func otherOptionsForAnOpenFileAreRefused() throws {
        let container = try folder.open()
        for open in [{ try folder.open(allowsSave: false) }, { try folder.open(integrity: .acceptEdits) }] {
            #expect {
                _ = try open()
            } throws: { error in
                guard case SwiftDataError.loadIssueModelContainer = error else { return false }
                return error as? EngineError == .openWithOtherOptions(path: folder.path)
                    && "\(error)".contains(folder.path) && "\(error)".contains("close it first")
            }
        }
        try container.close()
        try folder.open(allowsSave: false).close()
    }

    @Test func aStoreLivesAsLongAsItsModelsAndThenFreesItsFile() throws {
        var note: Original.Note?
        func scope() throws {
            let context = ModelContext(try folder.open())
            note = try context.fetch(FetchDescriptor<Original.Note>()).first
        }
        try scope()
        #expect(note?.folder?.name == "d")
        #expect(throws: FileError.self) { _ = try FileLock(forStoreAt: folder.path, in: POSIXFileSystem()) }
        note = nil
        let lock = try FileLock(forStoreAt: folder.path, in: POSIXFileSystem())
        lock.release()
    }

    @Test func aStoreDroppedWithoutClosingDoesNotKeepTheFileOpenForTheNext() throws {
        let first = try folder.open()
        func scope() throws { _ = try folder.open() }
        try scope()
        try first.close()
        let lock = try FileLock(forStoreAt: folder.path, in: POSIXFileSystem())
        lock.release()
    }

    @Test func aReadOnlyStoreReadsAndRefusesToSave() throws {
        let before = try folder.bytes()
        let container = try folder.open(allowsSave: false)
        let context = ModelContext(container)
        let note = try #require(try context.fetch(FetchDescriptor<Original.Note>()).first)
        note.title = "changed"
        #expect {
            try context.save()
        } throws: { error in
            guard case .readOnly? = error as? ModelContextError else { return false }
            return "\(error)".contains("allowsSave: true")
        }
        #expect(context.hasChanges && note.title == "changed")
        #expect(throws: ModelContextError.self) { try container.erase() }
        context.rollback()
        #expect(note.title == "one")
        #expect(throws: ModelContextError.self) { try context.delete(model: Original.Note.self) }
        context.rollback()
        #expect(try context.fetchCount(FetchDescriptor<Original.Note>()) == 1)
        #expect(try folder.bytes() == before)
        try container.close()
    }

    @Test func aReadOnlyStoreNeedsItsFile() throws {
        let empty = try StoreFolder()
        #expect {
            _ = try empty.open(allowsSave: false)
        } throws: { error in
            guard case SwiftDataError.loadIssueModelContainer = error else { return false }
            return (error as? FileError)?.reason == .notFound && "\(error)".contains(empty.path)
        }
        #expect(!FileManager.default.fileExists(atPath: empty.path))
    }
}
