import Foundation

#if canImport(Glibc)
import Glibc

/// Tells when a file is written to, by the system's own notice (inotify).
///
/// @unchecked Sendable: the source is made and cancelled once each.
final class FileWatch: @unchecked Sendable {
    private let descriptor: Int32
    private let source: any DispatchSourceRead

    /// - Returns: nil where the system does not watch the file: it has no more watches, or the file is not there.
    init?(_ path: String) {
        let descriptor = inotify_init1(Int32(O_NONBLOCK) | Int32(O_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        guard inotify_add_watch(descriptor, path, UInt32(IN_MODIFY)) >= 0 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor, queue: DispatchQueue(label: "mortise.log.watch", qos: .utility))
        source.setCancelHandler { _ = Glibc.close(descriptor) }
    }

    /// Calls the handler after each write, or once after several.
    func start(_ handler: @escaping @Sendable () -> Void) {
        source.setEventHandler { [descriptor] in
            // What was written does not matter, only that something was.
            withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
                while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
            }
            handler()
        }
        source.resume()
    }

    func stop() { source.cancel() }
}
#else
/// No notice of written files is known here; whoever wants to know has to look.
final class FileWatch: Sendable {
    init?(_ path: String) { return nil }
    func start(_ handler: @escaping @Sendable () -> Void) {}
    func stop() {}
}
#endif
