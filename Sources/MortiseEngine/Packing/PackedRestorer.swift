import Foundation
import MortiseCore
import Synchronization

/// A second source of a packed version's records, such as a log that reaches back to its first transaction.
public struct PackedSource: Sendable {
    let version: @Sendable () throws -> EngineVersion
    let note: @Sendable (any Error) -> Void

    /// Describes a source.
    /// - Parameters:
    ///   - version: makes the packed version again, under the same schema; called until it succeeds.
    ///   - note: called once, with the first error for which the version had to be rebuilt.
    public init(
        version: @escaping @Sendable () throws -> EngineVersion, note: @escaping @Sendable (any Error) -> Void
    ) {
        self.version = version
        self.note = note
    }
}

/// Makes those regions of a packed version again that cannot be read, from another version with the same records.
///
/// A store is open and its versions are held by readers when a region turns out to be unreadable, perhaps in a getter,
/// which can neither throw nor wait for another version. So this rebuilds the region, with its rows where readers and
/// indexes expect them, instead of replacing the version: its holders notice nothing.
///
/// @unchecked Sendable: what changes is behind the lock.
final class PackedRestorer: @unchecked Sendable {
    private let source: PackedSource
    private let tables: [PackedTable]
    private let catalog: Catalog
    private let lock = NSLock()
    private var state = State()
    private let isActive = Atomic(false)

    /// The packed version as far as it can be read, apart from the one that readers hold: with the roots of its trees, which
    /// are read at opening for both.
    private let own: EngineVersion

    private struct State {
        /// The version from elsewhere, once a region could not be read.
        var other: EngineVersion?
        var chunks: [Key: Chunk] = [:]
        /// The numbers of a chunk's rows, in chunks where rows of deleted records lie between others; otherwise the numbers
        /// of the records say where each is. Until a region cannot be read, of the chunks that readers have got, which may
        /// be unreadable since; from then on, of all that are known or chosen.
        var layouts: [Key: [UInt64]] = [:]
        /// What readers have got of indexes: what is made again has to fit it.
        var nodes: [Key: [RankedNode]] = [:]
        /// The chunks whose layout nobody knows any more and was chosen, and their entities: what the file has of those
        /// counts no more, even if it can be read again.
        var chosenChunks: Set<Key> = []
        var chosenEntities: Set<Int> = []
        var hasTold = false
    }

    /// A chunk, or an index, by its entity and number.
    fileprivate struct Key: Hashable {
        let entity: Int
        let number: Int
    }

    fileprivate struct RankedNode {
        /// How many entries of the index come before.
        let rank: Int
        let node: IndexNode
    }

    /// Marks the number of a deleted row in a layout.
    private static let deleted: UInt64 = 1 << 63

    /// - Throws: `PackedFault`; `FileError`.
    init(
        _ source: PackedSource, _ tables: [PackedTable], of file: PackedFile, nextSequence: UInt64, _ catalog: Catalog
    ) throws {
        self.source = source
        self.tables = tables
        self.catalog = catalog
        own = try EngineVersion.unpack(
            tables, from: PackedFile(sharing: file), number: 0, nextSequence: nextSequence, catalog: catalog)
    }

    /// Whether anything was made again.
    var hasRestored: Bool { isActive.load(ordering: .acquiring) }

    // MARK: What readers have got

    /// A reader has read a chunk from the file, and keeps it or not. The chunk that it is to use is another one where this
    /// one was made again before.
    /// - Throws: `NotRestorable` where it was to be made again and cannot be.
    func accept(_ chunk: Chunk, _ place: PackedChunk.Place, of plan: TablePlan, isKept: Bool) throws -> Chunk {
        guard hasRestored || isKept && hasGaps(plan.number) else { return chunk }
        let key = Key(plan, place)
        return try lock.withLock {
            guard let other = state.other else {
                if isKept, let layout = Self.layout(of: chunk, place.rows) { state.layouts[key] = layout }
                return chunk
            }
            if let restored = state.chunks[key] { return restored }
            return state.chosenChunks.contains(key) ? try self.chunk(place, plan, &state, other) : chunk
        }
    }

