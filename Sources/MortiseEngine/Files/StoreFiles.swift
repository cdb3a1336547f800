/// Where the files of one store are: the main file, links at its end resolved, and the others, which lie in the same folder
/// under names of their own.
///
/// It is the one place that makes a path of a store's path and a suffix.
package struct StoreFiles: Hashable, Sendable {
    /// What the name of a checkpoint has after that of its log.
    package static let checkpointSuffix = ".checkpoint"
    /// What the name of a history has after that of its store.
    package static let historySuffix = ".history"
    /// What files have whose temporaries a copy may leave, after the name of the copy.
    static let suffixesOfCopies = [checkpointSuffix, historySuffix]
    /// What the name of a lock has after that of its store.
    static let lockSuffix = ".lock"

    /// The file that the store is opened by.
    package let main: String

    /// - Parameter path: a path that leads to the main file itself, and not to a link.
    package init(resolved path: String) { main = path }

    /// The files of the store that a path leads to.
    /// - Throws: `FileError`, as `resolvingLinks` does; `symbolicLink` where the folder of data is a link.
    package init(_ path: String, in fileSystem: any FileSystem) throws(FileError) {
        self.init(resolved: try fileSystem.resolvingLinks(path))
        try fileSystem.refuseLink(at: external)
    }

    /// The writer's lock.
    var lock: String { main + Self.lockSuffix }
    /// The folder of external data.
    var external: String { main + ".external" }
    /// The checkpoint of a log.
    package var checkpoint: String { main + Self.checkpointSuffix }
    /// The lock of the process that may write a shared log next.
    package var turn: String { main + ".turn" }
    /// Who still needs a part of the history.
    package var holders: String { main + ".holders" }
    /// The history of a store whose main file has none.
    package var history: String { main + Self.historySuffix }
    /// The beginning of the name of a file for bytes that were cut off a log at an offset.
    package func torn(at offset: Int64) -> String { main + ".torn-\(offset)-" }
}

extension FileSystem {
    /// A file of a store's own has to lie in the store's folder itself: what a link leads to may be another store's, or
    /// anybody's.
    /// - Throws: `FileError`, `symbolicLink` if there is a link at the path.
    func refuseLink(at path: String) throws(FileError) {
        guard try ownInfo(path)?.kind == .symbolicLink else { return }
        let target = try? retryingInterrupts { () throws(FileError) in try readLink(path) }
        throw FileError(.symbolicLink(target: target ?? ""), operation: .open, path: path)
    }

    /// The same for a path where nothing but a file may be.
    /// - Throws: `FileError`, `symbolicLink` if there is a link at the path, `notARegularFile` if there is anything else.
    package func refuseAllButFile(at path: String) throws(FileError) {
        guard let kind = try ownInfo(path)?.kind, kind != .regular else { return }
        if kind == .symbolicLink { return try refuseLink(at: path) }
        throw FileError(.notARegularFile(kind), operation: .open, path: path)
    }

    /// What is at the path of a file of a store's own; `nil` also where the name is too long for anything to be there.
    package func ownInfo(_ path: String) throws(FileError) -> FileInfo? {
        do {
            return try infoIfPresent(path, followingLinks: false)
        } catch {
            if error.reason == .invalidPath { return nil }
            throw error
        }
    }

    /// Whether there is nothing at a path: two different questions are asked, since opening for writing makes a new store
    /// then.
    /// - Throws: `FileError` where the answers differ.
    package func isMissing(_ path: String) throws(FileError) -> Bool {
        guard try infoIfPresent(path, followingLinks: false) == nil else { return false }
        do {
            let file = try retryingInterrupts { () throws(FileError) in try open(path, mode: .read) }
            try? file.close()
        } catch {
            if error.reason == .notFound { return true }
            throw error
        }
        throw FileError(.changed(.replaced), operation: .open, path: path)
    }
}
