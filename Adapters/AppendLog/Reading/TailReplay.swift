import MortiseCore
import MortiseEngine

/// Takes in the transactions behind a checkpoint, of which hardly anything is read for that. What an erasure leaves, or another
/// schema, has to be put together from all records; from there on they are replayed.
struct TailReplay: TransactionVisitor {
    let catalog: LogCatalog
    /// The log's, for errors.
    private let path: String
    private let base: EngineVersion
    private let tail: EngineTail
    /// Goes on where the tail could not.
    private var replay: VersionReplay?
    private(set) var nextSequence: UInt64

    /// Nil for a schema under which tails are not taken in.
    init?(_ base: EngineVersion, ofLog path: String) {
        let tail = EngineTail(base) { error in
            (error as? EngineError).map { Self.contradiction($0, inLog: path) } ?? error
        }
        guard let tail else { return nil }
        self.tail = tail
        self.base = base
        self.path = path
        catalog = LogCatalog(
            base.catalog.schema, store: base.catalog.storeIdentifier, external: base.catalog.external)
        nextSequence = base.nextSequence
    }

    /// What cannot be read of the checkpoint is the reason, whatever it looks like.
    private func explaining<R>(_ what: String, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as EngineError {
            if let damage = base.damage { throw damage }
            throw PayloadFault(offset: 0, what: "\(what): \(error)")
        }
    }

    mutating func begin(_ origin: TransactionOrigin, isErasure: Bool, nextSequence: UInt64) throws {
        if isErasure, replay == nil {
            replay = try explaining("contradicts the checkpoint") {
                VersionReplay(base, begun: (try tail.replayed(), self.nextSequence))
            }
        }
        if var going = replay.take() {
            defer { replay = going }; return try going.begin(origin, isErasure: isErasure, nextSequence: nextSequence)
        }
        guard nextSequence >= self.nextSequence else {
            throw PayloadFault(offset: 0, what: "lowers the next record number")
        }
        self.nextSequence = nextSequence
    }

    mutating func deleted(_ entity: Int, _ sequence: UInt64, preserved: [(slot: Int, value: StoredValue)]) throws {
        if var going = replay.take() {
            defer { replay = going }; return try going.deleted(entity, sequence, preserved: preserved)
        }
        try explaining("has an invalid deletion") { try tail.delete(entity: entity, sequence: sequence) }
    }

    mutating func updated(_ entity: Int, _ sequence: UInt64, _ changes: [(slot: Int, value: StoredValue)]) throws {
        if var going = replay.take() { defer { replay = going }; return try going.updated(entity, sequence, changes) }
        try explaining("has an invalid update") {
            try tail.update(entity: entity, sequence: sequence, changes)
        }
    }

    mutating func inserted(_ entity: Int, _ sequence: UInt64, _ values: ContiguousArray<StoredValue>) throws {
        if var going = replay.take() { defer { replay = going }; return try going.inserted(entity, sequence, values) }
        guard sequence < nextSequence else {
            throw PayloadFault(offset: 0, what: "inserts a record whose number was used before")
        }
        try explaining("has an invalid insertion") {
            try tail.insert(entity: entity, sequence: sequence, values)
        }
    }

    mutating func endTransaction(_ number: UInt64) throws { try replay?.endTransaction(number) }

    /// The version after the last transaction. With `isWhole` nothing of it waits to be put together.
    /// - Throws: `AppendLogError` for what contradicts itself or the checkpoint, or cannot be read.
    func finish(_ transaction: UInt64, isWhole: Bool) throws -> EngineVersion {
        if let replay { return try replay.finish(transaction) }
        do {
            if isWhole { return try tail.replayed().finish(number: transaction, nextSequence: nextSequence) }
            return try tail.overlaid(number: transaction, nextSequence: nextSequence)
        } catch let error as EngineError {
            if let damage = base.damage { throw damage }
            throw Self.contradiction(error, inLog: path)
        }
    }

    private static func contradiction(_ error: EngineError, inLog path: String) -> AppendLogError {
        AppendLogError(
            path: path, fault: .malformed(part: .log, offset: nil, what: "contradicts its checkpoint: \(error)"))
    }
}
