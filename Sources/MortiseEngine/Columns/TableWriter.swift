import Foundation
import MortiseCore

/// A table under construction: shares the chunks, strings and index nodes of the version it started from until it writes
/// to them. Rows after the published ones are written in place, where nobody reads.
final class TableWriter {
    let plan: TablePlan
    let owner: UInt64
    private let base: TableVersion?
    // Of what is asked for once for each row or value, checking each access for exclusivity would take longer than the
    // access. One thread has a writer, and what reads these calls nothing that comes back.
    @exclusivity(unchecked) private var groups: ContiguousArray<ChunkGroup>
    /// The groups that were written to, by number; the last may be one that the base does not have.
    @exclusivity(unchecked) var open: [Int: ContiguousArray<ChunkCell>] = [:]
    private(set) var chunkCount: Int
    private(set) var endRow: Int
    private var count: Int
    private var forms: [ColumnForm]
    @exclusivity(unchecked) var dictionaries: [StringDictionary?]
    @exclusivity(unchecked) var links: [LinkSet]
    @exclusivity(unchecked) var indexes: [OrderedIndex]
    /// Whether chunks are in a file.
    var isSpilled = false
    /// Whether what is written comes out of a file or from another process, so that nobody knows whether it fits.
    private let isForeign: Bool
    // The chunk that rows are being added to, looked up once for each row and not for each value.
    @exclusivity(unchecked) private(set) var current: Chunk
    @exclusivity(unchecked) private(set) var currentIndex = -1
    private static let noChunk = Chunk(forms: [], capacity: 0, owner: 0)

    /// Creates a writer on top of `base`. `owner` is a number that no other transaction has; `isForeign` says that the
    /// values come from a file or from another process.
    init(_ plan: TablePlan, from base: TableVersion?, owner: UInt64, isForeign: Bool) {
        self.plan = plan
        self.owner = owner
        self.base = base
        groups = base?.groups ?? []
        endRow = base?.endRow ?? 0
        count = base?.count ?? 0
        chunkCount = (endRow + Chunk.mask) >> Chunk.shift
        dictionaries =
            base?.dictionaries
            ?? plan.columns.map { $0.form == .text ? StringDictionary() : nil }
        links = base?.links ?? Array(repeating: LinkSet(), count: plan.linkCount)
        indexes = base?.indexes ?? plan.indexes.map { OrderedIndex(isWide: $0.isWide) }
        self.isForeign = isForeign
        forms = plan.forms
        current = Self.noChunk
    }

    // MARK: Chunks

    private func chunk(_ index: Int) -> Chunk {
        if index == currentIndex { return current }
        let group = index >> ChunkGroup.shift
        return (open[group] ?? groups[group].cells)[index & ChunkGroup.mask].chunk
    }

    private func replace(_ index: Int, with chunk: Chunk) {
        let group = index >> ChunkGroup.shift
        if open[group] == nil { open[group] = group < groups.count ? groups[group].cells : [] }
        if index & ChunkGroup.mask < open[group]?.count ?? 0 {
            open[group]?[index & ChunkGroup.mask] = .chunk(chunk)
        } else {
            open[group]?.append(.chunk(chunk))
        }
        current = chunk
        currentIndex = index
    }

    /// A chunk whose published rows this writer may change.
    private func owned(_ index: Int) -> Chunk {
        let chunk = chunk(index)
        if chunk.owner == owner {
            if chunk.isWasteful {
                let fresh = rebuilt(chunk, index, forms: nil, capacity: chunk.capacity)
                replace(index, with: fresh)
                return fresh
            }
            // Its first rows may have been made in place, and it may have been checked since.
            if isForeign { chunk.place.verification.set(0) }
            return chunk
        }
        let copy =
            chunk.isWasteful
            ? rebuilt(chunk, index, forms: nil, capacity: chunk.capacity) : Chunk(copying: chunk, owner: owner)
        if isForeign { copy.place.verification.set(0) }
        replace(index, with: copy)
        return copy
    }

