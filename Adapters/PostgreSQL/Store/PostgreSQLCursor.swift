#if PostgreSQL
import Foundation
public import MortiseCore
import MortiseSQL

extension PostgreSQLStore {
    /// Returns the records in portions. In identity order each portion is read by itself, after the record that came last; in another
    /// order the cursor reads one state of the store, with a connection of its own, until it is released.
    /// - Throws: `PostgreSQLError`.
    public func cursor(for plan: FetchPlan) throws -> any RowCursor<DefaultSnapshot> {
        guard let selection = plan.preparation as? PreparedSelection ?? selection(plan.query) else {
            throw error(.misfit("\(plan.query.entity) is not in the schema"))
        }
        if plan.query.order.isEmpty, !plan.appliesLimit || !plan.query.isLimited {
            return try NumberCursor(self, plan, selection)
        }
        return try ServerCursor(self, plan, selection)
    }
}

/// A cursor that reads each portion in a short transaction, after the number of the last record.
private final class NumberCursor: RowCursor {
    private let store: PostgreSQLStore
    private let plan: FetchPlan
    private let selection: PreparedSelection
    private var last: Int64 = 0
    /// The number of the first record that is inserted after the cursor was made: later insertions do not make it longer.
    private let end: Int64

    init(_ store: PostgreSQLStore, _ plan: FetchPlan, _ selection: PreparedSelection) throws {
        end = try store.reading { _, moment in moment.nextNumber }
        self.store = store
        self.plan = plan
        self.selection = selection
    }

    func next(atMost count: Int) throws -> [DefaultSnapshot] {
        if count < 1 { return [] }
        var rows = selection.plan.selection
        let number = SQLExpression.column(table: 0, name: TableMapping.Column.id)
        let isNext = [
            SQLExpression.compare(.greater, number, .value(.integer(last))),
            .compare(.less, number, .value(.integer(end))),
        ]
        rows.condition = .and((rows.condition == .truth(true) ? [] : [rows.condition]) + isNext)
        var text = SQLText("SELECT \(selection.decoding.columns)", .postgreSQL)
        text.append(rows)
        text.append(" ORDER BY t0.\"id\" LIMIT ")
        text.append(value: .integer(Int64(count)))
        let name = store.identifier
        let statement = PostgreSQLConnection.Statement(text)
        func decoded(_ result: PostgreSQLResult) throws -> [DefaultSnapshot] {
            try result.rows.map {
                try selection.decoding.record($0, store: name, path: store.configuration.location)
            }
        }
        var found: [DefaultSnapshot]
        if plan.query.prefetch.isEmpty {
            found = try decoded(store.reading(statement).1)
        } else {
            found = try store.reading { connection, _ in
                var found = try decoded(connection.run([statement])[0])
                try store.addLists(plan.query.prefetch, to: &found, connection)
                return found
            }
        }
        if let number = found.last?.persistentIdentifier.sequenceNumber { last = Int64(clamping: number) }
        return found
    }
}

/// A cursor of the server, in a transaction of its own.
private final class ServerCursor: RowCursor {
    private let store: PostgreSQLStore
    private let plan: FetchPlan
    private let selection: PreparedSelection
    private let connection: PostgreSQLConnection
    private let name: String
    private var isEnded = false

    init(_ store: PostgreSQLStore, _ plan: FetchPlan, _ selection: PreparedSelection) throws {
        self.store = store
        self.plan = plan
        self.selection = selection
        name = store.identifier
        connection = try store.pool.take()
        do {
            let results = try connection.run([
                .init(PostgreSQLStore.beginReading), .init(PostgreSQLStore.momentText),
            ])
            let moment = try store.moment(results[1])
            let rows = store.statement(selection.decoding.columns, selection, plan, knowingNaN: moment.holdsNaN)
            _ = try connection.run([
                .init("DECLARE mortise_cursor NO SCROLL CURSOR FOR \(rows.text)", rows.values)
            ])
        } catch {
            end()
            throw error
        }
    }

    deinit { end() }

    private func end() {
        if isEnded { return }
        isEnded = true
        store.pool.put(connection)
    }

    func next(atMost count: Int) throws -> [DefaultSnapshot] {
        if isEnded || count < 1 { return [] }
        let result = try connection.run("FETCH FORWARD \(count) FROM mortise_cursor")
        var found = try result.rows.map {
            try selection.decoding.record($0, store: name, path: store.configuration.location)
        }
        try store.addLists(plan.query.prefetch, to: &found, connection)
        if found.count < count { end() }
        return found
    }
}
#endif
