import MortiseCore
import Synchronization

/// Copies a store as it is before the first write under a schema that does not name all that the store holds.
package final class SchemaChangeover: Sendable {
    package let loss: SchemaLoss
    private let path: String
    private let fileSystem: any FileSystem
    private let backUp: @Sendable (_ path: String) throws -> Void
    private let isDone = Mutex(false)

    /// Prepares the changeover of the store at `path`. `backUp` makes a complete copy of the store at a path where
    /// nothing exists, or throws and leaves nothing.
    package init(
        _ loss: SchemaLoss, of path: String, in fileSystem: any FileSystem,
        backUp: @escaping @Sendable (_ path: String) throws -> Void
    ) {
        self.loss = loss
        self.path = path
        self.fileSystem = fileSystem
        self.backUp = backUp
    }

    /// Nil once the store was copied.
    package var pendingLoss: SchemaLoss? { isDone.withLock { $0 ? nil : loss } }

    /// Makes the copy, unless it was made. To be called before each write, by one thread at a time.
    /// - Returns: the path of the copy; nil if no copy was needed.
    /// - Throws: what keeps the copy from being made; then nothing may be written.
    package func keepCopy() throws -> String? {
        try isDone.withLock { isDone in
            if isDone { return nil }
            let copy = try Self.keepCopy(of: path, version: loss.stored, in: fileSystem, backUp: backUp)
            isDone = true
            return copy
        }
    }

    /// Copies the store at `path` as it is to a path beside it.
    /// - Returns: the path of the copy.
    /// - Throws: what keeps the copy from being made; no copy is left then.
    package static func keepCopy(
        of path: String, version: Schema.Version, in fileSystem: any FileSystem,
        backUp: (_ path: String) throws -> Void
    ) throws -> String {
        let copy = try fileSystem.unusedPath(from: SchemaCopies(of: path).start("\(version)"))
        try backUp(copy)
        return copy
    }
}

extension SchemaChangeover {
    /// Removes a copy that was kept for nothing, as far as the disk lets it be removed.
    package static func removeCopy(_ path: String, in fileSystem: any FileSystem) {
        let files = StoreFiles(resolved: path)
        ExternalFiles(beside: path, in: fileSystem).clear()
        for file in [files.checkpoint, files.history, path] { try? fileSystem.unlink(file) }
    }

    /// Removes copies of a store, but for the newest. Those that are in use stay, and those that cannot be removed.
    /// - Parameters:
    ///   - path: the store's path, symbolic links at its end resolved.
    ///   - most: how many stay.
    ///   - newest: the path of the newest one, whatever the clock says; nil if the files' times are to say it.
    ///   - fileSystem: what has the files.
    package static func removeCopies(
        of path: String, except most: Int, newest: String?, in fileSystem: any FileSystem
    ) {
        let folder = PathText.directory(of: path)
        guard let names = try? retryingInterrupts({ () throws(FileError) in try fileSystem.list(folder) }) else {
            return
        }
        let copies = SchemaCopies(of: path)
        // Another store may have the same part of a name.
        if copies.haveShortenedNames { return }
        let found = names.filter(copies.isCopy).map { PathText.join(folder, $0) }.compactMap { copy in
            // A link, or a folder, is nothing that a migration makes.
            (try? fileSystem.infoIfPresent(copy, followingLinks: false)).flatMap { info in
                info.kind == .regular ? (path: copy, modified: info.modified) : nil
            }
        }
        let newestFirst = found.sorted { one, other in
            if one.path == newest || other.path == newest { return one.path == newest && other.path != newest }
            return one.modified == other.modified ? one.path < other.path : one.modified > other.modified
        }
        for copy in newestFirst.dropFirst(most) {
            guard let lock = try? FileLock(forStoreAt: copy.path, in: fileSystem) else { continue }
            defer { lock.release() }
            removeCopy(copy.path, in: fileSystem)
            lock.remove(in: fileSystem)
        }
    }

    /// Removes copies of a store whose process died while it made them, and the file in which it said that it migrates the store.
    /// The caller has the store's lock alone, so nobody makes a copy now; what another process has locked stays all the same.
    /// - Parameters:
    ///   - path: the store's path.
    ///   - fileSystem: what has the files.
    ///   - keepsNotice: whether that file stays, for a migration that counts the attempts before it.
    package static func removeRemains(
        of path: String, in fileSystem: any FileSystem, keepingNotice keepsNotice: Bool = false
    ) {
        let folder = PathText.directory(of: path)
        guard let names = try? retryingInterrupts({ () throws(FileError) in try fileSystem.list(folder) }) else {
            return
        }
        let copies = SchemaCopies(of: path)
        let there = Set(names)
        if !keepsNotice, there.contains(PathText.name(of: path) + MigrationAdvice.suffix) {
            MigrationAdvice(forStoreAt: path, in: fileSystem).clear()
        }
        for name in Set(names.compactMap(copies.unfinished)).sorted() where !there.contains(name) {
            // What cannot be removed waits for the next opening.
            try? removeRemains(ofCopy: PathText.join(folder, name), in: fileSystem)
        }
    }

