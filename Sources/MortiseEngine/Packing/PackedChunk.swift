import MortiseCore
import Synchronization

/// A place for a chunk in a group: the chunk, one that is still in the file that its version was packed into, one of those that a
/// log's tail has changed, or one that is still under another schema.
enum ChunkCell: Sendable {
    case chunk(Chunk)
    case packed(PackedChunk)
    case overlaid(OverlaidChunk)
    case mapped(MappedChunk)

    /// The chunk, read now if it was not before.
    var chunk: Chunk {
        switch self {
        case .chunk(let chunk): chunk
        case .packed(let packed): packed.chunk
        case .overlaid(let overlaid): overlaid.chunk
        case .mapped(let mapped): mapped.chunk
        }
    }

    /// A cell for the same rows that keeps nothing of what was read or made for this one, as far as it can be read or made again: a
    /// writer may have added rows to the chunk.
    func unread(rows: Int) -> ChunkCell {
        switch self {
        case .packed(let packed) where packed.place.rows >= rows: .packed(packed.unread)
        case .overlaid(let overlaid) where overlaid.rows >= rows: .overlaid(overlaid.unread)
        case .mapped(let mapped) where mapped.rows >= rows: mapped.unread
        default: self
        }
    }

    /// The chunk, which the cell does not keep if it had to be read or made.
    func read() throws -> Chunk {
        switch self {
        case .chunk(let chunk): chunk
        case .packed(let packed): try packed.read()
        case .overlaid(let overlaid): try overlaid.read()
        case .mapped(let mapped): try mapped.read()
        }
    }

    /// The bytes of memory that are kept.
    var keptBytes: Int {
        switch self {
        case .chunk(let chunk): chunk.byteCount
        case .packed(let packed): packed.keptBytes
        case .overlaid(let overlaid): overlaid.keptBytes
        case .mapped(let mapped): mapped.keptBytes
        }
    }

    /// As `chunk`, for who keeps it in place of the cell.
    func take() -> Chunk {
        switch self {
        case .chunk(let chunk): chunk
        case .packed(let packed): packed.take()
        case .overlaid(let overlaid): overlaid.take()
        case .mapped(let mapped): mapped.take()
        }
    }

    /// What tells it from others, without reading it.
    var identity: ObjectIdentifier {
        switch self {
        case .chunk(let chunk): ObjectIdentifier(chunk)
        case .packed(let packed): ObjectIdentifier(packed)
        case .overlaid(let overlaid): ObjectIdentifier(overlaid)
        case .mapped(let mapped): ObjectIdentifier(mapped)
        }
    }

    var firstSequence: UInt64 {
        switch self {
        case .chunk(let chunk): chunk.place.sequence(0)
        case .packed(let packed): packed.place.first
        case .overlaid(let overlaid): overlaid.firstSequence
        case .mapped(let mapped): mapped.firstSequence
        }
    }
}

/// What the chunks of a table must be like to be taken out of a file.
final class PackedTableRules: Sendable {
    let file: PackedFile
    let plan: TablePlan
    /// By slot.
    let dictionaries: [StringDictionary?]

    init(file: PackedFile, plan: TablePlan, dictionaries: [StringDictionary?]) {
        self.file = file
        self.plan = plan
        self.dictionaries = dictionaries
    }
}

/// The chunks of a group that came out of a file: most groups of a large table are never touched.
final class PackedCells: Sendable {
    let chunks: ArraySlice<PackedTable.Chunk>
    private let rules: PackedTableRules
    /// The rows before the group, and those of the table.
    private let firstRow: Int
    private let endRow: Int
    /// One above the number of the group's last row at most.
    private let limit: UInt64
    /// What a log's tail does to the chunks, and the number of the first of them in its table.
    private let tail: (changes: TableTail, first: Int)?
    private let made = Mutex<ContiguousArray<ChunkCell>?>(nil)

    init(
        _ chunks: ArraySlice<PackedTable.Chunk>, firstRow: Int, endRow: Int, limit: UInt64, _ rules: PackedTableRules
    ) {
        self.chunks = chunks
        self.rules = rules
        self.firstRow = firstRow
        self.endRow = endRow
        self.limit = limit
        tail = nil
    }

