import MortiseCore

extension Translator {
    /// A comparison, or its opposite.
    func compare(
        _ comparison: QueryExpression.Comparison, _ a: QueryExpression, _ b: QueryExpression, holds: Bool,
        _ variables: Variables, depth: Int
    ) -> Fragment {
        if depth > Self.deepest { return .unknown }
        let isEquality = comparison == .equal || comparison == .notEqual
        // A condition beside a constant is that condition, or its opposite.
        for (part, other) in [(a, b), (b, a)] {
            if isEquality, case .constant(.bool(let value)) = other, part.isCondition {
                return condition(part, holds: (value == (comparison == .equal)) == holds, variables, depth: depth + 1)
            }
        }
        // What follows a chain is compared where the chain has a value.
        if case .flatMap(let base, let variable, let body) = a, case .constant(let value) = b, !value.isNull {
            return chain(base, variable, holds: holds, whereNull: comparison == .notEqual, variables, depth: depth) {
                compare(comparison, body, b, holds: holds, $0, depth: depth + 1)
            }
        }
        guard let x = operand(a, variables, depth: depth + 1), let y = operand(b, variables, depth: depth + 1) else {
            return .unknown
        }
        switch (x, y) {
        case (.constant(let x), .constant(let y)): return .truth(ValueSemantics.holds(comparison, x, y) == holds)
        case (.members, _), (_, .members): return .unknown
        case (let value, .constant(.null)), (.constant(.null), let value):
            guard isEquality else { return .truth(!holds) }
            return isNull(value, (comparison == .equal) == holds)
        case (.record(let x), .record(let y)):
            guard isEquality else { return .unknown }
            let isSame = (comparison == .equal) == holds
            return Fragment(isSame ? .isSame(x.number, y.number) : .isDifferent(x.number, y.number))
        case (.record(let record), .constant(.identifier(let identifier))):
            if isEquality { return self.record(record, isOneOf: [identifier], (comparison == .equal) == holds) }
            return order(comparison, record, identifier, holds: holds)
        case (.constant(.identifier(let identifier)), .record(let record)):
            if isEquality { return self.record(record, isOneOf: [identifier], (comparison == .equal) == holds) }
            return order(comparison.reversed, record, identifier, holds: holds)
        case (.scalar(let x, let kind, let mayBeNull), .constant(let value)):
            return compare(comparison, x, kind, mayBeNull, value, holds: holds)
        case (.constant(let value), .scalar(let y, let kind, let mayBeNull)):
            return compare(comparison.reversed, y, kind, mayBeNull, value, holds: holds)
        case (.scalar(let x, let kind, let mayBeNullX), .scalar(let y, let other, let mayBeNullY)):
            guard kind == other else { return .unknown }
            return compare(
                comparison, Side(sql: x, mayBeNull: mayBeNullX), Side(sql: y, mayBeNull: mayBeNullY), kind, holds: holds
            )
        default: return .unknown
        }
    }

    /// What follows a chain. The body gets the variables, with the one of the chain bound.
    func chain(
        _ base: QueryExpression, _ variable: Int, holds: Bool, whereNull: Bool, _ variables: Variables, depth: Int,
        _ body: (Variables) -> Fragment
    ) -> Fragment {
        guard let base = operand(base, variables, depth: depth + 1), let exists = isPresent(base) else {
            return .unknown
        }
        var inner = variables
        inner[variable] = present(base)
        let found = body(inner)
        if exists == .truth(true) { return found }
        if whereNull == holds { return .or([isNull(base, true), found]) }
        return .and([Fragment(exists), found])
    }

    /// Whether a value is null, or is not.
    func isNull(_ value: Operand, _ holds: Bool) -> Fragment {
        switch value {
        case .constant(let value): .truth(value.isNull == holds)
        case .scalar(let sql, _, _): Fragment(holds ? .isNull(sql) : .isNotNull(sql))
        case .record(let record): Fragment(holds ? .isNull(record.number) : .isNotNull(record.number))
        case .members: .unknown
        }
    }

