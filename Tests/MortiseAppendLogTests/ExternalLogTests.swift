import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// External data, as a log keeps them.
@Suite struct ExternalLogTests {
    private let store = PictureStore.log

    private func files(on disk: SimulatedFileSystem, of path: String = PictureStore.log.path) -> [String] {
        store.dataFiles(on: disk, path: path)
    }

    private func kinds(on disk: SimulatedFileSystem) throws -> [UInt8] {
        let bytes = try #require(disk.contents(at: store.path))
        let header = try FileHeader(Array(bytes.prefix(FileHeader.size)), expecting: .log)
        let file = try disk.open(store.path, mode: .read)
        var kinds: [UInt8] = []
        _ = try FrameReader(file, size: Int64(bytes.count), seed: header.seed)
            .scan(from: .first, allowingGapsTo: header.base) { frame in
                kinds.append(frame.header.kind.rawValue)
                return true
            }
        return kinds
    }

    private func keyForm(on disk: SimulatedFileSystem) throws -> UInt32 {
        let path = store.path + StoreFiles.checkpointSuffix
        let file = try disk.open(path, mode: .read)
        let size = try file.info().size
        let header = try FileHeader(try file.readAll(count: FileHeader.size, at: 0), expecting: .checkpoint)
        let end = size - Int64(CheckpointFooter.size)
        let footer = try CheckpointFooter(
            try file.readAll(count: CheckpointFooter.size, at: end), at: UInt64(end), seed: header.seed)
        let bytes = try file.readAll(count: Int(footer.length), at: Int64(footer.offset))
        return try bytes.withUnsafeBytes { raw in
            var reader = ByteReader(raw)
            return try reader.directory().keyForm
        }
    }

    /// Whoever does not know of such data meets a kind of frame, and a form of checkpoint, that it does not know.
    @Test func onlyWhatNamesFilesIsOfTheLaterKind() throws {
        let disk = SimulatedFileSystem(seed: 1)
        let container = try store.open(disk)
        let context = ModelContext(container)
        let picture = Picture("one", content: Data([1]))
        context.insert(picture)
        try context.save()
        try container.logStore?.checkpoint()
        #expect(try keyForm(on: disk) == PackedTable.keyForm)
        picture.content = Pictures.data(1)
        try context.save()
        picture.rating = 2
        try context.save()
        #expect(try kinds(on: disk) == [1, 2, 3, 2])
        try container.logStore?.checkpoint()
        #expect(try keyForm(on: disk) == PackedTable.keyFormOfReferences)
        try container.close()
        // From the checkpoint, and from the log alone.
        for isWhole in [true, false] {
            if !isWhole { try disk.unlink(store.path + StoreFiles.checkpointSuffix) }
            let again = try store.open(disk)
            let found = ModelContext(again)
            let picture = try #require(try found.fetch(FetchDescriptor<Picture>()).first)
            #expect(try found.resolve(picture, \.content) == Pictures.data(1))
            #expect(picture.rating == 2)
            try again.close()
        }
    }

    @Test func aCompactionRemovesWhatNobodyNamesAndKeepsTheRest() throws {
        let disk = SimulatedFileSystem(seed: 2)
        let container = try store.open(disk)
        for state in 1...6 { try container.advancePictures(to: state) }
        #expect(files(on: disk).count > 3)
        try container.logStore?.compact()
        #expect(files(on: disk).count == 3)
        #expect(try Pictures.state(of: container) == 6)
        try container.advancePictures(to: 7)
        try container.close()
        let again = try store.open(disk)
        #expect(try Pictures.state(of: again) == 7)
        #expect(try AppendLogStore.verify(store.path, in: disk).problems == [])
        try again.close()
    }

    @Test func aLiveBackupHasTheFilesItNames() throws {
        let disk = SimulatedFileSystem(seed: 3)
        let container = try store.open(disk)
        for state in 1...4 { try container.advancePictures(to: state) }
        try container.logStore?.backup(to: "/copy.log")
        try container.advancePictures(to: 5)
        try container.logStore?.compact()
        let copy = try store.open(disk, path: "/copy.log")
        #expect(try Pictures.state(of: copy) == 4)
        #expect(files(on: disk, of: "/copy.log").count == 3)
        try copy.close()
        try container.close()
    }

