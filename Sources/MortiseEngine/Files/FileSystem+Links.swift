extension FileSystem {
    /// The path that opening `path` for writing would reach: symbolic links at its end are followed, also to a path
    /// at which nothing exists yet.
    ///
    /// Links among its directories are left to the operating system. Throws ``FileError/Reason/linkLoop`` after 40
    /// links, and ``FileError/Reason/invalidPath`` for a path that ends in no name.
    public func resolvingLinks(_ path: String) throws(FileError) -> String {
        var current = path
        for _ in 0..<40 {
            let name = PathText.name(of: current)
            if name.isEmpty || name == "." || name == ".." {
                throw FileError(.invalidPath, operation: .readLink, path: path)
            }
            let info = try infoIfPresent(current, followingLinks: false)
            // A place where nothing is yet, unless its directory is missing: the caller's next step tells.
            guard let info, info.kind == .symbolicLink else { return current }
            let text = try retryingInterrupts { () throws(FileError) in try readLink(current) }
            current = PathText.join(PathText.directory(of: current), text)
        }
        throw FileError(.linkLoop, operation: .readLink, path: path, code: .loop)
    }

    /// Opens a file of a store's own beside it for reading and writing, or makes it; `nil` where it was made or removed
    /// meanwhile: try again.
    ///
    /// Never through a symbolic link at the end of the path: its target does not belong to the store.
    /// - Throws: ``FileError/Reason/notARegularFile(_:)`` for a link and anything else that is not a regular file;
    ///   nothing was touched.
    /// - Returns: the file, and whether it was made here.
    package func openOwn(
        _ path: String, permissions: UInt32
    ) throws(FileError) -> (file: any OpenFile, isNew: Bool)? {
        guard let there = try infoIfPresent(path, followingLinks: false) else {
            do {
                let made = try retryingInterrupts { () throws(FileError) in
                    try open(path, mode: .createExclusive(permissions: permissions))
                }
                return (made, true)
            } catch {
                if error.reason == .alreadyExists { return nil }
                throw error
            }
        }
        guard there.kind == .regular else {
            throw FileError(.notARegularFile(there.kind), operation: .open, path: path)
        }
        let file: any OpenFile
        do {
            file = try retryingInterrupts { () throws(FileError) in try open(path, mode: .readWrite) }
        } catch {
            if error.reason == .notFound { return nil }
            throw error
        }
        let opened = try retryingInterrupts { () throws(FileError) in try file.info() }
        if (opened.device, opened.inode) == (there.device, there.inode) { return (file, false) }
        // A link, or another file, has come in between.
        try? file.close()
        return nil
    }

    /// What is at `path`, or `nil` if nothing is; interruptions are repeated.
    package func infoIfPresent(_ path: String, followingLinks: Bool) throws(FileError) -> FileInfo? {
        try ifPresent { () throws(FileError) in try info(path, followingLinks: followingLinks) }
    }

    /// Which file is at `path`, or `nil` if nothing is; interruptions are repeated.
    package func extentIfPresent(_ path: String, followingLinks: Bool) throws(FileError) -> FileExtent? {
        try ifPresent { () throws(FileError) in try extent(path, followingLinks: followingLinks) }
    }

    /// Whether two paths lead to one file, by links or by several names of it; false where nothing is at one of them.
    /// - Throws: `FileError` of asking for them.
    package func isSameFile(_ first: String, _ second: String) throws(FileError) -> Bool {
        guard let one = try extentIfPresent(first, followingLinks: true),
            let other = try extentIfPresent(second, followingLinks: true)
        else { return false }
        return one.isSameFile(as: other)
    }

    private func ifPresent<Value>(_ look: () throws(FileError) -> Value) throws(FileError) -> Value? {
        do {
            return try retryingInterrupts(look)
        } catch {
            if error.reason == .notFound { return nil }
            throw error
        }
    }
}
