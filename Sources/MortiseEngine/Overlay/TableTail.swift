import MortiseCore
import Synchronization

/// What a log's tail does to the rows of one table of a checkpoint, of which nothing has been read for that.
///
/// The checkpoint's directory says in which chunk a record lies. Where in it is known without reading the chunk if the numbers of
/// its rows have no gaps, and otherwise from the moment at which somebody asks.
///
/// @unchecked Sendable: nothing changes after initialization but the places of rows, behind a lock.
final class TableTail: @unchecked Sendable {
    /// What becomes of a record that is in the checkpoint.
    struct Change {
        /// The row of `values` that has the new values; nil for a deleted record.
        var row: Int?
        /// The slots that have new values.
        var slots = SlotSet()
    }

    let plan: TablePlan
    /// The table as the checkpoint has it. Its chunks are never kept.
    let base: TableVersion
    /// The numbers of the changed records, ascending, and what becomes of each.
    let sequences: ContiguousArray<UInt64>
    let changes: ContiguousArray<Change>
    /// The numbers of the records that the tail inserts, deleted ones included, ascending.
    let inserted: ContiguousArray<UInt64>
    /// The new values of changed records.
    let values: TableVersion
    /// By slot and row of `values`, what number a string has in the table's dictionary; -1 for one that it lacks.
    let codes: [[Int32]]
    /// Those of the table with the tail, by slot.
    let dictionaries: [StringDictionary?]
    /// Takes down that a change does not fit the checkpoint.
    private let note: @Sendable (any Error) -> Void
    /// For each chunk the number of changes before those of its rows, and the number of all at the end.
    private let starts: ContiguousArray<Int32>
    private let limit: UInt64
    /// By chunk, where the changed rows lie in it; -1 for one that is missing.
    private let places = Mutex<[Int: [Int16]]>([:])

    /// `limit` is above the numbers of all records of the checkpoint.
    init(
        of base: TableVersion, limit: UInt64, _ changed: [(sequence: UInt64, change: Change)],
        inserted: ContiguousArray<UInt64>, values: TableVersion, codes: [[Int32]],
        dictionaries: [StringDictionary?], note: @escaping @Sendable (any Error) -> Void
    ) {
        plan = base.plan
        self.base = base
        self.limit = limit
        sequences = ContiguousArray(changed.lazy.map(\.sequence))
        changes = ContiguousArray(changed.lazy.map(\.change))
        self.inserted = inserted
        self.values = values
        self.codes = codes
        self.dictionaries = dictionaries
        self.note = note
        var starts: ContiguousArray<Int32> = []
        var next = 0
        for chunk in 0..<base.chunkCount {
            let first = base.firstSequence(ofChunk: chunk)
            while next < sequences.count, sequences[next] < first { next += 1 }
            starts.append(Int32(truncatingIfNeeded: next))
        }
        starts.append(Int32(truncatingIfNeeded: sequences.count))
        self.starts = starts
    }

    /// The changes of a chunk's rows.
    @inline(__always)
    func changes(ofChunk chunk: Int) -> Range<Int> {
        chunk >= 0 && chunk + 1 < starts.count ? Int(starts[chunk])..<Int(starts[chunk + 1]) : 0..<0
    }

    /// Whether any row of a group of chunks is changed.
    func touches(group: Int) -> Bool {
        let first = group << ChunkGroup.shift
        let end = min(first + ChunkGroup.capacity, starts.count - 1)
        return first < end && starts[first] < starts[end]
    }

    /// The number of the change of a record; nil if the tail does not change it.
    func change(of sequence: UInt64) -> Int? {
        let place = sequences.firstPlace(notBefore: sequence)
        return place < sequences.count && sequences[place] == sequence ? place : nil
    }

    // MARK: Rows

