import FaultWorkload
import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseEngine
import Testing

import MortiseJSONFile
import MortiseTestSupport

/// Paths were joined with suffixes in some twenty places, some of which did not resolve links; locks go by names.
@Suite struct StoreFilesTests {
    /// A disk with a store of three pictures, which needs its checkpoint where it is a log.
    private func makeDisk(_ store: PictureStore) throws -> SimulatedFileSystem {
        let disk = SimulatedFileSystem(seed: 3)
        let container = try store.open(disk)
        for state in 1...3 { try container.advancePictures(to: state) }
        try container.close()
        _ = try store.configuration(disk).capable(of: .compact)?.compactStore()
        return disk
    }

    /// What all that can be asked about a store, and done with it, says.
    private func answers(_ store: PictureStore, on disk: SimulatedFileSystem, _ path: String) throws -> [String] {
        let configuration = store.configuration(disk, path: path)
        var lines: [String] = []
        func note(_ report: MaintenanceReport?) {
            lines.append("\(report.map { "\($0.figures) \($0.problems) \($0.notes)" } ?? "-")")
        }
        for allowsSave in [false, true] {
            let container = try store.open(disk, path: path, allowsSave: allowsSave)
            lines.append("\(try Pictures.state(of: container) ?? -1)")
            try container.close()
        }
        let described = try #require(configuration as? any SelfDescribingConfiguration)
        lines.append("\(try described.storedSchema()?.entities.map(\.name) ?? [])")
        lines.append("\(try described.storeFiles().map { "\($0.role) \($0.bytes)" })")
        note(try configuration.capable(of: .verify)?.verifyStore())
        for verb in ["backup", "salvage"] {
            let target = "/copies/\(verb)-\(disk.uniqueNumber())"
            if verb == "backup" { note(try configuration.capable(of: .backUp)?.backUpStore(to: target)) }
            if verb == "salvage" {
                guard let salvageable = configuration.capable(of: .salvage) else { continue }
                note(try salvageable.salvageStore(to: target))
            }
            let copy = try store.open(disk, path: target)
            lines.append("\(try Pictures.state(of: copy) ?? -1)")
            try copy.close()
        }
        note(try configuration.capable(of: .reseal)?.resealStore())
        note(try configuration.capable(of: .compact)?.compactStore())
        return lines
    }

    @Test(arguments: PictureStore.allCases)
    func everyVerbSaysTheSameThroughALinkAndALinkedFolder(store: PictureStore) throws {
        let name = String(store.path.dropFirst())
        let direct = try makeDisk(store)
        try direct.install(.directory, at: "/copies")
        let expected = try answers(store, on: direct, store.path)
        #expect(expected.contains("3"))
        for path in ["/links/l", "/links/second", "/folder/" + name] {
            let disk = try makeDisk(store)
            try disk.install(.directory, at: "/copies")
            try disk.installLink(to: "../" + name, at: "/links/l")
            try disk.installLink(to: "l", at: "/links/second")
            try disk.installLink(to: "/", at: "/folder")
            #expect(try answers(store, on: disk, path) == expected, "\(path)")
            #expect(disk.paths.filter { $0.hasPrefix("/links/") } == ["/links/l", "/links/second"])
        }
    }

    @Test func aLinkedCheckpointIsRefusedByName() throws {
        let store = PictureStore.log
        for target in ["/elsewhere", "/nowhere"] {
            let disk = try makeDisk(store)
            try disk.rename(store.path + ".checkpoint", to: "/elsewhere")
            try disk.installLink(to: target, at: store.path + ".checkpoint")
            let attempts: [() throws -> Void] = [
                { try store.open(disk).close() }, { try store.open(disk, allowsSave: false).close() },
                { _ = try AppendLogStore.verify(store.path, in: disk) },
                { _ = try AppendLogStore.salvage(store.path, to: "/new.log", in: disk) },
                { _ = try store.configuration(disk).capable(of: .backUp)?.backUpStore(to: "/new.log") },
                { _ = try store.configuration(disk).capable(of: .compact)?.compactStore() },
            ]
            for (number, attempt) in attempts.enumerated() {
                let error = #expect(throws: FileError.self, "\(number)") { try attempt() }
                #expect(error?.reason == .symbolicLink(target: target) && error?.path == store.path + ".checkpoint")
            }
            #expect(disk.paths.filter { $0.hasPrefix("/new") } == [])
        }
    }

