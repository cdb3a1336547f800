import MortiseEngine

extension SimulatedVolume {
    /// Where a path leads: a name in a directory, and what has it, if anything.
    struct Place {
        var directory: NodeID
        var name: String
        var node: NodeID?
    }

    /// Walks a path as the operating system does, symbolic links included.
    ///
    /// Relative paths start at the root.
    func locate(_ path: String, followingLinks: Bool) throws(FileError.Code) -> Place {
        var rest = Self.components(path)
        var way = [Self.root]
        var links = 0
        while let name = rest.popLast() {
            let directory = way.last ?? Self.root
            guard let parent = nodes[directory], parent.kind == .directory else { throw .notDirectory }
            if name == "." { continue }
            if name == ".." {
                if way.count > 1 { way.removeLast() }
                continue
            }
            if name.utf8.count > 255 { throw .nameTooLong }
            let child = parent.entries[name]
            if let child, let node = nodes[child], node.kind == .symbolicLink, followingLinks || !rest.isEmpty {
                links += 1
                if links > 40 { throw .loop }
                if node.link.utf8.first == UInt8(ascii: "/") { way = [Self.root] }
                rest += Self.components(node.link)
                continue
            }
            if rest.isEmpty { return Place(directory: directory, name: name, node: child) }
            guard let child else { throw .noEntry }
            way.append(child)
        }
        let end = way.last ?? Self.root
        return Place(directory: end, name: ".", node: end)
    }

    /// The names in a path, last one first.
    private static func components(_ path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).reversed().map { String($0) ?? "" }
    }

    func info(_ id: NodeID) throws(FileError.Code) -> FileInfo {
        guard let node = nodes[id] else { throw .stale }
        return FileInfo(
            kind: node.kind, device: 1, inode: UInt64(id), size: Int64(node.content.count),
            permissions: node.attributes.permissions, user: node.attributes.user, group: node.attributes.group,
            modified: FileTime(seconds: node.modified, nanoseconds: 0), links: UInt64(max(0, node.names)))
    }
}
