import Foundation

/// What a context records of its changes, so that they can be undone: for each group of its undo manager one step, with
/// what takes each change back.
///
/// The context's tracker alone keeps it. It is there while the context has an undo manager or records without one.
final class UndoJournal: ChangeJournal {
    let manager: UndoManager
    private(set) weak var tracker: ChangeTracker?
    var policy: UndoPolicy
    /// The step that changes are added to; nil until the next change.
    var current: UndoRecord?
    /// In the order in which they were made; some of them may be dead.
    private(set) var records: [UndoRecord] = []
    private var lastSerial = 0
    /// About how much memory the closed steps take.
    private var bytes = 0
    private var isClosing = false
    /// What an undo does is not undone by the same one.
    var isReplaying = false
    var lastUndo: UndoReport?
    /// Why the manager was kept from undoing.
    var refusal: UndoError?
    /// Whether the context asks for an undo, and throws by itself what is in its way.
    var isAskedByContext = false
    /// Models that a recorded change has taken out of the context.
    var departed = ObjectSet()
    var foreign = ForeignChanges()
    /// The models that the steps are about.
    private var known: Set<ObjectIdentifier> = []
    private var tokens: [any NSObjectProtocol] = []
    /// What a save has added to closed steps, which a save that fails takes back.
    private var lateEntries: [(record: UndoRecord, count: Int)] = []
    /// The steps that were open before.
    private var outer: [UndoRecord?] = []

