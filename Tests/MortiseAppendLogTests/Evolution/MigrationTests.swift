import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import MortiseTestSupport
import Testing

@testable import MortiseAppendLog

/// What migration plans with code do to a store. One test at a time: the plans' code counts in one place.
@Suite(.serialized) struct MigrationTests {
    private typealias World = MigrationWorld

    @Test(arguments: MigrationWorld.Kind.allCases) func bothPartsOfAStageRunOnce(_ kind: MigrationWorld.Kind) throws {
        let world = try World(kind)
        let identifiers = try world.fill()
        Plans.runs = []
        for _ in 0..<2 {
            let container = try world.open(V2.self, Plans.Two.self)
            let context = ModelContext(container)
            let travelers = try context.fetch(FetchDescriptor<V2.Traveler>())
            #expect(travelers.map { "\($0.first)|\($0.last)|\($0.name)|\($0.mail ?? "-")" } == World.seconds)
            #expect(
                travelers.map { $0.trips.map(\.name).sorted() } == [["Alps", "Bergen", "Cadiz"], [], ["Dover"]])
            // Whoever kept an identifier finds the record again.
            #expect(travelers.map(\.persistentModelID) == [identifiers[0], identifiers[2], identifiers[3]])
            let trips = try context.fetch(FetchDescriptor<V2.Trip>(sortBy: [SortDescriptor(\.name)]))
            #expect(trips.map(\.map) == [World.map(1), World.map(2), World.map(3), nil])
            #expect(try world.configuration().storedSchema()?.version == Schema.Version(2, 0, 0))
            try container.close()
        }
        #expect(Plans.runs == ["will 2", "did 2"])
        // A program with the new models alone opens it, one with the old ones does not.
        try world.open(V2.self, nil).close()
        #expect {
            try world.open(V1.self, nil)
        } throws: {
            if case SwiftDataError.backwardMigration = $0 { true } else { false }
        }
        #expect(throws: MigrationError.self) { try world.open(V1.self, Plans.Two.self) }
    }

    /// Defect that this prevents: `ModelContainer(for: Trip.self, migrationPlan:)`, the commonest form, is of version 1.0.0 by
    /// itself, so that no stage would be due.
    @Test(arguments: MigrationWorld.Kind.allCases) func aProgramNeedNotNameItsVersion(_ kind: MigrationWorld.Kind)
        throws
    {
        let world = try World(kind)
        _ = try world.fill(under: Schema([V1.Traveler.self, V1.Trip.self]))
        Plans.runs = []
        let container = try world.open(Schema([V2.Traveler.self, V2.Trip.self]), Plans.Two.self)
        let travelers = try ModelContext(container).fetch(FetchDescriptor<V2.Traveler>())
        #expect(travelers.map(\.first) == ["Ada", "Bob", "Cleo"])
        #expect(Plans.runs == ["will 2", "did 2"])
        #expect(container.schema.version == Schema.Version(2, 0, 0))
        try container.close()
    }

    @Test(arguments: MigrationWorld.Kind.allCases) func severalStagesAreOneStep(_ kind: MigrationWorld.Kind) throws {
        let world = try World(kind)
        _ = try world.fill()
        Plans.runs = []
        let container = try world.open(V3.self, Plans.Three.self)
        let context = ModelContext(container)
        #expect(try context.fetch(FetchDescriptor<V3.Traveler>()).map(\.last) == ["Lovelace", "Byron", ""])
        // It is another property than the one of version 1.
        #expect(try context.fetch(FetchDescriptor<V3.Trip>()).map(\.note) == [nil, nil, nil, nil])
        #expect(try world.configuration().storedSchema()?.version == Schema.Version(3, 0, 0))
        try container.close()
        #expect(Plans.runs == ["will 2", "did 2"])
        let again = try world.open(V3.self, Plans.Three.self)
        #expect(try ModelContext(again).fetch(FetchDescriptor<V3.Trip>()).map(\.note) == [nil, nil, nil, nil])
        try again.close()
    }

    /// Defect that this prevents: only the ends were compared, and a dropped property's values came back in another of its name.
    @Test(arguments: MigrationWorld.Kind.allCases)
    func aNameThatWasDroppedOnTheWayIsAnotherProperty(_ kind: MigrationWorld.Kind) throws {
        let world = try World(kind)
        _ = try world.fill(withDuplicates: false)
        for _ in 0..<2 {
            let container = try world.open(V3.self, Plans.Plain.self)
            let trips = try ModelContext(container).fetch(FetchDescriptor<V3.Trip>())
            #expect(trips.map(\.note) == [nil, nil, nil, nil])
            #expect(trips.map(\.name) == ["Alps", "Bergen", "Cadiz", "Dover"])
            try container.close()
        }
    }

    @Test(arguments: MigrationWorld.Kind.allCases, ["will 2", "did 2"])
    func codeThatThrowsLeavesTheStoreAsItWas(_ kind: MigrationWorld.Kind, _ part: String) throws {
        let world = try World(kind)
        _ = try world.fill()
        let before = try world.files()
        Plans.failing = part
        let error = MigrationError.stageFailed(
            MigrationStageFailure(
                store: "trips", from: Schema.Version(1, 0, 0), to: Schema.Version(2, 0, 0),
                part: part == "will 2" ? .willMigrate : .didMigrate, underlying: Plans.Refused()))
        #expect(throws: error) { try world.open(V2.self, Plans.Two.self) }
        Plans.failing = nil
        #expect(try world.files() == before)
        let old = try world.open(V1.self, nil)
        #expect(try ModelContext(old).fetchCount(FetchDescriptor<V1.Traveler>()) == 4)
        try old.close()
        try world.open(V2.self, Plans.Two.self).close()
        #expect(try world.configuration().storedSchema()?.version == Schema.Version(2, 0, 0))
    }

    /// Records that a stage would leave without what the next version requires.
    @Test(arguments: MigrationWorld.Kind.allCases) func whatTheMappingRefusesIsNamed(_ kind: MigrationWorld.Kind) throws
    {
        let world = try World(kind)
        _ = try world.fill()
        let before = try world.files()
        enum Careless: SchemaMigrationPlan {
            static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
            static var stages: [MigrationStage] {
                [.custom(fromVersion: V1.self, toVersion: V2.self, willMigrate: nil, didMigrate: { _ in })]
            }
        }
        #expect {
            try world.open(V2.self, Careless.self)
        } throws: { error in
            guard case MigrationError.stageFailed(let failure) = error, failure.part == .mapping,
                case EngineError.notUnique(let entity, let properties, _, _) = failure.underlying
            else { return false }
            return entity == "Traveler" && properties == ["mail"]
        }
        #expect(try world.files() == before)
    }

    @Test(arguments: MigrationWorld.Kind.allCases) func readersAndOthersAreTold(_ kind: MigrationWorld.Kind) throws {
        let world = try World(kind)
        _ = try world.fill()
        #expect(
            throws: MigrationError.migrationNeeded(
                store: "trips", from: Schema.Version(1, 0, 0), to: Schema.Version(2, 0, 0))
        ) { try world.open(V2.self, Plans.Two.self, allowsSave: false) }
        let old = try world.open(V1.self, nil)
        #expect(throws: MigrationError.openElsewhere(store: "trips")) { try world.open(V2.self, Plans.Two.self) }
        try old.close()
        // Within a process a JSON file has one opening.
        if kind == .json { return }
        // A reader goes on with what it knows.
        let reader = try world.open(V1.self, nil, allowsSave: false)
        let context = ModelContext(reader)
        #expect(try context.fetchCount(FetchDescriptor<V1.Traveler>()) == 4)
        try world.open(V2.self, Plans.Two.self).close()
        #expect(try context.fetchCount(FetchDescriptor<V1.Traveler>()) == 4)
        try reader.close()
    }

    /// Contexts of a stage end with it.
    @Test func aContextThatIsKeptTellsThatItsStageIsOver() throws {
        let world = try World(.log)
        _ = try world.fill()
        nonisolated(unsafe) var kept: ModelContext?
        nonisolated(unsafe) var model: V1.Traveler?
        Self.keep = { context in
            kept = context
            model = try context.fetch(FetchDescriptor<V1.Traveler>()).first
        }
        enum Keeping: SchemaMigrationPlan {
            static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
            static var stages: [MigrationStage] {
                [
                    .custom(
                        fromVersion: V1.self, toVersion: V2.self,
                        willMigrate: { context in
                            try MigrationTests.keep(context)
                            try Plans.unite(context)
                        }, didMigrate: nil)
                ]
            }
        }
        try world.open(V2.self, Keeping.self).close()
        Self.keep = { _ in }
        #expect(throws: ModelContextError.containerClosed) { try kept?.fetch(FetchDescriptor<V1.Traveler>()) }
        #expect(throws: ModelContextError.containerClosed) { try kept?.save() }
        #expect(model?.name == "Ada Lovelace")
    }
    nonisolated(unsafe) private static var keep: (ModelContext) throws -> Void = { _ in }

    // MARK: Previews

    @Test(arguments: MigrationWorld.Kind.allCases) func aPreviewSaysWhatWouldBeDone(_ kind: MigrationWorld.Kind) throws
    {
        let world = try MigrationWorld(kind)
        _ = try world.fill(withDuplicates: false)
        let before = try world.files()
        func preview(_ version: any VersionedSchema.Type, _ plan: any SchemaMigrationPlan.Type) throws
            -> MigrationPreview
        {
            let found = try ModelContainer.migrationPreview(
                for: Schema(versionedSchema: version), migrationPlan: plan, configurations: [world.configuration()])
            return try #require(found.first)
        }
        Plans.runs = []
        let plain = try preview(V3.self, Plans.Plain.self)
        #expect(plain.stages.map(\.hasCode) == [false, false])
        #expect(plain.records == 8)
        #expect(plain.stages[0].loss?.properties == [.init(entity: "Trip", name: "note", values: 4)])
        #expect(plain.stages[1].loss?.properties == [.init(entity: "Traveler", name: "name", values: 4)])
        #expect(
            plain.stages[0].changes == [
                "Traveler unique: mail", "Traveler.first new: string", "Traveler.last new: string",
                "Trip.name renamed from title", "Trip.note dropped",
            ])
        #expect("\(plain)".contains("trips: version 1.0.0 to 3.0.0, 8 records"))
        let coded = try preview(V3.self, Plans.Three.self)
        #expect(coded.stages.map(\.hasCode) == [true, false] && coded.stages.allSatisfy { $0.refusal == nil })
        // Nothing was run, locked or changed.
        #expect(Plans.runs == [])
        #expect(try world.files() == before)
        let other = try MigrationWorld(kind)
        _ = try other.fill()
        let refused = try ModelContainer.migrationPreview(
            for: Schema(versionedSchema: V3.self), migrationPlan: Plans.Plain.self,
            configurations: [other.configuration()])
        #expect(refused.first?.stages.count == 1)
        #expect(refused.first?.stages.first?.refusal?.contains("mail") == true)
        // A store that is new, or as it is to be, has nothing to do.
        try world.open(V2.self, Plans.Two.self).close()
        #expect(try preview(V2.self, Plans.Two.self).stages == [])
        let none = try ModelContainer.migrationPreview(
            for: Schema(versionedSchema: V2.self), migrationPlan: Plans.Two.self,
            configurations: [world.at("/data/none").configuration()])
        #expect(none.isEmpty)
    }

    // MARK: Histories

    @Test func theHistoryGoesOnOverAMigration() throws {
        let world = try World(.log)
        _ = try world.fill()
        let old = try world.open(V1.self, nil)
        let before = try ModelContext(old).fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        try old.close()
        let token = try #require(before.last?.token)
        let container = try world.open(V2.self, Plans.Two.self)
        let context = ModelContext(container)
        let later = try context.fetchHistory(
            HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token }))
        #expect(later.map(\.author) == [MigrationAuthor.name])
        // Net changes: a traveler who went, those whose names were split, and the trip that moved.
        #expect(later[0].changes.count { if case .delete = $0 { true } else { false } } == 1)
        #expect(later[0].changes.count { if case .update = $0 { true } else { false } } >= 3)
        #expect(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).count == before.count + 1)
        context.insert(V2.Trip("Etna", price: 5))
        try context.save()
        try container.close()
        let again = try world.open(V2.self, Plans.Two.self)
        let all = try ModelContext(again).fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        #expect(all.count == before.count + 2)
        #expect(all.prefix(before.count).map(\.token) == before.map(\.token))
        try again.close()
    }

    // MARK: Many records

    /// A migration whose frame is written in pieces, and everything that reads logs afterwards.
    @Test func whatReadsLogsReadsMigrations() throws {
        let world = try World(.log)
        let container = try world.open(V1.self, nil)
        let context = ModelContext(container)
        for number in 0..<3_000 {
            let traveler = V1.Traveler("First\(number) Last\(number)", mail: "\(number)@x")
            context.insert(traveler)
            context.insert(V1.Trip("Trip \(number)", price: Double(number), traveler: traveler))
        }
        try context.save()
        try container.close()
        try world.open(V2.self, Plans.Two.self).close()
        func check(_ world: World) throws {
            let container = try world.open(V2.self, nil)
            let travelers = try ModelContext(container).fetch(FetchDescriptor<V2.Traveler>())
            #expect(travelers.count == 3_000)
            #expect(travelers.allSatisfy { $0.last == $0.first.replacingOccurrences(of: "First", with: "Last") })
            try container.close()
        }
        try check(world)
        let configuration = world.logConfiguration()
        #expect(try configuration.verifyStore().problems.isEmpty)
        _ = try configuration.backUpStore(to: "/data/copy.log")
        try check(world.at("/data/copy.log"))
        // With the checkpoint gone, all comes from the log.
        try world.disk.unlink(world.path + ".checkpoint")
        try check(world)
        #expect(try configuration.verifyStore().problems.isEmpty)
        let compacted = try world.open(V2.self, nil)
        let store = try #require(compacted.store(AppendLogStore.self))
        try store.compact()
        #expect(
            try ModelContext(compacted).fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).map(\.author)
                == [nil, MigrationAuthor.name])
        try compacted.close()
        try check(world)
        #expect(try configuration.verifyStore().problems.isEmpty)
        #expect(try AppendLogStore.salvage(world.path, to: "/data/saved.log", in: world.disk).records == 6_000)
        try check(world.at("/data/saved.log"))
    }
}

