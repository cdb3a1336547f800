import MortiseCore

extension EngineVersion {
    /// The records under another schema, with the chunks, links and indexes of this version as far as they stay: a chunk is
    /// made when it is first touched, so that it takes neither time nor memory before.
    /// - Parameters:
    ///   - target: the catalog of the other schema.
    ///   - mapping: how records come there.
    ///   - tally: gets what the schema does not take.
    ///   - advance: is told how many records come next; what it throws ends the mapping.
    /// - Returns: nil where records have to be made anew: links change sides, lead to other entities, or a new constraint concerns
    ///   several entities.
    /// - Throws: `EngineError.notUnique`; why a record cannot be read.
    func taken(
        to target: Catalog, _ mapping: SchemaMapping, _ tally: inout SchemaTally,
        _ advance: (_ records: Int) throws -> Void
    ) throws -> EngineVersion? {
        guard let way = VersionMapping(self, to: target, mapping) else { return nil }
        do {
            for entity in catalog.schema.entities.map(\.name) {
                guard let table = tables[entity] else { continue }
                for first in stride(from: 0, to: table.count, by: 1_024) {
                    try advance(min(1_024, table.count - first))
                }
                try mapping.count(table, in: &tally)
            }
            // What is missing is told before what is not unique.
            _ = try mapping.loss(tally)
            var found: [String: TableVersion] = [:]
            for (name, table) in way.tables { found[name] = try table.version() }
            try check()
            return EngineVersion(
                number: number, nextSequence: nextSequence, tables: found, catalog: target, packed: packed)
        } catch let fault as PackedFault {
            throw packed?.explained(fault) ?? fault
        }
    }
}

/// Where each table of a version under another schema comes from.
private struct VersionMapping {
    private(set) var tables: [String: TakenTable] = [:]
    private let old: EngineVersion
    private let target: Catalog
    /// By number of a new entity, that of the one that it comes from; nil for a new one.
    private let origins: [Int?]

    init?(_ old: EngineVersion, to target: Catalog, _ mapping: SchemaMapping) {
        guard mapping.releases.isEmpty, mapping.pairs.isEmpty else { return nil }
        (self.old, self.target) = (old, target)
        var origins = [Int?](repeating: nil, count: target.plans.count)
        for plan in old.catalog.plans {
            let name = mapping.currentName(ofEntity: plan.entityName)
            if mapping.entities[name] != nil, let place = target.numbers[name] { origins[place] = plan.number }
        }
        self.origins = origins
        for (number, origin) in origins.enumerated() {
            let plan = target.plans[number]
            guard let origin, let table = old.tables[old.catalog.plans[origin].entityName] else { continue }
            guard let sources = sources(of: plan, from: table, mapping),
                let way = TableMapping(of: table, to: plan, sources)
            else { return nil }
            tables[plan.entityName] = TakenTable(table, way)
        }
        guard takeLinks(), takeIndexes() else { return nil }
    }

    private func isSame(_ new: [Int], as old: [Int]) -> Bool { new.map { origins[$0] } == old.map { Optional($0) } }

    private func sources(
        of plan: TablePlan, from table: TableVersion, _ mapping: SchemaMapping
    ) -> [TableMapping.Source]? {
        guard let known = mapping.entities[plan.entityName]?.sources else { return nil }
        var result: [TableMapping.Source] = []
        for (column, source) in zip(plan.columns, known) {
            switch source {
            case .value(let value): result.append(.constant(column.role == .attribute ? value : .null))
            case .slot(let slot):
                let before = table.plan.columns[slot]
                guard before.role == column.role, before.kind == column.kind, isSame(column.targets, as: before.targets)
                else { return nil }
                // Data in a file of their own are in no index.
                if column.kind == .data, column.isIndexed, !before.isIndexed { return nil }
                let mayLack = before.isOptional || before.form == .none
                let other = column.isOptional || !mayLack ? nil : column.defaultValue
                result.append(.column(slot, otherwise: other ?? .null))
            }
        }
        return result
    }