    init(_ manager: UndoManager, _ tracker: ChangeTracker, _ policy: UndoPolicy) {
        self.manager = manager
        self.tracker = tracker
        self.policy = policy
        super.init()
        let reference = JobReference(self)
        func observe(_ names: [Notification.Name], _ body: @escaping @Sendable (UndoJournal) -> Void) {
            for name in names {
                tokens.append(
                    NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) { _ in
                        if let journal = reference.object { body(journal) }
                    })
            }
        }
        observe([
            .NSUndoManagerCheckpoint, .NSUndoManagerDidOpenUndoGroup, .NSUndoManagerWillCloseUndoGroup,
            .NSUndoManagerDidCloseUndoGroup,
        ]) { $0.close() }
        observe([.NSUndoManagerWillUndoChange, .NSUndoManagerWillRedoChange]) { $0.lastUndo = nil }
    }

    deinit {
        for token in tokens { NotificationCenter.default.removeObserver(token) }
    }

    var state: ContextState? { tracker?.state }

    // MARK: Recording

    private var isRecording: Bool {
        isForced || suspensions == 0 && manager.isUndoRegistrationEnabled
    }

    override var passesOver: Bool { !isRecording }
    override var isRecordingStep: Bool { current != nil }

    private func append(_ model: any PersistentModel, _ change: UndoEntry.Change) {
        let record = current ?? begin()
        // Before the entry is there: its change is still to come, so that it would look like one that came to nothing.
        if lateEntries.isEmpty, record.entries.count >= record.mergeCount {
            record.entries = mergedEntries(of: record)
            record.mergeCount = max(UndoRecord.firstMergeCount, record.entries.count * 2)
        }
        record.entries.append(UndoEntry(model: model, change: change))
    }

    /// Begins a step in the manager's open group.
    private func begin() -> UndoRecord {
        lastSerial += 1
        let step = UndoStep()
        let record = UndoRecord(self, step, serial: lastSerial)
        // The action keeps its own target alive: some managers do not, and call one that is gone.
        manager.registerUndo(withTarget: step) { [step] _ in step.perform() }
        records.append(record)
        current = record
        return record
    }

    /// Notes that an attribute or a to-one relationship is about to change.
    override func willSet(_ model: any PersistentModel, at slot: Int, in layout: ModelLayout) {
        guard isRecording, !layout.record.slots[slot].role.isToMany else { return }
        append(model, .value(slot: slot, old: model._shownValue(at: slot, in: layout), new: nil))
    }

    /// Notes that a member is about to come into, or to leave, a to-many relationship.
    override func willChange(_ member: any PersistentModel, of model: any PersistentModel, at slot: Int, isAdded: Bool)
    {
        guard isRecording, model._refers(to: member, at: slot) != isAdded else { return }
        if isAdded { return append(model, .added(slot: slot, member)) }
        if case .models(let changes)? = model._draft?[slot], changes.isAdded(member) {
            let list = UndoRecord.OrderedList(model: ObjectIdentifier(model), slot: slot)
            if current?.ordered.contains(list) != true {
                append(model, .order(slot: slot, changes.added))
                current?.ordered.insert(list)
            }
        }
        append(model, .removed(slot: slot, member))
    }

    /// Notes that the new members of a relationship are about to have another order.
    func willReorder(_ changes: MemberChanges, of model: any PersistentModel, at slot: Int) {
        guard isRecording else { return }
        append(model, .order(slot: slot, changes.added))
        current?.ordered.insert(UndoRecord.OrderedList(model: ObjectIdentifier(model), slot: slot))
    }

    /// Notes that a model has come into the context, or that its deletion was taken back.
    override func noteEntered(_ model: any PersistentModel) {
        _ = departed.remove(model)
        guard isRecording else { return }
        append(model, .entered)
    }

    /// Notes that a model is about to be deleted, or to leave the context.
    override func willLeave(_ model: any PersistentModel) {
        guard isRecording, let last = LeftModel(model) else { return }
        append(model, .left(last))
        _ = departed.insert(model)
    }

    // MARK: Closing

    /// Ends the step. What came to nothing goes, and a step without anything leaves the manager.
    func close() {
        guard let record = current, !isClosing, suspensions == 0 else { return }
        isClosing = true
        defer { isClosing = false }
        // What follows from a deletion belongs to it.
        following { tracker?.propagateDeletes() }
        current = nil
        record.entries = mergedEntries(of: record)
        if record.entries.isEmpty {
            if records.last === record { records.removeLast() } else { records.removeAll { $0 === record } }
            remove(record)
            return
        }
        finish(record)
        sweep()
    }

    private func finish(_ record: UndoRecord) {
        bytes -= record.bytes
        record.bytes = record.entries.reduce(64) { $0 + $1.bytes }
        bytes += record.bytes
        for entry in record.entries { known.insert(ObjectIdentifier(entry.model)) }
    }

    private func remove(_ record: UndoRecord) {
        guard let step = record.step else { return }
        manager.removeAllActions(withTarget: step)
    }

    /// Forgets dead steps, when there are many, and the oldest beyond the limit.
    private func sweep() {
        if bytes <= policy.memoryLimit, records.count < sweepLimit { return }
        forgetDead()
        while bytes > policy.memoryLimit, records.count > 1, records[0] !== current {
            let oldest = records.removeFirst()
            bytes -= oldest.bytes
            remove(oldest)
        }
    }
    private var sweepLimit = 64

    func forgetDead() {
        records.removeAll { record in
            if record.isDead, record !== current { bytes -= record.bytes }
            return record.isDead && record !== current
        }
        sweepLimit = max(64, records.count * 2)
        known = []
        departed = ObjectSet()
        for entry in records.lazy.flatMap(\.entries) {
            known.insert(ObjectIdentifier(entry.model))
            // Only what a step keeps has its address for itself.
            let isOut = entry.model._table == nil || entry.model._flags.contains(.isDeleted)
            if isOut { _ = departed.insert(entry.model) }
        }
        foreign.forget(before: records.first?.serial ?? .max, keeping: known)
    }

    /// Forgets a step that was undone or redone.
    func forget(_ record: UndoRecord) {
        if let place = records.lastIndex(where: { $0 === record }) { records.remove(at: place) }
        bytes -= record.bytes
        record.bytes = 0
    }

    /// Takes all steps out of the manager, and those of other contexts stay there.
    override func clear() {
        current = nil
        lateEntries = []
        let steps = records.compactMap(\.step)
        records = []
        bytes = 0
        known = []
        foreign = ForeignChanges()
        departed = ObjectSet()
        if steps.isEmpty { return }
        #if canImport(Darwin)
        for step in steps { manager.removeAllActions(withTarget: step) }
        #else
        var all = ObjectSet()
        for step in steps { _ = all.insert(step) }
        manager.removeActions { all.contains($0) }
        #endif
    }

    // MARK: Changes of others

    /// Notes that others have stored other values in some slots of a model that the steps may be about.
    override func noteForeign(_ model: any PersistentModel, _ slots: @autoclosure () -> [Int]) {
        guard known.contains(ObjectIdentifier(model)) else { return }
        let slots = slots()
        if !slots.isEmpty { foreign.note(model, SlotSet(slots), after: lastSerial) }
    }

    /// Notes that others have deleted the record of a model.
    override func noteForeignDeletion(of model: any PersistentModel) {
        guard known.contains(ObjectIdentifier(model)) || current != nil else { return }
        foreign.noteDeletion(of: model, after: lastSerial)
    }

    // MARK: What a save adds

    override func endEventForSave() {
        #if !canImport(Darwin)
        manager.endUnscheduledEvent()
        #endif
    }

    override func beginLate(_ cause: Cause) -> Bool {
        let found = records.last { record in
            record.entries.contains { entry in
                switch (cause, entry.change) {
                case (.deletion, .left): entry.model._flags.contains(.isDeleted)
                case (.insertion(let model), .entered): entry.model === model
                default: false
                }
            }
        }
        guard let found else { return false }
        outer.append(current)
        if found !== current, !lateEntries.contains(where: { $0.record === found }) {
            lateEntries.append((found, found.entries.count))
        }
        current = found
        return true
    }

    override func endLate() { current = outer.popLast() ?? nil }

    /// Keeps, or takes back, what a save has added.
    override func endSave(isDone: Bool) {
        for (record, count) in lateEntries {
            if isDone {
                record.entries = mergedEntries(of: record, from: count)
                finish(record)
            } else if record.entries.count > count {
                record.entries.removeSubrange(count...)
            }
        }
        lateEntries = []
    }
}

