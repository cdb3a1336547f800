import Foundation
import MortiseCore
import Synchronization

/// The steps by which the kit's store in a folder works, each of which can be exchanged for a wrong one.
struct FolderSteps: Sendable {
    /// Keeps others out; nil locks nothing.
    var lock: (@Sendable (URL) throws -> FolderLock)? = { try FolderLock($0, of: [.processes, .own]) }
    var releasesLock = true
    /// The content of a file, or nil for one that is passed over.
    var read: @Sendable (URL) throws -> Data? = { try Data(contentsOf: $0) }
    var checksLengths = true
    /// The rows of a file.
    var parse: @Sendable (Data) throws -> [[String?]] = { data in
        try data.split(separator: UInt8(ascii: "\n")).map { try JSONDecoder().decode([String?].self, from: Data($0)) }
    }
    /// A value as it is kept, and as it is handed out.
    var keep: @Sendable (StoredValue) -> StoredValue = { $0 }
    var show: @Sendable (StoredValue) -> StoredValue = { $0 }
    var write: @Sendable (Data, URL) throws -> Void = { try $0.write(to: $1) }
    var passesOverFailures = false
    /// Whether the old generation goes before the new one is whole.
    var replacesFirst = false
    var removesOld = true
    /// The folder that is worked on, by the one that was asked for.
    var place: @Sendable (URL) throws -> URL = { $0 }
    /// What an opening leaves behind.
    var opened: @Sendable (FolderStore, URL) -> Void = { _, _ in }
}

/// Keeps other stores out of a folder until it is released, or its process ends.
final class FolderLock: Sendable {
    enum Kind { case processes, own, leftover }

    private static let held = Mutex<Set<String>>([])
    private let path: String
    private let file: FileHandle?
    private let isOwn: Bool

    /// - Throws: `FolderStoreError.locked`.
    init(_ folder: URL, of kinds: Set<Kind>) throws {
        let path = folder.resolvingSymlinksInPath().path
        let name = folder.appending(path: "lock")
        if kinds.contains(.leftover) {
            if FileManager.default.fileExists(atPath: name.path) { throw FolderStoreError.locked }
            try Data().write(to: name)
        }
        if kinds.contains(.own), !Self.held.withLock({ $0.insert(path).inserted }) { throw FolderStoreError.locked }
        self.path = path
        isOwn = kinds.contains(.own)
        guard kinds.contains(.processes) else {
            file = nil
            return
        }
        do {
            file = try ProcessLock.take(name)
        } catch {
            if isOwn { Self.held.withLock { _ = $0.remove(path) } }
            throw error
        }
    }

    func release() {
        try? file?.close()
        if isOwn { Self.held.withLock { _ = $0.remove(path) } }
    }
}
