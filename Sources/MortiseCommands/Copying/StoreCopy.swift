#if Tool
import MortiseCore

/// Copies all records of one store into another in batches, in the order of insertion.
///
/// A batch is one save of the target. What refers to records that come later is completed when they are there; only what
/// a relationship requires is kept together in one batch, however large that makes it.
struct StoreCopy {
    /// How much a batch holds at most, unless required relationships tie more together.
    struct Limits {
        var records = 10_000
        var bytes = 16 << 20
        /// How many records a store whose saves cost as much as all it holds takes at least before it writes.
        var bulk = 100_000
    }

    private let source: OpenStore
    private let target: OpenStore
    private let version: any StoreVersion
    private let limits: Limits
    private let interruption: Interruption?
    private let progress: ProgressLine
    private let total: Int
    private var map: RecordMap
    private var copied = 0
    private var mustComplete = false

    init(
        from source: OpenStore, to target: OpenStore, limits: Limits, interruption: Interruption?,
        progress: ProgressLine
    ) throws {
        self.source = source
        self.target = target
        self.limits = limits
        self.interruption = interruption
        self.progress = progress
        version = try source.walkedVersion()
        total = try source.count()
        map = RecordMap(version, source.schema)
    }

    /// Copies the records that the target lacks.
    /// - Parameter isResuming: whether the target holds the beginning already, which is checked.
    /// - Throws: `ToolError.notABeginning`, `.interrupted`, `.unequalCopy`; what the stores throw, also for a part of the
    ///   source that cannot be read. Batches that were saved stay.
    mutating func run(isResuming: Bool) throws {
        if isResuming {
            copied = try CopyBeginning(version, try target.walkedVersion(), source.schema, source.layouts).check(
                &map, target)
            mustComplete = copied > 0
            // No state of the target is kept while it is written.
            target.refresh()
        }
        if total == 0 {
            // A store without records is one too, and has to be there afterwards.
            try target.store.erase()
        } else {
            try target.store.saveInBulk { flush in try copy(flush) }
        }
        try version.check()
        guard copied == total else {
            throw ToolError.unequalCopy(
                detail: "the source reports \(FigureText.plural(total, "record")) but has \(FigureText.count(copied))")
        }
        progress.finish(copied)
    }

    private mutating func copy(_ flush: () throws -> Void) throws {
        var batch = CopyBatch(source.schema, source.layouts)
        var walk = IdentityWalk(version, source.schema)
        for _ in 0..<copied { _ = walk.next() }
        var flushed = copied
        while let element = walk.next() {
            let name = source.schema.entities[element.entity].name
            guard let rows = version.rows(ofEntity: name) else { continue }
            batch.append(element, rows, map)
            guard batch.count >= limits.records || batch.bytes >= limits.bytes, batch.isComplete else { continue }
            try save(&batch)
            if copied - flushed >= max(flushed, limits.bulk) {
                try flush()
                flushed = copied
            }
        }
        if batch.count > 0 { try save(&batch) }
        if mustComplete { try complete() }
    }

    private mutating func save(_ batch: inout CopyBatch) throws {
        // What could not be read must not be written as if it were nothing.
        try version.check()
        let (snapshots, leftOut) = batch.snapshots(map)
        let remapped = try target.save(inserted: snapshots)
        for (element, snapshot) in zip(batch.elements, snapshots) {
            guard let identifier = remapped[snapshot.persistentIdentifier] else {
                throw ModelContextError.storeContract(
                    store: target.name, fault: "It returned no identifier for a new record.")
            }
            map.set(snapshot.layout.entityName, element.row, identifier)
        }
        copied += batch.count
        mustComplete = mustComplete || leftOut
        batch.removeAll()
        progress.update(copied)
        try checkInterruption()
    }

    private func checkInterruption() throws {
        guard interruption?.isRequested == true else { return }
        progress.interrupt()
        throw ToolError.interrupted(
            "interrupted after \(FigureText.count(copied)) of \(FigureText.count(total)) records; run the same "
                + "command with --resume to continue")
    }

    /// Sets the relationships that lead to records which were not there when their owners were saved.
    private func complete() throws {
        target.refresh()
        let current = try target.walkedVersion()
        let stored = source.schema.entities.map { entity in
            (source.layouts[entity.name]?.slots ?? []).enumerated()
                .filter { $0.element.role == .toOne || $0.element.role == .toManyStored }.map(\.offset)
        }
        var updated: [DefaultSnapshot] = []
        var changed: [SlotSet] = []
        for element in IdentityWalk(version, source.schema) where !stored[element.entity].isEmpty {
            let name = source.schema.entities[element.entity].name
            guard let layout = source.layouts[name], let rows = version.rows(ofEntity: name),
                let copy = map.target(of: element.identifier), let others = current.rows(ofEntity: name),
                let row = others.row(of: copy)
            else { continue }
            var values = ContiguousArray<StoredValue>(repeating: .null, count: layout.slots.count)
            var slots = SlotSet()
            for slot in stored[element.entity] {
                let value = rows.value(row: element.row, slot: slot)
                if ContentComparison.areEqual(value, others.value(row: row, slot: slot), map) { continue }
                values[slot] = value.mapped { map.target(of: $0) }
                slots.insert(slot)
            }
            if slots.isEmpty { continue }
            updated.append(DefaultSnapshot(persistentIdentifier: copy, layout: layout, values: values))
            changed.append(slots)
            if updated.count >= limits.records {
                try version.check()
                _ = try target.save(updated: updated, changedSlots: changed)
                updated = []
                changed = []
                try checkInterruption()
            }
        }
        try version.check()
        try current.check()
        if !updated.isEmpty { _ = try target.save(updated: updated, changedSlots: changed) }
    }
}

extension StoredValue {
    /// The value with other identifiers; those without a new one are left out.
    func mapped(_ target: (PersistentIdentifier) -> PersistentIdentifier?) -> StoredValue {
        switch self {
        case .identifier(let identifier): target(identifier).map { .identifier($0) } ?? .null
        case .identifiers(let identifiers): .identifiers(identifiers.compactMap(target))
        default: self
        }
    }
}
#endif
