/// Replaces a file as a whole and durably: any reader, at any time and after any crash, finds the old or the new
/// content.
///
/// The new content goes to a temporary file in the same directory, is synced, gets the file's name by renaming, and the
/// directory is synced. When ``replace(expecting:with:)`` returns, the new content survives power loss. When it throws,
/// the old file is as it was and the temporary is gone, with one exception: see there.
///
/// - A symbolic link at the path stays, and what it points to is replaced, or created if it points to nothing yet.
/// - An existing file keeps its permission bits, and its owner and group if the user may set them. Where the group cannot
///   be kept, the new group gets no more than everybody had. A hard link to the old file keeps the old content.
/// - A temporary is named `.<name>.<process id>-<16 hexadecimal digits>.mortise-tmp`, at most 41 bytes more than the
///   file's name; where nothing may be at the path it has a plus sign for the hyphen. A crash may leave one behind: see ``sweepOrphans(holding:)``.
///
/// The value does not lock. Replacing from two places at once is safe for the file, but one content wins: hold a
/// ``FileLock``.
public struct DurableReplacement: Sendable {
    /// The path as given.
    let path: String
    /// The permission bits of a file that was not there before, set exactly, whatever the umask.
    let newFilePermissions: UInt32
    /// How many bytes are collected before they are written.
    let bufferSize: Int
    let fileSystem: any FileSystem

    /// Describes a replacement; nothing is touched yet.
    ///
    /// - Parameters:
    ///   - path: The file to replace or create. Its directory must exist.
    ///   - newFilePermissions: The permission bits of a file that did not exist before; by default only its owner may
    ///     use it.
    ///   - bufferSize: The number of bytes to collect before writing; clamped to 4 KiB ... 16 MiB.
    ///   - fileSystem: The file system that has the file.
    public init(
        of path: String, newFilePermissions: UInt32 = 0o600, bufferSize: Int = 256 << 10,
        in fileSystem: any FileSystem
    ) {
        self.path = path
        self.newFilePermissions = newFilePermissions
        self.bufferSize = bufferSize
        self.fileSystem = fileSystem
    }

    /// Replaces the file by `bytes`, as ``replace(expecting:with:)`` does.
    @discardableResult
    package func replace(expecting expected: FileIdentity? = nil, bytes: [UInt8]) throws -> FileIdentity {
        try replace(expecting: expected) { writer in try writer.append(bytes) }
    }

    /// Replaces the file by what `body` appends.
    ///
    /// - Parameters:
    ///   - expected: If given, the identity that the file must still have right before the renaming; otherwise the
    ///     replacement throws ``FileError/Reason/changed(_:)`` and leaves the other file alone.
    ///   - isNew: Whether nothing may be at the path right before the renaming; otherwise the replacement throws
    ///     ``FileError/Reason/alreadyExists``.
    ///   - body: Appends the whole content. It may not keep the writer. What it throws is rethrown, the file untouched.
    /// - Returns: The identity of the file now in place.
    /// - Throws: What `body` throws, or a ``FileError``. If its ``FileError/outcomeIsUnknown`` is true and its
    ///   operation is ``FileError/Operation/syncDirectory`` or ``FileError/Operation/rename``, the new content may be
    ///   in place and a power loss may bring the old one back: write no more before the store is opened again. After
    ///   every other error the old file is as it was. No sync is ever tried twice.
    @discardableResult
    public func replace(
        expecting expected: FileIdentity? = nil, isNew: Bool = false, with body: (FileWriter) throws -> Void
    ) throws -> FileIdentity {
        try prepare(isNew: isNew, with: body).commit(expecting: expected)
    }

    /// Writes the new content to the temporary file and syncs it, so that only the renaming is left.
    /// - Parameters:
    ///   - isNew: as for ``replace(expecting:isNew:with:)``.
    ///   - body: as for ``replace(expecting:isNew:with:)``.
    /// - Returns: What gives the temporary file the file's name, or removes it.
    /// - Throws: What `body` throws, or a ``FileError``; the temporary is gone then.
    package func prepare(isNew: Bool = false, with body: (FileWriter) throws -> Void) throws -> Prepared {
        let target = try fileSystem.resolvingLinks(path)
        let old = try existingFile(at: target)
        let temporary = TemporaryName(of: target, isNew: isNew, in: fileSystem).path
        let file = try retryingInterrupts { () throws(FileError) in
            try fileSystem.open(temporary, mode: .createExclusive(permissions: 0o600))
        }
        do {
            return Prepared(
                path: path, target: target, temporary: temporary, isNew: isNew,
                identity: try fill(file, old: old, with: body), fileSystem: fileSystem)
        } catch {
            try? file.close()
            Self.remove(temporary, in: fileSystem)
            throw error
        }
    }

