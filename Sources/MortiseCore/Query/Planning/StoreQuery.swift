/// Everything that a fetch asks of a store, as one value.
public struct StoreQuery: Sendable, Hashable, Codable {
    /// The purpose of a query.
    public enum Purpose: String, Sendable, Hashable, Codable {
        /// Records, their number, their identifiers, or a batch that deletes or updates them.
        case rows, count, identifiers, delete, update
    }

    /// One of the conditions that must all hold, with the number by which a plan refers to it.
    public struct Conjunct: Sendable, Hashable, Codable, Identifiable {
        /// The number by which a plan refers to the condition: its position in the query.
        public let id: Int
        /// The condition.
        public let expression: QueryExpression
    }

    /// One sort key.
    public struct Order: Sendable, Hashable, Codable {
        /// The value to sort by.
        public let expression: QueryExpression
        /// Whether smaller values come first.
        public let isAscending: Bool
        /// How strings compare; nil means the order of `ValueSemantics`.
        public let stringOrder: StringOrder?

        /// Makes a sort key.
        public init(_ expression: QueryExpression, isAscending: Bool = true, stringOrder: StringOrder? = nil) {
            self.expression = expression
            self.isAscending = isAscending
            self.stringOrder = stringOrder
        }
    }

    /// The purpose of the query.
    public var purpose: Purpose
    /// The entity whose records are requested.
    public var entity: String
    /// Whether to include records of entities that inherit from it.
    public var includesSubentities: Bool
    /// The conditions, all of which must hold.
    public var conjuncts: [Conjunct]
    /// The sort keys, most significant first. Records with equal keys are in identity order, so that the order is
    /// total.
    public var order: [Order]
    /// The number of matches to skip. Negative values count as 0.
    public var offset: Int
    /// The maximum number of matches to return; nil for all.
    public var limit: Int?
    /// Names of properties that will be read; empty means any.
    public var projection: [String]
    /// Names of relationships that will be followed.
    public var prefetch: [String]
    /// Whether the store must use an index whenever one leads to the rows, however many these are. Set if full scans
    /// are refused, so that the refusal depends on the schema and never on the records.
    public var avoidsFullScan = false

    /// Makes a query. Conditions are numbered from 0 in the order given.
    public init(
        _ entity: String, purpose: Purpose = .rows, includesSubentities: Bool = true, conjuncts: [QueryExpression] = [],
        order: [Order] = [], offset: Int = 0, limit: Int? = nil, projection: [String] = [], prefetch: [String] = []
    ) {
        self.purpose = purpose
        self.entity = entity
        self.includesSubentities = includesSubentities
        self.conjuncts = conjuncts.enumerated().map { Conjunct(id: $0.offset, expression: $0.element) }
        self.order = order
        self.offset = offset
        self.limit = limit
        self.projection = projection
        self.prefetch = prefetch
    }

    /// Whether offset or limit may leave anything out.
    public var isLimited: Bool { offset > 0 || limit != nil }

    /// The range of `count` matches that offset and limit select.
    public func window(of count: Int) -> Range<Int> {
        let start = min(max(offset, 0), count)
        guard let limit else { return start..<count }
        return start..<(start + min(max(limit, 0), count - start))
    }
}

/// The parts of a query that a store evaluates itself. The store's `plan(_:)` makes it; the framework checks it and
/// does the rest.
public struct FetchPlan: Sendable, Hashable {
    /// What a store promises for a conjunct.
    public enum Claim: String, Sendable, Hashable, Codable {
        /// The rows are exactly those for which the conjunct holds, by the meaning of `QueryEvaluator`. If evaluating
        /// the conjunct may throw, this is legal only if every conjunct before it is exact too, and the store evaluates
        /// it only for rows for which these hold: an earlier condition may guard it, as in `a != 0 && b / a > 1`.
        case exact
        /// The rows include all matches, and perhaps others: the framework checks them.
        case superset
        /// The store leaves the conjunct to the framework.
        case residual
    }

