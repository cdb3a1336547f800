public import Foundation
public import MortiseCore

/// Where and how an app's models are kept, as SwiftData describes it: in memory, or in a file.
public struct ModelConfiguration: Identifiable, Hashable, Sendable {
    /// The file of the store. An in-memory store has a URL that names no file.
    public let url: URL
    public let name: String
    public let groupAppContainerIdentifier: String?
    public let cloudKitContainerIdentifier: String?
    public let groupContainer: GroupContainer
    public let cloudKitDatabase: CloudKitDatabase
    public var schema: Schema?
    /// Whether the store may be changed. One that may not is opened beside a writer without taking its lock.
    public let allowsSave: Bool
    public let isStoredInMemoryOnly: Bool

    /// How models reach iCloud. There is none off Apple platforms: `automatic` and `none` do nothing, `private` makes
    /// the container fail.
    public struct CloudKitDatabase: Sendable, Hashable {
        let privateName: String?
        public static var automatic: CloudKitDatabase { CloudKitDatabase(privateName: nil) }
        public static var none: CloudKitDatabase { CloudKitDatabase(privateName: nil) }
        public static func `private`(_ privateDBName: String) -> CloudKitDatabase {
            CloudKitDatabase(privateName: privateDBName)
        }
    }

    /// Which app group's folder holds the store. There are none off Apple platforms: `automatic` and `none` do nothing,
    /// `identifier` makes the container fail.
    public struct GroupContainer: Sendable, Hashable {
        let identifier: String?
        public static var automatic: GroupContainer { GroupContainer(identifier: nil) }
        public static var none: GroupContainer { GroupContainer(identifier: nil) }
        public static func identifier(_ groupName: String) -> GroupContainer { GroupContainer(identifier: groupName) }
    }

    public init(isStoredInMemoryOnly: Bool = false) {
        self.init(nil, schema: nil, isStoredInMemoryOnly: isStoredInMemoryOnly)
    }

    public init(for forTypes: any PersistentModel.Type..., isStoredInMemoryOnly: Bool = false) {
        self.init(nil, schema: Schema(forTypes), isStoredInMemoryOnly: isStoredInMemoryOnly)
    }

    /// A store in the user's application support folder, in the file `<name>.store`; the name is `default` where none is
    /// given.
    public init(
        _ name: String? = nil, schema: Schema? = nil, isStoredInMemoryOnly: Bool = false, allowsSave: Bool = true,
        groupContainer: GroupContainer = .automatic, cloudKitDatabase: CloudKitDatabase = .automatic
    ) {
        let name = name ?? "default"
        self.init(
            name: name, schema: schema,
            url: isStoredInMemoryOnly ? Self.memoryURL(name) : Self.supportFolder.appending(path: "\(name).store"),
            isStoredInMemoryOnly: isStoredInMemoryOnly, allowsSave: allowsSave, groupContainer: groupContainer,
            cloudKitDatabase: cloudKitDatabase)
    }

    /// A store in the file at a URL. The name is the file's without extension where none is given.
    public init(
        _ name: String? = nil, schema: Schema? = nil, url: URL, allowsSave: Bool = true,
        cloudKitDatabase: CloudKitDatabase = .automatic
    ) {
        self.init(
            name: name ?? url.deletingPathExtension().lastPathComponent, schema: schema, url: url,
            isStoredInMemoryOnly: false, allowsSave: allowsSave, groupContainer: .none,
            cloudKitDatabase: cloudKitDatabase)
    }

    private init(
        name: String, schema: Schema?, url: URL, isStoredInMemoryOnly: Bool, allowsSave: Bool,
        groupContainer: GroupContainer, cloudKitDatabase: CloudKitDatabase
    ) {
        self.name = name
        self.schema = schema
        self.url = url
        self.isStoredInMemoryOnly = isStoredInMemoryOnly
        self.allowsSave = allowsSave
        self.groupContainer = groupContainer
        self.cloudKitDatabase = cloudKitDatabase
        groupAppContainerIdentifier = groupContainer.identifier
        cloudKitContainerIdentifier = cloudKitDatabase.privateName
    }

