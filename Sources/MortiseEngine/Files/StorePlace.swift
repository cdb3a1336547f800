/// Where a store is, the same however its path is spelled: the folder that it lies in and its name there.
///
/// Links at the end of the path and among its folders lead to the same place, as do `.` and `..`. Hard links do not.
public struct StorePlace: Hashable, Sendable {
    /// A path to the place, symbolic links at its end resolved.
    public let path: String
    private let device: UInt64
    private let inode: UInt64
    private let name: String

    /// Names the place of a store, with links resolved.
    /// - Parameters:
    ///   - path: The store's path. Nothing needs to exist there yet, but its folder must.
    ///   - fileSystem: The file system that has the store.
    /// - Throws: ``FileError`` if there is no such folder, or as ``FileSystem/resolvingLinks(_:)`` does.
    public init(of path: String, in fileSystem: any FileSystem) throws(FileError) {
        let resolved = try fileSystem.resolvingLinks(path)
        let folder = try retryingInterrupts { () throws(FileError) in
            try fileSystem.info(PathText.directory(of: resolved), followingLinks: true)
        }
        self.path = resolved
        device = folder.device
        inode = folder.inode
        name = PathText.name(of: resolved)
    }

    /// Two places are equal if they are the same name in the same folder.
    public static func == (lhs: StorePlace, rhs: StorePlace) -> Bool {
        lhs.device == rhs.device && lhs.inode == rhs.inode && lhs.name.utf8.elementsEqual(rhs.name.utf8)
    }
    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(device)
        hasher.combine(inode)
    }
}