    /// How much of the order the store establishes.
    public enum OrderClaim: Sendable, Hashable {
        /// None: the rows come in any order.
        case none
        /// The rows come sorted by the first N keys.
        case prefix(Int)
        /// The rows come sorted by all keys, and in identity order where these are equal.
        case total
    }

    /// The query that the plan is for.
    public var query: StoreQuery {
        didSet { preparation = nil }
    }
    /// The claims by the conjuncts' numbers; a missing conjunct is residual.
    public var claims: [Int: Claim]
    /// How much of the order the store establishes.
    public var order: OrderClaim
    /// Whether the store applies offset and limit. Legal only if every conjunct is exact and the order total.
    public var appliesLimit: Bool
    /// How the store finds the rows, in its own words, such as an index or SQL.
    public var detail: String
    /// Whether the store may read every row of the entity, also if it stops once it has found enough matches. For a
    /// query that avoids full scans this must not depend on the records. For others, a store that decides by the
    /// records reports with the rows what it did.
    public var isFullScan: Bool
    /// A declaration that would avoid the scan, such as `#Index<Trip>([\.name])`.
    public var suggestion: String?
    /// What the store has prepared for running the plan, such as a statement, so that it need not do so again. Only that store
    /// reads it. It is dropped when the query changes, and ignored by `==` and `hash(into:)`.
    public var preparation: (any AnyObject & Sendable)? {
        get { prepared.object }
        set { prepared.object = newValue }
    }
    private var prepared = Prepared()
    /// Which reads this run of the plan belongs to. The framework sets it before it runs the plan, for a store without
    /// versions; nil elsewhere, and once the context is gone. Answer a plan without a scope from the latest state.
    public var scope: ReadScope?

    /// A box that `==` and `hash(into:)` ignore.
    private struct Prepared: Sendable, Hashable {
        var object: (any AnyObject & Sendable)?
        static func == (a: Prepared, b: Prepared) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    /// Makes a plan. Conditions without a claim count as residual.
    public init(
        _ query: StoreQuery, claims: [Int: Claim] = [:], order: OrderClaim = .none, appliesLimit: Bool = false,
        detail: String, isFullScan: Bool, suggestion: String? = nil
    ) {
        self.query = query
        self.claims = claims
        self.order = order
        self.appliesLimit = appliesLimit
        self.detail = detail
        self.isFullScan = isFullScan
        self.suggestion = suggestion
    }

    /// The plan of a store that only returns all records of the entity.
    public static func scanAll(_ query: StoreQuery) -> FetchPlan {
        FetchPlan(query, detail: "all records", isFullScan: true)
    }

    /// The store's claim for a condition; residual by default.
    public func claim(of conjunct: StoreQuery.Conjunct) -> Claim { claims[conjunct.id] ?? .residual }

    /// Whether the store evaluates every condition exactly.
    public var isExact: Bool { query.conjuncts.allSatisfy { claim(of: $0) == .exact } }

    /// Whether the store does all of the query: conditions, order and window.
    var leavesNothing: Bool { isExact && order == .total && (appliesLimit || !query.isLimited) }

    /// A conjunct that is claimed exact and may throw, and one before it that is not exact, so that the store evaluates it
    /// for records that the other would have kept from it.
    private var unguarded: (guarded: StoreQuery.Conjunct, before: StoreQuery.Conjunct)? {
        var before: StoreQuery.Conjunct?
        for conjunct in query.conjuncts {
            guard claim(of: conjunct) == .exact else {
                before = before ?? conjunct
                continue
            }
            if let before, conjunct.expression.mayThrow { return (conjunct, before) }
        }
        return nil
    }

