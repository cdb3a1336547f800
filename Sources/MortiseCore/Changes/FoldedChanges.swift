/// What transactions that follow one another have made of the records of a store, taken together: for each record and slot the first value
/// before and the last value after. Slots are those of the program's models.
struct FoldedChanges {
    /// What became of one record.
    struct Record {
        let layout: RecordLayout
        /// The model of the record; nil under a schema without models.
        let model: ModelLayout?
        /// Whether there was such a record before.
        var wasThere: Bool
        /// Whether there is one afterwards.
        var isThere: Bool
        /// The slots whose values changed; all that are kept of a record that came or went.
        var changed = SlotSet()
        /// The values before, as far as they are known.
        var old: [Int: StoredValue] = [:]
        /// The values after, as far as they are known.
        var new: [Int: StoredValue] = [:]
        /// The number of the last transaction that changed it.
        var last: Int64

        /// The changed slots whose values before are not known.
        var withoutOld: [Int] { wasThere ? changed.slots.filter { old[$0] == nil } : [] }
    }

    private(set) var records: [PersistentIdentifier: Record] = [:]
    /// The number of a transaction that removed all records, or changed them by a migration, or of whose changes nothing is known.
    private(set) var barrier: (number: Int64, kind: HistoryEntry.Kind)?
    private let schema: Schema
    private let recordLayouts: [String: RecordLayout]
    private var layouts: [ObjectIdentifier: (stored: RecordLayout, layout: RecordLayout, places: [Int?])] = [:]

    init(_ schema: Schema) {
        self.schema = schema
        recordLayouts = schema.recordLayouts
    }

    /// Takes in the next transaction.
    mutating func take(_ changes: ChangeSet, _ entry: HistoryEntry) {
        let isWhole = !changes.isIncomplete && !changes.isErasure && entry.kind == .changes
        let isHarmlessMigration = entry.kind == .migration && changes.isEmpty
        if !isWhole, !isHarmlessMigration { noteBarrier(entry.number, changes.isErasure ? .erasure : entry.kind) }
        for deletion in changes.deleted { take(deletion, entry.number) }
        var changes = changes
        changes.mergeUpdates()
        for update in changes.updated { take(update, entry.number) }
        if changes.inserted.hasValues {
            for snapshot in changes.inserted.values { take(snapshot, entry.number) }
        } else {
            for record in changes.inserted.records { takeInsertion(of: record, entry.number) }
        }
    }

    /// Notes that the values before some transaction cannot be told from those after it.
    mutating func noteBarrier(_ number: Int64, _ kind: HistoryEntry.Kind) { barrier = (number, kind) }

    private mutating func place(_ stored: RecordLayout) -> (layout: RecordLayout, places: [Int?])? {
        if let known = layouts[ObjectIdentifier(stored)] { return (known.layout, known.places) }
        guard let layout = recordLayouts[stored.entityName] else { return nil }
        let places = stored.slots.map { layout.slot(named: $0.name) }
        layouts[ObjectIdentifier(stored)] = (stored, layout, places)
        return (layout, places)
    }

    private mutating func take(_ snapshot: DefaultSnapshot, _ number: Int64) {
        guard let (layout, places) = place(snapshot.layout) else { return }
        var values: [Int: StoredValue] = [:]
        for (slot, place) in zip(snapshot.values.indices, places) {
            if let place { values[place] = snapshot.values[slot] }
        }
        takeInsertion(of: snapshot.persistentIdentifier, layout, values, number)
    }

    private mutating func takeInsertion(of record: PersistentIdentifier, _ number: Int64) {
        guard let layout = recordLayouts[record.entityName] else { return }
        takeInsertion(of: record, layout, nil, number)
    }

    private mutating func takeInsertion(
        of record: PersistentIdentifier, _ layout: RecordLayout, _ values: [Int: StoredValue]?, _ number: Int64
    ) {
        var found =
            records[record]
            ?? Record(
                layout: layout, model: schema.layouts[layout.entityName], wasThere: false, isThere: true, last: number)
        found.isThere = true
        found.last = number
        let kept = layout.keptInHistory
        found.changed.formUnion(SlotSet(kept))
        found.new = [:]
        if let values { for slot in kept { found.new[slot] = values[slot] ?? .null } }
        records[record] = found
    }

    private mutating func take(_ update: ChangeSet.Update, _ number: Int64) {
        guard let (layout, places) = place(update.layout) else { return }
        var found =
            records[update.record]
            ?? Record(
                layout: layout, model: schema.layouts[layout.entityName], wasThere: true, isThere: true, last: number)
        found.last = number
        for slot in update.slots.slots {
            guard places.indices.contains(slot), let place = places[slot] else { continue }
            if found.wasThere, !found.changed.contains(place) {
                found.old[place] = update.oldValue(at: slot).flatMap { layout.known($0, at: place) }
            }
            found.changed.insert(place)
            found.new[place] = update.value(at: slot).flatMap { layout.known($0, at: place) }
        }
        records[update.record] = found
    }

