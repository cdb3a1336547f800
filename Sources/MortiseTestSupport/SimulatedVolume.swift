import MortiseEngine

/// What a simulated disk holds, twice: as running programs see it, and as it would be after a power cut.
///
/// A value, so that a crash point can be explored without disturbing the run it was taken from.
struct SimulatedVolume: Sendable {
    typealias NodeID = Int
    static let root: NodeID = 1

    /// One file, directory or symbolic link.
    struct Node: Sendable {
        var kind: FileKind
        var attributes: Attributes
        var durableAttributes: Attributes
        /// The bytes of a file, as programs see them and as they are synced.
        var content: [UInt8] = []
        var durableContent: [UInt8] = []
        /// What happened to the file since its last sync.
        var pending: [Change] = []
        /// The names in a directory, as programs see them and as they are synced.
        var entries: [String: NodeID] = [:]
        var durableEntries: [String: NodeID] = [:]
        /// Where a symbolic link leads.
        var link = ""
        /// The number of its names; a file without names stays while it is open.
        var names = 0
        var modified: Int64 = 0
    }

    /// What a sync of the file makes durable beside its bytes.
    struct Attributes: Sendable, Hashable {
        var permissions: UInt32
        var user: UInt32
        var group: UInt32
    }

    /// Something that happened to a file's content or attributes.
    struct Change: Sendable {
        var sequence: Int
        var kind: Kind

        enum Kind: Sendable {
            case write(offset: Int, bytes: [UInt8])
            case truncate(size: Int)
            case attributes(Attributes)
        }
    }

    /// Something that happened to directories; all its assignments become durable together or not at all.
    struct EntryChange: Sendable {
        var sequence: Int
        var assignments: [Assignment]

        struct Assignment: Sendable {
            var directory: NodeID
            var name: String
            var node: NodeID?
        }
    }

    var nodes: [NodeID: Node]
    var pendingEntries: [EntryChange] = []
    var nextNode: NodeID = 2
    /// Counts the changes, and serves as the clock of the files.
    var sequence = 0

    init() {
        let attributes = Attributes(permissions: 0o755, user: 1000, group: 1000)
        var root = Node(kind: .directory, attributes: attributes, durableAttributes: attributes)
        root.names = 1
        nodes = [Self.root: root]
    }

    /// Everything an operation can do to the disk.
    enum Effect: Sendable {
        case create(NodeID, FileKind, Attributes, link: String, in: NodeID, name: String)
        case rename(NodeID, from: NodeID, String, to: NodeID, String)
        case unlink(NodeID, from: NodeID, String)
        case change(NodeID, Change.Kind)
        case sync(NodeID)
        /// A sync that failed: the kernel forgets what was unsynced; each sector reached the disk or did not.
        case failedSync(NodeID, seed: UInt64)
        case syncDirectory(NodeID)
        /// As `failedSync`, for a directory: each change of its names reached the disk or did not.
        case failedSyncDirectory(NodeID, seed: UInt64)
        /// Nobody has the file open any more.
        case forget(NodeID)
    }

    mutating func apply(_ effect: Effect) {
        sequence += 1
        switch effect {
        case .create(let id, let kind, let attributes, let link, let directory, let name):
            var node = Node(kind: kind, attributes: attributes, durableAttributes: attributes)
            node.link = link
            node.modified = Int64(sequence)
            nodes[id] = node
            nextNode = max(nextNode, id + 1)
            assign([.init(directory: directory, name: name, node: id)])
        case .rename(let id, let source, let old, let target, let new):
            assign([
                .init(directory: source, name: old, node: nil), .init(directory: target, name: new, node: id),
            ])
        case .unlink(_, let directory, let name):
            assign([.init(directory: directory, name: name, node: nil)])
        case .change(let id, let kind):
            nodes[id]?.apply(Change(sequence: sequence, kind: kind))
        case .sync(let id):
            nodes[id]?.sync()
        case .failedSync(let id, let seed):
            var choice = SeededGenerator(seed: seed)
            nodes[id]?.loseTrack(&choice)
        case .syncDirectory(let id):
            syncDirectory(id) { true }
        case .failedSyncDirectory(let id, let seed):
            var choice = SeededGenerator(seed: seed)
            syncDirectory(id) { choice.chance() }
        case .forget(let id):
            collect(id)
        }
    }

