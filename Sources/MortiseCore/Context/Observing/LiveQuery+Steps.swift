import Foundation

// How a result in order takes in changed records.

extension LiveQuery {
    /// A row that may have come, gone or moved.
    struct Item {
        var identifier: PersistentIdentifier
        /// Its handle in the order, if it is in it.
        var old: UInt32?
        /// The record as it is now; nil if it is gone.
        var record: RecordReference?
        /// Whether the conditions have to be tested again.
        var isTested: Bool
        var isTold: Bool
        var properties: [String] = []
        /// The temporary identifier, if the record was saved since the last step.
        var temporary: PersistentIdentifier?
    }

    /// The rows that a change concerns; nil if these are more than a number.
    func items(_ batch: LiveBatch, atMost limit: Int) throws -> [Item]? {
        guard case .rows(let rows) = shown, let order else { return [] }
        let includesUnsaved = descriptor.includePendingChanges
        let reader = batch.reader(seesChanges: includesUnsaved)
        var items: [Item] = []
        var known: Set<PersistentIdentifier> = []
        func old(_ identifier: PersistentIdentifier, _ table: Int) -> UInt32? {
            if identifier.isTemporary { return nil }
            return rows.handle(of: identifier, table: table).flatMap { order.order.contains($0) ? $0 : nil }
        }
        if batch.hasSaved {
            for (handle, model) in pending.models where !model._flags.contains(.isInserted) || model._table == nil {
                let isStored = model._table != nil && !model.persistentModelID.isTemporary
                // That of one that was merged away leads to the survivor.
                let identifier =
                    isStored ? model.persistentModelID : pending.identifiers[handle] ?? model.persistentModelID
                let touch = batch.touch(of: identifier)
                known.insert(identifier)
                items.append(
                    Item(
                        identifier: identifier, old: handle,
                        record: isStored ? reader.record(identifier) : nil, isTested: true,
                        isTold: touch.map { $0.isUnsaved || $0.isOfOthers } ?? false,
                        properties: touch.map { properties(of: $0) } ?? [],
                        temporary: pending.identifiers[handle].flatMap { $0 == identifier ? nil : $0 }))
            }
        }
        // Whose own changes decide nothing, though those of related records may.
        var untested: [PersistentIdentifier: Int] = [:]
        var seeds: [LiveTouch] = []
        for touch in batch.touches where includesUnsaved || touch.isStored {
            let isConcerned = reads.concern(touch)
            if isConcerned, reads.depth > 0 { seeds.append(touch) }
            guard let table = family.firstIndex(of: touch.entity), !known.contains(touch.identifier) else { continue }
            let handle = touch.model.flatMap { pending.handle(known: $0) } ?? old(touch.identifier, table)
            let isTested = isConcerned || touch.comesOrGoes
            if !isTested, handle == nil || !tells(touch) { continue }
            if isTested { known.insert(touch.identifier) } else { untested[touch.identifier] = items.count }
            items.append(
                Item(
                    identifier: touch.identifier, old: handle, record: reader.record(touch.identifier),
                    isTested: isTested, isTold: tells(touch), properties: properties(of: touch)))
        }
        if includesUnsaved, seeds.contains(where: { $0.isOfOthers && reader.record($0.identifier) == nil }) {
            seeds += unsavedTouches()
        }
        if !seeds.isEmpty {
            guard let reached = reads.reached(from: seeds, in: batch, reader, atMost: limit) else { return nil }
            for identifier in reached.subtracting(known).sorted() {
                guard let table = family.firstIndex(of: identifier.entityName) else { continue }
                if let place = untested[identifier] {
                    items[place].isTested = true
                    continue
                }
                let handle =
                    old(identifier, table)
                    ?? state.tracker?.inserted.first(identifier).flatMap { pending.handle(known: $0) }
                items.append(
                    Item(
                        identifier: identifier, old: handle, record: reader.record(identifier), isTested: true,
                        isTold: observesOthers))
            }
        }
        return items
    }

    /// The unsaved models of all entities that are read. Nothing leads to them from a record that others have deleted.
    private func unsavedTouches() -> [LiveTouch] {
        guard let tracker = state.tracker else { return [] }
        return [tracker.inserted, tracker.changed].flatMap { models in
            models.compactMap { model in
                let entity = model._table?.layout.entityName ?? ""
                return reads.entities.contains(entity)
                    ? LiveTouch(identifier: model.persistentModelID, entity: entity) : nil
            }
        }
    }