/// What others have changed, by model, since which step.
struct ForeignChanges {
    private struct Mark {
        // Kept, so that no other model has its address.
        let model: any PersistentModel
        var changes: [(serial: Int, slots: SlotSet)] = []
        var deletion: Int?
    }
    private var marks: [ObjectIdentifier: Mark] = [:]

    mutating func note(_ model: any PersistentModel, _ slots: SlotSet, after serial: Int) {
        let key = ObjectIdentifier(model)
        // However often others save between two steps, that is one change of theirs.
        var mark = marks[key] ?? Mark(model: model)
        if let last = mark.changes.indices.last, mark.changes[last].serial == serial {
            mark.changes[last].slots.formUnion(slots)
        } else {
            mark.changes.append((serial, slots))
        }
        marks[key] = mark
    }

    mutating func noteDeletion(of model: any PersistentModel, after serial: Int) {
        marks[ObjectIdentifier(model), default: Mark(model: model)].deletion = serial
    }

    /// Forgets what no step can meet any more.
    mutating func forget(before serial: Int, keeping known: Set<ObjectIdentifier>) {
        if marks.isEmpty { return }
        marks = marks.filter { key, mark in
            known.contains(key) && (mark.deletion != nil || mark.changes.contains { $0.serial >= serial })
        }
    }

    /// Whether a slot, or any if it is nil, was changed after a step.
    func hasChanged(_ model: any PersistentModel, at slot: Int?, since serial: Int) -> Bool {
        guard !marks.isEmpty, let mark = marks[ObjectIdentifier(model)] else { return false }
        return mark.changes.contains { change in
            change.serial >= serial && (slot.map { change.slots.contains($0) } ?? true)
        }
    }

    func hasDeleted(_ model: any PersistentModel) -> Bool {
        !marks.isEmpty && marks[ObjectIdentifier(model)]?.deletion != nil
    }
}
