#if Tool
import Foundation
import MortiseCore

/// Imports the records of a file in batches, each of which is one save.
///
/// An import that goes on after an interruption reads the file from its beginning, makes the same batches again, and finds those that
/// were saved among the store's records instead of saving them.
struct RecordImport {
    private let target: OpenStore
    private let reading: RecordReading
    private let rejected: RejectedRecords
    private let interruption: Interruption
    private let batchSize: Int
    private var state: ImportState
    /// Where the state is kept; nil for an import that cannot go on.
    private let statePath: String?
    private var keys: ImportedKeys
    private var batch: ImportBatch
    /// Records that wait for others until the end of the file.
    private var aside: [ImportBatch.Element] = []
    private var later: [(record: PersistentIdentifier, entity: String, slot: Int, keys: [String], line: Int)] = []
    /// The saved records that an interrupted import has left.
    private var replay: [IdentityWalk.Element] = []
    private var replayed = 0
    private var version: (any StoreVersion)?
    private(set) var imported = 0
    /// How many relationships lead to records that the file does not have.
    private(set) var leftOut = 0
    /// How many of them are told one by one.
    private static let told = 20

    /// How many culprits of one batch are looked for, before it is halved.
    private static let culprits = 16

    init(
        into target: OpenStore, _ reading: RecordReading, _ state: ImportState, at statePath: String?,
        rejected: RejectedRecords, interruption: Interruption
    ) {
        self.target = target
        self.reading = reading
        self.rejected = rejected
        self.interruption = interruption
        self.state = state
        self.statePath = statePath
        batchSize = state.batch
        keys = ImportedKeys(target.schema)
        batch = ImportBatch(target.layouts)
    }

    /// Looks for the records that an interrupted import has saved.
    /// - Throws: `ToolError.notResumable`; what the store throws.
    mutating func resume() throws {
        let version = try target.walkedVersion()
        replay = Array(IdentityWalk(version, target.schema).dropFirst(state.held))
        try version.check()
        self.version = replay.isEmpty ? nil : version
        if replay.isEmpty { target.refresh() }
    }

    /// Takes records until there are no more.
    /// - Parameters:
    ///   - flush: makes durable what was saved.
    ///   - next: the next record of the file: its line, its text, and its members, or why the line is not a record.
    /// - Throws: `ToolError`; what the store throws.
    mutating func run(
        _ flush: () throws -> Void,
        next: () throws -> (line: Int, text: [UInt8], members: Result<[(String, LineValue)], BadLine>)?
    ) throws {
        var flushed = 0
        var count = 0
        func following() throws -> (line: Int, text: [UInt8], members: Result<[(String, LineValue)], BadLine>)? {
            do { return try next() } catch ToolError.interrupted { throw interrupted() }
        }
        while let (line, text, members) = try following() {
            count += 1
            if count % 1_000 == 0, interruption.isRequested { throw interrupted() }
            do {
                let record = try reading.record(try members.get())
                if let key = record.key, !keys.note(key, record.entity) {
                    throw BadLine(reason: "an earlier record of the file has the number \(key.shown(limit: 60)) too")
                }
                if let reason = state.refused[line] { throw BadLine(reason: reason) }
                batch.append(line, text, record)
            } catch let error as BadLine { try rejected.add(line, text, error.reason) }
            guard batch.elements.count >= batchSize || batch.bytes > 64 << 20 else { continue }
            if !batch.isComplete(keys) {
                guard batch.elements.count >= 4 * batchSize || batch.bytes > 256 << 20 else { continue }
                aside += batch.takeIncomplete(keys).map(\.element)
            }
            try saveBatch()
            if imported - flushed >= max(flushed, 100_000) {
                try flush()
                flushed = imported
            }
        }
        try finish()
    }

    private mutating func finish() throws {
        aside += batch.takeIncomplete(keys).map(\.element)
        try saveBatch()
        for element in aside { batch.append(element.line, element.text, element.record) }
        aside = []
        for (element, property, key) in batch.takeIncomplete(keys) {
            try rejected.add(
                element.line, element.text,
                "\(property): the file has no record with the number \(key.shown(limit: 60))")
        }
        try saveBatch()
        guard replayed == replay.count else {
            throw ToolError.notResumable(
                store: target.name,
                detail: "it has \(FigureText.plural(replay.count - replayed, "record")) more than the file")
        }
        try endReplay()
        try connect()
    }

