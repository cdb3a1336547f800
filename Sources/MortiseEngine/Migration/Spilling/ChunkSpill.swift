import MortiseCore
import Synchronization

/// A temporary file that takes chunks out of memory that a migration has made: what is left of them is where they lie.
///
/// The file has no name from the beginning, so that nothing is left of it whatever happens to the process. What is written to it is
/// checked when it is read, like every packed version.
final class ChunkSpill: Sendable {
    private struct State {
        var file: PackedFile?
        var handle: (any OpenFile)?
        var end: Int64 = 0
    }

    private static let seed: UInt32 = 0x5350_4C4C
    private let open: @Sendable () throws -> any OpenFile
    private let state = Mutex(State())

    /// - Parameter open: makes the file, when it is first needed.
    init(_ open: @escaping @Sendable () throws -> any OpenFile) { self.open = open }

    /// The version with all chunks in the file that nobody but the version has, and that no writer adds rows to any more. What can be
    /// read or made again is let go of.
    /// - Parameters:
    ///   - version: the version. Its number stays.
    ///   - base: has its own chunks anyway.
    /// - Returns: the version.
    /// - Throws: why the file cannot be written.
    func relieve(_ version: EngineVersion, besides base: EngineVersion?) throws -> EngineVersion {
        var tables = version.tables
        for (name, table) in version.tables {
            var groups = table.groups
            let known = base?.tables[name]
            for number in groups.indices {
                let other = known.flatMap { $0.groups.indices.contains(number) ? $0.groups[number] : nil }
                if groups[number].keptBytes(besides: other) == 0 { continue }
                let others = other.map(\.keptChunks)
                let cells = try groups[number].cells.enumerated().map { index, cell in
                    let first = (number << ChunkGroup.shift + index) << Chunk.shift
                    let rows = min(Chunk.capacity, table.endRow - first)
                    let unread = cell.unread(rows: rows)
                    // The writer adds rows to the last one.
                    guard case .chunk(let chunk) = unread, rows == Chunk.capacity, first + rows < table.endRow,
                        others?.contains(ObjectIdentifier(chunk)) != true
                    else { return unread }
                    return try put(
                        chunk, first >> Chunk.shift, table.plan, table.dictionaries, reportingTo: version.packed
                    ).map { .packed($0) } ?? unread
                }
                groups[number] = ChunkGroup(ContiguousArray(cells))
            }
            tables[name] = TableVersion(
                plan: table.plan, groups: groups, endRow: table.endRow, count: table.count,
                dictionaries: table.dictionaries, links: table.links, indexes: table.indexes,
                verified: table.verifiedLayout)
        }
        return EngineVersion(
            number: version.number, nextSequence: version.nextSequence, tables: tables, catalog: version.catalog,
            packed: version.packed ?? file)
    }

    /// How long the file is. Chunks that were changed once more are written once more, behind the others.
    var length: Int { state.withLock { Int($0.end) } }

    /// The file; nil as long as nothing was written.
    var file: PackedFile? { state.withLock { $0.file } }