    private static var supportFolder: URL {
        FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? FileManager.default.homeDirectoryForCurrentUser
    }

    private static func memoryURL(_ name: String) -> URL {
        var parts = URLComponents()
        parts.scheme = "memory"
        parts.path = "/" + name
        return parts.url ?? URL(fileURLWithPath: "/dev/null")
    }

    public var id: URL { url }

    public static func == (lhs: ModelConfiguration, rhs: ModelConfiguration) -> Bool {
        lhs.name == rhs.name && lhs.url == rhs.url && lhs.allowsSave == rhs.allowsSave
            && lhs.isStoredInMemoryOnly == rhs.isStoredInMemoryOnly && lhs.schema == rhs.schema
    }
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(url)
    }
}

extension ModelConfiguration: CustomDebugStringConvertible {
    public var debugDescription: String {
        "ModelConfiguration(\(name), \(isStoredInMemoryOnly ? "in memory" : url.path(percentEncoded: false))"
            + (allowsSave ? ")" : ", read-only)")
    }
}

extension ModelConfiguration: DataStoreConfiguration {
    public typealias Store = DefaultStore

    /// The longest file name that common file systems take, in bytes, less what a log's checkpoint appends to it.
    private static let longestFileName = 255 - 52

    /// - Throws: `SwiftDataError.configurationFileNameTooLong`, `.configurationFileNameContainsInvalidCharacters`, and
    ///   `.loadIssueModelContainer` for CloudKit databases and app groups off Apple platforms.
    public func validate() throws {
        if let database = cloudKitContainerIdentifier {
            throw ModelConfigurationError.noCloudKit(configuration: name, database: database)
        }
        if let group = groupAppContainerIdentifier {
            throw ModelConfigurationError.noAppGroups(configuration: name, group: group)
        }
        guard !isStoredInMemoryOnly else { return }
        let file = url.lastPathComponent
        if file.utf8.count > Self.longestFileName {
            throw ModelConfigurationError.fileNameTooLong(configuration: name, bytes: file.utf8.count)
        }
        if name.contains("/") || name.contains("\0") || file.isEmpty || file == "." || file == ".."
            || file.contains("\0")
        {
            throw ModelConfigurationError.invalidFileName(configuration: name, file: file)
        }
    }
}

/// Why a `ModelConfiguration` cannot be used.
public enum ModelConfigurationError: Error, Hashable, Sendable {
    case noCloudKit(configuration: String, database: String)
    case noAppGroups(configuration: String, group: String)
    case fileNameTooLong(configuration: String, bytes: Int)
    case invalidFileName(configuration: String, file: String)
}

extension ModelConfigurationError: CustomStringConvertible, SwiftDataErrorConvertible {
    public var description: String {
        switch self {
        case .noCloudKit(let configuration, let database):
            "The configuration \"\(configuration)\" wants the CloudKit database \(database), and there is no CloudKit here. "
                + "Leave cloudKitDatabase at .automatic."
        case .noAppGroups(let configuration, let group):
            "The configuration \"\(configuration)\" wants the app group \(group), and there are no app groups here. "
                + "Give the store's url instead."
        case .fileNameTooLong(let configuration, let bytes):
            "The file name of the configuration \"\(configuration)\" takes \(bytes) bytes, more than a file system does. "
                + "Shorten it."
        case .invalidFileName(let configuration, let file):
            "\"\(file)\" cannot be the file of the configuration \"\(configuration)\": a name holds no slash and no NUL."
        }
    }

    public var swiftDataError: SwiftDataError {
        switch self {
        case .noCloudKit, .noAppGroups: .loadIssueModelContainer
        case .fileNameTooLong: .configurationFileNameTooLong
        case .invalidFileName: .configurationFileNameContainsInvalidCharacters
        }
    }
}
