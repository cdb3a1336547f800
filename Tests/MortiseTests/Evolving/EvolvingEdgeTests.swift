import Foundation
import Mortise
import Testing

/// What a second version of an app meets besides changes of shape.
@Suite struct EvolvingEdgeTests {
    enum Before: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Task.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        enum State: String, Codable { case open, done, lost }
        @Model final class Task {
            var title: String
            var state: State
            var note: String?
            init(_ title: String, _ state: State, note: String? = nil) {
                self.title = title
                self.state = state
                self.note = note
            }
        }
    }

    /// Two states became one, and notes are gone.
    enum After: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Task.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        enum State: String, Codable { case open, closed }
        @Model final class Task {
            var title: String
            var state: State
            init(_ title: String, _ state: State) {
                self.title = title
                self.state = state
            }
        }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Before.self, After.self] }
        static var stages: [MigrationStage] {
            [
                .custom(
                    from: Before.self, to: After.self,
                    mapping: .inferred.converting("Task.state", .rawValues(["done": "closed", "lost": "closed"])))
            ]
        }
    }

    private func filled(_ kind: String) throws -> ShapeWorld {
        let world = try ShapeWorld(kind)
        try world.fill(
            Before.self, [Before.Task("a", .open), Before.Task("b", .done, note: "n"), Before.Task("c", .lost)])
        return world
    }

    @Test(arguments: ShapeWorld.kinds) func casesOfAnEnumBecomeOthers(_ kind: String) throws {
        try filled(kind).migrated(to: After.self, Plan.self) { context in
            let tasks = try context.fetch(FetchDescriptor<After.Task>(sortBy: [SortDescriptor(\.title)]))
            #expect(tasks.map(\.state) == [.open, .closed, .closed])
            let closed = After.State.closed
            let found = FetchDescriptor<After.Task>(predicate: #Predicate { $0.state == closed })
            #expect(try context.fetchCount(found) == 2)
        }
    }

    /// The way back is the copy that stays where something is dropped, and from there the migration comes to the same again.
    @Test(arguments: ShapeWorld.kinds.filter { $0 != "memory" }) func aCopyIsTheWayBack(_ kind: String) throws {
        let world = try filled(kind)
        for round in 0..<2 {
            try world.open(After.self, Plan.self).close()
            // An older program drops nothing that it does not know, with the plan or without it.
            let plans: [(any SchemaMigrationPlan.Type)?] = [nil, Plan.self]
            for plan in plans {
                #expect(throws: MigrationError.self, "\(round)") { try world.open(Before.self, plan).close() }
            }
            let copy = try #require(try world.files().first { MigrationCopyName.matches($0) })
            try world.restore(copy)
            let container = try world.open(Before.self)
            let tasks = try ModelContext(container).fetch(
                FetchDescriptor<Before.Task>(sortBy: [SortDescriptor(\.title)]))
            #expect(tasks.map(\.state) == [.open, .done, .lost])
            #expect(tasks.map(\.note) == [nil, "n", nil])
            try container.close()
        }
        try world.migrated(to: After.self, Plan.self) { context in
            let tasks = try context.fetch(FetchDescriptor<After.Task>(sortBy: [SortDescriptor(\.title)]))
            #expect(tasks.map(\.state) == [.open, .closed, .closed])
        }
    }

    /// Tasks have no state any more.
    enum Third: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Task.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

        @Model final class Task {
            var title: String
            init(_ title: String) { self.title = title }
        }
    }

    enum KeepingOne: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Before.self, After.self, Third.self] }
        static var stages: [MigrationStage] {
            Plan.stages + [.lightweight(fromVersion: After.self, toVersion: Third.self)]
        }
        static var migrationOptions: MigrationOptions {
            var options = MigrationOptions()
            options.mostCopies = 1
            return options
        }
    }

    /// A clock that has been set back makes no copy the oldest.
    @Test(arguments: ShapeWorld.kinds.filter { $0 != "memory" }, [-3_650.0, 3_650])
    func theCopyThatWasMadeLastStays(_ kind: String, days: Double) throws {
        let world = try filled(kind)
        try world.open(After.self, Plan.self).close()
        let first = try #require(try world.files().first { MigrationCopyName.matches($0) })
        try world.date(first, Date() + days * 86_400)
        try world.open(Third.self, KeepingOne.self).close()
        let left = try world.files().filter { MigrationCopyName.matches($0) }
        #expect(left.count == 1 && left != [first], "\(left)")
    }

    /// What a preview says about a copy holds: without code the file itself is changed.
    @Test(arguments: ShapeWorld.kinds) func aPreviewSaysWhetherRecordsAreCopied(_ kind: String) throws {
        enum Plain: SchemaMigrationPlan {
            static var schemas: [any VersionedSchema.Type] { [Before.self, Later.self] }
            static var stages: [MigrationStage] { [.lightweight(fromVersion: Before.self, toVersion: Later.self)] }
        }
        enum Coded: SchemaMigrationPlan {
            static var schemas: [any VersionedSchema.Type] { [Before.self, Later.self] }
            static var stages: [MigrationStage] {
                [.custom(fromVersion: Before.self, toVersion: Later.self, willMigrate: nil, didMigrate: { _ in })]
            }
        }
        let world = try filled(kind)
        let isSQLite = StoreKinds.sqlite.contains(kind)
        for (plan, isCopy) in [(Plain.self as any SchemaMigrationPlan.Type, false), (Coded.self, isSQLite)] {
            let preview = try #require(try world.preview(Later.self, plan))
            #expect(preview.isCopy == isCopy && preview.keepsIdentifiers && preview.stages.count == 1)
            #expect(preview.stages.first?.refusal == nil)
        }
        #expect(try #require(try world.preview(After.self, Plan.self)).isCopy == isSQLite)
    }

    enum Later: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Task.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Task {
            @Attribute(originalName: "title") var name: String
            var state: Before.State
            var note: String?
            var rank: Int = 0
            init(_ name: String) {
                self.name = name
                state = .open
            }
        }
    }
}

/// The names of copies beside a store.
enum MigrationCopyName {
    static func matches(_ name: String) -> Bool {
        name.wholeMatch(of: /.*\.schema-[0-9.]+-[0-9a-f]{16}/) != nil
            || name.wholeMatch(of: /.*\.before-migration-[0-9]+/) != nil
    }
}
