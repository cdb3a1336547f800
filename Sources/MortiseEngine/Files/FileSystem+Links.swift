extension FileSystem {
    /// The path that opening `path` for writing would reach: symbolic links at its end are followed, also to a place
    /// where nothing is yet.
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

    /// What is at `path`, or `nil` if nothing is; interruptions are repeated.
    package func infoIfPresent(_ path: String, followingLinks: Bool) throws(FileError) -> FileInfo? {
        do {
            return try retryingInterrupts { () throws(FileError) in try info(path, followingLinks: followingLinks) }
        } catch {
            if error.reason == .notFound { return nil }
            throw error
        }
    }
}
