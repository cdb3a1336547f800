#if Tool
import MortiseCore

/// What a store without versions answered to one query, as a version: the records of the answer, and others once they are
/// asked for by their identifiers, such as related ones. These are read a thousand at a time.
///
/// All reads have one scope, which a store that claims `StoreCapability.readConsistency` answers from one state of its storage.
/// What cannot be read later is an error of `check()`.
///
/// @unchecked Sendable: the tool reads a store on one thread at a time, and ends its state there.
final class AnswerVersion: StoreVersion, @unchecked Sendable {
    let number: UInt64 = 0
    private let records: AnswerRecords
    private let sources: [String: AnswerRows]
    private let scope: AnswerScope

    /// Where a record is.
    typealias Row = (entity: String, row: Int)

    /// The store's plan and its answer. `rows` are those of the answer, in its order.
    struct Answer {
        let plan: FetchPlan
        let rows: [Row]
        let count: Int?
        let report: ExecutionReport
        let version: AnswerVersion
    }

    private init(_ scope: AnswerScope, _ layouts: [String: RecordLayout]) {
        self.scope = scope
        records = AnswerRecords(layouts, scope.reading)
        sources = layouts.mapValues { [records] in AnswerRows(records, $0.entityName) }
    }

    /// Asks a store.
    /// - Throws: `QueryPlanError`; what the store throws; `ToolError.unsupported` for a store with its own type of snapshots;
    ///   `UnknownEntity` for a record of an entity that the schema lacks.
    static func answer<S: QueryableDataStore>(
        to query: StoreQuery, of store: S, _ layouts: [String: RecordLayout], name: String
    ) throws -> Answer {
        let selection = RecordSelection(store, name: name)
        let scope = AnswerScope(selection, defers: store.capabilities.contains(.deferredRelationships))
        let version = AnswerVersion(scope, layouts)
        let plan = try selection.plan(query)
        let found = try selection.rows(for: plan)
        let rows: [Row]
        if let identifiers = found.identifiers {
            rows = try identifiers.map { identifier in
                guard let row = version.records.row(of: identifier) else {
                    try version.check()
                    throw ToolError.changedMeanwhile(record: "\(identifier)")
                }
                return (identifier.entityName, row)
            }
        } else {
            rows = try version.records.add(try selection.records(found.snapshots))
        }
        return Answer(plan: plan, rows: rows, count: found.count, report: found.report, version: version)
    }

    /// The same state with a part of the records alone, in their order, so that nothing is read for the sake of the others.
    func keeping(_ rows: [Row]) throws -> (rows: [Row], version: AnswerVersion) {
        let version = AnswerVersion(scope, records.layouts)
        return (try version.records.add(rows.compactMap { records.snapshot($0.entity, $0.row) }), version)
    }

    func rows(ofEntity name: String) -> RowSource? { sources[name] }

    func identifier(ofEntity name: String, constraint: Int, values: [StoredValue]) -> PersistentIdentifier? { nil }

    func check() throws { try records.check() }

    /// A record that has been read, with the version that the store gave it.
    func snapshot(of identifier: PersistentIdentifier) -> DefaultSnapshot? { records.snapshot(of: identifier) }

    /// Ends the store's state. What has not been read yet cannot be relied on afterwards.
    func endState() { scope.end() }
}

/// Reads a state of a store until nobody needs it.
///
/// @unchecked Sendable: used by one thread at a time, as `AnswerVersion`.
private final class AnswerScope: @unchecked Sendable {
    let reading: AnswerRecords.Reading
    private var ending: (() -> Void)?

    init<S: QueryableDataStore>(_ selection: RecordSelection<S>, defers: Bool) {
        reading = AnswerRecords.Reading(
            defersLists: defers,
            some: { identifiers, lists in
                try selection.selects(identifiers) ? try selection.records(identifiers, lists: lists) : nil
            },
            all: { try selection.records(ofEntity: $0, lists: $1) })
        ending = { selection.end() }
    }

    deinit { end() }

    func end() {
        ending?()
        ending = nil
    }
}

/// Reads records in any order: their rows are numbered as they were read.
final class AnswerReader: RecordReader {
    override var rowsAreInIdentityOrder: Bool { false }
}

/// One entity's records in an answer.
///
/// @unchecked Sendable as its superclass: what changes is used by one thread at a time.
private final class AnswerRows: RowSource, @unchecked Sendable {
    private let records: AnswerRecords
    private let entity: String

    init(_ records: AnswerRecords, _ entity: String) {
        self.records = records
        self.entity = entity
    }

    override var endRow: Int { records.count(ofEntity: entity) }
    override var count: Int { endRow }
    override func contains(row: Int) -> Bool { row >= 0 && row < endRow }
    override func identifier(ofRow row: Int) -> PersistentIdentifier {
        records.snapshot(entity, row)?.persistentIdentifier ?? .temporary(entityName: entity)
    }
    override func row(of identifier: PersistentIdentifier) -> Int? {
        identifier.entityName == entity ? records.row(of: identifier) : nil
    }
    override func value(row: Int, slot: Int) -> StoredValue { records.value(entity, row, slot) }
}
#endif