    /// The same chunks, with what a log's tail does to their rows. `first` is the number of the first one in the table.
    init(_ other: PackedCells, changedBy tail: TableTail, first: Int) {
        (chunks, rules, firstRow) = (other.chunks, other.rules, other.firstRow)
        (endRow, limit) = (other.endRow, other.limit)
        self.tail = (tail, first)
    }

    var isMade: Bool { made.withLock { $0 != nil } }

    var cells: ContiguousArray<ChunkCell> {
        made.withLock { made in
            if let made { return made }
            var cells: ContiguousArray<ChunkCell> = []
            for (offset, chunk) in chunks.enumerated() {
                if let tail, !tail.changes.changes(ofChunk: tail.first + offset).isEmpty {
                    cells.append(.overlaid(OverlaidChunk(tail.changes, tail.first + offset)))
                    continue
                }
                let next = chunks.startIndex + offset + 1
                let place = PackedChunk.Place(
                    region: chunk.region, firstRow: firstRow + offset << Chunk.shift,
                    rows: min(Chunk.capacity, endRow - firstRow - offset << Chunk.shift), first: chunk.firstSequence,
                    limit: next < chunks.endIndex ? chunks[next].firstSequence : limit)
                cells.append(.packed(PackedChunk(place, rules)))
            }
            made = cells
            return cells
        }
    }
}

/// A chunk that is read when it is first touched.
final class PackedChunk: Sendable {
    /// Where a chunk lies, and what it must be.
    struct Place {
        let region: PackedRegion
        /// The number of its first row in the table.
        let firstRow: Int
        let rows: Int
        /// The number of its first row, and one above that of its last at most.
        let first: UInt64
        let limit: UInt64
    }

    let place: Place
    private let rules: PackedTableRules
    private let loaded = Mutex<Chunk?>(nil)

    init(_ place: Place, _ rules: PackedTableRules) {
        self.place = place
        self.rules = rules
    }

    /// The chunk; one with nothing but deleted rows where it cannot be read, which is noted as damage of the file.
    var chunk: Chunk {
        loaded.withLock { loaded in
            if let loaded { return loaded }
            let chunk = readOrBlank()
            loaded = chunk
            return chunk
        }
    }

    /// The bytes of memory that are kept.
    var keptBytes: Int { loaded.withLock { $0?.byteCount ?? 0 } }

    /// Whether the bytes are the same ones, so that the rows are.
    func isSame(as other: PackedChunk) -> Bool { rules.file === other.rules.file && place.region == other.place.region }

    /// The same place, of which nothing was read.
    var unread: PackedChunk { PackedChunk(place, rules) }

    /// As `chunk`, for who keeps it: it is not kept here.
    func take() -> Chunk { loaded.withLock { $0 } ?? readOrBlank() }

    private func readOrBlank() -> Chunk {
        do {
            return try readFromFile(isKept: true)
        } catch {
            rules.file.note(error)
            return blank()
        }
    }

    /// Reads the chunk without keeping it.
    func read() throws -> Chunk { try loaded.withLock { $0 } ?? readFromFile(isKept: false) }

    private func readFromFile(isKept: Bool) throws -> Chunk {
        let restorer = rules.file.restorer
        do {
            let chunk = try rules.file.withBytes(of: place.region) { bytes in
                guard let chunk = Chunk(unpacking: bytes, rules.plan.columns), isSound(chunk.place, chunk) else {
                    throw PackedFault(place.region.offset, "is not a chunk of \(rules.plan.entityName)")
                }
                return chunk
            }
            return try restorer?.accept(chunk, place, of: rules.plan, isKept: isKept) ?? chunk
        } catch {
            guard let restorer else { throw error }
            return try restorer.chunk(place, of: rules.plan, after: error, in: rules.file)
        }
    }

    /// The rows, all of them deleted.
    func blank() -> Chunk {
        let chunk = Chunk(forms: rules.plan.columns.map(\.form), capacity: Chunk.capacity, owner: 0)
        for offset in 0..<place.rows {
            chunk.begin(place.first &+ UInt64(offset), at: offset)
            chunk.remove(offset)
        }
        return chunk
    }

