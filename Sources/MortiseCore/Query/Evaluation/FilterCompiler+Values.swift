import Foundation

extension FilterCompiler {
    typealias Reading<Value> = (RecordReference) throws -> Value

    /// Where an attribute of the closures' argument is read in place.
    func own(_ expression: QueryExpression) -> (rows: RowSource, slot: Int, kind: StorageKind)? {
        guard let rows, case .property(.variable(argument), let property) = expression,
            let layout = reader.layout(of: property.entity), property.slot < layout.slots.count,
            layout.slots[property.slot].role == .attribute,
            let kind = layout.slots[property.slot].property.attribute?.kind, kind != .coded
        else { return nil }
        return (rows, property.slot, kind)
    }

    /// The expressions that give one stored scalar.
    func key(_ expression: QueryExpression) -> Reading<StoredValue>? {
        let reader = reader
        switch expression {
        case .constant(let value):
            if case .array = value { return nil }
            return { _ in value }
        case .variable(let variable):
            if case .value(let box)? = bindings[variable] { return { _ in box.value } }
            guard let record = record(expression) else { return nil }
            return { try record($0).map { .identifier(reader.identifier($0)) } ?? .null }
        case .property(let base, let property):
            if let (rows, slot, _) = own(expression) { return { rows.value(row: $0.row, slot: slot) } }
            guard let layout = reader.layout(of: property.entity), property.slot < layout.slots.count else {
                return nil
            }
            let slot = property.slot
            switch layout.slots[slot].role {
            case .toManyStored, .toManyDerived: return nil
            case .toOne:
                guard let target = record(expression) else { return nil }
                return { record in try target(record).map { .identifier(reader.identifier($0)) } ?? .null }
            case .attribute:
                if layout.slots[slot].property.attribute?.kind == .coded { return nil }
                guard let base = record(base) else { return nil }
                return { record in try base(record).map { reader.value($0, slot: slot) } ?? .null }
            }
        case .identifier(let base):
            guard let base = record(base) else { return nil }
            return { record in try base(record).map { .identifier(reader.identifier($0)) } ?? .null }
        case .coalesce(let a, let b):
            guard let first = key(a), let second = key(b) else { return nil }
            return { record in
                let value = try first(record)
                return value.isNull ? try second(record) : value
            }
        case .conditional(let condition, let a, let b):
            guard let first = key(a), let second = key(b) else { return nil }
            let test = test(condition)
            return { try test.holds($0) ? try first($0) : try second($0) }
        case .flatMap(let base, let variable, let body): return chained(base, variable, body)
        case .unwrap(let base):
            guard let base = key(base) else { return nil }
            return { record in
                let value = try base(record)
                if value.isNull { throw QueryEvaluationError.unwrappedNull(expression: "\(expression)") }
                return value
            }
        case .arithmetic(let operation, let a, let b, let kind):
            guard let first = key(a), let second = key(b) else { return nil }
            let calculation = Calculation(expression)
            return { try calculation.apply(operation, first($0), second($0), kind) }
        case .negate(let base, let kind):
            guard let base = key(base) else { return nil }
            let calculation = Calculation(expression)
            return { try calculation.negate(base($0), kind) }
        case .count, .compareStrings:
            guard let number = integer(expression) else { return nil }
            return { try number($0).map { .integer($0) } ?? .null }
        case _ where expression.isBoolean:
            let test = test(expression)
            return { .bool(try test.holds($0)) }
        default: return nil
        }
    }

    /// An optional chain: the body's value with the variable bound to what is not null.
    private func chained(_ base: QueryExpression, _ variable: Int, _ body: QueryExpression) -> Reading<StoredValue>? {
        var compiler = self
        if let base = record(base) {
            let box = Box(RecordReference(table: 0, row: 0))
            compiler.bindings[variable] = .record(box)
            guard variable != argument, let key = compiler.key(body) else { return nil }
            return { record in
                guard let inner = try base(record) else { return .null }
                box.value = inner
                return try key(record)
            }
        }
        guard variable != argument, let base = key(base) else { return nil }
        let box = Box(StoredValue.null)
        compiler.bindings[variable] = .value(box)
        guard let key = compiler.key(body) else { return nil }
        return { record in
            let inner = try base(record)
            if inner.isNull { return .null }
            box.value = inner
            return try key(record)
        }
    }

    /// The expressions that lead to one record.
    func record(_ expression: QueryExpression) -> Reading<RecordReference?>? {
        let reader = reader
        switch expression {
        case .variable(argument): return { $0 }
        case .variable(let variable):
            guard case .record(let box)? = bindings[variable] else { return nil }
            return { _ in box.value }
        case .property(let base, let property):
            guard let layout = reader.layout(of: property.entity), property.slot < layout.slots.count,
                layout.slots[property.slot].role == .toOne, let base = record(base)
            else { return nil }
            let slot = property.slot
            return { record in
                guard let owner = try base(record), case .identifier(let target) = reader.value(owner, slot: slot)
                else {
                    return nil
                }
                return reader.record(target)
            }
        case .cast(let base, let entity):
            guard let base = record(base) else { return nil }
            return { try base($0).flatMap { reader.isKind($0.table, entity) ? $0 : nil } }
        default: return nil
        }
    }

