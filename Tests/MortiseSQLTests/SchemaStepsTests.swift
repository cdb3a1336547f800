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

    private func owner(_ destination: String) -> StoredEntity {
        StoredEntity(
            name: "Owner",
            properties: [
                StoredProperty(
                    name: "d", isOptional: true,
                    content: .relationship(StoredRelationship(destination: destination, isToMany: false)))
            ])
    }

    /// Owners referred to records of the entity that has the name now, by the numbers of those that went.
    @Test func aRelationshipToAnEntityThatGoesDoesNotFitTheOneThatTakesItsName() throws {
        let schemas = [
            schema(1, [entity("D", ["code"]), entity("E", ["code"]), owner("D")]),
            schema(2, [entity("D", ["code"], was: "E"), owner("D")]),
        ]
        let error = #expect(throws: SchemaMisfit.self) { try catalogs(schemas) }
        #expect(error?.text.contains("Owner.d was to-one D (1)") == true)
        // One that follows its entity fits.
        let renamed = [
            schemas[0], schema(2, [entity("F", ["code"], was: "D"), entity("D", ["code"], was: "E"), owner("F")]),
        ]
        #expect(throws: Never.self) { try catalogs(renamed) }
    }

    /// They counted as records without a value, and the schema was refused.
    @Test func recordsOfAnEntityThatGoesNeedNoValues() throws {
        func schema(_ version: Int, isOptional: Bool, _ more: [StoredEntity]) -> StoredSchema {
            let properties = [
                StoredProperty(
                    name: "size", isOptional: isOptional, content: .attribute(StoredAttribute(kind: .int64))),
                StoredProperty(
                    name: "one", isOptional: isOptional,
                    content: .relationship(StoredRelationship(destination: "Item", isToMany: false))),
            ]
            return self.schema(
                version,
                [StoredEntity(name: "Base", properties: properties), entity("Item", ["code"])] + more)
        }
        let gone = StoredEntity(name: "Gone", superentity: "Base", properties: [])
        let before = schema(1, isOptional: true, [gone])
        let after = schema(2, isOptional: false, [])
        let catalog = try SchemaSteps(from: self.schema(0, []), to: before, TableCatalog()).catalog
        let number = try #require(TableMapping(before, catalog).entities["Base"]?.number)
        let required = try SchemaSteps(from: before, to: after, catalog).steps.compactMap { step -> [Int]? in
            if case .require(_, let entities, _, _) = step { entities } else { nil }
        }
        #expect(required == [[number], [number]])
    }
}
