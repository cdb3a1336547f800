#if PostgreSQL
import Foundation
import MortiseCore
import MortiseSQL

/// The columns of a property, each with its type.
struct TypedColumn: Hashable {
    let name: String
    /// The type's name, as `BinaryCoding.types` lists it.
    let type: String

    /// How the type is written where the column is made.
    var definition: String { type == "text" ? "text COLLATE \"C\"" : type }

    /// The columns of a place, in the order of `TableMapping.columns(of:)`.
    static func columns(of place: TableMapping.Place) -> [TypedColumn] {
        switch place {
        case .attribute(let columns):
            [TypedColumn(name: columns.main, type: columns.kind.columnType)]
                + (columns.other.map { [TypedColumn(name: $0, type: "text")] } ?? [])
        case .reference(let column, let entity):
            [TypedColumn(name: column, type: "int8")] + (entity.map { [TypedColumn(name: $0, type: "int2")] } ?? [])
        default: []
        }
    }
}

extension StorageKind {
    /// The type of a column for values of the kind.
    fileprivate var columnType: String {
        switch self {
        case .bool: "bool"
        case .int8, .int16, .uint8: "int2"
        case .int32, .uint16: "int4"
        case .int64, .uint32, .uint64: "int8"
        case .float: "float4"
        case .double, .date: "float8"
        case .decimal: "numeric"
        case .string, .url, .coded: "text"
        case .data: "bytea"
        case .uuid: "uuid"
        }
    }
}
#endif
