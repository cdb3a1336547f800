import Foundation
import MortiseCore
import Synchronization

/// The data of a reference store. It outlives the store, so that the same data can be opened again.
///
/// There are two of everything: what the running store sees, and what a crash would leave. A save is written in several
/// operations, each of which can be made to fail, and after each of which the power can go.
public final class ReferenceStorage: Sendable {
    struct State: Sendable {
        /// Every record by its number, which is also its place in the order of insertion.
        var records: [UInt64: DefaultSnapshot] = [:]
        var nextNumber: UInt64 = 1
        /// Grows with every change.
        var version: UInt64 = 1
        /// The version at which each record was last changed.
        var recordVersions: [UInt64: UInt64] = [:]
        var history: [ReferenceTransaction] = []
        /// The number of the last transaction, which may have been forgotten.
        var lastTransaction: Int64 = 0
        /// The schema for which the records were last opened.
        var schema: StoredSchema?
        /// The records as they were before they were adopted for another schema, until something is saved.
        var original: Original?
        /// What faulty stores leave lying about.
        var debris = Debris()

        /// The records by ascending number.
        var ordered: [(key: UInt64, value: DefaultSnapshot)] {
            // Most stores number their records without large gaps, and looking them up is less work than sorting.
            guard nextNumber <= 2 * UInt64(records.count) + 64 else { return records.sorted { $0.key < $1.key } }
            var found: [(key: UInt64, value: DefaultSnapshot)] = []
            found.reserveCapacity(records.count)
            var number: UInt64 = 0
            while number < nextNumber {
                if let record = records[number] { found.append((number, record)) }
                number += 1
            }
            return found.count == records.count ? found : records.sorted { $0.key < $1.key }
        }
    }

    struct Original: Sendable {
        var schema: StoredSchema
        var records: [UInt64: DefaultSnapshot]
        var version: UInt64
    }

    /// Where the state is kept.
    struct Medium: Sendable {
        var durable = State()
        /// What a crash leaves after each operation, the first before any.
        var images: [State] = [State()]
        var failingOperation: Int?

        /// Counts an operation.
        /// - Throws: `ReferenceStoreError.notWritten` where it is to fail.
        mutating func operate(_ change: (inout State) -> Void = { _ in }) throws {
            let number = images.count
            if failingOperation == number {
                images.append(durable)
                throw ReferenceStoreError.notWritten(operation: number)
            }
            change(&durable)
            images.append(durable)
        }
    }

    /// Which stores have it open, and whether it is being migrated.
    struct Use: Sendable {
        var stores: Set<UUID> = []
        var isMigrating = false
    }

    let identifier: String
    let use = Mutex(Use())
    let state = Mutex(State())
    let medium = Mutex(Medium())
    private let copyCount = Mutex(0)
    /// How often the storage was left behind for a copy of what it holds.
    var copies: Int { copyCount.withLock { $0 } }

    /// Makes an empty storage. Stores opened on it share its records.
    public init() { identifier = UUID().uuidString }

    /// The records of another storage, for a migration.
    init(_ state: State, identifier: String) {
        self.identifier = identifier
        self.state.withLock { $0 = state }
    }

    /// Leaves the data as a crash right after an operation does; nil means after the last one.
    public func crash(after operation: Int? = nil) {
        let left = medium.withLock { medium in
            let left = medium.images[min(operation ?? .max, medium.images.count - 1)]
            medium = Medium(durable: left, images: [left])
            return left
        }
        state.withLock { $0 = left }
        use.withLock { $0 = Use() }
        copyCount.withLock { $0 += 1 }
    }

    var operationCount: Int { medium.withLock { $0.images.count - 1 } }

    /// Makes an operation fail, counted from now; nil cancels that.
    func failOperation(_ number: Int?) {
        medium.withLock { medium in medium.failingOperation = number.map { medium.images.count - 1 + $0 } }
    }
}

/// A save as a reference store's history has it.
struct ReferenceTransaction: Sendable {
    enum Kind: Sendable { case insert, update, delete }
    struct Change: Sendable {
        var kind: Kind
        var record: PersistentIdentifier
        /// The properties that were updated.
        var properties: [String] = []
        /// What a deleted record leaves.
        var preserved: [(name: String, value: StoredValue)] = []
    }
    var number: Int64
    var timestamp: Date
    var author: String?
    var changes: [Change]
}

/// What a reference store refuses.
public enum ReferenceStoreError: Error, Hashable, Sendable {
    /// The record to be changed or deleted does not exist.
    case noSuchRecord(PersistentIdentifier)
    /// Two records would have the same unique values.
    case notUnique(entity: String, properties: [String])
    /// A relationship would lead to a record that does not exist.
    case missingTarget(record: PersistentIdentifier, property: String, target: PersistentIdentifier)
    /// The store was closed.
    case closed
    /// An operation of the storage failed.
    case notWritten(operation: Int)
    /// The records cannot be read with another schema.
    case schemaMismatch(entity: String, property: String)
    /// The storage was opened for a newer version of the schema.
    case newer(Schema.Version)
    /// The storage is open, or being migrated.
    case inUse
    /// A faulty store refuses what it should not.
    case refused
}

extension ReferenceStoreError: CustomStringConvertible {
    /// The fault and, if there is one, the way out.
    public var description: String {
        switch self {
        case .noSuchRecord(let record): "There is no record \(record); another save may have deleted it."
        case .notUnique(let entity, let properties):
            "Two records of \(entity) would have the same \(properties.joined(separator: ", "))."
        case .missingTarget(let record, let property, let target):
            "\(property) of \(record) leads to \(target), which is not there. Clear it first."
        case .closed: "The reference store was closed. Open its storage again."
        case .notWritten(let operation): "Operation \(operation) of the storage failed; nothing was saved."
        case .schemaMismatch(let entity, let property):
            "\(entity).\(property) is not what the stored records have. Give it another name."
        case .newer(let version):
            "The storage was opened for version \(version), which is newer than the program. Use a newer program."
        case .inUse: "The storage is open elsewhere, or being migrated. Close it there first."
        case .refused: "The store refuses this."
        }
    }
}
