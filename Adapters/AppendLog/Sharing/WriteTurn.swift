import Foundation
import MortiseEngine

/// The turn to write a shared log: a lock on a separate file, taken for each save.
///
/// The system gives the turn back when its holder dies, in the middle of a write too.
struct WriteTurn: Sendable {
    /// How long a process waits for the others before its save fails.
    static let patience: TimeInterval = 60

    private let file: any OpenFile
    private let isNew: Bool

    /// Waits for the turn. Polls `isCancelled` meanwhile and throws a `CancellationError` when it returns true.
    /// - Throws: `FileError`; with reason `locked` if the other processes do not release the turn in time.
    init(
        forLogAt path: String, permissions: UInt32, in fileSystem: any FileSystem,
        isCancelled: () -> Bool = { false }
    ) throws {
        let place = StoreFiles(resolved: path).turn
        let deadline = Date().addingTimeInterval(Self.patience)
        var pause = 0.000_05
        while true {
            guard let (file, isNew) = try fileSystem.openOwn(place, permissions: permissions & 0o777 | 0o600) else {
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
                        self.isNew = isNew
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

    /// Gives the turn back after an opening that failed, and removes its file if that was made here.
    func abandon(in fileSystem: any FileSystem) {
        // A process that opened the file meanwhile finds that its name is gone, and makes another.
        if isNew { try? fileSystem.unlink(file.path) }
        giveBack()
    }
}
