import Foundation
package import MortiseCore

/// The file beside a store that says who migrates it. It is never synced, and nobody relies on it: the lock alone keeps others out, and a
/// process that dies leaves the file to the next one that gets the lock.
package struct MigrationAdvice {
    /// What the file's name has after that of its store.
    package static let suffix = ".mortise-migration"
    private static let longest: Int64 = 65_536

    private let path: String
    private let fileSystem: any FileSystem

    /// - Parameters:
    ///   - path: the store's path, symbolic links at its end resolved.
    ///   - fileSystem: what has the files.
    package init(forStoreAt path: String, in fileSystem: any FileSystem) {
        self.path = path + Self.suffix
        self.fileSystem = fileSystem
    }

    /// What is written there; nil if nothing can be read there that says it.
    package var current: MigrationUnderWay? {
        guard let info = try? fileSystem.infoIfPresent(path, followingLinks: false), info.kind == .regular,
            let bytes = try? fileSystem.readWhole(path, limit: Self.longest).bytes
        else { return nil }
        return try? JSONDecoder().decode(MigrationUnderWay.self, from: Data(bytes))
    }

    /// Says that this process migrates the store. What keeps that from being written keeps nothing else: a store whose folder takes no more
    /// files may still be migrated.
    /// - Parameters:
    ///   - migration: what to say.
    ///   - permissions: those of the store's own new files.
    package func write(_ migration: MigrationUnderWay, permissions: UInt32) {
        clear()
        guard let bytes = try? JSONEncoder().encode(migration),
            let file = try? fileSystem.open(path, mode: .createExclusive(permissions: permissions))
        else { return }
        let isWritten = (try? bytes.withUnsafeBytes { try file.writeAll($0, at: 0) }) != nil
        try? file.close()
        // A part of it names no process, so that nobody would remove it.
        if !isWritten { clear() }
    }

    /// Removes the file, if it says that this process migrates the store. Another that has the lock by now may have written its own.
    package func remove() {
        guard let found = current, found.isOfThisProcess else { return }
        clear()
    }

    /// Removes the file, whose process is known to migrate nothing: the caller has the store's lock alone.
    package func clear() {
        guard (try? fileSystem.infoIfPresent(path, followingLinks: false))?.kind == .regular else { return }
        try? fileSystem.unlink(path)
    }
}

extension MigrationUnderWay {
    fileprivate var isOfThisProcess: Bool {
        let own = MigrationUnderWay(from: from, to: to)
        return process == own.process && host == own.host
    }
}
