/// The part of an undo manager's group that is about one context. The manager's action keeps it alive, and nothing else
/// does.
final class UndoStep {
    fileprivate(set) weak var record: UndoRecord?

    /// Undoes or redoes it; nothing if its context has gone.
    func perform() {
        guard let record, let journal = record.journal else { return }
        journal.replay(record)
    }
}

#if !canImport(Darwin)
extension UndoStep: UndoRefusing {
    func mayPerform() -> Bool {
        guard let record, let journal = record.journal else { return true }
        return journal.mayReplay(record)
    }
}
#endif

/// What a step undoes. The journal alone keeps it, so that the models go with the context; it is of no use once its
/// step is gone.
final class UndoRecord {
    private(set) weak var journal: UndoJournal?
    private(set) weak var step: UndoStep?
    /// Grows with every step.
    let serial: Int
    var entries: [UndoEntry] = []
    /// How many entries there may be before those are merged that concern the same.
    var mergeCount = UndoRecord.firstMergeCount
    static let firstMergeCount = 1024
    /// About how much memory the entries take, once it is closed.
    var bytes = 0
    /// The lists whose order is known from before the step.
    var ordered: Set<OrderedList> = []

    struct OrderedList: Hashable {
        let model: ObjectIdentifier
        let slot: Int
    }

    init(_ journal: UndoJournal, _ step: UndoStep, serial: Int) {
        self.journal = journal
        self.step = step
        self.serial = serial
        step.record = self
    }

    var isDead: Bool { step == nil }
}
