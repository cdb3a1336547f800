public import Foundation
public import MortiseCore
import Synchronization

/// The rows of one entity in one version of an engine. Immutable.
///
/// @unchecked Sendable: nothing changes after initialization but the verification mark, which is atomic.
public final class TableVersion: RowSource, @unchecked Sendable {
    let plan: TablePlan
    let groups: ContiguousArray<ChunkGroup>
    let dictionaries: [StringDictionary?]
    /// By slot: who is at the other end of a to-many relationship; then the reverse of relationships without a property.
    let links: [LinkSet]
    /// By the plan's definitions.
    let indexes: [OrderedIndex]
    /// The layout that all rows are known to fit.
    private let verified: Atomic<UInt64>
    private let rowEnd: Int
    private let liveCount: Int
    /// The number of the first row.
    private let firstSequence: UInt64
    // The groups' own tables of places: two loads from a row to its chunk.
    private let places: UnsafeMutablePointer<UnsafeMutablePointer<ChunkSpot>>
    // By slot, the strings of its dictionary: reading one counts no reference but its own.
    let strings: UnsafeMutablePointer<UnsafePointer<String>?>
    private let columnCount: Int

    init(
        plan: TablePlan, groups: ContiguousArray<ChunkGroup>, endRow: Int, count: Int,
        dictionaries: [StringDictionary?], links: [LinkSet], indexes: [OrderedIndex], verified: UInt64
    ) {
        self.plan = plan
        self.groups = groups
        self.dictionaries = dictionaries
        self.links = links
        self.indexes = indexes
        self.verified = Atomic(verified)
        rowEnd = endRow
        liveCount = count
        firstSequence = groups.first?.firstSequence ?? 0
        places = .allocate(capacity: max(groups.count, 1))
        for (index, group) in groups.enumerated() { (places + index).initialize(to: group.places) }
        columnCount = plan.columns.count
        strings = .allocate(capacity: max(columnCount, 1))
        for slot in 0..<columnCount { (strings + slot).initialize(to: dictionaries[slot]?.start) }
    }

    deinit {
        places.deallocate()
        strings.deallocate()
    }

    /// The layout of the rows.
    package var layout: RecordLayout { plan.layout }
    public override var endRow: Int { rowEnd }
    public override var count: Int { liveCount }

    /// The chunk of a row below `endRow`.
    @inline(__always)
    func place(ofChunk index: Int) -> ChunkPlace {
        places[index >> ChunkGroup.shift][index & ChunkGroup.mask].place ?? load(index)
    }

    /// The same for a chunk that was touched before; nil for others, which takes no reading.
    @inline(__always)
    func placeIfLoaded(ofChunk index: Int) -> ChunkPlace? {
        places[index >> ChunkGroup.shift][index & ChunkGroup.mask].place
    }

    @inline(never)
    private func load(_ index: Int) -> ChunkPlace {
        groups[index >> ChunkGroup.shift].load(index & ChunkGroup.mask)
    }

    @inline(__always)
    func isRow(_ row: Int) -> Bool { row >= 0 && row < rowEnd }

    public override func contains(row: Int) -> Bool {
        isRow(row) && !place(ofChunk: row >> Chunk.shift).isDead(row & Chunk.mask)
    }

    public override func identifier(ofRow row: Int) -> PersistentIdentifier { plan.identifiers[sequence(ofRow: row)] }

    /// The record number of a row; 0 for a row that does not exist.
    public func sequence(ofRow row: Int) -> UInt64 {
        isRow(row) ? place(ofChunk: row >> Chunk.shift).sequence(row & Chunk.mask) : 0
    }

    public override func row(of identifier: PersistentIdentifier) -> Int? {
        plan.identifiers.sequence(of: identifier).flatMap(row(ofSequence:))
    }

    public override func row(of identifier: PersistentIdentifier, expectedAt row: Int) -> Int? {
        guard let sequence = plan.identifiers.sequence(of: identifier) else { return nil }
        return isRow(row) && self.sequence(ofRow: row) == sequence && contains(row: row)
            ? row : self.row(ofSequence: sequence)
    }

