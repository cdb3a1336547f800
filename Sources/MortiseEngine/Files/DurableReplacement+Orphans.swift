/// The name of a temporary: `.<name>.<process id>-<16 hexadecimal digits>.mortise-tmp`, with a plus sign for the hyphen where
/// the file that it is for must not exist.
package struct TemporaryName {
    static let suffix = ".mortise-tmp"
    package let path: String

    /// - Parameters:
    ///   - target: the file that the temporary is for.
    ///   - isNew: whether that file must not exist. The name then says that it was never finished.
    ///   - fileSystem: the file system that gives the number.
    package init(of target: String, isNew: Bool = false, in fileSystem: any FileSystem) {
        let digits = String(fileSystem.uniqueNumber(), radix: 16)
        let number = String(repeating: "0", count: 16 - digits.count) + digits
        let middle = "\(fileSystem.processID)\(isNew ? "+" : "-")\(number)"
        let name = Self.prefix(PathText.name(of: target)) + middle + Self.suffix
        path = PathText.join(PathText.directory(of: target), name)
    }

    /// Whether `candidate` is a temporary of the file called `name`, and of no other.
    ///
    /// The middle part holds no dot, so the temporaries of `a.b` are not those of `a`.
    package static func matches(_ candidate: String, of name: String) -> Bool {
        // Byte by byte: names that differ only in Unicode normalization are different files on Linux.
        let bytes = Array(candidate.utf8)
        let head = Array(prefix(name).utf8)
        let tail = Array(suffix.utf8)
        guard bytes.count > head.count + tail.count else { return false }
        guard bytes.starts(with: head), bytes.suffix(tail.count).elementsEqual(tail) else { return false }
        let marks = [UInt8(ascii: "-"), UInt8(ascii: "+")]
        let parts = bytes[head.count..<(bytes.count - tail.count)]
            .split(omittingEmptySubsequences: false, whereSeparator: marks.contains)
        guard parts.count == 2, !parts[0].isEmpty, parts[0].count <= 10, parts[1].count == 16 else { return false }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let letters = UInt8(ascii: "a")...UInt8(ascii: "f")
        return parts[0].allSatisfy(digits.contains)
            && parts[1].allSatisfy { digits.contains($0) || letters.contains($0) }
    }

    /// Whether a name that `matches` is of a file that nobody has finished making.
    package static func isOfNewFile(_ candidate: String) -> Bool {
        candidate.dropLast(suffix.count).dropLast(16).hasSuffix("+")
    }

    /// The name of the file whose temporary this may be; nil if the name is not that of a temporary.
    static func target(of candidate: String) -> String? {
        guard candidate.hasPrefix("."), candidate.hasSuffix(suffix),
            let dot = candidate.dropLast(suffix.count).lastIndex(of: ".")
        else { return nil }
        let name = String(candidate[..<dot].dropFirst())
        return matches(candidate, of: name) ? name : nil
    }

    private static func prefix(_ name: String) -> String { "." + name + "." }
}

extension DurableReplacement {
    /// Removes the temporaries that crashed replacements of this file left behind.
    ///
    /// Touches only regular files whose name is exactly that of a temporary of this file. The removals are not synced:
    /// an orphan that comes back after a power loss is swept again.
    ///
    /// - Parameters:
    ///   - lock: Proof that nobody else writes the file, so that no temporary is in use.
    ///   - suffix: What this file's name adds to the store's, for a companion file that the lock covers too.
    /// - Returns: The names of the removed files.
    /// - Throws: ``FileError/Reason/closed`` if `lock` is released, ``FileError/Reason/invalidPath`` if it belongs to
    ///   another store, ``FileError/Reason/symbolicLink(target:)`` if the companion's path is a link, and what listing
    ///   and removing throw. Stops at the first error.
    @discardableResult
    public func sweepOrphans(holding lock: FileLock, companion suffix: String = "") throws(FileError) -> [String] {
        if !suffix.isEmpty { try fileSystem.refuseLink(at: path) }
        let target = try fileSystem.resolvingLinks(path)
        guard lock.isHeld else { throw FileError(.closed, operation: .unlink, path: lock.path) }
        guard lock.storePath + suffix == target else {
            throw FileError(.invalidPath, operation: .unlink, path: lock.path)
        }
        let directory = PathText.directory(of: target)
        let name = PathText.name(of: target)
        let candidates = try retryingInterrupts { () throws(FileError) in try fileSystem.list(directory) }
        var swept: [String] = []
        for candidate in candidates.sorted() where TemporaryName.matches(candidate, of: name) {
            let orphan = PathText.join(directory, candidate)
            let info = try retryingInterrupts { () throws(FileError) in
                try fileSystem.info(orphan, followingLinks: false)
            }
            guard info.kind == .regular else { continue }
            try retryingInterrupts { () throws(FileError) in try fileSystem.unlink(orphan) }
            swept.append(candidate)
        }
        return swept
    }
}