    /// The same rows in a new chunk, with other forms or more room, and without garbage.
    private func rebuilt(_ chunk: Chunk, _ index: Int, forms other: [ColumnForm]?, capacity: Int) -> Chunk {
        let place = chunk.place
        let forms = other ?? plan.columns.indices.map { place.entry($0).form }
        let fresh = Chunk(forms: forms, capacity: capacity, owner: owner)
        for offset in 0..<min(endRow - index << Chunk.shift, chunk.capacity) {
            fresh.begin(place.sequence(offset), at: offset)
            for column in plan.columns where column.form != .none {
                let old = place.entry(column.slot)
                let new = fresh.place.entry(column.slot)
                if place.isAbsent(old, offset) {
                    fresh.clear(new, offset, isNew: true)
                } else if old.form == .code, new.form == .text {
                    var text = dictionaries[column.slot]?[place.code(old, offset)] ?? ""
                    text.withUTF8 { fresh.store(bytes: UnsafeRawBufferPointer($0), new, offset, isNew: true) }
                } else if old.form.isInHeap {
                    fresh.store(
                        bytes: place.bytes(old, offset), new, offset, isNew: true,
                        isExternal: place.isExternal(old, offset))
                } else {
                    fresh.copyValue(from: place, old, new, offset)
                }
            }
            if place.isDead(offset) { fresh.remove(offset) }
        }
        fresh.place.verification.set(isForeign ? 0 : place.verification.state)
        return fresh
    }

    // MARK: Rows

    /// Adds a row and returns its number; the caller writes a value for every slot next. Record numbers must ascend.
    /// `more` is the number of rows known to follow.
    func append(_ sequence: UInt64, followedBy more: Int = 0) -> Int {
        let row = endRow
        let index = row >> Chunk.shift
        let offset = row & Chunk.mask
        if index == chunkCount {
            chooseForms()
            let capacity = index == 0 && more < 64 ? 64 : Chunk.capacity
            replace(index, with: Chunk(forms: forms, capacity: capacity, owner: owner))
            chunkCount += 1
        } else if offset == chunk(index).capacity {
            replace(index, with: rebuilt(chunk(index), index, forms: nil, capacity: Chunk.capacity))
        } else if currentIndex != index {
            current = chunk(index)
            currentIndex = index
        }
        endRow += 1
        count += 1
        current.begin(sequence, at: offset)
        note(offset)
        return row
    }

    /// Adds up to `limit` rows (at least one) with consecutive record numbers and returns them; the caller writes their
    /// values next. Adds at most 64, and no more than fit the chunk of the first.
    func append(upTo limit: Int, from sequence: UInt64) -> Range<Int> {
        let row = append(sequence, followedBy: limit - 1)
        let more = min(limit, 64, current.capacity - row & Chunk.mask) - 1
        let offset = row & Chunk.mask
        for step in 0..<more {
            current.begin(sequence + UInt64(step) + 1, at: offset + step + 1)
            note(offset + step + 1)
        }
        endRow += more
        count += more
        return row..<(row + 1 + more)
    }

    @inline(__always)
    private func note(_ offset: Int) {
        let verification = current.place.verification
        if isForeign { verification.addForeign(offset) } else { verification.addOwn(offset) }
    }

    private func chooseForms() {
        for column in plan.columns where column.form == .text {
            let isCoded = dictionaries[column.slot]?.beginChunk(atRow: endRow) ?? false
            forms[column.slot] = isCoded ? .code : .text
        }
    }

    func remove(_ row: Int) {
        owned(row >> Chunk.shift).remove(row & Chunk.mask)
        count -= 1
    }

