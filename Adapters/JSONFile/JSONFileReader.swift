import Foundation
import MortiseCore
import MortiseEngine

/// Follows the file of a store that was opened for reading: other processes replace it as a whole.
///
/// What cannot be read, or is not a later state of the same store, leaves the records as they are known. An editor that writes in
/// place leaves a file that is incomplete for a moment, which is therefore looked at twice.
///
/// @unchecked Sendable: what changes is behind the lock.
final class JSONFileReader: @unchecked Sendable {
    /// How long a file has to stay as it is before it is at fault.
    static let patience = Duration.milliseconds(250)

    private let configuration: JSONFileConfiguration
    private let path: String
    private let lock = NSLock()
    /// What goes with the file. Set once, before anybody uses the reader.
    var history: JSONHistory?
    /// The file as it was last read.
    private var known: FileIdentity?
    /// The file that could not be read, and why; told once.
    private var refused: Refusal?

    private struct Refusal {
        /// Nil if no file is there.
        var file: FileIdentity?
        var since: ContinuousClock.Instant
        var lastTry: ContinuousClock.Instant
        var error: any Error
        var isTold = false
        var tries = 0

        /// Whether to try the same file again: the system refused it, and its content was not at fault.
        var mayPass: Bool {
            guard let reason = (error as? FileError)?.reason else { return false }
            if case .changed = reason { return false }
            // Seldom after a while: looking may take as long as reading the file.
            return lastTry.duration(to: .now) >= JSONFileReader.patience * (1 << min(tries, 7))
        }
    }

    init(_ configuration: JSONFileConfiguration, path: String, identity: FileIdentity?) {
        self.configuration = configuration
        self.path = path
        known = identity
    }

    /// Takes in the file that is there now, if it is another than before.
    /// - Returns: the error of a file that cannot be followed; nil if it was told before.
    func follow(_ engine: Engine) -> (any Error)? {
        let now: FileIdentity?
        do {
            now = try configuration.fileSystem.infoIfPresent(path, followingLinks: true)?.identity
        } catch {
            return refuse(nil, error)
        }
        let isNew = lock.withLock {
            if let now, now == known {
                refused = nil
                return false
            }
            return refused.map { $0.file != now || $0.mayPass } ?? true
        }
        if !isNew { return tell() }
        do {
            // As an opening would find it.
            guard now != nil else { throw FileError(.changed(.deleted), operation: .read, path: path) }
            var read: FileIdentity?
            try engine.follow { current in
                let (next, identity, key) = try load(after: current, for: engine.feed)
                read = identity
                if let key { history?.follow(key) }
                return next
            }
            if let read {
                lock.withLock {
                    known = read
                    refused = nil
                }
                engine.tell(nil)
            }
            return nil
        } catch {
            return refuse(now, error)
        }
    }

    /// Why the file that was there last could not be taken in; nil if it was, and where it may still be being written.
    var fault: (any Error)? {
        let refused = lock.withLock { self.refused }
        return refused.flatMap { $0.since.duration(to: .now) >= Self.patience ? $0.error : nil }
    }

    /// - Throws: why the file that is there now cannot be taken in; `FileError`, `changed`, where none is there.
    func checkHealth() throws {
        if let fault { throw fault }
        if try configuration.fileSystem.infoIfPresent(path, followingLinks: true) == nil {
            throw FileError(.changed(.deleted), operation: .read, path: path)
        }
    }

    private func refuse(_ file: FileIdentity?, _ error: any Error) -> (any Error)? {
        lock.withLock {
            if let known = refused, known.file == file, "\(known.error)" == "\(error)" {
                refused?.lastTry = .now
                refused?.tries += 1
            } else {
                refused = Refusal(file: file, since: .now, lastTry: .now, error: error)
            }
        }
        return tell()
    }

    private func tell() -> (any Error)? {
        lock.withLock {
            guard let refused, !refused.isTold, refused.since.duration(to: .now) >= Self.patience else { return nil }
            self.refused?.isTold = true
            return refused.error
        }
    }

    private func load(
        after current: EngineVersion, for feed: ChangeFeed
    ) throws -> (next: FollowedVersion?, identity: FileIdentity, key: DocumentKey?) {
        let fileSystem = configuration.fileSystem
        let (bytes, identity) = try fileSystem.readWhole(path, limit: configuration.largestFile)
        let external =
            current.catalog.external
            ?? ExternalFiles(beside: path, permissions: configuration.newFilePermissions, in: fileSystem)
        let loaded = try JSONFileError.naming(path) {
            try JSONFile.load(bytes, configuration.integrity, schema: current.catalog.schema, external) { stored in
                try stored.checkIsNotNewer(than: current.catalog.schema, store: path)
            }
        }
        guard loaded.version.catalog.storeIdentifier == current.catalog.storeIdentifier else {
            throw FileError(.changed(.replaced), operation: .read, path: path)
        }
        let time = identity.modified
        let seconds = Double(time.seconds) + Double(time.nanoseconds) / 1e9
        let commit = ChangeSet.Commit(number: 0, timestamp: Date(timeIntervalSince1970: seconds))
        let next = try current.next(
            withContentOf: loaded.version, commit: commit,
            namesChanges: feed.isFollowed || feed.isFollowedForRecords || feed.isFollowedRemotely,
            tellsValues: feed.isFollowed || feed.isRecorded)
        return (next, identity, history.map { _ in DocumentKey(of: bytes) })
    }
}
