import MortiseCore

/// Writes a version as regions of bytes that can be read one by one.
///
/// The version may be one that others read and later ones are made from. What of it is still in a file is copied without
/// being kept in memory.
public struct VersionPacker {
    private let sink: (UnsafeRawBufferPointer) throws -> PackedRegion
    private let isCancelled: () -> Bool
    private var bytes = PackedBytes()
    /// Whether the packed version refers to external data.
    public private(set) var hasReferences = false

    /// Makes a packer.
    /// - Parameters:
    ///   - isCancelled: asked now and then; if it returns true, packing ends with a `CancellationError`.
    ///   - sink: writes the bytes of a region after all earlier ones, and returns where they are.
    public init(
        isCancelled: @escaping () -> Bool = { false }, sink: @escaping (UnsafeRawBufferPointer) throws -> PackedRegion
    ) {
        self.isCancelled = isCancelled
        self.sink = sink
    }

    /// Regions of the version were rebuilt while it was packed, so that the packed parts may not fit together. Pack it
    /// again: that succeeds, since this happens at most once for each file.
    public struct PackedTwoStates: Error {}

    /// Packs a version.
    /// - Throws: what the sink throws; the error of a region that cannot be read; `PackedTwoStates`.
    public mutating func pack(_ version: EngineVersion) throws -> [PackedTable] {
        let restorer = version.packed?.restorer
        let hadRestored = restorer?.hasRestored ?? false
        do {
            var tables: [PackedTable] = []
            // Of a log's tail nobody may have looked at that yet.
            if let duplicate = try version.duplicateOfTail() { throw duplicate }
            for plan in version.catalog.plans {
                if let table = version.tables[plan.entityName] { tables.append(try pack(table)) }
            }
            if let damage = version.damage { throw damage }
            if !hadRestored, restorer?.hasRestored == true { throw PackedTwoStates() }
            return tables
        } catch let fault as PackedFault {
            throw version.packed?.explained(fault) ?? fault
        }
    }

    private mutating func put() throws -> PackedRegion {
        defer { bytes.removeAll() }
        return try bytes.bytes.withUnsafeBytes { try sink($0) }
    }

    private mutating func pack(_ table: TableVersion) throws -> PackedTable {
        var packed = PackedTable(
            entity: table.plan.number, endRow: UInt64(table.endRow), count: UInt64(table.count))
        for (slot, dictionary) in table.dictionaries.enumerated() {
            guard let dictionary, dictionary.count > 0 else { continue }
            for code in 0..<dictionary.count {
                var string = dictionary[code]
                string.withUTF8 { utf8 in
                    bytes.append(UInt16(truncatingIfNeeded: utf8.count))
                    bytes.append(UnsafeRawBufferPointer(utf8))
                }
            }
            packed.dictionaries.append(.init(slot: slot, count: dictionary.count, region: try put()))
        }
        for (number, group) in table.groups.enumerated() {
            if isCancelled() { throw CancellationError() }
            for (index, cell) in group.cells.enumerated() {
                let first = (number << ChunkGroup.shift + index) << Chunk.shift
                let rows = min(Chunk.capacity, table.endRow - first)
                if rows > 0 { packed.chunks.append(try pack(cell, rows, table.plan)) }
            }
        }
        for (number, links) in table.links.enumerated() where !links.pairs.isEmpty {
            let tree = try pack(links.pairs, [number])
            if tree.count > 0 { packed.links.append(tree) }
        }
        for (number, index) in table.indexes.enumerated() {
            packed.indexes.append(try pack(index, table.plan.indexes[number].slots))
        }
        return packed
    }

    private mutating func pack(_ cell: ChunkCell, _ rows: Int, _ plan: TablePlan) throws -> PackedTable.Chunk {
        let chunk = try cell.read()
        // A place does not hold its chunk, and one that was read for this is held by nobody else.
        return try withExtendedLifetime(chunk) {
            if !hasReferences { hasReferences = chunk.place.hasReferences(rows, plan.columns) }
            let packed = Chunk(packing: chunk.place, rows: rows, plan.columns)
            packed.withPacked { fixed, heap in
                bytes.append(fixed)
                bytes.append(heap)
            }
            return .init(region: try put(), firstSequence: chunk.place.sequence(0))
        }
    }

