#if PostgreSQL
import Foundation
import MortiseCore
import MortiseSQL

/// The columns of a statement that reads records, and how values are made of them.
final class RecordDecoding: Sendable {
    private enum Source: Sendable {
        case attribute(AttributeColumns, main: Int32, other: Int32)
        case reference(Int32, entity: Int32, destination: TableMapping.Entity)
        case constant(StoredValue)
    }

    private struct Decoder: Sendable {
        let entity: TableMapping.Entity
        let sources: [Source]
    }

    private let decoders: [Int: Decoder]
    private let mapping: TableMapping
    /// The columns, as a statement has them after the word SELECT: number, entity, version, then those of properties.
    let columns: String

    init(_ family: [Int], _ mapping: TableMapping) {
        self.mapping = mapping
        let alias = SQLText.alias(0)
        var names: [String] = [TableMapping.Column.id, TableMapping.Column.entity, TableMapping.Column.version]
        var places: [String: Int32] = [:]
        func place(_ name: String) -> Int32 {
            if let known = places[name] { return known }
            names.append(name)
            places[name] = Int32(names.count - 1)
            return Int32(names.count - 1)
        }
        var decoders: [Int: Decoder] = [:]
        for number in family {
            guard let entity = mapping.byNumber[number] else { continue }
            decoders[number] = Decoder(
                entity: entity,
                sources: entity.slots.map { slot in
                    switch slot.place {
                    case .attribute(let columns):
                        .attribute(columns, main: place(columns.main), other: columns.other.map(place) ?? -1)
                    case .reference(let column, let other):
                        mapping.entities[slot.destination].map {
                            .reference(place(column), entity: other.map(place) ?? -1, destination: $0)
                        } ?? .constant(.null)
                    case .none: .constant(slot.slot.property.attribute?.defaultValue ?? .null)
                    // Lists are read when they are needed.
                    default: .constant(.null)
                    }
                })
        }
        self.decoders = decoders
        columns = names.map { "\(alias).\(SQLName.quoted($0))" }.joined(separator: ", ")
    }

    /// The identifier of the record in the current row.
    func identifier(_ row: PostgreSQLRow, store: String, path: String) throws -> PersistentIdentifier {
        let (number, entity) = (row.integer(0), row.integer(1))
        guard number > 0, let name = mapping.byNumber[Int(clamping: entity)]?.name else {
            throw PostgreSQLError(path, .damagedValue(record: "record \(number)", property: "ent", found: "\(entity)"))
        }
        return .numbered(UInt64(number), storeIdentifier: store, entityName: name)
    }

    /// The record in the current row; to-many relationships are left out.
    func record(_ row: PostgreSQLRow, store: String, path: String) throws -> DefaultSnapshot {
        let (number, entityNumber) = (row.integer(0), row.integer(1))
        guard number > 0, let decoder = decoders[Int(clamping: entityNumber)] else {
            throw PostgreSQLError(
                path, .damagedValue(record: "record \(number)", property: "ent", found: "\(entityNumber)"))
        }
        let identifier = PersistentIdentifier.numbered(
            UInt64(number), storeIdentifier: store, entityName: decoder.entity.name)
        var values: ContiguousArray<StoredValue> = []
        values.reserveCapacity(decoder.sources.count)
        for (place, source) in decoder.sources.enumerated() {
            func damaged(_ column: Int32) -> PostgreSQLError {
                let found = row.value(column)?.sort ?? "text that is not UTF-8"
                return PostgreSQLError(
                    path,
                    .damagedValue(
                        record: "\(identifier)", property: decoder.entity.slots[place].slot.name, found: found))
            }
            switch source {
            case .constant(let value): values.append(value)
            case .attribute(let columns, let main, let other):
                guard let value = Self.value(row, columns, main, other) else { throw damaged(main) }
                if value.isNull, !decoder.entity.slots[place].slot.property.isOptional { throw damaged(main) }
                values.append(value)
            case .reference(let column, let entityColumn, let destination):
                if row.isNull(column) {
                    values.append(.null)
                    continue
                }
                guard let target = row.number(column), target > 0 else { throw damaged(column) }
                var name = destination.name
                if entityColumn >= 0, !row.isNull(entityColumn) {
                    guard let entity = row.number(entityColumn), let found = mapping.byNumber[Int(clamping: entity)]
                    else {
                        throw damaged(entityColumn)
                    }
                    name = found.name
                }
                values.append(
                    .identifier(.numbered(UInt64(target), storeIdentifier: store, entityName: name)))
            }
        }
        var snapshot = DefaultSnapshot(
            persistentIdentifier: identifier, layout: decoder.entity.layout, values: values)
        snapshot.recordVersion = UInt64(clamping: row.integer(2))
        return snapshot
    }

    private static func value(
        _ row: PostgreSQLRow, _ columns: AttributeColumns, _ main: Int32, _ other: Int32
    ) -> StoredValue? {
        guard let value = row.value(main) else { return nil }
        guard columns.kind == .string, other >= 0 else { return columns.value(value, .null) }
        guard let raw = row.value(other) else { return nil }
        return columns.value(value, raw)
    }
}
#endif
