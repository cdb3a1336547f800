import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// Putting a backup in a store's place: what is refused, what a crash leaves, what an error leaves.
@Suite struct RestoringTests {
    /// Which of the two was compacted, so that its log cannot do without its checkpoint.
    struct Case: Sendable, CustomTestStringConvertible {
        let store: PictureStore
        var compactsBackup = false
        var compactsOld = false
        var hasOld = true

        var testDescription: String {
            "\(store)\(hasOld ? "" : ", nothing there")\(compactsBackup ? ", compacted backup" : "")\(compactsOld ? ", compacted store" : "")"
        }

        static let all = [
            Case(store: .json), Case(store: .json, hasOld: false), Case(store: .log), Case(store: .log, hasOld: false),
            Case(store: .log, compactsBackup: true), Case(store: .log, compactsBackup: true, hasOld: false),
            Case(store: .log, compactsOld: true), Case(store: .log, compactsBackup: true, compactsOld: true),
        ]
    }

    private static let backup = "/backup/copy"

    private func open(_ store: PictureStore, _ disk: SimulatedFileSystem, allowsSave: Bool = true) throws
        -> ModelContainer
    {
        try ModelContainer(
            for: Schema([Picture.self]), configurations: [store.configuration(disk, allowsSave: allowsSave)])
    }

    private func target(_ store: PictureStore, _ disk: SimulatedFileSystem) throws -> any MaintainableConfiguration {
        try #require(store.configuration(disk).capable(of: .restore))
    }

    /// A disk with a backup of state 3 and, unless nothing is to be there, the store in state 5.
    private func makeDisk(_ given: Case) throws -> SimulatedFileSystem {
        let disk = SimulatedFileSystem(seed: 7)
        try disk.install(.directory, at: "/backup")
        var container = try open(given.store, disk)
        for state in 1...3 { try container.advancePictures(to: state) }
        try container.close()
        if given.compactsBackup { _ = try target(given.store, disk).compactStore() }
        _ = try target(given.store, disk).backUpStore(to: Self.backup)
        container = try open(given.store, disk)
        for state in 4...5 { try container.advancePictures(to: state) }
        try container.close()
        if given.compactsOld { _ = try target(given.store, disk).compactStore() }
        if !given.hasOld {
            for path in disk.paths
            where path.hasPrefix(given.store.path) && !path.hasSuffix(".external") && !path.hasSuffix("aside") {
                try disk.unlink(path)
            }
            try disk.syncDirectory("/")
        }
        return disk.crashed(after: .max, losing: .nothing)
    }

    private func state(_ store: PictureStore, _ disk: SimulatedFileSystem, allowsSave: Bool = true) throws -> Int? {
        let container = try open(store, disk, allowsSave: allowsSave)
        let state = try Pictures.state(of: container)
        try container.close()
        return state
    }

