/// One of the reasons for which a store has to look at every record of an entity.
public struct FullScanCause: Sendable, Hashable {
    public enum Reason: Sendable, Hashable {
        /// An index would find the records; the declaration that makes one.
        case notIndexed(declaration: String)
        /// The store evaluates the condition, and no index can find the records for which it holds.
        case notIndexable
        /// The store leaves the condition to the framework.
        case leftToFramework
        /// Only the program's own code can evaluate the condition, model by model.
        case onModels
        /// There is no condition, and a limit that takes effect only when all records are sorted.
        case limit
    }

    /// The condition as text; nil where the limit is the cause.
    public let conjunct: String?
    public let reason: Reason

    public init(conjunct: String?, reason: Reason) {
        self.conjunct = conjunct
        self.reason = reason
    }

    /// Why a plan is a full scan: every conjunct, since any of them could have spared it.
    static func all(of query: StoreQuery, _ plan: FetchPlan) -> [FullScanCause] {
        if query.conjuncts.isEmpty { return [FullScanCause(conjunct: nil, reason: .limit)] }
        return query.conjuncts.map { conjunct in
            let expression = conjunct.expression
            let reason: Reason
            if expression.needsModels {
                reason = .onModels
            } else if plan.claim(of: conjunct) == .residual {
                reason = .leftToFramework
            } else if plan.suggestion != nil, let property = expression.indexableProperty {
                reason = .notIndexed(declaration: "#Index<\(query.entity)>([\\.\(property.name)])")
            } else {
                reason = .notIndexable
            }
            return FullScanCause(conjunct: "\(expression)", reason: reason)
        }
    }
}

extension FullScanCause: CustomStringConvertible {
    public var description: String {
        let name = conjunct ?? "the limit"
        return switch reason {
        case .notIndexed(let declaration): "\(name) has no index (declare \(declaration))"
        case .notIndexable: "\(name) is nothing that an index finds"
        case .leftToFramework: "\(name) is left to the framework by the store"
        case .onModels: "\(name) is evaluated by code on every model (use stored properties)"
        case .limit: "\(name) needs all of them sorted"
        }
    }
}

extension QueryExpression {
    /// The attribute of the record itself by whose index the records could be found for which this holds.
    fileprivate var indexableProperty: QueryProperty? {
        switch self {
        case .and(let parts): parts.lazy.compactMap(\.indexableProperty).first
        case .compare(.notEqual, _, _): nil
        case .compare(_, .property(.variable(0), let property), .constant),
            .compare(_, .constant, .property(.variable(0), let property)),
            .property(.variable(0), let property), .not(.property(.variable(0), let property)),
            .contains(.range(.constant, .constant, _), .property(.variable(0), let property)),
            .startsWith(.property(.variable(0), let property), .constant):
            property
        case .contains(.list(let elements), .property(.variable(0), let property)):
            elements.allSatisfy { if case .constant = $0 { true } else { false } } ? property : nil
        default: nil
        }
    }
}
