#if SQLite
import Foundation
public import MortiseCore
import MortiseSQL

/// A query as SQLite carries it out.
final class PreparedSelection: Sendable {
    let plan: SelectionPlan
    let decoding: RecordDecoding
    let rows: SQLText
    let isExact: Bool

    init(_ plan: SelectionPlan, _ query: StoreQuery, _ mapping: TableMapping) {
        self.plan = plan
        decoding = RecordDecoding(plan.family, mapping)
        rows = plan.rows()
        isExact = plan.isExact(query)
    }
}

extension SQLiteStore {
    /// Translates the query to SQL, as far as SQLite decides as Swift does.
    public func plan(_ query: StoreQuery) -> FetchPlan {
        guard let selection = selection(query) else { return .scanAll(query) }
        let plan = selection.plan
        var found = FetchPlan(
            query, claims: plan.claims, order: plan.isSorted ? .total : .none,
            detail: "SELECT" + selection.rows.text + (query.order.isEmpty ? "" : plan.sorting(knowingNaN: false).text),
            isFullScan: !plan.usesIndex && !(query.conjuncts.isEmpty && query.isLimited && endsEarly(plan)),
            suggestion: plan.suggestion)
        found.appliesLimit = plan.isSorted && selection.isExact && query.purpose != .count
        found.preparation = selection
        return found
    }

    /// Whether the order is that of an index, so that the first rows are found without the others.
    private func endsEarly(_ plan: SelectionPlan) -> Bool {
        guard plan.isSorted else { return false }
        guard let first = plan.order.first else { return true }
        guard case .column(table: 0, let name) = first.sql else { return false }
        return mapping.indexes(ofTable: plan.entity.table).contains { $0.condition == nil && $0.columns.first == name }
    }

    func selection(_ query: StoreQuery) -> PreparedSelection? {
        guard let plan = SelectionPlan(query, mapping, store: identifier) else { return nil }
        let selection = PreparedSelection(plan, query, mapping)
        // SQLite's parser has room for so much; what it refuses is left to the framework.
        guard plan.claims.isEmpty || selection.rows.text.utf8.count < 4_096 || canPrepare(selection) else {
            return SelectionPlan(query, mapping, store: identifier, translatingConditions: false).map {
                PreparedSelection($0, query, mapping)
            }
        }
        return selection
    }

    private func canPrepare(_ selection: PreparedSelection) -> Bool {
        let found = try? pool.reading { connection in
            connection.finish(try connection.prepare("SELECT count(*)\(selection.rows.text)"))
            return true
        }
        return found ?? false
    }

    private func prepared(_ plan: FetchPlan) throws -> PreparedSelection {
        if let selection = plan.preparation as? PreparedSelection { return selection }
        guard let selection = selection(plan.query) else {
            throw error(.misfit("\(plan.query.entity) is not in the schema"))
        }
        return selection
    }

    /// Reads the records, their number or their identifiers alone.
    /// - Throws: `SQLiteError`.
    public func rows(for plan: FetchPlan) throws -> StoreRows<DefaultSnapshot> {
        let selection = try prepared(plan)
        return try reading(in: plan.scope) { connection, moment in
            try rows(for: plan, selection, connection, moment)
        }
    }

    func rows(
        for plan: FetchPlan, _ selection: PreparedSelection, _ connection: SQLiteConnection, _ moment: Moment
    ) throws -> StoreRows<DefaultSnapshot> {
        let store = identifier
        if plan.query.purpose == .count, selection.isExact {
            var count: Int64 = 0
            var scanned = 0
            try run(connection, "SELECT count(*)", selection.rows) { row in
                count = row.integer(0)
                scanned = row.scanned
            }
            return StoreRows(
                count: Int(clamping: count), report: ExecutionReport(scanned: max(scanned, Int(clamping: count))))
        }
        let isBare =
            plan.query.purpose == .identifiers && selection.isExact && selection.plan.isSorted
            && (plan.appliesLimit || !plan.query.isLimited)
        var text = SQLText("SELECT \(isBare ? "t0.\"id\", t0.\"ent\"" : selection.decoding.columns)")
        text.append(selection.rows)
        text.append(selection.plan.sorting(knowingNaN: moment.holdsNaN))
        if plan.appliesLimit, plan.query.isLimited {
            text.append(" LIMIT ")
            text.append(value: .integer(plan.query.limit.map { Int64(max($0, 0)) } ?? -1))
            text.append(" OFFSET ")
            text.append(value: .integer(Int64(max(plan.query.offset, 0))))
        }
        var snapshots: [DefaultSnapshot] = []
        var identifiers: [PersistentIdentifier] = []
        var scanned = 0
        try run(connection, "", text) { row in
            if isBare {
                identifiers.append(
                    try selection.decoding.identifier(row, store: store, path: configuration.path))
            } else {
                snapshots.append(try selection.decoding.record(row, store: store, path: configuration.path))
            }
        } finished: {
            scanned = $0.scanned
        }
        let report = ExecutionReport(scanned: max(scanned, snapshots.count + identifiers.count))
        if isBare { return StoreRows(identifiers: identifiers, report: report) }
        try addLists(plan.query.prefetch, to: &snapshots, connection)
        return StoreRows(snapshots: snapshots, report: report)
    }

