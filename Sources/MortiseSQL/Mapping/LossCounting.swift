import Foundation
import MortiseCore

/// What a store would lose if it came to another schema, as statements that count it.
package struct LossCounting: Sendable {
    /// Counts the records that have a value of one property.
    private struct Property: Sendable {
        let name: String
        let statement: SQLText
    }

    private let stored: Schema.Version
    private let opened: Schema.Version
    private let names: [Int: String]
    private let entities: SQLText?
    private let properties: [Property]

    /// Compares what is stored with what stays.
    /// - Parameters:
    ///   - old: where the records are under the schema of the store.
    ///   - new: where they are under the one that it comes to, by the catalog of `SchemaSteps`.
    package init(from old: TableMapping, to new: TableMapping) {
        (stored, opened) = (old.schema.version, new.schema.version)
        names = old.byNumber.mapValues(\.name)
        let sorted = old.entities.values.sorted { $0.number < $1.number }
        let gone = Set(sorted.map(\.number).filter { new.byNumber[$0] == nil })
        let kept = new.byNumber.mapValues { Set($0.slots.map(\.number)) }
        let counts = sorted.filter { gone.contains($0.number) }.map { entity in
            "SELECT t0.\"ent\", count(*) FROM \(SQLName.quoted(entity.table)) t0 "
                + "WHERE t0.\"ent\" = \(entity.number) GROUP BY t0.\"ent\""
        }
        entities = counts.isEmpty ? nil : SQLText(counts.joined(separator: " UNION ALL "), old.dialect)
        var properties: [Property] = []
        for entity in sorted {
            for slot in entity.slots where slot.slot.declaringEntity == entity.name {
                let staying = entity.family.subtracting(gone)
                let losing = staying.filter { kept[$0]?.contains(slot.number) != true }
                func count(_ records: Set<Int>, _ condition: SQLText?) {
                    guard !records.isEmpty, let condition else { return }
                    var text = SQLText(
                        "SELECT t0.\"ent\", count(*) FROM \(SQLName.quoted(entity.table)) t0 WHERE t0.\"ent\" IN "
                            + "(\(SchemaSteps.Step.list(records.sorted()))) AND (", old.dialect)
                    text.append(condition)
                    text.append(") GROUP BY t0.\"ent\"")
                    properties.append(Property(name: slot.slot.name, statement: text))
                }
                count(losing, Self.holdsValue(slot, old.dialect))
                let targets = (old.entities[slot.destination]?.family ?? []).intersection(gone)
                if targets.isEmpty { continue }
                count(
                    staying.subtracting(losing),
                    Self.leads(slot, to: targets, table: old.entities[slot.destination]?.table ?? "", old.dialect))
            }
        }
        self.properties = properties
    }

    /// Counts.
    /// - Parameter run: runs a statement whose rows are the number of an entity and that of its records, and returns these.
    /// - Returns: what the store would lose.
    package func loss(
        _ run: (_ statement: SQLText) throws -> [(entity: Int, count: Int)]
    ) rethrows -> SchemaLoss {
        var lost: [SchemaLoss.Entity] = []
        if let entities {
            lost = try run(entities).map { SchemaLoss.Entity(name: names[$0.entity] ?? "", records: $0.count) }
        }
        var values: [SchemaLoss.Property] = []
        for property in properties {
            values += try run(property.statement).map {
                SchemaLoss.Property(entity: names[$0.entity] ?? "", name: property.name, values: $0.count)
            }
        }
        return SchemaLoss(stored: stored, opened: opened, entities: lost, properties: values)
    }

    /// Whether a record has a value that is neither null, nor empty, nor the default; nil for what is not stored with the record.
    private static func holdsValue(_ slot: TableMapping.Slot, _ dialect: SQLDialect) -> SQLText? {
        var text = SQLText(dialect)
        func column(_ name: String) -> SQLExpression { .column(table: 0, name: name) }
        switch slot.place {
        case .attribute(let columns):
            var conditions: [SQLExpression] = [.isNotNull(column(columns.main))]
            if let value = slot.slot.property.attribute?.defaultValue, !value.isNull,
                let contents = columns.contents(of: value)
            {
                var ways: [SQLExpression] = [.isDifferent(column(columns.main), .value(contents.main))]
                if columns.kind == .string, let other = columns.other {
                    ways.append(.isDifferent(column(other), .value(contents.other)))
                }
                conditions.append(.or(ways))
            }
            text.append(.and(conditions))
        case .reference(let name, _): text.append(.isNotNull(column(name)))
        case .links(let links):
            text.append("EXISTS (SELECT 1 FROM \(SQLName.quoted(links)) l WHERE l.\"a\" = t0.\"id\")")
        default: return nil
        }
        return text
    }

    /// Whether a relationship that stays leads to a record of some entities.
    private static func leads(
        _ slot: TableMapping.Slot, to entities: Set<Int>, table: String, _ dialect: SQLDialect
    ) -> SQLText? {
        let list = SchemaSteps.Step.list(entities.sorted())
        switch slot.place {
        case .reference(_, let entity?): return SQLText("t0.\(SQLName.quoted(entity)) IN (\(list))", dialect)
        case .links(let links):
            return SQLText(
                "EXISTS (SELECT 1 FROM \(SQLName.quoted(links)) l JOIN \(SQLName.quoted(table)) m ON m.\"id\" = l.\"b\" "
                    + "WHERE l.\"a\" = t0.\"id\" AND m.\"ent\" IN (\(list)))", dialect)
        default: return nil
        }
    }
}
