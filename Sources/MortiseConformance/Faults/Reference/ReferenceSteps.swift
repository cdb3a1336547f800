import Foundation
import MortiseCore

/// What faulty stores leave lying about between calls.
struct Debris: Sendable {
    var deletedByEntity: [String: Int] = [:]
    var answers: [String: [DefaultSnapshot]] = [:]
    /// When a record was last changed, by its number.
    var changes: [UInt64: Int] = [:]
    /// What records were inserted as.
    var first: [UInt64: DefaultSnapshot] = [:]
    var gone: [DefaultSnapshot] = []
    var openings = 0
    /// The records as they were under each schema.
    var past: [StoredSchema: [UInt64: DefaultSnapshot]] = [:]
    var forgotten: [ReferenceTransaction] = []
}

/// One key of an order, by property name.
struct SortKey: Sendable {
    let property: String
    let isAscending: Bool
}

/// The steps of a reference store's work. Each is correct by default; a fault replaces one with a wrong one.
struct ReferenceSteps: Sendable {
    typealias State = ReferenceStorage.State
    typealias Remapping = [PersistentIdentifier: PersistentIdentifier]

    // MARK: Opening

    /// The store's identifier, of the storage's and how often that was copied.
    var storeIdentifier: @Sendable (_ storage: String, _ copies: Int) -> String = { storage, _ in storage }
    var open: @Sendable (inout State) -> Void = { _ in }

    /// Takes over the records that were kept for another schema.
    var adopt: @Sendable (StoredSchema, [String: RecordLayout], inout State) throws -> Void = {
        try ReferenceSteps.adopt($0, $1, &$2)
    }
    /// How a store that runs migration plans does so.
    var migration = ReferenceMigration()
    /// How a container migrates the store.
    var copying = ReferenceCopying()
    var capabilities: @Sendable (StoreCapabilities) -> StoreCapabilities = { $0 }
    var explain: @Sendable (ReferenceStoreError) -> any Error = { $0 }
    var worksWhenClosed = false
    var isEmptyWhenClosed = false
    var closesOnce = false

    // MARK: Saving

