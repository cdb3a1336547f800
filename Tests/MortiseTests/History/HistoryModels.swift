import Foundation
import Mortise
import PackageTestSupport
import Testing

@Model final class Parcel {
    @Attribute(.preserveValueOnDeletion) var code: String
    var weight: Int
    @Attribute(.preserveValueOnDeletion) var note: String?
    var house: Storehouse?

    init(_ code: String, weight: Int = 0, note: String? = nil) {
        self.code = code
        self.weight = weight
        self.note = note
    }
}

@Model final class Storehouse {
    var name: String
    @Relationship(deleteRule: .nullify, inverse: \Parcel.house) var parcels: [Parcel] = []

    init(_ name: String) { self.name = name }
}

enum Hue: String, Codable { case red, green }

struct Whereabouts: Codable, Hashable {
    var x: Int
    var y: [String]
}

@Model final class Keepsake {
    @Attribute(.preserveValueOnDeletion) var hue: Hue
    @Attribute(.preserveValueOnDeletion) var parts: [String]
    @Attribute(.preserveValueOnDeletion) var spot: Whereabouts?

    init(_ hue: Hue, parts: [String], spot: Whereabouts?) {
        self.hue = hue
        self.parts = parts
        self.spot = spot
    }
}

typealias HistoryOf = HistoryDescriptor<DefaultHistoryTransaction>

/// A store of each kind that keeps a history.
enum HistoryStore: String, CaseIterable {
    case memory, json, log

    func configuration(_ folder: Folder, _ name: String = "store") -> any DataStoreConfiguration {
        switch self {
        case .memory: InMemoryConfiguration(name)
        case .json: JSONFileConfiguration(name, path: folder.path("\(name).json"))
        case .log: AppendLogConfiguration(name, path: folder.path("\(name).log"))
        }
    }

    func container(_ folder: Folder) throws -> ModelContainer {
        try ModelContainer(for: Schema([Parcel.self, Storehouse.self]), configurations: [configuration(folder)])
    }
}

extension ModelContext {
    /// Saves a parcel for each author.
    func saveParcels(by authors: String...) throws {
        for author in authors {
            self.author = author
            insert(Parcel(author))
            try save()
        }
        author = nil
    }

    func history(_ predicate: Predicate<DefaultHistoryTransaction>? = nil) throws -> [DefaultHistoryTransaction] {
        try fetchHistory(HistoryOf(predicate: predicate))
    }

    func authors(after token: DefaultHistoryToken) throws -> [String?] {
        try history(#Predicate { $0.token > token }).map(\.author)
    }
}

func kind(_ change: HistoryChange) -> String {
    switch change {
    case .insert: "insert"
    case .update: "update"
    case .delete: "delete"
    }
}

/// What errors call the store of a container: where it is, or the name of its configuration.
func place(of container: ModelContainer) throws -> String {
    let configuration = try #require(container.storeConfigurations.first)
    return (configuration as? any SelfDescribingConfiguration)?.location ?? configuration.name
}
