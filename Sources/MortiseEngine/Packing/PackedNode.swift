import Synchronization

/// A child of a branch: a node in memory, or one that is still in the file that its version was packed into.
enum IndexChild {
    case node(IndexNode)
    case packed(PackedNode)

    /// The node, read now if it was not before.
    @inline(__always)
    var node: IndexNode {
        switch self {
        case .node(let node): node
        case .packed(let packed): packed.node
        }
    }

    /// What tells it from others, without reading it.
    var identity: ObjectIdentifier {
        switch self {
        case .node(let node): ObjectIdentifier(node)
        case .packed(let packed): ObjectIdentifier(packed)
        }
    }

    /// How many levels lie beneath, without reading it.
    var height: Int {
        switch self {
        case .node(let node): node.height
        case .packed(let packed): packed.place.level
        }
    }
}

/// What the nodes of a tree must be like to be taken out of a file.
struct PackedTreeRules {
    /// Which tree of its version it is.
    struct Tree {
        enum Kind {
            /// By the plan's definitions.
            case index(Int)
            case links(Int)
        }
        let entity: Int
        let kind: Kind
    }

    let file: PackedFile
    let isWide: Bool
    /// Every row of a leaf is below.
    let rowLimit: UInt64
    /// Nil if its nodes cannot be rebuilt.
    var tree: Tree?
}

/// A node that is read when it is first touched.
final class PackedNode: Sendable {
    /// Where a node lies, and what it must be.
    struct Place {
        let region: PackedRegion
        let level: Int
        /// The index's entries beneath it, and before those.
        let total: Int
        var rank = 0
        /// Where what is beneath it may begin: after its sibling, so that no node is beneath two.
        var floor: UInt64 = 0
    }

    let place: Place
    private let rules: PackedTreeRules
    private let loaded = Mutex<IndexNode?>(nil)

    init(_ place: Place, _ rules: PackedTreeRules) {
        self.place = place
        self.rules = rules
    }

    /// The node; an empty one where it cannot be read, which is noted as damage of the file.
    var node: IndexNode {
        loaded.withLock { loaded in
            if let loaded { return loaded }
            do {
                let node = try Self.read(place, rules, isKept: true)
                loaded = node
                return node
            } catch {
                rules.file.note(error)
                return IndexNode(owner: 0, isWide: rules.isWide)
            }
        }
    }

    /// The node where it was read before.
    var nodeInMemory: IndexNode? { loaded.withLock { $0 } }

    /// Reads the node without keeping it.
    func read() throws -> IndexNode { try nodeInMemory ?? Self.read(place, rules) }

    static func read(_ place: Place, _ rules: PackedTreeRules, isKept: Bool = false) throws -> IndexNode {
        let restorer = rules.file.restorer
        do {
            let node = try rules.file.withBytes(of: place.region) { bytes in
                var reader = PackedReader(bytes, of: place.region)
                return try IndexNode.unpack(&reader, place, rules)
            }
            return try restorer?.accept(node, place, rules, isKept: isKept) ?? node
        } catch {
            guard let restorer else { throw error }
            return try restorer.node(place, rules, after: error, in: rules.file)
        }
    }
}

extension IndexTree {
    /// Reads every node that is in a file, and keeps none of them.
    /// - Parameter note: called with the error of each that cannot be read; what lies beneath it is not known.
    func readNodes(_ note: (any Error) -> Void) {
        func read(_ node: IndexNode) {
            for cell in node.cells {
                switch cell {
                case .node(let child): read(child)
                case .packed(let packed):
                    do { read(try packed.read()) } catch { note(error) }
                }
            }
        }
        if let root { read(root) }
    }
}

extension IndexNode {
    /// Appends the node's bytes; see CHECKPOINT.md of the append log. `children` are the regions of its children, in
    /// order; `least` is the leaf with the least entry beneath it, the node itself if it is a leaf.
    func pack(into packed: inout PackedBytes, level: Int, children: [PackedRegion], least: IndexNode) {
        // No search needs a branch's first entry, so that it goes stale: smaller keys come beneath it, and then it may be
        // greater than the second. In a file it is the least one beneath the node, which readers of version 1 rely on.
        let first = least.count > 0 ? least.probe(0) : probe(0)
        let probes = (0..<count).map { level > 0 && $0 == 0 ? first : probe($0) }
        let tails = probes.map(\.tail)
        let heapCount = tails.reduce(0) { $0 + $1.count }
        packed.append(UInt32(count))
        packed.append(UInt8(level))
        packed.append(UInt8((isWide ? 1 : 0) | (heapCount > 0 ? 2 : 0) | 4))
        packed.append(UInt16(0))
        packed.append(UInt64(heapCount))
        var columns = [probes.map(\.head), probes.map(\.row)]
        if isWide { columns.append(probes.map(\.second)) }
        let narrow = columns.map { NarrowNumbers($0) }
        for place in 0..<8 { packed.append(UInt8(place < narrow.count ? narrow[place].width : 0)) }
        for column in narrow { packed.append(column.base) }
        for (column, numbers) in zip(narrow, columns) {
            for number in numbers { packed.append(number - column.base, width: column.width) }
        }
        if heapCount > 0 { for tail in tails { packed.append(UInt32(tail.count)) } }
        for (index, child) in children.enumerated() {
            packed.append(child)
            packed.append(UInt64(counts[index]))
        }
        if heapCount > 0 { for tail in tails { packed.append(tail) } }
    }

