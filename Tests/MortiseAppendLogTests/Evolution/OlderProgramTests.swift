import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// Programs whose schema is older than a store's, or lacks what the store holds.
@Suite struct OlderProgramTests {
    private static func entity(_ name: String, _ names: String..., superentity: String? = nil) -> StoredEntity {
        StoredEntity(name: name, superentity: superentity, properties: names.map { text($0) })
    }

    private static func text(_ name: String, from original: String? = nil) -> StoredProperty {
        StoredProperty(
            name: name, originalName: original, isOptional: true,
            content: .attribute(StoredAttribute(kind: .string)))
    }

    private static func schema(_ major: Int, _ entities: StoredEntity...) -> StoredSchema {
        StoredSchema(version: Schema.Version(major, 0, 0), entities: entities)
    }

    private func save(
        _ records: [(String, [StoredValue])], to world: SchemaWorld, _ schema: StoredSchema
    ) throws {
        let store = try world.open(schema)
        let layouts = schema.recordLayouts()
        let inserted = try records.map { name, values in
            DefaultSnapshot(
                persistentIdentifier: .temporary(entityName: name), layout: try #require(layouts[name]),
                values: ContiguousArray(values))
        }
        _ = try store.save(
            DataStoreSaveChangesRequest(inserted: inserted, editingState: EditingState(author: "test")))
        try world.close(store)
    }

