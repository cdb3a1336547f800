import MortiseCore
import Synchronization

/// One writer's work on the next version. Dropped without a trace unless it is finished and published.
final class EngineTransaction {
    let base: EngineVersion
    let catalog: Catalog
    // Of the properties that are looked at for each row, checking each access for exclusivity would take longer than the
    // access. One thread has a transaction, and what `bulk` runs while it is changed knows nothing of it.
    /// By entity.
    @exclusivity(unchecked) private var tables: [TableWriter?]
    var nextSequence: UInt64
    private let owner = EngineTransaction.nextOwner()
    var isChanged = false
    /// References written by this transaction; their targets have to be there at its end.
    @exclusivity(unchecked) var written: [WrittenReference] = []
    var deleted: [(entity: Int, sequence: UInt64)] = []
    var changes = ChangeSet()
    /// The files that data of this transaction were written to.
    private(set) var outside: [ExternalReference.Name] = []
    /// Entries of indexes and links that are put in together, while many records are inserted.
    @exclusivity(unchecked) var bulk: BulkEntries?
    /// What records got that could not have their old identifiers again.
    @exclusivity(unchecked) var moved: [PersistentIdentifier: PersistentIdentifier] = [:]
    let key = KeyBuffer()
    private var lastArrangement: Arrangement?

    struct WrittenReference {
        let entity: Int
        let row: Int
        let relationship: Catalog.RelationshipSlot
        let target: Int
        let sequence: UInt64
    }

    private static let owners = Atomic<UInt64>(1)
    /// A number for the writer of a version, which no other has.
    static func nextOwner() -> UInt64 { owners.add(1, ordering: .relaxed).newValue }

    /// Whether what is written was made by another process, or comes out of a file.
    private let isForeign: Bool

    init(_ base: EngineVersion, isForeign: Bool = false) {
        self.base = base
        self.isForeign = isForeign
        catalog = base.catalog
        nextSequence = base.nextSequence
        tables = Array(repeating: nil, count: catalog.plans.count)
    }

    /// The number of the version that the transaction starts from.
    var baseNumber: UInt64 { base.number }

    func table(_ entity: Int) -> TableWriter {
        if let table = tables[entity] { return table }
        let plan = catalog.plans[entity]
        let table = TableWriter(plan, from: base.tables[plan.entityName], owner: owner, isForeign: isForeign)
        tables[entity] = table
        return table
    }

    /// The current place of a record; nil if it does not exist.
    func find(_ identifier: PersistentIdentifier) -> (table: TableWriter, entity: Int, row: Int)? {
        guard let entity = catalog.entity(of: identifier), let sequence = identifier.sequenceNumber else { return nil }
        let table = table(entity)
        return table.row(sequence).map { (table, entity, $0) }
    }

    // MARK: A save

    func apply(_ request: DataStoreSaveChangesRequest<DefaultSnapshot>) throws -> NewIdentifiers {
        let first = nextSequence
        let runs = try runs(of: request.inserted)
        let new = try number(request.inserted, runs)
        if !new.isOfNewRecords, request.inserted.contains(where: { !$0.persistentIdentifier.isTemporary }) {
            nextSequence = first
            return try applyRestoring(request)
        }
        try deleteAndUpdate(request, new)
        if !request.inserted.isEmpty {
            isChanged = true
            changes.inserted = ChangeSet.Insertions(request.inserted, new: new)
            try insertRuns(request.inserted, runs, from: first, new)
        }
        try settle()
        return new
    }

    func insertRuns(
        _ inserted: [DefaultSnapshot], _ runs: [(places: Range<Int>, arrangement: Arrangement)], from first: UInt64,
        _ new: NewIdentifiers
    ) throws {
        if inserted.count >= BulkEntries.least { bulk = BulkEntries(catalog) }
        try inserted.withUnsafeBufferPointer { snapshots in
            for (places, arrangement) in runs {
                try insert(
                    UnsafeBufferPointer(rebasing: snapshots[places]), arrangement,
                    from: first + UInt64(places.lowerBound), new)
            }
        }
        try finishBulk()
    }

