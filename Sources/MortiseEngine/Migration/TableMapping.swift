import MortiseCore
import Synchronization

/// How the chunks of a table become those of a table under another schema: columns are taken as they are, left out, or filled with
/// one value. Rows keep their places.
final class TableMapping: Sendable {
    /// What a column of the new table has.
    enum Source: Sendable {
        /// The column at that slot of the old table; rows without a value get the other one, which is null for none.
        case column(Int, otherwise: StoredValue)
        /// That value in all rows; null for none.
        case constant(StoredValue)
    }

    let old: TablePlan
    let new: TablePlan
    /// By slot of the new table.
    let sources: [Source]
    let oldDictionaries: [StringDictionary?]
    /// By slot of the new table.
    let dictionaries: [StringDictionary?]
    /// A row with the values that come from no column. A place does not hold its chunk.
    private let values: Chunk?
    /// Whether all long values of a chunk stay, and no other comes.
    private let keepsHeaps: Bool

    /// - Returns: nil where a value does not fit its column.
    init?(of table: TableVersion, to new: TablePlan, _ sources: [Source]) {
        (old, self.new, self.sources) = (table.plan, new, sources)
        oldDictionaries = table.dictionaries
        dictionaries = zip(new.columns, sources).map { column, source in
            guard column.form == .text else { return nil }
            if case .column(let slot, _) = source, let known = table.dictionaries[slot] { return known.copy }
            return StringDictionary()
        }
        let given = sources.map(\.value)
        var fits = true
        values = given.allSatisfy(\.isNull) ? nil : Self.row(given, of: new, &fits)
        if !fits { return nil }
        let taken = Set(
            zip(new.columns, sources).compactMap { column, source -> Int? in
                if case .column(let slot, _) = source, column.form != .none { slot } else { nil }
            })
        keepsHeaps =
            old.columns.allSatisfy { !$0.form.isInHeap || taken.contains($0.slot) }
            && zip(new.columns, given).allSatisfy { !$0.form.isInHeap || $1.isNull }
    }

    /// One row with values of attributes, of which texts are left out.
    private static func row(_ values: [StoredValue], of plan: TablePlan, _ fits: inout Bool) -> Chunk? {
        let chunk = TableWriter(plan, from: nil, owner: EngineTransaction.nextOwner(), isForeign: true)
        let row = chunk.append(1)
        for column in plan.columns {
            let value = values[column.slot]
            if column.form == .text {
                if case .string = value { continue }
                if !value.isNull { fits = false }
            } else if !chunk.write(column.role == .attribute ? value : .null, row, column, isNew: true) {
                fits = false
            }
        }
        return chunk.newest.chunk
    }

    /// The first rows of a chunk of the old table, as the new one has them.
    func mapped(_ chunk: Chunk, rows: Int) -> Chunk {
        withExtendedLifetime(chunk) {
            let place = chunk.place
            for dictionary in dictionaries { dictionary?.prepare() }
            let forms = zip(new.columns, sources).map { form(of: $0, from: $1, place, rows) }
            // A heap may grow behind the rows of a chunk that is not full.
            let keepsHeap = keepsHeaps && rows == place.capacity && !changesText(forms, place)
            let result =
                keepsHeap
                ? Chunk(forms: forms, heapOf: chunk, owner: 0)
                : Chunk(forms: forms, capacity: place.capacity, owner: 0)
            for offset in 0..<rows {
                result.begin(place.sequence(offset), at: offset)
                if place.isDead(offset) { result.remove(offset) }
            }
            for (column, source) in zip(new.columns, sources) where forms[column.slot] != .none {
                let entry = result.place.entry(column.slot)
                switch source {
                case .constant: fill(result, entry, column, rows, where: { _ in true })
                case .column(let slot, let value):
                    let origin = place.entry(slot)
                    if origin.form == .none {
                        fill(result, entry, column, rows, where: { _ in true })
                        continue
                    }
                    copy(place, origin, to: result, entry, rows, keepsHeap: keepsHeap, oldDictionaries[slot])
                    if !value.isNull {
                        fill(result, entry, column, rows, where: { place.isAbsent(origin, $0) })
                    }
                }
            }
            return result
        }
    }

    /// The form of a column in a chunk that is made of another.
    private func form(of column: Column, from source: Source, _ place: ChunkPlace, _ rows: Int) -> ColumnForm {
        guard column.form != .none, case .column(let slot, let value) = source else { return column.form }
        let form = place.entry(slot).form
        // What was erased has no values, nor has what was in no storage.
        if form == .none { return column.form }
        let entry = place.entry(slot)
        let needsText = form == .code && !value.isNull && (0..<rows).contains { place.isAbsent(entry, $0) }
        return needsText ? .text : form
    }

