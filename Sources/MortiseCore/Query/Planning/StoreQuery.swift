/// All that a fetch asks of a store, in one value.
public struct StoreQuery: Sendable, Hashable, Codable {
    /// What the answer is for.
    public enum Purpose: String, Sendable, Hashable, Codable {
        case rows, count, identifiers, delete, update
    }

    /// One of the conditions that all have to hold, with the number by which a plan refers to it.
    public struct Conjunct: Sendable, Hashable, Codable, Identifiable {
        public let id: Int
        public let expression: QueryExpression
    }

    /// One key of the order.
    public struct Order: Sendable, Hashable, Codable {
        public let expression: QueryExpression
        public let isAscending: Bool
        /// How strings compare; nil is `ValueSemantics`' own order.
        public let stringOrder: StringOrder?

        public init(_ expression: QueryExpression, isAscending: Bool = true, stringOrder: StringOrder? = nil) {
            self.expression = expression
            self.isAscending = isAscending
            self.stringOrder = stringOrder
        }
    }

    public var purpose: Purpose
    /// The entity whose records are asked for.
    public var entity: String
    /// Whether records of entities that inherit from it count.
    public var includesSubentities: Bool
    public var conjuncts: [Conjunct]
    /// The order; what it leaves equal is in identity order, so that the whole is total.
    public var order: [Order]
    public var offset: Int
    public var limit: Int?
    /// Names of properties that will be read; empty means any.
    public var projection: [String]
    /// Names of relationships that will be followed.
    public var prefetch: [String]
    /// Whether the store is to go by an index wherever one leads to the rows, however many these are: set where full
    /// scans are refused, so that the schema decides what is refused and never the records.
    public var avoidsFullScan = false

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

    /// Whether offset and limit leave anything out.
    public var hasWindow: Bool { offset > 0 || limit != nil }

    /// The part of so many matches that offset and limit leave.
    public func window(of count: Int) -> Range<Int> {
        let start = min(max(offset, 0), count)
        guard let limit else { return start..<count }
        return start..<(start + min(max(limit, 0), count - start))
    }
}

/// What a store will do of a query. Made by the store's `plan(_:)`, checked by the framework, which does the rest.
public struct FetchPlan: Sendable, Hashable {
    /// What the store says of a conjunct.
    public enum Claim: String, Sendable, Hashable, Codable {
        /// Its rows are those for which the conjunct holds, by the meaning of `QueryEvaluator`. For a conjunct whose
        /// evaluation may throw this is legal only where every conjunct before it is exact too, and the store evaluates
        /// it for those rows only for which these hold: a condition before it may guard it, as in `a != 0 && b / a > 1`.
        case exact
        /// They include all of those, and perhaps others: the framework checks again.
        case superset
        /// The store leaves it to the framework.
        case residual
    }

    /// How much of the order the store does.
    public enum OrderClaim: Sendable, Hashable {
        case none
        /// The rows come sorted by the first so many keys.
        case prefix(Int)
        /// All keys, and identity order after them.
        case total
    }

    public var query: StoreQuery {
        didSet { preparation = nil }
    }
    /// By the conjuncts' numbers; a conjunct that is missing is residual.
    public var claims: [Int: Claim]
    public var order: OrderClaim
    /// Whether the store leaves out what offset and limit leave out. Legal only if every conjunct is exact and the order
    /// total.
    public var takesWindow: Bool
    /// How the store finds the rows, in its own words: an index, SQL.
    public var detail: String
    /// Whether nothing bounds the rows that are looked at: all of the entity's, or as many as it takes to find enough. For
    /// a query that avoids full scans this has to hold whatever records there are; for others a store that decides by the
    /// records at hand says with the rows what it did.
    public var isFullScan: Bool
    /// A declaration that would spare the scan, such as `#Index<Trip>([\.name])`.
    public var suggestion: String?
    /// What the store worked out of the query, so that it need not do so again to run the plan. No part of what the plan
    /// says.
    package var preparation: (any AnyObject & Sendable)? {
        get { prepared.object }
        set { prepared.object = newValue }
    }
    private var prepared = Prepared()

