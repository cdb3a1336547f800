import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import MortiseTestSupport
import Testing

@testable import MortiseAppendLog

extension MigrationTests {
    /// One test at a time, as all of migrations.
    @Suite(.serialized) struct MigrationFaultTests {
        /// What a store holds: under which version, and the names of its travelers; nil if it cannot be opened.
        private static func state(_ world: MigrationWorld) throws -> String {
            switch try world.configuration().storedSchema()?.version {
            case Schema.Version(1, 0, 0)?:
                let container = try world.open(V1.self, nil)
                defer { try? container.close() }
                let travelers = try ModelContext(container).fetch(FetchDescriptor<V1.Traveler>())
                return "1: " + travelers.map { "\($0.name) \($0.trips.count)" }.joined(separator: ", ")
            case Schema.Version(2, 0, 0)?:
                let container = try world.open(V2.self, nil)
                defer { try? container.close() }
                let travelers = try ModelContext(container).fetch(FetchDescriptor<V2.Traveler>())
                return "2: " + travelers.map { "\($0.first)|\($0.last) \($0.trips.count)" }.joined(separator: ", ")
            case let version: return "\(String(describing: version))"
            }
        }

        private static let old = "1: Ada Lovelace 2, A. Lovelace 1, Bob Byron 0, Cleo 1"
        private static let new = "2: Ada|Lovelace 3, Bob|Byron 0, Cleo| 1"

        /// The power is cut after each operation of a migration, and what was not synced is lost in every way. What the next
        /// start finds is the old store or the new one, and it comes to the new one.
        @Test(arguments: MigrationWorld.Kind.allCases, isFullSize ? [1, 2] : [1] as [UInt64])
        func noPowerCutLeavesAnythingButTheOldOrTheNew(_ kind: MigrationWorld.Kind, seed: UInt64) throws {
            let world = try MigrationWorld(kind, on: makeDisk(seed: seed))
            _ = try world.fill()
            let start = world.disk.operationCount
            try world.open(V2.self, Plans.Two.self).close()
            let end = world.disk.operationCount
            var (images, olds) = (0, 0)
            let part = Int.random(in: 0..<3)
            try world.disk.forEachCrash(in: start...end, limit: isFullSize ? 8 : 1) { image in
                images += 1
                // One in three, another each time.
                if !isFullSize, image.operation % 3 != part { return }
                let after = try MigrationWorld(kind, on: image.fileSystem)
                let found = try Self.state(after)
                #expect(found == Self.old || found == Self.new, "\(image.operation), \(image.loss): \(found)")
                if found == Self.old { olds += 1 }
                try after.open(V2.self, Plans.Two.self).close()
                #expect(try Self.state(after) == Self.new, "\(image.operation), \(image.loss)")
                let left = try after.disk.list("/data").filter { $0.hasSuffix(".mortise-tmp") }
                #expect(left == [], "\(image.operation), \(image.loss)")
            }
            #expect(images > 20 && olds > (isFullSize ? 5 : 1) && olds < images)
        }