    /// Defect: an older program's first save dropped every value and record that it did not know, silently.
    @Test(arguments: SchemaWorld.Kind.allCases) func aNewerStoreIsRefused(_ kind: SchemaWorld.Kind) throws {
        let world = try SchemaWorld(kind)
        let newer = Self.schema(2, Self.entity("Note", "text", "rank"), Self.entity("Tag", "name"))
        try save([("Note", [.string("a"), .string("1")]), ("Tag", [.string("t")])], to: world, newer)
        let before = try world.files()
        let older = Self.schema(1, Self.entity("Note", "text"))
        for (allowsSave, sharing) in [(true, AppendLogSharing.exclusive), (false, .exclusive), (true, .shared)] {
            do {
                try world.close(world.open(older, allowsSave: allowsSave, sharing: sharing))
                Issue.record("An older program opened the store")
            } catch SwiftDataError.backwardMigration {
            }
        }
        let error = MigrationError.newerStore(
            store: world.path, stored: Schema.Version(2, 0, 0), program: Schema.Version(1, 0, 0))
        #expect(throws: error) { try world.open(older) }
        for words in [world.path, "2.0.0", "1.0.0", "Update the program"] { #expect("\(error)".contains(words)) }
        #expect(try world.files() == before)
        // Nothing is locked, and a program that takes the schema from the store opens it.
        let again = try world.open(try #require(try world.storedSchema()))
        #expect(try world.records(again, newer)["Tag"]?.count == 1)
        try world.close(again)
    }

    /// Defect: a program that forgot a model lost all of its records with the first save.
    @Test(arguments: SchemaWorld.Kind.allCases)
    func aForgottenEntityIsRefusedUntilItMayGo(_ kind: SchemaWorld.Kind) throws {
        let world = try SchemaWorld(kind)
        let whole = Self.schema(1, Self.entity("Keep", "text"), Self.entity("Gone", "text"), Self.entity("Empty"))
        let records = (0..<1_000).map { ("Gone", [StoredValue.string("\($0)")]) } + [("Keep", [.string("k")])]
        try save(records, to: world, whole)
        let part = Self.schema(1, Self.entity("Keep", "text"))
        let error = MigrationError.unnamedEntities(
            store: world.path, version: Schema.Version(1, 0, 0), entities: [.init(name: "Gone", records: 1_000)])
        #expect(throws: error) { try world.open(part) }
        #expect(throws: error) { try world.open(part, dropping: ["Empty"], allowsSave: false) }
        for words in ["Gone (1000 records)", "dropping: [\"Gone\"]", "?dropping=Gone", "raise the version"] {
            #expect("\(error)".contains(words), "\(error)")
        }
        // Whoever follows the advice has to be let in.
        let other = Self.schema(1, Self.entity("Empty"))
        let both = try #require(
            #expect(throws: MigrationError.self) { try world.open(other, dropping: ["Gone"], allowsSave: false) })
        #expect("\(both)".contains("dropping: [\"Gone\", \"Keep\"]"), "\(both)")
        #expect("\(both)".contains("?dropping=Gone,Keep"), "\(both)")
        try world.close(world.open(other, dropping: ["Gone", "Keep"], allowsSave: false))
        let store = try world.open(part, dropping: ["Gone"])
        #expect(store.schemaLoss?.entities == [.init(name: "Gone", records: 1_000)])
        try world.close(store)
        try save([("Keep", [.string("again")])], to: world, Self.schema(2, Self.entity("Keep", "text")))
        let copy = try #require(try world.copies().first)
        let kept = try world.open(whole, allowsSave: false, at: copy)
        #expect(try world.records(kept, whole)["Gone"]?.count == 1_000)
        try world.close(kept)
    }

    /// A copy that cannot be made keeps the save from being made.
    @Test(arguments: SchemaWorld.Kind.allCases) func withoutACopyNothingIsWritten(_ kind: SchemaWorld.Kind) throws {
        let world = try SchemaWorld(kind)
        let wide = Self.schema(1, Self.entity("Note", "text", "rank"))
        try save([("Note", [.string("a"), .string("1")])], to: world, wide)
        let narrow = Self.schema(1, Self.entity("Note", "text"))
        let before = try world.files()
        let store = try world.open(narrow)
        let layout = try #require(narrow.recordLayouts()["Note"])
        let request = DataStoreSaveChangesRequest(
            inserted: [
                DefaultSnapshot(
                    persistentIdentifier: .temporary(entityName: "Note"), layout: layout, values: [.string("b")])
            ], editingState: EditingState(author: "test"))
        let fired = world.disk.faultsFired
        world.disk.inject(.fail(.noSpace), of: .rename)
        #expect(throws: FileError.self) { _ = try store.save(request) }
        #expect(world.disk.faultsFired == fired + 1)
        world.disk.removeFaults()
        #expect(try world.files() == before)
        #expect(store.schemaLoss != nil)
        _ = try store.save(request)
        #expect(try world.copies().count == 1)
        try world.close(store)
    }

    /// References to records of an entity that goes are dropped and counted; one that is required keeps the store closed.
    @Test(arguments: SchemaWorld.Kind.allCases) func referencesGoWithTheirTargets(_ kind: SchemaWorld.Kind) throws {
        func link(_ name: String, optional: Bool, many: Bool = false) -> StoredProperty {
            StoredProperty(
                name: name, isOptional: optional,
                content: .relationship(StoredRelationship(destination: "Base", isToMany: many)))
        }
        for isOptional in [true, false] {
            let world = try SchemaWorld(kind)
            let base = Self.entity("Base", "text")
            let owner = StoredEntity(
                name: "Owner",
                properties: [link("one", optional: isOptional), link("all", optional: false, many: true)])
            let old = Self.schema(1, base, Self.entity("Sub", "more", superentity: "Base"), owner)
            let store = try world.open(old)
            let layouts = old.recordLayouts()
            let sub = PersistentIdentifier.temporary(entityName: "Sub")
            let plain = PersistentIdentifier.temporary(entityName: "Base")
            func snapshot(_ record: PersistentIdentifier, _ values: [StoredValue]) throws -> DefaultSnapshot {
                DefaultSnapshot(
                    persistentIdentifier: record, layout: try #require(layouts[record.entityName]),
                    values: ContiguousArray(values))
            }
            _ = try store.save(
                DataStoreSaveChangesRequest(
                    inserted: [
                        try snapshot(sub, [.string("s"), .string("m")]), try snapshot(plain, [.string("p")]),
                        try snapshot(
                            .temporary(entityName: "Owner"), [.identifier(sub), .identifiers([sub, plain])]),
                    ], editingState: EditingState(author: "test")))
            try world.close(store)
            let new = Self.schema(2, base, owner)
            if isOptional {
                let opened = try world.open(new)
                let loss = try #require(opened.schemaLoss)
                #expect("\(loss)" == "Sub (1 record), Owner.all (1 value), Owner.one (1 value)")
                let row = try #require(try world.records(opened, new)["Owner"]?.values.first)
                #expect(row["one"] == .null)
                if case .identifiers(let members)? = row["all"] {
                    #expect(members.map(\.entityName) == ["Base"])
                } else {
                    Issue.record("no members")
                }
                try world.close(opened)
            } else {
                let error = #expect(throws: EngineError.self) { _ = try world.open(new) }
                #expect("\(try #require(error))".contains("Owner.one is required, and in 1 of its records"))
            }
        }
    }

    // MARK: Names

    private func map(
        _ old: [StoredProperty], _ new: [StoredProperty]
    ) throws -> [StoredValue] {
        let before = StoredSchema(entities: [StoredEntity(name: "E", properties: old)])
        let after = StoredSchema(entities: [StoredEntity(name: "E", properties: new)])
        let mapping = try SchemaMapping(from: before, to: after, store: "store")
        let values = ContiguousArray(old.map { StoredValue.string($0.name) })
        let layout = try #require(after.recordLayouts()["E"])
        return try Array(#require(mapping.map(values, ofEntity: "E", defaults: layout)))
    }

    /// Defect: the values of a property that was renamed came to a new one of its name as well, and where that was of another
    /// kind the store was refused.
    @Test func aNewPropertyMayHaveTheNameOfOneThatWasRenamed() throws {
        #expect(try map([Self.text("a")], [Self.text("a"), Self.text("b", from: "a")]) == [.null, .string("a")])
        let other = StoredProperty(name: "a", isOptional: true, content: .attribute(StoredAttribute(kind: .int64)))
        #expect(try map([Self.text("a")], [other, Self.text("b", from: "a")]) == [.null, .string("a")])
        // And stays as it is once that is done.
        let done = [Self.text("a"), Self.text("b", from: "a")]
        #expect(try map(done, done + [Self.text("c")]) == [.string("a"), .string("b"), .null])
    }

    @Test func namesGoRoundInACircle() throws {
        let old = [Self.text("a"), Self.text("b"), Self.text("c")]
        let new = [Self.text("a", from: "b"), Self.text("b", from: "c"), Self.text("c", from: "a")]
        #expect(try map(old, new) == [.string("b"), .string("c"), .string("a")])
        #expect(try map(new, new + [Self.text("d")]) == [.string("a"), .string("b"), .string("c"), .null])
    }

    /// A property that stays where it is gives nothing away to one that was renamed again under its first original name.
    @Test func aPropertyThatStaysKeepsItsValues() throws {
        let (a, b, c) = (Self.text("a"), Self.text("b", from: "a"), Self.text("c", from: "a"))
        #expect(try map([a, b], [a, c]) == [.string("a"), .string("b")])
        #expect(try map([b], [b, c]) == [.string("b"), .null])
        let swapped = Self.text("a", from: "b")
        #expect(try map([swapped, b], [swapped, c]) == [.string("a"), .string("b")])
    }

    /// Defect: an equal name won over the original name, so that a swap did nothing.
    @Test func namesThatAreSwappedSwap() throws {
        let old = [Self.text("a"), Self.text("b")]
        let new = [Self.text("a", from: "b"), Self.text("b", from: "a")]
        #expect(try map(old, new) == [.string("b"), .string("a")])
        // Once, although the original names stay in the source.
        #expect(try map(new, new) == [.string("a"), .string("b")])
        let three = [Self.text("a", from: "b"), Self.text("b", from: "c"), Self.text("c", from: "a")]
        #expect(
            try map([Self.text("a"), Self.text("b"), Self.text("c")], three)
                == [.string("b"), .string("c"), .string("a")])
    }

    @Test func aNameThatIsUsedAgainIsNew() throws {
        let second = [Self.text("b", from: "a")]
        let third = [Self.text("b", from: "a"), Self.text("a")]
        #expect(try map([Self.text("a")], second) == [.string("a")])
        #expect(try map(second, third) == [.string("b"), .null])
        #expect(try map(third, third) == [.string("b"), .string("a")])
    }

    /// Defect: a store that skipped a version lost what was renamed twice.
    @Test func aChainOfRenamesIsFollowedFromItsFirstName() throws {
        #expect(try map([Self.text("b", from: "a")], [Self.text("c", from: "a")]) == [.string("b")])
        #expect(try map([Self.text("a")], [Self.text("c", from: "a")]) == [.string("a")])
        #expect(try map([Self.text("b", from: "a")], [Self.text("c", from: "b")]) == [.string("b")])
        #expect(try map([Self.text("b", from: "a")], [Self.text("c", from: "x")]) == [.null])
    }

    // MARK: Containers

    private enum First: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Earlier.Note.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    }
    private enum Second: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Later.Note.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    }
    private enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [First.self, Second.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: First.self, toVersion: Second.self)] }
    }

    /// A schema of models alone is 1.0.0; with a plan it has the number of the plan's version with the same entities, so that
    /// it is neither older nor newer than that.
    @Test func aContainerTakesItsVersionFromThePlan() throws {
        let disk = try makeDisk()
        let container = try ModelContainer(
            for: Schema([Later.Note.self]), migrationPlan: Plan.self, configurations: [logConfiguration(disk)])
        #expect(container.schema.version == Schema.Version(2, 0, 0))
        let context = ModelContext(container)
        context.insert(Later.Note("one", rank: 7))
        try context.save()
        try container.close()
        #expect(try logConfiguration(disk).storedSchema()?.version == Schema.Version(2, 0, 0))
        #expect {
            _ = try ModelContainer(
                for: Schema([Earlier.Note.self]), migrationPlan: Plan.self, configurations: [logConfiguration(disk)])
        } throws: {
            if case SwiftDataError.backwardMigration = $0 { true } else { false }
        }
        try ModelContainer(for: Schema(versionedSchema: Second.self), configurations: [logConfiguration(disk)]).close()
    }

    private enum Recounted: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Earlier.Note.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    }
    private enum Recounting: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [First.self, Recounted.self] }
        static var stages: [MigrationStage] {
            [
                .custom(fromVersion: First.self, toVersion: Recounted.self, willMigrate: nil) { context in
                    for note in try context.fetch(FetchDescriptor<Earlier.Note>()) { note.text += "!" }
                }
            ]
        }
    }

    /// Defect: a stage that changes values only was passed over in silence, because the entities were equal.
    @Test func aCustomStageBetweenEqualEntitiesIsCarriedOut() throws {
        let disk = try makeDisk()
        let configuration = logConfiguration(disk)
        func open(_ schema: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)?) throws {
            let container = try ModelContainer(
                for: Schema(versionedSchema: schema), migrationPlan: plan, configurations: [configuration])
            let context = ModelContext(container)
            context.insert(Earlier.Note("one"))
            try context.save()
            try container.close()
        }
        func texts() throws -> [String] {
            let container = try ModelContainer(
                for: Schema(versionedSchema: Recounted.self), configurations: [configuration])
            defer { try? container.close() }
            return try ModelContext(container).fetch(FetchDescriptor<Earlier.Note>()).map(\.text)
        }
        try open(First.self, nil)
        // Under its own version it opens as it is, and a new store has nothing to migrate.
        try open(First.self, Recounting.self)
        try open(Recounted.self, Recounting.self)
        try open(Recounted.self, Recounting.self)
        #expect(try texts() == ["one!", "one!", "one", "one"])
        try disk.unlink(logPath)
        try? disk.unlink(logPath + ".checkpoint")
        try open(Recounted.self, Recounting.self)
        try open(Recounted.self, Recounting.self)
        #expect(try texts() == ["one", "one"])
    }

    @Test func storeURLsSayWhatMayGo() throws {
        let registry = StoreRegistry(.json, .log)
        let json = try registry.configuration(for: "json:/data/x.json?dropping=Gone,Other")
        #expect((json as? JSONFileConfiguration)?.dropping == ["Gone", "Other"])
        let log = try registry.configuration(for: "log:/data/x.log?dropping=Gone")
        #expect((log as? AppendLogConfiguration)?.dropping == ["Gone"])
        #expect((try registry.configuration(for: "log:/data/x.log") as? AppendLogConfiguration)?.dropping == [])
    }

    /// A store of another package that describes itself, and leaves the schema to its container.
    @Test func aContainerRefusesForStoresThatDoNot() throws {
        let whole = Self.schema(2, Self.entity("Keep", "text"), Self.entity("Gone", "text"))
        let world = try SchemaWorld(.log)
        try save([("Gone", [.string("g")])], to: world, whole)
        func open(_ schema: StoredSchema, dropping: [String] = []) throws {
            let configuration = OutsideConfiguration(
                name: "outside", schema: Schema(stored: schema), disk: world.disk, path: world.path,
                dropping: dropping)
            try ModelContainer(for: Schema(stored: schema), configurations: [configuration]).close()
        }
        #expect {
            try open(Self.schema(1, Self.entity("Keep", "text")))
        } throws: {
            if case SwiftDataError.backwardMigration = $0 { true } else { false }
        }
        let error = MigrationError.unnamedEntities(
            store: "outside", version: Schema.Version(2, 0, 0), entities: [.init(name: "Gone", records: 1)])
        let part = Self.schema(2, Self.entity("Keep", "text"))
        #expect(throws: error) { try open(part) }
        try open(part, dropping: ["Gone"])
        try open(Self.schema(3, Self.entity("Keep", "text")))
        try open(whole)
    }
}

