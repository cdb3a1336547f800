import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseInMemory
import MortiseJSONFile
import MortiseTestSupport
import Testing

@testable import MortiseAppendLog

extension MigrationTests {
    /// Two stores of one container, brought along together.
    @Suite(.serialized) struct SeveralStoresTests {
        /// A store of each of two kinds, on one disk.
        struct Pair {
            let first: MigrationWorld
            let second: MigrationWorld

            init(_ kinds: [MigrationWorld.Kind], on disk: SimulatedFileSystem? = nil) throws {
                first = try MigrationWorld(kinds[0], on: disk)
                second = try MigrationWorld(kinds[1], on: first.disk, at: "/data/other")
            }

            var disk: SimulatedFileSystem { first.disk }

            func fill() throws {
                _ = try first.fill()
                try second.fillOthers()
            }

            /// Opens both for version 2, which migrates them.
            func open() throws -> ModelContainer {
                var trips = first.configuration()
                var others = second.configuration(named: "others")
                trips.schema = Schema([V2.Traveler.self, V2.Trip.self])
                others.schema = Schema([O2.Note.self])
                return try ModelContainer(
                    for: Schema([V2.Traveler.self, V2.Trip.self, O2.Note.self]), migrationPlan: TwoStores.self,
                    configurations: [trips, others])
            }

            /// The major versions of both, such as `12`.
            func versions() throws -> String {
                try [first.configuration(), second.configuration()].map {
                    "\(try $0.storedSchema()?.version.major ?? 0)"
                }.joined()
            }

            /// Opens both and looks whether each was migrated once.
            func expectNew(_ comment: Comment) throws {
                let container = try open()
                let context = ModelContext(container)
                #expect(try context.fetch(FetchDescriptor<O2.Note>()).map(\.text) == ["one!"], comment)
                #expect(
                    try context.fetch(FetchDescriptor<V2.Traveler>()).map(\.first) == ["Ada", "Bob", "Cleo"], comment)
                try container.close()
                #expect(try versions() == "22", comment)
                let left = try disk.list("/data").filter { $0.hasSuffix(".mortise-tmp") }
                #expect(left == [], comment)
            }

            /// How many copies of the stores there are.
            func copies() throws -> Int {
                try disk.list("/data").filter { $0.contains(".schema-") && $0.split(separator: "-").last?.count == 16 }
                    .count
            }
        }

        static let kinds: [[MigrationWorld.Kind]] = [[.json, .json], [.log, .log], [.json, .log], [.log, .json]]

        /// The power is cut after each operation. Where that is between the two switches, the next opening goes on by itself.
        @Test(arguments: kinds) func theNextOpeningGoesOnBetweenTwoSwitches(_ kinds: [MigrationWorld.Kind]) throws {
            let pair = try Pair(kinds, on: makeDisk(seed: 3))
            try pair.fill()
            let start = pair.disk.operationCount
            try pair.open().close()
            let end = pair.disk.operationCount
            var found: [String: Int] = [:]
            try pair.disk.forEachCrash(in: start...end, limit: isFullSize ? 4 : 1) { image in
                let after = try Pair(kinds, on: image.fileSystem)
                let versions = try after.versions()
                found[versions, default: 0] += 1
                if isFullSize || versions == "21" || image.operation % 40 == 0 {
                    try after.expectNew("\(image.operation), \(image.loss), \(versions)")
                }
            }
            #expect(Set(found.keys) == ["11", "21", "22"])
        }

