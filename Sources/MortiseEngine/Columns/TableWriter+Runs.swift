import Foundation
import MortiseCore

// Values of many new rows at once, column by column: what kind of column it is, and where it lies, is looked up once.

extension TableWriter {
    /// Writes one attribute of rows that `append(upTo:from:)` has just made. There is one snapshot for each row;
    /// `source` is the slot of the attribute in the snapshots.
    /// - Returns: a bit mask of the rows that are left to be written one by one.
    func write(
        _ snapshots: UnsafeBufferPointer<DefaultSnapshot>, _ source: Int, _ column: Column, _ rows: Range<Int>
    ) -> UInt64 {
        var run = ColumnRun(
            snapshots: snapshots, source: source, isOptional: column.isOptional,
            first: rows.lowerBound & Chunk.mask)
        var chunk = current
        let entry = chunk.place.entry(column.slot)
        switch entry.form {
        case .bool: run.fill(chunk, entry) { if case .bool(let value) = $0 { value ? 1 as UInt8 : 0 } else { nil } }
        case .int64: run.fill(chunk, entry) { if case .integer(let value) = $0 { value.littleEndian } else { nil } }
        case .uint64: run.fill(chunk, entry) { if case .unsigned(let value) = $0 { value.littleEndian } else { nil } }
        case .float:
            run.fill(chunk, entry) { if case .float(let value) = $0 { value.bitPattern.littleEndian } else { nil } }
        case .double:
            run.fill(chunk, entry) { if case .double(let value) = $0 { value.bitPattern.littleEndian } else { nil } }
        case .date:
            run.fill(chunk, entry) {
                if case .date(let value) = $0 {
                    value.timeIntervalSinceReferenceDate.bitPattern.littleEndian
                } else {
                    nil
                }
            }
        case .uuid:
            run.fill(chunk, entry) { value -> uuid_t? in
                if case .uuid(let value) = value { value.uuid } else { nil }
            }
        case .code:
            guard var dictionary = dictionaries[column.slot] else { return run.all }
            run.fill(chunk, entry) { value -> UInt16? in
                guard case .string(let text) = value, text.utf8.count <= StringDictionary.longest,
                    let code = dictionary.add(text)
                else { return nil }
                return UInt16(truncatingIfNeeded: code).littleEndian
            }
            dictionaries[column.slot] = dictionary
        case .text:
            // Room for all of them first, because that may take another chunk.
            chunk = room(run.heapBytes, chunk, rows.lowerBound)
            run.fillText(chunk, chunk.place.entry(column.slot))
        default: return run.all
        }
        run.mark(chunk, chunk.place.entry(column.slot))
        return run.left
    }
}

extension TableWriter {
    /// Writes values, one for each column, into the row that `append` has just made, slot by slot, until it meets a
    /// value of a less common kind.
    /// - Returns: the slot of the first attribute that was not written; the number of slots if all were.
    func writeNewest(
        _ values: UnsafeBufferPointer<StoredValue>, _ columns: UnsafeBufferPointer<Column>, from first: Int
    ) -> Int {
        let (chunk, offset) = newest
        let place = chunk.place
        for slot in first..<columns.count where columns[slot].role == .attribute {
            let entry = place.entry(slot)
            switch (entry.form, values[slot]) {
            case (.none, _) where columns[slot].form == .none: continue
            case (.bool, .bool(let value)): chunk.store(value ? 1 : 0 as UInt8, entry, offset)
            case (.int64, .integer(let value)): chunk.store(value.littleEndian, entry, offset)
            case (.double, .double(let value)): chunk.store(value.bitPattern.littleEndian, entry, offset)
            case (.date, .date(let value)):
                chunk.store(value.timeIntervalSinceReferenceDate.bitPattern.littleEndian, entry, offset)
            case (.uuid, .uuid(let value)): chunk.store(value.uuid, entry, offset)
            case (.code, .string(let text)):
                guard text.utf8.count <= StringDictionary.longest, let code = dictionaries[slot]?.add(text) else {
                    return slot
                }
                chunk.store(UInt16(truncatingIfNeeded: code).littleEndian, entry, offset)
            default: return slot
            }
            chunk.setAbsent(entry, offset, false)
        }
        return columns.count
    }
}

/// The values of one column for rows side by side.
private struct ColumnRun {
    let snapshots: UnsafeBufferPointer<DefaultSnapshot>
    let source: Int
    let isOptional: Bool
    /// The offset of the first row in its chunk.
    let first: Int
    /// The places of values that are not written yet, and of null ones.
    var left: UInt64 = 0
    var absent: UInt64 = 0

    var all: UInt64 { snapshots.count == 64 ? .max : 1 << UInt64(snapshots.count) - 1 }

    @inline(__always)
    mutating func fill<T: BitwiseCopyable>(
        _ chunk: Chunk, _ entry: ChunkPlace.Entry, _ bits: (StoredValue) -> T?
    ) {
        for place in snapshots.indices {
            if let value = bits(snapshots[place].values[source]) {
                chunk.store(value, entry, first + place)
            } else {
                skip(place)
            }
        }
    }

    mutating func fillText(_ chunk: Chunk, _ entry: ChunkPlace.Entry) {
        for place in snapshots.indices {
            var isWritten = false
            if case .string(let text) = snapshots[place].values[source] {
                isWritten =
                    text.utf8.withContiguousStorageIfAvailable { bytes in
                        guard bytes.count < Int(UInt32.max) else { return false }
                        chunk.store(bytes: UnsafeRawBufferPointer(bytes), entry, first + place, isNew: true)
                        return true
                    } ?? false
            }
            if !isWritten { skip(place) }
        }
    }

    /// How much of a chunk's heap the strings take.
    var heapBytes: Int {
        snapshots.reduce(0) { sum, snapshot in
            guard case .string(let text) = snapshot.values[source] else { return sum }
            let count = text.utf8.count
            return count > ChunkPlace.inlineLimit ? sum + count : sum
        }
    }

    @inline(never)
    private mutating func skip(_ place: Int) {
        if isOptional, snapshots[place].values[source].isNull {
            absent |= 1 << UInt64(place)
        } else {
            left |= 1 << UInt64(place)
        }
    }

    func mark(_ chunk: Chunk, _ entry: ChunkPlace.Entry) {
        var places = absent
        while places != 0 {
            chunk.clear(entry, first + places.trailingZeroBitCount, isNew: true)
            places &= places - 1
        }
        chunk.setAbsent(entry, first, absent, count: snapshots.count)
    }
}