    private func isDamage(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return false
        } catch {
            return (error as? any ClassifiedStoreError)?.errorClass == .damaged
        }
    }

    @Test(arguments: PictureStore.allCases)
    func anOpeningOrABackupThatIsRefusedLeavesNoLock(store: PictureStore) throws {
        let disk = try makeDisk(store)
        try disk.unlink(store.path + ".lock")
        let bytes = try #require(disk.contents(at: store.path))
        var damaged = bytes
        damaged[store == .log ? 20 : bytes.count / 2] ^= 0xFF
        try disk.install(damaged, at: store.path)
        let before = disk.paths
        #expect(isDamage { try store.open(disk).close() })
        let backup = try #require(store.configuration(disk).capable(of: .backUp))
        #expect(isDamage { _ = try backup.backUpStore(to: "/copy") })
        #expect(disk.paths.filter { !$0.hasPrefix("/copy.external") } == before)
        try disk.install(bytes, at: store.path)
        try disk.install([1], at: "/taken")
        #expect(throws: FileError.self) { try backup.backUpStore(to: "/taken") }
        #expect(disk.contents(at: "/taken.lock") == nil)
        // One that was there before stays.
        try disk.install([], at: store.path + ".lock")
        try disk.install(damaged, at: store.path)
        #expect(isDamage { try store.open(disk).close() })
        #expect(disk.contents(at: store.path + ".lock") != nil)
    }

    /// Killed at every step, and repeated: nothing is in the way, and nothing is left.
    @Test(arguments: PictureStore.allCases, ["backup", "open backup", "salvage"])
    func whatAKilledCopyLeavesIsRemovedByItsRepetition(store: PictureStore, verb: String) throws {
        if store == .json && verb != "backup" { return }
        func run(_ disk: SimulatedFileSystem) throws {
            switch verb {
            case "backup": _ = try store.configuration(disk).capable(of: .backUp)?.backUpStore(to: "/copy")
            case "salvage": _ = try AppendLogStore.salvage(store.path, to: "/copy", in: disk)
            default:
                let container = try store.open(disk)
                defer { try? container.close() }
                try container.logStore?.backup(to: "/copy")
            }
        }
        let disk = try makeDisk(store)
        let first = disk.operationCount
        try run(disk)
        var repeated = 0
        let part = Int.random(in: 0..<3)
        for operation in first...disk.operationCount where isFullSize || operation % 3 == part {
            let image = disk.crashed(after: operation, losing: .nothing)
            if image.contents(at: "/copy") != nil { continue }
            repeated += 1
            try run(image)
            #expect(image.paths.filter { $0.hasSuffix(".mortise-tmp") } == [], "operation \(operation)")
            let copy = try store.open(image, path: "/copy")
            #expect(try Pictures.state(of: copy) == 3, "operation \(operation)")
            try copy.close()
        }
        #expect(repeated > (isFullSize ? 10 : 2))
    }

    /// A checkpoint whose log is away is not what a killed backup leaves.
    @Test func aCheckpointWithoutItsLogIsNotOverwritten() throws {
        let store = PictureStore.log
        let disk = try makeDisk(store)
        try disk.install(try #require(disk.contents(at: store.path + ".checkpoint")), at: "/copy.checkpoint")
        let backup = try #require(store.configuration(disk).capable(of: .backUp))
        let error = #expect(throws: FileError.self) { try backup.backUpStore(to: "/copy") }
        #expect(error?.reason == .alreadyExists && error?.path == "/copy.checkpoint")
        #expect(disk.paths.filter { $0.hasPrefix("/copy") } == ["/copy.checkpoint"])
    }
}

/// Two names of one file let two writers in.
@Suite struct HardLinkTests {
    private func withFolder(_ body: (String) throws -> Void) throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("mortise-links-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: url) }
        try body(url.path)
    }