    private func changesText(_ forms: [ColumnForm], _ place: ChunkPlace) -> Bool {
        zip(forms, sources).contains { form, source in
            guard form.isInHeap, case .column(let slot, _) = source else { return false }
            return !place.entry(slot).form.isInHeap
        }
    }

    private func copy(
        _ place: ChunkPlace, _ origin: ChunkPlace.Entry, to chunk: Chunk, _ entry: ChunkPlace.Entry, _ rows: Int,
        keepsHeap: Bool, _ dictionary: StringDictionary?
    ) {
        for first in stride(from: 0, to: rows, by: 64) {
            chunk.setAbsent(entry, first, place.absentWord(origin, first / 64), count: min(64, rows - first))
        }
        if origin.form == entry.form, keepsHeap || !entry.form.isInHeap {
            (chunk.memory + entry.offset).copyMemory(
                from: place.fixed + origin.offset, byteCount: entry.form.width * rows)
            return
        }
        for offset in 0..<rows where !place.isAbsent(origin, offset) {
            if origin.form == .code {
                var text = dictionary?[place.code(origin, offset)] ?? ""
                text.withUTF8 { chunk.store(bytes: UnsafeRawBufferPointer($0), entry, offset, isNew: true) }
            } else {
                chunk.store(
                    bytes: place.bytes(origin, offset), entry, offset, isNew: true,
                    isExternal: place.isExternal(origin, offset))
            }
        }
    }

    /// Gives rows the value of the column that comes from nowhere.
    private func fill(
        _ chunk: Chunk, _ entry: ChunkPlace.Entry, _ column: Column, _ rows: Int, where isDue: (Int) -> Bool
    ) {
        let value = sources[column.slot].value
        let known = values?.place.entry(column.slot)
        for offset in 0..<rows where isDue(offset) {
            if value.isNull {
                chunk.setAbsent(entry, offset, true)
                continue
            }
            if case .string(var text) = value, column.form == .text {
                text.withUTF8 { chunk.store(bytes: UnsafeRawBufferPointer($0), entry, offset, isNew: true) }
            } else if let values, let known {
                if known.form.isInHeap {
                    chunk.store(bytes: values.place.bytes(known, 0), entry, offset, isNew: true)
                } else {
                    chunk.copyValue(from: values.place, known, 0, entry, offset)
                }
            }
            chunk.setAbsent(entry, offset, false)
        }
    }
}

extension TableMapping.Source {
    /// The value that comes from no column.
    fileprivate var value: StoredValue {
        switch self {
        case .column(_, let value), .constant(let value): value
        }
    }
}

/// A chunk of a table that is made of one under another schema when it is first touched.
final class MappedChunk: Sendable {
    private enum State: Sendable {
        case due(ChunkCell)
        case made(Chunk)
    }

    let firstSequence: UInt64
    /// What it is made of, where that keeps nothing: it can be made again.
    private let origin: ChunkCell?
    let rows: Int
    private let mapping: TableMapping
    private let state: Mutex<State>

    init(_ cell: ChunkCell, rows: Int, _ mapping: TableMapping) {
        (self.rows, self.mapping) = (rows, mapping)
        firstSequence = cell.firstSequence
        origin = if case .chunk = cell { nil } else { cell.unread(rows: rows) }
        state = Mutex(.due(cell))
    }

    /// A cell for the same chunk that keeps nothing of what was made for this one, as far as it can be made again.
    var unread: ChunkCell {
        if let origin { return .mapped(MappedChunk(origin, rows: rows, mapping)) }
        return switch state.withLock({ $0 }) {
        case .due(let cell): .mapped(MappedChunk(cell, rows: rows, mapping))
        case .made(let chunk): .chunk(chunk)
        }
    }

    /// The bytes of memory that are kept besides those of the chunk that it is made of.
    var keptBytes: Int { state.withLock { if case .made(let chunk) = $0 { chunk.byteCount } else { 0 } } }

    /// The chunk. From then on it is kept in place of the one that it was made of.
    var chunk: Chunk {
        state.withLock { state in
            switch state {
            case .made(let chunk): return chunk
            case .due(let cell):
                let chunk = mapping.mapped(cell.take(), rows: rows)
                state = .made(chunk)
                return chunk
            }
        }
    }

    /// The chunk, which is not kept here if it is made now.
    func read() throws -> Chunk {
        switch state.withLock({ $0 }) {
        case .made(let chunk): chunk
        case .due(let cell): mapping.mapped(try cell.read(), rows: rows)
        }
    }

    /// As `chunk`, for who keeps it: it is not kept here.
    func take() -> Chunk {
        switch state.withLock({ $0 }) {
        case .made(let chunk): chunk
        case .due(let cell): mapping.mapped(cell.take(), rows: rows)
        }
    }
}