    /// What of a request is carried out.
    var accept:
        @Sendable (DataStoreSaveChangesRequest<DefaultSnapshot>) throws
            -> DataStoreSaveChangesRequest<DefaultSnapshot> = { $0 }
    /// The number of a new record.
    var number: @Sendable (_ entity: String, inout State) -> UInt64 = { _, state in
        defer { state.nextNumber += 1 }
        return state.nextNumber
    }
    /// The identifier of the record of that number.
    var identify: @Sendable (_ number: UInt64, _ store: String, _ entity: String) -> PersistentIdentifier = {
        .numbered($0, storeIdentifier: $1, entityName: $2)
    }
    var remapInserted: @Sendable (DefaultSnapshot, PersistentIdentifier, Remapping) -> DefaultSnapshot = {
        $0.copy(persistentIdentifier: $1, remappedIdentifiers: $2)
    }
    var remapUpdated: @Sendable (DefaultSnapshot, Remapping) -> DefaultSnapshot = {
        $0.copy(persistentIdentifier: $0.persistentIdentifier, remappedIdentifiers: $1)
    }
    /// A stored record after an update of the given slots; nil is all of them.
    var merge: @Sendable (_ old: DefaultSnapshot, _ new: DefaultSnapshot, SlotSet?) -> DefaultSnapshot = {
        old, new, slots in
        var values = old.values
        for place in values.indices where slots?.contains(place) ?? true {
            // Null in a list says nothing of it.
            if new.values[place].isNull, new.layout.slots[place].role.isToMany { continue }
            values[place] = new.values[place]
        }
        return DefaultSnapshot(persistentIdentifier: old.persistentIdentifier, layout: old.layout, values: values)
    }
    /// A value in the form in which it is kept.
    var keep: @Sendable (StoredValue, RecordLayout.Slot) -> StoredValue = { value, slot in
        guard slot.role == .toManyStored, case .identifiers(let members) = value else { return value }
        return .identifiers(Set(members).sorted())
    }
    var delete: @Sendable (_ number: UInt64, inout State) -> Void = { number, state in state.records[number] = nil }
    /// Clears the references to deleted records that have no inverse: the context clears the others. Refuses where one has to
    /// have a value.
    var clearReferences: @Sendable ([PersistentIdentifier], inout State) throws -> Void = { deleted, state in
        try ReferenceSteps.checkRequired(Set(deleted), in: state)
        ReferenceSteps.clear(Set(deleted), in: &state) { $0.relationship?.inverse == nil }
    }
    /// The last look at a save before it counts.
    var finish: @Sendable (_ before: State, inout State) throws -> Void = { _, _ in }
    var passesOverMissing = false
    var keepsHalves = false
    /// How many new records a failing save must have for those to be kept that came before; nil for any number.
    var keepsHalvesBeyond: Int?
    var swallowsErrors = false
    var insertsMissing = false
    var erase: @Sendable (inout State) -> Void = { $0.records = [:] }
    /// The state that a save works on, where it does not wait for the lock to read it.
    var readBeforeLocking: @Sendable (ReferenceStorage) -> State? = { _ in nil }
    var checksBase = true
    /// Whether the records' versions are told and checked.
    var numbersRecords = false
    /// A list that nobody has asked for by name.
    var leftOut: @Sendable (StoredValue) -> StoredValue = { _ in .null }
    var leavesOutNamed: @Sendable (RecordLayout.Slot) -> Bool = { _ in false }
    /// The reads that are answered from one state; nil for a read of the latest one.
    var scope: @Sendable (ReadScope) -> ReadScope? = { $0 }
    /// How many contexts' states are kept; nil for all.
    var statesKept: Int?
    var batchEndsStates = false
    var erasureEndsStates = false
    /// Whether the end of one context ends the states of all.
    var endsEveryState = false
    var cursorsReadLatest = false
    /// Whether a connection answers with what it has read of a record before, until it saves.
    var readsOnce = false
    /// Whether a connection answers with what it has counted before, until it saves.
    var countsOnce = false
    /// The records of a request that have other versions than it says; `current` is nil for those that are gone.
    var superseded:
        @Sendable (DataStoreSaveChangesRequest<DefaultSnapshot>, _ current: (PersistentIdentifier) -> UInt64?)
            -> [PersistentIdentifier] = { $0.superseded($1) }
    /// Whether a record counts as changed, so that it gets another version.
    var countsAsChange: @Sendable (_ old: DefaultSnapshot, _ new: DefaultSnapshot) -> Bool = { $0.values != $1.values }
    /// The version of a record that a save has changed.
    var recordVersion: @Sendable (_ old: UInt64?, _ save: UInt64) -> UInt64 = { $1 }
    var nextVersion: @Sendable (UInt64) -> UInt64 = { $0 + 1 }
    var pairs: @Sendable (Remapping) -> Remapping = { $0 }
    /// The records that the store says to have set otherwise than asked.
    var reregistered:
        @Sendable (State, DataStoreSaveChangesRequest<DefaultSnapshot>) -> [PersistentIdentifier: DefaultSnapshot] = {
            _, _ in [:]
        }
    var enforcesUnique: @Sendable (RecordLayout, _ constraint: Int) -> Bool = { _, _ in true }
    var enforcesReference: @Sendable (RecordLayout.Slot) -> Bool = { _ in true }
    var uniqueMatch: @Sendable (StoredValue, StoredValue) -> Bool = { $0 == $1 }
    /// A value as the store's own constraint compares it.
    var uniqueKey: @Sendable (StoredValue) -> StoredValue = { $0 }
    var batchFamily: @Sendable (String, _ includesSubentities: Bool, StoredSchema) -> Set<String> = {
        entity, includesSubentities, schema in includesSubentities ? Set(schema.subtree(of: entity)) : [entity]
    }
    /// Clears every reference to records that a batch has deleted.
    var clearAllReferences: @Sendable ([PersistentIdentifier], inout State) -> Void = { deleted, state in
        ReferenceSteps.clear(Set(deleted), in: &state) { _ in true }
    }
    var afterBatch: @Sendable (inout State) -> Void = { _ in }
    var deletesWhateverMatches = false
    var failsWithoutRecords = false
    var hangsWithoutRecords = false
    /// The records that a batch changes.
    var batchSelection: @Sendable ([PersistentIdentifier]) -> [PersistentIdentifier] = { $0 }
    /// Whether a batch's later values see what its earlier ones were assigned to.
    var assignsInTurn = false
    var keepsHalfBatches = false
    var checksBatchBase = true
    var passesOverMissingInBatches = false
    var batchResult: @Sendable (StoreBatchResult) -> StoreBatchResult = { $0 }
    var batchTransaction: @Sendable (ReferenceTransaction?) -> ReferenceTransaction? = { $0 }
    var writesBatches = true
    var enforcesBatches = true
    var beforeSaving: @Sendable (ReferenceStorage, DataStoreSaveChangesRequest<DefaultSnapshot>) -> Void = { _, _ in }

