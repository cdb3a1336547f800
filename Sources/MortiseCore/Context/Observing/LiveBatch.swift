/// The way of a context from one version of a store to a later one, with what was named on it.
struct LiveMove {
    let session: StoreSession
    /// The version that live results show.
    let previous: any StoreVersion
    private(set) var latest: any StoreVersion
    /// What was changed, and whether the context itself has saved it; nil if not all of it is named.
    private(set) var sets: [(changes: ChangeSet, isOwn: Bool)]? = []

    init(_ session: StoreSession, from previous: any StoreVersion) {
        self.session = session
        self.previous = previous
        latest = previous
    }

    mutating func add(_ more: [ChangeSet]?, to latest: any StoreVersion, own: UInt64?) {
        self.latest = latest
        guard let more else {
            sets = nil
            return
        }
        sets?.append(contentsOf: more.map { ($0, $0.commit?.number == own) })
    }
}

/// A record of which something may have changed since live results were last worked off.
struct LiveTouch {
    let identifier: PersistentIdentifier
    let entity: String
    /// The slots that have changed.
    var slots = SlotSet()
    /// Whether the record was inserted, deleted, or brought back.
    var comesOrGoes = false
    /// Whether an unsaved model has changed.
    var isUnsaved = false
    /// Whether what is stored has changed, and whether others than the context have changed it.
    var isStored = false
    var isOfOthers = false
    /// The unsaved model.
    var model: (any PersistentModel)?
}

/// Everything that has changed since live results were last worked off, once for all of them.
final class LiveBatch {
    let state: ContextState
    private(set) var touches: [LiveTouch] = []
    private(set) var entities: Set<String> = []
    /// The sessions of stores without versions of which anything may have changed.
    let unknown: Set<ObjectIdentifier>
    /// The ones among them of which any record may have changed without being named.
    let unnamed: Set<ObjectIdentifier>
    /// Whether a save of the context has ended, after which unsaved models may be stored ones.
    let hasSaved: Bool
    private let moves: [LiveMove]
    private var places: [PersistentIdentifier: Int] = [:]
    private var readers: [Bool: ContextReader] = [:]

    var isUnknown: Bool { !unknown.isEmpty }

    init(
        _ state: ContextState, _ marks: some Collection<LiveResults.Mark>, _ moves: [LiveMove],
        _ unknown: Set<ObjectIdentifier>, _ named: [ChangeSet], unnamed: Set<ObjectIdentifier> = [], hasSaved: Bool
    ) {
        self.state = state
        self.moves = moves
        self.unknown = unknown
        self.unnamed = unnamed
        self.hasSaved = hasSaved
        for mark in marks {
            let model = mark.model
            let name = model._table?.layout.entityName ?? ModelLayout.of(type(of: model)).entityName
            // The identifier of one that was merged away leads to the survivor, which is touched by itself.
            let own = model._survivor == nil ? nil : model._draft?.identifier
            touch(own ?? model.persistentModelID, name) {
                $0.slots.formUnion(mark.slots)
                $0.comesOrGoes = $0.comesOrGoes || mark.comesOrGoes
                $0.isUnsaved = true
                $0.model = model
            }
        }
        for changes in named {
            let records =
                changes.updated.map { ($0.record, $0.slots) } + changes.inserted.records.map { ($0, SlotSet()) }
                + changes.deleted.map { ($0.record, SlotSet()) }
            for (record, slots) in records {
                touch(record, record.entityName) {
                    $0.slots.formUnion(slots)
                    $0.comesOrGoes = $0.comesOrGoes || slots.isEmpty
                    $0.isStored = true
                    $0.isOfOthers = true
                }
            }
        }
        for move in moves {
            if let sets = move.sets {
                for (changes, isOwn) in sets { add(changes, move, isOwn: isOwn) }
            } else {
                compare(move)
            }
        }
    }

    private func touch(_ identifier: PersistentIdentifier, _ entity: String, _ body: (inout LiveTouch) -> Void) {
        if let place = places[identifier] { return body(&touches[place]) }
        var touch = LiveTouch(identifier: identifier, entity: entity)
        body(&touch)
        places[identifier] = touches.count
        touches.append(touch)
        entities.insert(entity)
    }

    private func add(_ changes: ChangeSet, _ move: LiveMove, isOwn: Bool) {
        func note(_ identifier: PersistentIdentifier, _ slots: SlotSet, comesOrGoes: Bool) {
            touch(identifier, identifier.entityName) {
                $0.slots.formUnion(slots)
                $0.comesOrGoes = $0.comesOrGoes || comesOrGoes
                $0.isStored = true
                $0.isOfOthers = $0.isOfOthers || !isOwn
            }
            addPartners(of: identifier, slots, comesOrGoes: comesOrGoes, move, isOwn: isOwn)
        }
        for update in changes.updated { note(update.record, update.slots, comesOrGoes: false) }
        for record in changes.inserted.records { note(record, SlotSet(), comesOrGoes: true) }
        for deletion in changes.deleted { note(deletion.record, SlotSet(), comesOrGoes: true) }
    }