    @Test(arguments: PictureStore.allCases)
    func aFileThatIsOpenUnderAnotherNameIsRefused(store: PictureStore) throws {
        try withFolder { folder in
            let (path, other) = (folder + "/a", folder + "/b")
            let files = POSIXFileSystem()
            func refusal() -> FileError.Reason? {
                let error = #expect(throws: FileError.self) { try store.open(files, path: other).close() }
                return error?.reason
            }
            let container = try store.open(files, path: path)
            try container.advancePictures(to: 1)
            try FileManager.default.linkItem(atPath: path, toPath: other)
            #expect(refusal() == .openUnderAnotherName)
            // The file that a save, or a compaction, has put in its place.
            try container.advancePictures(to: 2)
            try container.logStore?.compact()
            try container.advancePictures(to: 3)
            try FileManager.default.removeItem(atPath: other)
            try FileManager.default.linkItem(atPath: path, toPath: other)
            #expect(refusal() == .openUnderAnotherName)
            #expect(!FileManager.default.fileExists(atPath: other + ".lock"))
            try container.close()
            // A snapshot by links of a store that is closed keeps nobody out.
            let again = try store.open(files, path: path)
            #expect(try Pictures.state(of: again) == 3)
            try again.advancePictures(to: 4)
            try again.close()
        }
    }

    /// The process that holds the file under its first name is another one.
    @Test(.enabled(if: HelperProcess.program != nil, "the helper program is not there"), arguments: ["log", "json"])
    func aFileThatAnotherProcessHasOpenUnderAnotherNameIsRefused(kind: String) throws {
        try withFolder { folder in
            let (path, other) = (folder + "/a." + kind, folder + "/b." + kind)
            #expect(try HelperProcess("save", path, "3").isClosed)
            let before = try Data(contentsOf: URL(filePath: path))
            try FileManager.default.linkItem(atPath: path, toPath: other)
            let (input, output) = (Pipe(), Pipe())
            let holder = try HelperProcess.process(["hold", path])
            holder.standardInput = input
            holder.standardOutput = output
            try holder.run()
            defer {
                try? input.fileHandleForWriting.close()
                holder.waitUntilExit()
            }
            let word = Data("opened\n".utf8)
            #expect(try output.fileHandleForReading.read(upToCount: word.count) == word)
            for verb in ["save", "hold"] {
                let second = try HelperProcess(verb, other, "5")
                #expect(
                    second.status == 1 && second.lines.contains { $0.contains("under another name") }, "\(second.lines)"
                )
            }
            #expect(try Data(contentsOf: URL(filePath: other)) == before)
            #expect(!FileManager.default.fileExists(atPath: other + ".lock"))
            // Killed, it lets go of both.
            kill(holder.processIdentifier, SIGKILL)
            holder.waitUntilExit()
            let third = try HelperProcess("save", other, "5")
            #expect(third.isClosed && third.acknowledged == 5, "\(third.lines)")
        }
    }

    @Test func aSharedLogWithTwoNamesIsRefused() throws {
        try withFolder { folder in
            let (path, other) = (folder + "/a", folder + "/b")
            func configuration(_ path: String) -> AppendLogConfiguration {
                AppendLogConfiguration(path: path, sharing: .shared, in: POSIXFileSystem())
            }
            func open(_ path: String) throws -> ModelContainer {
                try ModelContainer(for: Schema([Picture.self]), configurations: [configuration(path)])
            }
            let container = try open(path)
            try container.advancePictures(to: 1)
            try FileManager.default.linkItem(atPath: path, toPath: other)
            let error = #expect(throws: FileError.self) { try open(other).close() }
            #expect(error?.reason == .severalNames(count: 2))
            #expect(!FileManager.default.fileExists(atPath: other + ".lock"))
            #expect(!FileManager.default.fileExists(atPath: other + ".turn"))
            try container.close()
            // The way out.
            try FileManager.default.removeItem(atPath: other)
            try open(path).close()
        }
    }
}
