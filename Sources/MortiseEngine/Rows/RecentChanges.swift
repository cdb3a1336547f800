import MortiseCore

/// What the latest transactions touched, so that a save made for an older version can be carried out on top of a newer one
/// where that makes no difference.
struct RecentChanges: Sendable {
    private struct Footprint: Sendable {
        let number: UInt64
        /// Records that existed before and were changed or deleted; nil if it may be any.
        let touched: Set<PersistentIdentifier>?
    }
    /// Savers at one time are fewer than transactions in here, so that none finds its base gone.
    private static let most = 64
    private static let mostRecords = 256

    private var footprints: [Footprint] = []
    /// The marks of the latest transactions, each at its number's remainder.
    private var marks: [(number: UInt64, mark: UInt64)] = Array(repeating: (0, 0), count: 64)
    private let plainEntities: Set<String>

    init(_ catalog: Catalog) { plainEntities = catalog.plainEntities }

    mutating func note(_ mark: UInt64, of number: UInt64) {
        marks[Int(number % UInt64(marks.count))] = (number, mark)
    }

    /// The mark of one of the latest transactions; nil for others.
    func mark(of number: UInt64) -> UInt64? {
        let found = marks[Int(number % UInt64(marks.count))]
        return found.number == number && number > 0 ? found.mark : nil
    }

    /// Notes a transaction that may have touched anything.
    mutating func append(_ number: UInt64) { append(Footprint(number: number, touched: nil)) }

    /// Notes a transaction that carried out a request.
    mutating func append(
        _ number: UInt64, _ request: DataStoreSaveChangesRequest<DefaultSnapshot>, _ changes: ChangeSet
    ) {
        var touched: Set<PersistentIdentifier>?
        let count =
            request.updated.count + request.deleted.count + changes.updated.count + changes.deleted.count
        if count <= Self.mostRecords, !changes.isErasure, let updated = updates(of: request) {
            touched = updated
            touched?.formUnion(request.deleted.lazy.map(\.persistentIdentifier))
            touched?.formUnion(changes.updated.lazy.map(\.record))
            touched?.formUnion(changes.deleted.lazy.map(\.record))
        }
        append(Footprint(number: number, touched: touched))
    }

    private mutating func append(_ footprint: Footprint) {
        if footprints.count == Self.most { footprints.removeFirst() }
        footprints.append(footprint)
    }

    /// Whether a request would be the same if it had been made for a later version: it deletes nothing (what a deletion
    /// takes along depends on what is there), and changes no record that others have changed since.
    ///
    /// What the transaction checks itself, such as uniqueness and that targets are there, is not looked at.
    func allow(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>, madeFor base: UInt64, onTopOf latest: UInt64
    ) -> Bool {
        guard base < latest, latest - base <= UInt64(footprints.count), request.deleted.isEmpty,
            request.updated.count <= Self.mostRecords, isPlain(request.inserted), let own = updates(of: request)
        else { return false }
        let since = footprints.suffix(Int(latest - base))
        return since.first?.number == base + 1 && since.last?.number == latest
            && since.allSatisfy { $0.touched?.isDisjoint(with: own) ?? false }
    }

    private func isPlain(_ snapshots: [DefaultSnapshot]) -> Bool {
        // Snapshots of one layout mostly come together.
        var last: RecordLayout?
        return snapshots.allSatisfy { snapshot in
            if snapshot.layout === last { return true }
            last = snapshot.layout
            return plainEntities.contains(snapshot.layout.entityName)
        }
    }

    /// The records that a request itself changes, without those derived from others; nil if their order matters.
    private func updates(of request: DataStoreSaveChangesRequest<DefaultSnapshot>) -> Set<PersistentIdentifier>? {
        guard isPlain(request.updated) else { return nil }
        var found: Set<PersistentIdentifier> = []
        for (index, snapshot) in request.updated.enumerated() {
            let slots = snapshot.layout.slots
            let isOwn =
                index >= request.changedSlots.count
                || request.changedSlots[index].slots.contains { $0 >= slots.count || slots[$0].role != .toManyDerived }
            if isOwn { found.insert(snapshot.persistentIdentifier) }
        }
        return found
    }
}
