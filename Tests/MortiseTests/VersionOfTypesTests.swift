import Foundation
import Mortise
import Testing

/// Bug: a schema of types alone was 1.0.0 also where the plan's newest schema with the same entities was another, so that
/// the stage to that one was not run.
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

    @Test(arguments: kinds) func theStageToTheNewestEqualVersionRunsOnce(_ kind: String) throws {
        for request in 0..<4 {
            let folder = try Folder()
            try fill(Schema(versionedSchema: Chart1.self), with: Chart1.Chart("a"), kind, in: folder)
            // Who asks for the older version by its number gets it, and there is no stage to it.
            for schema in [Schema(versionedSchema: Chart1.self), Schema(Chart1.Chart.self, version: .init(1, 0, 0))] {
                let container = try open(schema, ChartPlan.self, kind, in: folder)
                #expect(container.schema.version == Schema.Version(1, 0, 0))
                #expect(try ModelContext(container).fetch(FetchDescriptor<Chart1.Chart>()).map(\.name) == ["a"])
                try container.close()
            }
            let schema = [
                Schema(versionedSchema: Chart2.self), Schema([Chart2.Chart.self]), Schema(Chart2.Chart.self),
                Schema([Chart2.Chart.self], version: .init(2, 0, 0)),
            ][request]
            for _ in 0..<2 {
                let container = try open(schema, ChartPlan.self, kind, in: folder)
                #expect(container.schema.version == Schema.Version(2, 0, 0))
                #expect(try ModelContext(container).fetch(FetchDescriptor<Chart2.Chart>()).map(\.name) == ["a+"])
                try container.close()
            }
            #expect {
                try open(Schema(versionedSchema: Chart1.self), ChartPlan.self, kind, in: folder)
            } throws: { error in
                guard case MigrationError.newerStore = error else { return false }
                return true
            }
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
        [
            .custom(
                fromVersion: Chart1.self, toVersion: Chart2.self, willMigrate: nil,
                didMigrate: { context in
                    for chart in try context.fetch(FetchDescriptor<Chart2.Chart>()) { chart.name += "+" }
                })
        ]
    }
}