    // MARK: Writing

    /// Makes a save count on the storage.
    var commit: @Sendable (_ old: State, _ new: State, _ durable: inout State) -> Void = { $2 = $1 }
    var commitErasure: @Sendable (_ new: State, _ durable: inout State) -> Void = { $1 = $0 }
    var writesInPlace = false
    var writesBeforeChecking = false
    var keepsUnwritten = false
    var swallowsFailedWrites = false
    var closesOnFailure = false

    // MARK: Announcing

    var announce: @Sendable (ChangeSet, ChangeFeed) -> Void = { $1.post([$0]) }
    var announcesBatches = true
    /// Whether a save is posted before it is looked at.
    var announcesRequests = false
    var announcesBatchUpdates = true
    var makesFeeds = false

    // MARK: History

    var transaction: @Sendable (ReferenceTransaction?) -> ReferenceTransaction? = { $0 }
    var history: @Sendable ([ReferenceTransaction]) -> [ReferenceTransaction] = { $0 }
    var token: @Sendable (Int64) -> Int64 = { $0 }
    var forget: @Sendable (Set<Int64>, inout State) -> Void = { numbers, state in
        state.history.removeAll { numbers.contains($0.number) }
    }
    /// Whether a deletion preserves the values of its request.
    var preservesRequests = false
    var writesHistoryFirst = false
    var ignoresHistoryPredicates = false
    var ignoresHistoryOrder = false
    var historyLimit: @Sendable (UInt64) -> UInt64 = { $0 }
    var limitsHistoryFirst = false
    /// The transaction that the changes of a transaction name.
    var transactionOfChanges: @Sendable (Int64) -> Int64 = { $0 }
    var changeNumber: @Sendable (Int64) -> Int64 = { $0 }
    var storeOfHistory: @Sendable (String) -> String = { $0 }
    var storeOfTokens: @Sendable (String) -> String = { $0 }

    // MARK: Fetching