    private mutating func pack(_ index: OrderedIndex, _ slots: [Int]) throws -> PackedTable.Tree {
        if index.overlay != nil { return try packMerged(index, slots) }
        let tree = index.base
        var packed = PackedTable.Tree(
            slots: slots, isWide: tree.isWide, count: UInt64(tree.count), level: 0, root: nil)
        if let root = tree.root, tree.count > 0 {
            packed.level = root.height
            packed.root = try pack(root, packed.level).region
        }
        return packed
    }

    /// - Returns: where the node lies, and the leaf with the least entry beneath it.
    private mutating func pack(_ node: IndexNode, _ level: Int) throws -> (region: PackedRegion, least: IndexNode) {
        if level > 1, isCancelled() { throw CancellationError() }
        var children: [PackedRegion] = []
        var least = node
        for (index, cell) in node.cells.enumerated() {
            let child: IndexNode =
                switch cell {
                case .node(let child): child
                case .packed(let packed): try packed.read()
                }
            let packed = try pack(child, level - 1)
            children.append(packed.region)
            if index == 0 { least = packed.least }
        }
        node.pack(into: &bytes, level: level, children: children, least: least)
        return (try put(), least)
    }
}

extension VersionPacker {
    /// The nodes of one level that no node above refers to yet, as the entries of one.
    private struct Level {
        var node: IndexNode
        // Of a child only its region is written, and how many entries are beneath it.
        let child: IndexNode
        var children: [PackedRegion] = []
        /// How many nodes of the level are written, and the last of them.
        var written = 0
        var last: PackedRegion?

        init(isWide: Bool) {
            node = IndexNode(owner: 0, isWide: isWide)
            child = IndexNode(owner: 0, isWide: isWide)
        }
    }

    /// Packs an index under an overlay, entry by entry: no more of it is in memory than a node of each level.
    private mutating func packMerged(_ index: OrderedIndex, _ slots: [Int]) throws -> PackedTable.Tree {
        var levels = [Level(isWide: index.isWide)]
        var count: UInt64 = 0
        try index.forEachEntry { entry in
            if count & 0xFFF == 0, isCancelled() { throw CancellationError() }
            count += 1
            levels[0].node.insert(entry, at: levels[0].node.count)
            // A full node is written at once: its siblings, and what is beneath them, come behind it.
            var full = 0
            while full < levels.count, levels[full].node.count >= IndexNode.capacity * 9 / 10 {
                try write(&levels, full)
                full += 1
            }
        }
        var packed = PackedTable.Tree(slots: slots, isWide: index.isWide, count: count, level: 0, root: nil)
        if count == 0 { return packed }
        var level = 0
        while true {
            if levels[level].node.count > 0 { try write(&levels, level) }
            if levels[level].written == 1 { break }
            level += 1
        }
        (packed.level, packed.root) = (level, levels[level].last)
        return packed
    }

    private mutating func write(_ levels: inout [Level], _ number: Int) throws {
        let node = levels[number].node
        node.pack(into: &bytes, level: number, children: levels[number].children, least: node)
        let region = try put()
        levels[number].written += 1
        levels[number].last = region
        levels[number].node = IndexNode(owner: 0, isWide: node.isWide)
        levels[number].children = []
        if number + 1 == levels.count { levels.append(Level(isWide: node.isWide)) }
        let above = levels[number + 1].node
        above.insert(.node(levels[number + 1].child), count: node.total, beneath: node.probe(0), at: above.count)
        levels[number + 1].children.append(region)
    }
}

extension ChunkPlace {
    /// Whether data of any of the first rows are in a file of their own.
    fileprivate func hasReferences(_ rows: Int, _ columns: [Column]) -> Bool {
        columns.contains { column in
            let entry = entry(column.slot)
            return column.kind == .data && entry.form == .bytes
                && (0..<rows).contains { isExternal(entry, $0) && !isDead($0) }
        }
    }
}
