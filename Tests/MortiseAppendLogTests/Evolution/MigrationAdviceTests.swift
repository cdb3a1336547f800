import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import MortiseTestSupport
import Synchronization
import Testing

@testable import MortiseAppendLog

/// As `Plans.Two`, for a container that waits for others only as long as is said here.
private enum Impatient: SchemaMigrationPlan {
    nonisolated(unsafe) static var patience = Duration.zero
    nonisolated(unsafe) static var during: (() throws -> Void)?
    static var schemas: [any VersionedSchema.Type] { Plans.Two.schemas }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: V1.self, toVersion: V2.self,
                willMigrate: { context in
                    try Plans.unite(context)
                    try during?()
                }, didMigrate: Plans.split)
        ]
    }
    static var migrationOptions: MigrationOptions {
        var options = MigrationOptions()
        options.waitForOthers = patience
        return options
    }
}

extension MigrationTests {
    /// Who finds a store locked that is being migrated waits, or is told by whom.
    @Suite(.serialized) struct MigrationAdviceTests {
        private func advice(_ world: MigrationWorld) -> String { world.path + ".mortise-migration" }

        /// The same store, for another process.
        private func other(_ world: MigrationWorld) throws -> MigrationWorld {
            try MigrationWorld(world.kind, on: world.disk.process(2_000), at: world.path)
        }

        private func expectInProgress(_ body: () throws -> Void, at location: SourceLocation = #_sourceLocation) {
            let error = #expect(throws: MigrationError.self, sourceLocation: location) { try body() }
            guard case .migrationInProgress(_, let migration)? = error else {
                Issue.record("\(String(describing: error))", sourceLocation: location)
                return
            }
            #expect(migration.process == ProcessInfo.processInfo.processIdentifier, sourceLocation: location)
            #expect(!migration.host.isEmpty && "\(error as Any)".contains(migration.host), sourceLocation: location)
            #expect("\(migration)".contains("from version 1.0.0 to 2.0.0"), sourceLocation: location)
            #expect(error?.errorClass == .locked, sourceLocation: location)
        }

        @Test(arguments: MigrationWorld.Kind.allCases) func whoDoesNotWaitIsToldWhoMigrates(_ kind: MigrationWorld.Kind)
            throws
        {
            let world = try MigrationWorld(kind)
            _ = try world.fill()
            let before = try world.files()
            let migration = try world.configuration().beginMigration(
                MigrationRequest(schemas: [Schema(versionedSchema: V2.self)]))
            let second = try other(world)
            Impatient.patience = .zero
            expectInProgress { try second.open(V2.self, Impatient.self).close() }
            // Programs without a plan, of either version, and another container of this process.
            expectInProgress { try second.open(V1.self, nil).close() }
            expectInProgress { try second.open(V2.self, nil).close() }
            expectInProgress { try world.open(V2.self, Impatient.self).close() }
            // Who only reads is not kept waiting.
            try second.open(V1.self, nil, allowsSave: false).close()
            migration.abandon()
            #expect(try world.files() == before)
            try second.open(V2.self, Impatient.self).close()
            #expect(world.disk.contents(at: advice(world)) == nil)
        }

        @Test(arguments: MigrationWorld.Kind.allCases) func whoWaitsGoesOnWithTheNewVersion(_ kind: MigrationWorld.Kind)
            throws
        {
            let world = try MigrationWorld(kind)
            _ = try world.fill()
            let second = try other(world)
            Plans.runs = []
            Impatient.patience = .seconds(600)
            let names = Mutex<[String]>([])
            let group = DispatchGroup()
            Impatient.during = {
                Impatient.during = nil
                group.enter()
                Thread.detachNewThread {
                    defer { group.leave() }
                    do {
                        let container = try second.open(V2.self, Impatient.self)
                        let found = try ModelContext(container).fetch(FetchDescriptor<V2.Traveler>()).map(\.first)
                        names.withLock { $0 = found }
                        try container.close()
                    } catch {
                        names.withLock { $0 = ["\(error)"] }
                    }
                }
                // It has to find the store locked; what it waits for is this migration.
                Thread.sleep(forTimeInterval: 0.05)
            }
            try world.open(V2.self, Impatient.self).close()
            group.wait()
            #expect(names.withLock { $0 } == ["Ada", "Bob", "Cleo"])
            #expect(Plans.runs == ["will 2", "did 2"])
        }

