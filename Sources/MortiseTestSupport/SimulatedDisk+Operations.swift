import MortiseEngine

extension SimulatedDisk.State {
    mutating func perform<Value>(
        _ operation: FileError.Operation, _ path: String,
        _ body: (inout Self) throws(FileError.Code) -> Value,
        onFailure: (inout Self) -> Void
    ) throws(FileError.Code) -> Value {
        trace.append(SimulatedFileSystem.TracedOperation(operation: operation, path: path))
        shortening = nil
        obstacle = nil
        let fault = faults.due(before: operation).first
        if fault != nil { faultsFired += 1 }
        switch fault {
        case .fail(let code)?:
            onFailure(&self)
            throw code
        case .failAfterwards(let code)?:
            _ = try body(&self)
            throw code
        case .shorten(let count)?:
            shortening = max(1, count)
        case nil:
            break
        }
        return try body(&self)
    }

    mutating func takeShortening() -> Int? {
        defer { shortening = nil }
        return shortening
    }

    func error(_ code: FileError.Code, _ operation: FileError.Operation, _ path: String) -> FileError {
        if let obstacle { return FileError(.notARegularFile(obstacle), operation: operation, path: path) }
        return FileError(code: code, operation: operation, path: path)
    }

    /// The space taken by files that have a name or are open.
    var usedBytes: Int {
        if limits.capacity == nil { return 0 }
        let open = Set(handles.values.map(\.node))
        return volume.nodes.reduce(0) { sum, entry in
            entry.value.names > 0 || open.contains(entry.key) ? sum + entry.value.content.count : sum
        }
    }

    mutating func open(_ path: String, mode: OpenMode, process: Int32) throws(FileError.Code) -> Int {
        if handles.count >= limits.openFiles ?? .max { throw .processFiles }
        let place = try volume.locate(path, followingLinks: !mode.isExclusive)
        var id = place.node
        if let id, mode.isExclusive, volume.nodes[id] != nil { throw .exists }
        if mode != .read, limits.isReadOnly { throw .readOnly }
        if id == nil, let permissions = mode.permissions {
            id = try create(.regular, permissions: permissions, at: place)
        }
        guard let id, let kind = volume.nodes[id]?.kind else { throw .noEntry }
        guard kind == .regular else {
            obstacle = kind
            throw .invalid
        }
        nextHandle += 1
        handles[nextHandle] = SimulatedDisk.Handle(node: id, process: process, isWritable: mode != .read)
        return nextHandle
    }

    mutating func create(
        _ kind: FileKind, permissions: UInt32, link: String = "", at place: SimulatedVolume.Place
    ) throws(FileError.Code) -> SimulatedVolume.NodeID {
        if limits.isReadOnly { throw .readOnly }
        if volume.nodes.values.count(where: { $0.names > 0 }) >= limits.nodes ?? .max { throw .noSpace }
        let id = volume.nextNode
        // The usual umask, so that code which relies on the mode of opening is found out.
        let attributes = SimulatedVolume.Attributes(permissions: permissions & ~0o022, user: 1000, group: 1000)
        apply(.create(id, kind, attributes, link: link, in: place.directory, name: place.name))
        return id
    }

    func node(of handle: Int) throws(FileError.Code) -> (id: SimulatedVolume.NodeID, isWritable: Bool) {
        guard let entry = handles[handle] else { throw .badDescriptor }
        return (entry.node, entry.isWritable)
    }

    func writableNode(of handle: Int) throws(FileError.Code) -> SimulatedVolume.NodeID {
        let (id, isWritable) = try node(of: handle)
        guard isWritable else { throw .badDescriptor }
        return id
    }

    mutating func changeAttributes(
        of handle: Int, _ change: (inout SimulatedVolume.Attributes) -> Void
    ) throws(FileError.Code) {
        let (id, _) = try node(of: handle)
        guard var attributes = volume.nodes[id]?.attributes else { throw .stale }
        change(&attributes)
        apply(.change(id, .attributes(attributes)))
    }

    mutating func close(_ handle: Int) {
        if let entry = handles.removeValue(forKey: handle) { forgetIfUnused(entry.node) }
    }

    mutating func closeAll(of process: Int32) {
        for handle in handles.filter({ $0.value.process == process }).keys.sorted() { close(handle) }
    }

    mutating func forgetIfUnused(_ id: SimulatedVolume.NodeID) {
        guard volume.nodes[id]?.names == 0, !handles.values.contains(where: { $0.node == id }) else { return }
        apply(.forget(id))
    }
}

extension OpenMode {
    fileprivate var isExclusive: Bool {
        if case .createExclusive = self { true } else { false }
    }

    fileprivate var permissions: UInt32? {
        switch self {
        case .read, .readWrite: nil
        case .create(let permissions), .createExclusive(let permissions): permissions
        }
    }
}
