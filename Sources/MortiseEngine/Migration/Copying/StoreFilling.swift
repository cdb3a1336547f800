import Foundation
import MortiseCore

/// Writes records into a new store, some at a time, and makes sure that they are there.
struct StoreFilling {
    /// What is written. It is read several times, and is the same each time.
    struct Records {
        let schema: StoredSchema
        /// The store that the records are of.
        let storeIdentifier: String
        /// The number of the next record there.
        let nextNumber: UInt64
        /// Returns a function that returns the next records of exactly one entity, none at the end, in identity order. Derived
        /// relationships are null, and references lead to records that are among all these.
        let reader: (_ entity: String, _ count: Int) throws -> () throws -> [DefaultSnapshot]
    }

    static let readAtOnce = 1_000
    private static let mostRecords = 10_000
    private static let mostBytes = 16 << 20

    private let records: Records
    private let name: String
    private let keepsIdentifiers: Bool
    private let layouts: [String: RecordLayout]
    /// What the records have become; empty where they keep their identifiers.
    private var current: [PersistentIdentifier: PersistentIdentifier] = [:]
    /// Those whose references to later records are to be set.
    private var incomplete: Set<PersistentIdentifier> = []

    /// Takes the store's name for errors.
    init(_ records: Records, named name: String, keepingIdentifiers keepsIdentifiers: Bool) {
        (self.records, self.name, self.keepsIdentifiers) = (records, name, keepsIdentifiers)
        layouts = records.schema.recordLayouts()
    }

    // MARK: Writing

    /// Writes the records to an empty store.
    /// - Throws: the store's errors; why a record cannot be read.
    mutating func fill<S: DataStore>(_ store: StoreTransfer<S>) throws {
        if keepsIdentifiers { return try restore(to: store) }
        try insert(to: store)
        try complete(in: store)
    }

    private func restore<S: DataStore>(to store: StoreTransfer<S>) throws {
        var batch: [DefaultSnapshot] = []
        var bytes = 0
        // Once at least: a store without records has an identifier, too.
        var isDue = true
        func save() throws {
            try store.restore(batch, ofStore: records.storeIdentifier, nextNumber: records.nextNumber)
            (batch, bytes, isDue) = ([], 0, false)
        }
        for entity in records.schema.entities.map(\.name) {
            let next = try records.reader(entity, Self.readAtOnce)
            while case let found = try next(), !found.isEmpty {
                for record in found {
                    batch.append(filled(record, record.persistentIdentifier) { $0 })
                    bytes += record.approximateBytes
                    if batch.count >= Self.mostRecords || bytes >= Self.mostBytes { try save() }
                }
            }
        }
        if isDue || !batch.isEmpty { try save() }
    }

    /// In the order of insertion, whatever the entity: the store numbers them in that order.
    private mutating func insert<S: DataStore>(to store: StoreTransfer<S>) throws {
        var walk = try InsertionOrder(records)
        var batch: [DefaultSnapshot] = []
        var temporaries: [PersistentIdentifier: PersistentIdentifier] = [:]
        // Records that others of the batch require and that come later.
        var awaited: Set<PersistentIdentifier> = []
        var bytes = 0
        while true {
            let record = try walk.next()
            if let record {
                temporaries[record.persistentIdentifier] = .temporary(entityName: record.layout.entityName)
                awaited.remove(record.persistentIdentifier)
                for (slot, value) in zip(record.layout.slots, record.values) where !slot.property.isOptional {
                    guard case .identifier(let target) = value, current[target] == nil, temporaries[target] == nil
                    else { continue }
                    awaited.insert(target)
                }
                batch.append(record)
                bytes += record.approximateBytes
                if !awaited.isEmpty || batch.count < Self.mostRecords && bytes < Self.mostBytes { continue }
            }
            if record == nil, let target = awaited.min() {
                throw ModelContextError.storeContract(
                    store: name, fault: "A record requires \(target), which the store does not have.")
            }
            // Once at least: there is nothing to put into the old store's place before something was saved.
            if !batch.isEmpty || current.isEmpty { try save(batch, temporaries, to: store) }
            (batch, temporaries, bytes) = ([], [:], 0)
            if record == nil { return }
        }
    }

    private mutating func save<S: DataStore>(
        _ batch: [DefaultSnapshot], _ temporaries: [PersistentIdentifier: PersistentIdentifier],
        to store: StoreTransfer<S>
    ) throws {
        var late: Set<PersistentIdentifier> = []
        let snapshots = batch.map { record in
            let old = record.persistentIdentifier
            return filled(record, temporaries[old] ?? old) { target in
                let found = current[target] ?? temporaries[target]
                if found == nil { late.insert(old) }
                return found
            }
        }
        let given = try store.insert(snapshots)
        for (old, temporary) in temporaries { current[old] = given[temporary] }
        incomplete.formUnion(late)
    }

    /// Sets references to records that were not there yet.
    private func complete<S: DataStore>(in store: StoreTransfer<S>) throws {
        if incomplete.isEmpty { return }
        for entity in records.schema.entities.map(\.name) {
            let next = try records.reader(entity, Self.readAtOnce)
            while case let found = try next(), !found.isEmpty {
                let due = found.filter { incomplete.contains($0.persistentIdentifier) }
                if due.isEmpty { continue }
                try store.update(
                    due.map { record in
                        filled(record, current[record.persistentIdentifier] ?? record.persistentIdentifier) {
                            current[$0]
                        }
                    },
                    changed: due.map { record in
                        SlotSet(
                            record.layout.slots.indices.filter {
                                [.toOne, .toManyStored].contains(record.layout.slots[$0].role)
                            })
                    })
            }
        }
    }

