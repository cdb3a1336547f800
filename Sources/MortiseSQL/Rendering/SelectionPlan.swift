import Foundation
import MortiseCore

/// What a database does of a query: the claims for each of its conditions, and the parts of the statement.
package final class SelectionPlan: Sendable {
    /// A key by which rows are sorted.
    package struct Key: Sendable, Hashable {
        /// The value.
        package let sql: SQLExpression
        /// Whether small values come first.
        package let isAscending: Bool
        /// Whether the value may be NaN, which comes before all numbers.
        package let hasNaN: Bool
    }

    /// The entity of the query.
    package let entity: TableMapping.Entity
    /// The numbers of the entities whose records are selected.
    package let family: [Int]
    /// The rows.
    package let selection: SQLSelection
    /// The keys; the number of the record comes last.
    package let order: [Key]
    /// The claims by the numbers of the conditions.
    package let claims: [Int: FetchPlan.Claim]
    /// Whether the order is that of the query.
    package let isSorted: Bool
    /// Whether an index leads to the rows.
    package let usesIndex: Bool
    /// An attribute by whose index the rows could be found.
    package let suggestion: String?
    private let dialect: SQLDialect

    /// How many values a statement may be given; databases have a limit.
    private static let mostValues = 30_000
    /// How many parts a condition may have.
    private static let mostParts = 100_000
    /// How many values a condition may have that are in no list.
    private static let mostSingle = 2_000

    /// Translates as much of a query as SQL decides in the same way: nothing but the order if it is not to translate conditions. Nil
    /// for an entity that the mapping lacks.
    package init?(
        _ query: StoreQuery, _ mapping: TableMapping, store: String, translatingConditions translates: Bool = true
    ) {
        guard let entity = mapping.entities[query.entity] else { return nil }
        self.entity = entity
        dialect = mapping.dialect
        let translator = Translator(entity, mapping, store: store)
        let family = query.includesSubentities ? entity.family : [entity.number]
        let indexes = mapping.indexes(ofTable: entity.table)
        let indexed = Set(indexes.filter { $0.condition == nil }.compactMap(\.columns.first)).subtracting([
            TableMapping.Column.entity
        ]).union([TableMapping.Column.id])
        // Those that have some records only, but all that may be selected.
        let partial = indexes.filter { index in
            index.condition != nil && (index.family.map { family.isSubset(of: $0) } ?? true)
        }
        var conditions: [SQLExpression] = []
        var claims: [Int: FetchPlan.Claim] = [:]
        var (usesIndex, suggestion) = (false, String?.none)
        var room = Self.mostValues
        for conjunct in query.conjuncts where translates {
            // Tables that a condition joins stay joined, and change no answer.
            let fragment = translator.condition(conjunct.expression)
            let size = fragment.sql.size
            if fragment.isUnknown || size.values > room || size.parts > Self.mostParts { continue }
            // A database takes time by the square of these.
            if size.single > Self.mostSingle { continue }
            room -= size.values
            claims[conjunct.id] = fragment.isExact ? .exact : .superset
            if fragment.sql == .truth(true) { continue }
            conditions.append(fragment.sql)
            if fragment.sql.isServed(by: indexed) {
                usesIndex = true
            } else if let index = partial.first(where: { fragment.sql.isServed(by: $0) }) {
                usesIndex = true
                // It goes without saying, but a database takes the index only where it is said.
                if let family = index.family {
                    conditions.append(.isAmong(.column(table: 0, name: TableMapping.Column.entity), family))
                }
                conditions += index.numbers.map { .isNumber(.column(table: 0, name: $0)) }
            } else if suggestion == nil, fragment.sql.isServed(by: nil) {
                suggestion = Self.suggestion(conjunct.expression, query.entity)
            }
        }
        self.claims = claims
        self.usesIndex = usesIndex
        self.suggestion = usesIndex ? nil : suggestion
        var keys: [Key] = []
        for key in query.order {
            guard let sql = translator.key(key) else { break }
            keys.append(sql)
        }
        isSorted = keys.count == query.order.count
        order = isSorted ? keys : []
        self.family = family.sorted()
        if !entity.ownsTable || family.count < entity.family.count {
            conditions.insert(
                RecordOperand.test(.column(table: 0, name: TableMapping.Column.entity), family), at: 0)
        }
        selection = SQLSelection(
            tables: translator.tables,
            condition: conditions.isEmpty ? .truth(true) : conditions.count == 1 ? conditions[0] : .and(conditions))
    }

    private static func suggestion(_ expression: QueryExpression, _ entity: String) -> String? {
        var name: String?
        expression.forEachPart { part in
            if name == nil, case .property(.variable(0), let property) = part { name = property.name }
        }
        return name.map { "#Index<\(entity)>([\\.\($0)])" }
    }

    /// Whether everything that was asked is done by the statement.
    package func isExact(_ query: StoreQuery) -> Bool { query.conjuncts.allSatisfy { claims[$0.id] == .exact } }

    /// The words from FROM on, with the condition.
    package func rows() -> SQLText {
        var text = SQLText(dialect)
        text.append(selection)
        return text
    }

    /// The words ORDER BY and the keys. If any value may be NaN, the keys are such that no index has them.
    package func sorting(knowingNaN knowsNaN: Bool) -> SQLText {
        var text = SQLText(" ORDER BY ", dialect)
        for key in order {
            // Null comes before all values.
            let direction =
                switch (dialect, key.isAscending) {
                case (.sqlite, true): ", "
                case (.sqlite, false): " DESC, "
                case (.postgreSQL, true): " NULLS FIRST, "
                case (.postgreSQL, false): " DESC NULLS LAST, "
                }
            if key.hasNaN, knowsNaN {
                text.append(.isNumber(key.sql))
                text.append(direction)
                text.append(.choose(.isNumber(key.sql), key.sql, nil))
            } else {
                text.append(key.sql)
            }
            text.append(direction)
        }
        text.append(.column(table: 0, name: TableMapping.Column.id))
        return text
    }
}

