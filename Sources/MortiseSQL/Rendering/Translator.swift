import MortiseCore

/// Translates conditions to SQL that means the same.
///
/// A condition has two translations: one is true exactly where it holds, the other exactly where it does not. Each may be null
/// elsewhere, so that SQL's third value never shows. What SQL decides in another way is left out, and the fragment says that it is
/// not exact. One translator is for one statement.
package final class Translator {
    /// How deeply what is translated may be nested, without `!` and with `&&` within `&&` counting as one: what parsers of databases
    /// have room for. Deeper parts are left out.
    static let deepest = 16

    let mapping: TableMapping
    /// The identifier of the store, which is that of the identifiers of its records.
    let store: String
    private var nextTable = 0
    private var scopes: [Int: Scope] = [:]
    /// The tables of the statement itself.
    let scope = Scope()
    /// The record in question.
    let record: RecordOperand

    /// What variables are bound to.
    typealias Variables = [Int: Operand]

    /// Translates for records of an entity.
    /// - Parameters:
    ///   - entity: the entity, without which nothing can be translated.
    ///   - mapping: where the records are.
    ///   - store: the identifier of the store.
    package init(_ entity: TableMapping.Entity, _ mapping: TableMapping, store: String) {
        self.mapping = mapping
        self.store = store
        record = RecordOperand(row: .table(0), entity: entity, casts: nil, mayBeNull: false)
        add(entity.table, to: scope)
    }

    /// The tables that the translated conditions and keys read, the record's own first.
    package var tables: [SQLSelection.Table] { scope.tables }

    @discardableResult
    func add(_ table: String, to scope: Scope) -> Int {
        let number = newTable(in: scope)
        scope.add(SQLSelection.Table(number: number, name: table))
        return number
    }

    func newNumber(in scope: Scope) -> Int { newTable(in: scope) }

    private func newTable(in scope: Scope) -> Int {
        defer { nextTable += 1 }
        scopes[nextTable] = scope
        return nextTable
    }

    /// The table in which a record's row is read.
    func table(of record: RecordOperand) -> Int? {
        switch record.row {
        case .table(let table): table
        case .target(let owner, let column, _):
            scopes[owner].map { scope in
                scope.join(record.entity.table, targetOf: owner, column: column) { newTable(in: scope) }
            }
        }
    }

    /// A Boolean as a value.
    func truthValue(_ holds: Bool) -> SQLExpression {
        .value(mapping.dialect == .sqlite ? .integer(holds ? 1 : 0) : .bool(holds))
    }

    /// The form by which a constant is compared with others of a kind; nil for one that the kind cannot have.
    func compared(_ value: StoredValue, as kind: StorageKind) -> SQLValue? {
        AttributeColumns.compared(value, as: kind, mapping.dialect)
    }

    /// The translation of one of a query's conditions.
    package func condition(_ expression: QueryExpression) -> Fragment {
        if expression.mayThrow { return .unknown }
        return condition(expression, holds: true, [0: .record(record)], depth: 0)
    }

    // MARK: Conditions

    /// The translation of a condition, or of its opposite.
    func condition(
        _ expression: QueryExpression, holds: Bool, _ variables: Variables, depth: Int
    ) -> Fragment {
        if depth > Self.deepest { return .unknown }
        var (expression, holds) = (expression, holds)
        while case .not(let part) = expression { (expression, holds) = (part, !holds) }
        switch expression {
        case .and, .or:
            let (parts, isAll) = Self.parts(of: expression, holds)
            let found = parts.map { condition($0.expression, holds: $0.holds, variables, depth: depth + 1) }
            return isAll ? .and(found) : .or(found)
        case .compare(let comparison, let a, let b):
            return compare(comparison, a, b, holds: holds, variables, depth: depth + 1)
        case .conditional(let test, let a, let b):
            func way(_ isFirst: Bool, _ part: QueryExpression) -> Fragment {
                .and([
                    condition(test, holds: isFirst, variables, depth: depth + 1),
                    condition(part, holds: holds, variables, depth: depth + 1),
                ])
            }
            return .or([way(true, a), way(false, b)])
        case .contains(let all, let element):
            return contains(all, element, holds: holds, variables, depth: depth + 1)
        case .exists(let all, let variable, let test):
            return exists(all, variable, test, holds: holds, variables, depth: depth + 1)
        case .all(let all, let variable, let test):
            return exists(all, variable, .not(test), holds: !holds, variables, depth: depth + 1)
        case .isEmpty(let base): return isEmpty(base, holds: holds, variables, depth: depth + 1)
        case .startsWith(let base, let prefix):
            return text(base, prefix, isPrefix: true, holds: holds, variables, depth: depth + 1)
        case .containsSequence(let base, let part):
            return text(base, part, isPrefix: false, holds: holds, variables, depth: depth + 1)
        case .isKind(let base, let entity): return isKind(base, entity, holds: holds, variables, depth: depth + 1)
        case .constant(.bool(let value)): return .truth(value == holds)
        default:
            // A Boolean that cannot be null: reading null as one is an error.
            guard case .scalar(let sql, .bool, mayBeNull: false) = operand(expression, variables, depth: depth + 1)
            else { return .unknown }
            return Fragment(.compare(.equal, sql, truthValue(holds)))
        }
    }

    /// The conditions of which all have to hold, or one: parts that are joined in the same way are taken apart, however deep.
    private static func parts(
        of expression: QueryExpression, _ holds: Bool
    ) -> (parts: [(expression: QueryExpression, holds: Bool)], isAll: Bool) {
        func join(_ expression: QueryExpression, _ holds: Bool) -> (parts: [QueryExpression], isAll: Bool)? {
            switch expression {
            case .and(let parts): (parts, holds)
            case .or(let parts): (parts, !holds)
            default: nil
            }
        }
        let isAll = join(expression, holds)?.isAll ?? true
        var found: [(expression: QueryExpression, holds: Bool)] = []
        var pending = [(expression, holds)]
        while let next = pending.popLast() {
            var (expression, holds) = next
            while case .not(let part) = expression { (expression, holds) = (part, !holds) }
            if let join = join(expression, holds), join.isAll == isAll {
                pending += join.parts.reversed().map { ($0, holds) }
            } else {
                found.append((expression, holds))
            }
        }
        return (found, isAll)
    }

    private func isKind(
        _ base: QueryExpression, _ entity: String, holds: Bool, _ variables: Variables, depth: Int
    ) -> Fragment {
        guard case .record(let record) = operand(base, variables, depth: depth) else { return .unknown }
        let family = mapping.entities[entity]?.family ?? []
        let kinds = record.casts.map(family.intersection) ?? family
        let test = record.isOne(of: kinds)
        let exists = record.mayBeNull ? SQLExpression.isNotNull(record.bareNumber) : .truth(true)
        if holds { return .and([Fragment(test), Fragment(exists)]) }
        let isNone = record.mayBeNull ? SQLExpression.isNull(record.bareNumber) : .truth(false)
        let isOther = record.isOne(of: record.entity.family.subtracting(kinds))
        return .or([Fragment(isOther), Fragment(isNone)])
    }
}