    // MARK: Checks

    /// Whether all that readers rely on without looking holds.
    private func isSound(_ chunk: ChunkPlace, _ whole: Chunk) -> Bool {
        guard whole.count == place.rows, hasSequences(chunk), hasNothingBehind(chunk) else { return false }
        return rules.plan.columns.allSatisfy { column in
            column.form == .none || isSound(column, chunk, whole)
        }
    }

    private func hasSequences(_ chunk: ChunkPlace) -> Bool {
        guard chunk.sequence(0) == place.first else { return false }
        var last = place.first
        for offset in 1..<max(1, place.rows) {
            let next = chunk.sequence(offset)
            guard next > last else { return false }
            last = next
        }
        return last < place.limit
    }

    /// Rows that are still to be added must not be marked as deleted.
    private func hasNothingBehind(_ chunk: ChunkPlace) -> Bool {
        (place.rows..<chunk.capacity).allSatisfy { !chunk.isDead($0) }
    }

    private func isSound(_ column: Column, _ chunk: ChunkPlace, _ whole: Chunk) -> Bool {
        let entry = chunk.entry(column.slot)
        let dictionary = entry.form == .code ? rules.dictionaries[column.slot] : nil
        let codes = dictionary?.count ?? 0
        // Readers of the chunk's rows take the strings as being there.
        dictionary?.prepare()
        let isRequired = !column.isOptional && entry.form != .none
        for offset in 0..<place.rows {
            let isAbsent = entry.form == .none || chunk.isAbsent(entry, offset)
            if isAbsent {
                if isRequired, !chunk.isDead(offset) { return false }
                // Readers look at the value first.
                if entry.form != .none, !chunk.hasZeros(entry, offset) { return false }
                continue
            }
            switch entry.form {
            case .text, .bytes:
                if !chunk.hasBytes(entry, offset, heapCount: whole.heapCount) { return false }
                if column.kind != .data, chunk.isExternal(entry, offset) { return false }
            case .code:
                if chunk.code(entry, offset) >= codes { return false }
            case .reference, .wideReference:
                if chunk.reference(entry, offset).target >= max(1, column.targets.count) { return false }
            default: break
            }
        }
        return true
    }
}

extension ChunkPlace {
    /// Whether the bytes of the value are all zero.
    fileprivate func hasZeros(_ entry: Entry, _ offset: Int) -> Bool {
        let width = entry.form.width
        return UnsafeRawBufferPointer(start: fixed + entry.offset + width * offset, count: width)
            .allSatisfy { $0 == 0 }
    }

    /// Whether a value's bytes lie within what there is.
    fileprivate func hasBytes(_ entry: Entry, _ offset: Int, heapCount: Int) -> Bool {
        let place = fixed + entry.offset + 16 * offset
        var count = UInt64(UInt32(littleEndian: place.load(as: UInt32.self)))
        if count == UInt64(ChunkPlace.externalMark) { count = UInt64(ExternalReference.size) }
        if count <= UInt64(Self.inlineLimit) { return true }
        let start = UInt64(littleEndian: place.load(fromByteOffset: 8, as: UInt64.self))
        return start <= UInt64(heapCount) && count <= UInt64(heapCount) - start
    }
}

extension Chunk {
    /// The first rows of a place in a chunk of their own, without what deleted rows and older values left behind.
    convenience init(packing place: ChunkPlace, rows: Int, _ columns: [Column]) {
        let forms = columns.map { place.entry($0.slot).form }
        self.init(forms: forms, capacity: place.capacity, owner: 0)
        for offset in 0..<rows {
            begin(place.sequence(offset), at: offset)
            if place.isDead(offset) { remove(offset) }
            for (column, form) in zip(columns, forms) where form != .none {
                let old = place.entry(column.slot)
                let new = self.place.entry(column.slot)
                if place.isDead(offset) || place.isAbsent(old, offset) {
                    clear(new, offset, isNew: true)
                } else if form.isInHeap {
                    store(
                        bytes: place.bytes(old, offset), new, offset, isNew: true,
                        isExternal: place.isExternal(old, offset))
                } else {
                    copyValue(from: place, old, new, offset)
                }
            }
        }
    }
}
