extension ExternalFiles {
    /// Copies a file out of another store's folder, under its name, and makes its bytes durable; its name is when
    /// `makeDurable()` has returned. One that is here already and is the same stays.
    /// - Parameter made: gets the name where the file was not here before, to be discarded if it comes to that.
    /// - Returns: how many bytes it has.
    /// - Throws: `ExternalFileFault` for one that is not what the reference says; `FileError`. Nothing is left then.
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

    /// How many bytes the files take whose names are of our form; what cannot be asked counts nothing.
    package func byteCount() -> Int64 {
        present().reduce(0) { sum, name in
            sum + ((try? fileSystem.info(path(of: name), followingLinks: false))?.size ?? 0)
        }
    }
}
