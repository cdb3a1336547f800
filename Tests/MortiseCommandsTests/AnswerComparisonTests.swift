#if Tool
@testable import MortiseCommands
import MortiseCore
import MortiseInMemory
import Testing

/// When two stores gave the same answer: by the places of the records, and not by their values alone.
@Suite struct AnswerComparisonTests {
    private static let schema = StoredSchema(entities: [
        StoredEntity(
            name: "Note",
            properties: [
                StoredProperty(name: "text", isOptional: false, content: .attribute(StoredAttribute(kind: .string))),
                StoredProperty(
                    name: "source", isOptional: true,
                    content: .relationship(StoredRelationship(destination: "Note", isToMany: false))),
            ])
    ])

    /// A store of three notes with one text, the last of which leads to another one.
    private func notes(_ name: String, lastLeadsTo source: Int) throws -> OpenStore {
        let store = try OpenStore(InMemoryConfiguration(name), schema: Self.schema, name: name)
        let layout = try #require(store.layouts["Note"])
        let identifiers = (0..<3).map { _ in PersistentIdentifier.temporary(entityName: "Note") }
        _ = try store.save(
            inserted: identifiers.enumerated().map { place, identifier in
                DefaultSnapshot(
                    persistentIdentifier: identifier, layout: layout,
                    values: [.string("same"), place == 2 ? .identifier(identifiers[source]) : .null])
            })
        return store
    }

    private func areEqual(
        _ a: OpenStore, _ one: StoreQuery, _ b: OpenStore, _ two: StoreQuery, dataIsEqual: Bool,
        at location: SourceLocation = #_sourceLocation
    ) throws -> Bool {
        let content = try ContentComparison(try a.version(), try b.version(), a.schema, a.layouts)
        #expect(content.isEqual == dataIsEqual, sourceLocation: location)
        return try AnswerComparison(StoreQueryRun(one, in: a), StoreQueryRun(two, in: b), content).isEqual
    }

    private func window(_ offset: Int, _ limit: Int?) -> StoreQuery { StoreQuery("Note", offset: offset, limit: limit) }

    @Test func recordsOfOneValueAreToldApartByTheirPlaces() throws {
        let (a, b) = (try notes("a", lastLeadsTo: 0), try notes("b", lastLeadsTo: 0))
        #expect(try areEqual(a, window(0, nil), b, window(0, nil), dataIsEqual: true))
        #expect(try areEqual(a, window(1, 1), b, window(1, 1), dataIsEqual: true))
        #expect(try !areEqual(a, window(0, 1), b, window(1, 1), dataIsEqual: true))
        #expect(try !areEqual(a, window(0, 2), b, window(0, 1), dataIsEqual: true))
    }

    @Test func relationshipsAreComparedWhereTheDataDiffers() throws {
        let (a, b) = (try notes("a", lastLeadsTo: 0), try notes("b", lastLeadsTo: 1))
        #expect(try areEqual(a, window(0, 2), b, window(0, 2), dataIsEqual: false))
        #expect(try !areEqual(a, window(2, 1), b, window(2, 1), dataIsEqual: false))
    }
}
#endif