    /// Writes a chunk whose rows are all taken.
    /// - Parameters:
    ///   - chunk: the chunk.
    ///   - index: its number in the table.
    ///   - plan: the table's.
    ///   - dictionaries: the table's, by slot.
    ///   - other: gets the damage of what cannot be read again.
    /// - Returns: the chunk in the file; nil if it is too large for a region, and has to stay.
    /// - Throws: why the file cannot be written.
    func put(
        _ chunk: Chunk, _ index: Int, _ plan: TablePlan, _ dictionaries: [StringDictionary?],
        reportingTo other: PackedFile? = nil
    ) throws -> PackedChunk? {
        var bytes = PackedBytes()
        let sequences = withExtendedLifetime(chunk) {
            Chunk(packing: chunk.place, rows: Chunk.capacity, plan.columns).withPacked { fixed, heap in
                bytes.append(fixed)
                bytes.append(heap)
            }
            return (first: chunk.place.sequence(0), last: chunk.place.sequence(Chunk.capacity - 1))
        }
        guard let length = UInt32(exactly: bytes.bytes.count) else { return nil }
        return try state.withLock { state in
            let handle = try state.handle ?? open()
            state.handle = handle
            let file = state.file ?? PackedFile(spillingTo: handle, seed: Self.seed, reportingTo: other)
            state.file = file
            var sum = CRC32C(resuming: Self.seed)
            bytes.bytes.withUnsafeBytes { sum.update($0) }
            try bytes.bytes.withUnsafeBytes { try handle.writeAll($0, at: state.end) }
            let region = PackedRegion(
                offset: UInt64(state.end), length: length, checksum: sum.value)
            state.end += Int64(bytes.bytes.count + 15) / 16 * 16
            return PackedChunk(
                PackedChunk.Place(
                    region: region, firstRow: index << Chunk.shift, rows: Chunk.capacity, first: sequences.first,
                    limit: sequences.last + 1),
                PackedTableRules(file: file, plan: plan, dictionaries: dictionaries))
        }
    }
}

/// Takes the chunks of an engine's latest version out of memory before a transaction begins, where they are many.
final class SpillingSink: CommitSink {
    private struct State {
        var changed = 0
    }

    private let spill: ChunkSpill
    private let base: EngineVersion
    private let limit: Int
    private let state = Mutex(State())
    /// After how many changed records the memory is looked at.
    private let often: Int

    /// - Parameters:
    ///   - spill: where chunks go.
    ///   - base: the version that the engine begins with.
    ///   - limit: how many bytes of chunks stay in memory.
    init(_ spill: ChunkSpill, besides base: EngineVersion, limit: Int) {
        (self.spill, self.base, self.limit) = (spill, base, limit)
        often = limit < 1 << 20 ? 1 : 64
    }

    func commit(_ result: EngineVersion, changes: ChangeSet) throws {
        state.withLock { $0.changed += changes.count }
    }

    /// - Throws: why the file of the spill cannot be written.
    func begin(_ current: EngineVersion, for feed: ChangeFeed) throws -> FollowedVersion? {
        let isDue = state.withLock { state in
            if state.changed < often { return false }
            state.changed = 0
            return true
        }
        // Records that are changed in another order than theirs touch nearly all chunks again and again: the file stays within some nine
        // times the table then, and memory takes more.
        guard isDue, current.keptBytes(besides: base) > max(limit, spill.length / 8) else { return nil }
        return FollowedVersion(try spill.relieve(current, besides: base))
    }

    func close() throws {}
}

extension EngineVersion {
    /// The bytes of memory that chunks take that another version does not have.
    func keptBytes(besides base: EngineVersion?) -> Int {
        tables.values.reduce(0) { sum, table in
            let groups = base?.tables[table.plan.entityName]?.groups ?? []
            return sum
                + table.groups.indices.reduce(0) {
                    $0 + table.groups[$1].keptBytes(besides: groups.indices.contains($1) ? groups[$1] : nil)
                }
        }
    }
}

extension ChunkGroup {
    /// The bytes of memory that chunks take that another group does not have at the same place.
    func keptBytes(besides other: ChunkGroup?) -> Int {
        guard hasCells else { return 0 }
        let known = other?.hasCells == true ? other?.cells ?? [] : []
        return cells.indices.reduce(0) { sum, index in
            if known.indices.contains(index), case .chunk(let chunk) = cells[index],
                case .chunk(let other) = known[index], chunk === other
            {
                return sum
            }
            return sum + cells[index].keptBytes
        }
    }

    /// The chunks that cannot be read or made again.
    fileprivate var keptChunks: Set<ObjectIdentifier> {
        guard hasCells else { return [] }
        return Set(cells.compactMap { if case .chunk(let chunk) = $0 { ObjectIdentifier(chunk) } else { nil } })
    }
}
