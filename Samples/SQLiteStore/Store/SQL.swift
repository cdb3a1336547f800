#if SQLite
import Foundation
public import MortiseCore

/// A condition on a record, whose table is called `r`, and the values of its parameters. It is 1 or 0, and never NULL, so that
/// `NOT`, `AND` and `OR` mean what they mean in Swift.
typealias SQL = (text: String, values: [String?])

/// Says in SQL what SQLite decides as the framework does. Nil is what it leaves to the framework.
struct Translator: Sendable {
    let layouts: [String: RecordLayout]
    let store: String

    /// A name as SQL has it, which takes names for the same that differ in upper and lower case alone.
    static func name(_ text: String) -> String { text.map { $0.isUppercase ? "^\($0)" : "\($0)" }.joined() }
    static func parameters(_ count: Int) -> String { repeatElement("?", count: count).joined(separator: ", ") }
    /// A parameter for any number of records.
    static func list(_ records: [PersistentIdentifier]) -> String {
        "[\"\(records.map(\.description).joined(separator: "\",\""))\"]"
    }

    func condition(_ expression: QueryExpression, depth: Int = 0) -> SQL? {
        // SQLite's parser has room for a hundred open parts, and each level here takes several.
        if depth > 10 { return nil }
        switch expression {
        case .property(.variable(0), let property): return compare(.equal, property, .bool(true))
        case .compare(let comparison, .property(.variable(0), let property), .constant(let value)):
            return compare(comparison, property, value)
        case .contains(.list(let list), .property(.variable(0), let property)):
            guard let (column, slot, kind) = column(property) else { return nil }
            let values = constants(list).filter { !$0.isNull && $0.fits(kind) && ValueSemantics.areEqual($0, $0) }
            guard values.count == list.count else { return nil }
            return ("(\(column) IS NOT NULL AND \(column) IN (\(Self.parameters(list.count))))", values.map(slot.text))
        case .compare(.equal, .identifier(let record), let target):
            return condition(.contains(.list([target]), .identifier(record)), depth: depth)
        case .contains(.list(let list), .identifier(let record)):
            // More are found than there should be, and by the contrary too few.
            if case .property = record, depth > 0 { return nil }
            let targets = constants(list).flatMap(\.targets)
            return targets.count == list.count
                ? reference(record, to: targets.filter { $0.storeIdentifier == store }) : nil
        case .not(let part): return condition(part, depth: depth + 1).map { ("(NOT \($0.text))", $0.values) }
        case .and(let parts): return joined(parts.map { condition($0, depth: depth + 1) }, by: " AND ", ifNone: "1")
        case .or(let parts): return joined(parts.map { condition($0, depth: depth + 1) }, by: " OR ", ifNone: "0")
        default: return nil
        }
    }

    func joined(_ parts: [SQL?], by word: String, ifNone text: String) -> SQL? {
        let found = parts.compactMap(\.self)
        let whole = found.isEmpty ? text : found.map(\.text).joined(separator: word)
        return found.count == parts.count && parts.count <= 50 ? ("(\(whole))", found.flatMap(\.values)) : nil
    }

    /// A key of an order, which puts nil first.
    func key(_ key: StoreQuery.Order) -> String? {
        guard case .property(.variable(0), let property) = key.expression, let (column, _, kind) = column(property),
            kind != .string || key.stringOrder == nil
        else { return nil }
        return key.isAscending ? column : "\(column) DESC"
    }

    private func constants(_ list: [QueryExpression]) -> [StoredValue] {
        list.compactMap { if case .constant(let value) = $0 { value } else { nil } }
    }

    private func compare(_ comparison: QueryExpression.Comparison, _ property: QueryProperty, _ value: StoredValue)
        -> SQL?
    {
        // NaN is not even equal to itself.
        guard let (column, slot, kind) = column(property), value.fits(kind), ValueSemantics.areEqual(value, value)
        else { return nil }
        let text = slot.text(of: value)
        if comparison == .equal { return ("(\(column) IS ?)", [text]) }
        if comparison == .notEqual { return ("(\(column) IS NOT ?)", [text]) }
        if value.isNull || kind == .bool || kind == .data { return nil }
        let sign = [.less: "<", .lessOrEqual: "<=", .greater: ">"][comparison] ?? ">="
        // NaN is first in an order, but no number is more than it; and no date is before or after it.
        let isNaN = [.float, .double, .date].contains(kind) ? "\(column) GLOB 'nan*'" : "0"
        let holds =
            kind == .date && sign.count == 2
            ? "(\(isNaN) OR \(column) \(sign) ?)" : "NOT \(isNaN) AND \(column) \(sign) ?"
        return ("(\(column) IS NOT NULL AND \(holds))", [text])
    }

    private func reference(_ record: QueryExpression, to targets: [PersistentIdentifier]) -> SQL? {
        let isListed = "IN (SELECT value FROM json_each(?))"
        if case .variable(0) = record {
            // The number alone does not tell: the identifier may be of another entity.
            let numbers = "\(targets.compactMap(\.sequenceNumber))"
            return ("(r.id \(isListed) AND r.entity || '/' || r.id \(isListed))", [numbers, Self.list(targets)])
        }
        guard case .property(.variable(0), let property) = record,
            let column = layouts[property.entity]?.slots[property.slot].column
        else { return nil }
        return ("(r.\(column) IS NOT NULL AND r.\(column) \(isListed))", [Self.list(targets)])
    }

    /// The column of an attribute that is compared as it is in Swift.
    private func column(_ property: QueryProperty) -> (name: String, slot: RecordLayout.Slot, kind: StorageKind)? {
        guard let slot = layouts[property.entity]?.slots[property.slot], slot.hasColumn,
            let kind = slot.property.attribute?.kind,
            kind != .coded, kind != .url
        else { return nil }
        return ("r.\(slot.column) COLLATE \(kind)", slot, kind)
    }
}

