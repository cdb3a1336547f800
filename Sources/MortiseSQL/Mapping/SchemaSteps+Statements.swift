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

    /// The statement that counts the records that the step would change or refuse; nil for steps that take away what the new schema
    /// does not read.
    package func counting(_ dialect: SQLDialect) -> SQLText? {
        func count(_ table: String, _ condition: String, _ entities: [Int]) -> SQLText {
            SQLText(
                "SELECT count(*) FROM \(SQLName.quoted(table)) t WHERE \(condition) "
                    + "AND t.\"ent\" IN (\(Self.list(entities)))", dialect)
        }
        func column(_ name: String?) -> String { "t.\(SQLName.quoted(name ?? ""))" }
        switch self {
        case .fill(let table, let entities, let columns, _):
            return count(table, "\(column(columns.main)) IS NULL", entities)
        case .require(let table, let entities, let name, _):
            return count(table, "\(column(name)) IS NULL", entities)
        case .clear, .drop: return nil
        case .detach(let table, let columns, let entities):
            return count(table, "\(column(columns.first)) IS NOT NULL", entities)
        case .release(let table, let columns, let entities):
            return SQLText(
                "SELECT count(*) FROM \(SQLName.quoted(table)) t WHERE \(column(columns.first)) IS NOT NULL "
                    + "AND \(column(columns.last)) IN (\(Self.list(entities)))", dialect)
        case .unlink(let links, let side, let table, let entities):
            return SQLText(
                "SELECT count(*) FROM \(SQLName.quoted(links)) l WHERE l.\(SQLName.quoted(side)) IN "
                    + "(SELECT t.\"id\" FROM \(SQLName.quoted(table)) t WHERE t.\"ent\" IN (\(Self.list(entities))))",
                dialect)
        }
    }

    /// Why a store that is open for reading only does not fit, if the step would change or refuse that many records.
    package func misfitOfReader(_ count: Int64) -> SchemaMisfit? {
        if count <= 0 { return nil }
        let number = Int(clamping: count)
        let way = "Open it for writing once, which brings it to the schema"
        switch self {
        case .fill(_, _, let columns, _):
            return SchemaMisfit(
                "\(SchemaLoss.plural(number, "record")) would get the default of \(columns.main), and the store is open for "
                    + "reading only. \(way)")
        case .require: return misfit(count)
        case .clear, .drop: return nil
        case .detach(_, let columns, _):
            return SchemaMisfit(
                "\(SchemaLoss.plural(number, "record")) of entities that the schema lacks would lose \(columns.first ?? ""), and "
                    + "the store is open for reading only. \(way)")
        case .release(let table, let columns, _):
            return SchemaMisfit(
                "\(SchemaLoss.plural(number, "record")) of \(table) would lose \(columns.first ?? ""), which leads to an entity "
                    + "that the schema lacks, and the store is open for reading only. \(way)")
        case .unlink(let links, _, _, _):
            return SchemaMisfit(
                "\(links) would lose \(SchemaLoss.plural(number, "link")) of entities that the schema lacks, and the store is open "
                    + "for reading only. \(way)")
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
