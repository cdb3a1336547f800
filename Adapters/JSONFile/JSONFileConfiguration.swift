import Foundation
public import MortiseCore
public import MortiseEngine

/// Keeps models in one JSON file that people can read, compare and edit.
public struct JSONFileConfiguration: DataStoreConfiguration, Sendable {
    public typealias Store = JSONFileStore

    public let name: String
    public var schema: Schema?
    /// The file, relative to the current folder unless it begins with a slash. It need not be there; its folder must.
    public let path: String
    /// Whether the store may be changed. One that may not needs the file to be there, takes no lock, and sees the file as
    /// it was when it was opened.
    public let allowsSave: Bool
    public let integrity: JSONFileIntegrity
    /// The permission bits of a file that was not there before; an existing one keeps its own.
    public let newFilePermissions: UInt32
    let fileSystem: any FileSystem
    /// A file larger than this is refused before it is read, and not written.
    package var largestFile = Self.largestFile
    static let largestFile: Int64 = 8 << 30

    /// - Parameter name: the file's name without extension where none is given.
    public init(
        _ name: String? = nil, schema: Schema? = nil, path: String, allowsSave: Bool = true,
        integrity: JSONFileIntegrity = .required, newFilePermissions: UInt32 = 0o600
    ) {
        self.init(
            name, schema: schema, path: path, allowsSave: allowsSave, integrity: integrity,
            newFilePermissions: newFilePermissions, in: POSIXFileSystem())
    }

    /// A store on another file system, such as a simulated one.
    public init(
        _ name: String? = nil, schema: Schema? = nil, path: String, allowsSave: Bool = true,
        integrity: JSONFileIntegrity = .required, newFilePermissions: UInt32 = 0o600, in fileSystem: any FileSystem
    ) {
        self.name = name ?? URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
        self.schema = schema
        self.path = path
        self.allowsSave = allowsSave
        self.integrity = integrity
        self.newFilePermissions = newFilePermissions
        self.fileSystem = fileSystem
    }

    public static func == (lhs: JSONFileConfiguration, rhs: JSONFileConfiguration) -> Bool {
        lhs.name == rhs.name && lhs.path == rhs.path && lhs.hasSameOptions(as: rhs)
    }
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(path)
    }

    func hasSameOptions(as other: JSONFileConfiguration) -> Bool {
        allowsSave == other.allowsSave && integrity == other.integrity && newFilePermissions == other.newFilePermissions
            && schema == other.schema && largestFile == other.largestFile
    }
}