    /// A reader has read a node from the file, and keeps it or not. The node that it is to use is another one where the rows
    /// of its table were placed anew.
    /// - Throws: `NotRestorable` where it was to be made again and cannot be.
    func accept(_ node: IndexNode, _ place: PackedNode.Place, _ rules: PackedTreeRules, isKept: Bool) throws
        -> IndexNode
    {
        guard let tree = rules.tree, case .index(let number) = tree.kind, hasGaps(tree.entity), hasRestored || isKept
        else { return node }
        return try lock.withLock {
            guard let other = state.other else {
                let key = Key(entity: tree.entity, number: number)
                if isKept { state.nodes[key, default: []].append(RankedNode(rank: place.rank, node: node)) }
                return node
            }
            guard state.chosenEntities.contains(tree.entity) else { return node }
            return try self.node(place, tree, &state, other)
        }
    }

    private func hasGaps(_ entity: Int) -> Bool {
        tables.contains { $0.entity == entity && $0.count < $0.endRow }
    }

    /// - Returns: nil where no row is that of a deleted record.
    private static func layout(of chunk: Chunk, _ rows: Int) -> [UInt64]? {
        // A place does not hold its chunk.
        let layout = withExtendedLifetime(chunk) {
            (0..<rows).map { chunk.place.sequence($0) | (chunk.place.isDead($0) ? deleted : 0) }
        }
        return layout.contains { $0 & deleted != 0 } ? layout : nil
    }

    // MARK: Regions

    /// - Throws: the error, where the chunk cannot be made again.
    func chunk(_ place: PackedChunk.Place, of plan: TablePlan, after error: any Error, in file: PackedFile) throws
        -> Chunk
    {
        try restoring(after: error, in: file) { state, other in
            try chunk(place, plan, &state, other)
        }
    }

    /// - Throws: the error, where the node cannot be made again.
    func node(
        _ place: PackedNode.Place, _ rules: PackedTreeRules, after error: any Error, in file: PackedFile
    ) throws -> IndexNode {
        try restoring(after: error, in: file) { state, other in
            guard let tree = rules.tree else { throw NotRestorable() }
            return try node(place, tree, &state, other)
        }
    }

    /// - Throws: the error, where the strings cannot be made again.
    func strings(
        _ entry: PackedTable.Dictionary, of plan: TablePlan, after error: any Error, in file: PackedFile
    ) throws -> [String] {
        try restoring(after: error, in: file) { state, other in
            try strings(entry, plan, &state, other)
        }
    }

    private func restoring<R>(
        after error: any Error, in file: PackedFile, _ body: (inout State, EngineVersion) throws -> R
    ) throws -> R {
        var isFirst = false
        let result: Result<R, any Error> = lock.withLock {
            if state.other == nil, let other = try? source.version(), other.catalog.schema == catalog.schema {
                begin(with: other, &state)
            }
            guard let other = state.other else { return .failure(error) }
            let result = Result { try body(&state, other) }.mapError { _ in error }
            if case .success = result {
                isFirst = !state.hasTold
                state.hasTold = true
            }
            return result
        }
        if isFirst { source.note(file.explaining(error)) }
        return try result.get()
    }

    private struct NotRestorable: Error {}

    private func packed(_ entity: Int) throws -> PackedTable {
        guard let table = tables.first(where: { $0.entity == entity }) else { throw NotRestorable() }
        return table
    }

    // MARK: Layouts

