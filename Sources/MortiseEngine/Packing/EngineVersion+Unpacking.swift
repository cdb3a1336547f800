import MortiseCore

extension EngineVersion {
    /// Opens the version that was packed into a file. Reads only the roots of trees now, the rest when it is needed.
    /// - Parameters:
    ///   - tables: the tables as the packer returned them.
    ///   - file: the packed file.
    ///   - number: the number of the version.
    ///   - nextSequence: the number that the next record gets.
    ///   - catalog: the catalog of the version's schema.
    ///   - source: a second source of the records. Regions that cannot be read from the file later are rebuilt from it,
    ///     unnoticed by readers of the version; without a source, or if it fails, they are damage.
    /// - Returns: the version.
    /// - Throws: `PackedFault`; `FileError`.
    public static func unpack(
        _ tables: [PackedTable], from file: PackedFile, number: UInt64, nextSequence: UInt64, catalog: Catalog,
        restoringFrom source: PackedSource? = nil
    ) throws -> EngineVersion {
        var found: [String: TableVersion] = [:]
        for packed in tables {
            guard catalog.plans.indices.contains(packed.entity) else {
                throw PackedFault(file.end, "of the directory names an unknown entity")
            }
            let plan = catalog.plans[packed.entity]
            guard found[plan.entityName] == nil else {
                throw PackedFault(file.end, "of the directory has \(plan.entityName) twice")
            }
            let unpacker = TableUnpacker(packed, plan, file, catalog: catalog, nextSequence: nextSequence)
            found[plan.entityName] = try unpacker.table()
        }
        // What was wrong up to here is told at once.
        if let source {
            file.set(try PackedRestorer(source, tables, of: file, nextSequence: nextSequence, catalog))
        }
        return EngineVersion(number: number, nextSequence: nextSequence, tables: found, catalog: catalog, packed: file)
    }

    /// Reads as much of a packed version as it can: all rows at once, without indexes. The tables' counts include the
    /// rows that cannot be read.
    /// - Parameters: as for `unpack`.
    /// - Returns: the version and its losses. Links are read when they are used: `damage` then has further losses.
    public static func salvage(
        _ tables: [PackedTable], from file: PackedFile, number: UInt64, nextSequence: UInt64, catalog: Catalog
    ) -> (version: EngineVersion, losses: [PackedLoss]) {
        let losses = PackedLosses(file)
        var found: [String: TableVersion] = [:]
        for packed in tables where catalog.plans.indices.contains(packed.entity) {
            let plan = catalog.plans[packed.entity]
            let unpacker = TableUnpacker(
                packed, plan, file, catalog: catalog, nextSequence: nextSequence, losses: losses)
            do {
                let table = try unpacker.table()
                if found[plan.entityName] == nil { found[plan.entityName] = table }
            } catch {
                losses.note(plan.entityName, .table, error)
            }
        }
        let version = EngineVersion(
            number: number, nextSequence: nextSequence, tables: found, catalog: catalog, packed: file)
        return (version, losses.found)
    }

    /// The first error of reading a region of the file; answers given since may be incomplete.
    public var damage: (any Error)? { packed?.damage }

    /// Checks that all values read from this version so far were complete.
    /// - Throws: `damage`; an `ExternalValueError` of reading values on the current thread since the last call.
    public func check() throws {
        try checkDamage()
        try catalog.external?.throwNoted()
    }

    /// - Throws: `damage`.
    func checkDamage() throws {
        if let damage { throw damage }
    }
}

extension PackedFile {
    func explained(_ fault: PackedFault) -> any Error {
        note(fault)
        return damage ?? fault
    }
}

/// Makes one table out of its part of the directory.
private struct TableUnpacker {
    let packed: PackedTable
    let plan: TablePlan
    let file: PackedFile
    let catalog: Catalog
    let nextSequence: UInt64
    /// Where to note what cannot be read, to continue without it; nil if nothing may be missing.
    let losses: PackedLosses?

    init(
        _ packed: PackedTable, _ plan: TablePlan, _ file: PackedFile, catalog: Catalog, nextSequence: UInt64,
        losses: PackedLosses? = nil
    ) {
        self.losses = losses
        self.packed = packed
        self.plan = plan
        self.file = file
        self.catalog = catalog
        self.nextSequence = nextSequence
    }

    private func fault(_ what: String) -> PackedFault {
        PackedFault(file.end, "of the directory has \(what) for \(plan.entityName)")
    }

    func table() throws -> TableVersion {
        guard packed.count <= packed.endRow, packed.endRow <= 1 << 48 else { throw fault("impossible row counts") }
        let dictionaries = try dictionaries()
        let groups = try groups(PackedTableRules(file: file, plan: plan, dictionaries: dictionaries))
        return TableVersion(
            plan: plan, groups: groups, endRow: Int(packed.endRow), count: Int(packed.count),
            dictionaries: dictionaries, links: try links(), indexes: try indexes(),
            verified: 0)
    }

    private func dictionaries() throws -> [StringDictionary?] {
        var dictionaries = plan.columns.map { $0.form == .text ? StringDictionary() : nil }
        for entry in packed.dictionaries {
            guard dictionaries.indices.contains(entry.slot), dictionaries[entry.slot] != nil,
                (1...StringDictionary.limit).contains(entry.count)
            else { throw fault("an impossible dictionary") }
            // Each string takes two bytes at least.
            guard UInt64(entry.region.length) >= 2 * UInt64(entry.count) else {
                throw fault("an impossible dictionary")
            }
            if let losses {
                do {
                    dictionaries[entry.slot] = StringDictionary(try Self.strings(of: entry, in: file))
                } catch {
                    losses.note(plan.entityName, .strings(slot: entry.slot), error)
                    dictionaries[entry.slot] = StringDictionary(Array(repeating: "", count: entry.count))
                }
                continue
            }
            dictionaries[entry.slot] = StringDictionary(count: entry.count) { [file, plan] in
                do {
                    do {
                        return try Self.strings(of: entry, in: file)
                    } catch {
                        guard let restorer = file.restorer else { throw error }
                        return try restorer.strings(entry, of: plan, after: error, in: file)
                    }
                } catch {
                    file.note(error)
                    return nil
                }
            }
        }
        return dictionaries
    }

