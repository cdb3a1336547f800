import MortiseCore

extension Translator {
    /// The translation of a value; nil for one that SQL has no equal for.
    func operand(_ expression: QueryExpression, _ variables: Variables, depth: Int) -> Operand? {
        if depth > Self.deepest { return nil }
        switch expression {
        case .constant(let value): return .constant(value)
        case .variable(let number): return variables[number]
        case .property(let base, let property): return self.property(property, base, variables, depth)
        case .identifier(let base):
            switch operand(base, variables, depth: depth + 1) {
            case .record(let record)?: return .record(record)
            case .constant(.identifier(let identifier))?: return .constant(.identifier(identifier))
            case .constant(.null)?: return .constant(.null)
            default: return nil
            }
        case .cast(let base, let entity):
            guard case .record(var record) = operand(base, variables, depth: depth + 1) else { return nil }
            let family = mapping.entities[entity]?.family ?? []
            record.casts = (record.casts ?? record.entity.family).intersection(family)
            record.mayBeNull = true
            return .record(record)
        case .compare, .not, .and, .or, .contains, .exists, .all, .isEmpty, .startsWith, .containsSequence, .isKind:
            return truthValue(of: expression, variables, depth)
        case .conditional(let test, let a, let b):
            let test = condition(test, holds: true, variables, depth: depth + 1)
            guard test.isExact, let (a, b) = pair(a, b, variables, depth) else { return nil }
            return .scalar(.choose(test.sql, a.sql, b.sql), a.kind, mayBeNull: a.mayBeNull || b.mayBeNull)
        case .coalesce(let a, let b):
            guard let (a, b) = pair(a, b, variables, depth) else { return nil }
            return .scalar(.coalesce(a.sql, b.sql), a.kind, mayBeNull: a.mayBeNull && b.mayBeNull)
        case .flatMap(let base, let variable, let body):
            guard let base = operand(base, variables, depth: depth + 1), let exists = isPresent(base) else {
                return nil
            }
            var inner = variables
            inner[variable] = present(base)
            guard case .scalar(let sql, let kind, _)? = operand(body, inner, depth: depth + 1) else { return nil }
            return .scalar(exists == .truth(true) ? sql : .choose(exists, sql, nil), kind, mayBeNull: true)
        case .filter, .list, .range: return nil
        case .count(let base):
            guard let members = members(base, variables, depth: depth + 1) else { return nil }
            return .scalar(.count(selection(members, [])), .int64, mayBeNull: false)
        default: return nil
        }
    }

    /// The value of a condition.
    private func truthValue(of expression: QueryExpression, _ variables: Variables, _ depth: Int) -> Operand? {
        let fragment = condition(expression, holds: true, variables, depth: depth + 1)
        guard fragment.isExact else { return nil }
        if case .truth(let holds) = fragment.sql { return .constant(.bool(holds)) }
        return .scalar(
            .choose(fragment.sql, truthValue(true), truthValue(false)), .bool, mayBeNull: false)
    }

    private struct Scalar {
        let sql: SQLExpression
        let kind: StorageKind
        let mayBeNull: Bool
    }

    /// Two values of one kind, of which one may be constant.
    private func pair(
        _ a: QueryExpression, _ b: QueryExpression, _ variables: Variables, _ depth: Int
    ) -> (Scalar, Scalar)? {
        guard let a = operand(a, variables, depth: depth + 1), let b = operand(b, variables, depth: depth + 1) else {
            return nil
        }
        func scalar(_ operand: Operand, as kind: StorageKind) -> Scalar? {
            switch operand {
            case .scalar(let sql, let own, let mayBeNull):
                own == kind ? Scalar(sql: sql, kind: kind, mayBeNull: mayBeNull) : nil
            case .constant(let value):
                compared(value, as: kind).map {
                    Scalar(sql: .value($0), kind: kind, mayBeNull: value.isNull)
                }
            default: nil
            }
        }
        let kinds = [a, b].compactMap { if case .scalar(_, let kind, _) = $0 { kind } else { nil } }
        guard let kind = kinds.first, kind != .coded, let x = scalar(a, as: kind), let y = scalar(b, as: kind) else {
            return nil
        }
        return (x, y)
    }

    /// Whether the value is not null; nil for what cannot be asked that.
    func isPresent(_ operand: Operand) -> SQLExpression? {
        switch operand {
        case .constant(let value): .truth(!value.isNull)
        case .scalar(let sql, _, let mayBeNull): mayBeNull ? .isNotNull(sql) : .truth(true)
        case .record(let record): record.mayBeNull ? .isNotNull(record.number) : .truth(true)
        case .members: nil
        }
    }

    /// The value where it is known not to be null.
    func present(_ operand: Operand) -> Operand {
        switch operand {
        case .scalar(let sql, let kind, _): return .scalar(sql, kind, mayBeNull: false)
        case .record(var record):
            record.mayBeNull = false
            return .record(record)
        default: return operand
        }
    }

    // MARK: Properties

    private func property(
        _ property: QueryProperty, _ base: QueryExpression, _ variables: Variables, _ depth: Int
    ) -> Operand? {
        guard case .record(let record)? = operand(base, variables, depth: depth + 1),
            let entity = mapping.entities[property.entity], entity.slots.indices.contains(property.slot)
        else { return nil }
        let slot = entity.slots[property.slot]
        let mayBeNull = record.mayBeNull || slot.slot.property.isOptional
        switch slot.place {
        case .attribute(let columns):
            guard columns.kind != .coded, let table = table(of: record) else { return nil }
            let column = SQLExpression.column(table: table, name: columns.compared)
            return .scalar(cast(column, of: slot, record), columns.kind, mayBeNull: mayBeNull)
        case .reference(let column, let entityColumn):
            guard let table = table(of: record), let destination = mapping.entities[slot.destination] else {
                return nil
            }
            // A record of another entity has null in the column; one that was cast may have it.
            guard isCastFree(slot, record) else { return nil }
            return .record(
                RecordOperand(
                    row: .target(of: table, column: column, entity: entityColumn), entity: destination, casts: nil,
                    mayBeNull: mayBeNull))
        default: return nil
        }
    }

    /// Whether no record but of the entities that it was cast to has a value in the column.
    private func isCastFree(_ slot: TableMapping.Slot, _ record: RecordOperand) -> Bool {
        guard let casts = record.casts else { return true }
        return mapping.entities[slot.slot.declaringEntity]?.family.isSubset(of: casts) ?? false
    }

    private func cast(
        _ column: SQLExpression, of slot: TableMapping.Slot, _ record: RecordOperand
    ) -> SQLExpression {
        guard let casts = record.casts, !isCastFree(slot, record), let table = table(of: record) else { return column }
        if record.entity.family.isSubset(of: casts) { return column }
        // Null, with the type of the column.
        if casts.isEmpty { return .choose(.truth(false), column, nil) }
        return .choose(
            RecordOperand.test(.column(table: table, name: TableMapping.Column.entity), casts), column, nil)
    }
}
