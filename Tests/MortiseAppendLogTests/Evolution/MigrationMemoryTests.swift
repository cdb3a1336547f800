import MortiseCore
import MortiseEngine
import MortiseInMemory
import Testing

extension MigrationTests {
    private func container(
        _ schema: Schema, _ plan: (any SchemaMigrationPlan.Type)? = nil, _ storage: InMemoryStorage?
    ) throws -> ModelContainer {
        try ModelContainer(
            for: schema, migrationPlan: plan, configurations: [InMemoryConfiguration("trips", storage: storage)])
    }

    @Test func aStorageInMemoryOutlivesItsContainers() throws {
        let storage = InMemoryStorage()
        let one = Schema(versionedSchema: V1.self)
        let first = try container(one, nil, storage)
        let context = ModelContext(first)
        let traveler = V1.Traveler("Ada Lovelace", mail: "a@x")
        context.insert(traveler)
        context.insert(V1.Trip("Alps", price: 1, note: "n", traveler: traveler))
        try context.save()
        // Another container has the same records and hears of saves.
        let second = try container(one, nil, storage)
        #expect(try ModelContext(second).fetch(FetchDescriptor<V1.Trip>()).map(\.title) == ["Alps"])
        context.insert(V1.Traveler("Cleo"))
        try context.save()
        #expect(try ModelContext(second).fetchCount(FetchDescriptor<V1.Traveler>()) == 2)
        #expect(throws: EngineError.openWithOtherOptions(path: "trips")) {
            try container(Schema(versionedSchema: V2.self), nil, storage)
        }
        #expect(throws: MigrationError.openElsewhere(store: "trips")) {
            try container(Schema(versionedSchema: V2.self), Plans.Two.self, storage)
        }
        let identifier = traveler.persistentModelID
        try first.close()
        #expect(try ModelContext(second).fetchCount(FetchDescriptor<V1.Traveler>()) == 2)
        try second.close()

        // The second version of the app.
        let previews = try ModelContainer.migrationPreview(
            for: Schema(versionedSchema: V2.self), migrationPlan: Plans.Two.self,
            configurations: [InMemoryConfiguration("trips", storage: storage)])
        #expect(previews.first?.stages.count == 1)
        Plans.failing = "did 2"
        #expect(throws: MigrationError.self) {
            try container(Schema(versionedSchema: V2.self), Plans.Two.self, storage)
        }
        Plans.failing = nil
        #expect(storage.schema?.version == Schema.Version(1, 0, 0))
        for _ in 0..<2 {
            let migrated = try container(Schema(versionedSchema: V2.self), Plans.Two.self, storage)
            let travelers = try ModelContext(migrated).fetch(FetchDescriptor<V2.Traveler>())
            #expect(travelers.map(\.first) == ["Ada", "Cleo"])
            #expect(travelers.first?.persistentModelID == identifier)
            #expect(travelers.first?.trips.map(\.name) == ["Alps"])
            try migrated.close()
        }
        #expect {
            try container(one, nil, storage)
        } throws: { error in
            if case SwiftDataError.backwardMigration = error { true } else { false }
        }
        // Without a plan the first save brings the records there, and not the opening.
        try container(Schema(versionedSchema: V3.self), nil, storage).close()
        #expect(storage.schema?.version == Schema.Version(2, 0, 0))
        let third = try container(Schema(versionedSchema: V3.self), nil, storage)
        let saving = ModelContext(third)
        try #require(try saving.fetch(FetchDescriptor<V3.Traveler>()).first).mail = "new@x"
        try saving.save()
        try third.close()
        #expect(storage.schema?.version == Schema.Version(3, 0, 0))
        // A container that is let go of closes its store, and one without a storage begins empty.
        _ = try container(Schema(versionedSchema: V3.self), nil, storage)
        try container(Schema(versionedSchema: V3.self), nil, storage).close()
        #expect(
            try ModelContext(container(Schema(versionedSchema: V3.self), nil, nil)).fetchCount(
                FetchDescriptor<V3.Trip>()) == 0)
    }
}
