import Foundation
import MortiseCore
import MortiseEngine

/// What a checkpoint says of itself: which state it has, where its log goes on, and where everything lies.
struct CheckpointDirectory {
    /// A position in a log.
    struct Place: Hashable {
        let log: UUID
        let position: LogPosition
    }

    var schema: StoredSchema
    var transaction: UInt64
    var nextSequence: UInt64
    var places: [Place]
    var keyForm: UInt32
    var tables: [PackedTable]

    var count: UInt64 { tables.reduce(0) { $0 &+ $1.count } }
}

extension ByteWriter {
    mutating func directory(_ directory: CheckpointDirectory, store: String) throws(LogFault) {
        try schema(directory.schema, store: store)
        varint(directory.transaction)
        varint(directory.nextSequence)
        varint(directory.places.count)
        for place in directory.places {
            uuid(place.log)
            fixed(UInt64(place.position.end))
            fixed(place.position.sequence)
        }
        fixed(directory.keyForm)
        varint(directory.tables.count)
        for table in directory.tables { self.table(table) }
        byte(payloadEnd)
    }

    private mutating func table(_ table: PackedTable) {
        varint(table.entity)
        varint(table.endRow)
        varint(table.count)
        varint(table.chunks.count)
        for chunk in table.chunks {
            region(chunk.region)
            fixed(chunk.firstSequence)
        }
        varint(table.dictionaries.count)
        for dictionary in table.dictionaries {
            varint(dictionary.slot)
            varint(dictionary.count)
            region(dictionary.region)
        }
        for trees in [table.links, table.indexes] {
            varint(trees.count)
            for tree in trees { self.tree(tree) }
        }
    }

    private mutating func tree(_ tree: PackedTable.Tree) {
        varint(tree.slots.count)
        for slot in tree.slots { varint(slot) }
        byte((tree.isWide ? 1 : 0) | (tree.root == nil ? 0 : 2))
        varint(tree.count)
        varint(tree.level)
        if let root = tree.root { region(root) }
    }

    private mutating func region(_ region: PackedRegion) {
        fixed(region.offset)
        fixed(region.length)
        fixed(region.checksum)
    }
}

extension ByteReader {
    mutating func directory() throws(PayloadFault) -> CheckpointDirectory {
        let schema = try schema()
        let transaction = try recordNumber()
        let nextSequence = try recordNumber()
        var places: [CheckpointDirectory.Place] = []
        for _ in 0..<(try count(of: 32)) {
            let log = try uuid()
            guard let end = Int64(exactly: try fixed(UInt64.self)), end >= Int64(FileHeader.size), end < 1 << 62 else {
                throw fault("names an offset outside the log")
            }
            let position = LogPosition(end: end, sequence: try fixed(UInt64.self), transaction: transaction)
            guard (1..<EngineVersion.numberLimit).contains(position.sequence) else {
                throw fault("names an offset outside the log")
            }
            places.append(.init(log: log, position: position))
        }
        let keyForm = try fixed(UInt32.self)
        var tables: [PackedTable] = []
        for _ in 0..<(try count(of: 7)) { tables.append(try table()) }
        guard try byte() == payloadEnd, rest == 0 else { throw fault("does not end with its last table") }
        return CheckpointDirectory(
            schema: schema, transaction: transaction, nextSequence: nextSequence, places: places, keyForm: keyForm,
            tables: tables)
    }

