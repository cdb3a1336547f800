import Foundation
import MortiseCore

extension ReferenceWork {
    /// Posts what makes one state of another: every record that differs, by what follows from others too.
    func announce(from old: ReferenceStorage.State, to new: ReferenceStorage.State, isErasure: Bool = false) {
        guard feed.isFollowed || feed.isFollowedForRecords else { return }
        var changes = ChangeSet()
        changes.isErasure = isErasure
        changes.commit = .init(number: new.version, timestamp: .now)
        let (before, after) = (derived(old), derived(new))
        changes.deleted = old.ordered.filter { after[$0.key] == nil }.map {
            .init(record: $1.persistentIdentifier, layout: $1.layout)
        }
        var inserted: ContiguousArray<PersistentIdentifier> = []
        for number in new.ordered.map(\.key) {
            guard let record = after[number] else { continue }
            guard let earlier = before[number] else {
                inserted.append(record.persistentIdentifier)
                continue
            }
            if earlier.values == record.values || earlier.values.count != record.values.count { continue }
            changes.updated.append(
                .init(
                    record: record.persistentIdentifier, layout: record.layout,
                    slots: SlotSet(record.values.indices.filter { record.values[$0] != earlier.values[$0] })))
        }
        changes.inserted = .init(records: inserted)
        if !changes.isEmpty { steps.announce(changes, feed) }
    }

    /// Posts what a save is asked to do.
    func announce(_ request: DataStoreSaveChangesRequest<DefaultSnapshot>) {
        var changes = ChangeSet()
        changes.updated = request.updated.map {
            .init(record: $0.persistentIdentifier, layout: $0.layout, slots: SlotSet($0.values.indices))
        }
        if !changes.isEmpty { feed.post([changes]) }
    }

    private func derived(_ state: ReferenceStorage.State) -> [UInt64: DefaultSnapshot] {
        let index = InverseIndex(state.ordered.map(\.value))
        return state.records.mapValues { derive($0, index) }
    }
}
