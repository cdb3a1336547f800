#if Tool
import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseEngine
import MortiseInMemory
import MortiseJSONFile
import Testing

/// Several stores in one container, by URL: which model goes where, and what a store that is only read refuses.
@Suite struct SeveralStoresTests {
    private static let registry = StoreRegistry(.memory, .json, .log)

    private enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [] }
        static var stages: [MigrationStage] { [] }
    }

    /// Makes the store that is shared, with one country in it.
    private func makeShared(_ folder: ToolFolder) throws {
        let container = try ModelContainer(
            stores: ["log:" + folder.path("shared.log"): [Country.self]], registry: Self.registry)
        let context = ModelContext(container)
        context.insert(Country(code: "NO"))
        try context.save()
        try container.close()
    }

    @Test func eachModelGoesToItsStore() throws {
        let folder = try ToolFolder()
        try makeShared(folder)
        let container = try ModelContainer(
            stores: [
                "json:" + folder.path("local.json"): [Memo.self],
                "log:" + folder.path("shared.log") + "?allowsSave=false": [Country.self],
            ], migrationPlan: Plan.self, registry: Self.registry)
        let context = ModelContext(container)
        let folderModel = MemoFolder(name: "inbox")
        let memo = Memo(title: "one")
        memo.folder = folderModel
        context.insert(memo)
        try context.save()
        #expect(try context.fetch(FetchDescriptor<Country>()).map(\.code) == ["NO"])
        #expect(try context.fetch(FetchDescriptor<Memo>()).map(\.title) == ["one"])
        try container.close()

        let local = try ToolRun("info", "json:" + folder.path("local.json"), "--format", "json")
        #expect(local.output.contains("\"Memo\"") && !local.output.contains("\"Country\""))
        #expect(try ToolRun("fetch", "log:" + folder.path("shared.log"), "Country", "--count").output == "1\n")
        #expect(
            try ToolRun(
                "fetch", "json:" + folder.path("local.json"), "Memo", "--where", "folder.name == 'inbox'", "--count"
            )
            .output == "1\n")
    }

    @Test func aStoreThatIsOnlyReadTakesNoSave() throws {
        let folder = try ToolFolder()
        try makeShared(folder)
        let before = try folder.contents()
        let container = try ModelContainer(
            stores: [
                "memory:": [Memo.self], "log:" + folder.path("shared.log") + "?allowsSave=false": [Country.self],
            ], registry: Self.registry)
        let context = ModelContext(container)
        context.insert(Country(code: "SE"))
        #expect {
            try context.save()
        } throws: {
            if case ModelContextError.readOnly = $0 { true } else { false }
        }
        context.rollback()
        context.insert(Memo(title: "still possible"))
        try context.save()
        #expect(try folder.contents() == before)
    }

    @Test func relatedModelsBelongTogether() throws {
        #expect {
            try ModelContainer(stores: ["memory:a": [Memo.self], "memory:a": [Country.self]], registry: Self.registry)
        } throws: { error in
            "\(error)".contains("\"a\"")
        }
        #expect {
            try ModelContainer(stores: ["memory:a": [Memo.self], "floppy:b": [Country.self]], registry: Self.registry)
        } throws: { $0 is StoreURLError }
    }

    // MARK: Migration plans

    private enum First: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Country.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    }
    private enum Second: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Country.self, Memo.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    }
    private enum Lightweight: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [First.self, Second.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: First.self, toVersion: Second.self)] }
    }
    private enum Custom: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [First.self, Second.self] }
        static var stages: [MigrationStage] {
            [.custom(fromVersion: First.self, toVersion: Second.self, willMigrate: nil, didMigrate: { _ in })]
        }
    }

    private func open(
        _ url: String, _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)? = nil
    ) throws -> ModelContainer {
        try ModelContainer(
            for: Schema(versionedSchema: version), migrationPlan: plan,
            configurations: [Self.registry.configuration(for: url)])
    }

    @Test(arguments: ["json:", "log:"]) func aStageWithCodeIsNeverPassedOver(_ scheme: String) throws {
        let folder = try ToolFolder()
        let url = scheme + folder.path("a")
        var container = try open(url, First.self, Custom.self)
        var context = ModelContext(container)
        context.insert(Country(code: "NO"))
        try context.save()
        try container.close()

        let before = try folder.contents()
        let error = MigrationError.migrationNeeded(
            store: "a", from: Schema.Version(1, 0, 0), to: Schema.Version(2, 0, 0))
        #expect(throws: error) { try open(url + "?allowsSave=false", Second.self, Custom.self) }
        #expect(SwiftDataError.loadIssueModelContainer ~= error && "\(error)".contains("version 1.0.0"))
        #expect(try folder.contents() == before)

        // The way to the next version is the one that a lightweight stage describes; after it there is none to go.
        container = try open(url, Second.self, Lightweight.self)
        context = ModelContext(container)
        context.insert(Memo(title: "new"))
        try context.save()
        try container.close()
        container = try open(url, Second.self, Custom.self)
        context = ModelContext(container)
        #expect(try context.fetch(FetchDescriptor<Country>()).map(\.code) == ["NO"])
        #expect(try context.fetch(FetchDescriptor<Memo>()).map(\.title) == ["new"])
        try container.close()
    }

    @Test func aStoreOfAnotherPackageIsHandedThePlanBesideOthers() throws {
        let folder = try ToolFolder()
        var registry = Self.registry
        registry.register(
            StoreScheme("planned", summary: "keeps its plan", location: .name) { _ in PlannedConfiguration() })
        for (url, plan) in [("memory:", Custom.self), ("log:" + folder.path("a.log"), Custom.self), ("memory:b", nil)]
            as [(String, (any SchemaMigrationPlan.Type)?)]
        {
            let container = try ModelContainer(
                stores: ["planned:": [Country.self], url: [Memo.self]], migrationPlan: plan, registry: registry)
            let store = try #require(container.store(PlannedStore.self))
            #expect(store.plan == plan.map { ObjectIdentifier($0) })
            let context = ModelContext(container)
            context.insert(Country(code: "NO"))
            context.insert(Memo(title: "one"))
            try context.save()
            #expect(try context.fetch(FetchDescriptor<Country>()).map(\.code) == ["NO"])
            #expect(try context.fetchCount(FetchDescriptor<Memo>()) == 1)
            try container.close()
        }
    }
}

private struct PlannedConfiguration: DataStoreConfiguration {
    typealias Store = PlannedStore
    var name = "planned"
    var schema: Schema?
    var handlesMigrationPlans: Bool { true }
}

/// A store that knows which migration plan it was handed.
private final class PlannedStore: EngineDataStore {
    typealias Snapshot = DefaultSnapshot
    let configuration: PlannedConfiguration
    let schema: Schema
    let engine: Engine
    let plan: ObjectIdentifier?
    var allowsSave: Bool { true }

    init(_ configuration: PlannedConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.configuration = configuration
        self.schema = schema
        plan = migrationPlan.map { ObjectIdentifier($0) }
        engine = Engine(.empty(Catalog(schema: schema.stored, storeIdentifier: "planned")))
    }
}
#endif