    /// Runs a statement made of text and values.
    func run(
        _ connection: SQLiteConnection, _ beginning: String, _ text: SQLText,
        row: (SQLiteStatement) throws -> Void, finished: (SQLiteStatement) -> Void = { _ in }
    ) throws {
        let statement = try connection.prepare(beginning + text.text)
        defer { connection.finish(statement) }
        try statement.bind(text.values)
        while try statement.step() { try row(statement) }
        finished(statement)
    }

    // MARK: Lists

    /// Reads the to-many relationships of that name, a statement for each.
    func addLists(
        _ names: [String], to snapshots: inout [DefaultSnapshot], _ connection: SQLiteConnection
    ) throws {
        if names.isEmpty || snapshots.isEmpty { return }
        var read: [TableMapping.ListSource: [Int: [PersistentIdentifier]]] = [:]
        var owners: [Int64] = []
        for snapshot in snapshots {
            guard let number = snapshot.persistentIdentifier.sequenceNumber else { continue }
            owners.append(Int64(clamping: number))
        }
        var changed: [Int: ContiguousArray<StoredValue>] = [:]
        for (place, snapshot) in snapshots.enumerated() {
            guard let entity = mapping.entities[snapshot.persistentIdentifier.entityName] else { continue }
            for name in names {
                guard let slot = entity.layout.slot(named: name), entity.layout.slots[slot].role.isToMany else {
                    continue
                }
                let source = entity.slots[slot].listSource
                if read[source] == nil { read[source] = try members(entity.slots[slot], of: owners, connection) }
                let number = Int(clamping: snapshot.persistentIdentifier.sequenceNumber ?? 0)
                changed[place, default: snapshot.values][slot] = .identifiers(read[source]?[number] ?? [])
            }
        }
        for (place, values) in changed {
            var snapshot = DefaultSnapshot(
                persistentIdentifier: snapshots[place].persistentIdentifier, layout: snapshots[place].layout,
                values: values)
            snapshot.recordVersion = snapshots[place].recordVersion
            snapshots[place] = snapshot
        }
    }

    /// The members of a relationship by owner, in identity order.
    func members(
        _ slot: TableMapping.Slot, of owners: [Int64], _ connection: SQLiteConnection
    ) throws -> [Int: [PersistentIdentifier]] {
        guard let destination = mapping.entities[slot.destination] else { return [:] }
        let table = SQLName.quoted(destination.table)
        let sql: String
        switch slot.place {
        case .inverse(let column, _):
            let column = SQLName.quoted(column)
            sql =
                "SELECT c.\(column), c.\"id\", c.\"ent\" FROM \(table) c WHERE c.\(column) IN "
                + "(SELECT value FROM json_each(?)) ORDER BY c.\"id\""
        case .links(let links), .backLinks(let links):
            let isOwner = if case .links = slot.place { true } else { false }
            let (own, other) = isOwner ? ("a", "b") : ("b", "a")
            sql =
                "SELECT l.\"\(own)\", c.\"id\", c.\"ent\" FROM \(SQLName.quoted(links)) l JOIN \(table) c "
                + "ON c.\"id\" = l.\"\(other)\" WHERE l.\"\(own)\" IN (SELECT value FROM json_each(?)) ORDER BY c.\"id\""
        default: return [:]
        }
        let store = identifier
        var found: [Int: [PersistentIdentifier]] = [:]
        try connection.run(sql, [.list(owners)]) { row in
            guard let name = mapping.byNumber[Int(clamping: row.integer(2))]?.name else {
                throw error(
                    .damagedValue(
                        record: "record \(row.integer(1))", property: "ent", found: "\(row.integer(2))"))
            }
            found[Int(row.integer(0)), default: []].append(
                .numbered(UInt64(clamping: row.integer(1)), storeIdentifier: store, entityName: name))
        }
        return found
    }
}

extension SQLValue {
    /// A list of numbers as one value.
    static func list(_ numbers: [Int64]) -> SQLValue {
        .text("[" + numbers.map(String.init).joined(separator: ",") + "]")
    }
}
#endif