    func deleteAndUpdate(_ request: DataStoreSaveChangesRequest<DefaultSnapshot>, _ new: NewIdentifiers) throws {
        for snapshot in request.deleted { try delete(snapshot.persistentIdentifier) }
        var reindexed: [(table: TableWriter, entity: Int, row: Int)] = []
        for (index, snapshot) in request.updated.enumerated() {
            let slots = index < request.changedSlots.count ? request.changedSlots[index] : nil
            let identifier = snapshot.persistentIdentifier
            guard let place = find(identifier) else { throw EngineError.noSuchRecord(identifier) }
            if try update(snapshot, slots, new, place) { reindexed.append(place) }
        }
        for place in reindexed { try index(place.table, place.entity, place.row) }
    }

    /// New records side by side whose values lie alike.
    func runs(of snapshots: [DefaultSnapshot]) throws -> [(places: Range<Int>, arrangement: Arrangement)] {
        var runs: [(places: Range<Int>, arrangement: Arrangement)] = []
        var start = 0
        while start < snapshots.count {
            let layout = snapshots[start].layout
            var end = start + 1
            while end < snapshots.count, snapshots[end].layout === layout { end += 1 }
            runs.append((start..<end, try arrangement(of: layout)))
            start = end
        }
        return runs
    }

    func number(
        _ snapshots: [DefaultSnapshot], _ runs: [(places: Range<Int>, arrangement: Arrangement)]
    ) throws -> NewIdentifiers {
        // No store would read a higher one.
        guard nextSequence < EngineVersion.numberLimit,
            UInt64(snapshots.count) < EngineVersion.numberLimit - nextSequence
        else {
            throw EngineError.noMoreNumbers(store: catalog.storeIdentifier)
        }
        var temporary: ContiguousArray<PersistentIdentifier> = []
        var permanent: ContiguousArray<PersistentIdentifier> = []
        temporary.reserveCapacity(snapshots.count)
        permanent.reserveCapacity(snapshots.count)
        // Not the snapshots themselves: a copy counts references to values that lie in no cache.
        for place in snapshots.indices { temporary.append(snapshots[place].persistentIdentifier) }
        for (places, arrangement) in runs {
            let identifiers = arrangement.plan.identifiers
            for place in places { permanent.append(identifiers[nextSequence + UInt64(place)]) }
        }
        nextSequence += UInt64(snapshots.count)
        return NewIdentifiers(temporary: temporary, permanent: permanent)
    }

    /// - Returns: whether the row was taken out of the indexes.
    func update(
        _ snapshot: DefaultSnapshot, _ slots: SlotSet?, _ new: NewIdentifiers?,
        _ place: (table: TableWriter, entity: Int, row: Int)
    ) throws -> Bool {
        let (table, entity, row) = place
        let arrangement = try arrangement(of: snapshot.layout)
        let plan = table.plan
        var changed = SlotSet()
        let isIndexed = plan.indexes.contains { $0.slots.contains { slots?.contains($0) ?? true } }
        if isIndexed { unindex(table, row) }
        for column in plan.columns where column.role == .attribute && slots?.contains(column.slot) ?? true {
            if column.isEphemeral { continue }
            let value = arrangement.value(of: snapshot, at: column.slot)
            if table.value(row, column.slot).isIdentical(to: value) { continue }
            if try !write(value, row, column, table, isNew: false) {
                throw unfit(value, column, snapshot.persistentIdentifier)
            }
            changed.insert(column.slot)
        }
        for relationship in catalog.relationships[entity] where slots?.contains(relationship.slot) ?? true {
            let value = arrangement.value(of: snapshot, at: relationship.slot)
            let isChanged =
                relationship.isToMany
                ? try setMembers(value, relationship, entity, table, row, new, isNew: false)
                : try setTarget(value, relationship, entity, table, row, new, isNew: false)
            if isChanged { changed.insert(relationship.slot) }
        }
        if !changed.isEmpty {
            isChanged = true
            changes.updated.append(
                .init(record: snapshot.persistentIdentifier, layout: plan.layout, slots: changed))
        }
        return isIndexed
    }

    func write(
        _ value: StoredValue, _ row: Int, _ column: Column, _ table: TableWriter, isNew: Bool
    ) throws -> Bool {
        switch value {
        // Nobody but the store itself knows what is in its files.
        case .array where column.kind == .data: return false
        case .data(let data) where column.storesExternally && data.count >= ExternalFiles.threshold:
            guard let external = catalog.external, catalog.writesExternal else { break }
            let reference = try external.write(data)
            outside.append(reference.name)
            return table.write(reference.storedForm, row, column, isNew: isNew)
        default: break
        }
        if value.isNull, !column.isOptional, !column.isEphemeral {
            guard let fallback = column.defaultValue, !fallback.isNull else { return false }
            return table.write(fallback, row, column, isNew: isNew)
        }
        return table.write(value, row, column, isNew: isNew)
    }

