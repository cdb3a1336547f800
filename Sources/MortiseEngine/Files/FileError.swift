/// Why an operation on a file failed: what was asked, of which path, what the operating system said, and what to do.
///
/// Decide by ``reason``; show ``description``.
public struct FileError: Error, Sendable, Hashable {
    /// What went wrong, in terms a program can act on.
    public var reason: Reason
    /// The operation that failed.
    public var operation: Operation
    /// The path it was asked for.
    public var path: String
    /// What the operating system answered, if it was asked at all.
    public var code: Code?

    /// Creates an error that the operating system did not report.
    public init(_ reason: Reason, operation: Operation, path: String, code: Code? = nil) {
        self.reason = reason
        self.operation = operation
        self.path = path
        self.code = code
    }

    /// Creates the error for an `errno`.
    public init(code: Code, operation: Operation, path: String) {
        self.init(Reason(code), operation: operation, path: path, code: code)
    }

    /// The operations of the seam, in the words of the messages.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        /// ``FileSystem/open(_:mode:)``
        case open
        /// ``OpenFile/read(into:at:)``
        case read
        /// ``OpenFile/write(_:at:)``
        case write
        /// ``OpenFile/sync(_:)``
        case sync
        /// ``OpenFile/startWriting(_:)``
        case startWriting = "write back"
        /// ``OpenFile/truncate(to:)``
        case truncate
        /// ``OpenFile/info()``, ``FileSystem/info(_:followingLinks:)`` and their shorter forms
        case info = "examine"
        /// ``OpenFile/setPermissions(_:)``
        case setPermissions = "set permissions of"
        /// ``OpenFile/setOwner(user:group:)``
        case setOwner = "set owner of"
        /// ``OpenFile/tryLock(_:)``
        case lock
        /// ``OpenFile/close()``
        case close
        /// ``FileSystem/readLink(_:)``
        case readLink = "resolve link"
        /// ``FileSystem/list(_:)``
        case list = "list directory"
        /// ``FileSystem/createDirectory(_:permissions:)``
        case createDirectory = "create directory"
        /// ``FileSystem/rename(_:to:)``
        case rename
        /// ``FileSystem/unlink(_:)``
        case unlink = "remove"
        /// ``FileSystem/syncDirectory(_:)``
        case syncDirectory = "sync directory"
        /// ``DurableReplacement``
        case replace
    }

    /// What went wrong, in terms a program can act on.
    public enum Reason: Sendable, Hashable {
        /// Nothing is at the path.
        case notFound
        /// Something is at the path that must be new.
        case alreadyExists
        /// A store can only live in a regular file, and this is something else.
        case notARegularFile(FileKind)
        /// A component that should be a directory is not one.
        case notADirectory
        /// The symbolic links lead round in a circle, or through too many.
        case linkLoop
        /// The path is empty, holds a NUL character, or is too long for the file system.
        case invalidPath
        /// Another open file holds the lock; `holder` is its process, if the lock file tells.
        case locked(holder: Int32?)
        /// A file of the lock file's name holds something else than a process identifier.
        case notALockFile
        /// The disk, the quota or the supply of inodes is used up.
        case noSpace
        /// The medium or the file is open or mounted for reading only.
        case readOnly
        /// The user may not do this.
        case permissionDenied
        /// The process or the system has no more file descriptors.
        case tooManyOpenFiles
        /// The file system's or the process's limit on the length of a file is reached.
        case fileTooLarge
        /// The file is longer than the reader was willing to read; both in bytes.
        case exceedsLimit(size: Int64, limit: Int64)
        /// Another program changed the file.
        case changed(FileChange)
        /// The device failed.
        case io
        /// A signal interrupted the operation before it did anything.
        case interrupted
        /// The file or lock was closed before.
        case closed
        /// The file or folder is a store's own, and a symbolic link is in its place.
        case symbolicLink(target: String)
        /// The store's file is missing, and the folder of its data is there.
        case dataWithoutStore(folder: String)
        /// The store's file is missing, and its history shows that it was saved.
        case historyWithoutStore(history: String)
        /// The folder holds data of another store; both are identifiers of stores.
        case folderOfAnotherStore(expected: String, found: String)
        /// The file is open for writing under another of its names (hard links).
        case openUnderAnotherName
        /// The file has several names (hard links), of which a shared log may have one only.
        case severalNames(count: UInt64)
        /// Anything else: see ``FileError/code``.
        case other
    }
}

extension FileError.Reason {
    /// The reason for an `errno`.
    init(_ code: FileError.Code) {
        switch code {
        case .noEntry: self = .notFound
        case .exists: self = .alreadyExists
        case .isDirectory: self = .notARegularFile(.directory)
        case .notDirectory: self = .notADirectory
        case .loop: self = .linkLoop
        case .nameTooLong: self = .invalidPath
        case .noSpace, .quota: self = .noSpace
        case .readOnly: self = .readOnly
        case .access, .notPermitted: self = .permissionDenied
        case .processFiles, .systemFiles: self = .tooManyOpenFiles
        case .fileTooLarge: self = .fileTooLarge
        case .io: self = .io
        case .interrupted: self = .interrupted
        case .badDescriptor: self = .closed
        default: self = .other
        }
    }
}
