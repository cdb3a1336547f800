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
        for (number, links) in table.links.enumerated() where links.pairs.count > 0 {
            packed.links.append(try pack(links.pairs, [number]))
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

    private mutating func pack(_ tree: OrderedIndex, _ slots: [Int]) throws -> PackedTable.Tree {
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
