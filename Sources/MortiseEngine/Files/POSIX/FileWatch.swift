import Foundation

#if canImport(Glibc)
import Glibc

/// Tells when the file at a path is written to, by the system's own notice (inotify), also after another file has been put
/// in its place.
///
/// @unchecked Sendable: the source is made and cancelled once each; what changes is behind the lock.
package final class FileWatch: @unchecked Sendable {
    private static let events = UInt32(IN_MODIFY) | UInt32(IN_ATTRIB) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)

    private let path: String
    private let descriptor: Int32
    private let source: any DispatchSourceRead
    private let lock = NSLock()
    /// The watch on the file that was last found at the path; nil once the descriptor is closed.
    private var watched: Int32?

    /// - Returns: nil if the system does not watch the file: it has no more watches, or the file does not exist.
    package init?(_ path: String) {
        let descriptor = inotify_init1(Int32(O_NONBLOCK) | Int32(O_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        let watched = inotify_add_watch(descriptor, path, Self.events)
        guard watched >= 0 else {
            close(descriptor)
            return nil
        }
        self.path = path
        self.descriptor = descriptor
        self.watched = watched
        source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor, queue: DispatchQueue(label: "mortise.watch", qos: .utility))
        source.setCancelHandler { _ = Glibc.close(descriptor) }
    }

    /// Watches the file that is at the path now. The one before it may have lost its name: a watch stays with its file.
    package func renew() {
        lock.withLock {
            guard let before = watched else { return }
            // The same file keeps its number.
            let now = inotify_add_watch(descriptor, path, Self.events)
            guard now >= 0, now != before else { return }
            _ = inotify_rm_watch(descriptor, before)
            watched = now
        }
    }

    /// Calls the handler after each write, or once after several.
    package func start(_ handler: @escaping @Sendable () -> Void) {
        source.setEventHandler { [descriptor, weak self] in
            // What was written does not matter, only that something was.
            withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
                while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
            }
            self?.renew()
            handler()
        }
        source.resume()
    }

    package func stop() {
        lock.withLock { watched = nil }
        source.cancel()
    }
}
#else
/// No notification of writes is available here; readers must poll.
package final class FileWatch: Sendable {
    package init?(_ path: String) { return nil }
    package func start(_ handler: @escaping @Sendable () -> Void) {}
    package func renew() {}
    package func stop() {}
}
#endif