    /// - Throws: `QueryPlanError.illegalClaim` for a claim that no store may make.
    package func validate(adapter: String, for asked: StoreQuery) throws {
        func illegal(_ conjunct: String?, _ reason: String) -> QueryPlanError {
            .illegalClaim(adapter: adapter, conjunct: conjunct, reason: reason)
        }
        if query != asked { throw illegal(nil, "the plan is for another query") }
        let known = Set(query.conjuncts.lazy.map(\.id))
        if let unknown = claims.keys.lazy.filter({ !known.contains($0) }).min() {
            throw illegal("conjunct \(unknown)", "the query has no such conjunct")
        }
        for conjunct in query.conjuncts where claim(of: conjunct) != .residual && conjunct.expression.needsModels {
            throw illegal("\(conjunct.expression)", "it can only be evaluated on models")
        }
        if let (guarded, before) = unguarded {
            throw illegal(
                "\(guarded.expression)",
                "it may throw for records that \(before.expression) rules out, and that condition is not claimed exact")
        }
        if case .prefix(let count) = order, count < 0 || count > query.order.count {
            throw illegal(nil, "the order has \(query.order.count) keys, and the plan claims \(count)")
        }
        if order != .none, query.order.contains(where: { $0.expression.needsModels }) {
            let isBefore =
                if case .prefix(let count) = order {
                    query.order.prefix(count).allSatisfy { !$0.expression.needsModels }
                } else {
                    false
                }
            if !isBefore { throw illegal(nil, "a sort key can only be evaluated on models") }
        }
        if appliesLimit, query.isLimited {
            if let conjunct = query.conjuncts.first(where: { claim(of: $0) != .exact }) {
                throw illegal(
                    "\(conjunct.expression)", "the plan applies offset and limit before this condition is checked")
            }
            if order != .total, query.purpose != .count {
                throw illegal(nil, "the plan applies offset and limit before the order is complete")
            }
        }
    }
}

/// An error in a store's plan, or in running a query as planned.
public enum QueryPlanError: Error, Hashable, Sendable {
    /// The store makes an illegal claim.
    case illegalClaim(adapter: String, conjunct: String?, reason: String)
    /// The store's rows are not those that its claims promise. Detected only if `verifiesPushDown` is on.
    case falseClaim(adapter: String, claim: String, expected: String, found: String)
    /// The policy forbids scanning every record. Removing one of the causes is enough.
    case fullScanRefused(entity: String, causes: [FullScanCause], suggestion: String?)
}

extension QueryPlanError: CustomStringConvertible, SwiftDataErrorConvertible {
    /// The plan or the fetch at fault and the way out, in one line.
    public var description: String {
        switch self {
        case .illegalClaim(let adapter, let conjunct, let reason):
            "\(adapter) returned an illegal plan" + (conjunct.map { " for \($0)" } ?? "") + ": \(reason)."
        case .falseClaim(let adapter, let claim, let expected, let found):
            "\(adapter) claimed \(claim), but returned other rows: expected \(expected), found \(found). "
                + "Claim superset or residual where the store compares differently."
        case .fullScanRefused(let entity, let causes, let suggestion):
            "The fetch would scan every \(entity): \(causes.map(\.description).joined(separator: "; ")). "
                + (suggestion.map { "Declare \($0), or allow" } ?? "Allow")
                + " the scan with fullScanPolicy: .allow."
        }
    }
    /// The error of SwiftData that this one matches: `unsupportedPredicate`.
    public var swiftDataError: SwiftDataError { .unsupportedPredicate }
}

/// What to do about a fetch, a count, an aggregation or a batch for which a store scans every record.
///
/// A request for all records, without condition and limit, is always allowed.
public enum FullScanPolicy: Sendable, Hashable {
    /// Run it. A store may scan every record even if it has an index, if that is faster because the index leads to many
    /// of them; `ModelContext.explain(_:)` shows that.
    case allow
    /// Like `allow`, and log a warning if more rows than this were looked at.
    case warn(above: Int)
    /// Throw `QueryPlanError.fullScanRefused` before any record is read, unless an index leads to the records. The
    /// refusal depends on the query and the schema only: a query that is answered today is not refused tomorrow because
    /// of other records. The index is then used however many records it leads to.
    case refuse
}
