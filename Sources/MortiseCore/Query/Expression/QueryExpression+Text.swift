import Foundation

extension Date {
    /// Whether Foundation can format the date; it ends the process for other dates.
    var isPrintable: Bool { abs(timeIntervalSinceReferenceDate) < 1e11 }

    var safeText: String { isPrintable ? "\(self)" : "Date(\(timeIntervalSinceReferenceDate))" }
}

extension QueryExpression.Comparison {
    var symbol: String {
        switch self {
        case .equal: "=="
        case .notEqual: "!="
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }

    /// The equivalent comparison with its operands swapped.
    public var mirrored: QueryExpression.Comparison {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }
}

extension QueryExpression.Arithmetic {
    var symbol: String {
        switch self {
        case .add: "+"
        case .subtract: "-"
        case .multiply: "*"
        case .divide: "/"
        case .remainder: "%"
        }
    }
}