        /// The disk is full from some operation on. That is found before the first switch, or not at all.
        @Test(arguments: kinds) func aFullDiskIsFoundBeforeTheFirstSwitch(_ kinds: [MigrationWorld.Kind]) throws {
            var outcomes: [String: Int] = [:]
            for number in stride(from: 1, to: 4_000, by: isFullSize ? 1 : 37) {
                let pair = try Pair(kinds)
                try pair.fill()
                let files = try pair.first.files()
                let (start, disk) = (pair.disk.operationCount, pair.disk)
                disk.interject(at: number) { disk.limits.capacity = 0 }
                let result = Result { try pair.open().close() }
                let end = pair.disk.operationCount
                disk.removeFaults()
                disk.limits.capacity = nil
                if end < start + number { break }
                let versions = try pair.versions()
                outcomes[versions, default: 0] += 1
                if case .failure = result { #expect(versions == "11", "\(number)") }
                if versions == "11" { #expect(try pair.first.files() == files, "\(number)") }
                if isFullSize || number % 185 == 1 { try pair.expectNew("\(number), \(versions)") }
            }
            #expect(Set(outcomes.keys) == ["11", "22"] && outcomes["11", default: 0] > (isFullSize ? 5 : 1))
        }

        /// An operation fails. The stores are switched in their order, and whatever is left is taken along by the next opening.
        @Test(arguments: kinds) func afterAnyFailureTheNextOpeningGoesOn(_ kinds: [MigrationWorld.Kind]) throws {
            var outcomes: [String: Int] = [:]
            for number in stride(from: 1, to: 4_000, by: isFullSize ? 1 : 43) {
                let pair = try Pair(kinds)
                try pair.fill()
                let copies = try pair.copies()
                let start = pair.disk.operationCount
                pair.disk.inject(.fail(.io), at: number)
                let result = Result { try pair.open().close() }
                let end = pair.disk.operationCount
                pair.disk.removeFaults()
                if end < start + number { break }
                let versions = try pair.versions()
                outcomes[versions, default: 0] += 1
                if case .success = result { #expect(versions == "22", "\(number)") }
                if versions == "11", case .failure = result { #expect(try pair.copies() <= copies + 1, "\(number)") }
                try pair.expectNew("\(number), \(versions)")
            }
            #expect(outcomes["12"] == nil && outcomes["11", default: 0] > (isFullSize ? 5 : 1))
        }

        @Test(arguments: MigrationWorld.Kind.allCases) func whatWasPreparedCanBeAbandoned(_ kind: MigrationWorld.Kind)
            throws
        {
            let world = try MigrationWorld(kind)
            _ = try world.fill()
            let before = try world.files()
            let migration = try world.configuration().beginMigration()
            var second = Schema(versionedSchema: V2.self).stored
            // Two travelers have one address, which no stage has settled.
            for place in second.entities.indices { second.entities[place].uniquenessConstraints = [] }
            _ = try migration.adapt(to: second)
            #expect(throws: DataStoreError.self) { try migration.commit() }
            try migration.prepare(keepingCopy: true, atMost: nil)
            // For whoever reads meanwhile, and for whoever finds it after a crash, nothing has happened.
            #expect(try world.configuration().storedSchema()?.version == Schema.Version(1, 0, 0))
            let crashed = world.disk.crashed(after: world.disk.operationCount, losing: .unsynced)
            let after = try MigrationWorld(kind, on: crashed)
            try after.open(V1.self, nil).close()
            #expect(try ModelContext(after.open(V1.self, nil)).fetchCount(FetchDescriptor<V1.Traveler>()) == 4)
            migration.abandon()
            #expect(try world.files() == before)
            try world.open(V2.self, Plans.Two.self).close()
        }

        @Test func storagesInMemoryAreReplacedByTheSwitchAlone() throws {
            let storage = InMemoryStorage()
            let configuration = InMemoryConfiguration("memory", storage: storage)
            let container = try ModelContainer(
                for: Schema(versionedSchema: V1.self), configurations: [configuration])
            let context = ModelContext(container)
            context.insert(V1.Trip("Alps", price: 1))
            try context.save()
            try container.close()
            let second = Schema(versionedSchema: V2.self).stored
            for commits in [false, true] {
                let migration = try configuration.beginMigration()
                _ = try migration.adapt(to: second)
                try migration.prepare(keepingCopy: false, atMost: nil)
                #expect(storage.schema?.version == Schema.Version(1, 0, 0))
                if commits { try migration.commit() } else { migration.abandon() }
                #expect(storage.schema?.version == Schema.Version(commits ? 2 : 1, 0, 0))
            }
        }
    }
}
