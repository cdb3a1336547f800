/// The location of a store, independent of how its path is spelled: its folder and its name in it.
///
/// Paths through symbolic links, `.` and `..` give the same location; hard links do not.
package struct StorePlace: Hashable, Sendable {
    /// A path to the store, symbolic links at its end resolved.
    package let path: String
    private let device: UInt64
    private let inode: UInt64
    private let name: String

    /// Finds the location of a store, with links resolved.
    /// - Parameters:
    ///   - path: The store's path. Nothing needs to exist there yet, but its folder must.
    ///   - fileSystem: The file system that has the store.
    /// - Throws: ``FileError`` if there is no such folder, or as ``FileSystem/resolvingLinks(_:)`` does.
    package init(of path: String, in fileSystem: any FileSystem) throws(FileError) {
        let resolved = try fileSystem.resolvingLinks(path)
        let folder = try retryingInterrupts { () throws(FileError) in
            try fileSystem.info(PathText.directory(of: resolved), followingLinks: true)
        }
        self.path = resolved
        device = folder.device
        inode = folder.inode
        name = PathText.name(of: resolved)
    }

    /// Two locations are equal if they have the same name in the same folder.
    package static func == (lhs: StorePlace, rhs: StorePlace) -> Bool {
        lhs.device == rhs.device && lhs.inode == rhs.inode && lhs.name.utf8.elementsEqual(rhs.name.utf8)
    }
    /// Consistent with `==`.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(device)
        hasher.combine(inode)
    }
}
