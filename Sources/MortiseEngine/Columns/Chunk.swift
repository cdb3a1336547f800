import Synchronization

/// A run of rows that lie together: see `ChunkPlace` for its bytes. Shared between versions; a transaction writes to rows
/// that are published only in a chunk of its own, and to rows that are not in any.
///
/// @unchecked Sendable: what a version's rows consist of is written before the version is published, and not again. Words that
/// these rows share with later ones, and what was checked of the rows, are atomic. The counts and `heap` are the writer's.
final class Chunk: @unchecked Sendable {
    static let shift = 8
    static let capacity = 1 << shift
    static let mask = capacity - 1
    /// The bytes before the fixed region: what was checked of the rows.
    static let prefix = 16

    /// The transaction that may write to all rows.
    let owner: UInt64
    private let fixed: UnsafeMutableRawPointer
    private let fixedSize: Int
    private var heap: ChunkHeap
    let capacity: Int

    /// Creates an empty chunk with one column for each form, in slot order.
    init(forms: [ColumnForm], capacity: Int, owner: UInt64) {
        self.owner = owner
        self.capacity = capacity
        var offset = ChunkPlace.directory + 8 * forms.count + 8 * capacity + capacity / 8
        var offsets: [Int] = []
        for form in forms {
            offset += capacity / 8
            offsets.append(offset)
            offset += (form.width * capacity + 7) / 8 * 8
        }
        fixedSize = offset
        fixed = .allocate(byteCount: Self.prefix + offset, alignment: 16) + Self.prefix
        (fixed - Self.prefix).initializeMemory(as: UInt8.self, repeating: 0, count: Self.prefix + offset)
        fixed.storeBytes(of: UInt32(capacity).littleEndian, as: UInt32.self)
        fixed.storeBytes(of: UInt32(forms.count).littleEndian, toByteOffset: 4, as: UInt32.self)
        for (slot, form) in forms.enumerated() {
            let word = UInt64(offsets[slot]) | UInt64(form.rawValue) << 32
            fixed.storeBytes(of: word.littleEndian, toByteOffset: ChunkPlace.directory + 8 * slot, as: UInt64.self)
        }
        heap = ChunkHeap.none
    }

    /// As `init(forms:capacity:owner:)`, with the longer values of another chunk, of which no bytes are added here to its heap.
    convenience init(forms: [ColumnForm], heapOf other: Chunk, owner: UInt64) {
        self.init(forms: forms, capacity: other.capacity, owner: owner)
        heap = ChunkHeap(reading: other.heap, other.heapCount)
        heapCount = other.heapCount
        heapGarbage = other.heapGarbage
    }

    /// A copy with its own fixed region. The heap stays shared: it only grows, after what either knows of.
    init(copying other: Chunk, owner: UInt64) {
        self.owner = owner
        capacity = other.capacity
        fixedSize = other.fixedSize
        fixed = .allocate(byteCount: Self.prefix + fixedSize, alignment: 16) + Self.prefix
        fixed.copyMemory(from: other.fixed, byteCount: fixedSize)
        heap = other.heap
        place.verification.set(other.place.verification.state)
    }