    /// Whether a record is one of some, or is not among them.
    func record(_ record: RecordOperand, isOneOf identifiers: [PersistentIdentifier], _ holds: Bool) -> Fragment {
        // Numbers are given once in a store, but an identifier may name the wrong entity with one.
        var numbers: [Int: [Int64]] = [:]
        for identifier in identifiers where identifier.storeIdentifier == store {
            guard let entity = mapping.entities[identifier.entityName]?.number,
                let sequence = identifier.sequenceNumber,
                let number = Int64(exactly: sequence),
                (record.casts ?? record.entity.family).contains(entity), record.entity.family.contains(entity)
            else { continue }
            numbers[entity, default: []].append(number)
        }
        let ways = numbers.sorted { $0.key < $1.key }.map { entity, numbers -> SQLExpression in
            let list = numbers.map(SQLValue.integer)
            let number = record.bareNumber
            let isListed =
                list.count == 1 ? SQLExpression.compare(.equal, number, .value(list[0])) : .isIn(number, list)
            let isKind = record.isOne(of: [entity])
            return isKind == .truth(true) ? isListed : .and([isListed, isKind])
        }
        if holds { return .or(ways.map { Fragment($0) }) }
        if ways.isEmpty { return .truth(true) }
        // Null where there is no record, or where it is not among these.
        return Fragment(.isNull(.choose(ways.count == 1 ? ways[0] : .or(ways), .value(.integer(1)), nil)))
    }

    /// A comparison of a record with an identifier by order, or its opposite. Identifiers of one store are in the order of their numbers,
    /// and those of one number in that of their entities' names.
    private func order(
        _ comparison: QueryExpression.Comparison, _ record: RecordOperand, _ identifier: PersistentIdentifier,
        holds: Bool
    ) -> Fragment {
        guard identifier.storeIdentifier == store, let sequence = identifier.sequenceNumber,
            let constant = Int64(exactly: sequence)
        else { return .unknown }
        guard holds else {
            // Null is not less than anything, nor more.
            let opposite = order(comparison.opposite, record, identifier, holds: true)
            return record.mayBeNull || record.casts != nil ? .or([opposite, isNull(.record(record), true)]) : opposite
        }
        let isLess = comparison == .less || comparison == .lessOrEqual
        let entities = (record.casts ?? record.entity.family).intersection(record.entity.family)
        // An identifier may name the wrong entity with a number.
        let included = entities.filter { number in
            mapping.byNumber[number].map { ValueSemantics.holds(comparison, $0.name, identifier.entityName) } ?? false
        }
        func compared(_ comparison: QueryExpression.Comparison) -> SQLExpression {
            .compare(comparison.sql, record.number, .value(.integer(constant)))
        }
        let strict = compared(isLess ? .less : .greater)
        if included.isEmpty { return Fragment(strict) }
        // The bound that an index serves is a condition by itself.
        let bound = compared(isLess ? .lessOrEqual : .greaterOrEqual)
        if included == entities { return Fragment(bound) }
        return Fragment(.and([bound, .or([strict, record.isOne(of: included)])]))
    }

    // MARK: Values of kinds

    /// One side of a comparison.
    struct Side {
        let sql: SQLExpression
        let mayBeNull: Bool
    }

    private func compare(
        _ comparison: QueryExpression.Comparison, _ x: SQLExpression, _ kind: StorageKind, _ mayBeNull: Bool,
        _ value: StoredValue, holds: Bool
    ) -> Fragment {
        guard value.fits(kind), kind != .coded, let constant = compared(value, as: kind) else {
            return .unknown
        }
        let isEquality = comparison == .equal || comparison == .notEqual
        if kind.hasNaN, constant.isNaN {
            // The constant is NaN: equal to nothing, and no date is before or after it.
            if comparison == .equal { return .truth(!holds) }
            if comparison == .notEqual { return .truth(holds) }
            let holdsForAll = kind == .date && (comparison == .lessOrEqual || comparison == .greaterOrEqual)
            guard mayBeNull, holdsForAll else { return .truth(holdsForAll == holds) }
            return Fragment(holds ? .isNotNull(x) : .isNull(x))
        }
        let y = SQLExpression.value(constant)
        if isEquality {
            let isSame = (comparison == .equal) == holds
            // Plain equality, which an index serves, is null for null; what differs has to be true for it.
            return Fragment(
                isSame ? .compare(.equal, x, y) : mayBeNull ? .isDifferent(x, y) : .compare(.unequal, x, y))
        }
        guard kind.isOrdered else { return .truth(!holds) }
        let sides = (Side(sql: x, mayBeNull: mayBeNull), Side(sql: y, mayBeNull: false))
        return order(comparison, sides.0, sides.1, kind, isConstant: true, holds: holds)
    }