    fileprivate static func unpack(
        _ reader: inout PackedReader, _ place: PackedNode.Place, _ rules: PackedTreeRules
    ) throws(PackedFault) -> IndexNode {
        let count = Int(try reader.next(UInt32.self))
        let level = Int(try reader.next(UInt8.self))
        let bits = try reader.next(UInt8.self)
        let zero = try reader.next(UInt16.self)
        let heapCount = try reader.next(UInt64.self)
        let hasTails = bits & 2 != 0
        let isNarrow = bits & 4 != 0
        guard count > 0, count <= capacity, level == place.level, zero == 0, bits & ~7 == 0,
            (bits & 1 != 0) == rules.isWide, hasTails == (heapCount > 0)
        else { throw reader.fault("is not a node of its tree") }
        var columns = Array(repeating: NarrowNumbers(base: 0, width: 8), count: rules.isWide ? 3 : 2)
        if isNarrow {
            let widths = try reader.take(8)
            for place in columns.indices { columns[place].width = Int(widths[place]) }
            guard widths[columns.count...].allSatisfy({ $0 == 0 }), columns.allSatisfy({ $0.width <= 8 }) else {
                throw reader.fault("is not a node of its tree")
            }
            for place in columns.indices { columns[place].base = try reader.next(UInt64.self) }
        }
        let words = columns.reduce(0) { $0 + count * $1.width }
        let size = words + (hasTails ? 4 * count : 0) + (level > 0 ? 24 * count : 0)
        guard reader.rest >= size, UInt64(reader.rest - size) == heapCount else {
            throw reader.fault("has a length that does not match its node")
        }
        let heads = try columns[0].numbers(count, from: &reader)
        let rows = try columns[1].numbers(count, from: &reader)
        let seconds = rules.isWide ? try columns[2].numbers(count, from: &reader) : []
        let lengths = hasTails ? try reader.take(4 * count) : reader.bytes
        let children = level > 0 ? try reader.take(24 * count) : reader.bytes
        let node = IndexNode(owner: 0, isWide: rules.isWide)
        var last: UInt64 = 0
        var total = 0
        var floor = place.floor
        // Files have been written with a branch's first entry above the second: the first covers everything below that.
        let firstOrdered = level > 0 ? 1 : 0
        for index in 0..<count {
            let head = heads[index]
            let row = rows[index]
            guard head >= last, level > 0 || row < rules.rowLimit else {
                throw reader.fault("has entries out of order or out of range")
            }
            if index >= firstOrdered { last = head }
            let length =
                hasTails
                ? Int(UInt32(littleEndian: lengths.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self))) : 0
            let probe = IndexProbe(
                head: head, second: rules.isWide ? seconds[index] : 0, tail: try reader.take(length), row: row)
            if level == 0 {
                node.insert(probe, at: index)
                total += 1
                continue
            }
            var entry = PackedReader(
                UnsafeRawBufferPointer(rebasing: children[(24 * index)..<(24 * index + 24)]), of: place.region)
            let region = try entry.region()
            let beneath = try entry.next(UInt64.self)
            // Children lie before their parents, so that no chain of them is endless.
            guard region.offset >= floor, region.offset < place.region.offset,
                UInt64(region.length) <= place.region.offset - region.offset, beneath > 0,
                beneath <= UInt64(place.total - total), level > 1 || beneath <= UInt64(capacity)
            else { throw reader.fault("has an impossible child") }
            let child = PackedNode(
                .init(region: region, level: level - 1, total: Int(beneath), rank: place.rank + total, floor: floor),
                rules)
            floor = region.offset + UInt64(region.length)
            node.insert(.packed(child), count: Int(beneath), beneath: probe, at: index)
            total += Int(beneath)
        }
        guard total == place.total, reader.rest == 0 else {
            throw reader.fault("has a number of entries that does not match its tree")
        }
        return node
    }
}

/// Numbers of one node that lie near each other: as many bytes each as their distance from the least needs.
private struct NarrowNumbers {
    var base: UInt64
    var width: Int

    init(base: UInt64, width: Int) {
        self.base = base
        self.width = width
    }

    init(_ numbers: [UInt64]) {
        base = numbers.min() ?? 0
        width = (64 - ((numbers.max() ?? 0) - base).leadingZeroBitCount + 7) / 8
    }

    func numbers(_ count: Int, from reader: inout PackedReader) throws(PackedFault) -> [UInt64] {
        let bytes = try reader.take(width * count)
        return (0..<count).map { index in
            var value: UInt64 = 0
            for place in 0..<width { value |= UInt64(bytes[width * index + place]) << UInt64(8 * place) }
            return base &+ value
        }
    }
}