    /// Links lie where a property shows them, or under a number of their own, which every schema gives anew.
    private mutating func takeLinks() -> Bool {
        var sources: [Int: [Int: Int]] = [:]
        var taken: Set<[Int]> = []
        for (number, origin) in origins.enumerated() {
            guard let origin, let table = tables[target.plans[number].entityName] else { continue }
            for relationship in target.relationships[number] {
                guard case .column(let slot, _) = table.way.sources[relationship.slot] else { continue }
                guard let before = old.catalog.relationships[origin].first(where: { $0.slot == slot }),
                    before.isToMany == relationship.isToMany, isSame(relationship.targets, as: before.targets),
                    before.ownerAmongTargets == relationship.ownerAmongTargets
                else { return false }
                if relationship.isToMany { tables[table.name]?.links[relationship.slot] = slot }
                for place in relationship.targets {
                    let known = sources[place, default: [:]].updateValue(before.reverse, forKey: relationship.reverse)
                    if let known, known != before.reverse { return false }
                }
                taken.insert([origin, slot])
            }
        }
        // No other relationship may have links among those that are taken.
        for (number, relationships) in old.catalog.relationships.enumerated() {
            guard old.tables[old.catalog.plans[number].entityName]?.count ?? 0 > 0 else { continue }
            for relationship in relationships where !taken.contains([number, relationship.slot]) {
                for (place, links) in sources where origins[place].map(relationship.targets.contains) == true {
                    if links.values.contains(relationship.reverse) { return false }
                }
            }
        }
        for (place, links) in sources {
            let name = target.plans[place].entityName
            for (reverse, source) in links { tables[name]?.links[reverse] = source }
        }
        return true
    }

    private mutating func takeIndexes() -> Bool {
        for (number, origin) in origins.enumerated() {
            guard let origin, let table = tables[target.plans[number].entityName] else { continue }
            let before = old.catalog.plans[origin]
            for definition in target.plans[number].indexes {
                let source = before.indexes.firstIndex { table.hasSameKeys(definition, as: $0) }
                let isChecked =
                    source.map {
                        before.indexes[$0].constraint != nil && isSame(definition.family, as: before.indexes[$0].family)
                    } ?? false
                let isUnique = !definition.family.isEmpty && !isChecked
                // Who comes first among records of several entities is for the loader to say.
                if isUnique, definition.family.count > 1 { return false }
                tables[table.name]?.indexes.append(.init(source: isUnique ? nil : source, isUnique: isUnique))
            }
        }
        return true
    }
}

/// A table of a version under another schema, and what it takes of the table before.
private struct TakenTable {
    struct Index {
        /// The number of the index before; nil for one that has to be built.
        let source: Int?
        /// Whether the keys have to be looked at.
        let isUnique: Bool
    }

    let table: TableVersion
    let way: TableMapping
    /// By number of a set of links, that of the one before.
    var links: [Int: Int] = [:]
    /// In the order of the plan's.
    var indexes: [Index] = []
    var name: String { way.new.entityName }

    init(_ table: TableVersion, _ way: TableMapping) {
        self.table = table
        self.way = way
    }

    /// Whether an index has the same keys for the same rows.
    func hasSameKeys(_ definition: IndexDefinition, as before: IndexDefinition) -> Bool {
        definition.isWide == before.isWide && definition.components.count == before.components.count
            && zip(definition.components, before.components).allSatisfy { component, other in
                guard case .column(let slot, let value) = way.sources[component.slot] else { return false }
                // Rows that get a value have other keys.
                return slot == other.slot && component.kind == other.kind && component.isOptional == other.isOptional
                    && value.isNull && way.old.columns[slot].form == way.new.columns[component.slot].form
            }
    }

    /// - Throws: `EngineError.notUnique`; why a record cannot be read.
    func version() throws -> TableVersion {
        let plan = way.new
        var found = Array(repeating: LinkSet(), count: plan.linkCount)
        for (place, source) in links { found[place] = table.links[source] }
        let groups = ContiguousArray(
            table.groups.enumerated().map { number, group in
                ChunkGroup(
                    ContiguousArray(
                        group.cells.enumerated().compactMap { index, cell in
                            let first = (number << ChunkGroup.shift + index) << Chunk.shift
                            let rows = min(Chunk.capacity, table.endRow - first)
                            return rows > 0 ? .mapped(MappedChunk(cell, rows: rows, way)) : nil
                        }))
            }.filter { !$0.isEmpty })
        func version(_ indexes: [OrderedIndex]) -> TableVersion {
            TableVersion(
                plan: plan, groups: groups, endRow: table.endRow, count: table.count, dictionaries: way.dictionaries,
                links: found, indexes: indexes, verified: 0)
        }
        let bare = version(plan.indexes.map { OrderedIndex(isWide: $0.isWide) })
        return version(
            try zip(plan.indexes, indexes).map { definition, index in
                try index.source.map { table.indexes[$0] } ?? bare.index(by: definition, isUnique: index.isUnique)
            })
    }
}

