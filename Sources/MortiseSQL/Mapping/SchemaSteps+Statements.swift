import Foundation
import MortiseCore

extension SchemaSteps.Step {
    /// The statement that carries the step out; for `require`, the one that counts the records without a value.
    /// - Throws: `SchemaMisfit` for a default that the property's column cannot have.
    package func statement(_ dialect: SQLDialect) throws(SchemaMisfit) -> SQLText {
        func isOne(_ alias: String, _ entities: [Int]) -> String {
            "\(alias)\"ent\" IN (\(Self.list(entities)))"
        }
        func cleared(_ columns: [String]) -> String {
            columns.map { "\(SQLName.quoted($0)) = NULL" }.joined(separator: ", ")
        }
        switch self {
        case .fill(let table, let entities, let columns, let value):
            guard let contents = columns.contents(of: value) else {
                throw SchemaMisfit("The default of \(columns.main) is a value that the store cannot keep")
            }
            var text = SQLText("UPDATE \(SQLName.quoted(table)) AS t SET \(SQLName.quoted(columns.main)) = ", dialect)
            text.append(value: contents.main)
            if let other = columns.other {
                text.append(", \(SQLName.quoted(other)) = ")
                text.append(.value(contents.other))
            }
            text.append(" WHERE t.\(SQLName.quoted(columns.main)) IS NULL AND \(isOne("t.", entities))")
            return text
        case .require(let table, let entities, let column, _):
            return SQLText(
                "SELECT count(*) FROM \(SQLName.quoted(table)) t WHERE t.\(SQLName.quoted(column)) IS NULL "
                    + "AND \(isOne("t.", entities))", dialect)
        case .clear(let table, let columns):
            return SQLText("UPDATE \(SQLName.quoted(table)) SET \(cleared(columns))", dialect)
        case .drop(let links): return SQLText("DROP TABLE IF EXISTS \(SQLName.quoted(links))", dialect)
        case .detach(let table, let columns, let entities):
            return SQLText(
                "UPDATE \(SQLName.quoted(table)) SET \(cleared(columns)) WHERE \(isOne("", entities))", dialect)
        case .release(let table, let columns, let entities):
            let entity = SQLName.quoted(columns.last ?? "")
            return SQLText(
                "UPDATE \(SQLName.quoted(table)) SET \(cleared(columns)) WHERE \(entity) IN (\(Self.list(entities)))",
                dialect)
        case .unlink(let links, let column, let table, let entities):
            return SQLText(
                "DELETE FROM \(SQLName.quoted(links)) WHERE \(SQLName.quoted(column)) IN "
                    + "(SELECT t.\"id\" FROM \(SQLName.quoted(table)) t WHERE \(isOne("t.", entities)))", dialect)
        }
    }

    /// Why the records do not fit if that many have no value; nil for steps that change records.
    package func misfit(_ count: Int64) -> SchemaMisfit? {
        guard case .require(_, _, _, let property) = self, count > 0 else { return nil }
        return SchemaMisfit(
            "\(property) needs a value, and \(SchemaLoss.plural(Int(clamping: count), "record")) "
                + "\(count == 1 ? "has" : "have") none. Give it a default, or make it optional")
    }

    /// Whether the step gives records a value that is NaN.
    package var makesNaN: Bool {
        guard case .fill(_, _, let columns, let value) = self else { return false }
        return columns.kind.isNaN(value)
    }

    /// Numbers of entities, for a list of SQL; of none, one that no entity has.
    static func list(_ entities: [Int]) -> String {
        entities.isEmpty ? "0" : entities.map(String.init).joined(separator: ", ")
    }
}

extension StorageKind {
    /// Whether a value of the kind is a NaN that is equal to nothing.
    package func isNaN(_ value: StoredValue) -> Bool {
        switch value {
        case .double(let number): number.isNaN
        case .float(let number): number.isNaN
        case .date(let date): date.timeIntervalSinceReferenceDate.isNaN
        default: false
        }
    }
}