    private static func remove(_ temporary: String, in fileSystem: any FileSystem) {
        // A second error here would hide the first; what stays behind is swept at the next opening.
        try? retryingInterrupts { () throws(FileError) in try fileSystem.unlink(temporary) }
    }

    /// A new content that is on the disk as a temporary file.
    package struct Prepared {
        fileprivate let path: String
        fileprivate let target: String
        fileprivate let temporary: String
        fileprivate let isNew: Bool
        fileprivate let identity: FileIdentity
        fileprivate let fileSystem: any FileSystem

        /// Gives it the file's name.
        /// - Parameter expected: as for ``DurableReplacement/replace(expecting:isNew:with:)``.
        /// - Returns: The identity of the file now in place.
        /// - Throws: as ``DurableReplacement/replace(expecting:isNew:with:)``.
        @discardableResult
        package func commit(expecting expected: FileIdentity? = nil) throws -> FileIdentity {
            do {
                if let expected, let change = try expected.change(at: target, in: fileSystem) {
                    throw FileError(.changed(change), operation: .replace, path: path)
                }
                if isNew, try fileSystem.infoIfPresent(target, followingLinks: false) != nil {
                    throw FileError(.alreadyExists, operation: .replace, path: path)
                }
                try retryingInterrupts { () throws(FileError) in try fileSystem.rename(temporary, to: target) }
            } catch {
                discard()
                throw error
            }
            try fileSystem.syncDirectory(PathText.directory(of: target))
            return identity
        }

        /// Removes the temporary, as far as the disk lets it be removed. Does nothing after `commit(expecting:)`.
        package func discard() { DurableReplacement.remove(temporary, in: fileSystem) }
    }

    private func fill(
        _ file: any OpenFile, old: FileInfo?, with body: (FileWriter) throws -> Void
    ) throws -> FileIdentity {
        let writer = FileWriter(file, bufferSize: bufferSize)
        try body(writer)
        // Throws again what `body` may have swallowed.
        try writer.flush()
        try setAttributes(of: file, like: old)
        try file.sync(.full)
        let identity = try retryingInterrupts { () throws(FileError) in try file.info() }.identity
        guard identity.size == writer.offset else {
            let change = FileChange.truncated(from: writer.offset, to: identity.size)
            throw FileError(.changed(change), operation: .replace, path: path)
        }
        // Some file systems report a failed write only here.
        try file.close()
        return identity
    }

    private func setAttributes(of file: any OpenFile, like old: FileInfo?) throws(FileError) {
        guard let old else {
            return try retryingInterrupts { () throws(FileError) in try file.setPermissions(newFilePermissions) }
        }
        let new = try retryingInterrupts { () throws(FileError) in try file.info() }
        var permissions = old.permissions
        if new.group != old.group {
            do {
                try retryingInterrupts { () throws(FileError) in try file.setOwner(user: nil, group: old.group) }
            } catch {
                // Only a member may give a file to a group. The other group must not gain by that.
                permissions &= ~0o070 | ((permissions & 0o007) << 3)
            }
        }
        if new.user != old.user {
            // Only the superuser may give a file away; anybody else becomes its owner.
            try? retryingInterrupts { () throws(FileError) in try file.setOwner(user: old.user, group: nil) }
        }
        // Last, because a change of owner clears bits.
        try retryingInterrupts { () throws(FileError) in try file.setPermissions(permissions) }
    }

    private func existingFile(at target: String) throws(FileError) -> FileInfo? {
        guard let info = try fileSystem.infoIfPresent(target, followingLinks: true) else { return nil }
        guard info.kind == .regular else {
            throw FileError(.notARegularFile(info.kind), operation: .replace, path: path)
        }
        return info
    }
}
