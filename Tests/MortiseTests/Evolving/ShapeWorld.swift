import Foundation
import Mortise
import Testing

/// A store of one kind that programs of two versions open in turn.
final class ShapeWorld {
    static let kinds = StoreKinds.versioned + StoreKinds.sqlite

    private let kind: String
    private let folder: Folder
    private let storage = InMemoryStorage()

    init(_ kind: String) throws {
        self.kind = kind
        folder = try Folder()
    }

    func open(
        _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)? = nil
    ) throws -> ModelContainer {
        try ModelContainer(
            for: Schema(versionedSchema: version), migrationPlan: plan, configurations: [try configuration()])
    }

    private func configuration() throws -> any DataStoreConfiguration {
        switch kind {
        case "memory": return InMemoryConfiguration("shapes", storage: storage)
        case "json": return JSONFileConfiguration("shapes", path: folder.path("store.json"))
        case "log": return AppendLogConfiguration("shapes", path: folder.path("store.log"))
        default: return try StoreRegistry.standard.configuration(for: StoreURL("\(kind):\(folder.path("store"))"))
        }
    }

    /// Saves models of the version before.
    func fill(_ version: any VersionedSchema.Type, _ models: [any PersistentModel]) throws {
        let container = try open(version)
        let context = ModelContext(container)
        for model in models { insert(model, into: context) }
        try context.save()
        try container.close()
    }

    /// Opens the store twice with the version after: what the first opening migrates, the second one reads.
    func migrated(
        to version: any VersionedSchema.Type, _ plan: any SchemaMigrationPlan.Type,
        _ check: (ModelContext) throws -> Void
    ) throws {
        for _ in 0..<2 {
            let container = try open(version, plan)
            try check(ModelContext(container))
            try container.close()
        }
    }

    func preview(
        _ version: any VersionedSchema.Type, _ plan: any SchemaMigrationPlan.Type
    ) throws -> MigrationPreview? {
        try ModelContainer.migrationPreview(
            for: Schema(versionedSchema: version), migrationPlan: plan, configurations: [try configuration()]
        ).first
    }

    /// The names of the files beside the store, its own among them.
    func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path("")).sorted() }

    /// Makes a file beside the store look as if it had been written then.
    func date(_ file: String, _ date: Date) throws {
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: folder.path(file))
    }

    /// Puts a copy into the store's place, and removes it.
    func restore(_ copy: String) throws {
        let maintained = try #require(try configuration() as? any MaintainableConfiguration)
        _ = try maintained.restoreStore(from: folder.path(copy), replacing: true) {}
        for file in try files() where file.hasPrefix(copy) {
            try FileManager.default.removeItem(atPath: folder.path(file))
        }
    }
}
