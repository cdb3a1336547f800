/// A regular file held open through a ``FileSystem``.
///
/// Offsets and sizes are bytes. The object has no position: each transfer names its offset, so several threads may use
/// one open file. Releasing the last reference closes the file; ``close()`` does so at a known point and reports errors.
/// Any use after `close()` throws ``FileError/Reason/closed``.
public protocol OpenFile: AnyObject, Sendable {
    /// The path it was opened with, for messages. The file may have another name by now.
    var path: String { get }

    /// Reads up to `buffer.count` bytes from `offset` and returns how many; 0 means end of file (or an empty buffer).
    ///
    /// May return fewer bytes than there are: use ``readAll(into:at:)`` unless one attempt is what is wanted.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int

    /// Writes up to `bytes.count` bytes at `offset`, extending the file as needed, and returns how many were taken.
    ///
    /// May take fewer bytes than given: use ``writeAll(_:at:)`` unless one attempt is what is wanted. Nothing is
    /// durable before ``sync(_:)``.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) -> Int

    /// Makes all earlier writes and truncations through any open file on this file durable.
    ///
    /// It does not make the file's *name* durable; that is ``FileSystem/syncDirectory(_:)``.
    ///
    /// After an error any part of the unsynced data may be lost although reading still shows it, and a later call may
    /// succeed although the data is gone. Never retry: give up the file, and report the error to every caller that was
    /// promised durability.
    func sync(_ kind: SyncKind) throws(FileError)

    /// Cuts the file off, or extends it by zeros, to `size` bytes.
    func truncate(to size: Int64) throws(FileError)

    /// Describes the open file as it is now.
    func info() throws(FileError) -> FileInfo

    /// Which file this is and how long it is now, without a look at its times. The default asks for all of its `info`.
    func extent() throws(FileError) -> FileExtent

    /// Asks the device to start writing bytes that were written to the file, so that a ``sync(_:)`` soon after has less
    /// to wait for. Returns without waiting, and promises nothing; the default does nothing.
    ///
    /// After an error the content of the disk is unknown, as after an error of ``sync(_:)``.
    func startWriting(_ range: Range<Int64>) throws(FileError)

    /// Sets the permission bits exactly, whatever the umask.
    func setPermissions(_ permissions: UInt32) throws(FileError)

    /// Gives the file to another user and group. `nil` leaves that part as it is.
    func setOwner(user: UInt32?, group: UInt32?) throws(FileError)

    /// Takes the advisory lock without waiting; `false` if another open file, of any process, holds one against it.
    ///
    /// The lock belongs to this open file. It ends with ``close()``, or with the death of the process, and with nothing
    /// else; a second open of the same file in the same process is refused like anybody's.
    func tryLock(_ kind: LockKind) throws(FileError) -> Bool

    /// Closes the file and gives up its lock. Closing again does nothing.
    ///
    /// The file is closed even if this throws. It makes nothing durable.
    func close() throws(FileError)
}

extension OpenFile {
    /// The size and identity that `info()` reports.
    /// - Throws: what `info()` throws.
    public func extent() throws(FileError) -> FileExtent { try info().extent }
    /// Does nothing: the next sync writes everything.
    public func startWriting(_ range: Range<Int64>) throws(FileError) {}
}

/// How much ``OpenFile/sync(_:)`` makes durable.
public enum SyncKind: Sendable, Hashable {
    /// The bytes, and as much metadata as reading them back needs (the size), but not times or permissions.
    case data
    /// The bytes and all metadata.
    case full
}

/// The kinds of advisory lock.
public enum LockKind: Sendable, Hashable {
    /// Held by one open file alone.
    case exclusive
    /// Held by any number of open files, as long as none has an exclusive lock.
    case shared
}
