import Foundation
import MortiseCore
import MortiseSQL
import SQLSupport

/// Evaluates expressions of SQL on rows in memory, with the three values of conditions and the classes of values that SQLite has.
struct SQLInterpreter {
    typealias Row = [String: SQLValue]

    /// The rows by table.
    private(set) var tables: [String: [Row]] = [:]

    init(_ records: [DefaultSnapshot], _ mapping: TableMapping) throws {
        for record in records {
            guard let entity = mapping.entities[record.persistentIdentifier.entityName] else { continue }
            let number = SQLValue.integer(Int64(record.persistentIdentifier.sequenceNumber ?? 0))
            var row: Row = [
                TableMapping.Column.id: number, TableMapping.Column.entity: .integer(Int64(entity.number)),
                TableMapping.Column.version: .integer(1),
            ]
            for (slot, value) in zip(entity.slots, record.values) {
                switch (slot.place, value) {
                case (.attribute(let columns), _):
                    guard let contents = columns.contents(of: value) else { throw UnfitValue(value: value) }
                    // What is written has to come back.
                    guard columns.value(contents.main, contents.other)?.isIdentical(to: value) == true else {
                        throw UnfitValue(value: value)
                    }
                    row[columns.main] = contents.main
                    if let other = columns.other { row[other] = contents.other }
                case (.reference(let column, let entityColumn), .identifier(let target)):
                    row[column] = .integer(Int64(target.sequenceNumber ?? 0))
                    if let entityColumn {
                        row[entityColumn] = .integer(Int64(mapping.entities[target.entityName]?.number ?? 0))
                    }
                case (.links(let table), .identifiers(let members)):
                    for member in members {
                        tables[table, default: []].append([
                            TableMapping.Link.owner: number,
                            TableMapping.Link.member: .integer(Int64(member.sequenceNumber ?? 0)),
                        ])
                    }
                default: break
                }
            }
            tables[entity.table, default: []].append(row)
        }
    }

    struct UnfitValue: Error {
        let value: StoredValue
    }

    private typealias Bound = [Int: Row]

    /// The numbers of the rows that a selection has.
    func numbers(_ selection: SQLSelection) -> Set<Int64> {
        var found: Set<Int64> = []
        forEachRow(selection, [:]) { bound in
            if case .integer(let number)? = bound[selection.tables[0].number]?[TableMapping.Column.id] {
                found.insert(number)
            }
            return true
        }
        return found
    }

    /// Hands over the rows until the body returns false.
    private func forEachRow(_ selection: SQLSelection, _ bound: Bound, _ body: (Bound) -> Bool) {
        _ = forEachRow(selection.tables[...], bound) { bound in
            evaluate(selection.condition, bound) == .integer(1) ? body(bound) : true
        }
    }

    private func forEachRow(_ left: ArraySlice<SQLSelection.Table>, _ bound: Bound, _ body: (Bound) -> Bool) -> Bool {
        guard let table = left.first else { return body(bound) }
        var isMatched = false
        for row in tables[table.name] ?? [] {
            var inner = bound
            inner[table.number] = row
            if let joined = table.joined, evaluate(joined, inner) != .integer(1) { continue }
            isMatched = true
            if !forEachRow(left.dropFirst(), inner, body) { return false }
        }
        if isMatched || table.joined == nil { return true }
        var inner = bound
        inner[table.number] = [:]
        return forEachRow(left.dropFirst(), inner, body)
    }

