public import Foundation
public import MortiseCore

/// Where and how an app's models are kept, as SwiftData describes it: in memory, or in a file.
public struct ModelConfiguration: Identifiable, Hashable, Sendable {
    /// The file of the store. An in-memory store has a URL that names no file.
    public let url: URL
    /// The configuration's name, unique in its container.
    public let name: String
    /// The app group that was asked for; nil if none was.
    public let groupAppContainerIdentifier: String?
    /// The CloudKit database that was asked for; nil if none was.
    public let cloudKitContainerIdentifier: String?
    /// The app group whose folder holds the store.
    public let groupContainer: GroupContainer
    /// How models reach iCloud.
    public let cloudKitDatabase: CloudKitDatabase
    /// The models kept in this store; nil for all of the container's.
    public var schema: Schema?
    /// Whether the store may be changed. A read-only store takes no lock, so it opens while another process writes.
    public let allowsSave: Bool
    /// Whether the models end with the container.
    public let isStoredInMemoryOnly: Bool
    /// Entities whose records may be dropped if the schema lacks them, though its version is that of the store. None by
    /// default. The first save that drops records keeps a copy of the store as it was.
    public var dropping: [String] = []

    /// How models reach iCloud, which exists on Apple platforms only. Elsewhere `automatic` and `none` do nothing, and
    /// `private` makes the container fail.
    public struct CloudKitDatabase: Sendable, Hashable {
        let privateName: String?
        /// Does nothing off Apple platforms.
        public static var automatic: CloudKitDatabase { CloudKitDatabase(privateName: nil) }
        /// Does nothing.
        public static var none: CloudKitDatabase { CloudKitDatabase(privateName: nil) }
        /// Asks for a CloudKit database; making a container then throws off Apple platforms.
        public static func `private`(_ privateDBName: String) -> CloudKitDatabase {
            CloudKitDatabase(privateName: privateDBName)
        }
    }

    /// Which app group's folder holds the store. Only Apple platforms have app groups: elsewhere `automatic` and `none` do
    /// nothing, and `identifier` makes the container fail.
    public struct GroupContainer: Sendable, Hashable {
        let identifier: String?
        /// Does nothing off Apple platforms.
        public static var automatic: GroupContainer { GroupContainer(identifier: nil) }
        /// Does nothing.
        public static var none: GroupContainer { GroupContainer(identifier: nil) }
        /// Asks for an app group; making a container then throws off Apple platforms.
        public static func identifier(_ groupName: String) -> GroupContainer { GroupContainer(identifier: groupName) }
    }

    /// The default store, or one in memory, for all models of the container.
    public init(isStoredInMemoryOnly: Bool = false) {
        self.init(nil, schema: nil, isStoredInMemoryOnly: isStoredInMemoryOnly)
    }

    /// The default store, or one in memory, for models and all that they refer to.
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

    /// The URL of the store.
    public var id: URL { url }

    /// Two configurations are equal if they open the same store in the same way.
    public static func == (lhs: ModelConfiguration, rhs: ModelConfiguration) -> Bool {
        lhs.name == rhs.name && lhs.url == rhs.url && lhs.allowsSave == rhs.allowsSave
            && lhs.isStoredInMemoryOnly == rhs.isStoredInMemoryOnly && lhs.schema == rhs.schema
            && lhs.dropping == rhs.dropping
    }
    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(url)
    }
}

extension ModelConfiguration: CustomDebugStringConvertible {
    /// Name, location and whether saving is allowed.
    public var debugDescription: String {
        "ModelConfiguration(\(name), \(isStoredInMemoryOnly ? "in memory" : url.path(percentEncoded: false))"
            + (allowsSave ? ")" : ", read-only)")
    }
}

extension ModelConfiguration: DataStoreConfiguration {
    /// The store that the configuration opens.
    public typealias Store = DefaultStore

    /// True: a container carries out the stages that are due before it opens the store.
    public var handlesMigrationPlans: Bool { true }

    /// The longest file name that common file systems take, in bytes, less what a log's checkpoint appends to it.
    fileprivate static let longestFileName = 255 - 52

    /// - Throws: `SwiftDataError.configurationFileNameTooLong`, `.configurationFileNameContainsInvalidCharacters`, and
    ///   `.loadIssueModelContainer` for CloudKit databases and app groups off Apple platforms, and for a URL that is not that of a
    ///   file.
    public func validate() throws {
        if let database = cloudKitContainerIdentifier {
            throw ModelConfigurationError.noCloudKit(configuration: name, database: database)
        }
        if let group = groupAppContainerIdentifier {
            throw ModelConfigurationError.noAppGroups(configuration: name, group: group)
        }
        guard !isStoredInMemoryOnly else { return }
        if let scheme = url.scheme, !url.isFileURL {
            throw ModelConfigurationError.notAFile(configuration: name, scheme: scheme)
        }
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
    /// The configuration asks for a CloudKit database. No store offers one.
    case noCloudKit(configuration: String, database: String)
    /// The configuration asks for the container of an app group, where the system has none.
    case noAppGroups(configuration: String, group: String)
    /// The file's name takes more than 203 bytes of UTF-8. File systems allow 255, and the store's other files have
    /// names up to 52 bytes longer than its own.
    case fileNameTooLong(configuration: String, bytes: Int)
    /// The configuration's name, from which the file is named, is empty, `.`, `..`, or contains a slash or NUL.
    case invalidFileName(configuration: String, file: String)
    /// The configuration's URL is not that of a file.
    case notAFile(configuration: String, scheme: String)
}

extension ModelConfigurationError: ClassifiedStoreError, SwiftDataErrorConvertible {
    /// `unsupported` for what no store here offers, else `usage`.
    public var errorClass: StoreErrorClass {
        switch self {
        case .noCloudKit, .noAppGroups: .unsupported
        case .fileNameTooLong, .invalidFileName, .notAFile: .usage
        }
    }
    /// The configuration at fault and the way out, in one line.
    public var description: String {
        switch self {
        case .noCloudKit(let configuration, let database):
            "The configuration \"\(configuration)\" asks for the CloudKit database \(database), but CloudKit is "
                + "not available. "
                + "Leave cloudKitDatabase at .automatic."
        case .noAppGroups(let configuration, let group):
            "The configuration \"\(configuration)\" asks for the app group \(group), but app groups are not available. "
                + "Give the store's url instead."
        case .fileNameTooLong(let configuration, let bytes):
            "The file name of the configuration \"\(configuration)\" is too long: expected at most "
                + "\(ModelConfiguration.longestFileName) bytes, which leaves room for the store's other files, found \(bytes). "
                + "Shorten it."
        case .invalidFileName(let configuration, let file):
            "\"\(file)\" cannot be the file name of the configuration \"\(configuration)\". Use a name without "
                + "slash and NUL."
        case .notAFile(let configuration, let scheme):
            "The configuration \"\(configuration)\" has a URL with the scheme \(scheme), but a ModelConfiguration keeps its store in "
                + "a file. Pass URL(fileURLWithPath:), or open a store URL such as json:PATH, log:PATH or memory: by "
                + "ModelContainer(for:store:)."
        }
    }

    /// The error of SwiftData that this one matches.
    public var swiftDataError: SwiftDataError {
        switch self {
        case .noCloudKit, .noAppGroups, .notAFile: .loadIssueModelContainer
        case .fileNameTooLong: .configurationFileNameTooLong
        case .invalidFileName: .configurationFileNameContainsInvalidCharacters
        }
    }
}