    /// Settles, once and for all, where the rows lie of chunks with deleted ones: what is made again later fits what was
    /// read or made again before, whatever can be read by then.
    private func begin(with other: EngineVersion, _ state: inout State) {
        state.other = other
        isActive.store(true, ordering: .releasing)
        for packed in tables where packed.count < packed.endRow {
            let plan = catalog.plans[packed.entity]
            guard let own = own.tables[plan.entityName], let table = other.tables[plan.entityName] else { continue }
            var unknown: [(key: Key, rows: ChunkRows)] = []
            for cell in own.groups.lazy.flatMap(\.cells) {
                guard case .packed(let cell) = cell else { continue }
                let key = Key(plan, cell.place)
                guard state.layouts[key] == nil else { continue }
                if let chunk = try? cell.read() {
                    state.layouts[key] = Self.layout(of: chunk, cell.place.rows)
                } else {
                    let live = table.records(from: cell.place.first, below: cell.place.limit)
                    if live.count < cell.place.rows { unknown.append((key, ChunkRows(live, in: cell.place))) }
                }
            }
            if !unknown.isEmpty { choose(unknown, own, table, &state) }
            state.nodes = state.nodes.filter { $0.key.entity != packed.entity }
        }
    }

    /// Places the rows of chunks that can be read no more, with the records where indexes name them.
    private func choose(
        _ unknown: [(key: Key, rows: ChunkRows)], _ own: TableVersion, _ table: TableVersion, _ state: inout State
    ) {
        var places = RecordPlaces(of: table)
        for (number, index) in own.indexes.enumerated() where index.count == table.indexes[number].count {
            let known = state.nodes[Key(entity: own.plan.number, number: number)] ?? []
            for node in known + index.readableNodes() { places.note(node, of: table.indexes[number]) }
        }
        for (key, rows) in unknown {
            guard let rows = rows.sequences(within: places.ranges) else { continue }
            state.layouts[key] = rows.map { $0.sequence | ($0.row == nil ? Self.deleted : 0) }
            state.chosenChunks.insert(key)
            state.chosenEntities.insert(own.plan.number)
        }
    }

    // MARK: Chunks

    private func chunk(
        _ place: PackedChunk.Place, _ plan: TablePlan, _ state: inout State, _ other: EngineVersion
    ) throws -> Chunk {
        let key = Key(plan, place)
        if let known = state.chunks[key] { return known }
        let table = other.tables[plan.entityName]
        let live = table?.records(from: place.first, below: place.limit) ?? []
        let sequences = try rows(live, state.layouts[key], place)
        let chunk = Chunk(forms: plan.columns.map(\.form), capacity: Chunk.capacity, owner: 0)
        for (offset, (sequence, row)) in sequences.enumerated() {
            chunk.begin(sequence, at: offset)
            if let row, let table {
                chunk.copyRow(row, of: table, to: offset)
            } else {
                for column in plan.columns where column.form != .none {
                    chunk.clear(chunk.place.entry(column.slot), offset, isNew: true)
                }
                chunk.remove(offset)
            }
        }
        state.chunks[key] = chunk
        return chunk
    }

    /// The rows of a chunk by its layout.
    private func rows(_ live: [ChunkRows.Row], _ layout: [UInt64]?, _ place: PackedChunk.Place) throws
        -> [(sequence: UInt64, row: Int?)]
    {
        let layout = layout ?? live.map(\.sequence)
        let rows = Dictionary(live.map { ($0.sequence, $0.row) }, uniquingKeysWith: { first, _ in first })
        let sequences = layout.map { number in
            (sequence: number & ~Self.deleted, row: number & Self.deleted == 0 ? rows[number] : nil)
        }
        guard sequences.count == place.rows, sequences.first?.sequence == place.first,
            sequences.count(where: { $0.row != nil }) == live.count,
            layout.count(where: { $0 & Self.deleted == 0 }) == live.count
        else { throw NotRestorable() }
        return sequences
    }

    /// The packed chunk, made again where it cannot be read.
    private func chunk(
        _ number: Int, _ plan: TablePlan, _ state: inout State, _ other: EngineVersion
    ) throws -> (chunk: Chunk, place: PackedChunk.Place) {
        guard let own = own.tables[plan.entityName],
            case .packed(let cell) = own.groups[number >> ChunkGroup.shift].cells[number & ChunkGroup.mask]
        else { throw NotRestorable() }
        let key = Key(plan, cell.place)
        if let known = state.chunks[key] { return (known, cell.place) }
        if !state.chosenChunks.contains(key), let chunk = try? cell.read() { return (chunk, cell.place) }
        return (try chunk(cell.place, plan, &state, other), cell.place)
    }