    private mutating func saveBatch() throws {
        guard !batch.elements.isEmpty else { return }
        try save(batch)
        batch.removeAll()
        if interruption.isRequested { throw interrupted() }
    }

    private func interrupted() -> ToolError {
        .interrupted(
            "interrupted after \(FigureText.plural(imported, "record")); "
                + (statePath == nil ? "they are saved" : "run the same command with --resume to go on"))
    }

    // MARK: - Saving

    /// Saves a batch without the records that the store refuses.
    private mutating func save(_ batch: ImportBatch) throws {
        var batch = batch
        var culprits = 0
        while !batch.elements.isEmpty {
            let (snapshots, leftOut) = batch.snapshots(keys)
            if let found = try replayed(snapshots) {
                if found.count < snapshots.count {
                    // The store had refused a record, and the batch was halved.
                    let rest = batch.removed(first: found.count)
                    take(found, batch, leftOut)
                    batch = rest
                    continue
                }
                return take(found, batch, leftOut)
            }
            do {
                let remapped = try target.save(inserted: snapshots)
                let found = try snapshots.map { snapshot in
                    guard let identifier = remapped[snapshot.persistentIdentifier] else {
                        throw ModelContextError.storeContract(
                            store: target.name, fault: "It returned no identifier for a new record.")
                    }
                    return identifier
                }
                return take(found, batch, leftOut)
            } catch let error where Self.isRefusal(error) {
                let taken = try TakenValues(in: target)(batch)
                if !taken.isEmpty {
                    try refuse(&batch, taken)
                    continue
                }
                culprits += 1
                let guilty = culprit(of: error, in: batch)
                let count = batch.halvingCount(keys)
                if let (place, properties) = guilty ?? (batch.elements.count == 1 ? (0, []) : nil),
                    culprits < Self.culprits || count == nil
                {
                    try refuse(&batch, [place: properties])
                } else if let count {
                    var first = batch
                    batch = first.removed(first: count)
                    try save(first)
                    try refuseIncomplete(&batch)
                    culprits = 0
                } else if batch.elements.count <= Self.culprits {
                    // They require each other, and the store does not say which one it refuses.
                    try refuse(batch.elements.map { ($0, "refused by the store: \(error)") })
                    return
                } else {
                    throw error
                }
            }
        }
    }

    /// The record of a batch that has values of another record, and the properties; nil if the store does not say which.
    private func culprit(of error: any Error, in batch: ImportBatch) -> (place: Int, properties: [String])? {
        guard let violation = (error as? any UniqueViolation)?.uniqueViolation else { return nil }
        return culprit(of: violation, in: batch).map { ($0, violation.properties) }
    }

    private func culprit(
        of violation: (
            entity: String, properties: [String], record: PersistentIdentifier, other: PersistentIdentifier
        ), in batch: ImportBatch
    ) -> Int? {
        let named = [violation.record, violation.other]
        if let place = batch.elements.firstIndex(where: { named.contains($0.temporary) }) { return place }
        func slots(_ entity: String) -> [Int] {
            violation.properties.compactMap { target.layouts[entity]?.slot(named: $0) }
        }
        func text(_ values: [StoredValue]) -> String { values.map { "\($0)" }.joined(separator: "\u{0}") }
        let own = batch.elements.map { element in text(slots(element.record.entity).map { element.record.values[$0] }) }
        let isConcerned = batch.elements.map { slots($0.record.entity).count == violation.properties.count }
        if let version = target.versioned?.currentVersion {
            for record in named {
                guard let rows = version.rows(ofEntity: record.entityName), let row = rows.row(of: record) else {
                    continue
                }
                let taken = text(slots(record.entityName).map { rows.value(row: row, slot: $0) })
                if let place = own.indices.first(where: { isConcerned[$0] && own[$0] == taken }) { return place }
            }
        }
        var seen: Set<String> = []
        return own.indices.first { isConcerned[$0] && !seen.insert(own[$0]).inserted }
    }

    /// Whether an error is about values of records, and not about the store. A store of many writers may say only that it has a
    /// record with such values.
    private static func isRefusal(_ error: any Error) -> Bool {
        if error is RecordsSuperseded { return true }
        guard let violation = error as? any UniqueViolation else { return false }
        return violation.uniqueViolation != nil || !(error is any ClassifiedStoreError)
    }

