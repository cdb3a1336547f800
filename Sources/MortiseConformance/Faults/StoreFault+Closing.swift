import MortiseCore

extension StoreFault {
    static let closingFaults: [StoreFault] = [
        StoreFault("second-close-throws", "throws when it is closed again", in: .planning) { $0.closesOnce = true },
        StoreFault("second-close-throws-behind-a-connection", "throws when its connection is closed again", in: .shared)
        {
            $0.closesOnce = true
        },
        StoreFault("empty-when-closed", "answers with nothing after it was closed", in: .planning) {
            $0.isEmptyWhenClosed = true
        },
        StoreFault("empty-when-disconnected", "answers with nothing after its connection was closed", in: .shared) {
            $0.isEmptyWhenClosed = true
        },
        caching("cached-snapshots-stale", "hands out the first values of records for a rollback") { snapshot, debris in
            guard let number = snapshot.persistentIdentifier.sequenceNumber, let first = debris.first[number] else {
                return snapshot
            }
            return first
        },
        StoreFault("cached-snapshots-empty", "hands out records without their optional values for a rollback") {
            steps in
            steps.cached = { snapshot, _ in
                var values = snapshot.values
                for (place, slot) in snapshot.layout.slots.enumerated()
                where slot.role == .attribute && slot.property.isOptional {
                    values[place] = .null
                }
                return DefaultSnapshot(
                    persistentIdentifier: snapshot.persistentIdentifier, layout: snapshot.layout, values: values)
            }
        },
        StoreFault("cached-snapshots-of-others", "hands out the values of another record for a rollback") { steps in
            let remembered = LastSnapshot()
            steps.cached = { snapshot, _ in
                guard let other = remembered.exchange(snapshot), other.layout.entityName == snapshot.layout.entityName
                else {
                    return snapshot
                }
                return DefaultSnapshot(
                    persistentIdentifier: snapshot.persistentIdentifier, layout: snapshot.layout, values: other.values)
            }
        },
    ]

    private static func caching(
        _ id: String, _ summary: String, _ cached: @escaping @Sendable (DefaultSnapshot, Debris) -> DefaultSnapshot
    ) -> StoreFault {
        StoreFault(id, summary) { steps in
            let finish = steps.finish
            steps.finish = { before, state in
                try finish(before, &state)
                for (number, record) in state.records where state.debris.first[number] == nil {
                    state.debris.first[number] = record
                }
            }
            steps.cached = cached
        }
    }
}
