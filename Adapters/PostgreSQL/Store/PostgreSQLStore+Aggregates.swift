#if PostgreSQL
import Foundation
public import MortiseCore
import MortiseSQL

extension PostgreSQLStore {
    /// Aggregates in the server where that has the same results: numbers, sums and averages of integers, and their extremes. Otherwise it
    /// reads the values that are needed, in identity order, and nothing else of the records.
    /// - Throws: `QueryEvaluationError`; `PostgreSQLError`.
    public func aggregate(_ query: AggregateQuery, in version: (any StoreVersion)?) throws -> AggregateAnswer? {
        guard let selection = selection(query.query), selection.isExact,
            let columns = AggregateColumns(query, mapping)
        else { return nil }
        let groups: [AggregateGroup]
        var scanned = 0
        if columns.areWhole, !columns.hasHops {
            groups = try reading { connection, _ in
                try grouped(query, columns, selection, connection) { scanned = $0 }
            }
        } else {
            groups = try reading { connection, _ in
                try streamed(query, columns, selection, connection) { scanned = $0 }
            }
        }
        return AggregateAnswer(groups: groups, report: ExecutionReport(scanned: scanned))
    }

    /// Goes through the values of all records.
    private func streamed(
        _ query: AggregateQuery, _ columns: AggregateColumns, _ selection: PreparedSelection,
        _ connection: PostgreSQLConnection, _ scanned: (Int) -> Void
    ) throws -> [AggregateGroup] {
        var groups = AggregateGroups()
        let states = query.functions.map { AggregateState($0) }
        if query.keys.isEmpty {
            _ = groups.number(of: [])
            for state in states { state.reserve(groups: 1) }
        }
        var text = SQLText("SELECT \(columns.text.isEmpty ? "1" : columns.text)", .postgreSQL)
        text.append(selection.rows)
        text.append(" ORDER BY t0.\"id\"")
        var count = 0
        // In portions: the values of all records may be more than memory holds.
        let statement = PostgreSQLConnection.Statement(text)
        try connection.run("DECLARE mortise_values NO SCROLL CURSOR FOR \(statement.text)", statement.values)
        while true {
            let portion = try connection.run("FETCH FORWARD 5000 FROM mortise_values")
            for row in portion.rows {
                let group =
                    query.keys.isEmpty
                    ? 0 : groups.number(of: try columns.keys.map { try value($0, in: row, connection) })
                for (state, source) in zip(states, columns.functions) {
                    state.reserve(groups: groups.count)
                    guard let source else {
                        state.add(count: 1, group: group)
                        continue
                    }
                    try state.add(try value(source, in: row, connection), group: group)
                }
            }
            count += portion.count
            if portion.count < 5_000 { break }
        }
        try connection.run("CLOSE mortise_values")
        scanned(count)
        return try groups.results(states)
    }

    private func value(
        _ source: AggregateColumns.Source, in row: PostgreSQLRow, _ connection: PostgreSQLConnection
    ) throws -> StoredValue {
        func damaged() -> PostgreSQLError {
            error(
                .damagedValue(record: "a record", property: source.name, found: row.value(source.main)?.sort ?? "text"))
        }
        switch source.content {
        case .attribute(let columns):
            guard let main = row.value(source.main), let other = source.other < 0 ? .null : row.value(source.other),
                let value = columns.value(main, other)
            else { throw damaged() }
            return value
        case .reference(let destination):
            if row.isNull(source.main) { return .null }
            guard let number = row.number(source.main), number > 0 else { throw damaged() }
            var name = destination.name
            if source.other >= 0, let entity = row.number(source.other) {
                guard let found = mapping.byNumber[Int(clamping: entity)] else { throw damaged() }
                name = found.name
            }
            return .identifier(.numbered(UInt64(number), storeIdentifier: identifier, entityName: name))
        }
    }

    /// Has the server group integers. A sum is taken of both halves of the numbers, which cannot overflow.
    private func grouped(
        _ query: AggregateQuery, _ columns: AggregateColumns, _ selection: PreparedSelection,
        _ connection: PostgreSQLConnection, _ scanned: (Int) -> Void
    ) throws -> [AggregateGroup] {
        let keys = columns.keys.map(\.mainText)
        var parts = keys + ["count(*)"]
        for (function, source) in zip(query.functions, columns.functions) {
            guard let column = source?.mainText else { continue }
            switch function {
            case .count: break
            case .sum, .average:
                parts += [
                    "sum(\(column)::int8 >> 32)::int8", "sum(\(column)::int8 & 4294967295)::int8", "count(\(column))",
                ]
            case .minimum: parts.append("min(\(column))::int8")
            case .maximum: parts.append("max(\(column))::int8")
            }
        }
        var text = SQLText("SELECT \(parts.joined(separator: ", "))", .postgreSQL)
        text.append(selection.rows)
        if !keys.isEmpty {
            text.append(
                " GROUP BY \(keys.joined(separator: ", ")) ORDER BY \(keys.map { $0 + " NULLS FIRST" }.joined(separator: ", "))"
            )
        }
        var groups: [AggregateGroup] = []
        var count = 0
        for row in try connection.run([.init(text)])[0].rows {
            var place = Int32(keys.count)
            func whole() throws -> Int64? {
                defer { place += 1 }
                if row.isNull(place) { return nil }
                guard let number = row.number(place) else {
                    throw error(.damagedValue(record: "a record", property: "a number", found: "another value"))
                }
                return number
            }
            let records = try whole() ?? 0
            count += Int(clamping: records)
            var values: [StoredValue] = []
            for (function, _) in zip(query.functions, columns.functions) {
                switch function {
                case .count: values.append(.integer(records))
                case .minimum, .maximum: values.append(try whole().map(StoredValue.integer) ?? .null)
                case .sum(let expression, let kind):
                    let (high, low, _) = (try whole() ?? 0, try whole() ?? 0, try whole())
                    let sum = Int128(high) << 32 + Int128(low)
                    guard let fitting = Int64(exactly: sum), kind.integerRange?.contains(fitting) == true else {
                        throw QueryEvaluationError.arithmeticOverflow(expression: "sum of \(expression)")
                    }
                    values.append(.integer(fitting))
                case .average:
                    let (high, low, present) = (try whole() ?? 0, try whole() ?? 0, try whole() ?? 0)
                    let sum = Int128(high) << 32 + Int128(low)
                    values.append(present == 0 ? .null : .double(Double(sum) / Double(present)))
                }
            }
            groups.append(
                AggregateGroup(
                    keys: try columns.keys.enumerated().map { number, key in
                        guard case .attribute(let attribute) = key.content, let main = row.value(Int32(number)),
                            let value = attribute.value(main, .null)
                        else {
                            throw error(.damagedValue(record: "a record", property: key.name, found: "another value"))
                        }
                        return value
                    }, values: values))
        }
        scanned(count)
        return groups
    }
}
#endif
