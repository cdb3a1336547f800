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
            let copy = try fileSystem.unusedPath(from: "\(path).schema-\(loss.stored)-")
            try backUp(copy)
            isDone = true
            return copy
        }
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
