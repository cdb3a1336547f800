import Dispatch
import Foundation
import Mortise
import Testing

/// Code of stages that belongs to the main actor, as all code does in a module whose default isolation that is.
@MainActor @Suite struct MainActorPlanTests {
    private static var runs: [String] = []
    private nonisolated static let mainQueue = DispatchSpecificKey<Bool>()

    private struct Elsewhere: Error {}

    /// Notes a part, on the main actor alone.
    private nonisolated static func note(_ part: String) throws {
        // After `dispatchMain()` the main queue has no thread of its own.
        guard Thread.isMainThread || DispatchQueue.getSpecific(key: mainQueue) == true else { throw Elsewhere() }
        MainActor.assumeIsolated { runs.append(part) }
    }

    private enum Plan: SchemaMigrationPlan {
        private typealias Before = EvolvingEdgeTests.Before
        private typealias Later = EvolvingEdgeTests.Later

        static var schemas: [any VersionedSchema.Type] { [Before.self, Later.self] }
        static var stages: [MigrationStage] {
            [
                .custom(
                    fromVersion: Before.self, toVersion: Later.self,
                    willMigrate: { context in
                        try note("will")
                        for task in try context.fetch(FetchDescriptor<Before.Task>()) { task.title += "!" }
                    },
                    didMigrate: { context in
                        try note("did")
                        for task in try context.fetch(FetchDescriptor<Later.Task>()) { task.rank = 7 }
                    })
            ]
        }
    }

    @Test(arguments: ShapeWorld.kinds) func codeRunsWhereTheContainerIsMade(_ kind: String) throws {
        DispatchQueue.main.setSpecific(key: Self.mainQueue, value: true)
        Self.runs = []
        let world = try ShapeWorld(kind)
        try world.fill(EvolvingEdgeTests.Before.self, [EvolvingEdgeTests.Before.Task("a", .open)])
        let container = try world.open(EvolvingEdgeTests.Later.self, Plan.self)
        #expect(Self.runs == ["will", "did"])
        let tasks = try container.mainContext.fetch(FetchDescriptor<EvolvingEdgeTests.Later.Task>())
        #expect(tasks.map(\.name) == ["a!"] && tasks.map(\.rank) == [7])
        try container.close()
        try world.open(EvolvingEdgeTests.Later.self, Plan.self).close()
        #expect(Self.runs == ["will", "did"])
    }
}
