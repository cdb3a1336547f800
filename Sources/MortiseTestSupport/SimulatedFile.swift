import MortiseEngine

/// A file open on a ``SimulatedFileSystem``.
final class SimulatedFile: OpenFile {
    let path: String
    private let disk: SimulatedDisk
    private let handle: Int

    init(disk: SimulatedDisk, handle: Int, path: String) {
        self.disk = disk
        self.handle = handle
        self.path = path
    }

    deinit {
        disk.access { $0.close(handle) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        if buffer.isEmpty { return 0 }
        let room = buffer.count
        let bytes = try disk.perform(.read, path) { state throws(FileError.Code) in
            let (id, _) = try state.node(of: handle)
            guard let start = Int(exactly: offset), start >= 0 else { throw .invalid }
            let content = state.volume.nodes[id]?.content ?? []
            guard start < content.count else { return ArraySlice<UInt8>() }
            var count = min(room, content.count - start, state.takeShortening() ?? .max)
            for range in state.limits.unreadable[path] ?? [] where range.overlaps(start..<(start + count)) {
                if range.contains(start) { throw .io }
                count = range.lowerBound - start
            }
            return content[start..<(start + count)]
        }
        buffer.copyBytes(from: bytes)
        return bytes.count
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        if bytes.isEmpty { return 0 }
        let bytes = Array(bytes)
        return try disk.perform(.write, path) { state throws(FileError.Code) in
            let id = try state.writableNode(of: handle)
            guard let start = Int(exactly: offset), start >= 0 else { throw .invalid }
            let size = state.volume.nodes[id]?.content.count ?? 0
            var count = min(bytes.count, state.takeShortening() ?? .max)
            if state.limits.isReadOnly { throw .readOnly }
            let end = start.addingReportingOverflow(count)
            if end.overflow { throw .fileTooLarge }
            let reach = state.limits.reach(to: end.partialValue, size: size, used: state.usedBytes)
            // A write may begin after the end of the file, and the room for it end before it begins.
            if let stop = reach.stop, reach.end <= start { throw stop }
            count = reach.end - start
            state.apply(.change(id, .write(offset: start, bytes: Array(bytes.prefix(count)))))
            return count
        }
    }

    func startWriting(_ range: Range<Int64>) throws(FileError) {
        // Unsynced data may be on the disk or not, whichever process began to write it.
        try disk.perform(.startWriting, path) { state throws(FileError.Code) in
            _ = try state.node(of: handle)
        } onFailure: { state in
            if let (id, _) = try? state.node(of: handle) {
                state.apply(.failedSync(id, seed: state.generator.next()))
            }
        }
    }

    func sync(_ kind: SyncKind) throws(FileError) {
        try disk.perform(.sync, path) { state throws(FileError.Code) in
            let (id, _) = try state.node(of: handle)
            state.apply(.sync(id))
        } onFailure: { state in
            if let (id, _) = try? state.node(of: handle) {
                state.apply(.failedSync(id, seed: state.generator.next()))
            }
        }
    }

    func truncate(to size: Int64) throws(FileError) {
        try disk.perform(.truncate, path) { state throws(FileError.Code) in
            let id = try state.writableNode(of: handle)
            guard let length = Int(exactly: size), length >= 0 else { throw .invalid }
            if state.limits.isReadOnly { throw .readOnly }
            let old = state.volume.nodes[id]?.content.count ?? 0
            if let stop = state.limits.reach(to: length, size: old, used: state.usedBytes).stop { throw stop }
            state.apply(.change(id, .truncate(size: length)))
        }
    }

    func info() throws(FileError) -> FileInfo {
        try disk.perform(.info, path) { state throws(FileError.Code) in
            try state.volume.info(state.node(of: handle).id)
        }
    }

    func setPermissions(_ permissions: UInt32) throws(FileError) {
        try disk.perform(.setPermissions, path) { state throws(FileError.Code) in
            try state.changeAttributes(of: handle) { $0.permissions = permissions & 0o7777 }
        }
    }

    func setOwner(user: UInt32?, group: UInt32?) throws(FileError) {
        try disk.perform(.setOwner, path) { state throws(FileError.Code) in
            try state.changeAttributes(of: handle) {
                $0.user = user ?? $0.user
                $0.group = group ?? $0.group
            }
        }
    }

    func tryLock(_ kind: LockKind) throws(FileError) -> Bool {
        try disk.perform(.lock, path) { state throws(FileError.Code) in
            let (id, _) = try state.node(of: handle)
            for (other, entry) in state.handles where other != handle && entry.node == id {
                if let held = entry.lock, held == .exclusive || kind == .exclusive {
                    // As `flock` does: changing a lock gives it up first.
                    state.handles[handle]?.lock = nil
                    return false
                }
            }
            state.handles[handle]?.lock = kind
            return true
        }
    }

    func close() throws(FileError) {
        // A second close does nothing, and so is no operation.
        guard disk.access({ $0.handles[handle] != nil }) else { return }
        try disk.perform(.close, path) { state throws(FileError.Code) in
            state.close(handle)
        } onFailure: { state in
            state.close(handle)
        }
    }
}
