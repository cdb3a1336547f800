import FaultWorkload
import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseEngine
import Testing

import MortiseJSONFile
import MortiseTestSupport

/// Opening a store for writing deleted data of its own, while its main file was away or was an older copy, and data of others
/// behind a symbolic link.
@Suite struct ExternalOwnershipTests {
    /// A disk with a store of so many states.
    private func makeDisk(_ store: PictureStore, states: Int = 3) throws -> SimulatedFileSystem {
        let disk = SimulatedFileSystem(seed: 3)
        let container = try store.open(disk)
        for state in 1...states { try container.advancePictures(to: state) }
        try container.close()
        return disk
    }

    private func state(_ store: PictureStore, on disk: SimulatedFileSystem, path: String? = nil) throws -> Int? {
        let container = try store.open(disk, path: path, allowsSave: false)
        defer { try? container.close() }
        return try Pictures.state(of: container)
    }

    private func aside(_ store: PictureStore, on disk: SimulatedFileSystem) -> [String] {
        disk.paths.filter { $0.hasPrefix(store.folder + "/aside/") }
    }

    private func reason(_ body: () throws -> Void) -> FileError.Reason? {
        do {
            try body()
            return nil
        } catch {
            return (error as? FileError)?.reason
        }
    }

    @Test(arguments: PictureStore.allCases)
    func aFolderOfDataWithoutItsStoreIsRefusedAndStays(store: PictureStore) throws {
        let disk = try makeDisk(store)
        let files = store.dataFiles(on: disk)
        try disk.rename(store.path, to: "/away")
        #expect(reason { _ = try store.open(disk) } == .dataWithoutStore(folder: store.folder))
        #expect(store.dataFiles(on: disk) == files && disk.contents(at: store.path) == nil)
        try disk.rename("/away", to: store.path)
        try store.open(disk).close()
        #expect(try state(store, on: disk) == 3)
    }

    /// One answer of the system that is wrong, whichever it is.
    @Test(arguments: PictureStore.allCases)
    func oneAnswerThatTheFileIsMissingLosesNothing(store: PictureStore) throws {
        var refused = 0
        for operation in [FileError.Operation.open, .info] {
            for number in 1...12 {
                let disk = try makeDisk(store)
                disk.inject(.fail(.noEntry), at: number, of: operation)
                do {
                    let container = try store.open(disk)
                    // One that was made anew here would have nothing.
                    disk.removeFaults()
                    #expect(try Pictures.state(of: container) == 3, "\(operation) \(number)")
                    try container.close()
                } catch {
                    #expect(error is any ClassifiedStoreError, "\(operation) \(number): \(error)")
                    refused += 1
                }
                disk.removeFaults()
                #expect(try state(store, on: disk) == 3, "\(operation) \(number)")
            }
        }
        #expect(refused > 0)
    }

    /// Here no folder of data speaks against an empty store.
    @Test(arguments: PictureStore.allCases)
    func oneAnswerThatTheFileIsMissingShowsNoEmptyStore(store: PictureStore) throws {
        for operation in [FileError.Operation.open, .info] {
            var fired = 0
            // Until one after the last is reached, which fails nothing.
            for number in 1...100 {
                let disk = SimulatedFileSystem(seed: 3)
                let made = try store.open(disk)
                let context = ModelContext(made)
                context.insert(Picture("small", content: Data([1])))
                try context.save()
                try made.close()
                let expected = try #require(disk.contents(at: store.path))
                let before = disk.faultsFired
                disk.inject(.fail(.noEntry), at: number, of: operation)
                let opened = try? store.open(disk)
                let hasFired = disk.faultsFired > before
                #expect(hasFired || opened != nil, "\(operation) \(number)")
                if let container = opened {
                    disk.removeFaults()
                    #expect(try Pictures.lines(in: container).count == 1, "\(operation) \(number)")
                    try container.close()
                }
                disk.removeFaults()
                #expect(disk.contents(at: store.path) == expected, "\(operation) \(number)")
                if !hasFired { break }
                fired += 1
            }
            #expect(fired > 0 && fired < 100, "\(operation)")
        }
    }

