#if PostgreSQL
import Foundation
import MortiseCore
@testable import MortisePostgreSQL
import SQLSupport
import Testing

/// What a later schema has no place for goes only where the configuration names it.
@Suite(.enabled(if: TestServer.url != nil, "\(TestServer.reason)")) struct SchemaLossTests {
    private let second = Schema.Version(2, 0, 0)

    private static func relationship(_ name: String, _ destination: String, isToMany: Bool) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: !isToMany,
            content: .relationship(StoredRelationship(destination: destination, isToMany: isToMany)))
    }

    /// The values went without a word.
    @Test func valuesThatTheSchemaLacksAreRefusedUnlessNamed() throws {
        let space = try TestSpace()
        let wide = [entity("Item", [("name", .string), ("size", .int64), ("weight", .double)])]
        let store = try space.open(wide)
        try store.insert("Item", ["name": .string("a"), "size": .integer(1)], ["size": .integer(2)], [:])
        try store.close()
        let narrow = [entity("Item", [("name", .string)])]
        let error = #expect(throws: PostgreSQLError.self) { try space.open(narrow, version: second) }
        guard case .unnamedLoss(let loss)? = error?.fault else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(loss.properties == [.init(entity: "Item", name: "size", values: 2)])
        #expect(error?.description.contains("?dropping=Item.size") == true)
        let same = try space.open(wide)
        #expect(try same.values("Item", "size").count == 3)
        try same.close()
        let reader = try space.open(narrow, version: second, "&allowsSave=false")
        #expect(reader.schemaLoss == loss)
        try reader.close()
        try space.open(narrow, version: second, "&dropping=Item.size").close()
        #expect(try space.open(narrow, version: second).schemaLoss == nil)
    }

    @Test func whatMayBeAnotherNameOfWhatGoesIsRefused() throws {
        let space = try TestSpace()
        let store = try space.open([entity("Item", [("a", .string)])])
        try store.insert("Item", ["a": .string("kept")])
        try store.close()
        let renamed = [
            StoredEntity(
                name: "Item",
                properties: [
                    StoredProperty(
                        name: "c", originalName: "b", isOptional: true,
                        content: .attribute(StoredAttribute(kind: .string)))
                ])
        ]
        let error = #expect(throws: MigrationError.self) { try space.open(renamed, version: second) }
        guard case .unknownOrigin(_, "Item.c", "b", ["Item.a"])? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    /// References to records of an entity that went led to damaged values.
    @Test func relationshipsLeadToNothingThatGoes() throws {
        let space = try TestSpace()
        let (base, gone) = (
            StoredEntity(name: "Base", properties: [Self.relationship("next", "Base", isToMany: false)]),
            StoredEntity(name: "Gone", superentity: "Base", properties: [])
        )
        let owner = StoredEntity(
            name: "Owner",
            properties: [
                Self.relationship("one", "Base", isToMany: false), Self.relationship("many", "Base", isToMany: true),
                Self.relationship("others", "Base", isToMany: true),
            ])
        let store = try space.open([base, gone, owner])
        let kept = try store.insert("Base", [:])[0]
        let lost = try store.insert("Gone", ["next": .identifier(kept)])[0]
        try store.insert(
            "Owner", ["one": .identifier(lost), "many": .identifiers([kept, lost]), "others": .identifiers([kept])])
        try store.close()
        let smaller = StoredEntity(name: "Owner", properties: Array(owner.properties.prefix(2)))
        let later = try space.open(
            [base, smaller], version: second, "&dropping=Gone,Owner.one,Owner.many,Owner.others")
        #expect(try later.values("Owner", "one") == [.null])
        _ = try later.save(
            DataStoreSaveChangesRequest(deleted: [later.snapshot("Base", [:], of: kept)], editingState: EditingState()))
        #expect(try later.values("Base", "next").isEmpty)
    }

    /// The store was opened, and references led to records that were not there.
    @Test func aReaderIsRefusedWhereRecordsWouldHaveToChange() throws {
        let space = try TestSpace()
        let base = StoredEntity(name: "Base", properties: [])
        let gone = StoredEntity(name: "Gone", superentity: "Base", properties: [])
        func owner(_ value: StoredValue?) -> StoredEntity {
            StoredEntity(
                name: "Owner",
                properties: [
                    Self.relationship("one", "Base", isToMany: false),
                    StoredProperty(
                        name: "size", isOptional: value == nil,
                        content: .attribute(StoredAttribute(kind: .int64, defaultValue: value))),
                ])
        }
        let store = try space.open([base, gone, owner(nil)])
        let lost = try store.insert("Gone", [:])[0]
        let record = try store.insert("Owner", ["one": .identifier(lost), "size": .integer(1)])[0]
        func fault(_ entities: [StoredEntity]) throws -> PostgreSQLError.Fault? {
            do {
                try space.open(entities, version: second, "&allowsSave=false").close()
                return nil
            } catch let error as PostgreSQLError {
                return error.fault
            }
        }
        guard case .misfit(let text)? = try fault([base, owner(nil)]), text.contains("would lose one") else {
            Issue.record("The reference was not refused")
            return
        }
        #expect(try fault([base, gone, owner(.integer(3))]) == nil)
        try store.update(record, ["size": .null], version: 1)
        try store.close()
        guard case .misfit(let text)? = try fault([base, gone, owner(.integer(3))]), text.contains("default of size")
        else {
            Issue.record("The value that is missing was not refused")
            return
        }
    }

    /// The column of the target's entity was there already, and stayed empty for what was saved while there was but one.
    @Test func referencesAreFoundAfterAHierarchyHasBecomeSmallerAndLarger() throws {
        let space = try TestSpace()
        let base = StoredEntity(name: "Base", properties: [])
        let owner = StoredEntity(name: "Owner", properties: [Self.relationship("one", "Base", isToMany: false)])
        func sub(_ name: String) -> StoredEntity { StoredEntity(name: name, superentity: "Base", properties: []) }
        try space.open([base, sub("Sub"), owner]).close()
        let store = try space.open([base, owner], version: second)
        let target = try store.insert("Base", [:])[0]
        try store.insert("Owner", ["one": .identifier(target)], [:])
        try store.close()
        let later = try space.open([base, sub("Other"), owner], version: Schema.Version(3, 0, 0))
        let condition = QueryExpression.compare(
            .equal, later.property("Owner", "one"), .constant(.identifier(target)))
        #expect(try later.values("Owner", "one", where: condition) == [.identifier(target)])
    }
}
#endif
