import Foundation
import MortiseEngine

/// Whose turn it is to write a shared log: a lock on a file of its own, taken for each save.
///
/// The system gives the turn back when its holder dies, in the middle of a write too.
struct WriteTurn: Sendable {
    static let suffix = ".turn"
    /// How long a process waits for the others before its save fails.
    static let patience: TimeInterval = 60

    private let file: any OpenFile

    /// Waits for the turn.
    /// - Parameter isCancelled: asked now and then; where it says so, a `CancellationError` is thrown.
    /// - Throws: `FileError`, `locked` where the others do not give it back.
    init(
        forLogAt path: String, permissions: UInt32, in fileSystem: any FileSystem,
        isCancelled: () -> Bool = { false }
    ) throws {
        let place = path + Self.suffix
        let deadline = Date().addingTimeInterval(Self.patience)
        var pause = 0.000_05
        while true {
            guard let file = try fileSystem.openOwn(place, permissions: permissions & 0o777 | 0o600) else {
                guard Date() < deadline else {
                    throw FileError(.changed(.replaced), operation: .lock, path: place)
                }
                continue
            }
            do {
                if try retryingInterrupts({ () throws(FileError) in try file.tryLock(.exclusive) }) {
                    let (mine, named) = (try file.info(), try fileSystem.infoIfPresent(place, followingLinks: false))
                    if mine.device == named?.device, mine.inode == named?.inode {
                        if mine.permissions != permissions & 0o777 | 0o600 {
                            try? file.setPermissions(permissions & 0o777 | 0o600)
                        }
                        self.file = file
                        return
                    }
                }
            } catch {
                try? file.close()
                throw error
            }
            try? file.close()
            if isCancelled() { throw CancellationError() }
            guard Date() < deadline else {
                throw FileError(.locked(holder: nil), operation: .lock, path: place)
            }
            Thread.sleep(forTimeInterval: pause)
            pause = min(pause * 1.5, 0.002)
        }
    }

    func giveBack() { try? file.close() }
}