    // MARK: Nodes

    private func node(
        _ place: PackedNode.Place, _ tree: PackedTreeRules.Tree, _ state: inout State, _ other: EngineVersion
    ) throws -> IndexNode {
        let plan = catalog.plans[tree.entity]
        guard let table = other.tables[plan.entityName] else { throw NotRestorable() }
        let packed = try packed(tree.entity)
        let whole: OrderedIndex
        let count: UInt64?
        switch tree.kind {
        case .index(let number):
            whole = table.indexes[number]
            count = packed.indexes[number].count
        case .links(let number):
            whole = table.links[number].pairs
            count = packed.links.first { $0.slots == [number] }?.count
        }
        guard UInt64(whole.count) == count, let first = whole.entry(at: place.rank) else { throw NotRestorable() }
        var builder = IndexSubtreeBuilder(isWide: whole.isWide)
        var failure: (any Error)?
        whole.forEachRun(from: first, to: nil) { node, run in
            for index in run where builder.count < place.total && failure == nil {
                let probe = node.probe(index)
                var row = probe.row
                if case .index = tree.kind {
                    do {
                        row = try self.row(table.sequence(ofRow: Int(row)), plan, packed, &state, other)
                    } catch {
                        failure = error
                    }
                }
                builder.append(.init(head: probe.head, second: probe.second, tail: probe.tail, row: row))
            }
            return builder.count < place.total && failure == nil
        }
        if let failure { throw failure }
        guard builder.count == place.total, let node = builder.finish(level: place.level) else { throw NotRestorable() }
        return node
    }