    var ignoresPredicates = false
    /// The names of the entities whose records a fetch of an entity returns.
    var family: @Sendable (String, StoredSchema) -> Set<String> = { Set($1.subtree(of: $0)) }
    /// All records, in identity order.
    var order: @Sendable (State) -> [DefaultSnapshot] = { $0.ordered.map(\.value) }
    /// The members of a derived to-many relationship.
    var members: @Sendable ([PersistentIdentifier]) -> [PersistentIdentifier] = { $0 }
    /// The records that refer to another by the inverse of its relationship.
    var owners: @Sendable (_ target: PersistentIdentifier, DerivedEnd, InverseIndex) -> [PersistentIdentifier] = {
        target, end, index in
        index.owners(of: target, through: end.inverse).filter { end.owners.contains($0.entityName) }
    }
    var sort: @Sendable ([DefaultSnapshot], [SortKey]) -> [DefaultSnapshot] = { records, keys in
        ReferenceSteps.sorted(records, keys)
    }
    /// What a fetch answers, before the window is cut from it.
    var answer: @Sendable ([DefaultSnapshot], ReferenceStorage, _ entity: String) throws -> [DefaultSnapshot] = {
        records, _, _ in records
    }
    var window: @Sendable (_ offset: Int?, _ limit: Int?, _ count: Int) -> Range<Int> = { offset, limit, count in
        let start = min(max(offset ?? 0, 0), count)
        return start..<(start + min(max(limit ?? count, 0), count - start))
    }
    var countWindow: @Sendable (_ offset: Int?, _ limit: Int?, _ count: Int) -> Int = { offset, limit, count in
        let start = min(max(offset ?? 0, 0), count)
        return min(max(limit ?? count, 0), count - start)
    }
    var handOut: @Sendable (DefaultSnapshot) -> DefaultSnapshot = { $0 }
    /// What the store hands out of records for a context that rolls back.
    var cached: @Sendable (DefaultSnapshot, Debris) -> DefaultSnapshot = { snapshot, _ in snapshot }
    var count: @Sendable (Int, Debris, _ entity: String) -> Int = { count, _, _ in count }
    var identifiers: @Sendable ([PersistentIdentifier]) -> [PersistentIdentifier] = { $0 }
    var readsLive = false
    var findsNull = false
    var knowsEveryEntity = false
    var numbersRowsAnew = false
    /// Whether rows are found by the numbers of identifiers alone.
    var findsByNumber = false
    /// After how many saves an old version is forgotten.
    var forgetsAfter: UInt64?
    var countsLooks = false

    // MARK: Planning

    var claim: @Sendable (StoreQuery.Conjunct) -> FetchPlan.Claim = {
        $0.expression.needsModels ? .residual : .exact
    }
    var changePlan: @Sendable (inout FetchPlan, ReferenceStorage) -> Void = { _, _ in }
    var queryFamily: @Sendable (StoreQuery, StoredSchema) -> Set<String> = { query, schema in
        query.includesSubentities ? Set(schema.subtree(of: query.entity)) : [query.entity]
    }
    /// The records that conditions look at.
    var indexed: @Sendable (State) -> State = { $0 }
    var isIndexStale = false
    /// A record as it is handed out for a query.
    var project: @Sendable (DefaultSnapshot, StoreQuery) -> DefaultSnapshot = { snapshot, _ in snapshot }
    /// A part of a condition as the faulty store understands it; nil if it understands it correctly.
    var rewrite: @Sendable (QueryExpression) -> QueryExpression? = { _ in nil }
    var conditions: @Sendable ([QueryExpression], StoreQuery) -> [QueryExpression] = { conditions, _ in conditions }
    /// A condition as the faulty store tests it, by the values of a record's own properties; nil where it does as it should.
    var judge: @Sendable (QueryExpression) -> (@Sendable ((QueryProperty) -> StoredValue) throws -> Bool)? = { _ in nil
    }
    /// An identifier in a condition, as the store of that identifier reads it in a query of that entity.
    var sought: (@Sendable (PersistentIdentifier, _ store: String, _ entity: String) -> PersistentIdentifier)?
    /// The total of integers in the way of a faulty store.
    var total: (@Sendable ([StoredValue], StorageKind) throws -> StoredValue)?
    /// A value as a function other than count takes it.
    var addend: @Sendable (StoredValue, AggregateFunction) -> StoredValue = { value, _ in value }
    /// The groups that the store answers with.
    var aggregated: @Sendable ([AggregateGroup], AggregateQuery) -> [AggregateGroup] = { groups, _ in groups }
    /// An expression by which the store forms groups, in place of one that it is asked for.
    var groupExpression: @Sendable (QueryExpression) -> QueryExpression = { $0 }
    /// A value by which the store forms groups.
    var groupKey: (@Sendable (StoredValue) -> StoredValue)?
    /// Values as conditions see them.
    var seen: (@Sendable (StoredValue) -> StoredValue)?
    var orderKeys: @Sendable ([StoreQuery.Order]) -> [StoreQuery.Order] = { $0 }
    var orderValue: @Sendable (StoredValue) -> StoredValue = { $0 }
    var tieIsForward = true
    var found: @Sendable ([RecordReference], FetchPlan) -> [RecordReference] = { found, _ in found }
    var cut: @Sendable (StoreQuery, _ count: Int) -> Range<Int> = { $0.window(of: $1) }
    var scanned: @Sendable (_ scanned: Int, _ returned: Int) -> Int = { scanned, _ in scanned }
}

