import FaultWorkload
import Foundation
@testable import MortiseCore
import MortiseEngine
import MortiseJSONFile
import MortiseTestSupport
import Testing

@testable import MortiseAppendLog

/// How far migrations reach: what openings cost that need none, disks without room, media that take no writes, closures that take long.
/// Numbers of cases are those of the table in which all of migrations are counted.
extension MigrationTests {
    private func setPlan(
        _ old: StoredSchema, _ new: StoredSchema, _ mapping: MigrationMapping = .inferred,
        _ code: (@Sendable (MigrationSource, MigrationTarget) throws -> Void)? = nil
    ) {
        (EdgeOld.schema, EdgeNew.schema) = (old, new)
        (EdgePlan.mapping, EdgePlan.rules, EdgePlan.code) = (mapping, [], code)
        EdgePlan.options = MigrationOptions()
    }

    /// Case E20: what a plan costs an opening that needs nothing. The least of many tells it: the machine does other things as well.
    @Test(arguments: MigrationWorld.Kind.allCases) func aPlanCostsLittleWhereNothingIsDue(_ kind: MigrationWorld.Kind)
        throws
    {
        let world = try MigrationWorld(kind)
        _ = try world.fill(withDuplicates: false)
        try world.open(V2.self, Plans.Two.self).close()
        let before = try world.files()
        func least(_ count: Int, _ body: () throws -> Void) throws -> Duration {
            var least = Duration.seconds(60)
            for _ in 0..<count { least = min(least, try ContinuousClock().measure(body)) }
            return least
        }
        let schema = Schema(versionedSchema: V2.self)
        let configuration = world.configuration()
        let stored = try #require(try configuration.storedSchema())
        Plans.runs = []
        var isDue = false
        // What an opening with a plan does besides.
        let cost = try least(isFullSize ? 10_000 : 200) {
            let target = schema.numbered(by: Plans.Two.self)
            isDue =
                try DueMigration(configuration, from: stored, to: target, Plans.Two.self, without: [:]) != nil || isDue
        }
        #expect(cost <= .microseconds(isFullSize ? 50 : 2_000) && !isDue)
        #expect(Plans.runs == [])
        #expect(try world.files() == before)
    }

    /// Case E69: while code runs for long, the last report says so, and others are told since when.
    @Test(arguments: MigrationWorld.Kind.allCases) func longCodeIsNoSilence(_ kind: MigrationWorld.Kind) throws {
        defer { EdgePlan.options = MigrationOptions() }
        let (old, new) = (Self.docs(1, [Self.attribute("a")]), Self.docs(2, [Self.attribute("a")]))
        let world = try fill(old, [["a": .string("x")]], kind)
        let second = try MigrationWorld(kind, on: world.disk.process(2_000), at: world.path)
        nonisolated(unsafe) var reports: [MigrationProgress] = []
        nonisolated(unsafe) var during: MigrationProgress?
        nonisolated(unsafe) var told: (migration: MigrationUnderWay, error: any Error)?
        let start = Date()
        setPlan(old, new) { _, target in
            during = reports.last
            try target.checkCancellation()
            do {
                try second.open(Schema(stored: new), nil).close()
            } catch MigrationError.migrationInProgress(let store, let migration) {
                told = (migration, MigrationError.migrationInProgress(store: store, migration: migration))
            }
        }
        EdgePlan.options.progress = { reports.append($0) }
        try world.open(Schema(stored: new), EdgePlan.self).close()
        #expect(during?.part == .code && during?.stage == 1 && during?.records == 1)
        #expect(reports.last?.part == .writing)
        // As dates are written, to the millisecond or better.
        #expect(told.map { $0.migration.start >= start.addingTimeInterval(-1) && $0.migration.start <= Date() } == true)
        #expect(told?.migration.process == ProcessInfo.processInfo.processIdentifier)
        #expect(told.map { "\($0.error)".contains("from version 1.0.0 to 2.0.0") } == true)
    }

