#if PostgreSQL
import Foundation
public import MortiseCore
import MortiseSQL

extension PostgreSQLStore {
    /// Returns the records in portions. In identity order each portion is read by itself, after the record that came last; in another
    /// order, and where the store pins what contexts read, the cursor reads one state of the store until it is released.
    /// - Throws: `PostgreSQLError`.
    public func cursor(for plan: FetchPlan) throws -> any RowCursor<DefaultSnapshot> {
        guard let selection = plan.preparation as? PreparedSelection ?? selection(plan.query) else {
            throw error(.misfit("\(plan.query.entity) is not in the schema"))
        }
        let state = try state(of: plan.scope)
        if plan.query.order.isEmpty, !plan.appliesLimit || !plan.query.isLimited {
            return try NumberCursor(self, state, plan, selection)
        }
        return try ServerCursor(self, try state ?? ReadState(self, isPooled: true), plan, selection)
    }
}

/// A cursor that reads each portion after the number of the last record, in a short transaction or in the state of its scope.
private final class NumberCursor: RowCursor {
    private let store: PostgreSQLStore
    private let state: ReadState?
    private let plan: FetchPlan
    private let selection: PreparedSelection
    private var last: Int64 = 0
    /// The number of the first record that is inserted after the cursor was made: later insertions do not make it longer.
    private let end: Int64

    init(
        _ store: PostgreSQLStore, _ state: ReadState?, _ plan: FetchPlan, _ selection: PreparedSelection
    ) throws {
        func end(_: PostgreSQLConnection, _ moment: PostgreSQLStore.Moment) -> Int64 { moment.nextNumber }
        self.end = try state?.reading(end) ?? store.reading(end)
        self.store = store
        self.state = state
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
        func read(_ connection: PostgreSQLConnection, _: PostgreSQLStore.Moment) throws -> [DefaultSnapshot] {
            var found = try decoded(connection.run([statement])[0])
            try store.addLists(plan.query.prefetch, to: &found, connection)
            return found
        }
        let found: [DefaultSnapshot]
        if let state {
            found = try state.reading(read)
        } else if plan.query.prefetch.isEmpty {
            found = try decoded(store.reading(statement).1)
        } else {
            found = try store.reading(read)
        }
        if let number = found.last?.persistentIdentifier.sequenceNumber { last = Int64(clamping: number) }
        return found
    }
}

/// A cursor of the server, in the transaction of a state.
private final class ServerCursor: RowCursor {
    private let store: PostgreSQLStore
    /// Nil at the end: its connection may serve others.
    private var state: ReadState?
    private let plan: FetchPlan
    private let selection: PreparedSelection
    private let cursor: String
    private let name: String

    init(
        _ store: PostgreSQLStore, _ state: ReadState, _ plan: FetchPlan, _ selection: PreparedSelection
    ) throws {
        self.store = store
        self.plan = plan
        self.selection = selection
        name = store.identifier
        let cursor = state.cursorName()
        try state.reading { connection, moment in
            let rows = store.statement(selection.decoding.columns, selection, plan, knowingNaN: moment.holdsNaN)
            _ = try connection.run([
                .init("DECLARE \(cursor) NO SCROLL CURSOR FOR \(rows.text)", rows.values)
            ])
        }
        self.cursor = cursor
        self.state = state
    }

    deinit { end() }

    private func end() {
        guard let state else { return }
        // The state may be one that others read on. Where it has failed, the cursor is gone with it.
        try? state.reading { connection, _ in _ = try connection.run("CLOSE \(cursor)") }
        self.state = nil
    }

    func next(atMost count: Int) throws -> [DefaultSnapshot] {
        guard let state, count > 0 else { return [] }
        let found = try state.reading { connection, _ in
            let result = try connection.run("FETCH FORWARD \(count) FROM \(cursor)")
            var found = try result.rows.map {
                try selection.decoding.record($0, store: name, path: store.configuration.location)
            }
            try store.addLists(plan.query.prefetch, to: &found, connection)
            return found
        }
        if found.count < count { end() }
        return found
    }
}
#endif
