/// One of the reasons why a store has to read every record of an entity.
public struct FullScanCause: Sendable, Hashable {
    /// Why a condition, or a limit, needs every record.
    public enum Reason: Sendable, Hashable {
        /// An index would find the records; this declaration creates one.
        case notIndexed(declaration: String)
        /// The store evaluates the condition, but no index can find its matches.
        case notIndexable
        /// The store leaves the condition to the framework.
        case leftToFramework
        /// Only the program's own code can evaluate the condition, model by model.
        case onModels
        /// There is no condition, and the limit takes effect only after all records are sorted.
        case limit
    }

    /// The condition as text; nil if the limit is the cause.
    public let conjunct: String?
    /// Why the store has to scan every record.
    public let reason: Reason

    /// Makes a cause; `conjunct` is nil if the limit is the cause.
    public init(conjunct: String?, reason: Reason) {
        self.conjunct = conjunct
        self.reason = reason
    }

    /// The causes of a full scan: every conjunct, because any of them could have avoided it.
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
    /// The condition and the reason, in words.
    public var description: String {
        let name = conjunct ?? "the limit"
        return switch reason {
        case .notIndexed(let declaration): "\(name) has no index (declare \(declaration))"
        case .notIndexable: "\(name) cannot be answered by an index"
        case .leftToFramework: "the store leaves \(name) to the framework"
        case .onModels: "\(name) is evaluated by code on every model (use stored properties)"
        case .limit: "\(name) needs all records sorted"
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
