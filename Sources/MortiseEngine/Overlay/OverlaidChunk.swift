import Synchronization

/// A chunk of a checkpoint, with what a log's tail does to its rows, which is done when it is first touched.
final class OverlaidChunk: Sendable {
    let rows: Int
    let firstSequence: UInt64
    private let tail: TableTail
    private let index: Int
    private let made = Mutex<Chunk?>(nil)

    init(_ tail: TableTail, _ index: Int) {
        (self.tail, self.index) = (tail, index)
        rows = tail.base.rows(ofChunk: index)
        firstSequence = tail.base.firstSequence(ofChunk: index)
    }

    /// The chunk; one with nothing but deleted rows where it cannot be read, which is noted as damage of the file.
    var chunk: Chunk {
        made.withLock { made in
            if let made { return made }
            let chunk = tail.changed(tail.base.cell(ofChunk: index).take(), index)
            made = chunk
            return chunk
        }
    }

    /// The chunk, which is not kept here if it is made now.
    func read() throws -> Chunk {
        try made.withLock { $0 } ?? tail.changed(try tail.base.cell(ofChunk: index).read(), index, isTaken: false)
    }

    /// As `chunk`, for who keeps it: it is not kept here.
    func take() -> Chunk { made.withLock { $0 } ?? tail.changed(tail.base.cell(ofChunk: index).take(), index) }

    /// The bytes of memory that are kept.
    var keptBytes: Int { made.withLock { $0?.byteCount ?? 0 } }

    /// The same chunk, of which nothing was read.
    var unread: OverlaidChunk { OverlaidChunk(tail, index) }

    /// Whether it has the same rows as another one.
    func isSame(as other: OverlaidChunk) -> Bool { tail === other.tail && index == other.index }
}

extension ChunkGroup {
    /// The group with what a log's tail does to its rows.
    func changed(by tail: TableTail, number: Int) -> ChunkGroup {
        if !tail.touches(group: number) { return self }
        let first = number << Self.shift
        if let packed { return ChunkGroup(PackedCells(packed, changedBy: tail, first: first)) }
        return ChunkGroup(
            ContiguousArray(
                cells.enumerated().map { place, cell in
                    tail.changes(ofChunk: first + place).isEmpty ? cell : .overlaid(OverlaidChunk(tail, first + place))
                }))
    }
}

extension Chunk {
    /// The first rows of a place with their columns in other forms: strings of a dictionary may become the chunk's own.
    convenience init(
        copying place: ChunkPlace, rows: Int, as forms: [ColumnForm], _ columns: [Column],
        _ dictionaries: [StringDictionary?], _ owner: UInt64
    ) {
        self.init(forms: forms, capacity: place.capacity, owner: owner)
        for offset in 0..<rows {
            begin(place.sequence(offset), at: offset)
            for column in columns where forms[column.slot] != .none {
                let old = place.entry(column.slot)
                let new = self.place.entry(column.slot)
                if place.isAbsent(old, offset) {
                    clear(new, offset, isNew: true)
                } else if old.form == .code, new.form == .text {
                    var text = dictionaries[column.slot]?[place.code(old, offset)] ?? ""
                    text.withUTF8 { store(bytes: UnsafeRawBufferPointer($0), new, offset, isNew: true) }
                } else if old.form.isInHeap {
                    store(
                        bytes: place.bytes(old, offset), new, offset, isNew: true,
                        isExternal: place.isExternal(old, offset))
                } else {
                    copyValue(from: place, old, new, offset)
                }
            }
            if place.isDead(offset) { remove(offset) }
        }
    }
}
