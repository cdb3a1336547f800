import MortiseCore

extension EngineTail {
    /// The version after the tail. It reads a table's last chunk where records were added, and the strings of columns in which
    /// values are new; everything else when it is first needed.
    ///
    /// What does not fit the version (a changed record that it lacks, a unique value that it has) is an error of the rows or index
    /// entries with which it is found, and of packing the version, which finds all of it.
    /// - Throws: `EngineError.notUnique` where two records of the tail have the same unique values; the error of a region of the
    ///   version that cannot be read.
    public func overlaid(number: UInt64, nextSequence: UInt64) throws -> EngineVersion {
        var made: [TailTableMaker?] = base.catalog.plans.indices.map { entity in
            found(entity).map { TailTableMaker($0, in: base, note: note) }
        }
        func makerOfTable(_ entity: Int) -> TailTableMaker {
            if let maker = made[entity] { return maker }
            let maker = TailTableMaker(TailTable(base.catalog, entity, from: base), in: base, note: note)
            made[entity] = maker
            return maker
        }
        // What the links of a table have to hide is known only from all tables that refer to it.
        let touched = made.compactMap { $0 }
        for maker in touched {
            for relationship in base.catalog.relationships[maker.plan.number] {
                let marks = maker.marks(of: relationship)
                if marks == nil, maker.tail.inserted.isEmpty { continue }
                if relationship.isToMany {
                    maker.expect(relationship.slot, hiding: marks.map { .owners(maker.tail, $0) })
                }
                let place = UInt64(relationship.ownerAmongTargets)
                for target in relationship.targets {
                    makerOfTable(target).expect(
                        relationship.reverse, hiding: marks.map { .members(target: place, maker.tail, $0) })
                }
            }
        }
        for maker in made { maker?.begin() }
        for maker in touched { maker.addRows() }
        for maker in touched {
            for relationship in base.catalog.relationships[maker.plan.number] {
                maker.forEachLink(of: relationship) { owner, member, target in
                    if relationship.isToMany { maker.bring(owner, member, target, relationship.slot) }
                    makerOfTable(relationship.targets[target])
                        .bring(member, owner, relationship.ownerAmongTargets, relationship.reverse)
                }
            }
            try maker.addEntries { relative in made[relative] }
        }
        try base.checkDamage()
        var tables = base.tables
        for maker in made { if let maker { tables[maker.plan.entityName] = maker.finish() } }
        return EngineVersion(
            number: number, nextSequence: nextSequence, tables: tables, catalog: base.catalog, packed: base.packed)
    }
}

/// Makes one table of a version with a log's tail.
private final class TailTableMaker {
    let plan: TablePlan
    let tail: TableTail
    private let found: TailTable
    private let values: TableVersion
    private let table: TableVersion
    private var rules: [Int: [IndexOverlay.LinkRule]] = [:]
    private var writer: TableWriter?
    private let owner = EngineTransaction.nextOwner()

    init(_ found: TailTable, in version: EngineVersion, note: @escaping @Sendable (any Error) -> Void) {
        self.found = found
        plan = found.plan
        let owner = owner
        table =
            version.tables[plan.entityName]
            ?? TableWriter(plan, from: nil, owner: owner, isForeign: true).finished()
        values = found.values.finished()
        let changed = found.changed.sorted { $0.key < $1.key }
        var dictionaries = table.dictionaries
        if values.endRow > 0 || !found.insertedSequences.isEmpty {
            // Of their own: nobody else adds to them, however many versions are made.
            dictionaries = dictionaries.map { $0?.copy }
            for dictionary in dictionaries { dictionary?.prepare() }
        }
        let codes = Self.codes(of: values, &dictionaries, plan)
        tail = TableTail(
            of: table, limit: version.nextSequence, changed.map { ($0.key, $0.value) },
            inserted: found.insertedSequences, values: values, codes: codes, dictionaries: dictionaries, note: note)
    }

    /// A dictionary takes that many strings for the sake of the tail; more do not repeat, and lie in the chunks.
    private static let fewStrings = 1_024

    /// What numbers the new strings have in the dictionaries, which take in more as long as they are small.
    private static func codes(
        of values: TableVersion, _ dictionaries: inout [StringDictionary?], _ plan: TablePlan
    ) -> [[Int32]] {
        plan.columns.map { column in
            guard column.form == .text, values.endRow > 0, dictionaries[column.slot]?.count ?? 0 > 0 else { return [] }
            return (0..<values.endRow).map { row in
                guard let string = values.string(row: row, slot: column.slot),
                    string.utf8.count <= StringDictionary.longest
                else { return -1 }
                if let known = dictionaries[column.slot]?.code(of: string) { return Int32(known) }
                if dictionaries[column.slot]?.count ?? 0 >= fewStrings { return -1 }
                return dictionaries[column.slot]?.add(string).map { Int32($0) } ?? -1
            }
        }
    }

    // MARK: What is hidden

    /// Which of the changes set a relationship, or delete its owner; nil if none does.
    func marks(of relationship: Catalog.RelationshipSlot) -> ContiguousArray<Bool>? {
        marks { $0.row == nil || $0.slots.contains(relationship.slot) }
    }

    private func marks(_ isMarked: (TableTail.Change) -> Bool) -> ContiguousArray<Bool>? {
        let marks = ContiguousArray(tail.changes.lazy.map(isMarked))
        return marks.contains(true) ? marks : nil
    }

    /// Links come into a set, or leave it.
    func expect(_ set: Int, hiding rule: IndexOverlay.LinkRule?) {
        rules[set, default: []] += rule.map { [$0] } ?? []
    }

