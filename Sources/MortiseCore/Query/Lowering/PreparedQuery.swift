import Foundation

/// A fetch descriptor as a store query, the code for what could not be said in one, and what it reads. It belongs to no
/// context and may be run any number of times.
struct PreparedQuery<Model: PersistentModel> {
    let descriptor: FetchDescriptor<Model>
    var query: StoreQuery
    /// The code of conjuncts, by the number in `QueryExpression.onModels`.
    var conjunctCode: [@Sendable (Model) throws -> Bool]
    /// The same for sort keys.
    var orderCode: [SortDescriptor<Model>]

    init(_ descriptor: FetchDescriptor<Model>, purpose: StoreQuery.Purpose = .rows) {
        self.descriptor = descriptor
        let layout = ModelLayout.of(Model.self)
        let predicate = LoweredPredicate(descriptor.predicate)
        conjunctCode = predicate.code
        var orderCode: [SortDescriptor<Model>] = []
        let order = descriptor.sortBy.map { key in
            if let lowered = Self.lower(key) { return lowered }
            orderCode.append(key)
            return StoreQuery.Order(
                .onModels(id: orderCode.count - 1, text: key.keyPath.map { KeyPathText.named($0) } ?? "\(key)"),
                isAscending: true, stringOrder: nil)
        }
        self.orderCode = orderCode
        query = StoreQuery(
            layout.entityName, purpose: purpose, conjuncts: predicate.conjuncts, order: order,
            offset: max(descriptor.fetchOffset ?? 0, 0), limit: descriptor.fetchLimit.map { max($0, 0) },
            projection: layout.names(of: descriptor.propertiesToFetch),
            prefetch: layout.names(of: descriptor.relationshipKeyPathsForPrefetching))
    }

    /// What the query reads.
    var reads: QueryReads { QueryReads(query) }

    private static func lower(_ key: SortDescriptor<Model>) -> StoreQuery.Order? {
        guard let keyPath = key.keyPath else { return nil }
        var order: StringOrder?
        var tail: AnyKeyPath?
        switch type(of: keyPath as AnyKeyPath).valueType {
        case is LocalizedStandardSortKey.Type: (order, tail) = (.localizedStandard, \String.localizedStandardSortKey)
        case is LocalizedStandardSortKey?.Type: (order, tail) = (.localizedStandard, \String?.localizedStandardSortKey)
        case is LocalizedSortKey.Type: (order, tail) = (.localized, \String.localizedSortKey)
        case is LocalizedSortKey?.Type: (order, tail) = (.localized, \String?.localizedSortKey)
        default:
            if let comparator = key.stringComparator {
                guard let known = StringOrder(comparator) else { return nil }
                order = known
            }
        }
        guard let expression = expression(at: keyPath, without: tail) else { return nil }
        return StoreQuery.Order(expression, isAscending: key.order == .forward, stringOrder: order)
    }

    private static func expression(
        at keyPath: AnyKeyPath, without tail: AnyKeyPath?
    ) -> QueryExpression? {
        if tail == nil {
            let type = type(of: keyPath).valueType
            let plain = (type as? any OptionalValue.Type)?.wrappedType ?? type
            guard plain is any PersistentScalar.Type else { return nil }
        }
        return try? KeyPathLowering.lower(keyPath, without: tail, of: Model.self, on: .variable(0))
    }
}

extension StringOrder {
    /// Nil for a comparator of another sort.
    fileprivate init?(_ comparator: String.StandardComparator) {
        var forward = comparator
        forward.order = .forward
        #if canImport(Darwin)
        if forward == .localizedStandard {
            self = .localizedStandard
            return
        }
        if forward == .localized {
            self = .localized
            return
        }
        #endif
        guard forward == .lexical else { return nil }
        self = .lexical
    }
}