    private static func removeRemains(ofCopy path: String, in fileSystem: any FileSystem) throws {
        let lock = try FileLock(forStoreAt: path, in: fileSystem)
        defer { lock.release() }
        guard try fileSystem.infoIfPresent(path, followingLinks: false) == nil else { return }
        let files = StoreFiles(resolved: path)
        let name = PathText.name(of: path)
        // Only this temporary says that the copy was never finished. Of one that was, somebody may have moved the main file
        // while that was being compacted.
        let isUnfinished = try retryingInterrupts { () throws(FileError) in
            try fileSystem.list(PathText.directory(of: path))
        }.contains { TemporaryName.matches($0, of: name) && TemporaryName.isOfNewFile($0) }
        if isUnfinished {
            for file in [files.checkpoint, files.history]
            where try fileSystem.infoIfPresent(file, followingLinks: false)?.kind == .regular {
                try fileSystem.unlink(file)
            }
            ExternalFiles(beside: path, in: fileSystem).clear()
        }
        // Last: if the process dies before this, the next one still knows the copy as unfinished.
        for suffix in StoreFiles.suffixesOfCopies {
            try DurableReplacement(of: path + suffix, in: fileSystem).sweepOrphans(holding: lock, companion: suffix)
        }
        try DurableReplacement(of: path, in: fileSystem).sweepOrphans(holding: lock)
        lock.remove(in: fileSystem)
    }
}

/// The names of a store's copies: `NAME.schema-VERSION-NUMBER`, with as much of the store's name as leaves room for the files
/// beside the copy.
struct SchemaCopies {
    /// The longest name that common file systems take, less what the temporary of a log's checkpoint appends to the log's.
    static let longestName = 255 - 52
    private static let mark = ".schema-"
    private static let digits = 16

    private let folder: String
    private let store: String

    init(of path: String) {
        folder = PathText.directory(of: path)
        store = PathText.name(of: path)
    }

    /// Whether the store's name is so long that copies have a part of it only, whatever their version.
    var haveShortenedNames: Bool {
        // Three numbers of at most twenty digits.
        store.utf8.count + Self.mark.utf8.count + 63 + Self.digits > Self.longestName
    }

    private func start(named version: String) -> String {
        let end = "\(Self.mark)\(version)-"
        var name = store
        while name.utf8.count + end.utf8.count + Self.digits > Self.longestName, !name.isEmpty { name.removeLast() }
        return name + end
    }

    /// The path of a copy of that version, up to its number.
    func start(_ version: String) -> String { PathText.join(folder, start(named: version)) }

    /// Whether a file is a copy, and not one of the files beside it.
    func isCopy(_ file: String) -> Bool {
        let number = file.suffix(Self.digits)
        let start = file.dropLast(Self.digits)
        guard number.count == Self.digits, number.allSatisfy({ $0.isHexDigit && !$0.isUppercase }), start.last == "-",
            let dash = start.dropLast().lastIndex(of: "-")
        else { return false }
        let version = start[start.index(after: dash)...].dropLast()
        return start == self.start(named: String(version))
    }

    /// The name of the copy that a temporary or a lock belongs to; nil for other files.
    func unfinished(_ file: String) -> String? {
        var name: Substring
        if let target = TemporaryName.target(of: file) {
            name = Substring(target)
            if let suffix = StoreFiles.suffixesOfCopies.first(where: name.hasSuffix) {
                name = name.dropLast(suffix.count)
            }
        } else if file.hasSuffix(StoreFiles.lockSuffix) {
            name = Substring(file).dropLast(StoreFiles.lockSuffix.count)
        } else {
            return nil
        }
        let number = name.suffix(Self.digits)
        guard number.count == Self.digits, number.allSatisfy(\.isHexDigit) else { return nil }
        let start = name.dropLast(Self.digits)
        guard start.last == "-", let dash = start.dropLast().lastIndex(of: "-") else { return nil }
        let version = start[start.index(after: dash)...].dropLast()
        return start == self.start(named: String(version)) ? String(name) : nil
    }
}

extension FileSystem {
    /// A path where nothing exists: a number may come again after a restart.
    package func unusedPath(from start: String) throws(FileError) -> String {
        while true {
            let digits = String(uniqueNumber(), radix: 16)
            let path = "\(start)\(String(repeating: "0", count: 16 - digits.count))\(digits)"
            if try infoIfPresent(path, followingLinks: false) == nil { return path }
        }
    }
}
