#if SQLite
import Foundation
public import MortiseCore
import MortiseSQL

extension SQLiteStore {
    /// Returns the records in portions. In identity order each portion is read by itself, after the record that came last; in another
    /// order, and where the store pins what contexts read, the cursor reads one state of the file until it is released.
    /// - Throws: `SQLiteError`.
    public func cursor(for plan: FetchPlan) throws -> any RowCursor<DefaultSnapshot> {
        guard let selection = plan.preparation as? PreparedSelection ?? selection(plan.query) else {
            throw error(.misfit("\(plan.query.entity) is not in the schema"))
        }
        let state = try state(of: plan.scope)
        if plan.query.order.isEmpty, !plan.appliesLimit || !plan.query.isLimited {
            return try NumberCursor(self, state, plan, selection)
        }
        return try StatementCursor(self, try state ?? ReadState(self), plan, selection)
    }
}

/// A cursor that reads each portion after the number of the last record, in a short transaction or in the state of its scope.
private final class NumberCursor: RowCursor {
    private let store: SQLiteStore
    private let state: ReadState?
    private let plan: FetchPlan
    private let selection: PreparedSelection
    private var last: Int64 = 0
    /// The number of the first record that is inserted after the cursor was made: later insertions do not make it longer.
    private let end: Int64

    init(
        _ store: SQLiteStore, _ state: ReadState?, _ plan: FetchPlan, _ selection: PreparedSelection
    ) throws {
        func end(_: SQLiteConnection, _ moment: SQLiteStore.Moment) -> Int64 { moment.nextNumber }
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
        var text = SQLText("SELECT \(selection.decoding.columns)")
        text.append(rows)
        text.append(" ORDER BY t0.\"id\" LIMIT ")
        text.append(value: .integer(Int64(count)))
        var found: [DefaultSnapshot] = []
        let name = store.identifier
        func read(_ connection: SQLiteConnection, _: SQLiteStore.Moment) throws {
            try store.run(connection, "", text) { row in
                last = row.integer(0)
                found.append(
                    try selection.decoding.record(row, store: name, path: store.configuration.path))
            }
            try store.addLists(plan.query.prefetch, to: &found, connection)
        }
        if let state { try state.reading(read) } else { try store.reading(read) }
        return found
    }
}

/// A cursor that goes through the rows of one statement.
private final class StatementCursor: RowCursor {
    private let store: SQLiteStore
    private let state: ReadState
    private let plan: FetchPlan
    private let selection: PreparedSelection
    private var statement: SQLiteStatement?
    private let name: String

    init(
        _ store: SQLiteStore, _ state: ReadState, _ plan: FetchPlan, _ selection: PreparedSelection
    ) throws {
        self.store = store
        self.state = state
        self.plan = plan
        self.selection = selection
        name = store.identifier
        statement = try state.reading { connection, moment in
            var text = SQLText("SELECT \(selection.decoding.columns)")
            text.append(selection.rows)
            text.append(selection.plan.sorting(knowingNaN: moment.holdsNaN))
            if plan.appliesLimit, plan.query.isLimited {
                text.append(" LIMIT ")
                text.append(value: .integer(plan.query.limit.map { Int64(max($0, 0)) } ?? -1))
                text.append(" OFFSET ")
                text.append(value: .integer(Int64(max(plan.query.offset, 0))))
            }
            let statement = try connection.prepare(text.text)
            do { try statement.bind(text.values) } catch {
                connection.finish(statement)
                throw error
            }
            return statement
        }
    }

    deinit {
        guard let statement else { return }
        // Also where the state has ended by a failure.
        state.finish(statement)
    }

    func next(atMost count: Int) throws -> [DefaultSnapshot] {
        guard let statement else { return [] }
        return try state.reading { connection, _ in
            var found: [DefaultSnapshot] = []
            while found.count < count {
                guard try statement.step() else {
                    connection.finish(statement)
                    self.statement = nil
                    break
                }
                found.append(try selection.decoding.record(statement, store: name, path: store.configuration.path))
            }
            try store.addLists(plan.query.prefetch, to: &found, connection)
            return found
        }
    }
}
#endif
