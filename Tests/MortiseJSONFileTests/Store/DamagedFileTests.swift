import Foundation
import Mortise
import MortiseEngine
import Testing
import MortiseTestSupport

/// What is wrong with a file is a typed error that says where, and the file stays as it is.
@Suite struct DamagedFileTests {
    let folder: StoreFolder

    init() throws {
        folder = try StoreFolder()
        try folder.fill("one", "two")
    }

    private func expect(
        saying words: String..., at location: SourceLocation = #_sourceLocation,
        _ matches: (StoreDocumentError.Reason) -> Bool
    ) throws {
        let before = try folder.bytes()
        for allowsSave in [true, false] {
            #expect(sourceLocation: location) {
                _ = try folder.open(allowsSave: allowsSave)
            } throws: { error in
                guard case SwiftDataError.loadIssueModelContainer = error, let error = error as? JSONFileError else {
                    return false
                }
                return error.path == folder.path && matches(error.fault.reason) && "\(error)".contains(folder.path)
                    && words.allSatisfy("\(error)".contains)
            }
        }
        #expect(try folder.bytes() == before, sourceLocation: location)
    }

    @Test func anEmptyFileIsNoNewStore() throws {
        try folder.write("")
        try expect(saying: "empty", "copy") { $0 == .empty }
    }

    @Test func aForeignFileIsLeftAlone() throws {
        try folder.write(String(repeating: "{\"a\": 1}\n", count: 50))
        try expect { if case .anotherFormat = $0 { true } else { false } }
        try folder.write(Data((0..<4000).map { UInt8(truncatingIfNeeded: $0 &* 31) }))
        try expect { _ in true }
    }

    @Test func aTruncatedFileIsNoticedAtEveryLength() throws {
        let whole = try folder.bytes()
        for length in stride(from: 1, to: whole.count, by: 97) {
            try folder.write(whole.prefix(length))
            try expect { _ in true }
        }
        try folder.write(whole)
        try folder.open().close()
    }

    @Test func aChangedByteBreaksTheSeal() throws {
        let text = try #require(String(data: try folder.bytes(), encoding: .utf8))
        try folder.write(text.replacingOccurrences(of: "\"two\"", with: "\"six\""))
        try expect(saying: "seal", "reseal", "acceptEdits") { if case .sealBroken = $0 { true } else { false } }
        let container = try folder.open(integrity: .acceptEdits)
        #expect(try ModelContext(container).fetch(FetchDescriptor<Original.Note>()).map(\.title) == ["one", "six"])
        try container.close()
        try JSONFileStore.reseal(folder.path)
        try folder.open().close()
    }

    @Test func editsAreCheckedBeforeTheyAreSealed() throws {
        let text = try #require(String(data: try folder.bytes(), encoding: .utf8))
        try folder.write(text.replacingOccurrences(of: "\"two\"", with: "2"))
        let before = try folder.bytes()
        #expect {
            try JSONFileStore.reseal(folder.path)
        } throws: { error in
            guard let error = error as? JSONFileError else { return false }
            return error.fault.entity == "Note" && error.fault.property == "title" && "\(error)".contains("Note.title")
        }
        #expect(try folder.bytes() == before)
    }

    @Test func aFolderIsNoFile() throws {
        try FileManager.default.removeItem(atPath: folder.path)
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
        #expect {
            _ = try folder.open()
        } throws: { error in
            guard case SwiftDataError.loadIssueModelContainer = error else { return false }
            return (error as? FileError)?.reason == .notARegularFile(.directory)
        }
    }

    // MARK: Under an open store

    private func expectNoticed(
        as change: (FileError.Reason) -> Bool, at location: SourceLocation = #_sourceLocation,
        _ tamper: () throws -> Void
    ) throws {
        let container = try folder.open()
        let context = ModelContext(container)
        let notes = try context.fetch(FetchDescriptor<Original.Note>())
        try tamper()
        let tampered = try? folder.bytes()
        notes[0].title = "changed"
        context.insert(Original.Note(title: "new"))
        for _ in 0..<2 {
            #expect(sourceLocation: location) {
                try context.save()
            } throws: { error in
                guard let error = error as? FileError else { return false }
                return change(error.reason) && "\(error)".contains("reopen the store")
            }
            #expect(context.hasChanges, sourceLocation: location)
            #expect((try? folder.bytes()) == tampered, sourceLocation: location)
        }
        #expect(try ModelContext(container).fetch(FetchDescriptor<Original.Note>()).map(\.title) == ["one", "two"])
        context.rollback()
        #expect(notes[0].title == "one")
        try container.close()
    }

    @Test func aFileReplacedUnderAnOpenStoreIsNotOverwritten() throws {
        let copy = folder.path + ".copy"
        try FileManager.default.copyItem(atPath: folder.path, toPath: copy)
        try expectNoticed(as: { $0 == .changed(.replaced) }) {
            try FileManager.default.removeItem(atPath: folder.path)
            try FileManager.default.moveItem(atPath: copy, toPath: folder.path)
        }
    }

    @Test func aFileDeletedUnderAnOpenStoreIsNotMadeAnew() throws {
        try expectNoticed(as: { $0 == .changed(.deleted) }) { try FileManager.default.removeItem(atPath: folder.path) }
    }

    @Test func aFileTruncatedUnderAnOpenStoreIsNotOverwritten() throws {
        try expectNoticed(as: { if case .changed(.truncated) = $0 { true } else { false } }) {
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.path))
            try file.truncate(atOffset: 10)
            try file.close()
        }
    }

    @Test func aFileThatAppearsUnderANewStoreIsNotOverwritten() throws {
        let empty = try StoreFolder()
        let context = ModelContext(try empty.open())
        try empty.write("mine")
        context.insert(Original.Note(title: "new"))
        #expect {
            try context.save()
        } throws: { error in
            (error as? FileError)?.reason == .alreadyExists && "\(error)".contains(empty.path)
        }
        #expect(context.hasChanges)
        #expect(try String(data: empty.bytes(), encoding: .utf8) == "mine")
        try context.container.close()
    }

    // MARK: On a failing disk

    private func openSimulated(_ disk: SimulatedFileSystem) throws -> ModelContainer {
        try ModelContainer(
            for: Schema(Original.Note.self), configurations: [JSONFileConfiguration(path: "/notes.json", in: disk)])
    }

    @Test func aFullDiskLeavesFileAndContextAsTheyWere() throws {
        let disk = SimulatedFileSystem()
        let container = try openSimulated(disk)
        let context = ModelContext(container)
        context.insert(Original.Note(title: "one"))
        try context.save()
        let before = disk.contents(at: "/notes.json")
        disk.limits.capacity = 0
        context.insert(Original.Note(title: "two"))
        #expect {
            try context.save()
        } throws: { error in
            (error as? FileError)?.reason == .noSpace && "\(error)".contains("free space")
        }
        #expect(context.hasChanges && disk.contents(at: "/notes.json") == before)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Original.Note>()) == 1)
        disk.limits.capacity = nil
        try context.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Original.Note>()) == 2)
        try container.close()
    }

    @Test func afterAFailedSyncTheStoreTakesNoSavesUntilItIsOpenedAgain() throws {
        let disk = SimulatedFileSystem()
        let container = try openSimulated(disk)
        let context = ModelContext(container)
        context.insert(Original.Note(title: "one"))
        try context.save()
        context.insert(Original.Note(title: "two"))
        disk.inject(.fail(.io), of: .sync)
        #expect {
            try context.save()
        } throws: { error in
            (error as? FileError)?.operation == .sync
        }
        for _ in 0..<2 {
            #expect {
                try context.save()
            } throws: { error in
                guard case SwiftDataError.loadIssueModelContainer = error, case .latched? = error as? EngineError else {
                    return false
                }
                return "\(error)".contains("/notes.json") && "\(error)".contains("open the store again")
            }
        }
        #expect(context.hasChanges)
        try container.close()
        let again = try openSimulated(disk)
        #expect(try ModelContext(again).fetch(FetchDescriptor<Original.Note>()).map(\.title) == ["one"])
        try again.close()
    }
}
