#if Tool
import MortiseCore

/// A part of a predicate while it is read: what it says, and of what type it is.
struct PredicateOperand {
    enum Sort {
        /// A condition: true or false.
        case condition
        /// An attribute's value, or calculated from such.
        case value(StorageKind, isOptional: Bool)
        /// A coded value or a part of one, whose type the store does not know.
        case coded
        case record(entity: String, isOptional: Bool)
        case records(entity: String)
        case identifier(entity: String)
        /// Takes its kind from what it is compared with.
        case literal(PredicateLiteral)
    }

    var expression: QueryExpression
    var sort: Sort
    var place: TextPlace
    /// How messages name it.
    var name: String

    init(_ expression: QueryExpression, _ sort: Sort, _ place: TextPlace, name: String = "this") {
        self.expression = expression
        self.sort = sort
        self.place = place
        self.name = name
    }

    var isOptional: Bool {
        switch sort {
        case .value(_, let isOptional), .record(_, let isOptional): isOptional
        case .coded: true
        default: false
        }
    }

    /// What it is, in words.
    var sortText: String {
        switch sort {
        case .condition: "a condition"
        case .value(let kind, _): "of kind \(kind.rawValue)"
        case .coded: "a coded value"
        case .record(let entity, _): "a record of \(entity)"
        case .records(let entity): "a set of \(entity) records"
        case .identifier: "a record's number"
        case .literal(let literal): literal.sortText
        }
    }
}

/// A value as it is written.
enum PredicateLiteral: Hashable, Sendable {
    /// Digits with their sign.
    case number(String)
    case text(String)
    case bool(Bool)
    case null

    var sortText: String {
        switch self {
        case .number: "a number"
        case .text: "text"
        case .bool: "true or false"
        case .null: "nil"
        }
    }
}
#endif