    /// A chunk out of the bytes that `withPacked` hands over.
    /// - Returns: nil if the bytes are not those of a chunk with these columns. What the values refer to is not
    ///   checked.
    convenience init?(unpacking bytes: UnsafeRawBufferPointer, _ columns: [Column]) {
        let directory = ChunkPlace.directory + 8 * columns.count
        guard bytes.count >= directory, let start = bytes.baseAddress else { return nil }
        let found = ChunkPlace(fixed: start, heap: start)
        guard found.columnCount == columns.count, found.capacity % 64 == 0,
            (1...Chunk.capacity).contains(found.capacity)
        else { return nil }
        let forms = columns.map { found.entry($0.slot).form }
        for (column, form) in zip(columns, forms) {
            let fits = form == column.form || form == .none || (form == .code && column.form == .text)
            if !fits { return nil }
        }
        self.init(forms: forms, capacity: found.capacity, owner: 0)
        // Where things are follows from the forms; a file that says otherwise is no chunk of this table.
        let mine = UnsafeRawBufferPointer(start: fixed, count: fixedSize)
        guard bytes.count >= fixedSize, mine[..<4].elementsEqual(bytes[..<4]),
            mine[ChunkPlace.directory..<directory].elementsEqual(bytes[ChunkPlace.directory..<directory])
        else { return nil }
        fixed.copyMemory(from: start, byteCount: fixedSize)
        let (heapSize, garbage) = (
            bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self),
            bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
        )
        guard count <= capacity, garbage == 0, UInt64(littleEndian: heapSize) == UInt64(bytes.count - fixedSize) else {
            return nil
        }
        heap = ChunkHeap(UnsafeRawBufferPointer(rebasing: bytes[fixedSize...]))
    }

    deinit { (fixed - Self.prefix).deallocate() }

    /// Runs the body with the fixed region and the heap.
    func withPacked<R>(_ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try body(
            UnsafeRawBufferPointer(start: fixed, count: fixedSize),
            UnsafeRawBufferPointer(start: heap.start, count: heapCount))
    }

    /// The fixed region, for a writer that puts values into a row that nobody has yet.
    var memory: UnsafeMutableRawPointer { fixed }

    var place: ChunkPlace { ChunkPlace(fixed: fixed, heap: heap.start) }

    /// The bytes of memory that the chunk takes; a heap that chunks share counts in each.
    var byteCount: Int { fixedSize + heap.capacity }

    // MARK: Counts, for the writer

    private(set) var count: Int {
        get { Int(UInt32(littleEndian: fixed.load(fromByteOffset: 8, as: UInt32.self))) }
        set { fixed.storeBytes(of: UInt32(newValue).littleEndian, toByteOffset: 8, as: UInt32.self) }
    }
    private(set) var heapCount: Int {
        get { Int(UInt64(littleEndian: fixed.load(fromByteOffset: 16, as: UInt64.self))) }
        set { fixed.storeBytes(of: UInt64(newValue).littleEndian, toByteOffset: 16, as: UInt64.self) }
    }
    private var heapGarbage: Int {
        get { Int(UInt64(littleEndian: fixed.load(fromByteOffset: 24, as: UInt64.self))) }
        set { fixed.storeBytes(of: UInt64(newValue).littleEndian, toByteOffset: 24, as: UInt64.self) }
    }

    /// Whether the heap can take that many more bytes, or nobody reads this chunk yet so that it may get a larger one.
    func hasHeap(_ bytes: Int, unpublished: Bool) -> Bool { unpublished || heapCount + bytes <= heap.capacity }

    /// Whether more of the heap is garbage than is worth keeping.
    var isWasteful: Bool { heapGarbage > 4096 && heapGarbage > heapCount / 2 }

    // MARK: Writing

    /// Begins the next row, at `offset`, the number of rows so far. Its columns hold zeros or what a failed transaction
    /// left.
    func begin(_ sequence: UInt64, at offset: Int) {
        let position = ChunkPlace.directory + 8 * place.columnCount
        fixed.storeBytes(of: sequence.littleEndian, toByteOffset: position + 8 * offset, as: UInt64.self)
        count = offset + 1
    }

    func remove(_ offset: Int) {
        guard !place.isDead(offset) else { return }
        setBit(ChunkPlace.directory + 8 * place.columnCount + 8 * capacity, offset, true)
    }

    /// Takes the removal of a row back. Its values are what it had.
    func revive(_ offset: Int) {
        guard place.isDead(offset) else { return }
        setBit(ChunkPlace.directory + 8 * place.columnCount + 8 * capacity, offset, false)
    }

    func setAbsent(_ entry: ChunkPlace.Entry, _ offset: Int, _ isAbsent: Bool) {
        if place.isAbsent(entry, offset) != isAbsent { setBit(entry.offset - capacity / 8, offset, isAbsent) }
    }

    /// Marks a run of at most 64 rows, in each of whose places the bit tells whether it has no value.
    func setAbsent(_ entry: ChunkPlace.Entry, _ offset: Int, _ marks: UInt64, count: Int) {
        let rows: UInt64 = count == 64 ? .max : 1 << UInt64(count) - 1
        let shift = UInt64(offset % 64)
        let position = entry.offset - capacity / 8 + offset / 64 * 8
        setBits(position, rows << shift, marks << shift)
        if Int(shift) + count > 64 { setBits(position + 8, rows >> (64 - shift), marks >> (64 - shift)) }
    }

    private func setBits(_ position: Int, _ places: UInt64, _ bits: UInt64) {
        let word = (fixed + position).assumingMemoryBound(to: Atomic<UInt64>.self)
        let old = word.pointee.load(ordering: .relaxed).littleEndian
        let new = (old & ~places) | (bits & places)
        if new != old { word.pointee.store(new.littleEndian, ordering: .relaxed) }
    }

    private func setBit(_ position: Int, _ offset: Int, _ isSet: Bool) {
        let word = (fixed + position + offset / 64 * 8).assumingMemoryBound(to: Atomic<UInt64>.self)
        let bit = (1 << UInt64(offset % 64) as UInt64).littleEndian
        let old = word.pointee.load(ordering: .relaxed)
        word.pointee.store(isSet ? old | bit : old & ~bit, ordering: .relaxed)
    }

    @inline(__always)
    func store<T: BitwiseCopyable>(_ value: T, _ entry: ChunkPlace.Entry, _ offset: Int) {
        fixed.storeBytes(of: value, toByteOffset: entry.offset + MemoryLayout<T>.size * offset, as: T.self)
    }

    func store(_ value: StoredDecimal, _ entry: ChunkPlace.Entry, _ offset: Int) {
        value.write(to: fixed + entry.offset + StoredDecimal.width * offset)
    }

    func store(reference sequence: UInt64, target: Int, _ entry: ChunkPlace.Entry, _ offset: Int) {
        if entry.form == .reference {
            store(sequence.littleEndian, entry, offset)
        } else {
            let position = entry.offset + 10 * offset
            fixed.storeBytes(of: sequence.littleEndian, toByteOffset: position, as: UInt64.self)
            fixed.storeBytes(of: UInt16(target).littleEndian, toByteOffset: position + 8, as: UInt16.self)
        }
    }

    /// Stores bytes. `isNew` says that the row has just been made, so that its old content does not count as garbage;
    /// `isExternal` says that the bytes are an `ExternalReference`.
    func store(
        bytes: UnsafeRawBufferPointer, _ entry: ChunkPlace.Entry, _ offset: Int, isNew: Bool, isExternal: Bool = false
    ) {
        let position = entry.offset + 16 * offset
        if !isNew {
            let old = place.bytes(entry, offset).count
            if old > ChunkPlace.inlineLimit { heapGarbage += old }
        }
        // The length is checked before: no column takes values of four gigabytes.
        fixed.storeBytes(
            of: isExternal ? ChunkPlace.externalMark : UInt32(truncatingIfNeeded: bytes.count).littleEndian,
            toByteOffset: position, as: UInt32.self)
        let room = fixed + position + 4
        if bytes.count <= ChunkPlace.inlineLimit {
            room.storeBytes(of: 0, as: UInt32.self)
            (room + 4).storeBytes(of: 0, as: UInt64.self)
            if let start = bytes.baseAddress { room.copyMemory(from: start, byteCount: bytes.count) }
            return
        }
        if heapCount + bytes.count > heap.capacity {
            heap = ChunkHeap(copying: heap, heapCount, capacity: max(1024, (heapCount + bytes.count) * 3 / 2))
        }
        guard let start = bytes.baseAddress else { return }
        room.copyMemory(from: start, byteCount: 4)
        (fixed + position + 8).storeBytes(of: UInt64(heapCount).littleEndian, as: UInt64.self)
        heap.write(bytes, at: heapCount)
        heapCount += bytes.count
    }

    /// Copies a fixed-width value from a chunk that has the column in the same form.
    func copyValue(from other: ChunkPlace, _ old: ChunkPlace.Entry, _ new: ChunkPlace.Entry, _ offset: Int) {
        copyValue(from: other, old, offset, new, offset)
    }

    func copyValue(
        from other: ChunkPlace, _ old: ChunkPlace.Entry, _ source: Int, _ new: ChunkPlace.Entry, _ offset: Int
    ) {
        let width = new.form.width
        (fixed + new.offset + width * offset).copyMemory(
            from: other.fixed + old.offset + width * source, byteCount: width)
        setAbsent(new, offset, false)
    }

    /// Zeros for a row without value.
    func clear(_ entry: ChunkPlace.Entry, _ offset: Int, isNew: Bool) {
        let width = entry.form.width
        if entry.form.isInHeap {
            store(bytes: UnsafeRawBufferPointer(start: nil, count: 0), entry, offset, isNew: isNew)
        } else {
            (fixed + entry.offset + width * offset).initializeMemory(as: UInt8.self, repeating: 0, count: width)
        }
        setAbsent(entry, offset, true)
    }
}