extension ReferenceSteps {
    /// - Throws: `ReferenceStoreError.missingTarget` where a record refers to one that is gone by a relationship that has no
    ///   inverse and must not be nil.
    private static func checkRequired(_ gone: Set<PersistentIdentifier>, in state: State) throws {
        if gone.isEmpty { return }
        for record in state.records.values {
            for place in record.values.indices {
                guard case .identifier(let target) = record.values[place], gone.contains(target) else { continue }
                let slot = record.layout.slots[place]
                if slot.role != .toOne || slot.property.isOptional { continue }
                if slot.property.relationship?.inverse != nil { continue }
                throw ReferenceStoreError.missingTarget(
                    record: record.persistentIdentifier, property: slot.name, target: target)
            }
        }
    }

    /// Clears references to records that are gone.
    static func clear(
        _ gone: Set<PersistentIdentifier>, in state: inout State, where holds: (StoredProperty) -> Bool
    ) {
        if gone.isEmpty { return }
        for (number, record) in state.records {
            var values = record.values
            var isChanged = false
            for place in values.indices {
                switch values[place] {
                case .identifier(let target) where gone.contains(target):
                    guard holds(record.layout.slots[place].property) else { continue }
                    values[place] = .null
                case .identifiers(let targets) where targets.contains(where: gone.contains):
                    guard holds(record.layout.slots[place].property) else { continue }
                    values[place] = .identifiers(targets.filter { !gone.contains($0) })
                default: continue
                }
                isChanged = true
            }
            guard isChanged else { continue }
            state.records[number] = DefaultSnapshot(
                persistentIdentifier: record.persistentIdentifier, layout: record.layout, values: values)
        }
    }

    /// Records keep their values by property name; new properties take their default or nil.
    /// - Throws: `ReferenceStoreError.schemaMismatch` where a property is of another kind, or is new and has no value.
    ///   With `isOneWay` a property or entity with values that the schema lacks is one of these, too. `newer` for a schema of
    ///   an older version than the stored one.
    static func adopt(
        _ schema: StoredSchema, _ layouts: [String: RecordLayout], _ state: inout State, isOneWay: Bool = false,
        checksVersion: Bool = true,
        origins: (_ layout: RecordLayout, _ old: RecordLayout) -> [Int?] = { $0.origins(in: $1) },
        fits: (_ slot: RecordLayout.Slot, _ kept: RecordLayout.Slot) -> Bool = { ReferenceSteps.fits($0, $1) }
    ) throws {
        if !isOneWay, let original = state.original, original.version == state.version {
            state.schema = original.schema
            state.records = original.records
        }
        state.original = nil
        guard let old = state.schema, old != schema else {
            state.schema = schema
            return
        }
        if checksVersion, old.version > schema.version { throw ReferenceStoreError.newer(old.version) }
        let before = old.recordLayouts()
        var sources: [String: [Int?]] = [:]
        for (entity, layout) in layouts {
            let found = before[entity].map { origins(layout, $0) } ?? layout.slots.map { _ in nil }
            sources[entity] = found
            for (slot, origin) in zip(layout.slots, found) {
                let kept = origin.flatMap { before[entity]?.slots[$0] }
                let isFit =
                    if let kept {
                        fits(slot, kept)
                            && (slot.property.isOptional || !kept.property.isOptional || slot.role.isToMany)
                    } else {
                        before[entity] == nil || slot.property.isOptional || slot.role.isToMany
                            || slot.property.attribute?.defaultValue != nil
                    }
                if !isFit { throw ReferenceStoreError.schemaMismatch(entity: entity, property: slot.name) }
            }
        }
        if isOneWay { try checkNothingIsLost(before, sources, state) }
        if !isOneWay { state.original = .init(schema: old, records: state.records, version: state.version) }
        state.schema = schema
        // Their records stay, and what they are is known when they come back.
        if !isOneWay { state.schema?.entities += old.entities.filter { layouts[$0.name] == nil } }
        for (number, record) in state.records {
            let entity = record.persistentIdentifier.entityName
            guard let layout = layouts[entity], let origins = sources[entity] else { continue }
            state.records[number] = DefaultSnapshot(
                persistentIdentifier: record.persistentIdentifier, layout: layout,
                values: ContiguousArray(
                    zip(layout.slots, origins).map { slot, origin in
                        origin.map { record.values[$0] } ?? slot.property.attribute?.defaultValue
                            ?? (slot.role.isToMany ? .identifiers([]) : .null)
                    }))
        }
    }

