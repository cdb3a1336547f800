extension ExternalFiles {
    /// Copies a file from another store's folder, under its name, and makes its bytes durable; `makeDurable()` makes
    /// its name durable. A file that is here already with the same content stays.
    ///
    /// If the file was not here before, its name is added to `made`, so that the caller can discard it after a failure.
    /// - Returns: the length of the file in bytes.
    /// - Throws: `ExternalFileFault` if the file is not what the reference says; `FileError`. The partial copy is then
    ///   removed.
    @discardableResult
    package func copy(
        _ reference: ExternalReference, from other: ExternalFiles, noting made: inout [ExternalReference.Name]
    ) throws -> Int64 {
        try makeReady()
        let target = path(of: reference.name)
        if try fileSystem.infoIfPresent(target, followingLinks: false) != nil {
            if (try? check(reference)) != nil { return Int64(clamping: reference.length) }
            try fileSystem.unlink(target)
        }
        let file = try retryingInterrupts { () throws(FileError) in
            try fileSystem.open(target, mode: .createExclusive(permissions: permissions))
        }
        do {
            try retryingInterrupts { () throws(FileError) in try file.setPermissions(permissions) }
            var offset: Int64 = 0
            try other.readPieces(of: reference) { piece in
                try file.writeAll(piece, at: offset)
                offset += Int64(piece.count)
            }
            try file.sync(.full)
            try file.close()
            made.append(reference.name)
            return offset
        } catch {
            try? file.close()
            try? fileSystem.unlink(target)
            throw error
        }
    }

    /// How many bytes the files take whose names are of our form, those that were moved aside too; what cannot be asked
    /// counts nothing.
    package func byteCount() -> Int64 {
        let paths = present().map { path(of: $0) } + ((try? names(in: asideFolder)) ?? []).map { asidePath(of: $0) }
        return paths.reduce(0) { sum, path in
            sum + ((try? fileSystem.info(path, followingLinks: false))?.size ?? 0)
        }
    }
}
