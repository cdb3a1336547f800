import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// Bugs: what the user may not read was called damage; a JSON store that is read-only was replaced by a save.
@Suite struct DeniedTests {
    private func makeDisk(_ store: PictureStore) throws -> SimulatedFileSystem {
        let disk = SimulatedFileSystem(seed: 3)
        let container = try store.open(disk)
        for state in 1...3 { try container.advancePictures(to: state) }
        try container.close()
        return disk
    }

    @Test(arguments: PictureStore.allCases) func dataThatMayNotBeReadIsNoDamage(store: PictureStore) throws {
        let disk = try makeDisk(store)
        let before = disk.paths
        let denying = DenyingFileSystem(base: disk) { path, _ in path.hasPrefix(store.folder + "/") }
        let log = AppendLogConfiguration(path: store.path, in: denying)
        let json = JSONFileConfiguration(path: store.path, in: denying)
        let requests: [(String, () throws -> Void)] = [
            ("verify", { _ = store == .log ? try log.verifyStore() : try json.verifyStore() }),
            ("backup", { _ = store == .log ? try log.backUpStore(to: "/copy") : try json.backUpStore(to: "/copy") }),
            (
                "salvage",
                { if store == .log { _ = try log.salvageStore(to: "/copy") } else { _ = try json.verifyStore() } }
            ),
            (
                "read",
                {
                    let container = try store.open(denying, allowsSave: false)
                    defer { try? container.close() }
                    _ = try Pictures.lines(in: container)
                }
            ),
        ]
        for (name, request) in requests {
            do {
                try request()
                Issue.record("\(name) passed")
            } catch {
                #expect((error as? any ClassifiedStoreError)?.errorClass == .denied, "\(name): \(error)")
            }
        }
        #expect(disk.paths.filter { !$0.hasPrefix("/copy") } == before)
        #expect(disk.contents(at: "/copy") == nil)
    }

    @Test(arguments: PictureStore.allCases) func aFileThatMayNotBeWrittenIsNotReplaced(store: PictureStore) throws {
        let disk = try makeDisk(store)
        let before = disk.contents(at: store.path)
        let denying = DenyingFileSystem(base: disk) { path, mode in
            if case .readWrite = mode { path == store.path } else { false }
        }
        func refusal(_ body: () throws -> Void) -> FileError.Reason? {
            do {
                try body()
                return nil
            } catch {
                return (error as? FileError)?.reason
            }
        }
        #expect(refusal { try store.open(denying).close() } == .permissionDenied)
        if store == .json {
            #expect(refusal { try JSONFileStore.reseal(store.path, in: denying) } == .permissionDenied)
        }
        #expect(disk.contents(at: store.path) == before)
        let reader = try store.open(denying, allowsSave: false)
        #expect(try Pictures.state(of: reader) == 3)
        try reader.close()
    }
}

/// Does not let some files be opened or looked at.
private struct DenyingFileSystem: FileSystem {
    let base: SimulatedFileSystem
    /// The mode is nil where a file is only looked at.
    let denies: @Sendable (_ path: String, _ mode: OpenMode?) -> Bool

    private func check(_ path: String, _ mode: OpenMode?, _ operation: FileError.Operation) throws(FileError) {
        if denies(path, mode) { throw FileError(.permissionDenied, operation: operation, path: path, code: .access) }
    }

    func open(_ path: String, mode: OpenMode) throws(FileError) -> any OpenFile {
        try check(path, mode, .open)
        return try base.open(path, mode: mode)
    }
    func info(_ path: String, followingLinks: Bool) throws(FileError) -> FileInfo {
        try check(path, nil, .info)
        return try base.info(path, followingLinks: followingLinks)
    }
    func extent(_ path: String, followingLinks: Bool) throws(FileError) -> FileExtent {
        try check(path, nil, .info)
        return try base.extent(path, followingLinks: followingLinks)
    }
    var processID: Int32 { base.processID }
    func uniqueNumber() -> UInt64 { base.uniqueNumber() }
    func readLink(_ path: String) throws(FileError) -> String { try base.readLink(path) }
    func list(_ directory: String) throws(FileError) -> [String] { try base.list(directory) }
    func createDirectory(_ path: String, permissions: UInt32) throws(FileError) {
        try base.createDirectory(path, permissions: permissions)
    }
    func rename(_ source: String, to target: String) throws(FileError) { try base.rename(source, to: target) }
    func unlink(_ path: String) throws(FileError) { try base.unlink(path) }
    func syncDirectory(_ path: String) throws(FileError) { try base.syncDirectory(path) }
}