/// One store on a simulated disk, opened by programs of several versions in turn.
struct MigrationWorld {
    enum Kind: CaseIterable { case json, log }

    let kind: Kind
    let disk: SimulatedFileSystem
    let path: String

    init(_ kind: Kind, on disk: SimulatedFileSystem? = nil, at path: String = "/data/trips") throws {
        self.kind = kind
        self.path = path
        self.disk = try disk ?? makeDisk()
    }

    func at(_ path: String) throws -> MigrationWorld { try MigrationWorld(kind, on: disk, at: path) }

    func logConfiguration(allowsSave: Bool = true) -> AppendLogConfiguration {
        var configuration = AppendLogConfiguration(
            "trips", path: path, allowsSave: allowsSave, compaction: .onCall, in: disk)
        configuration.allocationStep = 4_096
        configuration.pieceSize = 8_192
        configuration.leastReplay = 1
        return configuration
    }

    func configuration(allowsSave: Bool = true) -> any MigratableConfiguration {
        switch kind {
        case .json: JSONFileConfiguration("trips", path: path, allowsSave: allowsSave, in: disk)
        case .log: logConfiguration(allowsSave: allowsSave)
        }
    }

    func configuration(dropping: [String]) -> any MigratableConfiguration {
        switch kind {
        case .json:
            var configuration = JSONFileConfiguration("trips", path: path, in: disk)
            configuration.dropping = dropping
            return configuration
        case .log:
            var configuration = logConfiguration()
            configuration.dropping = dropping
            return configuration
        }
    }