    private mutating func table() throws(PayloadFault) -> PackedTable {
        var table = PackedTable(
            entity: try number(below: 1 << 24, "entity"), endRow: try varint(), count: try varint())
        let chunks = try count(of: 24)
        let places = try bytes(24 * chunks)
        table.chunks.reserveCapacity(chunks)
        // There may be many thousands, so without a check for each number.
        for place in stride(from: 0, to: places.count, by: 24) {
            func load<T: FixedWidthInteger>(_ offset: Int, _ type: T.Type) -> T {
                T(littleEndian: places.loadUnaligned(fromByteOffset: place + offset, as: T.self))
            }
            table.chunks.append(
                .init(
                    region: PackedRegion(
                        offset: load(0, UInt64.self), length: load(8, UInt32.self), checksum: load(12, UInt32.self)),
                    firstSequence: load(16, UInt64.self)))
        }
        for _ in 0..<(try count(of: 18)) {
            table.dictionaries.append(
                .init(
                    slot: try number(below: 1 << 24, "slot"), count: try number(below: 1 << 24, "count"),
                    region: try region()))
        }
        for _ in 0..<(try count(of: 4)) { table.links.append(try tree()) }
        for _ in 0..<(try count(of: 4)) { table.indexes.append(try tree()) }
        return table
    }

    private mutating func tree() throws(PayloadFault) -> PackedTable.Tree {
        var slots: [Int] = []
        for _ in 0..<(try count()) { slots.append(try number(below: 1 << 24, "slot")) }
        let bits = try byte()
        guard bits < 4 else { throw fault("has a tree with unknown bits") }
        return PackedTable.Tree(
            slots: slots, isWide: bits & 1 != 0, count: try varint(), level: try number(below: 64, "level"),
            root: bits & 2 != 0 ? try region() : nil)
    }

    private mutating func region() throws(PayloadFault) -> PackedRegion {
        PackedRegion(
            offset: try fixed(UInt64.self), length: try fixed(UInt32.self), checksum: try fixed(UInt32.self))
    }
}

/// The last 64 bytes of a checkpoint, which say where its directory is.
struct CheckpointFooter {
    static let size = 64
    static let marker: UInt32 = 0x1A50_434D

    var offset: UInt64
    var length: UInt64
    /// Of the directory.
    var checksum: UInt32
    /// What the log held before the first position; nil in files of older programs.
    var tail: LogTail?

    /// The trailer's bytes; `seed` is the value that the file's checksums start from.
    func bytes(seed: UInt32) -> [UInt8] {
        var writer = ByteWriter(capacity: Self.size)
        writer.fixed(Self.marker)
        writer.fixed(UInt32(0))
        writer.fixed(offset)
        writer.fixed(length)
        writer.fixed(checksum)
        writer.fixed(UInt32(tail?.length ?? 0))
        writer.fixed(tail?.checksum ?? 0)
        writer.zeros(24)
        var sum = CRC32C(resuming: seed)
        sum.update(writer.bytes)
        writer.fixed(sum.value)
        return writer.bytes
    }

    /// Reads the trailer: the last 64 bytes of the file, which begin at `end`. Throws `damagedRegion`.
    init(_ bytes: [UInt8], at end: UInt64, seed: UInt32) throws(LogFault) {
        let fault = LogFault.damagedRegion(offset: Int64(clamping: end), what: "has a wrong checksum")
        guard bytes.count == Self.size else { throw fault }
        var sum = CRC32C(resuming: seed)
        sum.update(Array(bytes[..<60]))
        let fields = bytes.withUnsafeBytes { raw in
            (
                marker: UInt32(littleEndian: raw.loadUnaligned(as: UInt32.self)),
                offset: UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                length: UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: 16, as: UInt64.self)),
                checksum: UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: 24, as: UInt32.self)),
                tailLength: UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: 28, as: UInt32.self)),
                tailChecksum: UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: 32, as: UInt32.self)),
                own: UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: 60, as: UInt32.self))
            )
        }
        guard fields.own == sum.value, fields.marker == Self.marker else { throw fault }
        guard fields.offset >= UInt64(FileHeader.size), fields.offset <= end, fields.length <= end - fields.offset
        else {
            throw .damagedRegion(offset: Int64(clamping: end), what: "names a directory outside the file")
        }
        offset = fields.offset
        length = fields.length
        checksum = fields.checksum
        tail = LogTail(length: fields.tailLength, checksum: fields.tailChecksum)
    }

    init(offset: UInt64, length: UInt64, checksum: UInt32, tail: LogTail? = nil) {
        self.tail = tail
        self.offset = offset
        self.length = length
        self.checksum = checksum
    }
}
