import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A lock of `fcntl`, which excludes other processes and not the own one.
enum ProcessLock {
    /// - Throws: `FolderStoreError.locked` where another process holds it; `cannotLock` where the file cannot be used.
    static func take(_ file: URL) throws -> FileHandle {
        let number = open(file.path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw FolderStoreError.cannotLock(errno) }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        guard fcntl(number, F_SETLK, &lock) == 0 else {
            let code = errno
            close(number)
            throw [EACCES, EAGAIN].contains(code) ? FolderStoreError.locked : .cannotLock(code)
        }
        return FileHandle(fileDescriptor: number, closeOnDealloc: true)
    }
}