        /// Each operation of a migration fails once, in each of two ways.
        @Test(arguments: MigrationWorld.Kind.allCases, [FileError.Code.io, .noSpace])
        func noFailureHarmsTheStore(_ kind: MigrationWorld.Kind, code: FileError.Code) throws {
            for afterwards in [false, true] {
                var number = 1
                while true {
                    let world = try MigrationWorld(kind)
                    _ = try world.fill()
                    let start = world.disk.operationCount
                    world.disk.inject(afterwards ? .failAfterwards(code) : .fail(code), at: number)
                    let result = Result { try world.open(V2.self, Plans.Two.self).close() }
                    let end = world.disk.operationCount
                    world.disk.removeFaults()
                    if end < start + number { break }
                    let found = try Self.state(world)
                    #expect(found == Self.old || found == Self.new, "\(number), \(afterwards): \(found)")
                    // Where the container opened, the migration is done.
                    if case .success = result { #expect(found == Self.new, "\(number), \(afterwards)") }
                    try world.open(V2.self, Plans.Two.self).close()
                    #expect(try Self.state(world) == Self.new, "\(number), \(afterwards)")
                    number += isFullSize ? 1 : .random(in: 10...20)
                }
                #expect(number > 20)
            }
        }

        /// The plan's code runs again if its process has died.
        @Test(arguments: MigrationWorld.Kind.allCases) func twoStoresAreMigratedOrNone(_ kind: MigrationWorld.Kind)
            throws
        {
            let first = try MigrationWorld(kind)
            _ = try first.fill()
            let second = try first.at("/data/other")
            // Its copy, under the names of other entities.
            _ = try second.fillOthers()
            let before = try first.files()
            Plans.failing = "did other"
            func open() throws -> ModelContainer {
                var trips = first.configuration()
                var others = second.configuration(named: "others")
                trips.schema = Schema([V2.Traveler.self, V2.Trip.self])
                others.schema = Schema([O2.Note.self])
                return try ModelContainer(
                    for: Schema([V2.Traveler.self, V2.Trip.self, O2.Note.self]), migrationPlan: TwoStores.self,
                    configurations: [trips, others])
            }
            #expect(throws: MigrationError.self) { try open() }
            Plans.failing = nil
            #expect(try first.files() == before)
            let container = try open()
            let context = ModelContext(container)
            #expect(try context.fetch(FetchDescriptor<O2.Note>()).map(\.text) == ["one!"])
            #expect(try context.fetch(FetchDescriptor<V2.Traveler>()).map(\.first) == ["Ada", "Bob", "Cleo"])
            try container.close()
        }
    }
}

/// A model of another store.
enum O1 {
    final class Note: PersistentModel {
        var persistentBackingData: any BackingData<Note> = Note.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "text", keypath: \Note.text)] }
        init(backingData: any BackingData<Note>) { persistentBackingData = backingData }
        init(_ text: String) { self.text = text }
        var text: String {
            get { getValue(forKey: \.text) }
            set { setValue(forKey: \.text, to: newValue) }
        }
    }
}

enum O2 {
    final class Note: PersistentModel {
        var persistentBackingData: any BackingData<Note> = Note.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "text", keypath: \Note.text),
                .init(name: "rank", keypath: \Note.rank, defaultValue: 5),
            ]
        }
        init(backingData: any BackingData<Note>) { persistentBackingData = backingData }
        var text: String {
            get { getValue(forKey: \.text) }
            set { setValue(forKey: \.text, to: newValue) }
        }
        var rank: Int {
            get { getValue(forKey: \.rank) }
            set { setValue(forKey: \.rank, to: newValue) }
        }
    }
}

private enum Both1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [V1.Traveler.self, V1.Trip.self, O1.Note.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
}

private enum Both2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [V2.Traveler.self, V2.Trip.self, O2.Note.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
}

/// Each store's contexts have that store's models.
enum TwoStores: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Both1.self, Both2.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: Both1.self, toVersion: Both2.self,
                willMigrate: { context in
                    if context.container.schema.entitiesByName["Traveler"] != nil { try Plans.unite(context) }
                },
                didMigrate: { context in
                    if context.container.schema.entitiesByName["Traveler"] != nil {
                        try Plans.split(context)
                    } else {
                        for note in try context.fetch(FetchDescriptor<O2.Note>()) { note.text += "!" }
                        try Plans.note("did other")
                    }
                })
        ]
    }
}

extension MigrationWorld {
    func configuration(named name: String) -> any MigratableConfiguration {
        switch kind {
        case .json: JSONFileConfiguration(name, path: path, in: disk)
        case .log: AppendLogConfiguration(name, path: path, compaction: .onCall, in: disk)
        }
    }

    /// One note.
    func fillOthers() throws {
        var configuration = configuration(named: "others")
        configuration.schema = Schema([O1.Note.self])
        let container = try ModelContainer(for: Schema([O1.Note.self]), configurations: [configuration])
        let context = ModelContext(container)
        context.insert(O1.Note("one"))
        try context.save()
        try container.close()
    }
}
