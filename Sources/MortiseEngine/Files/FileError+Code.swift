#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension FileError {
    /// An `errno` of this platform.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The number, which means different things on different platforms; never store it.
        public let rawValue: Int32

        /// Wraps any number.
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// `EPERM`.
        public static let notPermitted = Code(rawValue: EPERM)
        /// `ENOENT`.
        public static let noEntry = Code(rawValue: ENOENT)
        /// `EINTR`.
        public static let interrupted = Code(rawValue: EINTR)
        /// `EIO`.
        public static let io = Code(rawValue: EIO)
        /// `ENXIO`.
        static let noDevice = Code(rawValue: ENXIO)
        /// `EBADF`.
        public static let badDescriptor = Code(rawValue: EBADF)
        /// `EAGAIN`.
        static let wouldBlock = Code(rawValue: EAGAIN)
        /// `ENOMEM`.
        static let noMemory = Code(rawValue: ENOMEM)
        /// `EACCES`.
        public static let access = Code(rawValue: EACCES)
        /// `EBUSY`.
        static let busy = Code(rawValue: EBUSY)
        /// `EEXIST`.
        public static let exists = Code(rawValue: EEXIST)
        /// `EXDEV`.
        static let crossDevice = Code(rawValue: EXDEV)
        /// `ENOTDIR`.
        public static let notDirectory = Code(rawValue: ENOTDIR)
        /// `EISDIR`.
        public static let isDirectory = Code(rawValue: EISDIR)
        /// `EINVAL`.
        public static let invalid = Code(rawValue: EINVAL)
        /// `ENFILE`.
        public static let systemFiles = Code(rawValue: ENFILE)
        /// `EMFILE`.
        public static let processFiles = Code(rawValue: EMFILE)
        /// `EFBIG`.
        public static let fileTooLarge = Code(rawValue: EFBIG)
        /// `ENOSPC`.
        public static let noSpace = Code(rawValue: ENOSPC)
        /// `EROFS`.
        public static let readOnly = Code(rawValue: EROFS)
        /// `ENAMETOOLONG`.
        public static let nameTooLong = Code(rawValue: ENAMETOOLONG)
        /// `ENOTEMPTY`.
        static let notEmpty = Code(rawValue: ENOTEMPTY)
        /// `ELOOP`.
        public static let loop = Code(rawValue: ELOOP)
        /// `EDQUOT`.
        public static let quota = Code(rawValue: EDQUOT)
        /// `ESTALE`.
        public static let stale = Code(rawValue: ESTALE)
        /// `ENOTSUP`.
        static let notSupported = Code(rawValue: ENOTSUP)
        /// `ENOLCK`.
        static let noLocks = Code(rawValue: ENOLCK)

        /// The symbol of the header file, such as `ENOSPC`, or `errno 123` for a number without one here.
        package var name: String { Self.known[self]?.name ?? "errno \(rawValue)" }

        /// The meaning in a few words of English, whatever the locale.
        var text: String { Self.known[self]?.text ?? "unspecified error" }

        /// Name and meaning.
        public var description: String { "\(name), \(text)" }

        // Own texts, because `strerror` follows the locale and is not safe to call from several threads.
        private static let known: [Code: (name: String, text: String)] = [
            .notPermitted: ("EPERM", "operation not permitted"),
            .noEntry: ("ENOENT", "no such file or directory"),
            .interrupted: ("EINTR", "interrupted by a signal"),
            .io: ("EIO", "input/output error"),
            .noDevice: ("ENXIO", "no such device or address"),
            .badDescriptor: ("EBADF", "file is not open"),
            .wouldBlock: ("EAGAIN", "would have to wait"),
            .noMemory: ("ENOMEM", "out of kernel memory"),
            .access: ("EACCES", "permission denied"),
            .busy: ("EBUSY", "busy"),
            .exists: ("EEXIST", "file exists"),
            .crossDevice: ("EXDEV", "on another file system"),
            .notDirectory: ("ENOTDIR", "not a directory"),
            .isDirectory: ("EISDIR", "is a directory"),
            .invalid: ("EINVAL", "invalid argument"),
            .systemFiles: ("ENFILE", "too many open files in the system"),
            .processFiles: ("EMFILE", "too many open files in the process"),
            .fileTooLarge: ("EFBIG", "file too large"),
            .noSpace: ("ENOSPC", "no space left on device"),
            .readOnly: ("EROFS", "read-only file system"),
            .nameTooLong: ("ENAMETOOLONG", "file name too long"),
            .notEmpty: ("ENOTEMPTY", "directory not empty"),
            .loop: ("ELOOP", "too many symbolic links"),
            .quota: ("EDQUOT", "disk quota exceeded"),
            .stale: ("ESTALE", "stale file handle"),
            .notSupported: ("ENOTSUP", "not supported by the file system"),
            .noLocks: ("ENOLCK", "no locks available"),
        ]
    }
}