    private mutating func assign(_ assignments: [EntryChange.Assignment]) {
        for assignment in assignments {
            let before = nodes[assignment.directory]?.entries[assignment.name]
            nodes[assignment.directory]?.entries[assignment.name] = assignment.node
            if let before { nodes[before]?.names -= 1 }
            if let node = assignment.node { nodes[node]?.names += 1 }
        }
        pendingEntries.append(EntryChange(sequence: sequence, assignments: assignments))
    }

    /// Makes pending changes of a directory's entries durable if `survives` returns true, and drops them if not.
    private mutating func syncDirectory(_ id: NodeID, _ survives: () -> Bool) {
        var rest: [EntryChange] = []
        for change in pendingEntries {
            if change.assignments.contains(where: { $0.directory == id }) {
                guard survives() else { continue }
                for assignment in change.assignments {
                    nodes[assignment.directory]?.durableEntries[assignment.name] = assignment.node
                }
            } else {
                rest.append(change)
            }
        }
        pendingEntries = rest
    }

    /// Frees a file that no name, seen or durable, leads to any more.
    private mutating func collect(_ id: NodeID) {
        guard let node = nodes[id], node.names == 0 else { return }
        if pendingEntries.contains(where: { $0.assignments.contains { $0.node == id } }) { return }
        if nodes.values.contains(where: { $0.durableEntries.values.contains(id) }) { return }
        nodes[id] = nil
    }
}

extension SimulatedVolume.Node {
    mutating func apply(_ change: SimulatedVolume.Change) {
        switch change.kind {
        case .attributes(let new): attributes = new
        case .write, .truncate:
            content.apply(change.kind)
            modified = Int64(change.sequence)
        }
        pending.append(change)
    }

    mutating func sync() {
        for change in pending { durableContent.apply(change.kind) }
        durableAttributes = attributes
        pending = []
    }

    mutating func loseTrack(_ choice: inout SeededGenerator) {
        for change in pending { durableContent.apply(change.kind, keepingSectors: &choice) }
        pending = []
    }
}

extension [UInt8] {
    static let sectorSize = 512

    private static func zeros(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
            bytes.initialize(repeating: 0)
            initialized = count
        }
    }

    mutating func apply(_ change: SimulatedVolume.Change.Kind) {
        switch change {
        case .write(let offset, let bytes):
            if offset > count { append(contentsOf: Self.zeros(offset - count)) }
            let overwritten = Swift.min(bytes.count, count - offset)
            if overwritten > 0 {
                // As memory: byte by byte, a debug build takes seconds for long values.
                withUnsafeMutableBytes { all in
                    bytes.withUnsafeBytes { new in
                        UnsafeMutableRawBufferPointer(rebasing: all[offset..<offset + overwritten])
                            .copyMemory(from: UnsafeRawBufferPointer(rebasing: new[..<overwritten]))
                    }
                }
            }
            if overwritten == 0 {
                append(contentsOf: bytes)
            } else if overwritten < bytes.count {
                append(contentsOf: bytes[overwritten...])
            }
        case .truncate(let size):
            if size < count {
                removeLast(count - size)
            } else {
                append(contentsOf: Self.zeros(size - count))
            }
        case .attributes:
            break
        }
    }

    /// Applies each sector of a write, or the rest as a whole, with an even chance.
    mutating func apply(_ change: SimulatedVolume.Change.Kind, keepingSectors choice: inout SeededGenerator) {
        guard case .write(let offset, let bytes) = change else {
            if choice.chance() { apply(change) }
            return
        }
        var start = 0
        while start < bytes.count {
            let length = Swift.min(Self.sectorSize - (offset + start) % Self.sectorSize, bytes.count - start)
            if choice.chance() {
                apply(.write(offset: offset + start, bytes: Array(bytes[start..<(start + length)])))
            }
            start += length
        }
    }
}

/// SplitMix64: the same numbers from the same seed on every platform.
struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func chance() -> Bool { next() & 1 == 0 }
}
