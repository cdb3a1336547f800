import MortiseCore
import Synchronization

extension ExternalFiles {
    /// The file in the folder that says whose data are there: the store's identifier and a line's end.
    static let markName = "store"

    /// What the folder says of the store whose data it holds.
    enum Mark: Equatable {
        case mine
        case another(String)
        /// The folder was made by a program that did not write any, or nothing has been written to it.
        case missing
    }

    var markPath: String { PathText.join(folder, Self.markName) }

    /// Says which store the folder is for. Without it no mark is written, and nothing is ever swept.
    package func identify(_ store: String) { state.withLock { $0.owner = store } }

    /// Says how the store's main file is made where it is missing; called before the folder gets its first data.
    package func makeStoreFirst(by make: @escaping @Sendable () throws -> Void) {
        state.withLock { $0.makeStore = make }
    }

    /// - Throws: `FileError` where the mark is there and cannot be read; `symbolicLink` where it is a link.
    func mark(of owner: String) throws(FileError) -> Mark {
        // It would say whose another folder is, and be replaced where it leads.
        try fileSystem.refuseLink(at: markPath)
        guard try fileSystem.infoIfPresent(markPath, followingLinks: false) != nil else { return .missing }
        let bytes = try fileSystem.readWhole(markPath, limit: 4_096).bytes
        if bytes.elementsEqual((owner + "\n").utf8) { return .mine }
        return .another(
            String(decoding: bytes.prefix(100), as: UTF8.self).split(separator: "\n").first.map(String.init) ?? "")
    }

    /// Writes the mark, whole and durably.
    func writeMark(of owner: String) throws {
        try DurableReplacement(of: markPath, newFilePermissions: permissions, in: fileSystem)
            .replace(bytes: Array((owner + "\n").utf8))
        state.withLock { $0.hasMarked = true }
    }

    /// Makes the folder this store's before anything is written to it.
    /// - Throws: `FileError`, `folderOfAnotherStore` where it holds data of another.
    func takeOwnership(of owner: String) throws {
        switch try mark(of: owner) {
        case .mine: return
        case .missing:
            // Data that are there already may be another store's: opening decides, which knows what this one names.
            if try !isEmpty() { return }
        case .another(let found):
            if try !isEmpty() {
                throw FileError(
                    .folderOfAnotherStore(expected: owner, found: found), operation: .open, path: folder)
            }
        }
        try writeMark(of: owner)
    }

    /// Whether there are no data in the folder, nor among what was moved aside.
    /// - Throws: `FileError` if that cannot be determined.
    func isEmpty() throws(FileError) -> Bool {
        guard try names(in: folder).isEmpty else { return false }
        return try names(in: asideFolder).isEmpty
    }

    /// Refuses to begin an empty store where data of a store exist.
    /// - Parameter path: the main file, which is missing.
    /// - Throws: `FileError`, `dataWithoutStore`.
    package func refuseData(withoutStoreAt path: String) throws(FileError) {
        if try isEmpty() { return }
        throw FileError(.dataWithoutStore(folder: folder), operation: .open, path: path)
    }

    /// The names of our form in a folder; empty if there is no such folder, or something else is at its path.
    func names(in folder: String) throws(FileError) -> [ExternalReference.Name] {
        guard try fileSystem.ownInfo(folder)?.kind == .directory else { return [] }
        let names = try retryingInterrupts { () throws(FileError) in try fileSystem.list(folder) }
        return names.compactMap { ExternalReference.Name($0) }
    }
}