    @Test(arguments: Case.all) func aRestoredStoreIsThatOfTheBackup(_ given: Case) throws {
        let disk = try makeDisk(given)
        let report = try target(given.store, disk)
            .restoreStore(from: Self.backup, replacing: given.hasOld) {}
        #expect(report.figures.contains(.init("records", 3)) && report.problems.isEmpty, "\(report)")
        #expect(try target(given.store, disk).verifyStore().problems.isEmpty)
        #expect(!disk.paths.contains { $0.hasSuffix(".mortise-tmp") }, "\(disk.paths)")
        #expect(try state(given.store, disk, allowsSave: false) == 3)
        let container = try open(given.store, disk)
        #expect(try Pictures.state(of: container) == 3)
        try container.advancePictures(to: 4)
        try container.close()
        #expect(try state(given.store, disk) == 4)
        #expect(try target(given.store, disk).verifyStore().problems.isEmpty)
        // The backup is as it was.
        #expect(throws: RestoreError.storeExists(location: given.store.path)) {
            try target(given.store, disk).restoreStore(from: Self.backup, replacing: false) {}
        }
        _ = try target(given.store, disk).restoreStore(from: Self.backup, replacing: true) {}
        #expect(try state(given.store, disk) == 3)
    }

    @Test(arguments: Case.all) func aCrashLeavesTheOldStoreOrTheRestoredOne(_ given: Case) throws {
        let disk = try makeDisk(given)
        let old = given.hasOld ? 5 : nil
        let configuration = try target(given.store, disk)
        _ = try configuration.restoreStore(from: Self.backup, replacing: given.hasOld) {}
        let returned = disk.operationCount
        var found: Set<Int?> = []
        // One in four, others each time; the first, after which the store is the old one, and the last, after which it is the restored one.
        let part = Int.random(in: 0..<4)
        try disk.forEachCrash(limit: isFullSize ? 4 : 1) { image in
            if !isFullSize, !found.isEmpty, image.operation % 4 != part, image.operation != returned { return }
            let what: Comment = "\(given.testDescription), \(image.operation) of \(returned), \(image.loss)"
            // Nobody has to finish what was begun before it can be read.
            let isThere = image.fileSystem.paths.contains(given.store.path)
            if isThere {
                #expect(try [old, 3].contains(state(given.store, image.fileSystem, allowsSave: false)), what)
            }
            let goesOn = isFullSize || image.operation % 16 == part
            let again = image.fileSystem.crashed(after: .max, losing: .nothing)
            let state = isThere ? try state(given.store, image.fileSystem) : nil
            found.insert(state)
            #expect([old, 3].contains(state), what)
            if image.operation == returned { #expect(state == 3, what) }
            guard goesOn else { return }
            if isThere {
                #expect(try self.state(given.store, image.fileSystem) == state, what)
                #expect(try target(given.store, image.fileSystem).verifyStore().problems.isEmpty, what)
            }
            _ = try target(given.store, again).restoreStore(from: Self.backup, replacing: isThere) {}
            #expect(try self.state(given.store, again) == 3, what)
        }
        #expect(found == [old, 3])
    }

    @Test(arguments: Case.all) func anErrorLeavesTheOldStoreOrTheRestoredOne(_ given: Case) throws {
        let old = given.hasOld ? 5 : nil
        var outcomes: Set<Int?> = []
        let before = try makeDisk(given)
        let paths = Set(before.paths)
        for operation in [FileError.Operation.open, .read, .write, .sync, .rename, .syncDirectory, .close] {
            // Each of the first ones, and then some.
            for number in Array(1...8) + Array(stride(from: 9, through: 400, by: isFullSize ? 1 : 7)) {
                let disk = before.crashed(after: .max, losing: .nothing)
                let configuration = try target(given.store, disk)
                disk.inject(.fail(.noSpace), at: number, of: operation)
                let error = thrown { _ = try configuration.restoreStore(from: Self.backup, replacing: given.hasOld) {} }
                disk.removeFaults()
                let isThere = disk.paths.contains(given.store.path)
                let state = isThere ? try state(given.store, disk) : nil
                outcomes.insert(state)
                #expect(error == nil ? state == 3 : [old, 3].contains(state), "\(operation) \(number)")
                if state == nil {
                    // What says whose the folder is may stay, and a lock that nobody holds.
                    let harmless = [".external", ".external/store", ".lock"]
                    let left = Set(disk.paths).subtracting(paths).filter { path in
                        !harmless.contains { path.hasSuffix($0) }
                    }
                    #expect(left.isEmpty, "\(operation) \(number)")
                }
                if disk.faultsFired == 0 { break }
                #expect(number < 390)
            }
        }
        #expect(outcomes == [old, 3])
    }

    @Test(arguments: PictureStore.allCases) func whatThrowsWhenAllIsReadyStopsIt(_ store: PictureStore) throws {
        struct Stop: Error {}
        let disk = try makeDisk(Case(store: store))
        let before = disk.paths
        #expect(throws: Stop.self) {
            try target(store, disk).restoreStore(from: Self.backup, replacing: true) { throw Stop() }
        }
        #expect(disk.paths == before)
        #expect(try state(store, disk) == 5)
    }

    /// Defect: a new store was written and synced only after the others were replaced, so that a disk that was full by then left
    /// some restored and some not.
    @Test(arguments: Case.all) func whatIsReadyNeedsNoMoreRoom(_ given: Case) throws {
        let disk = try makeDisk(given)
        _ = try target(given.store, disk)
            .restoreStore(from: Self.backup, replacing: given.hasOld) {
                for operation in [FileError.Operation.write, .sync] {
                    disk.inject(.fail(.noSpace), of: operation, times: .max)
                }
            }
        disk.removeFaults()
        #expect(try state(given.store, disk) == 3)
    }

    /// As a container restores them: each store is replaced when those after it have been. Only giving the names may part them.
    @Test func anErrorLeavesAllStoresOrNone() throws {
        let before = SimulatedFileSystem(seed: 7)
        try before.install(.directory, at: "/backup")
        func eachStore(_ disk: SimulatedFileSystem, _ body: (PictureStore) throws -> Void) rethrows {
            for store in [PictureStore.log, .json] { try body(store) }
        }
        func advance(to states: ClosedRange<Int>) throws {
            try eachStore(before) { store in
                let container = try open(store, before)
                for state in states { try container.advancePictures(to: state) }
                try container.close()
            }
        }
        try advance(to: 1...3)
        try eachStore(before) { _ = try target($0, before).backUpStore(to: "/backup/\($0)") }
        try advance(to: 4...5)
        var outcomes: Set<[Int?]> = []
        for order in [[PictureStore.log, .json], [.json, .log]] {
            for operation in [FileError.Operation.open, .read, .write, .sync, .close] {
                for number in Array(1...12) + Array(stride(from: 13, through: 800, by: isFullSize ? 1 : 11)) {
                    let disk = before.crashed(after: .max, losing: .nothing)
                    let targets = try order.map { try target($0, disk) }
                    disk.inject(.fail(.noSpace), at: number, of: operation)
                    let error = thrown {
                        _ = try targets[0].restoreStore(from: "/backup/\(order[0])", replacing: true) {
                            _ = try targets[1].restoreStore(from: "/backup/\(order[1])", replacing: true) {}
                        }
                    }
                    let isOver = disk.faultsFired == 0
                    disk.removeFaults()
                    let states = try order.map { try state($0, disk) }
                    outcomes.insert(states)
                    #expect(
                        error == nil ? states == [3, 3] : states == [5, 5] || states == [3, 3],
                        "\(order), \(operation) \(number): \(error as Any)")
                    if isOver { break }
                    #expect(number < 790)
                }
            }
        }
        #expect(outcomes == [[5, 5], [3, 3]])
    }

    /// What was put in its own place would be called restored, although nothing of it has changed.
    @Test(arguments: PictureStore.allCases) func theStoreItselfIsNoBackup(_ store: PictureStore) throws {
        let disk = try makeDisk(Case(store: store))
        try disk.installLink(to: store.path, at: "/backup/link")
        let before = disk.paths
        for path in [store.path, "/backup/..\(store.path)", "/backup/link"] {
            #expect(throws: RestoreError.backupIsStore(path: path)) {
                try target(store, disk).restoreStore(from: path, replacing: true) {}
            }
        }
        #expect(disk.paths == before)
        #expect(try state(store, disk) == 5)
    }

    @Test(arguments: [Case(store: .json), Case(store: .log), Case(store: .log, compactsBackup: true)])
    func aDamagedBackupIsRefusedBeforeAnythingIsTouched(_ given: Case) throws {
        let disk = try makeDisk(given)
        for file in disk.paths
        where file.hasPrefix(Self.backup) && !file.hasSuffix(".lock") && !file.hasSuffix("/store") {
            guard let bytes = disk.contents(at: file), !bytes.isEmpty else { continue }
            for place in stride(from: 0, to: bytes.count, by: max(1, bytes.count / (isFullSize ? 40 : 10))) {
                var damaged = bytes
                damaged[place] ^= 0x20
                try disk.install(damaged, at: file)
                let before = disk.paths
                var report: MaintenanceReport?
                let error = thrown {
                    report = try target(given.store, disk).restoreStore(from: Self.backup, replacing: true) {}
                }
                if file.hasSuffix(".history") {
                    // Damage to a history never keeps anybody from the records, nor from the history that the store has itself.
                    #expect(error == nil && report?.notes.isEmpty == true, "\(file) \(place): \(error as Any)")
                    #expect(try state(given.store, disk) == 3)
                    continue
                }
                if error == nil {
                    // A checkpoint that the log can do without, or what no record names.
                    #expect(file.hasSuffix(".checkpoint") && !given.compactsBackup, "\(file) \(place)")
                    #expect(try state(given.store, disk) == 3)
                    continue
                }
                #expect(
                    (error as? any ClassifiedStoreError)?.errorClass == .damaged, "\(file) \(place): \(error as Any)")
                #expect(error is RestoreError, "\(file) \(place): \(error as Any)")
                #expect(disk.paths == before)
                #expect(try state(given.store, disk, allowsSave: false) == 5)
            }
            try disk.install(bytes, at: file)
        }
        _ = try target(given.store, disk).restoreStore(from: Self.backup, replacing: true) {}
        #expect(try state(given.store, disk) == 3)
    }

    @Test(arguments: PictureStore.allCases) func aDamagedStoreIsReplaced(_ store: PictureStore) throws {
        let disk = try makeDisk(Case(store: store))
        let bytes = try #require(disk.contents(at: store.path))
        for damaged in [[], Array(bytes.prefix(30)), [UInt8](repeating: 7, count: 500)] {
            try disk.install(damaged, at: store.path)
            _ = try target(store, disk).restoreStore(from: Self.backup, replacing: true) {}
            #expect(try state(store, disk) == 3)
        }
    }

    @Test(arguments: PictureStore.allCases) func whatIsNotMeantIsRefused(_ store: PictureStore) throws {
        let disk = try makeDisk(Case(store: store))
        #expect(throws: RestoreError.storeExists(location: store.path)) {
            try target(store, disk).restoreStore(from: Self.backup, replacing: false) {}
        }
        #expect {
            try target(store, disk).restoreStore(from: "/backup/none", replacing: true) {}
        } throws: {
            if case RestoreError.noBackup(_, "/backup/none") = $0 { true } else { false }
        }
        #expect {
            let reader = try #require(store.configuration(disk, allowsSave: false).capable(of: .restore))
            _ = try reader.restoreStore(from: Self.backup, replacing: true) {}
        } throws: {
            if case RestoreError.readOnly = $0 { true } else { false }
        }
        let container = try open(store, disk)
        #expect {
            try target(store, disk).restoreStore(from: Self.backup, replacing: true) {}
        } throws: {
            ($0 as? FileError)?.reason == .locked(holder: disk.processID)
        }
        try container.close()
        // Another store with the same models.
        let other = try ModelContainer(
            for: Schema([Picture.self]), configurations: [store.configuration(disk, path: "/backup/other")])
        try other.advancePictures(to: 1)
        try other.close()
        #expect {
            try target(store, disk).restoreStore(from: "/backup/other", replacing: true) {}
        } throws: {
            if case RestoreError.otherStore = $0 { true } else { false }
        }
        #expect(try state(store, disk) == 5)
    }
}