    private func evaluate(_ expression: SQLExpression, _ bound: Bound) -> SQLValue {
        func truth(_ holds: Bool?) -> SQLValue { holds.map { .integer($0 ? 1 : 0) } ?? .null }
        func value(_ expression: SQLExpression) -> SQLValue { evaluate(expression, bound) }
        func bool(_ expression: SQLExpression) -> Bool? {
            switch value(expression) {
            case .integer(let number): number != 0
            case .real(let number): number != 0
            default: nil
            }
        }
        switch expression {
        case .value(let value): return value
        case .truth(let holds): return truth(holds)
        case .column(let table, let name): return bound[table]?[name] ?? .null
        case .compare(let comparison, let a, let b):
            guard let order = Self.order(value(a), value(b)) else { return .null }
            return switch comparison {
            case .equal: truth(order == 0)
            case .unequal: truth(order != 0)
            case .less: truth(order < 0)
            case .lessOrEqual: truth(order <= 0)
            case .greater: truth(order > 0)
            case .greaterOrEqual: truth(order >= 0)
            }
        case .isSame(let a, let b): return truth(Self.areSame(value(a), value(b)))
        case .isDifferent(let a, let b): return truth(!Self.areSame(value(a), value(b)))
        case .isNull(let a): return truth(value(a).isNull)
        case .isNotNull(let a): return truth(!value(a).isNull)
        case .isNaN(let a): return truth(Self.order(value(a), .text("")).map { $0 >= 0 })
        case .isNumber(let a): return truth(Self.order(value(a), .text("")).map { $0 < 0 })
        case .isIn(let a, let list):
            let value = value(a)
            return value.isNull ? .null : truth(list.contains { Self.order(value, $0) == 0 })
        case .isNotIn(let a, let list):
            let value = value(a)
            return value.isNull ? .null : truth(!list.contains { Self.order(value, $0) == 0 })
        case .isAmong(let a, let numbers):
            guard case .integer(let number) = value(a) else { return .null }
            return truth(numbers.contains(Int(number)))
        case .hasPart(let a, let b):
            guard case .text(let whole) = value(a), case .text(let part) = value(b) else { return .null }
            return truth(Data(whole.utf8).range(of: Data(part.utf8)) != nil)
        case .and(let parts):
            let found = parts.map(bool)
            return truth(found.contains(false) ? false : found.contains(nil) ? nil : true)
        case .or(let parts):
            let found = parts.map(bool)
            return truth(found.contains(true) ? true : found.contains(nil) ? nil : false)
        case .choose(let test, let a, let b): return bool(test) == true ? value(a) : b.map(value) ?? .null
        case .coalesce(let a, let b):
            let first = value(a)
            return first.isNull ? value(b) : first
        case .exists(let selection, let isNegated):
            var isFound = false
            forEachRow(selection, bound) { _ in
                isFound = true
                return false
            }
            return truth(isFound != isNegated)
        case .count(let selection):
            var count: Int64 = 0
            forEachRow(selection, bound) { _ in
                count += 1
                return true
            }
            return .integer(count)
        }
    }

    private static func areSame(_ a: SQLValue, _ b: SQLValue) -> Bool {
        a.isNull || b.isNull ? a.isNull && b.isNull : order(a, b) == 0
    }

    /// Negative, zero or positive; nil where one is null.
    private static func order(_ a: SQLValue, _ b: SQLValue) -> Int? {
        func rank(_ value: SQLValue) -> Int {
            switch value {
            case .null: 0
            case .integer, .real: 1
            case .text: 2
            case .blob: 3
            // These are for databases whose columns have types.
            case .float, .bool, .decimal, .uuid, .array: 4
            }
        }
        func place<Elements: Sequence>(_ a: Elements, _ b: Elements) -> Int where Elements.Element == UInt8 {
            a.lexicographicallyPrecedes(b) ? -1 : b.lexicographicallyPrecedes(a) ? 1 : 0
        }
        if a.isNull || b.isNull { return nil }
        if rank(a) != rank(b) { return rank(a) - rank(b) }
        switch (a, b) {
        case (.integer(let x), .integer(let y)): return x < y ? -1 : x > y ? 1 : 0
        case (.text(let x), .text(let y)): return place(x.utf8, y.utf8)
        case (.blob(let x), .blob(let y)): return place(x, y)
        default:
            func number(_ value: SQLValue) -> Double {
                switch value {
                case .integer(let number): Double(number)
                case .real(let number): number
                default: 0
                }
            }
            let (x, y) = (number(a), number(b))
            return x < y ? -1 : x > y ? 1 : 0
        }
    }
}
