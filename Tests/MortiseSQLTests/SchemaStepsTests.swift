import MortiseCore
@testable import MortiseSQL
import Testing

/// What a database keeps where it was when the store comes to another schema, and what gets a place of its own.
@Suite struct SchemaStepsTests {
    private func entity(_ name: String, _ properties: [String], was original: String? = nil) -> StoredEntity {
        StoredEntity(
            name: name, originalName: original,
            properties: properties.map {
                StoredProperty(name: $0, isOptional: true, content: .attribute(StoredAttribute(kind: .int64)))
            }, uniquenessConstraints: [], indices: [])
    }

    private func schema(_ version: Int, _ entities: [StoredEntity]) -> StoredSchema {
        StoredSchema(version: Schema.Version(version, 0, 0), entities: entities)
    }

    private func catalogs(_ schemas: [StoredSchema]) throws -> [TableCatalog] {
        var known = schema(0, [])
        var catalog = TableCatalog()
        return try schemas.map { schema in
            catalog = try SchemaSteps(from: known, to: schema, catalog).catalog
            known = schema
            return catalog
        }
    }

    private func column(_ property: String, of entity: String, _ schema: StoredSchema, _ catalog: TableCatalog)
        -> String?
    {
        guard let entity = TableMapping(schema, catalog).entities[entity],
            let slot = entity.layout.slot(named: property)
        else { return nil }
        return TableMapping.columns(of: entity.slots[slot].place).first
    }

    /// A name that a version lacks, and a later one has again, led to the values of before.
    @Test func aNameThatComesBackIsAnotherProperty() throws {
        let schemas = [
            schema(1, [entity("Item", ["size", "code"])]), schema(2, [entity("Item", ["code"])]),
            schema(3, [entity("Item", ["size", "code"])]),
        ]
        let catalogs = try catalogs(schemas)
        #expect(column("size", of: "Item", schemas[0], catalogs[0]) == "size")
        let later = try #require(column("size", of: "Item", schemas[2], catalogs[2]))
        #expect(later != "size")
        #expect(column("code", of: "Item", schemas[2], catalogs[2]) == "code")
    }

    @Test func anEntityThatComesBackHasNoRecordsYet() throws {
        let (item, box) = (entity("Item", ["code"]), entity("Box", ["code"]))
        let schemas = [schema(1, [item, box]), schema(2, [item]), schema(3, [item, box])]
        let catalogs = try catalogs(schemas)
        let before = try #require(TableMapping(schemas[0], catalogs[0]).entities["Box"])
        let after = try #require(TableMapping(schemas[2], catalogs[2]).entities["Box"])
        #expect(before.number != after.number && before.table != after.table)
    }

    /// The records of the entity that went were those of the one that has its name now.
    @Test(arguments: [("A", "B"), ("B", "A")])
    func anEntityMayHaveTheNameOfOneThatGoes(gone: String, kept: String) throws {
        let schemas = [
            schema(1, [entity("A", ["code"]), entity("B", ["code"])]), schema(2, [entity(gone, ["code"], was: kept)]),
        ]
        let catalogs = try catalogs(schemas)
        let before = TableMapping(schemas[0], catalogs[0]).entities
        let after = TableMapping(schemas[1], catalogs[1]).entities
        #expect(after[gone]?.number == before[kept]?.number)
        #expect(after[gone]?.table == kept)
    }
}