extension TableVersion {
    /// An index of the rows, which are not kept in memory for it.
    /// - Throws: `EngineError.notUnique`; why a record cannot be read.
    fileprivate func index(by definition: IndexDefinition, isUnique: Bool) throws -> OrderedIndex {
        var entries = SortedEntries(isWide: definition.isWide)
        let key = KeyBuffer()
        try forEachChunk { first, rows, place in
            for offset in 0..<rows where !place.isDead(offset) {
                let isExempt = key.setKey(place, offset, definition, dictionaries)
                entries.append(key.key, row: UInt64(first + offset), isExempt: isExempt)
            }
        }
        if isUnique {
            entries.sort()
            var earliest: (row: UInt64, other: UInt64)?
            var group: (first: UInt64, last: UInt64)?
            entries.forEachDuplicate { first, second in
                if group?.last != first { group = (first, first) }
                group?.last = second
                if second < earliest?.row ?? .max { earliest = (second, group?.first ?? first) }
            }
            if let earliest {
                throw EngineError.notUnique(
                    entity: plan.entityName, properties: definition.slots.map { layout.slots[$0].name },
                    record: identifier(ofRow: Int(earliest.row)), other: identifier(ofRow: Int(earliest.other)))
            }
        }
        return entries.index(owner: EngineTransaction.nextOwner())
    }
}

extension TableVersion {
    /// Calls the body with each chunk: its first row, how many rows it has, and where they are. Chunks that are not in memory are let
    /// go of afterwards.
    /// - Throws: why a chunk cannot be read; what the body throws.
    func forEachChunk(_ body: (_ first: Int, _ rows: Int, _ place: ChunkPlace) throws -> Void) throws {
        for (number, group) in groups.enumerated() {
            for (index, cell) in group.cells.enumerated() {
                let first = (number << ChunkGroup.shift + index) << Chunk.shift
                let rows = min(Chunk.capacity, endRow - first)
                if rows <= 0 { continue }
                let chunk = try cell.read()
                // A place does not hold its chunk.
                try withExtendedLifetime(chunk) { try body(first, rows, chunk.place) }
            }
        }
    }

    /// Calls the body with the rows in parts, each a table of its own whose rows begin at 0. Parts that are not in memory are let go of
    /// afterwards.
    /// - Throws: why a chunk cannot be read; what the body throws.
    func forEachPart(_ body: (_ first: Int, _ part: TableVersion) throws -> Void) throws {
        for number in groups.indices { try body(number << (ChunkGroup.shift + Chunk.shift), try part(number)) }
    }

    /// The same rows, of which nothing is in memory that can be read again.
    func unread() -> TableVersion {
        let groups = groups.enumerated().map { number, group in
            ChunkGroup(
                ContiguousArray(
                    group.cells.enumerated().map { index, cell in
                        let first = (number << ChunkGroup.shift + index) << Chunk.shift
                        return cell.unread(rows: min(Chunk.capacity, endRow - first))
                    }))
        }
        return TableVersion(
            plan: plan, groups: ContiguousArray(groups), endRow: endRow, count: count, dictionaries: dictionaries,
            links: links, indexes: indexes, verified: verifiedLayout)
    }

    /// The rows of a group as a table, which alone holds what was not in memory.
    func part(_ number: Int) throws -> TableVersion {
        let first = number << (ChunkGroup.shift + Chunk.shift)
        let rows = min(ChunkGroup.capacity << Chunk.shift, endRow - first)
        let cells = try groups[number].cells.map { ChunkCell.chunk(try $0.read()) }
        return TableVersion(
            plan: plan, groups: [ChunkGroup(ContiguousArray(cells))], endRow: rows, count: rows,
            dictionaries: dictionaries, links: links, indexes: [], verified: verifiedLayout)
    }
}

extension ChunkGroup {
    fileprivate var isEmpty: Bool { cells.isEmpty }
}
