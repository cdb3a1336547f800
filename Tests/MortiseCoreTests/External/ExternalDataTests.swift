import FaultWorkload
import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseEngine
import MortiseInMemory
import Testing

@testable import MortiseJSONFile
import MortiseTestSupport

/// What `.externalStorage` promises, on every store that has files.
@Suite struct ExternalDataTests {
    /// A disk with a store of three pictures, the files that they have, and how many operations it took.
    private func makeDisk(_ store: PictureStore) throws -> SimulatedFileSystem {
        let disk = SimulatedFileSystem(seed: 3)
        let container = try store.open(disk)
        for state in 1...3 { try container.advancePictures(to: state) }
        try container.close()
        // Without what was replaced.
        try store.open(disk).close()
        return disk
    }

    private func files(_ store: PictureStore, on disk: SimulatedFileSystem) -> [String] {
        store.dataFiles(on: disk)
    }

    /// How often files of data were opened since.
    private func reads(_ store: PictureStore, on disk: SimulatedFileSystem, since: Int = 0) -> Int {
        disk.trace.dropFirst(since).count {
            $0.operation == .open && $0.path.hasPrefix(store.folder) && $0.path != store.folder + "/store"
        }
    }

    @Test(arguments: PictureStore.allCases)
    func longDataAreInFilesOfTheirOwnAndComeBack(store: PictureStore) throws {
        let disk = try makeDisk(store)
        #expect(files(store, on: disk).count == 3)
        #expect(try disk.info(store.folder, followingLinks: false).permissions == 0o700)
        for file in files(store, on: disk) {
            #expect(try disk.info(file, followingLinks: false).permissions == 0o600)
        }
        let container = try store.open(disk)
        #expect(try Pictures.state(of: container) == 3)
        let context = ModelContext(container)
        let picture = try #require(try context.fetch(FetchDescriptor<Picture>()).last)
        #expect(picture.content == Pictures.data(3))
        #expect(picture.preview == nil)
        picture.content = Data(count: ExternalFiles.threshold - 1)
        picture.preview = Data(count: ExternalFiles.threshold)
        try context.save()
        #expect(picture.content.count == ExternalFiles.threshold - 1)
        try container.close()
        let again = try store.open(disk)
        let found = try #require(try ModelContext(again).fetch(FetchDescriptor<Picture>()).last)
        #expect(found.content == Data(count: ExternalFiles.threshold - 1))
        #expect(found.preview == Data(count: ExternalFiles.threshold))
        // The shorter one went into its record.
        #expect(files(store, on: disk).count == 3)
        try again.close()
    }

