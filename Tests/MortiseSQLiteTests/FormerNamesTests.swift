#if SQLite
import Foundation
import MortiseCore
import MortiseSQL
@testable import MortiseSQLite
import PackageTestSupport
import Testing

/// An entity says what it was called in the version before, and forgets that later: an identifier from two renames ago led nowhere, unless
/// a plan had all versions in between (case E31).
@Suite struct FormerNamesTests {
    private func named(_ name: String, from original: String? = nil) -> [StoredEntity] {
        [StoredEntity(name: name, originalName: original, properties: entity(name, [("name", .string)]).properties)]
    }

    private func version(_ number: Int) -> Schema.Version { Schema.Version(number, 0, 0) }

    @Test(arguments: [false, true]) func namesOfAllVersionsAreKept(_ copies: Bool) throws {
        let folder = try TemporaryFolder()
        let first = try SQLiteStore.open(folder.path(), named("Trip"))
        try first.insert("Trip", ["name": .string("a")])
        #expect(first.formerNames.isEmpty)
        try first.close()
        let second = try SQLiteStore.open(folder.path(), named("Journey", from: "Trip"), version: version(2))
        #expect(second.formerNames == ["Trip": ["Journey"]])
        try second.close()
        let third = Schema(stored: StoredSchema(version: version(3), entities: named("Voyage", from: "Journey")))
        if copies {
            let migration = try second.configuration.beginMigration(MigrationRequest(schemas: [third]))
            _ = try migration.frozen(under: Schema(stored: migration.storedSchema))
            try migration.adapt(to: third.stored)
            try migration.prepare(keepingCopy: false, atMost: 0)
            try migration.commit()
        }
        try SQLiteStore.open(folder.path(), third.stored.entities, version: version(3)).close()
        let last = try SQLiteStore.open(folder.path(), named("Voyage"), version: version(4))
        #expect(last.formerNames.mapValues(\.count) == ["Trip": 1, "Journey": 1])
        #expect(try last.values("Voyage", "name") == [.string("a")])
        try last.close()
        let reader = try SQLiteStore.open(folder.path(), named("Voyage"), version: version(4)) { $0 = $0.readOnly() }
        #expect(reader.formerNames["Trip"] == ["Voyage"])
        try reader.close()
    }
}
#endif