    /// The row that had a number and was removed, if it can have values again: what is erased has no place for them.
    func remains(of sequence: UInt64) -> Int? {
        var low = 0
        var high = chunkCount
        while low < high {
            let middle = (low + high) / 2
            if chunk(middle).place.sequence(0) <= sequence { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return nil }
        let first = (low - 1) << Chunk.shift
        let place = chunk(low - 1).place
        guard let offset = place.offset(of: sequence, count: min(Chunk.capacity, endRow - first)), place.isDead(offset),
            plan.columns.allSatisfy({ $0.form == .none || place.entry($0.slot).form != .none })
        else { return nil }
        return first + offset
    }

    /// Whether rows are there that the version before had removed.
    @exclusivity(unchecked) private var hasRevived = false

    /// Puts a removed row back in its place; the caller writes a value for every slot next, over those that it had.
    func revive(_ row: Int) {
        hasRevived = true
        owned(row >> Chunk.shift).revive(row & Chunk.mask)
        count += 1
    }

    /// Takes all rows out and gives their values' memory back as far as no version reads them. Their numbers stay taken:
    /// a reader of an older version must not find another record under one.
    func erase() {
        for index in 0..<chunkCount {
            let old = chunk(index)
            let rows = min(Chunk.capacity, endRow - index << Chunk.shift)
            let isLast = index == chunkCount - 1
            let fresh = Chunk(
                forms: isLast ? plan.columns.map(\.form) : plan.columns.map { _ in .none }, capacity: old.capacity,
                owner: owner)
            for offset in 0..<rows {
                fresh.begin(old.place.sequence(offset), at: offset)
                fresh.remove(offset)
            }
            replace(index, with: fresh)
        }
        count = 0
        dictionaries = plan.columns.map { $0.form == .text ? StringDictionary() : nil }
        links = Array(repeating: LinkSet(), count: plan.linkCount)
        indexes = plan.indexes.map { OrderedIndex(isWide: $0.isWide) }
    }

    func sequence(_ row: Int) -> UInt64 { chunk(row >> Chunk.shift).place.sequence(row & Chunk.mask) }

    func isLive(_ row: Int) -> Bool {
        row < endRow && !chunk(row >> Chunk.shift).place.isDead(row & Chunk.mask)
    }

    /// The row with that number if it is there.
    func row(_ sequence: UInt64) -> Int? { rowOrRemains(sequence).flatMap { isLive($0) ? $0 : nil } }

    /// The row with that number, also if it was deleted by this transaction.
    func rowOrRemains(_ sequence: UInt64) -> Int? {
        var low = 0
        var high = chunkCount
        if let base, base.endRow > 0, sequence <= base.sequence(ofRow: base.endRow - 1) {
            if let row = base.row(ofSequence: sequence) { return row }
            if !hasRevived { return nil }
        }
        while low < high {
            let middle = (low + high) / 2
            if chunk(middle).place.sequence(0) <= sequence { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return nil }
        let first = (low - 1) << Chunk.shift
        let place = chunk(low - 1).place
        return place.offset(of: sequence, count: min(Chunk.capacity, endRow - first)).map { first + $0 }
    }

    func place(_ row: Int) -> ChunkPlace { chunk(row >> Chunk.shift).place }

    func value(_ row: Int, _ slot: Int) -> StoredValue {
        place(row).value(plan.columns[slot], row & Chunk.mask, dictionaries[slot], plan.targets[slot])
    }

    /// The target of a to-one relationship.
    func reference(_ row: Int, _ slot: Int) -> (sequence: UInt64, target: Int)? {
        let place = place(row)
        let entry = place.entry(slot)
        return place.isAbsent(entry, row & Chunk.mask) ? nil : place.reference(entry, row & Chunk.mask)
    }

    // MARK: Values

    /// Where the row is that `append` has just made, for writing its values one by one.
    @inline(__always)
    var newest: (chunk: Chunk, offset: Int) { (current, (endRow - 1) & Chunk.mask) }

    /// The number of a string in a slot's dictionary, given as valid UTF-8; nil if the dictionary cannot take it.
    func code(of utf8: UnsafeRawBufferPointer, _ slot: Int) -> Int? {
        if utf8.count > StringDictionary.longest { return nil }
        return utf8.withMemoryRebound(to: UInt8.self) { dictionaries[slot]?.add(utf8: $0) }
    }

    /// Writes an attribute's value. `isNew` says that the row is the one that `append` has just made.
    /// - Returns: false, with nothing written, if the value is not of the column's kind.
    func write(_ value: StoredValue, _ row: Int, _ column: Column, isNew: Bool) -> Bool {
        if column.form == .none { return true }
        let offset = row & Chunk.mask
        var chunk = isNew ? current : owned(row >> Chunk.shift)
        var entry = chunk.place.entry(column.slot)
        switch (value, entry.form) {
        case (.null, _):
            chunk.clear(entry, offset, isNew: isNew)
            return true
        case (.bool(let value), .bool): chunk.store(value ? 1 : 0 as UInt8, entry, offset)
        case (.integer(let value), .int64): chunk.store(value.littleEndian, entry, offset)
        case (.double(let value), .double): chunk.store(value.bitPattern.littleEndian, entry, offset)
        case (.date(let value), .date):
            chunk.store(value.timeIntervalSinceReferenceDate.bitPattern.littleEndian, entry, offset)
        case (.uuid(let value), .uuid): chunk.store(value.uuid, entry, offset)
        case (.unsigned(let value), .uint64): chunk.store(value.littleEndian, entry, offset)
        case (.float(let value), .float): chunk.store(value.bitPattern.littleEndian, entry, offset)
        case (.decimal(let value), .decimal): chunk.store(StoredDecimal(value), entry, offset)
        case (.integer(let value), _):
            guard column.kind?.integerRange?.contains(value) == true else {
                return column.kind == .coded && writeBytes(CodedBytes.encode(.integer(value)), row, column, isNew)
            }
            switch entry.form.width {
            case 1: chunk.store(UInt8(truncatingIfNeeded: value), entry, offset)
            case 2: chunk.store(UInt16(truncatingIfNeeded: value).littleEndian, entry, offset)
            default: chunk.store(UInt32(truncatingIfNeeded: value).littleEndian, entry, offset)
            }
        case (.string(let value), .code):
            if value.utf8.count <= StringDictionary.longest, let code = dictionaries[column.slot]?.add(value) {
                chunk.store(UInt16(code).littleEndian, entry, offset)
            } else {
                // Too many different ones, or too long: this chunk keeps its strings itself from now on.
                var forms = plan.columns.indices.map { chunk.place.entry($0).form }
                forms[column.slot] = .text
                let index = row >> Chunk.shift
                replace(index, with: rebuilt(chunk, index, forms: forms, capacity: chunk.capacity))
                chunk = current
                entry = chunk.place.entry(column.slot)
                return write(value, row, column, isNew: false)
            }
        case (.string(var value), .text):
            return value.withUTF8 { writeBytes(UnsafeRawBufferPointer($0), row, column, isNew) }
        case (.data(let value), .bytes) where column.kind == .data:
            return value.withUnsafeBytes { writeBytes($0, row, column, isNew) }
        case (.array, .bytes) where column.kind == .data:
            guard let reference = ExternalReference(storedForm: value) else { return false }
            return reference.bytes.withUnsafeBytes { writeBytes($0, row, column, isNew, isExternal: true) }
        case (.url(let value), .bytes) where column.kind == .url:
            return writeBytes(StoredURL.encode(value), row, column, isNew)
        case (_, .bytes) where column.kind == .coded && value.fits(.coded):
            // What is in a file was within the limits of its time.
            guard isForeign ? !CodedBytes.isTooDeep(value) : isWithinBudget(value, row, column, isNew: isNew) else {
                return false
            }
            return writeBytes(CodedBytes.encode(value), row, column, isNew)
        default: return false
        }
        chunk.setAbsent(entry, offset, false)
        return true
    }

    /// Whether a record may hold a coded value besides its others.
    private func isWithinBudget(_ value: StoredValue, _ row: Int, _ column: Column, isNew: Bool) -> Bool {
        let cost = CodedBudget.Cost(value)
        guard cost.isAllowed else { return false }
        if cost.excess == 0 || plan.codedSlots.count == 1 { return true }
        // Those of a new row are written in the order of their slots.
        let others = plan.codedSlots.filter { isNew ? $0 < column.slot : $0 != column.slot }
        let place = (isNew ? current : chunk(row >> Chunk.shift)).place
        let offset = row & Chunk.mask
        var sum = cost.excess
        for entry in others.map(place.entry) where entry.form != .none && !place.isAbsent(entry, offset) {
            sum += CodedBudget.Cost(CodedBytes.decode(place.bytes(entry, offset))).excess
        }
        return sum <= CodedBudget.parts
    }

    private func write(_ value: String, _ row: Int, _ column: Column, isNew: Bool) -> Bool {
        var value = value
        return value.withUTF8 { writeBytes(UnsafeRawBufferPointer($0), row, column, isNew) }
    }

    private func writeBytes(_ bytes: [UInt8], _ row: Int, _ column: Column, _ isNew: Bool) -> Bool {
        bytes.withUnsafeBytes { writeBytes($0, row, column, isNew) }
    }

    private func writeBytes(
        _ bytes: UnsafeRawBufferPointer, _ row: Int, _ column: Column, _ isNew: Bool, isExternal: Bool = false
    ) -> Bool {
        guard bytes.count < Int(UInt32.max) else { return false }
        let chunk = room(bytes.count, isNew ? current : owned(row >> Chunk.shift), row)
        let entry = chunk.place.entry(column.slot)
        chunk.store(bytes: bytes, entry, row & Chunk.mask, isNew: isNew, isExternal: isExternal)
        chunk.setAbsent(entry, row & Chunk.mask, false)
        return true
    }

    /// The chunk, or a copy of it where it is shared and its heap has no room: readers keep the old heap.
    func room(_ bytes: Int, _ chunk: Chunk, _ row: Int) -> Chunk {
        if bytes <= ChunkPlace.inlineLimit || chunk.hasHeap(bytes, unpublished: chunk.owner == owner) { return chunk }
        return owned(row >> Chunk.shift)
    }

    func write(reference: (sequence: UInt64, target: Int)?, _ row: Int, _ slot: Int, isNew: Bool) {
        let chunk = isNew ? current : owned(row >> Chunk.shift)
        let entry = chunk.place.entry(slot)
        if let reference {
            chunk.store(reference: reference.sequence, target: reference.target, entry, row & Chunk.mask)
            chunk.setAbsent(entry, row & Chunk.mask, false)
        } else {
            chunk.clear(entry, row & Chunk.mask, isNew: isNew)
        }
    }

    /// Writes a string that the slot's dictionary has, into a chunk that keeps numbers of strings.
    func write(code: Int, _ row: Int, _ slot: Int) {
        let chunk = owned(row >> Chunk.shift)
        let entry = chunk.place.entry(slot)
        chunk.store(UInt16(truncatingIfNeeded: code).littleEndian, entry, row & Chunk.mask)
        chunk.setAbsent(entry, row & Chunk.mask, false)
    }

    // MARK: The end

    /// The rows that are there, with their numbers.
    func forEachRow(_ body: (_ row: Int, _ sequence: UInt64) throws -> Void) rethrows {
        for index in 0..<chunkCount {
            let place = chunk(index).place
            let first = index << Chunk.shift
            for offset in 0..<min(Chunk.capacity, endRow - first) where !place.isDead(offset) {
                try body(first + offset, place.sequence(offset))
            }
            if isSpilled, (index + 1) & ChunkGroup.mask == 0 { letGo(index >> ChunkGroup.shift) }
        }
    }

    func finished() -> TableVersion {
        for (index, chunks) in open.sorted(by: { $0.key < $1.key }) {
            if index < groups.count { groups[index] = ChunkGroup(chunks) } else { groups.append(ChunkGroup(chunks)) }
        }
        return TableVersion(
            plan: plan, groups: groups, endRow: endRow, count: count, dictionaries: dictionaries, links: links,
            indexes: indexes, verified: isForeign ? 0 : base?.verifiedLayout ?? RowVerification.own)
    }
}
