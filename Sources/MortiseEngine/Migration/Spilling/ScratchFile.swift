/// Makes files that have no name.
package enum ScratchFile {
    /// An empty file that nobody else finds, and that is gone once it is closed or the process has ended. Should the process end between
    /// the two calls that this takes, what is left has the name of a temporary of that file, and is removed like those.
    /// - Parameters:
    ///   - path: the store's path: the file lies on the same device.
    ///   - permissions: those that it is made with.
    ///   - fileSystem: what has the files.
    /// - Returns: the open file.
    /// - Throws: why it cannot be made.
    package static func open(
        beside path: String, permissions: UInt32, in fileSystem: any FileSystem
    ) throws(FileError) -> any OpenFile {
        let name = TemporaryName(of: path, in: fileSystem).path
        let file = try fileSystem.open(name, mode: .createExclusive(permissions: permissions))
        do {
            try fileSystem.unlink(name)
        } catch {
            try? file.close()
            throw error
        }
        return file
    }
}

/// A configuration that has a place for records that memory has no room for while its store is copied.
package protocol ScratchProviding: Sendable {
    /// As `ScratchFile.open(beside:permissions:in:)`.
    func scratch() throws -> any OpenFile
}
