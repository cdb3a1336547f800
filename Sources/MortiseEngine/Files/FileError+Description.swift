extension FileError: CustomStringConvertible {
    /// One line: operation, path, what happened, the operating system's answer, and what to do.
    public var description: String {
        var text = "cannot \(operation.rawValue) '\(path)': \(reason.text)"
        if let code { text += " (\(code))" }
        if let hint = reason.hint { text += "; \(hint)" }
        return text
    }

    /// Whether the file may have changed although the operation failed.
    ///
    /// True after a failed sync or renaming, whose outcome is unknown. A store that sees it must refuse further writes
    /// until it is opened again.
    public var outcomeIsUnknown: Bool {
        switch operation {
        case .sync, .startWriting, .syncDirectory: true
        case .rename: reason == .io || reason == .interrupted
        default: false
        }
    }
}

extension FileError {
    /// Whether a replacement that failed so may be in place: its file was whole, and was to be given its name.
    package var isOfNaming: Bool { outcomeIsUnknown && (operation == .rename || operation == .syncDirectory) }
}

extension FileError.Reason {
    /// What happened, in words.
    var text: String {
        switch self {
        case .notFound: "there is no such file"
        case .alreadyExists: "a file already exists there"
        case .notARegularFile(let kind): "it is \(kind.text), not a regular file"
        case .notADirectory: "a part of the path is not a directory"
        case .linkLoop: "its symbolic links form a loop"
        case .invalidPath: "the path is not valid"
        case .notALockFile: "it is not a lock file: it does not hold a process identifier"
        case .locked(let holder?): "it is locked by process \(holder)"
        case .locked(nil): "it is locked by another process"
        case .noSpace: "the disk is full"
        case .readOnly: "it is read-only"
        case .permissionDenied: "permission denied"
        case .tooManyOpenFiles: "too many files are open"
        case .fileTooLarge: "the file would exceed a size limit"
        case .exceedsLimit(let size, let limit): "its \(size) bytes exceed the limit of \(limit) bytes"
        case .changed(let change): "the file was \(change)"
        case .io: "the device failed"
        case .interrupted: "a signal interrupted it"
        case .closed: "it is closed"
        case .symbolicLink(let target): "it is a symbolic link to '\(target)'"
        case .dataWithoutStore(let folder): "the file is missing, but '\(folder)' holds data of a store"
        case .historyWithoutStore(let history): "the file is missing, but its history '\(history)' records saves"
        case .folderOfAnotherStore(let expected, let found):
            "it holds data of another store; expected store \(expected), found \(found)"
        case .openUnderAnotherName: "the file is open for writing under another name (a hard link)"
        case .severalNames(let count): "the file has \(count) names (hard links), but a shared log must have only one"
        case .other: "the operating system refused"
        }
    }

    /// What the user can do about the error, or `nil` if that depends on ``FileError/code``.
    var hint: String? {
        switch self {
        case .notFound: "check the path"
        case .alreadyExists: "choose another name or remove the file"
        case .notARegularFile: "choose the path of a regular file, or one where nothing exists"
        case .notADirectory: "check the path"
        case .linkLoop: "repair the symbolic links"
        case .invalidPath: "choose a shorter path without NUL characters"
        case .notALockFile: "move that file away, or choose another name for the store"
        case .locked: "close the store there, or open it here for reading only"
        case .noSpace: "free space or inodes, then reopen the store"
        case .readOnly: "open the store for reading only, or move it to a writable place"
        case .permissionDenied: "grant this user access to the file and its directory"
        case .tooManyOpenFiles: "close files or raise the limit (ulimit -n), then reopen the store"
        case .fileTooLarge: "raise the limit (ulimit -f) or use a file system for larger files"
        case .exceedsLimit: "raise the limit, or check that this is the right file"
        case .changed: "reopen the store to see the file as it is now"
        case .io: "check the device and its cables, keep a copy of the file, then reopen the store"
        case .interrupted: "try again"
        case .closed: "reopen it"
        case .symbolicLink: "put the file or folder itself there, next to the store's main file"
        case .dataWithoutStore: "restore the file, or move that folder away to begin with an empty store"
        case .historyWithoutStore: "restore the file, or move the history away to begin with an empty store"
        case .folderOfAnotherStore: "put this store's own folder there, or move the folder away"
        case .openUnderAnotherName: "close the store there; to have a second store, copy the file instead of linking it"
        case .severalNames: "remove the other names, or replace this one by a copy of the file (cp, then mv)"
        case .other: nil
        }
    }
}