    @Test(arguments: PictureStore.allCases)
    func nothingReadsThemButAskingForThem(store: PictureStore) throws {
        let disk = try makeDisk(store)
        let before = try store.open(disk)
        let changing = ModelContext(before)
        try changing.fetch(FetchDescriptor<Picture>()).last?.preview = Pictures.data(9)
        try changing.save()
        try before.close()
        let start = disk.trace.count
        let container = try store.open(disk)
        let context = ModelContext(container)
        let pictures = try context.fetch(FetchDescriptor<Picture>(sortBy: [SortDescriptor(\.name)]))
        #expect(try context.fetchCount(FetchDescriptor<Picture>(predicate: #Predicate { $0.rating >= 0 })) == 3)
        #expect(try context.fetchCount(FetchDescriptor<Picture>(predicate: #Predicate { $0.preview == nil })) == 1)
        #expect(try context.fetchCount(FetchDescriptor<Picture>(predicate: #Predicate { $0.preview != nil })) == 2)
        // Row by row too, where a condition beside it cannot be told by columns.
        let without = FetchDescriptor<Picture>(
            predicate: #Predicate { $0.preview == nil || $0.name.contains("none") })
        let with = FetchDescriptor<Picture>(predicate: #Predicate { $0.preview != nil || $0.name.contains("none") })
        #expect(try context.fetchCount(without) == 1)
        #expect(try context.fetchCount(with) == 2)
        pictures[0].rating = 7
        try context.save()
        let other = ModelContext(container)
        try other.fetch(FetchDescriptor<Picture>())[0].name = "renamed"
        try other.save()
        try context.refresh()
        if let log = container.store(AppendLogStore.self) {
            try log.checkpoint()
            try log.compact()
        }
        #expect(reads(store, on: disk, since: start) == 0)
        #expect(pictures[1].content == Pictures.data(1_003))
        #expect(reads(store, on: disk, since: start) == 1)
        try container.close()
        #expect(files(store, on: disk).count == 4)
    }

    @Test(arguments: PictureStore.allCases)
    func aConditionOverThemAnswersAsOverAnyOther(store: PictureStore) throws {
        let disk = try makeDisk(store)
        let container = try store.open(disk)
        let memory = try ModelContainer(
            for: Schema([Picture.self]), configurations: [InMemoryConfiguration()])
        for state in 1...3 { try memory.advancePictures(to: state) }
        let wanted = Pictures.data(1_003)
        let predicates: [Predicate<Picture>] = [
            #Predicate { $0.content == wanted }, #Predicate { $0.content != wanted },
            #Predicate { $0.preview == nil || $0.content == wanted },
        ]
        for predicate in predicates {
            let descriptor = FetchDescriptor(predicate: predicate)
            let names = try [container, memory].map { try ModelContext($0).fetch(descriptor).map(\.name) }
            #expect(names[0] == names[1])
            #expect(!names[0].isEmpty)
        }
        let broken = try #require(files(store, on: disk).first)
        try disk.unlink(broken)
        let context = ModelContext(container)
        // The last one decides by what is there, without asking for this file.
        for predicate in predicates.dropLast() {
            #expect(throws: ExternalValueError.self) { try context.fetch(FetchDescriptor(predicate: predicate)) }
            #expect(throws: ExternalValueError.self) { try context.fetchCount(FetchDescriptor(predicate: predicate)) }
        }
        // Once each: nothing is left over for what reads none of them.
        #expect(try context.fetch(FetchDescriptor<Picture>()).count == 3)
        try container.close()
        try memory.close()
    }

    enum Damage: CaseIterable { case missing, truncated, extended, flipped, replaced, directory }

    @Test(arguments: PictureStore.allCases, Damage.allCases)
    func aFileAtFaultIsATypedErrorWhereItIsAskedFor(store: PictureStore, damage: Damage) throws {
        let disk = try makeDisk(store)
        let container = try store.open(disk)
        let context = ModelContext(container)
        let picture = try #require(try context.fetch(FetchDescriptor<Picture>()).last)
        let content = Array(Pictures.data(3))
        let path = try #require(files(store, on: disk).first { disk.contents(at: $0) == content })
        switch damage {
        case .missing: try disk.unlink(path)
        case .truncated: try disk.install(Array(content.dropLast()), at: path)
        case .extended: try disk.install(content + [0], at: path)
        case .flipped: try disk.install([content[0] ^ 1] + content.dropFirst(), at: path)
        case .replaced: try disk.install(Array(repeating: 9, count: content.count), at: path)
        case .directory:
            try disk.unlink(path)
            try disk.install(.directory, at: path)
        }
        let error = thrown { _ = try context.resolve(picture, \.content) } as? ExternalValueError
        #expect(error?.entity == "Picture" && error?.property == "content" && error?.path == path)
        #expect(error?.record == picture.persistentModelID)
        switch (damage, error?.reason) {
        case (.missing, .missing), (.flipped, .wrongChecksum), (.replaced, .wrongChecksum), (.directory, .unreadable):
            break
        case (.truncated, .wrongLength(let expected, let found)), (.extended, .wrongLength(let expected, let found)):
            #expect(expected == UInt64(content.count))
            #expect(found == UInt64(content.count + (damage == .truncated ? -1 : 1)))
        default: Issue.record("\(damage): \(String(describing: error))")
        }
        // Nothing was remembered, and other values are not concerned.
        #expect(try context.resolve(picture, \.name) == "picture 3")
        #expect(try context.fetchCount(FetchDescriptor<Picture>()) == 3)
        // The getter is total and remembers, once.
        #expect(picture.content.isEmpty)
        #expect(throws: ExternalValueError.self) { try context.fetch(FetchDescriptor<Picture>()) }
        #expect(try context.fetch(FetchDescriptor<Picture>()).count == 3)
        #expect(picture.content.isEmpty)
        picture.rating = 1
        #expect(throws: ExternalValueError.self) { try context.save() }
        try context.save()
        // Setting it anew is a way out.
        picture.content = Data(content)
        try context.save()
        #expect(try context.resolve(picture, \.content) == Data(content))
        try container.close()
    }

    @Test(arguments: PictureStore.allCases)
    func verifyNamesEveryFileAtFaultAndABackupHasThemAll(store: PictureStore) throws {
        let disk = try makeDisk(store)
        let configuration = store.configuration(disk)
        let verifiable = try #require(configuration.capable(of: .verify))
        #expect(try verifiable.verifyStore().problems == [])
        let backup = try #require(configuration.capable(of: .backUp))
        _ = try backup.backUpStore(to: "/copy")
        let copy = try store.open(disk, path: "/copy")
        #expect(try Pictures.state(of: copy) == 3)
        try copy.close()
        let paths = files(store, on: disk)
        try #require(paths.count == 3)
        try disk.unlink(paths[0])
        try disk.install([1], at: paths[1])
        let problems = try verifiable.verifyStore().problems
        #expect(problems.count == 2)
        #expect(problems.contains { $0.contains(paths[0]) } && problems.contains { $0.contains(paths[1]) })
        #expect(problems.allSatisfy { $0.contains("Picture.content") })
        #expect { try backup.backUpStore(to: "/other") } throws: { error in
            // The file of another length and the file that is gone; a backup names the one it meets first.
            paths.prefix(2).contains { "\(error)".contains($0) } || "\(error)".contains("Picture.content of record")
        }
        #expect(disk.contents(at: "/other") == nil)
    }

    @Test(arguments: PictureStore.allCases)
    func onlyFilesOfOurFormThatNothingNamesAreSwept(store: PictureStore) throws {
        let disk = try makeDisk(store)
        let kept = files(store, on: disk)
        let orphan = store.folder + "/" + String(repeating: "0a", count: 16)
        let foreign = ["notes.txt", String(repeating: "0A", count: 16), String(repeating: "0", count: 31)]
            .map { store.folder + "/" + $0 }
        let folder = store.folder + "/" + String(repeating: "f", count: 32)
        for path in foreign + [orphan] { try disk.install([1, 2, 3], at: path) }
        try disk.install(.directory, at: folder)
        // A reader removes nothing.
        try store.open(disk, allowsSave: false).close()
        #expect(disk.contents(at: orphan) != nil)
        try store.open(disk).close()
        #expect(files(store, on: disk) == (kept + foreign + [folder]).sorted())
    }

    @Test(arguments: PictureStore.allCases)
    func whatAContextStillShowsStaysUntilTheNextOpening(store: PictureStore) throws {
        let disk = try makeDisk(store)
        let container = try store.open(disk)
        let old = ModelContext(container)
        let picture = try #require(try old.fetch(FetchDescriptor<Picture>()).last)
        let context = ModelContext(container)
        try context.fetch(FetchDescriptor<Picture>()).last?.content = Pictures.data(77)
        try context.save()
        try container.store(AppendLogStore.self)?.compact()
        #expect(try old.resolve(picture, \.content) == Pictures.data(3))
        try container.close()
        try store.open(disk).close()
        #expect(files(store, on: disk).count == 3)
    }

    @Test(arguments: PictureStore.allCases)
    func aFullDiskFailsTheSaveAndLeavesNothing(store: PictureStore) throws {
        let disk = try makeDisk(store)
        let before = files(store, on: disk)
        let container = try store.open(disk)
        let context = ModelContext(container)
        let picture = try #require(try context.fetch(FetchDescriptor<Picture>()).last)
        picture.content = Data(repeating: 1, count: 100_000)
        for operation in [FileError.Operation.write, .sync, .open, .syncDirectory, .close] {
            disk.inject(.fail(operation == .write ? .noSpace : .io), of: operation)
            let error = thrown { try context.save() } as? FileError
            #expect(error?.operation == operation && error?.path.hasPrefix(store.folder) == true, "\(operation)")
            disk.removeFaults()
            #expect(files(store, on: disk) == before, "\(operation)")
            #expect(context.hasChanges)
        }
        try context.save()
        #expect(try context.resolve(picture, \.content).count == 100_000)
        try container.close()
    }

    @Test func aStoreWithoutFilesKeepsThemInItsRecords() throws {
        let container = try ModelContainer(
            for: Schema([Picture.self]), configurations: [InMemoryConfiguration()])
        for state in 1...4 { try container.advancePictures(to: state) }
        #expect(try Pictures.state(of: container) == 4)
        try container.close()
    }

    @Test func aModelOfAnotherContextIsNotResolved() throws {
        let container = try ModelContainer(
            for: Schema([Picture.self]), configurations: [InMemoryConfiguration()])
        try container.advancePictures(to: 1)
        let context = ModelContext(container)
        let picture = try #require(try context.fetch(FetchDescriptor<Picture>()).first)
        #expect(throws: ModelContextError.registeredElsewhere(model: picture.persistentModelID)) {
            try ModelContext(container).resolve(picture, \.content)
        }
        #expect(try context.resolve(Picture("new", content: Data([1])), \.content) == Data([1]))
        try container.close()
        #expect(throws: ModelContextError.containerClosed) { try context.resolve(picture, \.content) }
    }
}
