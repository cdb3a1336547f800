import Foundation
import MortiseCore

extension StoreFault {
    private typealias Request = DataStoreSaveChangesRequest<DefaultSnapshot>

    private static func request(
        _ old: Request, inserted: [DefaultSnapshot]? = nil, updated: [DefaultSnapshot]? = nil,
        deleted: [DefaultSnapshot]? = nil
    ) -> Request {
        Request(
            inserted: inserted ?? old.inserted, updated: updated ?? old.updated, deleted: deleted ?? old.deleted,
            editingState: old.editingState, changedSlots: old.changedSlots)
    }

    static let savingFaults: [StoreFault] = [
        StoreFault(
            "forgets-remapping-in-inserted", "leaves temporary identifiers in the relationships of inserted records"
        ) { steps in
            steps.remapInserted = { snapshot, permanent, _ in
                snapshot.copy(persistentIdentifier: permanent, remappedIdentifiers: nil)
            }
        },
        StoreFault(
            "forgets-remapping-in-updated", "leaves temporary identifiers in the relationships of updated records"
        ) { steps in
            steps.remapUpdated = { snapshot, _ in snapshot }
        },
        StoreFault("drops-last-update", "leaves out the last of several updated records") { steps in
            steps.accept = { old in
                old.updated.count > 1 ? request(old, updated: old.updated.dropLast()) : old
            }
        },
        StoreFault("drops-last-deletion", "leaves out the last of several deleted records") { steps in
            steps.accept = { old in
                old.deleted.count > 1 ? request(old, deleted: old.deleted.dropLast()) : old
            }
        },
        StoreFault("ignores-updates-beside-deletions", "leaves out the updates of a save that also deletes") { steps in
            steps.accept = { old in old.deleted.isEmpty ? old : request(old, updated: []) }
        },
        StoreFault("saves-half", "keeps what a failing save has written before it failed") { steps in
            steps.keepsHalves = true
        },
        StoreFault("swallows-errors", "reports a failed save as done") { steps in
            steps.swallowsErrors = true
        },
        StoreFault("passes-over-missing", "silently ignores updates and deletions of records that are gone") {
            steps in
            steps.passesOverMissing = true
        },
        StoreFault("reuses-identifiers", "gives the identifier of the last record, once deleted, to the next one") {
            steps in
            steps.finish = { _, state in state.nextNumber = (state.records.keys.max() ?? 0) + 1 }
        },
        StoreFault("counter-starts-again", "starts numbering after the records that are there, at every opening") {
            steps in
            steps.open = { state in state.nextNumber = (state.records.keys.max() ?? 0) + 1 }
        },
        StoreFault("names-itself-anew", "has another store identifier at every opening") { steps in
            let name = UUID().uuidString
            steps.storeIdentifier = { _, _ in name }
        },
        StoreFault("loses-on-reopening", "is empty when it is opened again") { steps in
            steps.open = { state in state.records = [:] }
        },
        StoreFault("writes-unchanged-as-null", "clears the optional properties that an update does not change") {
            steps in
            steps.merge = { old, new, slots in
                guard let slots else { return new }
                var values = new.values
                for (place, slot) in new.layout.slots.enumerated() where !slots.contains(place) {
                    values[place] = slot.role == .attribute && slot.property.isOptional ? .null : old.values[place]
                }
                return DefaultSnapshot(
                    persistentIdentifier: old.persistentIdentifier, layout: old.layout, values: values)
            }
        },
        StoreFault(
            "writes-what-was-not-read",
            "writes every property of a changed record, and null for those that were not read",
            in: .planning
        ) { steps in
            let merge = steps.merge
            steps.merge = { old, new, _ in merge(old, new, nil) }
        },
        StoreFault("never-clears", "takes a null in an update for \"not changed\"") { steps in
            steps.merge = { old, new, slots in
                var values = old.values
                for place in values.indices where slots?.contains(place) ?? true {
                    if !new.values[place].isNull { values[place] = new.values[place] }
                }
                return DefaultSnapshot(
                    persistentIdentifier: old.persistentIdentifier, layout: old.layout, values: values)
            }
        },
        StoreFault("compares-before-writing", "does not write a value that == holds for the same") { steps in
            steps.merge = { old, new, slots in
                var values = old.values
                for place in values.indices where slots?.contains(place) ?? true {
                    if !ReferenceSteps.looksEqual(old.values[place], new.values[place]) {
                        values[place] = new.values[place]
                    }
                }
                return DefaultSnapshot(
                    persistentIdentifier: old.persistentIdentifier, layout: old.layout, values: values)
            }
        },
        StoreFault("refuses-empty-saves", "takes a save without changes for an error") { steps in
            steps.accept = { request in
                if request.inserted.isEmpty, request.updated.isEmpty, request.deleted.isEmpty {
                    throw ReferenceStoreError.refused
                }
                return request
            }
        },
        StoreFault("names-another-store", "gives records identifiers of another store") { steps in
            steps.identify = { number, store, entity in
                .numbered(number, storeIdentifier: "not \(store)", entityName: entity)
            }
        },
        StoreFault("nil-is-unique", "holds two nils for equal in a unique set of properties") { steps in
            steps.finish = { _, state in
                let accounts = state.records.values.filter { $0.persistentIdentifier.entityName == "Account" }
                let pairs = accounts.map { [$0[property: "country"], $0[property: "number"]] }
                if Set(pairs).count < pairs.count { throw ReferenceStoreError.refused }
            }
        },
        StoreFault("unique-one-by-one", "holds each property of a compound constraint for unique by itself") { steps in
            steps.finish = { _, state in
                let countries = state.records.values.compactMap { $0[property: "country"] }
                if Set(countries).count < countries.count { throw ReferenceStoreError.refused }
            }
        },
        StoreFault("erases-one-entity-less", "leaves the vehicles when it erases") { steps in
            steps.erase = { state in
                state.records = state.records.filter { $0.value.persistentIdentifier.entityName == "Vehicle" }
            }
        },
    ]
}

extension ReferenceSteps {
    /// Equality as `==` has it.
    static func looksEqual(_ left: StoredValue, _ right: StoredValue) -> Bool {
        switch (left, right) {
        case (.double(let left), .double(let right)): left == right
        case (.float(let left), .float(let right)): left == right
        default: left == right
        }
    }
}