    /// Whether a property has values of the same kind, or leads to the same entity.
    static func fits(_ slot: RecordLayout.Slot, _ kept: RecordLayout.Slot) -> Bool {
        kept.role == slot.role && kept.property.attribute?.kind == slot.property.attribute?.kind
            && kept.property.relationship?.destination == slot.property.relationship?.destination
    }

    private static func checkNothingIsLost(
        _ before: [String: RecordLayout], _ sources: [String: [Int?]], _ state: State
    ) throws {
        for record in state.records.values {
            let entity = record.persistentIdentifier.entityName
            guard let layout = before[entity] else { continue }
            guard let taken = sources[entity] else {
                throw ReferenceStoreError.schemaMismatch(entity: entity, property: layout.slots.first?.name ?? "")
            }
            for place in layout.slots.indices where !taken.contains(place) {
                throw ReferenceStoreError.schemaMismatch(entity: entity, property: layout.slots[place].name)
            }
        }
    }
}

/// A derived to-many relationship: what it follows from.
struct DerivedEnd: Sendable {
    let slot: RecordLayout.Slot
    /// The property of the owners that leads here.
    let inverse: String
    /// The entities whose records may be members.
    let owners: Set<String>
}

extension ReferenceSteps {
    /// Records by the keys, and by their place where the keys leave them equal.
    static func sorted(
        _ records: [DefaultSnapshot], _ keys: [SortKey],
        compare: (StoredValue, StoredValue) -> Int = { $0.placed(against: $1) }
    ) -> [DefaultSnapshot] {
        records.enumerated().sorted { left, right in
            for key in keys {
                let order = compare(
                    left.element[property: key.property] ?? .null, right.element[property: key.property] ?? .null)
                if order != 0 { return (order < 0) == key.isAscending }
            }
            return left.offset < right.offset
        }.map(\.element)
    }
}

extension StoredValue {
    /// -1, 0 or 1: the order of attribute values, null first. Values of unlike kinds are equal.
    func placed(against other: StoredValue) -> Int {
        func place<C: Comparable>(_ left: C, _ right: C) -> Int { left < right ? -1 : right < left ? 1 : 0 }
        return switch (self, other) {
        case (.null, .null): 0
        case (.null, _): -1
        case (_, .null): 1
        case (.integer(let left), .integer(let right)): place(left, right)
        case (.unsigned(let left), .unsigned(let right)): place(left, right)
        case (.float(let left), .float(let right)): place(left, right)
        case (.double(let left), .double(let right)): place(left, right)
        case (.decimal(let left), .decimal(let right)): place(left, right)
        case (.string(let left), .string(let right)): place(left, right)
        case (.date(let left), .date(let right)): place(left, right)
        default: 0
        }
    }

    /// This value with something done to every text in it.
    func mappingText(_ change: (String) -> String) -> StoredValue {
        switch self {
        case .string(let text): .string(change(text))
        case .array(let elements): .array(elements.map { $0.mappingText(change) })
        case .object(let members): .object(members.mapValues { $0.mappingText(change) })
        default: self
        }
    }
}

extension Entry {
    /// The name of the property at a key path.
    static func column(_ keyPath: AnyKeyPath) -> String? {
        switch keyPath {
        case \Entry.name: "name"
        case \Entry.group: "group"
        case \Entry.rank: "rank"
        case \Entry.score: "score"
        case \Entry.note: "note"
        case \Entry.stamp: "stamp"
        default: nil
        }
    }
}
