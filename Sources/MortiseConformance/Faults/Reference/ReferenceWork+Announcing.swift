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
        changes.inserted = .init(
            records: after.filter { before[$0.key] == nil }.sorted { $0.key < $1.key }.map(\.value.persistentIdentifier)
        )
        changes.deleted = before.filter { after[$0.key] == nil }.sorted { $0.key < $1.key }.map {
            .init(record: $1.persistentIdentifier, layout: $1.layout)
        }
        for (number, record) in after.sorted(by: { $0.key < $1.key }) {
            guard let earlier = before[number], earlier.values != record.values,
                earlier.values.count == record.values.count
            else { continue }
            changes.updated.append(
                .init(
                    record: record.persistentIdentifier, layout: record.layout,
                    slots: SlotSet(record.values.indices.filter { record.values[$0] != earlier.values[$0] })))
        }
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
