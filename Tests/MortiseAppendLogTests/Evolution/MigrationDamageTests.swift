import Foundation
import MortiseCore
import MortiseEngine
import MortiseTestSupport
import Testing

@testable import MortiseAppendLog

extension MigrationTests {
    /// What a migration reads is all of the store: damage that it meets is an error, and nothing is dropped for it.
    @Suite(.serialized) struct MigrationDamageTests {
        private static func names(_ world: MigrationWorld) throws -> [String] {
            let container = try world.open(V2.self, nil)
            defer { try? container.close() }
            return try ModelContext(container).fetch(FetchDescriptor<V2.Traveler>()).map {
                "\($0.first)|\($0.last)|\($0.mail ?? "-")|\($0.trips.map(\.name).sorted())"
            }
        }

        /// Each of some bytes is another. Either the migration comes to what it comes to without that, from what is whole, or it is
        /// refused and the files are as they were.
        @Test(arguments: MigrationWorld.Kind.allCases, [false, true])
        func aDamagedByteDropsNothing(_ kind: MigrationWorld.Kind, hasCheckpoint: Bool) throws {
            func filled() throws -> MigrationWorld {
                let world = try MigrationWorld(kind)
                _ = try world.fill()
                if kind == .log, hasCheckpoint {
                    let container = try world.open(V1.self, nil)
                    try #require(container.store(AppendLogStore.self)).checkpoint()
                    try container.close()
                } else if world.disk.contents(at: world.path + ".checkpoint") != nil {
                    try world.disk.unlink(world.path + ".checkpoint")
                }
                return world
            }
            let whole = try filled()
            try whole.open(V2.self, Plans.Two.self).close()
            let expected = try Self.names(whole)
            var (refused, done) = (0, 0)
            for suffix in ["", ".checkpoint"] {
                guard let count = try filled().disk.contents(at: "/data/trips" + suffix)?.count else { continue }
                for place in stride(from: 0, to: count, by: max(1, count / 20)) {
                    let world = try filled()
                    let path = world.path + suffix
                    var bytes = try #require(world.disk.contents(at: path))
                    bytes[place] ^= 0x24
                    try world.disk.install(bytes, at: path)
                    let before = try world.files()
                    do {
                        try world.open(V2.self, Plans.Two.self).close()
                    } catch {
                        refused += 1
                        #expect(!"\(error)".isEmpty)
                        #expect(try world.files() == before, "\(suffix) \(place): \(error)")
                        continue
                    }
                    done += 1
                    #expect(try Self.names(world) == expected, "\(suffix) \(place)")
                }
            }
            #expect(refused + done >= 20 && refused > 0, "\(refused) \(done)")
        }
    }
}
