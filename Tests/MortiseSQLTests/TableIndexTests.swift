import MortiseCore
@testable import MortiseSQL
import Testing

/// Which indexes tables have, and which conditions they serve.
@Suite struct TableIndexTests {
    private func entity(
        _ name: String, of parent: String? = nil, _ attributes: [(String, StorageKind)], unique: [[String]] = [],
        indexed: [[String]] = []
    ) -> StoredEntity {
        StoredEntity(
            name: name, superentity: parent,
            properties: attributes.map {
                StoredProperty(name: $0.0, isOptional: true, content: .attribute(StoredAttribute(kind: $0.1)))
            }, uniquenessConstraints: unique, indices: indexed.map { StoredIndex(properties: $0) })
    }

    private func mapping(_ entities: [StoredEntity], _ dialect: SQLDialect = .sqlite) -> TableMapping {
        let schema = StoredSchema(entities: entities)
        var catalog = TableCatalog()
        catalog.add(schema)
        return TableMapping(schema, catalog, dialect)
    }

    private func plan(
        _ entity: String, _ comparison: QueryExpression.Comparison, _ property: String, _ value: StoredValue,
        _ mapping: TableMapping
    ) throws -> SelectionPlan {
        let slot = try #require(mapping.entities[entity]?.layout.slot(named: property))
        let condition = QueryExpression.compare(
            comparison, .property(.variable(0), QueryProperty(entity: entity, name: property, slot: slot)),
            .constant(value))
        return try #require(SelectionPlan(StoreQuery(entity, conjuncts: [condition]), mapping, store: "s"))
    }

    /// A constraint counts for the entity that has all of its properties, as in other stores: an index of the one that declares it let
    /// others have the same values.
    @Test func aConstraintIsAboutAllThatHaveItsProperties() {
        let mapping = mapping([
            entity("Base", [("name", .string)]),
            entity("Middle", of: "Base", [("code", .int64)], unique: [["name"], ["name", "code"]]),
            entity("Leaf", of: "Middle", [], unique: [["name"], ["code"]]),
        ])
        let unique = mapping.indexes(ofTable: "Base").filter(\.isUnique)
        // Entities have numbers by their names.
        #expect(unique.map(\.columns) == [["name"], ["code"], ["name", "code"]])
        #expect(unique.map(\.condition) == [nil, "\"ent\" IN (2, 3)", "\"ent\" IN (2, 3)"])
    }

    /// Names of two tables, or of columns that differ in case, were alike: the second index could not be made.
    @Test func indexesHaveNamesOfTheirOwn() {
        let names = ["b", "c", "b_c", "B_d", "d"]
        let mapping = mapping([
            entity("A", names.map { ($0, .int64) }, indexed: [["b", "c"], ["b_c"], ["B_d"], ["b", "d"]]),
            entity("A_b", [("c", .int64), ("d", .int64)], indexed: [["c"], ["d"]]),
        ])
        let found = mapping.tables.flatMap { mapping.indexes(ofTable: $0.name) }.map(\.name)
        #expect(found.count == 6)
        #expect(Set(found.map { $0.lowercased() }).count == found.count)
    }

    /// The numbers of entities were given beside the text: a database looked at all records of them.
    @Test(arguments: [SQLDialect.sqlite, .postgreSQL])
    func anIndexOfSomeEntitiesIsAskedForInItsOwnWords(_ dialect: SQLDialect) throws {
        let mapping = mapping(
            [
                entity("Base", [("name", .string)]),
                entity("Middle", of: "Base", [("code", .int64)], unique: [["code"]]),
                entity("Leaf", of: "Middle", [("x", .int64)]),
            ], dialect)
        let middle = try plan("Middle", .equal, "code", .integer(1), mapping)
        #expect(middle.usesIndex && middle.rows().text.contains("t0.\"ent\" IN (2, 3)"))
        let leaf = try plan("Leaf", .greater, "code", .integer(1), mapping)
        #expect(leaf.usesIndex)
        #expect(leaf.rows().text.contains("t0.\"ent\" IN (2)") && leaf.rows().text.contains("t0.\"ent\" IN (2, 3)"))
        #expect(try !plan("Base", .equal, "name", .string("a"), mapping).usesIndex)
    }

    /// An index without NaN serves what is equal to a number, and it was said to serve all.
    @Test(arguments: [SQLDialect.sqlite, .postgreSQL])
    func anIndexOfNumbersServesWhatIsEqualToOne(_ dialect: SQLDialect) throws {
        let mapping = mapping([entity("Item", [("weight", .double)], unique: [["weight"]])], dialect)
        let condition = try #require(mapping.indexes(ofTable: "Item").first?.condition)
        let equal = try plan("Item", .equal, "weight", .double(1), mapping)
        #expect(equal.usesIndex && equal.rows().text.contains("t0." + condition))
        let greater = try plan("Item", .greater, "weight", .double(1), mapping)
        #expect(!greater.usesIndex)
        #expect(greater.claims[0] == .exact)
    }
}