    private mutating func refuse(_ batch: inout ImportBatch, _ taken: [Int: [String]]) throws {
        let refused = taken.sorted { $0.key < $1.key }.map { place, properties in
            let names = properties.isEmpty ? "its values" : properties.joined(separator: ", ")
            return (element: batch.elements[place], reason: "\(names): another record has the same value")
        }
        batch.remove(at: Set(taken.keys))
        try refuse(refused)
        try refuseIncomplete(&batch)
    }

    /// Refuses the records that require one which was refused.
    private mutating func refuseIncomplete(_ batch: inout ImportBatch) throws {
        try refuse(
            batch.takeIncomplete(keys).map { dependent, property, key in
                (dependent, "\(property): the record with the number \(key.shown(limit: 60)) was rejected")
            })
    }

    private mutating func refuse(_ refused: [(element: ImportBatch.Element, reason: String)]) throws {
        if refused.isEmpty { return }
        for (element, reason) in refused { state.refused[element.line] = reason }
        if let statePath { try state.write(statePath) }
        for (element, reason) in refused { try rejected.add(element.line, element.text, reason) }
    }

    private mutating func take(
        _ found: [PersistentIdentifier], _ batch: ImportBatch, _ leftOut: [(element: Int, slot: Int, keys: [String])]
    ) {
        for (element, identifier) in zip(batch.elements, found) {
            if let key = element.record.key { keys.set(key, element.record.entity, identifier) }
        }
        for (place, slot, keys) in leftOut where place < found.count {
            let element = batch.elements[place]
            later.append((found[place], element.record.entity, slot, keys, element.line))
        }
        imported += found.count
    }

    // MARK: - Going on

    /// The identifiers of a batch that the interrupted import has saved, or of its beginning; nil if it has not.
    private mutating func replayed(_ snapshots: [DefaultSnapshot]) throws -> [PersistentIdentifier]? {
        guard let version else { return nil }
        let found = replay[replayed...].prefix(snapshots.count)
        if found.isEmpty {
            try endReplay()
            return nil
        }
        for (element, snapshot) in zip(found, snapshots) {
            let name = target.schema.entities[element.entity].name
            let layout = snapshot.layout
            guard name == layout.entityName, let rows = version.rows(ofEntity: name),
                layout.slots.indices.allSatisfy({ slot in
                    layout.slots[slot].role.isRelationship
                        || layout.slots[slot].property.attribute?.options.contains(.ephemeral) == true
                        || rows.value(row: element.row, slot: slot) == snapshot.values[slot]
                })
            else {
                throw ToolError.notResumable(
                    store: target.name,
                    detail: "\(element.identifier) is not the next record of the file; somebody else "
                        + "has saved, or the file is another")
            }
        }
        try version.check()
        replayed += found.count
        return found.map(\.identifier)
    }

    private mutating func endReplay() throws {
        guard version != nil else { return }
        version = nil
        target.refresh()
    }

    // MARK: - Relationships to later records

    private mutating func connect() throws {
        var updated: [DefaultSnapshot] = []
        var changed: [SlotSet] = []
        for (record, entity, slot, names, line) in later {
            guard let layout = target.layouts[entity] else { continue }
            let destination = layout.slots[slot].property.relationship?.destination ?? ""
            let found = names.compactMap { keys.identifier($0, destination) }
            for name in names where keys.identifier(name, destination) == nil {
                leftOut += 1
                if leftOut > Self.told { continue }
                try ToolContext.current.errors.line(
                    "mortise: line \(line): \(layout.slots[slot].name): the file has no record with the number "
                        + "\(name.shown(limit: 60)); it is left out")
            }
            var values = ContiguousArray<StoredValue>(repeating: .null, count: layout.slots.count)
            values[slot] =
                layout.slots[slot].role == .toOne
                ? found.first.map { .identifier($0) } ?? .null : .identifiers(found)
            updated.append(DefaultSnapshot(persistentIdentifier: record, layout: layout, values: values))
            changed.append(SlotSet([slot]))
            if updated.count >= batchSize {
                _ = try target.save(updated: updated, changedSlots: changed)
                (updated, changed) = ([], [])
            }
        }
        if !updated.isEmpty { _ = try target.save(updated: updated, changedSlots: changed) }
        if leftOut > Self.told {
            try ToolContext.current.errors.line("mortise: more references are left out, and not named here")
        }
        try ToolContext.current.errors.flush()
    }
}
#endif
