import Foundation
import MortiseCore

/// What a test store claims of a query, and what it then does.
enum Behaviour: String, Sendable, CaseIterable {
    // Right.
    /// Takes equalities, exactly, and leaves the rest.
    case equality
    /// Compares strings without regard to case and says superset.
    case superset
    /// Sorts by the first key.
    case orderPrefix
    /// Takes what it can compare, the whole order, and the window where that is all.
    case everything

    // Claims that cannot be.
    case limitUnderResidual, windowBeforeOrder, unknownConjunct, otherQuery, tooManyKeys, claimsCode, unguarded

    // Claims that are not true.
    case dropsConjunct, exactForSuperset, splitsOr, wrongOrder, wrongPrefix, countsAll, losesRows, repeatsRows,
        ignoresLimit

    // Rows that have no place in the answer.
    case otherEntity
}

struct ClaimingConfiguration: DataStoreConfiguration {
    typealias Store = ClaimingStore
    var name = "claiming"
    var schema: Schema?
    var behaviour: Behaviour
    /// What the behavior `unguarded` says of the first conjunct, while it says of all others that they are exact.
    var guardClaim = FetchPlan.Claim.residual

    init(_ behaviour: Behaviour) { self.behaviour = behaviour }
}

/// A dictionary that evaluates comparisons of its own attributes with constants, and claims what its behavior says.
final class ClaimingStore: QueryableDataStore {
    typealias Snapshot = DefaultSnapshot
    let identifier = "claiming"
    let schema: Schema
    let configuration: ClaimingConfiguration
    private var records = KeptRecords()
    private var behaviour: Behaviour { configuration.behaviour }

    init(_ configuration: ClaimingConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.schema = schema
        self.configuration = configuration
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
        if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
        let found = records.all(under: Schema.entityName(for: T.self), in: schema)
        return DataStoreFetchResult(
            descriptor: request.descriptor, fetchedSnapshots: Array(found[request.descriptor.window(of: found.count)]))
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        try records.save(request, identifier)
    }

    // MARK: Planning

    func plan(_ query: StoreQuery) -> FetchPlan {
        let isIllegal = [.limitUnderResidual, .unknownConjunct, .otherQuery, .tooManyKeys].contains(behaviour)
        // The framework's own queries, by which the records get there, are answered.
        if isIllegal, query.limit == nil { return .scanAll(query) }
        var plan = FetchPlan(query, detail: "claims \(behaviour)", isFullScan: false)
        for conjunct in query.conjuncts { plan.claims[conjunct.id] = claim(of: conjunct.expression) }
        let isExact = query.conjuncts.allSatisfy { plan.claim(of: $0) == .exact }
        switch behaviour {
        case .equality, .superset, .exactForSuperset, .splitsOr, .losesRows, .dropsConjunct, .repeatsRows: break
        case .orderPrefix, .wrongPrefix: plan.order = .prefix(min(1, query.order.count))
        case .everything, .wrongOrder, .countsAll, .otherEntity, .ignoresLimit:
            plan.order = .total
            plan.appliesLimit = isExact
        case .limitUnderResidual:
            plan.claims = [:]
            plan.order = .total
            plan.appliesLimit = true
        case .windowBeforeOrder: plan.appliesLimit = true
        case .unknownConjunct: plan.claims[99] = .exact
        case .otherQuery: plan.query.conjuncts = []
        case .tooManyKeys: plan.order = .prefix(query.order.count + 1)
        case .claimsCode, .unguarded: for conjunct in query.conjuncts { plan.claims[conjunct.id] = .exact }
        }
        if behaviour == .unguarded, let first = query.conjuncts.first {
            plan.claims[first.id] = configuration.guardClaim
        }
        return plan
    }

    private func claim(of expression: QueryExpression) -> FetchPlan.Claim {
        switch (behaviour, expression) {
        case (.splitsOr, .or): return .exact
        case (.equality, .compare(let comparison, _, _)) where comparison != .equal: return .residual
        case (.losesRows, _): return Self.test(expression) == nil ? .residual : .superset
        case (.superset, .compare(.equal, _, .constant(.string))): return .superset
        default: return Self.test(expression) == nil ? .residual : .exact
        }
    }

    /// Comparisons of a record's own attribute with a constant.
    private static func test(_ expression: QueryExpression) -> ((DefaultSnapshot) -> Bool)? {
        guard case .compare(let comparison, .property(.variable(0), let property), .constant(let wanted)) = expression
        else { return nil }
        return { ValueSemantics.holds(comparison, $0[property: property.name] ?? .null, wanted) }
    }

    private static func ignoringCase(_ expression: QueryExpression) -> ((DefaultSnapshot) -> Bool)? {
        guard case .compare(.equal, .property(.variable(0), let property), .constant(.string(let wanted))) = expression
        else { return nil }
        return {
            guard case .string(let found) = $0[property: property.name] else { return false }
            return found.lowercased() == wanted.lowercased()
        }
    }

    // MARK: Rows

    func rows(for plan: FetchPlan) throws -> StoreRows<DefaultSnapshot> {
        let query = plan.query
        var found = records.all(
            under: behaviour == .otherEntity && !plan.claims.isEmpty ? "Author" : query.entity, in: schema)
        let scanned = found.count
        var claimed = query.conjuncts.filter { plan.claim(of: $0) != .residual }.map(\.expression)
        if behaviour == .dropsConjunct { claimed = Array(claimed.prefix(1)) }
        if behaviour == .countsAll, query.purpose == .count { claimed = [] }
        for expression in claimed where behaviour != .otherEntity {
            if let test = test(for: expression) { found = found.filter(test) }
        }
        if behaviour == .losesRows, !claimed.isEmpty { found = Array(found.dropFirst()) }
        if behaviour == .repeatsRows, !claimed.isEmpty { found += found.prefix(1) }
        switch plan.order {
        case .none: break
        case .prefix(let count): found = sort(found, by: Array(query.order.prefix(count)))
        case .total: found = sort(found, by: query.order)
        }
        if plan.appliesLimit, behaviour != .ignoresLimit { found = Array(found[query.window(of: found.count)]) }
        return StoreRows(snapshots: found, scanned: scanned)
    }

    private func test(for expression: QueryExpression) -> ((DefaultSnapshot) -> Bool)? {
        switch (behaviour, expression) {
        case (.splitsOr, .or(let branches)): branches.first.flatMap(Self.test)
        case (.superset, _), (.exactForSuperset, _): Self.ignoringCase(expression) ?? Self.test(expression)
        default: Self.test(expression)
        }
    }

    private func sort(_ snapshots: [DefaultSnapshot], by order: [StoreQuery.Order]) -> [DefaultSnapshot] {
        let isWrong = (behaviour == .wrongOrder || behaviour == .wrongPrefix) && !order.isEmpty
        return snapshots.enumerated().sorted { left, right in
            for key in order {
                guard case .property(.variable(0), let property) = key.expression else { continue }
                let result = key.compare(
                    left.element[property: property.name] ?? .null, right.element[property: property.name] ?? .null)
                if result != .orderedSame { return (result == .orderedAscending) != isWrong }
            }
            return left.offset < right.offset
        }.map(\.element)
    }
}