    /// The row of the record with that number; nil if there is no such record.
    func row(ofSequence sequence: UInt64) -> Int? {
        // Where no number was left out since the first row, this is it: each step of a search waits for memory.
        let guess = Int(truncatingIfNeeded: sequence &- firstSequence)
        if isRow(guess), let place = placeIfLoaded(ofChunk: guess >> Chunk.shift),
            place.sequence(guess & Chunk.mask) == sequence
        {
            return place.isDead(guess & Chunk.mask) ? nil : guess
        }
        var low = 0
        var high = groups.count
        while low < high {
            let middle = (low + high) / 2
            if groups[middle].firstSequence <= sequence { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return nil }
        let chunk = (low - 1) << ChunkGroup.shift + groups[low - 1].chunk(for: sequence)
        let first = chunk << Chunk.shift
        let place = place(ofChunk: chunk)
        guard let offset = place.offset(of: sequence, count: min(Chunk.capacity, rowEnd - first)),
            !place.isDead(offset)
        else { return nil }
        return first + offset
    }

    public override func part(around row: Int) -> (rows: RowSource, first: Int) {
        guard isRow(row) else { return (self, 0) }
        let number = row >> (Chunk.shift + ChunkGroup.shift)
        // What cannot be read is told where it is read next.
        return (try? part(number)).map { ($0, number << (Chunk.shift + ChunkGroup.shift)) } ?? (self, 0)
    }

    public override func rowsThatMayDiffer(from older: RowSource) -> [Range<Int>]? {
        guard let older = older as? TableVersion, older.plan === plan, older.groups.count <= groups.count else {
            return nil
        }
        return differences(from: older)
    }

    var verifiedLayout: UInt64 { verified.load(ordering: .relaxed) }

    public override func needsVerification(for checks: PropertyChecks) -> Bool {
        !RowVerification.admits(verifiedLayout, RowVerification.key(checks))
    }

    public override func noteVerified(for checks: PropertyChecks) {
        verified.store(RowVerification.key(checks), ordering: .relaxed)
    }

    public override func verification(ofRow row: Int, for checks: PropertyChecks) -> (rows: Range<Int>, isDone: Bool) {
        guard isRow(row) else { return (row..<(row + 1), false) }
        let index = row >> Chunk.shift
        let first = index << Chunk.shift
        let count = min(Chunk.capacity, rowEnd - first)
        let isDone = place(ofChunk: index).verification.isDone(count, RowVerification.key(checks))
        return (first..<(first + count), isDone)
    }

    public override func noteVerified(_ rows: Range<Int>, for checks: PropertyChecks) {
        guard isRow(rows.lowerBound) else { return }
        place(ofChunk: rows.lowerBound >> Chunk.shift).verification.note(rows.count, RowVerification.key(checks))
    }

    // MARK: Values

    // Values by type. Each looks at the chunk's directory, so that a chunk may keep a column in another form than the next.
    // A row without value has zeros in its place: what is not zero is there, and needs no look at the bitmap.

    @inline(__always)
    private func find(_ row: Int, _ slot: Int) -> (place: ChunkPlace, entry: ChunkPlace.Entry, offset: Int)? {
        guard isRow(row), slot >= 0, slot < columnCount else { return nil }
        let place = place(ofChunk: row >> Chunk.shift)
        return (place, place.entry(slot), row & Chunk.mask)
    }

    public override func isNull(row: Int, slot: Int) -> Bool {
        guard let (place, entry, offset) = find(row, slot) else { return true }
        return plan.columns[slot].role.isToMany ? false : entry.form == .none || place.isAbsent(entry, offset)
    }

    public override func bool(row: Int, slot: Int) -> Bool? {
        guard let (place, entry, offset) = find(row, slot), entry.form == .bool else { return nil }
        if place.load(entry, offset, as: UInt8.self) != 0 { return true }
        return place.isAbsent(entry, offset) ? nil : false
    }

    public override func int64(row: Int, slot: Int) -> Int64? {
        guard let (place, entry, offset) = find(row, slot), let value = place.integer(entry, offset) else { return nil }
        return value == 0 && place.isAbsent(entry, offset) ? nil : value
    }

    public override func uint64(row: Int, slot: Int) -> UInt64? {
        guard let (place, entry, offset) = find(row, slot), entry.form == .uint64 else { return nil }
        let value = UInt64(littleEndian: place.load(entry, offset, as: UInt64.self))
        return value == 0 && place.isAbsent(entry, offset) ? nil : value
    }

    public override func float(row: Int, slot: Int) -> Float? {
        guard let (place, entry, offset) = find(row, slot), entry.form == .float else { return nil }
        let bits = UInt32(littleEndian: place.load(entry, offset, as: UInt32.self))
        return bits == 0 && place.isAbsent(entry, offset) ? nil : Float(bitPattern: bits)
    }

    public override func double(row: Int, slot: Int) -> Double? {
        guard let (place, entry, offset) = find(row, slot), entry.form == .double else { return nil }
        let value = place.double(entry, offset)
        return value == 0 && place.isAbsent(entry, offset) ? nil : value
    }

    public override func date(row: Int, slot: Int) -> Date? {
        guard let (place, entry, offset) = find(row, slot), entry.form == .date else { return nil }
        let value = place.double(entry, offset)
        return value == 0 && place.isAbsent(entry, offset) ? nil : Date(timeIntervalSinceReferenceDate: value)
    }

    public override func uuid(row: Int, slot: Int) -> UUID? {
        guard let (place, entry, offset) = find(row, slot), entry.form == .uuid, !place.isAbsent(entry, offset) else {
            return nil
        }
        return place.uuid(entry, offset)
    }

    public override func decimal(row: Int, slot: Int) -> Decimal? {
        guard let (place, entry, offset) = find(row, slot), entry.form == .decimal, !place.isAbsent(entry, offset)
        else {
            return nil
        }
        return place.decimal(entry, offset)
    }

    public override func string(row: Int, slot: Int) -> String? {
        guard let (place, entry, offset) = find(row, slot) else { return nil }
        switch entry.form {
        case .text:
            let bytes = place.bytes(entry, offset)
            if bytes.isEmpty, place.isAbsent(entry, offset) { return nil }
            return String(decoding: bytes, as: UTF8.self)
        case .code:
            let code = place.code(entry, offset)
            if code == 0, place.isAbsent(entry, offset) { return nil }
            return strings[slot]?[code]
        default: return nil
        }
    }

    public override func isText(_ text: TextToFind, row: Int, slot: Int) -> Bool {
        guard let (place, entry, offset) = find(row, slot) else { return false }
        switch entry.form {
        case .text:
            let bytes = place.bytes(entry, offset)
            return text.equals(bytes) && !(bytes.isEmpty && place.isAbsent(entry, offset))
        case .code:
            return !place.isAbsent(entry, offset) && strings[slot]?[place.code(entry, offset)] == text.string
        default: return false
        }
    }

    public override func data(row: Int, slot: Int) -> Data? {
        if let data = inlineData(row: row, slot: slot) { return data }
        if case .data(let data) = value(row: row, slot: slot) { return data }
        return nil
    }

    public override func inlineData(row: Int, slot: Int) -> Data? {
        guard let (place, entry, offset) = find(row, slot), plan.columns[slot].kind == .data,
            !place.isAbsent(entry, offset), !place.isExternal(entry, offset)
        else { return nil }
        return Data(place.bytes(entry, offset))
    }

    public override func url(row: Int, slot: Int) -> URL? {
        guard let (place, entry, offset) = find(row, slot), plan.columns[slot].kind == .url,
            !place.isAbsent(entry, offset)
        else { return nil }
        return StoredURL.decode(place.bytes(entry, offset))
    }

    public override func identifier(row: Int, slot: Int) -> PersistentIdentifier? {
        guard let (place, entry, offset) = find(row, slot), plan.columns[slot].role == .toOne,
            !place.isAbsent(entry, offset)
        else { return nil }
        let (sequence, target) = place.reference(entry, offset)
        let targets = plan.targets[slot]
        return target < targets.count ? targets[target][sequence] : nil
    }

    public override func identifiers(row: Int, slot: Int) -> [PersistentIdentifier] {
        guard isRow(row), slot >= 0, slot < plan.columns.count, plan.columns[slot].role.isToMany else { return [] }
        let targets = plan.targets[slot]
        var result: [PersistentIdentifier] = []
        links[slot].forEach(of: sequence(ofRow: row)) { member, target in
            if target < targets.count { result.append(targets[target][member]) }
        }
        return result
    }

    public override func readValue(row: Int, slot: Int) throws -> StoredValue {
        let form = storedForm(row: row, slot: slot)
        guard let reference = reference(in: form, slot: slot) else { return form }
        return try read(reference, row, slot)
    }

    public override func value(row: Int, slot: Int) -> StoredValue {
        let form = storedForm(row: row, slot: slot)
        guard let reference = reference(in: form, slot: slot) else { return form }
        do {
            return try read(reference, row, slot)
        } catch {
            plan.external?.note(error)
            return .null
        }
    }

    /// The reference to data in a file of their own that a stored form is.
    @inline(__always)
    private func reference(in form: StoredValue, slot: Int) -> ExternalReference? {
        guard case .array = form, plan.columns[slot].kind == .data else { return nil }
        return ExternalReference(storedForm: form)
    }

    public override func storedForm(row: Int, slot: Int) -> StoredValue {
        guard let (place, entry, offset) = find(row, slot) else { return .null }
        // The forms that most columns have count no reference but that of the value.
        switch entry.form {
        case .none: break
        case _ where place.isAbsent(entry, offset): return .null
        case .bool: return .bool(place.load(entry, offset, as: UInt8.self) != 0)
        case .int64: return .integer(Int64(littleEndian: place.load(entry, offset, as: Int64.self)))
        case .double: return .double(place.double(entry, offset))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: place.double(entry, offset)))
        case .uuid: return .uuid(place.uuid(entry, offset))
        case .text: return .string(place.text(entry, offset))
        case .code:
            if let string = strings[slot]?[place.code(entry, offset)] { return .string(string) }
        default: break
        }
        if plan.columns[slot].role.isToMany { return .identifiers(identifiers(row: row, slot: slot)) }
        return self.place(ofChunk: row >> Chunk.shift).value(
            plan.columns[slot], row & Chunk.mask, dictionaries[slot], plan.targets[slot])
    }
}
