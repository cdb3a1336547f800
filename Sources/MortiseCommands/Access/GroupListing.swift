#if Tool
import Foundation
import MortiseCore

/// Groups of records, as one verb prints them.
struct GroupListing {
    private let options: QueryOptions
    private let query: StoreQuery
    private let condition: QueryExpression?
    private let order: [StoreQuery.Order]
    private let terms: GroupTerms
    /// Which functions are printed, in their order; conditions and orders may need others.
    private let shown: [Int]

    /// - Parameters:
    ///   - groups: the keys, functions and condition.
    ///   - options: which records; its order and window are those of the groups.
    ///   - counts: whether each group has its count first.
    ///   - store: the store.
    /// - Throws: `UnknownEntity`; `PredicateTextError`.
    init(_ groups: GroupOptions, _ options: QueryOptions, counts: Bool, in store: OpenStore) throws {
        self.options = options
        let text = PredicateText(schema: store.schema, storeIdentifier: store.store.identifier)
        let entity = options.entity
        query = StoreQuery(
            entity, conjuncts: try options.condition.map { try text.conditions($0, entity: entity) } ?? [])
        var terms = GroupTerms()
        if let keys = groups.groupBy { try text.groupKeys(keys, entity: entity, into: &terms) }
        let listed = [counts ? "count" : nil, groups.aggregate].compactMap(\.self)
        let places = try listed.flatMap { try text.functions($0, entity: entity, into: &terms) }
        shown = places.enumerated().filter { !places[..<$0.offset].contains($0.element) }.map(\.element)
        condition = try groups.having.map { try text.groupCondition($0, entity: entity, &terms) }
        order = try options.sort.flatMap { try text.groupOrder($0, entity: entity, &terms) }
        self.terms = terms
    }

    /// - Throws: what `GroupRun` throws; `ToolError.output`.
    func print(_ format: RecordFormat, from store: OpenStore) throws {
        var groups = try GroupRun(query, terms, in: store).groups
        let none = RecordReader(schema: store.schema, layouts: store.layouts) { _ in nil }
        let evaluator = QueryEvaluator(reader: none)
        let nobody = RecordReference(table: 0, row: 0)
        if let condition {
            let select = {
                try groups.filter { try evaluator.matches(GroupTerms.expression(condition, in: $0), nobody) }
            }
            groups =
                condition.matchesPatterns ? try MatchWatch.run(limit: StoreQueryRun.matchLimit, select) : try select()
        }
        if !order.isEmpty {
            let keyed = try groups.map { group in
                (
                    group,
                    try order.map { try evaluator.sortKey(GroupTerms.expression($0.expression, in: group), nobody) }
                )
            }
            // The array's sort keeps groups with equal values in the order of their keys.
            groups = keyed.sorted { comesFirst($0.1, $1.1) }.map(\.0)
        }
        let window = StoreQuery(options.entity, offset: options.offset, limit: options.limit).window(of: groups.count)
        let page = groups[window]
        let columns =
            terms.keys.map { ($0.name, $0.sort.isNumeric) }
            + shown.map { (terms.functions[$0].name, terms.functions[$0].sort.isNumeric) }
        try RowPrinter(columns, format, "group").print(page.count) { number in
            let group = page[page.startIndex + number]
            return group.keys + shown.map { group.values[$0] }
        }
    }

    private func comesFirst(_ a: [StoredValue], _ b: [StoredValue]) -> Bool {
        for (key, (left, right)) in zip(order, zip(a, b)) {
            switch ValueSemantics.sortOrder(left, right) {
            case .orderedSame: continue
            case .orderedAscending: return key.isAscending
            case .orderedDescending: return !key.isAscending
            }
        }
        return false
    }
}

extension PredicateOperand.Sort {
    /// Whether a table puts its digits below each other.
    fileprivate var isNumeric: Bool {
        switch self {
        case .value(let kind, _): kind.isNumber
        case .record, .identifier: true
        default: false
        }
    }
}
#endif