    /// Puts the overlays over what the checkpoint has.
    func begin() {
        let deletions = tail.changes.count { $0.row == nil }
        let groups = ContiguousArray(
            table.groups.enumerated().map { number, group in group.changed(by: tail, number: number) })
        var links = table.links
        // With nothing to hide, too: what is new need not be put between what would have to be read for that.
        for (number, rules) in rules where !links[number].isEmpty {
            links[number] = LinkSet(pairs: OrderedIndex(links[number].pairs.base, under: IndexOverlay(.links(rules))))
        }
        let isTouched = !tail.sequences.isEmpty || !tail.inserted.isEmpty
        let indexes = plan.indexes.indices.map { number in
            isTouched
                ? OrderedIndex(table.indexes[number].base, under: overlay(ofIndex: number)) : table.indexes[number]
        }
        writer = TableWriter(
            plan,
            from: TableVersion(
                plan: plan, groups: groups, endRow: table.endRow, count: max(0, table.count - deletions),
                dictionaries: tail.dictionaries, links: links, indexes: indexes, verified: 0),
            owner: owner, isForeign: true)
    }

    private func overlay(ofIndex number: Int) -> IndexOverlay {
        let slots = plan.indexes[number].slots
        let marks = ContiguousArray(
            tail.changes.lazy.map { change in change.row == nil || slots.contains(where: change.slots.contains) })
        let late = tail.changes.indices.filter { place in
            marks[place] && tail.changes[place].row != nil && !slots.allSatisfy(tail.changes[place].slots.contains)
        }
        return IndexOverlay(
            .rows(
                .init(
                    tail: tail, marks: marks, definition: plan.indexes[number], hiddenCount: marks.count(where: { $0 }),
                    late: late)))
    }

    // MARK: What is new

    /// Adds the rows of new records.
    func addRows() {
        guard let writer else { return }
        for source in found.insertedSequences.indices {
            let row = writer.append(found.insertedSequences[source])
            for column in plan.columns where column.form != .none {
                if column.role == .toOne {
                    writer.write(
                        reference: found.inserted.reference(source, column.slot), row, column.slot, isNew: true)
                } else {
                    // It was written once, into the table of new records.
                    _ = writer.write(found.inserted.value(source, column.slot), row, column, isNew: true)
                }
            }
            if !found.inserted.isLive(source) { writer.remove(row) }
        }
    }

    /// Calls the body with each link of a relationship that the tail has brought: the numbers of owner and target, and that of the
    /// target's entity among the relationship's.
    func forEachLink(
        of relationship: Catalog.RelationshipSlot, _ body: (_ owner: UInt64, _ member: UInt64, _ target: Int) -> Void
    ) {
        func show(_ owner: UInt64, _ row: Int, _ table: TableWriter) {
            if relationship.isToMany {
                for (member, target) in found.members[.init(sequence: owner, slot: relationship.slot)] ?? [] {
                    body(owner, member, target)
                }
            } else if let (member, target) = table.reference(row, relationship.slot) {
                body(owner, member, target)
            }
        }
        for (sequence, change) in zip(tail.sequences, tail.changes) {
            if let row = change.row, change.slots.contains(relationship.slot) { show(sequence, row, found.values) }
        }
        for (row, sequence) in found.insertedSequences.enumerated() where found.inserted.isLive(row) {
            show(sequence, row, found.inserted)
        }
    }

    func bring(_ owner: UInt64, _ member: UInt64, _ target: Int, _ set: Int) {
        writer?.links[set].bring(owner, member, target, transaction: self.owner)
    }

    /// Puts the records of the tail into the indexes, as far as their keys are known.
    /// - Throws: `EngineError.notUnique`.
    func addEntries(_ relative: (Int) -> TailTableMaker?) throws {
        guard let writer else { return }
        let key = KeyBuffer()
        for (number, definition) in plan.indexes.enumerated() {
            for (sequence, change) in zip(tail.sequences, tail.changes) {
                guard let row = change.row, definition.slots.allSatisfy(change.slots.contains) else { continue }
                let isExempt = key.setKey(
                    values.place(ofChunk: row >> Chunk.shift), row & Chunk.mask, definition, values.dictionaries)
                try bring(key.key, sequence, isExempt, number, relative)
            }
            for (place, sequence) in found.insertedSequences.enumerated() {
                let row = table.endRow + place
                guard writer.isLive(row) else { continue }
                let isExempt = key.setKey(writer.place(row), row & Chunk.mask, definition, writer.dictionaries)
                try bring(key.key, sequence, isExempt, number, relative)
            }
            writer.indexes[number].seal()
        }
    }

    private func bring(
        _ key: UnsafeRawBufferPointer, _ sequence: UInt64, _ isExempt: Bool, _ number: Int,
        _ relative: (Int) -> TailTableMaker?
    ) throws {
        guard let writer else { return }
        let definition = plan.indexes[number]
        if !isExempt {
            for entity in definition.family {
                guard let other = entity == plan.number ? self : relative(entity),
                    let place = other === self ? number : other.plan.index(sameAs: definition),
                    let found = other.brought(key, place)
                else { continue }
                throw EngineError.notUnique(
                    entity: plan.entityName, properties: definition.slots.map { plan.layout.slots[$0].name },
                    record: plan.identifiers[sequence], other: other.plan.identifiers[found])
            }
        }
        let isWide = writer.indexes[number].isWide
        writer.indexes[number].bring(IndexProbe(key, row: sequence, isWide: isWide), owner: owner)
    }

    /// The record of the tail that has a key in an index.
    private func brought(_ key: UnsafeRawBufferPointer, _ number: Int) -> UInt64? {
        writer?.indexes[number].firstBrought(key)
    }

    func finish() -> TableVersion? { writer?.finished() }
}