    /// A record as it is saved.
    private func filled(
        _ record: DefaultSnapshot, _ identifier: PersistentIdentifier,
        _ target: (PersistentIdentifier) -> PersistentIdentifier?
    ) -> DefaultSnapshot {
        let values = zip(record.layout.slots, record.values).map { slot, value -> StoredValue in
            switch slot.role {
            case .attribute: value
            case .toOne: value.leading(target)
            case .toManyStored: value.isNull ? .identifiers([]) : value.leading(target)
            case .toManyDerived: .identifiers([])
            }
        }
        return DefaultSnapshot(
            persistentIdentifier: identifier, layout: record.layout, values: ContiguousArray(values))
    }

    // MARK: Checking

    /// Reads what was written, and compares it.
    /// - Throws: `ModelContextError.storeContract` for what is not there, or other than it was written; the store's errors.
    func check<S: DataStore>(_ store: StoreTransfer<S>) throws {
        if keepsIdentifiers {
            guard store.storeIdentifier == records.storeIdentifier else {
                throw fault("has the identifier \(store.storeIdentifier) in place of \(records.storeIdentifier)")
            }
            guard let next = store.nextRecordNumber, next >= records.nextNumber else {
                throw fault("would give numbers of records again that are gone")
            }
        }
        // Where the identifiers are new, they may have any order.
        let written = Dictionary(grouping: current.keys, by: \.entityName).mapValues { $0.sorted() }
        for entity in records.schema.entities.map(\.name) {
            let there = try store.identifiers(ofEntity: entity)
            let wanted = keepsIdentifiers ? there : (written[entity] ?? []).compactMap { current[$0] }
            guard there.count == wanted.count else { throw miscount(there.count, wanted.count, entity) }
            var expected = Buffered(try records.reader(entity, Self.readAtOnce))
            let found = store.reader(of: wanted, ofEntity: entity, atMost: Self.readAtOnce)
            while case let batch = try found(), !batch.isEmpty {
                for new in batch {
                    guard let old = try expected.next() else { throw miscount(1, 0, entity) }
                    try compare(old, new)
                }
            }
            if try expected.next() != nil { throw miscount(0, 1, entity) }
        }
    }

    private func miscount(_ found: Int, _ written: Int, _ entity: String) -> ModelContextError {
        fault("holds \(found < written ? "fewer" : "more") records of \(entity) than were written")
    }

    private func compare(_ old: DefaultSnapshot, _ new: DefaultSnapshot) throws {
        func identifier(_ old: PersistentIdentifier) -> PersistentIdentifier? { keepsIdentifiers ? old : current[old] }
        guard identifier(old.persistentIdentifier) == new.persistentIdentifier else {
            throw fault("has \(new.persistentIdentifier) where \(old.persistentIdentifier) was written")
        }
        for (place, slot) in old.layout.slots.enumerated() where slot.hasColumn {
            guard let now = new.layout.slot(named: slot.name) else { continue }
            let (wanted, found) = (old.values[place].leading(identifier), new.values[now])
            let isEqual =
                slot.role == .toManyStored
                ? Set(wanted.targets) == Set(found.targets) : wanted.isIdentical(to: found)
            if !isEqual { throw fault("has another \(slot.name) of \(new.persistentIdentifier) than was written") }
        }
    }

    private func fault(_ text: String) -> ModelContextError {
        .storeContract(store: name, fault: "The new store that was to replace it \(text).")
    }
}

/// Records one by one, of a function that returns some at a time.
private struct Buffered {
    private let more: () throws -> [DefaultSnapshot]
    private var batch: ArraySlice<DefaultSnapshot> = []

    init(_ more: @escaping () throws -> [DefaultSnapshot]) { self.more = more }

    /// Nil at the end.
    mutating func next() throws -> DefaultSnapshot? {
        if batch.isEmpty { batch = try more()[...] }
        return batch.popFirst()
    }
}

/// The records of all entities in the order of insertion.
private struct InsertionOrder {
    private struct Head {
        let next: () throws -> [DefaultSnapshot]
        var batch: [DefaultSnapshot]
        var place = 0

        var record: DefaultSnapshot { batch[place] }

        /// False at the end.
        mutating func advance() throws -> Bool {
            place += 1
            if place == batch.count { (batch, place) = (try next(), 0) }
            return !batch.isEmpty
        }
    }

    private var heads: [Head] = []

    init(_ records: StoreFilling.Records) throws {
        for entity in records.schema.entities.map(\.name) {
            let next = try records.reader(entity, StoreFilling.readAtOnce)
            let batch = try next()
            if !batch.isEmpty { heads.append(Head(next: next, batch: batch)) }
        }
    }

    mutating func next() throws -> DefaultSnapshot? {
        // Entities are few.
        guard
            let place = heads.indices.min(by: {
                heads[$0].record.persistentIdentifier.precedes(heads[$1].record.persistentIdentifier)
            })
        else { return nil }
        let record = heads[place].record
        if try !heads[place].advance() { heads.remove(at: place) }
        return record
    }
}

extension PersistentIdentifier {
    /// Whether the record was inserted before another one of the store, of any entity.
    fileprivate func precedes(_ other: PersistentIdentifier) -> Bool {
        if let one = sequenceNumber, let two = other.sequenceNumber, one != two { return one < two }
        return self < other
    }
}
