import Foundation
import MortiseCore

/// The file in which a store keeps who still needs a part of its history: `PATH.holders`, text in JSON that every change replaces
/// whole. Processes take turns by a lock of its own, `PATH.holders.lock`.
package struct HistoryHolderFile {
    private let path: String
    private let store: String
    private let permissions: UInt32
    private let fileSystem: any FileSystem

    private struct Content: Codable {
        var format = Self.name
        var formatVersion = 1
        var holders: [HistoryHolder]

        static let name = "mortise-history-holders"
    }

    private static let largest: Int64 = 16 << 20

    /// - Parameters:
    ///   - path: the path of the store's main file, links at its end resolved.
    ///   - store: the identifier of the store.
    ///   - permissions: the permission bits of new files.
    ///   - fileSystem: the file system that has the store.
    package init(beside path: String, of store: String, permissions: UInt32, in fileSystem: any FileSystem) {
        self.path = StoreFiles(resolved: path).holders
        self.store = store
        self.permissions = permissions
        self.fileSystem = fileSystem
    }

    /// The holders, in the order of their names; none if there is no file. Those of another store, which was in this place before, are left
    /// out: they would hold all of this one's history, and nobody advances them.
    /// - Throws: `FileError`; `HistoryDamaged` if the file has another content.
    package func read() throws -> [HistoryHolder] {
        try fileSystem.refuseAllButFile(at: path)
        guard try fileSystem.infoIfPresent(path, followingLinks: false) != nil else { return [] }
        let bytes = try fileSystem.readWhole(path, limit: Self.largest).bytes
        let damage = HistoryDamaged(path: path, offset: 0, reason: "it does not hold holders of history")
        guard let content = try? JSONDecoder().decode(Content.self, from: Data(bytes)), content.format == Content.name
        else { throw damage }
        guard content.formatVersion == 1 else {
            throw HistoryDamaged(
                path: path, offset: 0,
                reason: "it has format version \(content.formatVersion), and this program knows version 1")
        }
        return content.holders.filter { $0.token.tokenValue?[store] != nil }.sorted { $0.name < $1.name }
    }

    /// Reads, changes and replaces the file, while no other process does.
    /// - Throws: `FileError`, `locked` where another process takes ten seconds for it; `HistoryDamaged`; what the body throws. The file
    ///   is as it was then, unless the outcome of the error is unknown.
    package func update(_ body: (inout [HistoryHolder]) throws -> Void) throws {
        let lock = try takeLock()
        defer { lock.release() }
        // What a process has left that was killed here.
        _ = try? DurableReplacement(of: path, in: fileSystem).sweepOrphans(holding: lock)
        let before = try read()
        var holders = before
        try body(&holders)
        if holders == before { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let bytes = [UInt8](try encoder.encode(Content(holders: holders)))
        try DurableReplacement(of: path, newFilePermissions: permissions, in: fileSystem).replace { writer in
            try writer.append(bytes)
        }
    }

    private func takeLock() throws -> FileLock {
        let end = ContinuousClock.now + .seconds(10)
        while true {
            do {
                return try FileLock(forStoreAt: path, permissions: permissions, in: fileSystem)
            } catch {
                guard case .locked = error.reason, ContinuousClock.now < end else { throw error }
                Thread.sleep(forTimeInterval: 0.001)
            }
        }
    }
}