    @Test(arguments: [FileError.Operation.rename, .sync, .open])
    func aBackupOrSalvageThatFailsLeavesNothing(operation: FileError.Operation) throws {
        var fired = 0
        // Until one after the last is reached, which fails nothing.
        for number in 1...100 {
            let disk = SimulatedFileSystem(seed: 3)
            let container = try store.open(disk)
            for state in 1...4 { try container.advancePictures(to: state) }
            let before = disk.faultsFired
            /// But for the folder, which is empty.
            func left(_ path: String) -> [String] {
                disk.paths.filter { $0.hasPrefix(path) && $0 != path + ".external" }
            }
            disk.inject(.fail(.noSpace), at: number, of: operation)
            let backup = Result { try container.logStore?.backup(to: "/copy.log") }
            disk.removeFaults()
            if case .failure = backup { #expect(left("/copy.log") == []) }
            try container.close()
            disk.inject(.fail(.noSpace), at: number, of: operation)
            let salvage = Result { try AppendLogStore.salvage(store.path, to: "/new.log", in: disk) }
            disk.removeFaults()
            if case .failure = salvage { #expect(left("/new.log") == []) }
            #expect(number > 1 || ((try? backup.get()) == nil && (try? salvage.get()) == nil))
            if disk.faultsFired == before {
                #expect(throws: Never.self) { (try backup.get(), try salvage.get()) }
                break
            }
            fired += 1
        }
        #expect(fired > 0 && fired < 100)
    }

    /// The log was moved aside, and its data lie where it is to be again.
    @Test func aSalvageThatFailsLeavesTheDataThatWereThere() throws {
        let disk = SimulatedFileSystem(seed: 3)
        let container = try store.open(disk)
        for state in 1...4 { try container.advancePictures(to: state) }
        try container.close()
        let data = files(on: disk)
        try disk.rename(store.path, to: "/broken.log")
        disk.inject(.fail(.noSpace), at: 1, of: .rename)
        #expect(throws: FileError.self) { try AppendLogStore.salvage("/broken.log", to: store.path, in: disk) }
        disk.removeFaults()
        #expect(!data.isEmpty && files(on: disk) == data)
    }

    @Test func aLiveBackupCanBeEndedAmongTheFilesAndTellsHowFarItIs() throws {
        let disk = SimulatedFileSystem(seed: 3)
        let container = try store.open(disk)
        for state in 1...4 { try container.advancePictures(to: state) }
        let log = try #require(container.logStore)
        var told: [AppendLogProgress] = []
        try log.backup(to: "/copy.log") { told.append($0) }
        let bytes = files(on: disk).reduce(0) { $0 + Int64(disk.contents(at: $1)?.count ?? 0) }
        #expect(told.count > 3 && told.allSatisfy { $0.total > bytes } && told.last?.completed == told.last?.total)
        #expect(told.map(\.completed) == told.map(\.completed).sorted())
        struct Ended: Error {}
        var calls = 0
        #expect(throws: Ended.self) {
            try log.backup(to: "/other.log") { _ in
                calls += 1
                if calls == 2 { throw Ended() }
            }
        }
        #expect(files(on: disk, of: "/other.log").isEmpty && disk.contents(at: "/other.log") == nil)
        try container.close()
    }

    @Test func aSalvageCopiesWhatCanBeReadAndNamesWhatCannot() throws {
        let disk = SimulatedFileSystem(seed: 4)
        let container = try store.open(disk)
        let context = ModelContext(container)
        context.insert(Picture("whole", content: Pictures.data(1), preview: Pictures.data(2)))
        context.insert(Picture("broken", content: Pictures.data(3), preview: Pictures.data(4)))
        try context.save()
        try container.close()
        for number in [3, 4] {
            let file = try #require(files(on: disk).first { disk.contents(at: $0) == Array(Pictures.data(number)) })
            if number == 3 { try disk.unlink(file) } else { try disk.install([0], at: file) }
        }
        let found = try AppendLogStore.salvage(store.path, to: "/new.log", in: disk)
        #expect(found.records == 2)
        #expect(found.lost.count == 2)
        for property in ["content", "preview"] {
            let isNamed = found.lost.contains {
                if case .damagedValue("Picture", property, _, _) = $0.fault { true } else { false }
            }
            #expect(isNamed, "\(property)")
        }
        let salvaged = try store.open(disk, path: "/new.log")
        let pictures = try ModelContext(salvaged).fetch(FetchDescriptor<Picture>(sortBy: [SortDescriptor(\.name)]))
        #expect(pictures.map(\.content) == [Data(), Pictures.data(1)])
        #expect(pictures.map(\.preview) == [nil, Pictures.data(2)])
        #expect(try AppendLogStore.verify("/new.log", in: disk).problems == [])
        try salvaged.close()
    }

    private func shared(_ disk: SimulatedFileSystem, _ process: Int32) throws -> ModelContainer {
        var configuration = AppendLogConfiguration(
            path: store.path, sharing: .shared, history: .keep(days: 0), in: disk.process(process))
        configuration.allocationStep = 4_096
        return try ModelContainer(for: Schema([Picture.self]), configurations: [configuration])
    }

    @Test func noProcessRemovesWhatAnotherMayStillRead() throws {
        let disk = SimulatedFileSystem(seed: 5)
        let one = try shared(disk, 100)
        try one.advancePictures(to: 1)
        let two = try shared(disk, 101)
        let context = ModelContext(two)
        let picture = try #require(try context.fetch(FetchDescriptor<Picture>()).first)
        try one.advancePictures(to: 2)
        // A third that opens the log, and one that would compact it.
        try shared(disk, 102).close()
        #expect(throws: FileError.self) { try one.logStore?.compact() }
        #expect(try context.resolve(picture, \.content) == Pictures.data(1))
        #expect(try Pictures.state(of: two) == 2)
        try two.advancePictures(to: 3)
        #expect(try Pictures.state(of: one) == 3)
        try one.close()
        try two.close()
        let count = files(on: disk).count
        let last = try shared(disk, 103)
        #expect(files(on: disk).count == 3 && count > 3)
        #expect(try Pictures.state(of: last) == 3)
        try last.close()
    }

    @Test(arguments: [AppendLogDurability.none, .batched(.seconds(60))])
    func whatIsSweptAtOpeningIsOfNoStateThatAPowerCutBringsBack(durability: AppendLogDurability) throws {
        let disk = SimulatedFileSystem(seed: 6)
        func open(_ disk: SimulatedFileSystem) throws -> ModelContainer {
            var configuration = AppendLogConfiguration(path: store.path, durability: durability, in: disk)
            configuration.allocationStep = 4_096
            return try ModelContainer(for: Schema([Picture.self]), configurations: [configuration])
        }
        let container = try open(disk)
        for state in 1...3 { try container.advancePictures(to: state) }
        // The process dies before anything is synced; the next one finds all of it and sweeps.
        disk.kill()
        let next = try open(disk.process(200))
        #expect(files(on: disk).count == 3)
        let image = disk.crashed(after: .max, losing: .unsynced)
        #expect(try Pictures.state(of: try open(image)) == 3)
        try next.close()
        _ = container
    }

    @Test func aHostileLogNamesNoPathAndNoValueOfAnotherKind() throws {
        let schema = Schema([Picture.self]).stored
        let catalog = LogCatalog(schema, store: "S")
        let reference = [ValueTag.file] + (0..<28).map { UInt8($0) }
        func read(_ bytes: [UInt8], slot: Int) throws -> StoredValue {
            try bytes.withUnsafeBytes { raw in
                var reader = ByteReader(raw)
                return try reader.fitting(0, slot, catalog)
            }
        }
        let found = try #require(ExternalReference(storedForm: try read(reference, slot: 2)))
        #expect(found.name.text == "000102030405060708090a0b0c0d0e0f")
        #expect(found.bytes == (0..<28).map { UInt8($0) })
        for slot in [0, 1] { #expect(throws: PayloadFault.self) { try read(reference, slot: slot) } }
        for count in 1..<29 { #expect(throws: PayloadFault.self) { try read(Array(reference.prefix(count)), slot: 2) } }
        // An array in a slot of data is none, whatever stands in it.
        var writer = ByteWriter()
        try writer.value(found.storedForm, catalog)
        #expect(throws: PayloadFault.self) { try read(writer.bytes, slot: 2) }
    }

    @Test func whatIsPreservedOnDeletionOrIndexedStaysInItsRecord() throws {
        let disk = SimulatedFileSystem(seed: 7)
        let container = try ModelContainer(
            for: Schema([Keepsake.self]), configurations: [AppendLogConfiguration(path: store.path, in: disk)])
        let context = ModelContext(container)
        let keepsake = Keepsake(kept: Pictures.data(1), key: Pictures.data(2))
        context.insert(keepsake)
        try context.save()
        #expect(files(on: disk).isEmpty)
        context.delete(keepsake)
        try context.save()
        let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        guard case .delete(let deletion)? = history.last?.changes.first,
            let deleted = deletion as? DefaultHistoryDelete<Keepsake>
        else { return #expect(Bool(false), "\(history)") }
        #expect(deleted.tombstone[\.kept] as? Data == Pictures.data(1))
        try container.close()
    }

    /// Files as they were written when their kind of frame and their form of checkpoint were new. They are never changed.
    @Test(arguments: [true, false])
    func theGoldenFilesAreReadAndTheStoreGoesOn(hasCheckpoint: Bool) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Golden")
        let disk = SimulatedFileSystem(seed: 9)
        let names = try FileManager.default.contentsOfDirectory(
            atPath: folder.appending(path: "format-1-pictures.log.external").path)
        for suffix in [""] + (hasCheckpoint ? [".checkpoint"] : []) + names.map({ ".external/" + $0 }) {
            let url = folder.appending(path: "format-1-pictures.log" + suffix)
            try disk.install([UInt8](try Data(contentsOf: url)), at: store.path + suffix)
        }
        #expect(try AppendLogStore.verify(store.path, in: disk).problems == [])
        let container = try store.open(disk)
        #expect(container.logStore?.recovery == nil)
        // Written with longer data than the tests have now.
        let context = ModelContext(container)
        let pictures = try context.fetch(FetchDescriptor<Picture>(sortBy: [SortDescriptor(\.name)]))
        #expect(
            try pictures.map { try context.resolve($0, \.content) } == [
                Pictures.data(1_002, count: 5_000), Pictures.data(2, count: 5_000),
            ])
        #expect(pictures.map(\.preview) == [nil, Pictures.data(2, count: 10)])
        pictures[0].content = Pictures.data(5)
        try context.save()
        try container.logStore?.compact()
        #expect(files(on: disk).count == 2)
        try container.close()
        #expect(try AppendLogStore.verify(store.path, in: disk).problems == [])
    }

    @Test func aSaveThatNamesAFileItselfIsRefused() throws {
        let disk = SimulatedFileSystem(seed: 8)
        let container = try store.open(disk)
        try container.advancePictures(to: 1)
        let log = try #require(container.logStore)
        let table = try #require(log.engine.version.tables["Picture"])
        let form = table.storedForm(row: 0, slot: 2)
        #expect(ExternalReference(storedForm: form) != nil)
        let snapshot = DefaultSnapshot(
            persistentIdentifier: .temporary(entityName: "Picture"), layout: table.layout,
            values: [.string("thief"), .integer(0), form, .null])
        #expect(throws: EngineError.self) {
            try log.save(DataStoreSaveChangesRequest(inserted: [snapshot], editingState: EditingState()))
        }
        #expect(log.engine.version.tables["Picture"]?.count == 1)
        try container.close()
    }
}

/// Something with data that have to stay in the record.
final class Keepsake: PersistentModel {
    var persistentBackingData: any BackingData<Keepsake> = Keepsake.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(
                name: "kept", keypath: \Keepsake.kept,
                metadata: Schema.Attribute(.externalStorage, .preserveValueOnDeletion)),
            .init(name: "key", keypath: \Keepsake.key, metadata: Schema.Attribute(.externalStorage, .unique)),
        ]
    }
    init(backingData: any BackingData<Keepsake>) { persistentBackingData = backingData }
    init(kept: Data, key: Data) {
        self.kept = kept
        self.key = key
    }

    var kept: Data {
        get { getValue(forKey: \.kept) }
        set { setValue(forKey: \.kept, to: newValue) }
    }
    var key: Data {
        get { getValue(forKey: \.key) }
        set { setValue(forKey: \.key, to: newValue) }
    }
}
