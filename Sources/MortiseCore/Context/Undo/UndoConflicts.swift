/// What of a step cannot be undone without touching what others have done since.
struct UndoConflicts {
    /// The entries that are passed over, by index.
    private(set) var skipped: Set<Int> = []
    /// What the report says of them.
    private(set) var told: [UndoReport.Skipped] = []
    /// The to-one relationships among them, by index, whose old targets may come back.
    private(set) var overruled: [Int] = []
    private let overrules: Bool
    private let record: UndoRecord
    private let journal: UndoJournal
    private let state: ContextState

    init(_ record: UndoRecord, _ journal: UndoJournal, _ state: ContextState) {
        self.record = record
        self.journal = journal
        self.state = state
        overrules = journal.policy.onForeignChange == .restore
        var gone = ObjectSet()
        // What leads to a record that is gone is looked at by itself.
        var leading: [Int] = []
        for (place, entry) in record.entries.enumerated() {
            guard let reason = reason(entry) else { continue }
            skipped.insert(place)
            if reason != .deletedByOthers { leading.append(place) }
            if overrules, reason == .changedByOthers { continue }
            told.append(
                UndoReport.Skipped(
                    model: entry.model.persistentModelID,
                    property: entry.slot.flatMap { slot in
                        let slots = entry.model._layoutForUndo.record.slots
                        return slot < slots.count ? slots[slot].name : nil
                    }, reason: reason))
            switch entry.change {
            case .entered, .left: _ = gone.insert(entry.model)
            default: break
            }
        }
        if skipped.isEmpty { return }
        for (place, entry) in record.entries.enumerated()
        where gone.contains(entry.model) || entry.others.contains(where: { gone.contains($0) }) {
            skipped.insert(place)
        }
        skipRelated(to: leading)
        guard overrules else { return }
        overruled = skipped.filter { place in
            if case .value(let slot, _, _) = record.entries[place].change {
                return record.entries[place].model._layoutForUndo.record.slots[slot].role == .toOne
            }
            return false
        }.sorted()
    }

    /// Why an entry is passed over; nil if it is not, or if there is nothing to do.
    private func reason(_ entry: UndoEntry) -> UndoReport.Skipped.Reason? {
        let model = entry.model
        if journal.foreign.hasDeleted(model), model._table == nil { return .deletedByOthers }
        guard model._table?.state === state else { return nil }
        switch entry.change {
        case .value(let slot, let old, let new):
            let layout = model._layoutForUndo
            let now = model._shownValue(at: slot, in: layout)
            if now.shows(old) { return nil }
            let isChanged =
                new.map { !now.shows($0) } == true
                || journal.foreign.hasChanged(model, at: slot, since: record.serial)
            if isChanged, !overrules || layout.record.slots[slot].role == .toOne { return .changedByOthers }
            if case .model(let target?) = old, isGone(target) {
                return layout.record.slots[slot].property.isOptional ? nil : .targetGone
            }
            return nil
        case .entered:
            guard model._row >= 0, !overrules else { return nil }
            return journal.foreign.hasChanged(model, at: nil, since: record.serial) ? .changedByOthers : nil
        case .added, .removed, .order, .left: return nil
        }
    }

    /// Whether a model was taken out by others, so that nothing can lead to it.
    private func isGone(_ model: any PersistentModel) -> Bool {
        model._table == nil && (journal.foreign.hasDeleted(model) || !journal.departed.contains(model))
            && model._survivor == nil
    }

    private struct Pair: Hashable {
        let low: ObjectIdentifier
        let high: ObjectIdentifier
        init(_ one: AnyObject, _ other: AnyObject) {
            let (one, other) = (ObjectIdentifier(one), ObjectIdentifier(other))
            (low, high) = one < other ? (one, other) : (other, one)
        }
    }

    /// Passes over both sides of a relationship together, and over what one side was before.
    private mutating func skipRelated(to leading: [Int]) {
        var entries: [Pair: [Int]] = [:]
        func pairs(_ entry: UndoEntry) -> [Pair] { entry.others.map { Pair(entry.model, $0) } }
        for (place, entry) in record.entries.enumerated() {
            for pair in pairs(entry) { entries[pair, default: []].append(place) }
        }
        var pending = leading
        while let place = pending.popLast() {
            for pair in pairs(record.entries[place]) {
                for other in entries.removeValue(forKey: pair) ?? [] where skipped.insert(other).inserted {
                    pending.append(other)
                }
            }
        }
    }
}