        /// Defect that this prevents: it would have waited for itself.
        @Test(arguments: MigrationWorld.Kind.allCases) func codeThatOpensItsOwnStoreDoesNotWait(
            _ kind: MigrationWorld.Kind
        ) throws {
            let world = try MigrationWorld(kind)
            _ = try world.fill()
            Impatient.patience = .seconds(600)
            var hasRun = false
            Impatient.during = {
                Impatient.during = nil
                expectInProgress { try world.open(V2.self, Impatient.self).close() }
                hasRun = true
            }
            try world.open(V2.self, Impatient.self).close()
            #expect(hasRun)
        }

        /// Defect that this prevents: a stage that ends its process would end it at every launch, for ever.
        @Test(arguments: MigrationWorld.Kind.allCases) func theThirdAttemptIsRefusedOnce(_ kind: MigrationWorld.Kind)
            throws
        {
            var world = try MigrationWorld(kind)
            _ = try world.fill()
            let request = MigrationRequest(schemas: [Schema(versionedSchema: V2.self)])
            for attempt in 1...2 {
                let migration = try world.configuration().beginMigration(request)
                #expect(world.configuration().migrationUnderWay()?.attempt == attempt)
                let image = world.disk.crashed(after: world.disk.operationCount, losing: .nothing)
                migration.abandon()
                world = try MigrationWorld(kind, on: image)
            }
            Impatient.patience = .zero
            Plans.runs = []
            let refusal = MigrationError.attemptsDied(
                store: "trips", from: Schema.Version(1, 0, 0), to: Schema.Version(2, 0, 0), attempts: 2)
            #expect(throws: refusal) { try world.open(V2.self, Impatient.self).close() }
            #expect(Plans.runs == [])
            // A program of the version before opens it, and so does one that only reads.
            try world.open(V1.self, nil, allowsSave: false).close()
            try world.open(V2.self, Impatient.self).close()
            #expect(Plans.runs == ["will 2", "did 2"])
        }

        /// What a process has left that died is no advice any more, and a file that only has the name is nobody's.
        @Test(arguments: MigrationWorld.Kind.allCases) func theAdviceOfADeadProcessMeansNothing(
            _ kind: MigrationWorld.Kind
        ) throws {
            let world = try MigrationWorld(kind)
            _ = try world.fill()
            Impatient.patience = .zero
            let migration = try world.configuration().beginMigration()
            let image = world.disk.crashed(after: world.disk.operationCount, losing: .nothing)
            migration.abandon()
            let after = try MigrationWorld(kind, on: image)
            #expect(after.disk.contents(at: advice(after)) != nil)
            try after.open(V2.self, Impatient.self).close()
            #expect(after.disk.contents(at: advice(after)) == nil)
            // Nonsense there says nothing, and the lock is what counts.
            for nonsense in ["", "{", "{\"process\": 1}", String(repeating: "9", count: 100_000)] {
                try after.disk.install(Array(nonsense.utf8), at: advice(after))
                let user = try after.open(V2.self, nil)
                let second = try MigrationWorld(kind, on: after.disk.process(2_000))
                try after.disk.install(Array(nonsense.utf8), at: advice(after))
                #expect {
                    try second.open(V2.self, nil).close()
                } throws: {
                    !($0 is MigrationError) && ($0 as? any ClassifiedStoreError)?.errorClass == .locked
                }
                try user.close()
            }
        }
    }
}
