import CustomStore
import Foundation
import MortiseCore
import MortiseEngine
import Synchronization
import Testing

/// Two plans that keep one copy, from the first version to the second and on to the third.
private enum OneCopy: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { Plans.Plain.schemas }
    static var stages: [MigrationStage] {
        [
            .lightweight(fromVersion: V1.self, toVersion: V2.self),
            .custom(fromVersion: V2.self, toVersion: V3.self, willMigrate: nil, didMigrate: { _ in }),
        ]
    }
    static var migrationOptions: MigrationOptions {
        var options = MigrationOptions()
        (options.copies, options.mostCopies, options.identifiers) = (.always, 1, .mayChange)
        return options
    }
}

extension MigrationTests {
    /// What a preview of a store that is copied does and says, and how many copies stay.
    @Suite struct CopyingPreviewTests {
        private static func withFolder(_ body: (URL) throws -> Void) throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "copying-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            try body(folder)
        }

        private static func preview(_ configuration: any DataStoreConfiguration) throws -> MigrationPreview {
            try #require(
                try ModelContainer.migrationPreview(
                    for: Schema(versionedSchema: V2.self), migrationPlan: OneCopy.self, configurations: [configuration]
                ).first)
        }

        private static func fill(_ configuration: any DataStoreConfiguration) throws {
            let container = try ModelContainer(
                for: Schema(versionedSchema: V1.self), configurations: [configuration])
            let context = ModelContext(container)
            context.insert(V1.Traveler("Ada", mail: "a@x"))
            context.insert(V1.Trip("Alps", price: 1, note: "steep"))
            try context.save()
            try container.close()
        }

        /// Defect that this prevents: a preview took the lock of the store, so that none could be made while a program used it.
        @Test func aPreviewTakesNoLockAndWritesNothing() throws {
            try Self.withFolder { folder in
                let configuration = CSVConfiguration(folder: folder)
                try Self.fill(configuration)
                let user = try ModelContainer(
                    for: Schema(versionedSchema: V1.self), configurations: [configuration])
                func files() throws -> [String: Data?] {
                    let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
                    return Dictionary(
                        uniqueKeysWithValues: paths.map { ($0, try? Data(contentsOf: folder.appending(path: $0))) })
                }
                // What a migration has left whose process died. A preview has no business with it.
                try FileManager.default.createDirectory(
                    at: folder.appending(path: "next"), withIntermediateDirectories: false)
                let before = try files()
                let preview = try Self.preview(configuration)
                #expect(preview.isCopy && preview.keepsIdentifiers && preview.records == 2)
                #expect("\(preview)".contains("copied into a new store, in which records keep their identifiers"))
                #expect(try files() == before)
                // Its user can save as before.
                let context = ModelContext(user)
                context.insert(V1.Trip("Bergen", price: 2))
                try context.save()
                #expect(try Self.preview(configuration).records == 3)
                let reader = try ModelContainer(
                    for: Schema(versionedSchema: V1.self), configurations: [configuration.readingOnly])
                let other = ModelContext(reader)
                other.insert(V1.Trip("Cadiz", price: 3))
                #expect(throws: CSVError.self) { try other.save() }
                try reader.close()
                try user.close()
            }
        }

        @Test func aPreviewTellsThatIdentifiersChange() throws {
            let configuration = ReplaceableAppleShapedConfiguration(disk: AppleShapedDisk())
            try Self.fill(configuration)
            let preview = try Self.preview(configuration)
            #expect(preview.isCopy && !preview.keepsIdentifiers)
            #expect("\(preview)".contains("copied into a new store, in which records get new identifiers"))
            let embedded = try MigrationWorld(.log)
            _ = try embedded.fill(withDuplicates: false)
            let other = try Self.preview(embedded.configuration())
            #expect(!other.isCopy && !"\(other)".contains("copied"))
        }

        /// Defect that this prevents: the option was left to the configuration, so that each migration left another copy.
        @Test func asManyCopiesStayAsThePlanSays() throws {
            let disk = AppleShapedDisk()
            let configuration = ReplaceableAppleShapedConfiguration(disk: disk)
            try Self.fill(configuration)
            for version in [V2.self, V3.self] as [any VersionedSchema.Type] {
                try ModelContainer(
                    for: Schema(versionedSchema: version), migrationPlan: OneCopy.self, configurations: [configuration]
                ).close()
            }
            #expect(disk.tables.withLock { Set($0.keys) } == ["store", "store.old.2"])
            try Self.withFolder { folder in
                let configuration = CSVConfiguration(folder: folder)
                try Self.fill(configuration)
                for version in [V2.self, V3.self] as [any VersionedSchema.Type] {
                    try ModelContainer(
                        for: Schema(versionedSchema: version), migrationPlan: OneCopy.self,
                        configurations: [configuration]
                    ).close()
                }
                let generations = try FileManager.default.contentsOfDirectory(atPath: folder.path).compactMap {
                    Int($0)
                }
                #expect(generations.sorted() == [2, 3])
            }
        }

        /// A store that gives numbers itself, and has nothing to which it gave any.
        @Test func aStoreWithoutRecordsNeedsNoWordOnIdentifiers() throws {
            let configuration = ReplaceableAppleShapedConfiguration(disk: AppleShapedDisk())
            try ModelContainer(for: Schema(versionedSchema: V1.self), configurations: [configuration]).close()
            for _ in 0..<2 {
                let container = try ModelContainer(
                    for: Schema(versionedSchema: V3.self), migrationPlan: Plans.Plain.self,
                    configurations: [configuration])
                #expect(try ModelContext(container).fetchCount(FetchDescriptor<V3.Trip>()) == 0)
                try container.close()
            }
            #expect(try configuration.storedSchema()?.version == Schema.Version(3, 0, 0))
        }
    }
}
