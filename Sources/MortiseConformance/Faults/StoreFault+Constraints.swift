import Foundation
import MortiseCore
import Synchronization

extension StoreFault {
    private static func planning(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (inout ReferenceSteps) -> Void
    ) -> StoreFault {
        StoreFault(id, summary, in: .planning, change: change)
    }

    static let constraintFaults: [StoreFault] = [
        planning("clears-what-is-required", "clears references to deleted records that must not be nil") { steps in
            steps.clearReferences = { deleted, state in
                ReferenceSteps.clear(Set(deleted), in: &state) { $0.relationship?.inverse == nil }
            }
        },
        planning("enforces-nothing-unique", "claims to enforce uniqueness and does not") {
            $0.enforcesUnique = { _, _ in false }
        },
        planning("enforces-no-compounds", "enforces the uniqueness of single properties only") {
            $0.enforcesUnique = { layout, constraint in layout.uniqueConstraints[constraint].count == 1 }
        },
        planning("enforces-null", "holds two nils for equal in its own constraint") { steps in
            steps.finish = { _, state in
                let accounts = state.records.values.filter { $0.persistentIdentifier.entityName == "Account" }
                let pairs = accounts.map { [$0[property: "country"], $0[property: "number"]] }
                if Set(pairs).count < pairs.count { throw ReferenceStoreError.refused }
            }
        },
        planning("enforces-no-references", "claims to check references and does not") {
            $0.enforcesReference = { _ in false }
        },
        planning("enforces-to-one-only", "checks to-one relationships only") {
            $0.enforcesReference = { $0.role == .toOne }
        },
        planning("checks-no-updated-to-one", "checks what new records refer to, and of updated ones the lists alone") {
            steps in
            steps.enforcesReference = { _ in false }
            steps.finish = { before, state in
                for (number, record) in state.records {
                    for (place, value) in record.values.enumerated() {
                        if case .identifier = value, let old = before.records[number], old.values[place] != value {
                            continue
                        }
                        guard let target = value.missing(in: state) else { continue }
                        throw ReferenceStoreError.missingTarget(
                            record: record.persistentIdentifier, property: record.layout.slots[place].name,
                            target: target)
                    }
                }
            }
        },
        StoreFault("revives-what-is-referred-to", "brings a deleted record back when another one refers to it") {
            steps in
            steps.delete = { number, state in
                if let gone = state.records.removeValue(forKey: number) { state.debris.gone.append(gone) }
            }
            steps.finish = { _, state in
                let missing = Set(state.records.values.flatMap(\.values).compactMap { $0.missing(in: state) })
                for gone in state.debris.gone where missing.contains(gone.persistentIdentifier) {
                    if let number = gone.persistentIdentifier.sequenceNumber { state.records[number] = gone }
                }
            }
        },
        StoreFault(
            "gives-references-to-the-next", "lets a new record have the references to deleted ones of its entity"
        ) {
            $0.finish = { before, state in
                let new = state.records.values.filter {
                    before.records[$0.persistentIdentifier.sequenceNumber ?? 0] == nil
                }
                for (number, record) in state.records {
                    var values = record.values
                    for place in values.indices {
                        guard case .identifier = values[place], let target = values[place].missing(in: state),
                            let next = new.first(where: { $0.persistentIdentifier.entityName == target.entityName })
                        else { continue }
                        values[place] = .identifier(next.persistentIdentifier)
                    }
                    state.records[number] = DefaultSnapshot(
                        persistentIdentifier: record.persistentIdentifier, layout: record.layout, values: values)
                }
            }
        },
        planning("checks-references-too-early", "checks references before all records are there") { steps in
            steps.accept = { request in
                for (place, snapshot) in request.inserted.enumerated() {
                    let later = Set(request.inserted[(place + 1)...].map(\.persistentIdentifier))
                    for value in snapshot.values {
                        if case .identifier(let target) = value, later.contains(target) {
                            throw ReferenceStoreError.refused
                        }
                    }
                }
                return request
            }
        },
        planning("batch-of-one-entity", "deletes the superentity's own records in a batch") {
            $0.batchFamily = { entity, _, _ in [entity] }
        },
        planning("batch-of-everything", "deletes all records in a batch, whatever their entity") {
            $0.batchFamily = { _, _, schema in Set(schema.entities.map(\.name)) }
        },
        planning("batch-with-subentities", "deletes subentities' records in a batch though it should not") {
            $0.batchFamily = { entity, _, schema in Set(schema.subtree(of: entity)) }
        },
        planning("batch-leaves-references", "leaves references to what a batch has deleted") {
            $0.clearAllReferences = { _, _ in }
        },
        planning("batch-starts-counting-again", "gives the identifiers of a batch to the next records") {
            $0.afterBatch = { $0.nextNumber = ($0.records.keys.max() ?? 0) + 1 }
        },
        planning("batch-passes-over-predicates", "deletes everything in a batch whatever the predicate") {
            $0.deletesWhateverMatches = true
        },
        planning("batch-of-nothing-fails", "takes a batch that deletes nothing for an error") {
            $0.failsWithoutRecords = true
        },
        StoreFault("erase-starts-counting-again", "gives the identifiers of erased records to the next ones") { steps in
            steps.erase = { state in
                state.records = [:]
                state.nextNumber = 1
            }
        },
        StoreFault("erases-memory-only", "erases its memory and not its storage") { steps in
            let open = steps.open
            steps.erase = { state in
                state.debris.gone = Array(state.records.values)
                state.records = [:]
            }
            steps.open = { state in
                open(&state)
                for record in state.debris.gone {
                    if let number = record.persistentIdentifier.sequenceNumber { state.records[number] = record }
                }
            }
        },
        StoreFault("erases-nothing-of-nothing", "takes the erasing of an empty store for an error") {
            $0.failsWithoutRecords = true
        },
        planning("erases-no-index", "keeps unique values taken after it was erased") { steps in
            steps.erase = { state in
                state.debris.gone = state.records.values.filter { $0.persistentIdentifier.entityName == "Account" }
                state.records = [:]
            }
            steps.finish = { _, state in
                let taken = Set(state.debris.gone.map { $0[property: "email"] })
                for record in state.records.values where record.persistentIdentifier.entityName == "Account" {
                    if taken.contains(record[property: "email"]) { throw ReferenceStoreError.refused }
                }
            }
        },
        StoreFault(
            "aggregates-nothing", "says that it aggregates, and leaves that to the framework", in: .planning,
            claiming: [.aggregates]
        ) { steps in
            steps.capabilities = { $0.union([.aggregates]) }
        },
        planning("stays-closed", "cannot be opened again once it was closed") { steps in
            let adopt = steps.adopt
            steps.adopt = { schema, layouts, state in
                state.debris.openings += 1
                if state.debris.openings > 1 { throw ReferenceStoreError.refused }
                try adopt(schema, layouts, &state)
            }
        },
        StoreFault("claims-too-much", "says to have a history and has none") { steps in
            steps.capabilities = { $0.union([.history]) }
        },
        StoreFault("claims-too-little", "says nothing of what it can do") { $0.capabilities = { _ in [] } },
        StoreFault("pairs-for-everything", "returns pairs for updated records too") { steps in
            let pairs = steps.pairs
            steps.pairs = { remapped in
                var result = pairs(remapped)
                for permanent in remapped.values { result[permanent] = permanent }
                return result
            }
        },
        StoreFault("reregisters-old-values", "returns the values before a save to be registered again") { steps in
            steps.reregistered = { state, request in
                var result: [PersistentIdentifier: DefaultSnapshot] = [:]
                for snapshot in request.updated {
                    var values = snapshot.values
                    for (place, slot) in snapshot.layout.slots.enumerated() where slot.name == "rank" {
                        values[place] = .integer(-99)
                    }
                    result[snapshot.persistentIdentifier] = DefaultSnapshot(
                        persistentIdentifier: snapshot.persistentIdentifier, layout: snapshot.layout, values: values)
                }
                return result
            }
        },
        StoreFault("order-of-names", "returns records in the order of their names") { steps in
            steps.order = { state in
                state.records.sorted { left, right in
                    guard case .string(let a)? = left.value[property: "name"],
                        case .string(let b)? = right.value[property: "name"], a != b
                    else { return left.key < right.key }
                    return a < b
                }.map(\.value)
            }
        },
        StoreFault("half-a-save-is-read", "shows readers the records of a save one by one", in: .versioned) { steps in
            steps.beforeSaving = { storage, request in
                guard request.inserted.count > 1, let first = request.inserted.first else { return }
                let number: UInt64 = 1 << 40
                storage.state.withLock { state in
                    state.records[number] = first.copy(
                        persistentIdentifier: .numbered(
                            number, storeIdentifier: storage.identifier,
                            entityName: first.persistentIdentifier.entityName))
                }
                Thread.sleep(forTimeInterval: 0.004)
                storage.state.withLock { $0.records[number] = nil }
            }
        },
        StoreFault("does-not-forget-circles", "loses one of two records that refer to each other when reopened") {
            steps in
            steps.open = { state in
                for (number, record) in state.records {
                    var values = record.values
                    for (place, slot) in record.layout.slots.enumerated() where slot.role == .toOne {
                        if case .identifier(let target) = values[place], (target.sequenceNumber ?? 0) > number,
                            target.entityName == record.persistentIdentifier.entityName
                        {
                            values[place] = .null
                        }
                    }
                    state.records[number] = DefaultSnapshot(
                        persistentIdentifier: record.persistentIdentifier, layout: record.layout, values: values)
                }
            }
        },
    ]
}

extension StoredValue {
    /// The first record that a value refers to and that is not there.
    fileprivate func missing(in state: ReferenceStorage.State) -> PersistentIdentifier? {
        let targets: [PersistentIdentifier] =
            switch self {
            case .identifier(let target): [target]
            case .identifiers(let targets): targets
            default: []
            }
        return targets.first { target in target.sequenceNumber.map { state.records[$0] == nil } ?? true }
    }
}
