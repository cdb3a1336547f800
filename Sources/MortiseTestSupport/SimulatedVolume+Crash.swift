import MortiseEngine

/// What a crash takes away from a ``SimulatedFileSystem``.
///
/// "Unsynced" is whatever no successful sync of the file, or of the directory, has covered since.
public enum CrashLoss: Sendable, Hashable {
    /// The process died, the system lives on: nothing is lost.
    case nothing
    /// Power cut; only what was synced is there.
    case unsynced
    /// Power cut; names survive, unsynced bytes do not. The classic empty file after a renaming without a sync.
    case unsyncedContents
    /// As ``unsyncedContents``, but files have their length and zeros in the place of the lost bytes.
    case unsyncedContentsZeroed
    /// Power cut; bytes survive, unsynced creations, renamings and removals do not.
    case unsyncedEntries
    /// Power cut; of the unsynced changes, in their order, the first `keeping` survive.
    case suffix(keeping: Int)
    /// As ``suffix(keeping:)``, and of the next change, if it is a write, the first `sectors` sectors of 512 bytes.
    case tornSuffix(keeping: Int, sectors: Int)
    /// Power cut; each unsynced change, and each 512-byte sector of an unsynced write, survives with an even chance.
    case scattered(seed: UInt64)
}

extension SimulatedVolume {
    /// The unsynced changes in order: their sequence numbers, and how many sectors each writes.
    private var unsyncedChanges: [(sequence: Int, sectors: Int)] {
        var changes = pendingEntries.map { (sequence: $0.sequence, sectors: 0) }
        for node in nodes.values {
            changes += node.pending.map { (sequence: $0.sequence, sectors: $0.kind.sectors) }
        }
        return changes.sorted { $0.sequence < $1.sequence }
    }

    /// The losses worth exploring here: every kind, each of the open-ended ones for at most `limit` changes.
    func losses(seed: UInt64, limit: Int) -> [CrashLoss] {
        let changes = unsyncedChanges
        guard !changes.isEmpty else { return [.nothing] }
        var losses: [CrashLoss] = [
            .nothing, .unsynced, .unsyncedContents, .unsyncedContentsZeroed, .unsyncedEntries,
        ]
        // The newest changes are those in doubt most often, so they are the ones cut one by one.
        for kept in max(0, changes.count - limit)..<changes.count {
            if kept > 0 { losses.append(.suffix(keeping: kept)) }
            let sectors = changes[kept].sectors
            if sectors > 1 { losses.append(.tornSuffix(keeping: kept, sectors: 1)) }
            if sectors > 3 { losses.append(.tornSuffix(keeping: kept, sectors: sectors / 2)) }
        }
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<limit { losses.append(.scattered(seed: generator.next())) }
        return losses
    }

    /// The disk that the next start finds.
    func afterCrash(losing loss: CrashLoss) -> SimulatedVolume {
        var image = self
        let order = unsyncedChanges.map(\.sequence)
        switch loss {
        case .nothing:
            // What was unsynced still is: a power cut after the restart may take it.
            return self
        case .unsynced:
            image.survive(contents: .none, entries: .none)
        case .unsyncedContents:
            image.survive(contents: .none, entries: .all)
        case .unsyncedContentsZeroed:
            image.survive(contents: .zeroed, entries: .all)
        case .unsyncedEntries:
            image.survive(contents: .all, entries: .none)
        case .suffix(let kept):
            let limit = kept < order.count ? order[max(0, kept)] : .max
            image.survive(contents: .before(limit, sectors: 0), entries: .before(limit))
        case .tornSuffix(let kept, let sectors):
            let limit = kept < order.count ? order[max(0, kept)] : .max
            image.survive(contents: .before(limit, sectors: sectors), entries: .before(limit))
        case .scattered(let seed):
            image.survive(contents: .scattered(seed), entries: .scattered(seed))
        }
        image.dropUnreachable()
        return image
    }

    fileprivate enum Contents { case all, none, zeroed, before(Int, sectors: Int), scattered(UInt64) }
    fileprivate enum Entries { case all, none, before(Int), scattered(UInt64) }

    private mutating func survive(contents: Contents, entries: Entries) {
        for id in nodes.keys.sorted() { nodes[id]?.survive(contents, id) }
        for id in nodes.keys {
            if case .all = entries { continue }
            let durable = nodes[id]?.durableEntries ?? [:]
            nodes[id]?.entries = durable
        }
        var choice = SeededGenerator(seed: 0)
        if case .scattered(let seed) = entries { choice = SeededGenerator(seed: ~seed) }
        for change in pendingEntries {
            switch entries {
            case .all, .none: continue
            case .before(let limit): if change.sequence >= limit { continue }
            case .scattered: if choice.chance() { continue }
            }
            for assignment in change.assignments {
                nodes[assignment.directory]?.entries[assignment.name] = assignment.node
            }
        }
        pendingEntries = []
        for id in nodes.keys {
            let surviving = nodes[id]?.entries ?? [:]
            nodes[id]?.durableEntries = surviving
        }
    }

    /// Drops files without names, and counts the names again.
    private mutating func dropUnreachable() {
        var names: [NodeID: Int] = [Self.root: 1]
        var open = [Self.root]
        while let id = open.popLast() {
            for child in nodes[id]?.entries.values ?? [:].values {
                names[child, default: 0] += 1
                if names[child] == 1, nodes[child]?.kind == .directory { open.append(child) }
            }
        }
        nodes = nodes.filter { names[$0.key] != nil }
        for (id, count) in names { nodes[id]?.names = count }
    }
}

extension SimulatedVolume.Node {
    fileprivate mutating func survive(_ contents: SimulatedVolume.Contents, _ id: Int) {
        defer {
            durableContent = content
            durableAttributes = attributes
            pending = []
        }
        // Without this the common case would look at every file's bytes.
        if pending.isEmpty {
            // After a failed sync the two differ although nothing is pending.
            content = durableContent
            attributes = durableAttributes
            return
        }
        var choice = SeededGenerator(seed: 0)
        if case .scattered(let seed) = contents { choice = SeededGenerator(seed: seed &+ UInt64(id)) }
        var image = durableContent
        var kept = durableAttributes
        let seen = content.count
        for change in pending {
            var survives = false
            switch contents {
            case .all:
                survives = true
            case .none, .zeroed:
                break
            case .before(let limit, let sectors):
                if change.sequence < limit {
                    survives = true
                } else if change.sequence == limit, case .write(let offset, let bytes) = change.kind {
                    let boundary = ([UInt8].sectorSize * sectors) - offset % [UInt8].sectorSize
                    let torn = Array(bytes.prefix(max(0, sectors > 0 ? boundary : 0)))
                    if !torn.isEmpty { image.apply(.write(offset: offset, bytes: torn)) }
                }
            case .scattered:
                if case .attributes = change.kind {
                    survives = choice.chance()
                } else {
                    image.apply(change.kind, keepingSectors: &choice)
                }
            }
            if survives {
                image.apply(change.kind)
                if case .attributes(let new) = change.kind { kept = new }
            }
        }
        if case .zeroed = contents { image.apply(.truncate(size: seen)) }
        content = image
        attributes = kept
    }
}

extension SimulatedVolume.Change.Kind {
    /// How many sectors a write touches; 0 for anything else.
    fileprivate var sectors: Int {
        guard case .write(let offset, let bytes) = self, !bytes.isEmpty else { return 0 }
        let size = [UInt8].sectorSize
        return (offset + bytes.count - 1) / size - offset / size + 1
    }
}
