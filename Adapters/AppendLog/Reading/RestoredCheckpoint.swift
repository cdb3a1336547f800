import MortiseEngine

/// The checkpoint of a restored log between the moments at which the log and the checkpoint get their names.
///
/// A log that does not reach back to its beginning cannot do without its checkpoint, and the two cannot be replaced at once. So the
/// log, which has an identity of its own, is named first. Until the checkpoint follows, it is under the name of a temporary.
enum RestoredCheckpoint {
    /// The whole temporary that is the checkpoint of this very log; nil if it was not left behind.
    static func find(
        of header: FileHeader, path: String, _ external: ExternalFiles, in fileSystem: any FileSystem
    ) -> (path: String, content: CheckpointContent)? {
        let checkpoint = StoreFiles(resolved: path).checkpoint
        let folder = PathText.directory(of: checkpoint)
        let names = (try? fileSystem.list(folder)) ?? []
        for name in names.sorted() where TemporaryName.matches(name, of: PathText.name(of: checkpoint)) {
            let candidate = PathText.join(folder, name)
            guard
                let content = try? CheckpointContent.read(candidate, of: header, external: external, in: fileSystem),
                content.position.transaction >= header.base
            else { continue }
            return (candidate, content)
        }
        return nil
    }

    /// Gives it its name.
    /// - Throws: `FileError`.
    static func name(_ candidate: String, path: String, in fileSystem: any FileSystem) throws(FileError) {
        let checkpoint = StoreFiles(resolved: path).checkpoint
        try retryingInterrupts { () throws(FileError) in try fileSystem.rename(candidate, to: checkpoint) }
        try fileSystem.syncDirectory(PathText.directory(of: checkpoint))
    }
}