    /// The main file as it is, and as it is in state 7, which is on the disk then.
    private func twoCopies(
        _ store: PictureStore, on disk: SimulatedFileSystem
    ) throws -> (older: [UInt8], newer: [UInt8]) {
        let older = try #require(disk.contents(at: store.path))
        let container = try store.open(disk)
        for state in 4...7 { try container.advancePictures(to: state) }
        try container.close()
        return (older, try #require(disk.contents(at: store.path)))
    }

    @Test(arguments: PictureStore.allCases, [true, false])
    func anOlderCopyPutBackCostsTheNewerOneNothing(store: PictureStore, hasMark: Bool) throws {
        let disk = try makeDisk(store)
        let (older, newer) = try twoCopies(store, on: disk)
        // As a program made it that marked no folders.
        if !hasMark { try disk.unlink(store.folder + "/store") }
        for round in 0..<2 {
            try disk.install(older, at: store.path)
            let again = try store.open(disk)
            let context = ModelContext(again)
            context.insert(Picture("another \(round)", content: Pictures.data(500 + round)))
            try context.save()
            try again.close()
            try store.open(disk).close()
            try disk.install(newer, at: store.path)
            #expect(try state(store, on: disk) == 7)
            try store.open(disk).close()
            #expect(try state(store, on: disk) == 7)
        }
    }

    /// Defect: a deletion of history removed for good what only the newer copy names, like a compaction that is asked for.
    @Test func deletingTheHistoryOfAnOlderCopyCostsTheNewerOneNothing() throws {
        let store = PictureStore.log
        let disk = try makeDisk(store)
        let (older, newer) = try twoCopies(store, on: disk)
        try disk.install(older, at: store.path)
        let container = try store.open(disk)
        try ModelContext(container).deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        try container.close()
        try disk.unlink(store.path + ".checkpoint")
        try disk.install(newer, at: store.path)
        #expect(try state(store, on: disk) == 7)
        try store.open(disk).close()
        #expect(try state(store, on: disk) == 7)
    }

    /// Both kinds: what a save replaced is moved aside by the next opening, is read from there where it is named after all, and
    /// goes when the store is compacted.
    @Test(arguments: PictureStore.allCases)
    func whatWasMovedAsideGoesWhenTheStoreIsCompacted(store: PictureStore) throws {
        let disk = try makeDisk(store, states: 5)
        #expect(aside(store, on: disk) == [])
        try store.open(disk).close()
        #expect(store.dataFiles(on: disk).count == 3 && !aside(store, on: disk).isEmpty)
        let configuration = try #require(store.configuration(disk).capable(of: .compact))
        _ = try configuration.compactStore()
        #expect(store.dataFiles(on: disk).count == 3 && aside(store, on: disk).isEmpty)
        #expect(try state(store, on: disk) == 5)
    }

    /// A power cut between the two syncs of a sweep leaves a file in both places, and it stayed in both for good.
    @Test(arguments: PictureStore.allCases, [true, false])
    func whatAPowerCutLeavesInBothPlacesEndsInOne(store: PictureStore, isNamed: Bool) throws {
        let disk = try makeDisk(store, states: 5)
        try store.open(disk).close()
        let place = try #require(isNamed ? store.dataFiles(on: disk).first : aside(store, on: disk).first)
        let other =
            isNamed
            ? place.replacingOccurrences(of: ".external/", with: ".external/aside/")
            : place.replacingOccurrences(of: "/aside/", with: "/")
        let bytes = try #require(disk.contents(at: place))
        try disk.install(bytes, at: other)
        try store.open(disk).close()
        #expect(disk.contents(at: place) == bytes && disk.contents(at: other) == nil)
        // Of two that differ nobody knows which is right.
        try disk.install(bytes + [1], at: other)
        try store.open(disk).close()
        #expect(disk.contents(at: place) == bytes && disk.contents(at: other) == bytes + [1])
        #expect(try state(store, on: disk) == 5)
    }

    /// Files that a record names are moved back before anything is dropped.
    @Test(arguments: PictureStore.allCases)
    func aCompactionDropsNothingThatARecordNames(store: PictureStore) throws {
        let disk = try makeDisk(store)
        let (older, newer) = try twoCopies(store, on: disk)
        try disk.install(older, at: store.path)
        try store.open(disk).close()
        try disk.install(newer, at: store.path)
        _ = try #require(store.configuration(disk).capable(of: .compact)).compactStore()
        #expect(try state(store, on: disk) == 7)
        #expect(aside(store, on: disk) == [])
    }

    @Test(arguments: PictureStore.allCases) func aLinkedFolderIsRefusedByAll(store: PictureStore) throws {
        let disk = try makeDisk(store)
        let foreign = "/foreign/" + String(repeating: "0a", count: 16)
        try disk.install([1, 2, 3], at: foreign)
        let other = try #require(disk.contents(at: store.path))
        let path = "/linked"
        try disk.install(other, at: path)
        try disk.installLink(to: "/foreign", at: path + ".external")
        let configuration = store.configuration(disk, path: path)
        let refusal = FileError.Reason.symbolicLink(target: "/foreign")
        #expect(reason { _ = try store.open(disk, path: path) } == refusal)
        #expect(reason { _ = try store.open(disk, path: path, allowsSave: false) } == refusal)
        #expect(
            reason { _ = try configuration.capable(of: .verify)?.verifyStore() } == refusal)
        #expect(
            reason { _ = try configuration.capable(of: .backUp)?.backUpStore(to: "/copy") } == refusal)
        #expect(
            reason { _ = try configuration.capable(of: .compact)?.compactStore() } == refusal)
        if let salvageable = configuration.capable(of: .salvage) {
            #expect(reason { _ = try salvageable.salvageStore(to: "/copy") } == refusal)
        }
        #expect(disk.contents(at: foreign) == [1, 2, 3])
        #expect(disk.paths.filter { $0.hasPrefix("/copy") || $0 == path + ".lock" } == [])
    }

    /// The mark was read through a link that somebody had put there, and replaced where it led.
    @Test(arguments: PictureStore.allCases, [Array("of somebody\n".utf8), nil])
    func aLinkInThePlaceOfTheMarkIsRefusedAndItsTargetStays(store: PictureStore, content: [UInt8]?) throws {
        let disk = SimulatedFileSystem(seed: 3)
        let container = try store.open(disk)
        let context = ModelContext(container)
        context.insert(Picture("small", content: Data([1])))
        try context.save()
        let foreign = "/foreign/file"
        try disk.install(.directory, at: "/foreign")
        if let content { try disk.install(content, at: foreign) }
        try disk.install(.directory, at: store.folder)
        try disk.installLink(to: foreign, at: store.folder + "/store")
        context.insert(Picture("large", content: Pictures.data(9)))
        #expect(reason { try context.save() } == .symbolicLink(target: foreign))
        #expect(disk.contents(at: foreign) == content)
        #expect(store.dataFiles(on: disk) == [])
        try disk.unlink(store.folder + "/store")
        try context.save()
        #expect(disk.contents(at: foreign) == content)
        #expect(store.dataFiles(on: disk).count == 1)
        try container.close()
    }

    /// A copy of the right mark, anywhere, made any folder the store's own.
    @Test(arguments: PictureStore.allCases) func aFolderWhoseMarkIsALinkIsNotSwept(store: PictureStore) throws {
        let disk = try makeDisk(store, states: 5)
        let mark = store.folder + "/store"
        try disk.install(try #require(disk.contents(at: mark)), at: "/foreign/store")
        try disk.unlink(mark)
        try disk.installLink(to: "/foreign/store", at: mark)
        let files = store.dataFiles(on: disk)
        try store.open(disk).close()
        _ = try #require(store.configuration(disk).capable(of: .compact)).compactStore()
        #expect(store.dataFiles(on: disk) == files && files.count > 3)
        #expect(aside(store, on: disk) == [])
        #expect(try state(store, on: disk) == 5)
    }

    @Test(arguments: PictureStore.allCases)
    func aLinkInThePlaceOfTheFolderAsideIsNotFollowed(store: PictureStore) throws {
        let disk = try makeDisk(store, states: 5)
        let foreign = "/foreign/" + String(repeating: "0a", count: 16)
        try disk.install([1, 2, 3], at: foreign)
        try disk.installLink(to: "/foreign", at: store.folder + "/aside")
        let files = store.dataFiles(on: disk)
        try store.open(disk).close()
        #expect(store.dataFiles(on: disk) == files && files.count > 3)
        _ = try #require(store.configuration(disk).capable(of: .compact)).compactStore()
        #expect(disk.paths.filter { $0.hasPrefix("/foreign/") } == [foreign])
        #expect(disk.contents(at: foreign) == [1, 2, 3])
        // What a record names is not read from there either.
        #expect(try state(store, on: disk) == 5)
        let named = try #require(store.dataFiles(on: disk).first)
        try disk.rename(named, to: "/foreign" + named.dropFirst(store.folder.count))
        #expect(throws: ExternalValueError.self) { try state(store, on: disk) }
        try store.open(disk).close()
        #expect(disk.contents(at: named) == nil)
    }

    @Test(arguments: PictureStore.allCases) func aLinkInThePlaceOfDataIsNotRead(store: PictureStore) throws {
        let disk = try makeDisk(store)
        // So that each of the files is named.
        _ = try #require(store.configuration(disk).capable(of: .compact)).compactStore()
        let named = try #require(store.dataFiles(on: disk).first)
        try disk.rename(named, to: "/foreign")
        try disk.installLink(to: "/foreign", at: named)
        #expect {
            try state(store, on: disk)
        } throws: { error in
            guard case .unreadable(let fault)? = (error as? ExternalValueError)?.reason else { return false }
            return fault.reason == .symbolicLink(target: "/foreign") && fault.path == named
        }
        let found = try #require(store.configuration(disk).capable(of: .verify)).verifyStore()
        #expect(!found.problems.isEmpty)
    }

    /// A folder of a program that wrote no marks is marked once a record names what is in it.
    @Test(arguments: PictureStore.allCases) func aFolderWithoutAMarkIsTakenOver(store: PictureStore) throws {
        let disk = try makeDisk(store)
        let mark = store.folder + "/store"
        let text = try #require(disk.contents(at: mark))
        try disk.unlink(mark)
        let orphan = String(repeating: "0a", count: 16)
        try disk.install([1], at: store.folder + "/" + orphan)
        try store.open(disk).close()
        #expect(disk.contents(at: mark) == text)
        #expect(aside(store, on: disk).contains { $0.hasSuffix(orphan) })
        #expect(try state(store, on: disk) == 3)
        // Not where data are missing: then it may be anybody's.
        try disk.unlink(mark)
        try disk.install([1], at: store.folder + "/" + orphan)
        try disk.unlink(store.dataFiles(on: disk)[1])
        try store.open(disk).close()
        #expect(disk.contents(at: mark) == nil)
        #expect(disk.contents(at: store.folder + "/" + orphan) == [1])
    }

    @Test(arguments: PictureStore.allCases) func aFolderOfAnotherStoreIsLeftAlone(store: PictureStore) throws {
        let disk = try makeDisk(store)
        try disk.install(Array("ANOTHER\n".utf8), at: store.folder + "/store")
        let orphan = store.folder + "/" + String(repeating: "0a", count: 16)
        try disk.install([1], at: orphan)
        let container = try store.open(disk)
        #expect(disk.contents(at: orphan) == [1])
        let context = ModelContext(container)
        context.insert(Picture("small", content: Data([1])))
        try context.save()
        context.insert(Picture("large", content: Pictures.data(9)))
        let found = reason { try context.save() }
        guard case .folderOfAnotherStore(_, "ANOTHER") = found else {
            Issue.record("\(String(describing: found))")
            return
        }
        context.rollback()
        try container.close()
    }

    @Test(arguments: PictureStore.allCases) func aCopyMadeByHandIsAStoreOfItsOwn(store: PictureStore) throws {
        let disk = try makeDisk(store)
        for path in disk.paths where path == store.path || path.hasPrefix(store.folder + "/") {
            guard let bytes = disk.contents(at: path) else { continue }
            try disk.install(bytes, at: "/copy" + path.dropFirst(store.path.count))
        }
        for path in [store.path, "/copy"] {
            let container = try store.open(disk, path: path)
            for number in 4...6 { try container.advancePictures(to: number) }
            try container.close()
            try store.open(disk, path: path).close()
        }
        #expect(try state(store, on: disk) == 6)
        #expect(try state(store, on: disk, path: "/copy") == 6)
    }

    /// Its records are those of the log; but what has become of one file may have become of the other.
    @Test func nothingIsSweptWhereTheCheckpointCannotBeRead() throws {
        let store = PictureStore.log
        let checkpoint = store.path + ".checkpoint"
        let disk = SimulatedFileSystem(seed: 3)
        let container = try store.openLog(disk, history: .keepAll)
        for state in 1...5 { try container.advancePictures(to: state) }
        try #require(container.store(AppendLogStore.self)).checkpoint()
        try container.close()
        let sound = try #require(disk.contents(at: checkpoint))
        let files = store.dataFiles(on: disk)
        let everything = disk.paths.compactMap { path in disk.contents(at: path).map { (path, $0) } }
        var (unread, swept) = (0, 0)
        for place in stride(from: 0, to: sound.count, by: isFullSize ? 1 : 13) {
            let other = SimulatedFileSystem(seed: 3)
            for (path, bytes) in everything { try other.install(bytes, at: path) }
            var rotten = sound
            rotten[place] ^= 0x10
            try other.install(rotten, at: checkpoint)
            let container = try store.openLog(other, history: .keepAll)
            let isUnread = container.store(AppendLogStore.self)?.recovery?.ignoredCheckpoint != nil
            #expect(try Pictures.state(of: container) == 5, "byte \(place)")
            if isUnread {
                unread += 1
                #expect(store.dataFiles(on: other) == files, "byte \(place)")
                #expect(aside(store, on: other) == [], "byte \(place)")
            } else if store.dataFiles(on: other).count < files.count {
                swept += 1
            }
            try container.close()
        }
        #expect(unread > 5 && swept > 0, "\(unread) not read, \(swept) swept")
    }

    /// A store that compacts itself drops what it has written itself, and nothing that another copy of it may name.
    @Test func aCompactionInTheBackgroundDropsOnlyWhatItsProcessHasWritten() throws {
        let store = PictureStore.log
        let disk = try makeDisk(store)
        let (older, newer) = try twoCopies(store, on: disk)
        try disk.install(older, at: store.path)
        let again = try store.openLog(disk, compaction: .automatic)
        let movedAside = aside(store, on: disk)
        #expect(movedAside.count > 2)
        let before = Set(store.dataFiles(on: disk))
        for number in 0..<40 {
            let context = ModelContext(again)
            let descriptor = FetchDescriptor<Picture>(sortBy: [SortDescriptor(\.name)])
            let picture = try #require(try context.fetch(descriptor).first)
            picture.name = String(repeating: "a", count: 500) + "\(number)"
            picture.content = Pictures.data(2_000 + number)
            try context.save()
            again.store(AppendLogStore.self)?.waitForBackgroundWork()
        }
        // Forty values were written. All but the last, and what was written since the last compaction, are gone for good.
        let written = Set(store.dataFiles(on: disk)).subtracting(before)
        #expect(written.count < 30, "\(written.count) are left")
        let later = aside(store, on: disk)
        #expect(Set(movedAside).isSubset(of: later))
        // The value that the picture had at first.
        #expect(later.count <= movedAside.count + 1, "\(later)")
        try again.close()
        try disk.install(newer, at: store.path)
        try disk.unlink(store.path + ".checkpoint")
        #expect(try state(store, on: disk) == 7)
        try store.open(disk).close()
        #expect(try state(store, on: disk) == 7)
    }

    /// What was acknowledged may be in a part that cannot be read.
    @Test func nothingIsSweptWhereTheLogWasCutOrTheTextWasEdited() throws {
        for store in PictureStore.allCases {
            let disk = try makeDisk(store)
            var bytes = try #require(disk.contents(at: store.path))
            if store == .log { bytes.removeLast(40) }
            if store == .json { bytes = bytes.map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0 } }
            try disk.install(bytes, at: store.path)
            let files = store.dataFiles(on: disk)
            if store == .log {
                try store.open(disk).close()
            } else {
                let configuration = JSONFileConfiguration(path: store.path, integrity: .acceptEdits, in: disk)
                try? ModelContainer(for: Schema([Picture.self]), configurations: [configuration]).close()
            }
            #expect(store.dataFiles(on: disk) == files)
        }
    }
}

extension PictureStore {
    /// Opens a log of pictures.
    fileprivate func openLog(
        _ disk: SimulatedFileSystem, history: AppendLogHistory = .keep(days: 0),
        compaction: AppendLogCompaction = .onCall
    ) throws -> ModelContainer {
        var configuration = AppendLogConfiguration(path: path, history: history, compaction: compaction, in: disk)
        configuration.allocationStep = 4_096
        configuration.leastGarbage = 8_192
        return try ModelContainer(for: Schema([Picture.self]), configurations: [configuration])
    }
}