    func open(
        _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)?, allowsSave: Bool = true
    ) throws -> ModelContainer {
        try open(Schema(versionedSchema: version), plan, allowsSave: allowsSave)
    }

    @discardableResult
    func open(
        _ schema: Schema, _ plan: (any SchemaMigrationPlan.Type)?, allowsSave: Bool = true
    ) throws -> ModelContainer {
        try ModelContainer(for: schema, migrationPlan: plan, configurations: [configuration(allowsSave: allowsSave)])
    }

    static let seconds = ["Ada|Lovelace|Ada Lovelace|a@x", "Bob|Byron|Bob Byron|-", "Cleo||Cleo|c@x"]
    static func map(_ number: UInt8) -> Data { Data(repeating: number, count: 5_000) }

    /// Four travelers, the first two with one mail address, and four trips; in two saves.
    /// - Returns: the identifiers of the travelers.
    func fill(under schema: Schema = Schema(versionedSchema: V1.self), withDuplicates: Bool = true) throws
        -> [PersistentIdentifier]
    {
        let container = try open(schema, nil)
        let context = ModelContext(container)
        let travelers = [
            V1.Traveler("Ada Lovelace", mail: "a@x"), V1.Traveler("A. Lovelace", mail: withDuplicates ? "a@x" : "b@x"),
            V1.Traveler("Bob Byron"), V1.Traveler("Cleo", mail: "c@x"),
        ]
        for traveler in travelers {
            context.insert(traveler)
            try context.save()
        }
        for (number, (title, place)) in [("Alps", 0), ("Bergen", 0), ("Cadiz", 1), ("Dover", 3)].enumerated() {
            context.insert(
                V1.Trip(
                    title, price: Double(number), note: "note \(number)",
                    map: number < 3 ? Self.map(UInt8(number + 1)) : nil, traveler: travelers[place]))
        }
        try context.save()
        let identifiers = travelers.map(\.persistentModelID)
        try container.close()
        return identifiers
    }

    /// What is in the folder, with its bytes; locks apart, which hold no data.
    func files() throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for folder in ["/data", path + ".external"] where try disk.infoIfPresent(folder, followingLinks: false) != nil {
            for name in try disk.list(folder) where !name.hasSuffix(".lock") {
                found["\(folder)/\(name)"] = disk.contents(at: "\(folder)/\(name)")
            }
        }
        return found
    }
}
