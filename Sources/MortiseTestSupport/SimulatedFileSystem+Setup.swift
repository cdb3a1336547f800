public import MortiseEngine

extension SimulatedFileSystem {
    /// Puts a file on the disk, durably, with its directories, in place of whatever is there.
    ///
    /// Neither counted as an operation nor subject to faults and limits. A `path` that leads through something that is
    /// no directory throws.
    public func install(_ bytes: [UInt8], at path: String, permissions: UInt32 = 0o600) throws(FileError) {
        try setUp(path) { state, place in
            let id: SimulatedVolume.NodeID
            if let old = place.node {
                id = old
                state.apply(.change(id, .truncate(size: 0)))
            } else {
                id = state.make(.regular, permissions: permissions, at: place)
            }
            state.apply(.change(id, .write(offset: 0, bytes: bytes)))
            let old = state.volume.nodes[id]?.attributes
            let attributes = SimulatedVolume.Attributes(
                permissions: permissions, user: old?.user ?? 1000, group: old?.group ?? 1000)
            state.apply(.change(id, .attributes(attributes)))
            state.apply(.sync(id))
        }
    }

    /// Puts a symbolic link on the disk, durably.
    public func installLink(to target: String, at path: String) throws(FileError) {
        try setUp(path) { state, place in
            if place.node == nil { _ = state.make(.symbolicLink, permissions: 0o777, link: target, at: place) }
        }
    }

    /// Puts a directory, FIFO, socket or device on the disk, durably.
    public func install(_ kind: FileKind, at path: String) throws(FileError) {
        try setUp(path) { state, place in
            if place.node == nil { _ = state.make(kind, permissions: 0o755, at: place) }
        }
    }

    /// Gives the file at `path` to a user and a group, durably.
    public func installOwner(user: UInt32, group: UInt32, at path: String) throws(FileError) {
        try setUp(path) { state, place in
            guard let id = place.node, var attributes = state.volume.nodes[id]?.attributes else { return }
            attributes.user = user
            attributes.group = group
            state.apply(.change(id, .attributes(attributes)))
            state.apply(.sync(id))
        }
    }

    /// The bytes of the file at `path` as programs see them, or `nil` if there is no file.
    ///
    /// Not counted as an operation.
    public func contents(at path: String) -> [UInt8]? {
        disk.access { state in
            guard let id = try? state.volume.locate(path, followingLinks: true).node,
                let node = state.volume.nodes[id], node.kind == .regular
            else { return nil }
            // A copy: the thread sanitizer does not see that bytes which were shared are no longer read when they change.
            return node.content.withUnsafeBytes { [UInt8]($0) }
        }
    }

    /// All paths on the disk except the root, in order.
    ///
    /// Not counted as an operation.
    public var paths: [String] {
        disk.access { state in
            var found: [String] = []
            var open = [(SimulatedVolume.root, "")]
            while let (id, path) = open.popLast() {
                for (name, child) in state.volume.nodes[id]?.entries ?? [:] {
                    found.append(path + "/" + name)
                    if state.volume.nodes[child]?.kind == .directory { open.append((child, path + "/" + name)) }
                }
            }
            return found.sorted()
        }
    }

    private func setUp(
        _ path: String, _ body: (inout SimulatedDisk.State, SimulatedVolume.Place) -> Void
    ) throws(FileError) {
        try path.check(for: .open)
        let failure: FileError.Code? = disk.access { state in
            do throws(FileError.Code) {
                var directory = ""
                for name in path.split(separator: "/").dropLast() {
                    directory += "/" + name
                    let place = try state.volume.locate(directory, followingLinks: true)
                    if place.node == nil { _ = state.make(.directory, permissions: 0o755, at: place) }
                }
                let place = try state.volume.locate(path, followingLinks: false)
                body(&state, place)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw FileError(code: failure, operation: .open, path: path) }
    }
}

extension SimulatedDisk.State {
    fileprivate mutating func make(
        _ kind: FileKind, permissions: UInt32, link: String = "", at place: SimulatedVolume.Place
    ) -> SimulatedVolume.NodeID {
        let id = volume.nextNode
        let attributes = SimulatedVolume.Attributes(permissions: permissions, user: 1000, group: 1000)
        apply(.create(id, kind, attributes, link: link, in: place.directory, name: place.name))
        apply(.syncDirectory(place.directory))
        return id
    }
}
