import Foundation
import MortiseCore
import Synchronization

/// What a store in a folder writes.
enum FolderChange: Sendable { case save, erasure, history }

/// The steps by which the kit's store in a folder works, each of which can be exchanged for a wrong one.
struct FolderSteps: Sendable {
    /// Keeps others out; nil locks nothing.
    var lock: (@Sendable (URL) throws -> FolderLock)? = { try FolderLock($0, of: [.processes, .own]) }
    var releasesLock = true
    /// Whether what is there is read before the lock is taken.
    var readsFirst = false
    /// Looks at the names in the folder before it is read.
    var check: @Sendable (_ names: [String]) throws -> Void = { _ in }
    /// The content of a file, or nil for one that is passed over.
    var read: @Sendable (URL) throws -> Data? = { try Data(contentsOf: $0) }
    var checksLengths = true
    /// Whether a file of some length is one that was written with another.
    var fits: @Sendable (_ found: Int, _ written: Int) -> Bool = { $0 == $1 }
    /// The tables that are kept, of those that were read.
    var keepsTable: @Sendable (_ table: String, _ schema: StoredSchema) -> Bool = { _, _ in true }
    /// Whether a value of another kind is an error.
    var checksValues = true
    /// Whether a history that cannot be read is an error.
    var checksHistory = true
    /// The rows of a file.
    var parse: @Sendable (Data) throws -> [[String?]] = { data in
        try data.split(separator: UInt8(ascii: "\n")).map { try JSONDecoder().decode([String?].self, from: Data($0)) }
    }
    /// A value as it is kept, and as it is handed out.
    var keep: @Sendable (StoredValue) -> StoredValue = { $0 }
    var show: @Sendable (StoredValue) -> StoredValue = { $0 }
    var write: @Sendable (Data, URL) throws -> Void = { try $0.write(to: $1) }
    var passesOverFailures = false
    /// Whether memory has a change before it is written.
    var remembersFirst: Set<FolderChange> = []
    /// Whether the old generation goes before the new one is whole.
    var replacesFirst = false
    var removesOld = true
    /// The folder that is worked on, by the one that was asked for.
    var place: @Sendable (URL) throws -> URL = { $0 }
    /// What an opening leaves behind.
    var opened: @Sendable (FolderStore, URL) -> Void = { _, _ in }
    /// What an opening leaves behind that found its files damaged.
    var refused: @Sendable (URL) -> Void = { _ in }
    /// What a closed store says.
    var closedError = FolderStoreError.closed
}