    /// The identifiers in a to-many relationship; none where there is no owner.
    func members(_ expression: QueryExpression) -> Reading<[PersistentIdentifier]>? {
        guard case .property(let base, let property) = expression, let layout = reader.layout(of: property.entity),
            property.slot < layout.slots.count, layout.slots[property.slot].role.isToMany, let base = record(base)
        else { return nil }
        let (reader, slot) = (reader, property.slot)
        return { record in
            guard let owner = try base(record), case .identifiers(let members) = reader.value(owner, slot: slot) else {
                return []
            }
            return members
        }
    }

    // MARK: By type

    /// The expressions that give a string or null.
    func text(_ expression: QueryExpression) -> Reading<String?>? {
        switch expression {
        case .constant(.string(let text)): return { _ in text }
        case .property(_, let property):
            if let (rows, slot, kind) = own(expression) {
                return kind == .string ? { rows.string(row: $0.row, slot: slot) } : nil
            }
            guard let layout = reader.layout(of: property.entity), property.slot < layout.slots.count,
                layout.slots[property.slot].property.attribute?.kind == .string, let key = key(expression)
            else { return nil }
            return { record in
                if case .string(let text) = try key(record) { text } else { nil }
            }
        case .coalesce(let a, let b):
            guard let first = text(a), let second = text(b) else { return nil }
            return { try first($0) ?? second($0) }
        default: return nil
        }
    }

    /// A string that is there, where null is an error.
    func required(_ expression: QueryExpression) -> Reading<String>? {
        guard let text = text(expression) else { return nil }
        return { record in
            guard let text = try text(record) else { throw QueryEvaluationError.unfit(expression: "\(expression)") }
            return text
        }
    }

    /// How many elements there are: characters of a string, members of a relationship.
    func count(_ expression: QueryExpression) -> Reading<Int64>? {
        if let text = text(expression) { return { Int64(try text($0)?.count ?? 0) } }
        guard let members = members(expression) else { return nil }
        let reader = reader
        return { Int64(try members($0).count(where: { reader.record($0) != nil })) }
    }

    /// The expressions that give a whole number of at most 64 signed bits, or null.
    func integer(_ expression: QueryExpression) -> Reading<Int64?>? {
        switch expression {
        case .constant(.integer(let number)): return { _ in number }
        case .property:
            guard let (rows, slot, kind) = own(expression), kind.integerRange != nil else { return nil }
            return { Int64._read(rows, row: $0.row, slot: slot) }
        case .coalesce(let a, let b):
            guard let first = integer(a), let second = integer(b) else { return nil }
            return { try first($0) ?? second($0) }
        case .arithmetic(let operation, let a, let b, let kind):
            guard let range = kind.integerRange, let first = integer(a), let second = integer(b) else { return nil }
            let calculation = Calculation(expression)
            return { record in
                guard let x = try first(record), let y = try second(record) else { throw calculation.unfit }
                return try calculation.apply(operation, x, y, range)
            }
        case .negate(let base, let kind):
            guard let range = kind.integerRange, let base = integer(base) else { return nil }
            let calculation = Calculation(expression)
            return { record in
                guard let x = try base(record) else { throw calculation.unfit }
                return try calculation.negate(x, range)
            }
        case .count(let base):
            guard let count = count(base) else { return nil }
            return { try count($0) }
        case .compareStrings(let way, let a, let b):
            guard let first = required(a), let second = required(b) else { return nil }
            return { Int64(TextSearch.compare(way, try first($0), try second($0)).rawValue) }
        default: return nil
        }
    }

    /// The expressions that give a number of 64 floating-point bits, or null.
    func double(_ expression: QueryExpression) -> Reading<Double?>? {
        switch expression {
        case .constant(.double(let number)): return { _ in number }
        case .property:
            guard let (rows, slot, kind) = own(expression), kind == .double else { return nil }
            return { Double._read(rows, row: $0.row, slot: slot) }
        case .coalesce(let a, let b):
            guard let first = double(a), let second = double(b) else { return nil }
            return { try first($0) ?? second($0) }
        case .arithmetic(let operation, let a, let b, .double):
            guard let first = double(a), let second = double(b) else { return nil }
            let calculation = Calculation(expression)
            return { record in
                guard let x = try first(record), let y = try second(record) else { throw calculation.unfit }
                return try calculation.floating(operation, x, y)
            }
        case .negate(let base, .double):
            guard let base = double(base) else { return nil }
            let calculation = Calculation(expression)
            return { record in
                guard let x = try base(record) else { throw calculation.unfit }
                return -x
            }
        default: return nil
        }
    }
}