    private func compare(
        _ comparison: QueryExpression.Comparison, _ x: Side, _ y: Side, _ kind: StorageKind, holds: Bool
    ) -> Fragment {
        if comparison == .equal || comparison == .notEqual {
            let isSame = (comparison == .equal) == holds
            if !kind.hasNaN { return Fragment(isSame ? .isSame(x.sql, y.sql) : .isDifferent(x.sql, y.sql)) }
            // NaN is not equal to itself, and null is. Either test is null for null.
            let bothNull = SQLExpression.and([.isNull(x.sql), .isNull(y.sql)])
            if isSame {
                return Fragment(.or([.and([.compare(.equal, x.sql, y.sql), .isNumber(x.sql)]), bothNull]))
            }
            return Fragment(.or([.isDifferent(x.sql, y.sql), .isNaN(x.sql)]))
        }
        guard kind.isOrdered else { return .truth(!holds) }
        return order(comparison, x, y, kind, isConstant: false, holds: holds)
    }

    /// A comparison by order, or its opposite. The constant, on the right, is a number.
    private func order(
        _ comparison: QueryExpression.Comparison, _ x: Side, _ y: Side, _ kind: StorageKind, isConstant: Bool,
        holds: Bool
    ) -> Fragment {
        guard holds else {
            // Null is not less than anything, nor more; what is left is the opposite operator, but for NaN.
            var ways: [Fragment] = []
            if kind.hasNaN, kind != .date {
                ways.append(Fragment(.compare(comparison.opposite.sql, x.sql, y.sql)))
                ways.append(Fragment(.isNaN(x.sql)))
                if !isConstant { ways.append(Fragment(.isNaN(y.sql))) }
            } else {
                ways.append(order(comparison.opposite, x, y, kind, isConstant: isConstant, holds: true))
            }
            for side in [x, y] where side.mayBeNull { ways.append(Fragment(.isNull(side.sql))) }
            return .or(ways)
        }
        let plain = SQLExpression.compare(comparison.sql, x.sql, y.sql)
        guard kind.hasNaN else { return Fragment(plain) }
        // NaN is more than every number to a database: what is less than a number is one, and so is what a number is more than.
        let isLess = comparison == .less || comparison == .lessOrEqual
        let numbers: [SQLExpression] = isLess ? isConstant ? [] : [.isNumber(y.sql)] : [.isNumber(x.sql)]
        guard kind == .date, comparison == .lessOrEqual || comparison == .greaterOrEqual else {
            return Fragment(numbers.isEmpty ? plain : .and([plain] + numbers))
        }
        // A date that is not a number is neither before nor after another.
        let none = [SQLExpression.isNaN(x.sql)] + (isConstant ? [] : [.isNaN(y.sql)])
        let present = [x, y].filter(\.mayBeNull).map { SQLExpression.isNotNull($0.sql) }
        let either = SQLExpression.or([numbers.isEmpty ? plain : .and([plain] + numbers)] + none)
        return Fragment(isConstant || present.isEmpty ? either : .and([either] + present))
    }
}

extension QueryExpression {
    /// Whether the value is a Boolean that a condition of SQL can be made of.
    var isCondition: Bool {
        switch self {
        case .compare, .not, .and, .or, .contains, .exists, .all, .isEmpty, .startsWith, .containsSequence, .isKind:
            true
        default: false
        }
    }
}

extension QueryExpression.Comparison {
    /// The operator that holds for exchanged sides.
    var reversed: Self {
        switch self {
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        case .equal, .notEqual: self
        }
    }

    /// The operator that holds where this one does not.
    var opposite: Self {
        switch self {
        case .less: .greaterOrEqual
        case .lessOrEqual: .greater
        case .greater: .lessOrEqual
        case .greaterOrEqual: .less
        case .equal: .notEqual
        case .notEqual: .equal
        }
    }

    var sql: SQLExpression.Comparison {
        switch self {
        case .equal: .equal
        case .notEqual: .unequal
        case .less: .less
        case .lessOrEqual: .lessOrEqual
        case .greater: .greater
        case .greaterOrEqual: .greaterOrEqual
        }
    }
}

extension StorageKind {
    /// Whether a value may be NaN that is equal to nothing. The one of decimals is equal to itself, and has a key.
    var hasNaN: Bool { self == .double || self == .float || self == .date }

    /// Whether `<` and its like hold for any values of the kind.
    var isOrdered: Bool {
        switch self {
        case .bool, .data, .url, .coded: false
        default: true
        }
    }
}
