import MortiseEngine

extension StoreFiles {
    /// The files of the log that a path leads to.
    /// - Throws: `FileError`; `symbolicLink` where the checkpoint, or the folder of data, is a link; `notARegularFile` where
    ///   something else than a file is in the checkpoint's place.
    static func log(_ path: String, in fileSystem: any FileSystem) throws(FileError) -> StoreFiles {
        let files = try StoreFiles(path, in: fileSystem)
        try fileSystem.refuseAllButFile(at: files.checkpoint)
        return files
    }

    /// Removes what crashed replacements of the log and of its checkpoint have left.
    func sweepOrphans(holding lock: FileLock, in fileSystem: any FileSystem) throws(FileError) {
        try DurableReplacement(of: main, in: fileSystem).sweepOrphans(holding: lock)
        try DurableReplacement(of: checkpoint, in: fileSystem)
            .sweepOrphans(holding: lock, companion: Self.checkpointSuffix)
    }
}
