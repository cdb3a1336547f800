import Foundation

/// A value as a database keeps it, or as a statement is given it.
package enum SQLValue: Sendable, Hashable {
    /// No value.
    case null
    /// A whole number of 64 bits.
    case integer(Int64)
    /// A floating-point number; NaN only for databases that keep its bits.
    case real(Double)
    /// A floating-point number of 32 bits, for databases that have such a type.
    case float(Float)
    /// A Boolean, for databases that have such a type.
    case bool(Bool)
    /// The digits of a number, for databases that have a type for decimals. `-Infinity` is the one that is no number.
    case decimal(String)
    /// A UUID, for databases that have such a type.
    case uuid(UUID)
    /// Values of a type, or nulls, that are given at one place, for databases that have lists.
    case array([SQLValue], of: String)
    /// Text, compared by its bytes.
    case text(String)
    /// Bytes, compared by their order; a beginning comes before what continues it.
    case blob(Data)

    /// Whether this is `null`.
    package var isNull: Bool { self == .null }

    /// Whether this is a number that is not one, of a kind of floating-point numbers.
    var isNaN: Bool {
        switch self {
        // As SQLite keeps it.
        case .text: true
        case .real(let number): number.isNaN
        case .float(let number): number.isNaN
        default: false
        }
    }

    /// The word for values of this sort, in explanations and errors.
    package var sort: String {
        switch self {
        case .null: "null"
        case .integer: "integer"
        case .real: "real"
        case .float: "float"
        case .bool: "bool"
        case .decimal: "decimal"
        case .uuid: "uuid"
        case .array: "array"
        case .text: "text"
        case .blob: "blob"
        }
    }
}
