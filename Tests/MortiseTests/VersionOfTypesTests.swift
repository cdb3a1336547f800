import Foundation
import Mortise
import Testing

/// Bug: a schema of types alone was 1.0.0 also where the plan's newest schema with the same entities was another, so that
/// the stage to that one was neither run nor refused.
@Suite struct VersionOfTypesTests {
    private static let kinds = ["log", "json"]

    private func open(
        _ schema: Schema, _ plan: (any SchemaMigrationPlan.Type)? = nil, _ kind: String, in folder: Folder
    ) throws -> ModelContainer {
        let configuration: any DataStoreConfiguration =
            kind == "log"
            ? AppendLogConfiguration(path: folder.path("store")) : JSONFileConfiguration(path: folder.path("store"))
        return try ModelContainer(for: schema, migrationPlan: plan, configurations: [configuration])
    }

    private func fill(_ schema: Schema, with chart: any PersistentModel, _ kind: String, in folder: Folder) throws {
        let container = try open(schema, nil, kind, in: folder)
        let context = ModelContext(container)
        insert(chart, into: context)
        try context.save()
        try container.close()
    }

    @Test(arguments: kinds) func theStageToTheNewestEqualVersionIsRefused(_ kind: String) throws {
        let folder = try Folder()
        try fill(Schema(versionedSchema: Chart1.self), with: Chart1.Chart("a"), kind, in: folder)
        let requests = [
            Schema(versionedSchema: Chart2.self), Schema([Chart2.Chart.self]), Schema(Chart2.Chart.self),
            Schema([Chart2.Chart.self], version: .init(2, 0, 0)),
        ]
        for schema in requests {
            #expect(throws: MigrationError.self) { try open(schema, ChartPlan.self, kind, in: folder) }
        }
        // Who asks for that version by its number gets it, and there is no stage to it.
        for schema in [Schema(versionedSchema: Chart1.self), Schema(Chart1.Chart.self, version: .init(1, 0, 0))] {
            let container = try open(schema, ChartPlan.self, kind, in: folder)
            #expect(container.schema.version == Schema.Version(1, 0, 0))
            try container.close()
        }
    }

    @Test(arguments: kinds) func aStoreOfTheNewestEqualVersionOpensWithTheTypes(_ kind: String) throws {
        let folder = try Folder()
        try fill(Schema(versionedSchema: Chart2.self), with: Chart2.Chart("a"), kind, in: folder)
        let container = try open(Schema([Chart2.Chart.self]), ChartPlan.self, kind, in: folder)
        #expect(container.schema.version == Schema.Version(2, 0, 0))
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Chart2.Chart>()) == 1)
        try container.close()
    }
}

enum Chart1: VersionedSchema {
    static var versionIdentifier: Schema.Version { .init(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [Chart.self] }
    @Model final class Chart {
        var name: String
        init(_ name: String) { self.name = name }
    }
}

enum Chart2: VersionedSchema {
    static var versionIdentifier: Schema.Version { .init(2, 0, 0) }
    static var models: [any PersistentModel.Type] { [Chart.self] }
    @Model final class Chart {
        var name: String
        init(_ name: String) { self.name = name }
    }
}

enum ChartPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Chart1.self, Chart2.self] }
    static var stages: [MigrationStage] {
        [.custom(fromVersion: Chart1.self, toVersion: Chart2.self, willMigrate: nil, didMigrate: { _ in })]
    }
}