    func unfit(_ value: StoredValue, _ column: Column, _ record: PersistentIdentifier) -> EngineError {
        let property = catalog.plans[catalog.entity(of: record) ?? 0].layout.slots[column.slot].name
        // A coded value of the right kind is refused for nothing but its size.
        if column.kind == .coded, value.fits(.coded) {
            return .codedValueTooLarge(entity: record.entityName, property: property, record: record)
        }
        return .unfitValue(entity: record.entityName, property: property, record: record, found: "\(value)")
    }

    // MARK: Snapshots

    func arrangement(of layout: RecordLayout) throws -> Arrangement {
        if let lastArrangement, lastArrangement.layout === layout { return lastArrangement }
        guard let arrangement = catalog.arrangement(of: layout) else {
            throw EngineError.unknownEntity(layout.entityName)
        }
        lastArrangement = arrangement
        return arrangement
    }

    // MARK: Deletion

    func delete(_ identifier: PersistentIdentifier) throws {
        guard let (table, entity, row) = find(identifier) else { throw EngineError.noSuchRecord(identifier) }
        delete(table, entity, row)
    }

    func delete(_ table: TableWriter, _ entity: Int, _ row: Int) {
        unindex(table, row)
        let sequence = table.sequence(row)
        for relationship in catalog.relationships[entity] { unlink(relationship, entity, table, row, sequence) }
        table.remove(row)
        deleted.append((entity, sequence))
        changes.deleted.append(.init(record: catalog.identifier(sequence, entity), layout: table.plan.layout))
        isChanged = true
    }

    /// Deletes records and clears the references to them, whatever delete rules say.
    func deleteWithReferences(_ records: [PersistentIdentifier]) throws {
        for record in records { try delete(record) }
        try clearReferencesToDeleted(shown: true)
        try settle()
        changes.mergeUpdates()
    }

    func deleteAll(ofEntity name: String, includingSubentities: Bool) throws {
        guard let number = catalog.numbers[name] else { throw EngineError.unknownEntity(name) }
        let entities = includingSubentities ? catalog.subtrees[number].sorted() : [number]
        for entity in entities {
            let table = table(entity)
            var rows: [Int] = []
            table.forEachRow { row, _ in rows.append(row) }
            for row in rows { delete(table, entity, row) }
        }
        try clearReferencesToDeleted(shown: true)
        try settle()
    }

    func erase() {
        for entity in catalog.plans.indices { table(entity).erase() }
        isChanged = true
        changes.isErasure = true
    }

    // MARK: The end

    /// Whether the version before keeps little memory that the one after does not: everything in it is in both, but for the
    /// ends of tables and the ways to a few entries of indexes.
    var isShortInsertion: Bool {
        changes.inserted.count <= 64 && changes.updated.isEmpty && changes.deleted.isEmpty && !changes.isErasure
            && tables.allSatisfy { $0?.current.byteCount ?? 0 <= 1 << 20 }
    }

    /// The version that this transaction makes; nil if nothing changed.
    /// - Throws: `EngineError.noMoreNumbers`.
    func finished() throws -> EngineVersion? {
        guard isChanged else { return nil }
        guard base.number < EngineVersion.numberLimit - 1 else {
            throw EngineError.noMoreNumbers(store: catalog.storeIdentifier)
        }
        return version(base.number + 1, nextSequence)
    }

    /// As `finished`, under a number that was given elsewhere.
    /// - Throws: the error of what the base should have and cannot be read.
    func finished(number: UInt64, nextSequence: UInt64) throws -> EngineVersion {
        try base.checkDamage()
        return version(number, nextSequence)
    }

    private func version(_ number: UInt64, _ nextSequence: UInt64) -> EngineVersion {
        var all = base.tables
        for table in tables {
            if let table { all[table.plan.entityName] = table.finished() }
        }
        return EngineVersion(
            number: number, nextSequence: nextSequence, tables: all, catalog: catalog, packed: base.packed)
    }
}