/// Where a chunk's longer values are. Bytes once written stay; several chunks that follow from one another share a heap.
///
/// @unchecked Sendable: the writer alone writes, after the last byte that a version's rows refer to.
final class ChunkHeap: @unchecked Sendable {
    static let none = ChunkHeap(capacity: 0)
    private let memory: UnsafeMutableRawPointer
    /// The heap that the bytes are in; nil if they are this one's.
    private let base: ChunkHeap?
    let capacity: Int
    var start: UnsafeRawPointer { UnsafeRawPointer(memory) }

    private init(capacity: Int) {
        self.capacity = capacity
        base = nil
        memory = .allocate(byteCount: max(capacity, 1), alignment: 8)
    }

    /// The first bytes of a heap, without room for more.
    init(reading other: ChunkHeap, _ count: Int) {
        base = other
        capacity = count
        memory = other.memory
    }

    convenience init(_ bytes: UnsafeRawBufferPointer) {
        self.init(capacity: bytes.count)
        write(bytes, at: 0)
    }

    convenience init(copying other: ChunkHeap, _ count: Int, capacity: Int) {
        self.init(capacity: capacity)
        memory.copyMemory(from: other.memory, byteCount: count)
    }

    deinit { if base == nil { memory.deallocate() } }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        guard let start = bytes.baseAddress else { return }
        (memory + offset).copyMemory(from: start, byteCount: bytes.count)
    }
}