    private mutating func take(_ deletion: ChangeSet.Deletion, _ number: Int64) {
        guard let (layout, places) = place(deletion.layout) else { return }
        var found =
            records[deletion.record]
            ?? Record(
                layout: layout, model: schema.layouts[layout.entityName], wasThere: true, isThere: false, last: number)
        guard found.wasThere else {
            records[deletion.record] = nil
            return
        }
        found.isThere = false
        found.last = number
        found.new = [:]
        for slot in deletion.preserved.slots {
            guard places.indices.contains(slot), let place = places[slot], deletion.values.indices.contains(slot),
                !found.changed.contains(place)
            else { continue }
            found.old[place] = layout.known(deletion.values[slot], at: place)
        }
        found.changed.formUnion(SlotSet(layout.keptInHistory))
        records[deletion.record] = found
    }

    /// The slots of records whose values before are not known.
    var withoutOld: [PersistentIdentifier: SlotSet] {
        records.compactMapValues { record in
            let slots = record.withoutOld
            return slots.isEmpty ? nil : SlotSet(slots)
        }
    }

    /// Takes values before that were found elsewhere.
    mutating func complete(_ values: [PersistentIdentifier: [Int: StoredValue]]) {
        for (record, found) in values {
            guard var known = records[record] else { continue }
            for (slot, value) in found where known.old[slot] == nil {
                known.old[slot] = known.layout.known(value, at: slot)
            }
            records[record] = known
        }
    }
}

extension RecordLayout {
    /// The slots that a history keeps: all that a record itself has.
    var keptInHistory: [Int] {
        slots.indices.filter { slot in
            slots[slot].role != .toManyDerived
                && slots[slot].property.attribute?.options.contains(.ephemeral) != true
        }
    }

    /// A value that a history has; nil for one that the slot cannot have, like a reference to a file of external data.
    func known(_ value: StoredValue, at slot: Int) -> StoredValue? {
        if value.isNull { return value }
        switch slots[slot].role {
        case .attribute:
            guard let kind = slots[slot].property.attribute?.kind else { return nil }
            return value.fits(kind) ? value : nil
        case .toOne:
            if case .identifier = value { return value }
            return nil
        case .toManyStored, .toManyDerived:
            if case .identifiers = value { return value }
            return nil
        }
    }
}

extension HistoryArchive {
    /// Takes the transactions with numbers in a range together.
    /// - Throws: why the history cannot be read.
    func fold(_ numbers: ClosedRange<Int64>, under schema: Schema) throws -> FoldedChanges {
        var folded = FoldedChanges(schema)
        var expected = numbers.lowerBound
        try readChangeSets(numbers) { entry, changes in
            if entry.number > expected { folded.noteBarrier(expected, .stub) }
            expected = entry.number + 1
            if entry.kind == .stub {
                folded.noteBarrier(entry.number, .stub)
            } else {
                folded.take(try changes(), entry)
            }
            return true
        }
        if expected <= numbers.upperBound { folded.noteBarrier(expected, .stub) }
        return folded
    }

    /// Looks for the values that slots of records had after a transaction, in what earlier transactions have written: from the end
    /// towards the beginning, until all are found or something is missing.
    /// - Throws: why the history cannot be read.
    func values(
        of wanted: [PersistentIdentifier: SlotSet], after number: Int64, under schema: Schema
    ) throws -> [PersistentIdentifier: [Int: StoredValue]] {
        let horizon = try historyBounds().horizon
        var found: [PersistentIdentifier: [Int: StoredValue]] = [:]
        var open = wanted
        var end = number
        var stretch: Int64 = 256
        while end > horizon, !open.isEmpty {
            let start = max(horizon + 1, end - stretch + 1)
            // What is missing parts what comes before it from what comes after.
            var parts = [FoldedChanges(schema)]
            var expected = start
            try readChangeSets(start...end) { entry, changes in
                let isPart = entry.kind == .stub || entry.kind == .erasure || entry.number > expected
                expected = entry.number + 1
                if isPart { parts.append(FoldedChanges(schema)) }
                if entry.kind == .stub { return true }
                parts[parts.count - 1].take(try changes(), entry)
                return true
            }
            if expected <= end { parts.append(FoldedChanges(schema)) }
            guard let last = parts.last else { break }
            for (record, slots) in open {
                guard let written = last.records[record] else { continue }
                var left = SlotSet()
                for slot in slots.slots {
                    if let value = written.new[slot] {
                        found[record, default: [:]][slot] = value
                    } else if !written.changed.contains(slot) {
                        left.insert(slot)
                    }
                }
                open[record] = left.isEmpty ? nil : left
            }
            if parts.count > 1 { break }
            end = start - 1
            stretch *= 2
        }
        return found
    }
}