    private static func strings(of entry: PackedTable.Dictionary, in file: PackedFile) throws -> [String] {
        try file.withBytes(of: entry.region) { bytes in
            var reader = PackedReader(bytes, of: entry.region)
            var strings: [String] = []
            strings.reserveCapacity(entry.count)
            for _ in 0..<entry.count {
                let utf8 = try reader.take(Int(try reader.next(UInt16.self)))
                guard let string = String(validating: utf8, as: UTF8.self) else {
                    throw reader.fault("contains invalid UTF-8")
                }
                strings.append(string)
            }
            guard reader.rest == 0 else { throw reader.fault("is longer than its dictionary") }
            return strings
        }
    }

    private func groups(_ rules: PackedTableRules) throws -> ContiguousArray<ChunkGroup> {
        let endRow = Int(packed.endRow)
        guard packed.chunks.count == (endRow + Chunk.mask) >> Chunk.shift else {
            throw fault("a number of chunks that does not match its rows")
        }
        var last: UInt64 = 0
        for chunk in packed.chunks {
            guard chunk.firstSequence > last else { throw fault("chunks out of order") }
            last = chunk.firstSequence
        }
        guard last < nextSequence else { throw fault("record numbers that are not below the next one") }
        var groups: ContiguousArray<ChunkGroup> = []
        for first in stride(from: 0, to: packed.chunks.count, by: ChunkGroup.capacity) {
            let end = min(first + ChunkGroup.capacity, packed.chunks.count)
            let cells = PackedCells(
                packed.chunks[first..<end], firstRow: first << Chunk.shift, endRow: endRow,
                limit: end < packed.chunks.count ? packed.chunks[end].firstSequence : nextSequence, rules)
            groups.append(losses == nil ? ChunkGroup(cells) : ChunkGroup(readable(cells)))
        }
        return groups
    }

    /// The chunks, read now, with nothing but deleted rows in place of those that cannot be.
    private func readable(_ packed: PackedCells) -> ContiguousArray<ChunkCell> {
        ContiguousArray(
            packed.cells.map { cell in
                guard case .packed(let chunk) = cell else { return cell }
                do {
                    return .chunk(try chunk.read())
                } catch {
                    losses?.note(plan.entityName, .rows(chunk.place.first..<chunk.place.limit), error)
                    return .chunk(chunk.blank())
                }
            })
    }

    private func links() throws -> [LinkSet] {
        var links = Array(repeating: LinkSet(), count: plan.linkCount)
        for tree in packed.links {
            guard tree.slots.count == 1, let number = tree.slots.first, links.indices.contains(number), tree.isWide,
                links[number].pairs.isEmpty
            else { throw fault("impossible links") }
            // What a link leads to is numbered among the targets of its property, or among all entities.
            let targets = number < plan.columns.count ? plan.targets[number].count : catalog.plans.count
            do {
                let pairs = try unpack(tree, .links(number), rowLimit: UInt64(max(1, targets)))
                links[number] = LinkSet(pairs: pairs)
                if let losses { pairs.base.readNodes { losses.note(plan.entityName, .links, $0) } }
            } catch {
                guard let losses else { throw error }
                losses.note(plan.entityName, .links, error)
            }
        }
        return links
    }

    private func indexes() throws -> [OrderedIndex] {
        if let losses {
            // Only looked at: records do without.
            for (number, tree) in packed.indexes.enumerated() {
                do {
                    try unpack(tree, .index(number), rowLimit: packed.endRow)
                        .base.readNodes { losses.note(plan.entityName, .index, $0) }
                } catch {
                    losses.note(plan.entityName, .index, error)
                }
            }
            return plan.indexes.map { OrderedIndex(isWide: $0.isWide) }
        }
        guard packed.indexes.map(\.slots) == plan.indexes.map(\.slots),
            packed.indexes.map(\.isWide) == plan.indexes.map(\.isWide),
            packed.indexes.allSatisfy({ $0.count == packed.count })
        else { throw fault("indexes that do not match the schema") }
        return try packed.indexes.enumerated().map {
            try unpack($0.element, .index($0.offset), rowLimit: packed.endRow)
        }
    }

    private func unpack(
        _ tree: PackedTable.Tree, _ kind: PackedTreeRules.Tree.Kind, rowLimit: UInt64
    ) throws -> OrderedIndex {
        guard let region = tree.root, tree.count > 0 else {
            if tree.root != nil || tree.count > 0 { throw fault("a root without entries, or entries without a root") }
            return OrderedIndex(isWide: tree.isWide)
        }
        guard (0...12).contains(tree.level), let count = Int(exactly: tree.count) else {
            throw fault("an impossible tree depth or count")
        }
        let rules = PackedTreeRules(
            file: file, isWide: tree.isWide, rowLimit: rowLimit, tree: .init(entity: plan.number, kind: kind))
        let root = try PackedNode.read(.init(region: region, level: tree.level, total: count), rules)
        return OrderedIndex(isWide: tree.isWide, root: root, count: count)
    }
}
