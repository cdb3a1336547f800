import Foundation

/// A value as a database keeps it, or as a statement is given it.
package enum SQLValue: Sendable, Hashable {
    /// No value.
    case null
    /// A whole number of 64 bits.
    case integer(Int64)
    /// A floating-point number; never NaN, which databases have no common form for.
    case real(Double)
    /// Text, compared by its bytes.
    case text(String)
    /// Bytes, compared by their order; a beginning comes before what continues it.
    case blob(Data)

    /// Whether this is `null`.
    package var isNull: Bool { self == .null }

    /// The word for values of this sort, in explanations and errors.
    package var sort: String {
        switch self {
        case .null: "null"
        case .integer: "integer"
        case .real: "real"
        case .text: "text"
        case .blob: "blob"
        }
    }
}