    /// Adds the records whose to-many relationships follow from a relationship of the changed record: the old target and the new.
    private func addPartners(
        of identifier: PersistentIdentifier, _ slots: SlotSet, comesOrGoes: Bool, _ move: LiveMove, isOwn: Bool
    ) {
        let name = identifier.entityName
        guard let layout = state.container.schema.recordLayouts[name] else { return }
        for (slot, description) in layout.slots.enumerated() where comesOrGoes || slots.contains(slot) {
            guard description.role == .toOne || description.role == .toManyStored,
                let relationship = description.property.relationship, let inverse = relationship.inverse
            else { continue }
            let old = Self.targets(of: identifier, slot, move.previous.rows(ofEntity: name))
            let new = Self.targets(of: identifier, slot, move.latest.rows(ofEntity: name))
            for target in old.symmetricDifference(new) {
                guard let place = state.container.schema.recordLayouts[target.entityName]?.slot(named: inverse) else {
                    continue
                }
                touch(target, target.entityName) {
                    $0.slots.insert(place)
                    $0.isStored = true
                    $0.isOfOthers = $0.isOfOthers || !isOwn
                }
            }
        }
    }

    private static func targets(
        of identifier: PersistentIdentifier, _ slot: Int, _ rows: RowSource?
    ) -> Set<PersistentIdentifier> {
        guard let rows, let row = rows.row(of: identifier) else { return [] }
        switch rows.value(row: row, slot: slot) {
        case .identifier(let target): return [target]
        case .identifiers(let targets): return Set(targets)
        default: return []
        }
    }

    /// Finds what differs between two versions, where nobody has named it.
    private func compare(_ move: LiveMove) {
        for (name, layout) in state.container.schema.recordLayouts {
            guard let table = state.tables[name], table.session === move.session else { continue }
            let old = move.previous.rows(ofEntity: name) ?? RowSource()
            let new = move.latest.rows(ofEntity: name) ?? RowSource()
            if old === new { continue }
            for row in 0..<max(old.endRow, new.endRow) {
                let (was, isThere) = (old.contains(row: row), new.contains(row: row))
                if !was, !isThere { continue }
                if was, isThere, old.identifier(ofRow: row) == new.identifier(ofRow: row) {
                    let slots = SlotSet(
                        layout.slots.indices.filter {
                            !old.storedForm(row: row, slot: $0).isIdentical(to: new.storedForm(row: row, slot: $0))
                        })
                    if slots.isEmpty { continue }
                    noteCompared(new.identifier(ofRow: row), name, slots, comesOrGoes: false, move)
                } else {
                    if was { noteCompared(old.identifier(ofRow: row), name, SlotSet(), comesOrGoes: true, move) }
                    if isThere { noteCompared(new.identifier(ofRow: row), name, SlotSet(), comesOrGoes: true, move) }
                }
            }
        }
    }

    private func noteCompared(
        _ identifier: PersistentIdentifier, _ entity: String, _ slots: SlotSet, comesOrGoes: Bool, _ move: LiveMove
    ) {
        touch(identifier, entity) {
            $0.slots.formUnion(slots)
            $0.comesOrGoes = $0.comesOrGoes || comesOrGoes
            $0.isStored = true
            $0.isOfOthers = true
        }
        addPartners(of: identifier, slots, comesOrGoes: comesOrGoes, move, isOwn: false)
    }

    // MARK: Reading

    /// The records as they are now.
    func reader(seesChanges: Bool) -> ContextReader {
        let seesChanges = seesChanges && state.hasChanges
        if let known = readers[seesChanges] { return known }
        let reader = ContextReader(state: state, seesChanges: seesChanges)
        readers[seesChanges] = reader
        return reader
    }

    /// The rows of a table as live results show them.
    func oldRows(of table: ModelTable) -> RowSource {
        guard let move = moves.first(where: { $0.session === table.session }) else { return table.source }
        return move.previous.rows(ofEntity: table.layout.entityName) ?? RowSource()
    }

    /// What has changed of a record.
    func touch(of identifier: PersistentIdentifier) -> LiveTouch? { places[identifier].map { touches[$0] } }

    /// The versions that were gone through, by the identifiers of their stores.
    var versions: [String: ClosedRange<UInt64>] {
        var versions: [String: ClosedRange<UInt64>] = [:]
        for move in moves where move.latest.number > move.previous.number {
            versions[move.session.identifier] = (move.previous.number + 1)...move.latest.number
        }
        return versions
    }
}