    /// The row that a record has in the packed version.
    private func row(
        _ sequence: UInt64, _ plan: TablePlan, _ packed: PackedTable, _ state: inout State, _ other: EngineVersion
    ) throws -> UInt64 {
        var (low, high) = (0, packed.chunks.count)
        while low < high {
            let middle = (low + high) / 2
            if packed.chunks[middle].firstSequence <= sequence { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { throw NotRestorable() }
        let (chunk, place) = try chunk(low - 1, plan, &state, other)
        // A place does not hold its chunk.
        return try withExtendedLifetime(chunk) {
            guard let offset = chunk.place.offset(of: sequence, count: place.rows), !chunk.place.isDead(offset) else {
                throw NotRestorable()
            }
            return UInt64(place.firstRow + offset)
        }
    }

    // MARK: Strings

    private func strings(
        _ entry: PackedTable.Dictionary, _ plan: TablePlan, _ state: inout State, _ other: EngineVersion
    ) throws -> [String] {
        var strings = Array(repeating: "", count: entry.count)
        guard let table = other.tables[plan.entityName] else { return strings }
        for number in try packed(plan.number).chunks.indices {
            // One that cannot be read is made again here, with its strings in it.
            let (chunk, place) = try chunk(number, plan, &state, other)
            try withExtendedLifetime(chunk) {
                let (rows, column) = (chunk.place, chunk.place.entry(entry.slot))
                guard column.form == .code else { return }
                for offset in 0..<place.rows where !rows.isDead(offset) && !rows.isAbsent(column, offset) {
                    guard let row = table.row(ofSequence: rows.sequence(offset)),
                        let string = table.string(row: row, slot: entry.slot)
                    else { throw NotRestorable() }
                    strings[rows.code(column, offset)] = string
                }
            }
        }
        return strings
    }
}

extension PackedRestorer.Key {
    fileprivate init(_ plan: TablePlan, _ place: PackedChunk.Place) {
        self.init(entity: plan.number, number: place.firstRow >> Chunk.shift)
    }
}

extension TableVersion {
    /// The records with numbers of a range, in order.
    fileprivate func records(from first: UInt64, below limit: UInt64) -> [ChunkRows.Row] {
        var found: [ChunkRows.Row] = []
        var row = firstRow(from: first)
        while row < endRow, sequence(ofRow: row) < limit {
            if contains(row: row) { found.append(.init(sequence: sequence(ofRow: row), row: row)) }
            row += 1
        }
        return found
    }

    /// The first row with that number or a greater one.
    private func firstRow(from sequence: UInt64) -> Int {
        var (low, high) = (0, endRow)
        while low < high {
            let middle = (low + high) / 2
            if self.sequence(ofRow: middle) < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// Where the rows of records are in a version whose indexes can be read in part, by another version that has the records.
private struct RecordPlaces {
    private let table: TableVersion
    /// The rows that a record may have, by its number.
    private(set) var ranges: [UInt64: ClosedRange<Int>] = [:]

    init(of table: TableVersion) { self.table = table }

    /// Takes in what a node says. Its entries come in the same order in the other version's index.
    mutating func note(_ known: PackedRestorer.RankedNode, of index: OrderedIndex) {
        let node = known.node
        if node.isLeaf {
            guard let first = index.entry(at: known.rank) else { return }
            var place = 0
            index.forEachRun(from: first, to: nil) { others, run in
                for entry in run where place < node.count {
                    let row = Int(node.row(place))
                    narrow(others.row(entry), to: row...row)
                    place += 1
                }
                return place < node.count
            }
            return
        }
        // The first entry of a branch bounds nothing. Another one bounds rows only where the entries beside it have its key.
        var rank = known.rank
        for child in 1..<max(1, node.count) {
            rank += node.counts[child - 1]
            let row = Int(clamping: node.row(child))
            if let before = index.entry(at: rank - 1), node.hasKey(child, before) {
                narrow(before.row, to: 0...max(0, row - 1))
            }
            if let behind = index.entry(at: rank), node.hasKey(child, behind) { narrow(behind.row, to: row...Int.max) }
        }
    }

    private mutating func narrow(_ other: UInt64, to range: ClosedRange<Int>) {
        ranges[table.sequence(ofRow: Int(other)), default: 0...Int.max].narrow(to: range)
    }
}

extension ClosedRange<Int> {
    /// Keeps what is in both; what excludes each other stays as it is, since nothing can be made of it.
    fileprivate mutating func narrow(to other: ClosedRange<Int>) {
        if overlaps(other) { self = clamped(to: other) }
    }
}

extension OrderedIndex {
    /// The nodes of an index that lies in a file, as far as they can be read.
    fileprivate func readableNodes() -> [PackedRestorer.RankedNode] {
        var nodes: [PackedRestorer.RankedNode] = []
        func read(_ node: IndexNode, _ rank: Int) {
            nodes.append(.init(rank: rank, node: node))
            for case .packed(let child) in node.cells {
                if let node = try? child.read() { read(node, child.place.rank) }
            }
        }
        if let root { read(root, 0) }
        return nodes
    }
}

extension Chunk {
    /// Copies the values of a row of another table of the same plan, strings as themselves.
    fileprivate func copyRow(_ row: Int, of table: TableVersion, to offset: Int) {
        let place = table.place(ofChunk: row >> Chunk.shift)
        let from = row & Chunk.mask
        for column in table.plan.columns where column.form != .none {
            let (old, new) = (place.entry(column.slot), self.place.entry(column.slot))
            if old.form == .none || place.isAbsent(old, from) {
                clear(new, offset, isNew: true)
            } else if old.form == .code, new.form == .text {
                var text = table.dictionaries[column.slot]?[place.code(old, from)] ?? ""
                text.withUTF8 { store(bytes: UnsafeRawBufferPointer($0), new, offset, isNew: true) }
            } else if old.form.isInHeap {
                store(
                    bytes: place.bytes(old, from), new, offset, isNew: true, isExternal: place.isExternal(old, from))
            } else {
                copyValue(from: place, old, from, new, offset)
            }
        }
    }
}