    /// Something that is equal to everything of its type.
    private struct Prepared: Sendable, Hashable {
        var object: (any AnyObject & Sendable)?
        static func == (a: Prepared, b: Prepared) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    public init(
        _ query: StoreQuery, claims: [Int: Claim] = [:], order: OrderClaim = .none, takesWindow: Bool = false,
        detail: String, isFullScan: Bool, suggestion: String? = nil
    ) {
        self.query = query
        self.claims = claims
        self.order = order
        self.takesWindow = takesWindow
        self.detail = detail
        self.isFullScan = isFullScan
        self.suggestion = suggestion
    }

    /// The plan of a store that does nothing but hand out all records of the entity.
    public static func scanAll(_ query: StoreQuery) -> FetchPlan {
        FetchPlan(query, detail: "all records", isFullScan: true)
    }

    public func claim(of conjunct: StoreQuery.Conjunct) -> Claim { claims[conjunct.id] ?? .residual }

    var isExact: Bool { query.conjuncts.allSatisfy { claim(of: $0) == .exact } }

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

    /// - Throws: `QueryPlanError.illegalClaim` for what no store may claim.
    package func validate(adapter: String, for asked: StoreQuery) throws {
        func illegal(_ conjunct: String?, _ reason: String) -> QueryPlanError {
            .illegalClaim(adapter: adapter, conjunct: conjunct, reason: reason)
        }
        if query != asked { throw illegal(nil, "the plan is for another query than the one asked") }
        var unknown: Int?
        for id in claims.keys where !query.conjuncts.contains(where: { $0.id == id }) {
            unknown = min(unknown ?? id, id)
        }
        if let unknown { throw illegal("conjunct \(unknown)", "the query has no such conjunct") }
        for conjunct in query.conjuncts where claim(of: conjunct) != .residual && conjunct.expression.needsModels {
            throw illegal("\(conjunct.expression)", "it can only be evaluated on models")
        }
        if let (guarded, before) = unguarded {
            throw illegal(
                "\(guarded.expression)",
                "its evaluation may fail for a record that \(before.expression) leaves out, which is not claimed exact")
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
        if takesWindow, query.hasWindow {
            if let conjunct = query.conjuncts.first(where: { claim(of: $0) != .exact }) {
                throw illegal("\(conjunct.expression)", "offset and limit cannot be taken before it has been checked")
            }
            if order != .total, query.purpose != .count {
                throw illegal(nil, "offset and limit cannot be taken before the order is complete")
            }
        }
    }
}

/// What is wrong with a store's plan, or with running a query as planned.
public enum QueryPlanError: Error, Hashable, Sendable {
    /// The store claims what cannot be.
    case illegalClaim(adapter: String, conjunct: String?, reason: String)
    /// The store's rows are not those that its claims promise. Found only where checking is on.
    case falseClaim(adapter: String, claim: String, expected: String, found: String)
    /// The policy forbids to look at every record. Putting one of the causes right is enough.
    case fullScanRefused(entity: String, causes: [FullScanCause], suggestion: String?)
}

extension QueryPlanError: CustomStringConvertible, SwiftDataErrorConvertible {
    public var description: String {
        switch self {
        case .illegalClaim(let adapter, let conjunct, let reason):
            "\(adapter) returned an illegal plan" + (conjunct.map { " for \($0)" } ?? "") + ": \(reason)."
        case .falseClaim(let adapter, let claim, let expected, let found):
            "\(adapter) claimed \(claim), and its rows are others: expected \(expected), found \(found). "
                + "Claim superset or residual where the store compares differently."
        case .fullScanRefused(let entity, let causes, let suggestion):
            "The fetch would look at every \(entity): \(causes.map(\.description).joined(separator: "; ")). "
                + (suggestion.map { "Declare \($0), or allow" } ?? "Allow")
                + " the scan with fullScanPolicy: .allow."
        }
    }
    public var swiftDataError: SwiftDataError { .unsupportedPredicate }
}

/// What to do about a fetch, a count, an aggregation or a batch for which a store looks at every record.
///
/// Asking for all records without a condition and a limit is no accident, and always allowed.
public enum FullScanPolicy: Sendable, Hashable {
    /// Do it. A store may look at every record even where it has an index, if that is faster because the index leads to
    /// many of them; `ModelContext.explain(_:)` says so.
    case allow
    /// As `allow`, and log a warning where more rows than this were looked at.
    case warn(above: Int)
    /// Throw `QueryPlanError.fullScanRefused` before any record is read, unless an index leads to the records. Which
    /// queries are refused follows from the query and the schema: one that is answered today is not refused tomorrow
    /// because there are other records. The index is then used however many records it leads to.
    case refuse
}