/// Reads a log, as a store of another package would that knows nothing of schemas that change.
private struct OutsideConfiguration: SelfDescribingConfiguration {
    typealias Store = OutsideStore
    var name: String
    var schema: Schema?
    var disk: SimulatedFileSystem
    var path: String
    var dropping: [String] = []

    func storedSchema() throws -> StoredSchema? { try AppendLogConfiguration(path: path, in: disk).storedSchema() }
    func readOnly() -> OutsideConfiguration { self }
    var location: String { path }
    func storeFiles() throws -> [StoreFile] { [] }
    var durabilityGrade: DurabilityGrade { .process }

    static func == (a: OutsideConfiguration, b: OutsideConfiguration) -> Bool { a.path == b.path && a.name == b.name }
    func hash(into hasher: inout Hasher) { hasher.combine(path) }
}

private final class OutsideStore: EngineDataStore {
    typealias Snapshot = DefaultSnapshot
    typealias Configuration = OutsideConfiguration
    let configuration: OutsideConfiguration
    let schema: Schema
    let engine: Engine
    var allowsSave: Bool { false }

    init(_ configuration: OutsideConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema, let stored = try configuration.storedSchema() else {
            throw DataStoreError.unsupportedFeature
        }
        self.configuration = configuration
        self.schema = schema
        if stored == schema.stored {
            let log = try AppendLogStore(
                AppendLogConfiguration(
                    schema: schema, path: configuration.path, allowsSave: false, in: configuration.disk),
                migrationPlan: nil)
            defer { try? log.close() }
            engine = Engine(log.engine.version)
        } else {
            engine = Engine(.empty(Catalog(schema: schema.stored, storeIdentifier: "outside")))
        }
    }
}