extension RecordLayout.Slot {
    /// The name of the column: it tells the property and what it holds.
    var key: String { Translator.name("\(declaringEntity).\(columnText)") }
    var column: String { "\"\(key)\"" }
    /// What the property holds, and which side keeps it.
    var form: String { "\(columnText.dropFirst(name.count + 1)) of \(declaringEntity), \(role)" }
}

extension PersistentIdentifier {
    var number: String? { sequenceNumber.map { "\($0)" } }
}

/// What SQLite does of a query.
final class Selection: Sendable {
    let condition: SQL
    /// The numbers of the conjuncts that it decides.
    let decided: Set<Int>
    let order: String?
    init(_ condition: SQL, _ decided: Set<Int>, _ order: String?) {
        (self.condition, self.decided, self.order) = (condition, decided, order)
    }
}

extension SQLiteStore {
    /// The record of a row.
    func record(_ row: [String: String]) -> PersistentIdentifier {
        .numbered(UInt64(row["id"] ?? "") ?? 0, storeIdentifier: identifier, entityName: row["entity"] ?? "")
    }

    public func plan(_ query: StoreQuery) -> FetchPlan {
        let selection = selection(query)
        var plan = FetchPlan(query, detail: selection.condition.text, isFullScan: true)
        for conjunct in query.conjuncts where selection.decided.contains(conjunct.id) {
            plan.claims[conjunct.id] = .exact
            switch conjunct.expression {
            case .contains(_, .identifier(let record)), .compare(.equal, .identifier(let record), _):
                // These have an index. A reference may be one to a record that is gone, and counts as nil then.
                plan.isFullScan = false
                if record != .variable(0) { plan.claims[conjunct.id] = .superset }
            default: continue
            }
        }
        plan.order = selection.order == nil ? .none : .total
        plan.appliesLimit = plan.isExact && selection.order != nil
        plan.preparation = selection
        return plan
    }

    func selection(_ query: StoreQuery) -> Selection {
        let family = query.includesSubentities ? schema.stored.subtree(of: query.entity) : [query.entity]
        var condition: SQL = ("r.entity IN (\(Translator.parameters(family.count)))", family)
        var decided: Set<Int> = []
        for conjunct in query.conjuncts {
            // SQLite takes expressions a thousand deep, and some 32,000 parameters.
            guard decided.count < 50, let part = translator.condition(conjunct.expression),
                condition.values.count + part.values.count < 30_000
            else { continue }
            condition = ("\(condition.text) AND \(part.text)", condition.values + part.values)
            decided.insert(conjunct.id)
        }
        let keys = query.order.compactMap(translator.key) + ["r.id"]
        return Selection(condition, decided, keys.count > query.order.count ? keys.joined(separator: ", ") : nil)
    }
}
#endif