extension Translator {
    /// A key of an order; nil for one that SQL does not sort by as the framework does.
    func key(_ key: StoreQuery.Order) -> SelectionPlan.Key? {
        guard !key.expression.mayThrow else { return nil }
        switch operand(key.expression, [0: .record(record)], depth: 0) {
        case .scalar(let sql, let kind, _)?:
            if kind == .coded || kind == .url || (kind == .string && key.stringOrder != nil) { return nil }
            return SelectionPlan.Key(sql: sql, isAscending: key.isAscending, hasNaN: kind.hasNaN)
        case .record(let record)?:
            // Identifiers of one store are in the order of their numbers.
            return SelectionPlan.Key(sql: record.number, isAscending: key.isAscending, hasNaN: false)
        default: return nil
        }
    }
}

extension SQLExpression {
    /// How many values the expression has, how many of them are in no list, and how many parts.
    var size: (values: Int, single: Int, parts: Int) {
        var (values, single, parts) = (0, 0, 0)
        var pending = [self]
        while let next = pending.popLast() {
            parts += 1
            switch next {
            case .value:
                values += 1
                single += 1
            case .isIn(_, let list), .isNotIn(_, let list): values += 2 * list.count
            default: break
            }
            pending += next.children
        }
        return (values, single, parts)
    }

    private var children: [SQLExpression] {
        switch self {
        case .value, .truth, .column: []
        case .compare(_, let a, let b), .isSame(let a, let b), .isDifferent(let a, let b), .hasPart(let a, let b),
            .coalesce(let a, let b):
            [a, b]
        case .isNull(let a), .isNotNull(let a), .isNaN(let a), .isNumber(let a), .isIn(let a, _), .isNotIn(let a, _):
            [a]
        case .isAmong(let a, _): [a]
        case .and(let parts), .or(let parts): parts
        case .choose(let a, let b, let c): [a, b] + (c.map { [$0] } ?? [])
        case .exists(let selection, _), .count(let selection):
            selection.tables.compactMap(\.joined) + [selection.condition]
        }
    }

    /// Whether an index on one of some columns of the record itself leads to the rows; on any column if these are nil.
    func isServed(by columns: Set<String>?) -> Bool {
        func isIndexed(_ part: SQLExpression) -> Bool {
            if case .column(table: 0, let name) = part { columns?.contains(name) ?? true } else { false }
        }
        return switch self {
        case .and(let parts): parts.contains { $0.isServed(by: columns) }
        case .or(let parts): !parts.isEmpty && parts.allSatisfy { $0.isServed(by: columns) }
        case .compare(.unequal, _, _): false
        case .compare(_, let a, .value), .compare(_, .value, let a): isIndexed(a)
        case .isIn(let a, _), .isNull(let a), .isNaN(let a): isIndexed(a)
        case .truth(let holds): !holds
        default: false
        }
    }

    /// Whether an index that has some records only leads to the rows: its first column does, and those that have to be numbers are.
    func isServed(by index: TableIndex) -> Bool {
        guard let first = index.columns.first, isServed(by: [first]) else { return false }
        return index.numbers.allSatisfy { equates($0) }
    }

    /// Whether a column of the record itself is equal to one of some values wherever the expression is true.
    private func equates(_ column: String) -> Bool {
        switch self {
        case .and(let parts): parts.contains { $0.equates(column) }
        case .compare(.equal, .column(table: 0, column), .value), .compare(.equal, .value, .column(table: 0, column)),
            .isIn(.column(table: 0, column), _):
            true
        default: false
        }
    }
}
