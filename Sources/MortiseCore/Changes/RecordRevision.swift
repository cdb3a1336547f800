public import Foundation

/// One change of a record, as its store's history has it.
///
/// Sendable without a lock: the values are `Sendable` and set before anybody else has them; key paths are immutable.
public struct RecordRevision<Model: PersistentModel>: @unchecked Sendable {
    /// What became of the record.
    public enum Kind: String, Sendable, Hashable, Codable {
        /// It was inserted, or a deletion of it was undone.
        case insertion
        /// Values of it changed.
        case update
        /// It was deleted.
        case deletion
    }

    /// What became of the record.
    public let kind: Kind
    /// Marks the transaction.
    public let token: DefaultHistoryToken
    /// When the transaction was saved, by the clock of the process that saved it.
    public let timestamp: Date
    /// The author of the saving context; nil if it had none.
    public let author: String?
    /// The properties that the revision is about, in the model's order: those that an update changed, those of a new record that are
    /// not nil, and those of a deleted one that the history keeps and that were not nil.
    public let properties: [PartialKeyPath<Model>]
    private var old: [PartialKeyPath<Model>: any Sendable] = [:]
    private var new: [PartialKeyPath<Model>: any Sendable] = [:]
    private var hasOld: Set<PartialKeyPath<Model>> = []
    private var hasNew: Set<PartialKeyPath<Model>> = []
    private var tellsInsertion = false

    /// The value before the change: the property's own type, or for relationships a `PersistentIdentifier` or an array of them. Nil where
    /// there was none, or where it is not known; `knowsOldValue(_:)` says which.
    public func oldValue(_ property: PartialKeyPath<Model>) -> (any Sendable)? { old[property] }

    /// The value after the change, as `oldValue(_:)` gives the one before.
    public func newValue(_ property: PartialKeyPath<Model>) -> (any Sendable)? { new[property] }

    /// Whether the value before the change is known; true also for what an update left alone, and for an insertion, before which there
    /// was none.
    public func knowsOldValue(_ property: PartialKeyPath<Model>) -> Bool {
        switch kind {
        case .insertion: true
        case .update: hasOld.contains(property) || !properties.contains(property)
        case .deletion: hasOld.contains(property)
        }
    }

    /// Whether the value after the change is known; true also for what an update left alone, and for a deletion, after which there is none.
    public func knowsNewValue(_ property: PartialKeyPath<Model>) -> Bool {
        switch kind {
        case .insertion: tellsInsertion
        case .update: hasNew.contains(property) || !properties.contains(property)
        case .deletion: true
        }
    }

    /// Nil if the change set does not name the record.
    init?(of record: PersistentIdentifier, in changes: ChangeSet, _ entry: HistoryEntry, store: String, schema: Schema)
    {
        guard let layout = schema.layout(for: Model.self) ?? schema.layouts[record.entityName] else { return nil }
        token = DefaultHistoryToken(entry.number, mark: entry.mark, store: store)
        (timestamp, author) = (entry.timestamp, entry.author)
        var named: [(place: Int, path: PartialKeyPath<Model>)] = []
        var (old, new): ([PartialKeyPath<Model>: any Sendable], [PartialKeyPath<Model>: any Sendable]) = ([:], [:])
        var (hasOld, hasNew): (Set<PartialKeyPath<Model>>, Set<PartialKeyPath<Model>>) = ([], [])
        func forEach(_ slots: [Int], _ stored: RecordLayout, _ body: (Int, PartialKeyPath<Model>) -> Void) {
            for slot in slots {
                guard stored.slots.indices.contains(slot),
                    let place = layout.record.slot(named: stored.slots[slot].name),
                    let path = layout.keyPaths[place] as? PartialKeyPath<Model>
                else { continue }
                named.append((place, path))
                body(slot, path)
            }
        }
        func value(_ value: StoredValue?, _ path: PartialKeyPath<Model>) -> (any Sendable)? {
            switch value {
            case nil: nil
            case .identifier(let record): record
            case .identifiers(let records): records
            case .some(let value): Schema.propertyValue(value, of: Swift.type(of: path).valueType)
            }
        }
        let inserted = changes.inserted.records
        if let place = inserted.firstIndex(of: record) {
            kind = .insertion
            if changes.inserted.hasValues {
                let snapshots = changes.inserted.values
                let snapshot = snapshots[snapshots.index(snapshots.startIndex, offsetBy: place)]
                let slots = snapshot.values.indices.filter { !snapshot.values[$0].isNull }
                forEach(Array(slots), snapshot.layout) { slot, path in
                    new[path] = value(snapshot.values[slot], path)
                }
                tellsInsertion = true
            }
        } else if let update = changes.updated.first(where: { $0.record == record }) {
            kind = .update
            forEach(update.slots.slots, update.layout) { slot, path in
                if let known = update.oldValue(at: slot) {
                    old[path] = value(known, path)
                    hasOld.insert(path)
                }
                if let known = update.value(at: slot) {
                    new[path] = value(known, path)
                    hasNew.insert(path)
                }
            }
        } else if let deletion = changes.deleted.first(where: { $0.record == record }) {
            kind = .deletion
            let slots = deletion.preserved.slots.filter { deletion.values.indices.contains($0) }
            forEach(slots, deletion.layout) { slot, path in
                old[path] = value(deletion.values[slot], path)
                hasOld.insert(path)
            }
            named.removeAll { old[$0.path] == nil }
        } else {
            return nil
        }
        properties = named.sorted { $0.place < $1.place }.map(\.path)
        (self.old, self.new, self.hasOld, self.hasNew) = (old, new, hasOld, hasNew)
    }

    /// The properties whose values before the change are not known.
    var withoutOldValue: [PartialKeyPath<Model>] { properties.filter { !knowsOldValue($0) } }

    /// Takes the value that an earlier revision left for the one before.
    mutating func completeOldValue(_ property: PartialKeyPath<Model>, from earlier: RecordRevision) {
        old[property] = earlier.new[property]
        hasOld.insert(property)
    }

    /// Whether the revision says what a property was after it: an update that changed it, or an insertion.
    func settles(_ property: PartialKeyPath<Model>) -> Bool {
        switch kind {
        case .insertion: true
        case .update: properties.contains(property)
        case .deletion: true
        }
    }
}