    /// The number of the change of a row of the checkpoint; nil if the tail does not change it.
    func change(ofRow row: Int) -> Int? {
        let chunk = row >> Chunk.shift
        let range = changes(ofChunk: chunk)
        if range.isEmpty { return nil }
        let offset = row & Chunk.mask
        if isDense(chunk) {
            let sequence = base.firstSequence(ofChunk: chunk) + UInt64(offset)
            let place = sequences.firstPlace(notBefore: sequence, in: range)
            return place < range.upperBound && sequences[place] == sequence ? place : nil
        }
        let places = places(inChunk: chunk, range)
        // Ascending, unless records are missing.
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle] < 0 { return places.firstIndex(of: Int16(offset)).map { range.lowerBound + $0 } }
            if Int(places[middle]) < offset { low = middle + 1 } else { high = middle }
        }
        return low < places.count && Int(places[low]) == offset ? range.lowerBound + low : nil
    }

    /// The row of a changed record, or of one that the tail inserts; nil for one that the checkpoint does not have.
    func row(of sequence: UInt64) -> Int? {
        if let first = inserted.first, sequence >= first {
            let place = inserted.firstPlace(notBefore: sequence)
            return place < inserted.count && inserted[place] == sequence ? base.endRow + place : nil
        }
        return change(of: sequence).flatMap(row(ofChange:))
    }

    func row(ofChange change: Int) -> Int? {
        var (low, high) = (0, starts.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if Int(starts[middle]) <= change { low = middle + 1 } else { high = middle }
        }
        let chunk = low - 1
        guard chunk >= 0, chunk < base.chunkCount else { return nil }
        let first = chunk << Chunk.shift
        if isDense(chunk) {
            let offset = sequences[change] - base.firstSequence(ofChunk: chunk)
            return offset < UInt64(base.rows(ofChunk: chunk)) ? first + Int(offset) : nil
        }
        let range = changes(ofChunk: chunk)
        let place = places(inChunk: chunk, range)[change - range.lowerBound]
        return place < 0 ? nil : first + Int(place)
    }

    /// The number of the record of a row that the tail changes or inserts; nil for other rows.
    func sequence(ofRow row: Int) -> UInt64? {
        if row >= base.endRow { return row - base.endRow < inserted.count ? inserted[row - base.endRow] : nil }
        return change(ofRow: row).map { sequences[$0] }
    }

    /// Whether each number between the first and the next chunk's has its row, so that nobody has to read where rows lie.
    @inline(__always)
    private func isDense(_ chunk: Int) -> Bool {
        let rows = base.rows(ofChunk: chunk)
        let end = chunk + 1 < base.chunkCount ? base.firstSequence(ofChunk: chunk + 1) : limit
        return end - base.firstSequence(ofChunk: chunk) == UInt64(rows)
    }

    private func places(inChunk chunk: Int, _ range: Range<Int>) -> [Int16] {
        if let known = places.withLock({ $0[chunk] }) { return known }
        // What takes rows out of it counts on where they are from now on.
        let read = base.cell(ofChunk: chunk).take()
        let found = withExtendedLifetime(read) { find(range, read.place, base.rows(ofChunk: chunk)) }
        places.withLock { $0[chunk] = found }
        return found
    }

    private func find(_ range: Range<Int>, _ place: ChunkPlace, _ rows: Int) -> [Int16] {
        range.map { place.offset(of: sequences[$0], count: rows).map { Int16($0) } ?? -1 }
    }

    /// Takes down that two records have the same unique values.
    func noteDuplicate(_ definition: IndexDefinition, _ record: UInt64, _ other: UInt64) {
        note(
            EngineError.notUnique(
                entity: plan.entityName, properties: definition.slots.map { plan.layout.slots[$0].name },
                record: plan.identifiers[record], other: plan.identifiers[other]))
    }

    // MARK: Chunks

    /// A chunk as the tail leaves it, which nobody keeps for that.
    func chunk(_ index: Int) -> Chunk {
        let chunk = base.cell(ofChunk: index).take()
        return changes(ofChunk: index).isEmpty ? chunk : changed(chunk, index)
    }

    /// A chunk of the checkpoint as the tail leaves it. One that was taken, not merely read, has its rows where they are from then on,
    /// even if the file must be restored later.
    func changed(_ chunk: Chunk, _ index: Int, isTaken: Bool = true) -> Chunk {
        let range = changes(ofChunk: index)
        let rows = base.rows(ofChunk: index)
        let offsets = withExtendedLifetime(chunk) { find(range, chunk.place, rows) }
        if isTaken, !isDense(index) { places.withLock { $0[index] = offsets } }
        let owner = EngineTransaction.nextOwner()
        let writer = TableWriter(
            plan, from: base.single(prepared(chunk, range, rows, owner: owner), rows: rows), owner: owner,
            isForeign: true)
        for (number, offset) in zip(range, offsets) {
            let row = Int(offset)
            guard row >= 0, writer.isLive(row) else {
                note(EngineError.noSuchRecord(plan.identifiers[sequences[number]]))
                continue
            }
            apply(changes[number], to: row, of: writer)
        }
        return writer.finished().cell(ofChunk: 0).chunk
    }

    private func apply(_ change: Change, to row: Int, of writer: TableWriter) {
        guard let source = change.row else { return writer.remove(row) }
        for column in plan.columns where column.form != .none && change.slots.contains(column.slot) {
            if column.role == .toOne {
                let place = values.place(ofChunk: source >> Chunk.shift)
                let entry = place.entry(column.slot)
                let isAbsent = place.isAbsent(entry, source & Chunk.mask)
                let target = isAbsent ? nil : place.reference(entry, source & Chunk.mask)
                writer.write(reference: target, row, column.slot, isNew: false)
                continue
            }
            let chunk = writer.place(row)
            let entry = chunk.entry(column.slot)
            let code = codes[column.slot].isEmpty ? -1 : codes[column.slot][source]
            if entry.form == .code, code >= 0 {
                writer.write(code: Int(code), row, column.slot)
            } else {
                // They were written once, into `values`.
                _ = writer.write(values.storedForm(row: source, slot: column.slot), row, column, isNew: false)
            }
        }
    }

    /// A copy whose columns can take the new values: strings that the dictionary lacks lie in the chunk itself.
    private func prepared(_ chunk: Chunk, _ range: Range<Int>, _ rows: Int, owner: UInt64) -> Chunk {
        withExtendedLifetime(chunk) {
            let place = chunk.place
            var forms = plan.columns.map { place.entry($0.slot).form }
            var isOther = false
            for column in plan.columns where forms[column.slot] == .code {
                let lacks = range.contains { number in
                    guard let row = changes[number].row, changes[number].slots.contains(column.slot),
                        !values.isNull(row: row, slot: column.slot)
                    else { return false }
                    return codes[column.slot].isEmpty || codes[column.slot][row] < 0
                }
                if lacks {
                    forms[column.slot] = .text
                    isOther = true
                }
            }
            // What was erased has no place for values, and nobody changes them.
            if !isOther { return Chunk(copying: chunk, owner: owner) }
            return Chunk(copying: place, rows: rows, as: forms, plan.columns, base.dictionaries, owner)
        }
    }
}

extension TableVersion {
    func rows(ofChunk index: Int) -> Int { min(Chunk.capacity, endRow - index << Chunk.shift) }

    func cell(ofChunk index: Int) -> ChunkCell {
        groups[index >> ChunkGroup.shift].cells[index & ChunkGroup.mask]
    }

    /// The number of the first row of a chunk, which is not read for that.
    @inline(__always)
    func firstSequence(ofChunk index: Int) -> UInt64 {
        groups[index >> ChunkGroup.shift].firstSequence(ofChunk: index & ChunkGroup.mask)
    }

    /// A table of this plan with one chunk.
    fileprivate func single(_ chunk: Chunk, rows: Int) -> TableVersion {
        TableVersion(
            plan: plan, groups: [ChunkGroup([.chunk(chunk)])], endRow: rows, count: rows, dictionaries: dictionaries,
            links: [], indexes: [], verified: 0)
    }
}

extension ContiguousArray<UInt64> {
    /// The place of the first number that is not below another one, in ascending numbers.
    func firstPlace(notBefore number: UInt64, in range: Range<Int>? = nil) -> Int {
        var (low, high) = (range?.lowerBound ?? 0, range?.upperBound ?? count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
