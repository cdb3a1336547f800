import Foundation

/// A fetch descriptor as a store query, the code for what could not be said in one, and what it reads. It belongs to no
/// context and may be run any number of times.
final class PreparedQuery<Model: PersistentModel> {
    let descriptor: FetchDescriptor<Model>
    let query: StoreQuery
    /// The code of conjuncts, by the number in `QueryExpression.onModels`.
    let conjunctCode: [@Sendable (Model) throws -> Bool]
    /// The same for sort keys.
    let orderCode: [SortDescriptor<Model>]

    /// Another query without limit, with more conditions, in another order over stored values, and with a limit.
    init(
        _ plain: PreparedQuery, adding conditions: [QueryExpression], order: [StoreQuery.Order], limit: Int?
    ) {
        var descriptor = plain.descriptor
        // A store of SwiftData's shape is asked with it, and knows no other conditions.
        if conditions.isEmpty { descriptor.fetchLimit = limit }
        self.descriptor = descriptor
        conjunctCode = plain.conjunctCode
        orderCode = []
        query = StoreQuery(
            plain.query.entity, purpose: .rows, conjuncts: conditions + plain.query.conjuncts.map(\.expression),
            order: order, limit: limit, projection: plain.query.projection, prefetch: plain.query.prefetch)
    }

    /// - Parameters:
    ///   - descriptor: the fetch.
    ///   - purpose: what the answer is for.
    ///   - schema: the container's, which may know names of entities from before the last version; nil without one.
    init(_ descriptor: FetchDescriptor<Model>, purpose: StoreQuery.Purpose = .rows, under schema: Schema?) {
        self.descriptor = descriptor
        let layout = ModelLayout.of(Model.self)
        var predicate = LoweredPredicate(descriptor.predicate)
        let names = schema?.formerNames ?? layout.formerNames
        if !names.isEmpty { predicate.conjuncts = predicate.conjuncts.map { $0.renamingEntities(names) } }
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
        let value = type(of: keyPath as AnyKeyPath).valueType
        if value == LocalizedStandardSortKey.self {
            (order, tail) = (.localizedStandard, \String.localizedStandardSortKey)
        } else if value == LocalizedStandardSortKey?.self {
            (order, tail) = (.localizedStandard, \String?.localizedStandardSortKey)
        } else if value == LocalizedSortKey.self {
            (order, tail) = (.localized, \String.localizedSortKey)
        } else if value == LocalizedSortKey?.self {
            (order, tail) = (.localized, \String?.localizedSortKey)
        } else if let comparator = key.stringComparator {
            guard let known = StringOrder(comparator) else { return nil }
            order = known
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

extension QueryExpression {
    /// The expression with identifiers of records under the names that their entities have now, and under those that they have
    /// here: another entity may have that name, and a store gives a number once.
    fileprivate func renamingEntities(_ names: [String: [String]]) -> QueryExpression {
        func all(_ identifier: PersistentIdentifier) -> QueryExpression? {
            guard let names = names[identifier.entityName] else { return nil }
            let others = names.map { identifier.ofEntity(named: $0) }
            return .list(([identifier] + others).map { .constant(.identifier($0)) })
        }
        switch self {
        case .compare(let comparison, let other, .constant(.identifier(let identifier))),
            .compare(let comparison, .constant(.identifier(let identifier)), let other):
            guard comparison == .equal || comparison == .notEqual, let list = all(identifier) else { break }
            let isOne = QueryExpression.contains(list, other.renamingEntities(names))
            return comparison == .equal ? isOne : .not(isOne)
        case .list(let elements):
            return .list(
                elements.flatMap { element -> [QueryExpression] in
                    if case .constant(.identifier(let identifier)) = element, case .list(let several)? = all(identifier)
                    {
                        return several
                    }
                    return [element.renamingEntities(names)]
                })
        default: break
        }
        return mapChildren { $0.renamingEntities(names) }
    }
}

/// A predicate or sort order in lowered form, with what had to be left to code.
struct LoweredPredicate<Model: PersistentModel> {
    /// The conditions, joined by "and". Parts left to code are `onModels` with the index into `code`.
    var conjuncts: [QueryExpression] = []
    var code: [@Sendable (Model) throws -> Bool] = []

    init(_ predicate: Predicate<Model>?) {
        guard let predicate else { return }
        take(predicate.expression, predicate.variable)
    }

    private mutating func take<Expression: PredicateExpression>(
        _ expression: Expression, _ variable: PredicateExpressions.Variable<Model>
    ) where Expression.Output == Bool {
        if let type = LowerableTypes.type(of: expression) {
            conjuncts.reserveCapacity(4)
            if (try? type.conjuncts(of: expression, variable.key, into: &conjuncts)) != nil { return }
        }
        conjuncts = []
        split(expression, variable)
    }

    /// Lowers the conditions of a predicate one by one, and leaves to code what cannot be lowered.
    mutating func split<Expression: PredicateExpression>(
        _ expression: Expression, _ variable: PredicateExpressions.Variable<Model>
    ) where Expression.Output == Bool {
        if let parts = expression as? any SplittableExpression, parts.split(variable, into: &self) { return }
        var lowering = Lowering(root: variable.key)
        // Code is evaluated last; what may throw must not be evaluated before the code that guards it.
        let reason: String
        do {
            let lowered = try lowering.lower(expression)
            if code.isEmpty || !lowered.mayThrow {
                conjuncts.append(lowered)
                return
            }
            reason = "it may throw, and is evaluated after the code in front of it"
        } catch {
            reason = (error as? NotLowerable)?.reason ?? "\(error)"
        }
        conjuncts.append(.onModels(id: code.count, text: CodeText.of(expression, because: reason)))
        let part = CodePart(expression: expression, variable: variable)
        code.append { try part.evaluate($0) }
    }
}

/// The text of a part that is left to code.
private enum CodeText {
    /// The part and why it was left to code, with the names of properties.
    static func of(_ expression: any PredicateExpression, because reason: String) -> String {
        KeyPathText.named("\(isPrintable(expression) ? "\(expression)" : "\(type(of: expression))"), because \(reason)")
    }

    private static func isPrintable(_ value: Any) -> Bool {
        if let date = value as? Date { return date.isPrintable }
        if let joined = value as? JoinedPredicate { return joined.leaves.allSatisfy { isPrintable($0) } }
        return Mirror(reflecting: value).children.allSatisfy { isPrintable($0.value) }
    }
}

/// @unchecked Sendable: the expressions of a `Predicate` are, but an existential of a part does not say so.
private struct CodePart<Model: PersistentModel>: @unchecked Sendable {
    let expression: any PredicateExpression<Bool>
    let variable: PredicateExpressions.Variable<Model>

    func evaluate(_ model: Model) throws -> Bool { try expression.evaluate(PredicateBindings((variable, model))) }
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
