#if PostgreSQL
import Foundation
public import MortiseCore
import MortiseSQL
import Synchronization

/// A query as the server carries it out.
final class PreparedSelection: Sendable {
    let plan: SelectionPlan
    let decoding: RecordDecoding
    let rows: SQLText
    let isExact: Bool
    /// Whether NaN would be sorted otherwise than other numbers.
    let sortsNumbers: Bool

    init(_ plan: SelectionPlan, _ query: StoreQuery, _ mapping: TableMapping) {
        self.plan = plan
        decoding = RecordDecoding(plan.family, mapping)
        rows = plan.rows()
        isExact = plan.isExact(query)
        sortsNumbers = plan.order.contains(where: \.hasNaN)
    }
}

extension PostgreSQLStore {
    /// Translates the query to SQL, as far as PostgreSQL decides as Swift does.
    public func plan(_ query: StoreQuery) -> FetchPlan {
        guard let selection = selection(query) else { return .scanAll(query) }
        let plan = selection.plan
        var shown = SQLText("SELECT", .postgreSQL)
        shown.append(selection.rows)
        if !query.order.isEmpty { shown.append(plan.sorting(knowingNaN: false)) }
        var found = FetchPlan(
            query, claims: plan.claims, order: plan.isSorted ? .total : .none, detail: shown.numbered,
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
        SelectionPlan(query, mapping, store: identifier).map { PreparedSelection($0, query, mapping) }
    }

    private func prepared(_ plan: FetchPlan) throws -> PreparedSelection {
        if let selection = plan.preparation as? PreparedSelection { return selection }
        guard let selection = selection(plan.query) else {
            throw error(.misfit("\(plan.query.entity) is not in the schema"))
        }
        return selection
    }

    /// The statement that reads the records of a plan.
    func statement(
        _ columns: String, _ selection: PreparedSelection, _ plan: FetchPlan, knowingNaN: Bool
    ) -> PostgreSQLConnection.Statement {
        var text = SQLText("SELECT \(columns)", .postgreSQL)
        text.append(selection.rows)
        text.append(selection.plan.sorting(knowingNaN: knowingNaN))
        if plan.appliesLimit, plan.query.isLimited {
            if let limit = plan.query.limit {
                text.append(" LIMIT ")
                text.append(value: .integer(Int64(max(limit, 0))))
            }
            text.append(" OFFSET ")
            text.append(value: .integer(Int64(max(plan.query.offset, 0))))
        }
        return .init(text)
    }

    /// Reads the records, their number or their identifiers alone.
    /// - Throws: `PostgreSQLError`.
    public func rows(for plan: FetchPlan) throws -> StoreRows<DefaultSnapshot> {
        let selection = try prepared(plan)
        let store = identifier
        if let state = try state(of: plan.scope) {
            return try state.reading { try rows(for: plan, selection, $0, $1) }
        }
        // In one round trip where one statement is all.
        if plan.query.purpose == .count, selection.isExact {
            return counted(try reading(Self.counting(selection)).1)
        }
        if isBare(plan, selection) {
            return try named(try records("t0.\"id\", t0.\"ent\"", selection, plan), selection, store)
        }
        if plan.query.prefetch.isEmpty {
            let snapshots = try decoded(try records(selection.decoding.columns, selection, plan), selection, store)
            return StoreRows(snapshots: snapshots, report: ExecutionReport(scanned: snapshots.count))
        }
        return try reading { try rows(for: plan, selection, $0, $1) }
    }

    /// Reads in a transaction that is under way.
    private func rows(
        for plan: FetchPlan, _ selection: PreparedSelection, _ connection: PostgreSQLConnection, _ moment: Moment
    ) throws -> StoreRows<DefaultSnapshot> {
        if plan.query.purpose == .count, selection.isExact {
            return counted(try connection.run([Self.counting(selection)])[0])
        }
        let isBare = isBare(plan, selection)
        let statement = statement(
            isBare ? "t0.\"id\", t0.\"ent\"" : selection.decoding.columns, selection, plan,
            knowingNaN: moment.holdsNaN)
        let result = try connection.run([statement])[0]
        let store = identifier
        if isBare { return try named(result, selection, store) }
        var snapshots = try decoded(result, selection, store)
        try addLists(plan.query.prefetch, to: &snapshots, connection)
        return StoreRows(snapshots: snapshots, report: ExecutionReport(scanned: snapshots.count))
    }

    /// Whether identifiers alone are the answer.
    private func isBare(_ plan: FetchPlan, _ selection: PreparedSelection) -> Bool {
        plan.query.purpose == .identifiers && selection.isExact && selection.plan.isSorted
            && (plan.appliesLimit || !plan.query.isLimited)
    }

    private static func counting(_ selection: PreparedSelection) -> PostgreSQLConnection.Statement {
        var text = SQLText("SELECT count(*)", .postgreSQL)
        text.append(selection.rows)
        return .init(text)
    }

    private func counted(_ result: PostgreSQLResult) -> StoreRows<DefaultSnapshot> {
        let count = Int(clamping: result.rows.first?.integer(0) ?? 0)
        return StoreRows(count: count, report: ExecutionReport(scanned: count))
    }

    private func named(
        _ result: PostgreSQLResult, _ selection: PreparedSelection, _ store: String
    ) throws -> StoreRows<DefaultSnapshot> {
        let identifiers = try result.rows.map {
            try selection.decoding.identifier($0, store: store, path: configuration.location)
        }
        return StoreRows(identifiers: identifiers, report: ExecutionReport(scanned: identifiers.count))
    }

    /// Reads in one round trip; where the first NaN has come meanwhile, once more.
    private func records(
        _ columns: String, _ selection: PreparedSelection, _ plan: FetchPlan
    ) throws -> PostgreSQLResult {
        let knowsNaN = knownNaN.withLock { $0 }
        let (moment, result) = try reading(statement(columns, selection, plan, knowingNaN: knowsNaN))
        if moment.holdsNaN == knowsNaN || !selection.sortsNumbers { return result }
        return try reading(statement(columns, selection, plan, knowingNaN: true)).1
    }

    private func decoded(
        _ result: PostgreSQLResult, _ selection: PreparedSelection, _ store: String
    ) throws -> [DefaultSnapshot] {
        try result.rows.map { try selection.decoding.record($0, store: store, path: configuration.location) }
    }

    // MARK: Lists

    /// Reads the to-many relationships of that name, a statement for each, in one round trip.
    func addLists(
        _ names: [String], to snapshots: inout [DefaultSnapshot], _ connection: PostgreSQLConnection
    ) throws {
        if names.isEmpty || snapshots.isEmpty { return }
        var owners: [Int64] = []
        for snapshot in snapshots {
            guard let number = snapshot.persistentIdentifier.sequenceNumber else { continue }
            owners.append(Int64(clamping: number))
        }
        var wanted: [TableMapping.ListSource: TableMapping.Slot] = [:]
        func forEachList(_ body: (Int, Int, TableMapping.Slot) throws -> Void) rethrows {
            for (place, snapshot) in snapshots.enumerated() {
                guard let entity = mapping.entities[snapshot.persistentIdentifier.entityName] else { continue }
                for name in names {
                    guard let slot = entity.layout.slot(named: name), entity.layout.slots[slot].role.isToMany else {
                        continue
                    }
                    try body(place, slot, entity.slots[slot])
                }
            }
        }
        forEachList { _, _, slot in wanted[slot.listSource] = slot }
        let slots = wanted.values.sorted { $0.number < $1.number }
        let results = try connection.run(slots.compactMap { members($0, of: owners) })
        var read: [TableMapping.ListSource: [Int: [PersistentIdentifier]]] = [:]
        for (slot, result) in zip(slots.filter { members($0, of: []) != nil }, results) {
            read[slot.listSource] = try members(result)
        }
        var changed: [Int: ContiguousArray<StoredValue>] = [:]
        forEachList { place, slot, mapped in
            let number = Int(clamping: snapshots[place].persistentIdentifier.sequenceNumber ?? 0)
            changed[place, default: snapshots[place].values][slot] =
                .identifiers(read[mapped.listSource]?[number] ?? [])
        }
        for (place, values) in changed {
            var snapshot = DefaultSnapshot(
                persistentIdentifier: snapshots[place].persistentIdentifier, layout: snapshots[place].layout,
                values: values)
            snapshot.recordVersion = snapshots[place].recordVersion
            snapshots[place] = snapshot
        }
    }

    /// The statement that reads the members of a relationship, in identity order: owner, member, the member's entity.
    func members(_ slot: TableMapping.Slot, of owners: [Int64]) -> PostgreSQLConnection.Statement? {
        guard let destination = mapping.entities[slot.destination] else { return nil }
        let table = SQLName.quoted(destination.table)
        let text: String
        switch slot.place {
        case .inverse(let column, _):
            let column = SQLName.quoted(column)
            text =
                "SELECT c.\(column), c.\"id\", c.\"ent\" FROM \(table) c WHERE c.\(column) = ANY($1::int8[]) "
                + "ORDER BY c.\"id\""
        case .links(let links), .backLinks(let links):
            let isOwner = if case .links = slot.place { true } else { false }
            let (own, other) = isOwner ? ("a", "b") : ("b", "a")
            text =
                "SELECT l.\"\(own)\", c.\"id\", c.\"ent\" FROM \(SQLName.quoted(links)) l JOIN \(table) c "
                + "ON c.\"id\" = l.\"\(other)\" WHERE l.\"\(own)\" = ANY($1::int8[]) ORDER BY c.\"id\""
        default: return nil
        }
        return .init(text, [.numbers(owners)])
    }

    /// The members by owner.
    func members(_ result: PostgreSQLResult) throws -> [Int: [PersistentIdentifier]] {
        let store = identifier
        var found: [Int: [PersistentIdentifier]] = [:]
        for row in result.rows {
            found[Int(row.integer(0)), default: []].append(try record(row.integer(1), row.integer(2), store))
        }
        return found
    }

    /// The identifier of a record by its number and that of its entity.
    func record(_ number: Int64, _ entity: Int64, _ store: String) throws -> PersistentIdentifier {
        guard let name = mapping.byNumber[Int(clamping: entity)]?.name, number > 0 else {
            throw error(.damagedValue(record: "record \(number)", property: "ent", found: "\(entity)"))
        }
        return .numbered(UInt64(number), storeIdentifier: store, entityName: name)
    }
}

extension SQLValue {
    /// A list of numbers as one value.
    static func numbers(_ numbers: some Sequence<Int64>) -> SQLValue {
        .array(numbers.map(SQLValue.integer), of: "int8")
    }
}
#endif