    /// Takes in rows that may have changed.
    func take(_ items: [Item], _ batch: LiveBatch) throws -> ResultsChange? {
        guard var order else { return nil }
        let before = shown.count
        let reader = batch.reader(seesChanges: descriptor.includePendingChanges)
        let numbers = numbers(in: reader)
        let tested = items.compactMap { $0.isTested ? $0.record : nil }
        let matching = Set(
            try QueryExecutor(reader: reader).filter(tested, by: query.conjuncts.map(\.expression)))
        try state.verify(Array(matching), in: reader)
        var entries: [LiveOrder.Entry] = []
        var places: [Int] = []
        for (place, item) in items.enumerated() {
            var entry = LiveOrder.Entry(old: item.old)
            if let record = item.record, !item.isTested || matching.contains(record) {
                guard let handle = handle(of: record, reader, numbers, &pending) else { throw LiveRowsOverflow() }
                entry.new = handle
            }
            if entry.old == nil, entry.new == nil { continue }
            entries.append(entry)
            places.append(place)
        }
        var comparison = LiveComparison(reader, query.order, isOneTable: family.count == 1)
        // Nobody else may hold the order while it changes.
        self.order = nil
        defer { self.order = order }
        let needed = order.needed
        let outcomes = try order.take(
            entries,
            precedes: { try comparison.precedes($0, record(of: $0, numbers), $1, record(of: $1, numbers)) },
            refill: { try refill(needed) })
        note(tests: tested.count, refills: order.refills)
        let evaluator = QueryEvaluator(reader: reader)
        var rows: [TouchedRow] = []
        var renamed: [ResultsChange.Renaming] = []
        var entering: [(index: Int, title: String)] = []
        for outcome in outcomes {
            let item = outcome.entry.map { items[places[$0]] }
            let handle = outcome.entry.flatMap { entries[$0].new } ?? outcome.row
            let identifier =
                item?.identifier ?? pending.identifiers[outcome.row]
                ?? reader.identifier(record(of: outcome.row, numbers))
            rows.append(
                TouchedRow(
                    identifier: identifier, old: outcome.old, new: outcome.new, properties: item?.properties ?? [],
                    isChanged: item?.isTold ?? false))
            if let new = outcome.new, section != nil {
                entering.append((new, try title(of: record(of: handle, numbers), evaluator)))
            }
            if let temporary = item?.temporary, outcome.old != nil, outcome.new != nil {
                renamed.append(.init(temporary: temporary, permanent: identifier))
            }
        }
        for entry in entries {
            if let old = entry.old, old >= LiveRows.firstPending, old != entry.new || !order.order.contains(old) {
                pending.remove(old)
            }
            if let new = entry.new, new >= LiveRows.firstPending, !order.order.contains(new) { pending.remove(new) }
        }
        var sections = SectionDifference()
        if section != nil {
            sections = takeSections(
                leaving: outcomes.compactMap(\.old), entering: entering.sorted { $0.index < $1.index })
        }
        self.order = order
        show()
        let change = ResultsChange(
            rows, oldCount: before, newCount: shown.count, sections: sections, renamed: renamed,
            versions: batch.versions)
        return change.isEmpty ? nil : change
    }
}

/// The order of a live query's rows. What the entering row is compared by is read once.
private struct LiveComparison {
    private let order: [StoreQuery.Order]
    private let evaluator: QueryEvaluator
    private let identity: IdentityOrder
    private var known: (handle: UInt32, keys: [StoredValue])?

    init(_ reader: RecordReader, _ order: [StoreQuery.Order], isOneTable: Bool) {
        self.order = order
        evaluator = QueryEvaluator(reader: reader)
        identity = IdentityOrder(reader: reader, isOneTable: isOneTable)
    }

    /// Whether the first row stands before the second. One of them mostly is the one of the last call.
    mutating func precedes(
        _ a: UInt32, _ first: RecordReference, _ b: UInt32, _ second: RecordReference
    ) throws -> Bool {
        if known?.handle != a, known?.handle != b, !order.isEmpty {
            known = (b, try order.map { try evaluator.sortKey($0.expression, second) })
        }
        for (place, key) in order.enumerated() {
            let left = try value(place, a, first)
            let right = try value(place, b, second)
            switch key.compare(left, right) {
            case .orderedAscending: return true
            case .orderedDescending: return false
            case .orderedSame: continue
            }
        }
        return identity.precedes(first, second)
    }

    private func value(_ place: Int, _ handle: UInt32, _ record: RecordReference) throws -> StoredValue {
        if let known, known.handle == handle { return known.keys[place] }
        return try evaluator.sortKey(order[place].expression, record)
    }
}