    /// Case E74: code makes more than anybody has counted on. The disk is full in the middle, and nothing is harmed.
    @Test(arguments: MigrationWorld.Kind.allCases) func anEstimateThatIsTooLowHarmsNothing(_ kind: MigrationWorld.Kind)
        throws
    {
        let (old, new) = (Self.docs(1, [Self.attribute("a")]), Self.docs(2, [Self.attribute("a")]))
        let world = try fill(old, (0..<50).map { ["a": .string("text \($0)")] }, kind)
        setPlan(old, new) { _, target in
            for number in 0..<600 {
                try target.insert("Doc", ["a": .string(String(repeating: "\(number) ", count: 200))])
            }
        }
        let before = try world.files()
        let used = before.values.reduce(0) { $0 + $1.count }
        let space = try #require(try world.configuration().migrationSpace(keepingCopy: false))
        world.disk.limits.capacity = used + Int(space.needed)
        #expect(try world.configuration().migrationSpace(keepingCopy: false)?.isEnough == true)
        #expect {
            try world.open(Schema(stored: new), EdgePlan.self).close()
        } throws: { error in
            (error as? any ClassifiedStoreError)?.errorClass == .failedInputOutput
        }
        #expect(try world.files() == before)
        #expect(try records(world, old).count == 50)
        world.disk.limits.capacity = nil
        try world.open(Schema(stored: new), EdgePlan.self).close()
        #expect(try records(world, new).count == 650)
    }

    /// Case E85: a copy never takes the place of anything, and one that cannot be made ends the migration before it has changed anything.
    @Test(arguments: MigrationWorld.Kind.allCases) func aCopyReplacesNothing(_ kind: MigrationWorld.Kind) throws {
        let (old, new) = (
            Self.docs(1, [Self.attribute("a"), Self.attribute("b")]), Self.docs(2, [Self.attribute("a")])
        )
        setPlan(old, new) { _, _ in }
        func copies(_ world: MigrationWorld) throws -> [String] {
            try world.disk.list("/data").filter { $0.wholeMatch(of: /trips\.schema-1\.0\.0-[0-9a-f]{16}/) != nil }
        }
        func filled() throws -> MigrationWorld { try fill(old, [["a": .string("x"), "b": .string("y")]], kind) }
        // Two disks do the same: the first tells the name that the second finds taken.
        let first = try filled()
        try first.open(Schema(stored: new), EdgePlan.self).close()
        let name = try #require(try copies(first).first)
        let second = try filled()
        try second.disk.install(Array("mine".utf8), at: "/data/\(name)")
        try second.open(Schema(stored: new), EdgePlan.self).close()
        #expect(second.disk.contents(at: "/data/\(name)") == Array("mine".utf8))
        let made = try copies(second).filter { $0 != name }
        #expect(made.count == 1)
        #expect(try records(try second.at("/data/\(try #require(made.first))"), old).first?["b"] == .string("y"))
        // A folder that takes no new files.
        let third = try filled()
        let before = try third.files()
        third.disk.limits.nodes = 0
        #expect {
            try third.open(Schema(stored: new), EdgePlan.self).close()
        } throws: { error in
            (error as? any ClassifiedStoreError)?.errorClass == .failedInputOutput
        }
        third.disk.limits.nodes = nil
        #expect(try third.files() == before)
        #expect(try records(third, old).first?["b"] == .string("y"))
    }

    private enum LightPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [EdgeOld.self, EdgeNew.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: EdgeOld.self, toVersion: EdgeNew.self)] }
    }

    /// Case E89: on a medium that takes no writes, an opening for reading shows what it can bring to the schema by itself, and says that
    /// anything else needs a migration.
    @Test(arguments: MigrationWorld.Kind.allCases) func aReadOnlyMediumIsReadAsFarAsItCan(_ kind: MigrationWorld.Kind)
        throws
    {
        let (old, new) = (
            Self.docs(1, [Self.attribute("a")]), Self.docs(2, [Self.attribute("c", from: "a"), Self.attribute("b")])
        )
        let world = try fill(old, [["a": .string("x")]], kind)
        let before = try world.files()
        world.disk.limits.isReadOnly = true
        setPlan(old, new) { _, _ in }
        let container = try world.open(Schema(stored: new), LightPlan.self, allowsSave: false)
        let store = try #require(container.stores.first?.underlying as? any VersionedDataStore)
        let found = try StoredRecords(
            ofEntity: "Doc", in: store.currentVersion, new, new.recordLayouts()
        ).map { [$0["c"], $0["b"]] }
        #expect(found == [[.string("x"), .null]])
        try container.close()
        #expect(
            throws: MigrationError.migrationNeeded(
                store: "trips", from: Schema.Version(1, 0, 0), to: Schema.Version(2, 0, 0))
        ) { try world.open(Schema(stored: new), EdgePlan.self, allowsSave: false) }
        // Who wants to write is told by the medium.
        #expect {
            try world.open(Schema(stored: new), EdgePlan.self).close()
        } throws: { error in
            (error as? any ClassifiedStoreError)?.errorClass == .denied
        }
        world.disk.limits.isReadOnly = false
        #expect(try world.files() == before)
    }

    /// Case E101: who asks for an older version is refused, and told where the store as it was is listed.
    @Test(arguments: MigrationWorld.Kind.allCases) func anOlderVersionIsRefusedWithTheWayBack(
        _ kind: MigrationWorld.Kind
    ) throws {
        let (old, new) = (
            Self.docs(1, [Self.attribute("a"), Self.attribute("b")]), Self.docs(2, [Self.attribute("a")])
        )
        let world = try fill(old, [["a": .string("x"), "b": .string("y")]], kind)
        setPlan(old, new) { _, _ in }
        try world.open(Schema(stored: new), EdgePlan.self).close()
        let before = try world.files()
        for allowsSave in [true, false] {
            let error = #expect(throws: MigrationError.self) {
                try world.open(Schema(stored: old), EdgePlan.self, allowsSave: allowsSave)
            }
            #expect(
                error
                    == .newerStore(store: "trips", stored: Schema.Version(2, 0, 0), program: Schema.Version(1, 0, 0)))
            #expect(error?.description.contains("mortise migrate STORE --backups") == true)
            #expect(error?.swiftDataError == .backwardMigration)
        }
        #expect(try world.files() == before)
    }

    /// A preview's estimate: nothing is said of code, and of what is refused or not due.
    @Test(arguments: MigrationWorld.Kind.allCases) func aPreviewEstimatesTheTime(_ kind: MigrationWorld.Kind) throws {
        let (old, new) = (Self.docs(1, [Self.attribute("n", .int64)]), Self.docs(2, [Self.attribute("n", .string)]))
        let world = try fill(old, (0..<2_000).map { ["n": .integer($0)] }, kind)
        func preview() throws -> MigrationPreview {
            try #require(
                ModelContainer.migrationPreview(
                    for: Schema(stored: EdgeNew.schema), migrationPlan: EdgePlan.self,
                    configurations: [world.configuration()]
                ).first)
        }
        setPlan(old, new, .inferred.converting("Doc.n", .exactly))
        let known = try preview()
        let (time, space) = (try #require(known.time), try #require(known.space))
        #expect(time.lowerBound > .zero)
        #expect(time.upperBound == time.lowerBound * 3 + .milliseconds(space.needed / 20_000))
        setPlan(old, new, .inferred.converting("Doc.n", .exactly)) { _, _ in }
        #expect(try preview().time == nil)
        setPlan(old, new)
        let refused = try preview()
        #expect(refused.stages.first?.refusal != nil && refused.time == nil)
        #expect(MigrationPreview.time(.seconds(2), writing: nil) == .seconds(2) ... .seconds(6))
    }
}
