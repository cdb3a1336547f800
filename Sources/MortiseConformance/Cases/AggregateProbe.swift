import Foundation
import MortiseCore

/// Asks for aggregates, of a context and of the store itself, and compares them as text.
enum AggregateProbe {
    // MARK: Results as text

    static func text(_ value: StoredValue) -> String {
        switch value {
        case .null: "nil"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .float(let value): value.isNaN ? "NaN" : "\(value == 0 ? 0 : value)"
        case .double(let value): value.isNaN ? "NaN" : "\(value == 0 ? 0 : value)"
        case .decimal(let value): value.isNaN ? "NaN" : "\(value)"
        case .date(let value): "day \(text(.double(value.timeIntervalSinceReferenceDate)))"
        case .string(let value):
            value.utf8.count < 40
                ? "\"\(value)\"" : "\"\(value.prefix(8))…\(value.suffix(2))\" of \(value.utf8.count) bytes"
        default: "\(value)"
        }
    }

    static func text<Value: PersistentScalar>(_ value: Value?) -> String {
        text(value?.storedValue ?? .null)
    }

    /// What a context finds for a property: each group by label, with count, sum, average, minimum and maximum.
    static func totals<Value: PersistentScalar & AdditiveArithmetic & Comparable, Average: PersistentScalar>(
        _ c: CaseContext, _ descriptor: FetchDescriptor<OptionalSample>, _ sum: Aggregate<OptionalSample, Value>,
        _ average: Aggregate<OptionalSample, Average?>, _ minimum: Aggregate<OptionalSample, Value?>,
        _ maximum: Aggregate<OptionalSample, Value?>
    ) throws -> (groups: [String], all: String) {
        let context = try c.session().context
        let found = try context.aggregate(descriptor, by: \.label, .count, sum, average, minimum, maximum)
        let groups = found.map { group in
            let (count, sum, average, least, greatest) = group.values
            return "\(text(group.key)): \(count) \(text(sum)) \(text(average)) \(text(least)) \(text(greatest))"
        }
        let all = try context.aggregate(descriptor, .count, sum, average, minimum, maximum)
        return (groups, "\(all.0) \(text(all.1)) \(text(all.2)) \(text(all.3)) \(text(all.4))")
    }

    // MARK: The store itself

    enum Function { case count, sum, average, minimum, maximum }

    /// The store's own groups: the keys, then the functions of a property.
    /// - Returns: nil if the store leaves that to the framework.
    static func stored(
        _ c: CaseContext, _ entity: String, by keys: [String], _ functions: [Function], of name: String,
        where conditions: [QueryExpression] = []
    ) throws -> [String]? {
        guard c.subject.capabilities.contains(.aggregates) else { return nil }
        let layout = try c.require(
            ConformanceModels.schema.stored.recordLayouts()[entity], "an entity \(entity)")
        func property(_ name: String) throws -> (expression: QueryExpression, kind: StorageKind) {
            let slot = try c.require(layout.slot(named: name), "a property \(entity).\(name)")
            let property = QueryProperty(entity: entity, name: name, slot: slot)
            return (.property(.variable(0), property), layout.slots[slot].property.attribute?.kind ?? .coded)
        }
        let asked = try property(name)
        let query = AggregateQuery(
            StoreQuery(entity, conjuncts: conditions), by: try keys.map { try property($0).expression },
            functions.map { function in
                switch function {
                case .count: .count
                case .sum: .sum(asked.expression, asked.kind)
                case .average: .average(asked.expression, asked.kind)
                case .minimum: .minimum(asked.expression)
                case .maximum: .maximum(asked.expression)
                }
            })
        return try c.store.aggregate(query)?.groups.map { group in
            let values = group.values.map(text).joined(separator: " ")
            return keys.isEmpty ? values : group.keys.map(text).joined(separator: ", ") + ": " + values
        }
    }

    /// How many records each group has, by the store where it says so, and by what the context says.
    static func expectGroups(
        _ c: CaseContext, _ entity: String, by name: String, in context: [String], are expected: [String]
    ) throws {
        try c.expect(context, is: expected, "groups by \(name), and how many each has:")
        if let stored = try stored(c, entity, by: [name], [.count], of: name) {
            try c.expect(stored, is: expected, "the store's groups by \(name), and how many each has:")
        }
    }

    static func insert<M: PersistentModel>(_ models: [M], _ c: CaseContext) throws {
        let a = try c.session()
        a.change("insert \(models.count) \(M.self)s") { for model in models { a.context.insert(model) } }
        try a.save()
    }

    static func expectTotals(
        _ c: CaseContext, of name: String, _ found: (groups: [String], all: String), are groups: [String],
        and all: String
    ) throws {
        try c.expect(found.groups, is: groups, "count, sum, average, minimum and maximum of \(name) by label:")
        try c.expect(found.all, is: all, "count, sum, average, minimum and maximum of \(name):")
        let functions: [Function] = [.count, .sum, .average, .minimum, .maximum]
        if let stored = try stored(c, "OptionalSample", by: ["label"], functions, of: name) {
            try c.expect(stored, is: groups, "the store's own of \(name) by label:")
        }
        if let stored = try stored(c, "OptionalSample", by: [], functions, of: name) {
            try c.expect(stored, is: [all], "the store's own of \(name):")
        }
    }
}
