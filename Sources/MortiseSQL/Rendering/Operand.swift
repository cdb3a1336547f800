import MortiseCore

/// A value of an expression during its translation.
enum Operand {
    /// The same value for every record.
    case constant(StoredValue)
    /// A value of a kind, in the form in which the kind's values are compared.
    case scalar(SQLExpression, StorageKind, mayBeNull: Bool)
    /// A record, or null.
    case record(RecordOperand)
    /// The members of a to-many relationship.
    case members(MembersOperand)
}

/// A record: a row of a table that the statement reads, or what a column refers to.
struct RecordOperand {
    enum Row {
        /// A row of a table.
        case table(Int)
        /// The target of a relationship; its row need not be read for its number.
        case target(of: Int, column: String, entity: String?)
    }

    let row: Row
    /// The entity that the record is of at least.
    let entity: TableMapping.Entity
    /// The entities that the record is one of, or else counts as null. Nil for all of the family.
    var casts: Set<Int>?
    /// Whether there may be no record.
    var mayBeNull: Bool

    /// The number of the record, whatever it was cast to.
    var bareNumber: SQLExpression {
        switch row {
        case .table(let table): .column(table: table, name: TableMapping.Column.id)
        case .target(let table, let column, _): .column(table: table, name: column)
        }
    }

    /// The number of the record's entity; nil where it can only be one.
    var entityNumber: SQLExpression? {
        switch row {
        case .table(let table):
            entity.ownsTable && entity.family.count == 1
                ? nil : .column(table: table, name: TableMapping.Column.entity)
        case .target(let table, _, let column): column.map { .column(table: table, name: $0) }
        }
    }

    /// Whether the record's entity is one of some. It may be null if there is no record.
    func isOne(of numbers: Set<Int>) -> SQLExpression {
        if entity.family.isSubset(of: numbers) { return .truth(true) }
        let fitting = numbers.intersection(entity.family)
        guard let entityNumber, !fitting.isEmpty else { return .truth(false) }
        return Self.test(entityNumber, fitting)
    }

    static func test(_ entityNumber: SQLExpression, _ numbers: Set<Int>) -> SQLExpression {
        .isAmong(entityNumber, numbers.sorted())
    }

    /// The number of the record; null without a record.
    var number: SQLExpression {
        guard let casts else { return bareNumber }
        switch isOne(of: casts) {
        case .truth(true): return bareNumber
        case .truth: return .value(.null)
        case let test: return .choose(test, bareNumber, nil)
        }
    }
}

/// The members of a to-many relationship of a record, or some of them.
struct MembersOperand {
    /// The tables to be read for them, the members' own among them.
    let scope: Scope
    /// What makes a row a member.
    var conditions: [SQLExpression]
    /// A member.
    let member: RecordOperand
}

/// The tables that a statement, or a part of one in parentheses, reads.
final class Scope {
    private(set) var tables: [SQLSelection.Table] = []
    private var targets: [Target: Int] = [:]

    private struct Target: Hashable {
        let table: Int
        let column: String
    }

    func add(_ table: SQLSelection.Table) { tables.append(table) }

    /// The table in which the target of a relationship is found; it is joined if it was not.
    func join(_ name: String, targetOf table: Int, column: String, number make: () -> Int) -> Int {
        let target = Target(table: table, column: column)
        if let known = targets[target] { return known }
        let number = make()
        targets[target] = number
        add(
            SQLSelection.Table(
                number: number, name: name,
                joined: .compare(
                    .equal, .column(table: number, name: TableMapping.Column.id), .column(table: table, name: column))))
        return number
    }
}
