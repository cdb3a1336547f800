import Foundation
import Testing

@testable import MortiseCore

/// What follows from a schema is worked out once for it and its copies, and anew for one that has been changed.
@Suite struct DerivedFromSchemaTests {
    private static func schema() -> StoredSchema {
        StoredSchema(entities: [
            StoredEntity(name: "Animal", properties: [property("name")]),
            StoredEntity(name: "Dog", superentity: "Animal", properties: [property("breed")]),
        ])
    }

    private static func property(_ name: String) -> StoredProperty {
        StoredProperty(name: name, isOptional: true, content: .attribute(StoredAttribute(kind: .string)))
    }

    @Test func copiesHaveTheSameLayouts() throws {
        let schema = Self.schema()
        var copy = schema
        copy.version = Schema.Version(2, 0, 0)
        let layout = try #require(schema.recordLayouts()["Dog"])
        #expect(schema.recordLayouts()["Dog"] === layout)
        #expect(copy.recordLayouts()["Dog"] === layout)
        #expect(schema.numbered(Schema.Version(3, 0, 0)).recordLayouts()["Dog"] === layout)
    }

    /// Stores work by the stored form and contexts by the models. Where both have one layout, a snapshot needs no look at names.
    @Test func storesHaveTheLayoutsOfTheModels() throws {
        let schema = Schema([Author.self, Item.self, Special.self])
        let again = StoredSchema(version: schema.stored.version, entities: schema.stored.entities).recordLayouts()
        #expect(Set(again.keys) == Set(schema.recordLayouts.keys))
        for (name, layout) in schema.stored.recordLayouts() {
            #expect(schema.recordLayouts[name] === layout)
            let made = try #require(again[name])
            #expect(made !== layout)
            #expect(made.superentityName == layout.superentityName)
            #expect(made.slots.map(\.property) == layout.slots.map(\.property))
            #expect(made.slots.map(\.declaringEntity) == layout.slots.map(\.declaringEntity))
            #expect(made.slots.map(\.role) == layout.slots.map(\.role))
            #expect(made.uniqueConstraints == layout.uniqueConstraints)
        }
    }

    @Test func aChangedCopyHasItsOwnAndLeavesTheOriginal() throws {
        let schema = Self.schema()
        #expect(schema.subtree(of: "Animal") == ["Animal", "Dog"])
        #expect(schema.isClosed)
        let storage = schema.storage
        let layout = try #require(schema.recordLayouts()["Dog"])
        var copy = schema
        copy.entities[1].properties.append(Self.property("age"))
        copy.entities.append(StoredEntity(name: "Puppy", superentity: "Dog", properties: []))
        #expect(copy.recordLayouts()["Dog"]?.slots.map(\.name) == ["name", "breed", "age"])
        #expect(copy.recordLayouts()["Puppy"]?.slots.map(\.name) == ["name", "breed", "age"])
        #expect(copy.subtree(of: "Animal") == ["Animal", "Dog", "Puppy"])
        #expect(copy.storage != storage)
        copy.entities.removeFirst()
        #expect(!copy.isClosed)
        #expect(schema.recordLayouts()["Dog"] === layout)
        #expect(layout.slots.map(\.name) == ["name", "breed"])
    }

    @Test func equalityAndCodingKnowNothingOfIt() throws {
        let schema = Self.schema()
        _ = schema.recordLayouts()
        #expect(schema == Self.schema())
        #expect(schema.hashValue == Self.schema().hashValue)
        let data = try JSONEncoder().encode(schema)
        let members = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(Set(members.keys) == ["version", "entities"])
        #expect(try JSONDecoder().decode(StoredSchema.self, from: data) == schema)
    }

    @Test func anotherNumberPutsEntitiesInOrder() {
        var schema = Self.schema()
        schema.entities.reverse()
        #expect(schema.entities.map(\.name) == ["Dog", "Animal"])
        #expect(schema.numbered(Schema.Version(2, 0, 0)).entities.map(\.name) == ["Animal", "Dog"])
    }

    @Test func familiesOfEntitiesOfOneNameAreFoundAsBefore() {
        let twice = StoredSchema(entities: [
            StoredEntity(name: "Animal", properties: []), StoredEntity(name: "Dog", properties: []),
            StoredEntity(name: "Dog", superentity: "Animal", properties: []),
        ])
        #expect(twice.subtree(of: "Animal") == ["Animal", "Dog", "Dog"])
        #expect(twice.subtree(of: "Cat") == [])
    }
}
