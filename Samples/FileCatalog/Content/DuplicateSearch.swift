import Foundation
import Mortise

/// Several files that hold the same bytes.
struct DuplicateGroup {
    /// The size in bytes of each file.
    let size: Int
    /// The files, each with all its names: more than one if it has hard links.
    let copies: [[ExactPath]]

    /// The bytes that would be free if one copy were kept.
    var wasted: Int { size * (copies.count - 1) }
}

/// The search for files with the same content: by size, then by hash, then byte for byte.
///
/// Hashes that had to be computed are saved in the catalog, so that the next search reads only what is new.
struct DuplicateSearch {
    /// A file that could not be compared.
    struct Problem {
        let path: ExactPath
        let reason: String
    }

    let folder: String
    let context: ModelContext
    private(set) var problems: [Problem] = []
    private var unsavedHashes = 0
    private var savedHashes = 0

    init(folder: String, context: ModelContext) {
        self.folder = folder
        self.context = context
    }

    /// The duplicates, most wasted bytes first.
    ///
    /// - Throws: what the store throws. Files that cannot be read are not errors: they are listed in ``problems``.
    mutating func run(_ progress: ProgressLine) throws -> [DuplicateGroup] {
        defer { progress.clear() }
        let files = try context.fetch(
            FetchDescriptor<File>(
                predicate: #Predicate { $0.size > 0 },
                sortBy: [SortDescriptor(\.size, order: .reverse), SortDescriptor(\.path)]))
        var groups: [DuplicateGroup] = []
        var start = files.startIndex
        while start < files.endIndex {
            let size = files[start].size
            let end = files[start...].firstIndex { $0.size != size } ?? files.endIndex
            if end - start > 1 {
                progress.show("comparing files: \(Format.count(end)) of \(Format.count(files.count))")
                groups += try duplicates(among: files[start..<end], ofSize: size)
            }
            start = end
        }
        if context.hasChanges { try context.save() }
        return groups.sorted {
            ($1.wasted, $1.size, $0.copies[0][0].text) < ($0.wasted, $0.size, $1.copies[0][0].text)
        }
    }

    private mutating func duplicates(among files: ArraySlice<File>, ofSize size: Int) throws -> [DuplicateGroup] {
        var names: [FileIdentity: [ExactPath]] = [:]
        var identities: [(FileIdentity, String)] = []
        for file in files {
            guard let (identity, hash) = try hash(of: file) else { continue }
            if names[identity] == nil { identities.append((identity, hash)) }
            names[identity, default: []].append(ExactPath(file.path))
        }
        let candidates = Dictionary(grouping: identities, by: \.1).values.filter { $0.count > 1 }
        return candidates.flatMap { candidate in
            equalGroups(of: candidate.compactMap { names[$0.0] }).map { DuplicateGroup(size: size, copies: $0) }
        }
    }

    /// The identity and the hash of a file, the latter from the catalog if it is known there; nil if the file is
    /// not what the catalog says, or cannot be read.
    private mutating func hash(of file: File) throws -> (FileIdentity, String)? {
        let path = ExactPath(file.path)
        let identity: FileIdentity
        let hash: String
        do {
            let content = try FileContent(path: path, below: folder)
            guard content.status.size == file.size, content.status.modified == file.modified else {
                problems.append(Problem(path: path, reason: "changed since the last scan"))
                return nil
            }
            identity = content.status.identity
            if let known = file.contentHash { return (identity, known) }
            hash = try content.hash()
        } catch let error as SystemError {
            problems.append(Problem(path: path, reason: error.description))
            return nil
        }
        file.contentHash = hash
        try saveFromTimeToTime()
        return (identity, hash)
    }

    /// Splits files of one size and hash into groups of those that hold the same bytes.
    private mutating func equalGroups(of files: [[ExactPath]]) -> [[[ExactPath]]] {
        var groups: [[[ExactPath]]] = []
        for file in files {
            if let index = groups.firstIndex(where: { areEqual($0[0][0], file[0]) }) {
                groups[index].append(file)
            } else {
                groups.append([file])
            }
        }
        return groups.filter { $0.count > 1 }
    }

    private mutating func areEqual(_ left: ExactPath, _ right: ExactPath) -> Bool {
        do {
            return try FileContent(path: left, below: folder).equals(FileContent(path: right, below: folder))
        } catch {
            problems.append(Problem(path: right, reason: "compared with \(left.text): \(error)"))
            return false
        }
    }

    private mutating func saveFromTimeToTime() throws {
        unsavedHashes += 1
        if unsavedHashes >= SaveRhythm.batch(afterSaving: savedHashes) {
            try context.save()
            savedHashes += unsavedHashes
            unsavedHashes = 0
        }
    }
}
