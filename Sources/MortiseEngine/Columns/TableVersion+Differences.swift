import MortiseCore

extension LinkSet {
    /// The owners whose members may be others than in an older state: those with an entry in a leaf that is not shared.
    func owners(differingFrom older: LinkSet) -> Set<UInt64> {
        if pairs.overlay !== older.pairs.overlay {
            // One of them has been read anew, and shares nothing.
            return Set(pairs.owners).union(older.pairs.owners)
        }
        return Self.owners(pairs.base, older.pairs.base).union(Self.owners(pairs.added, older.pairs.added))
    }

    private static func owners(_ tree: IndexTree, _ older: IndexTree) -> Set<UInt64> {
        guard tree.root !== older.root else { return [] }
        var here = tree.root.map { [IndexChild.node($0)] } ?? []
        var there = older.root.map { [IndexChild.node($0)] } ?? []
        var owners: Set<UInt64> = []
        while !here.isEmpty || !there.isEmpty {
            let mine = Set(here.map(\.identity))
            let others = Set(there.map(\.identity))
            here.removeAll { others.contains($0.identity) }
            there.removeAll { mine.contains($0.identity) }
            // Shared nodes are found where both sides are at the same height.
            let height = max(here.first?.height ?? 0, there.first?.height ?? 0)
            if (here.first?.height ?? 0) == height { here = Self.opened(here, &owners) }
            if (there.first?.height ?? 0) == height { there = Self.opened(there, &owners) }
        }
        return owners
    }

    private static func opened(_ cells: [IndexChild], _ owners: inout Set<UInt64>) -> [IndexChild] {
        let nodes = cells.map(\.node)
        for node in nodes where node.isLeaf {
            for index in 0..<node.count { owners.insert(node.head(index)) }
        }
        return nodes.flatMap(\.cells)
    }
}

extension OrderedIndex {
    /// The first numbers of all entries, some more than once.
    fileprivate var owners: [UInt64] {
        var owners: [UInt64] = []
        forEachRun(from: nil, to: nil) { node, run in
            for index in run where owners.last != node.head(index) { owners.append(node.head(index)) }
            return true
        }
        return owners
    }
}

extension IndexNode {
    /// How many levels lie beneath.
    var height: Int { cells.first.map { 1 + $0.height } ?? 0 }
}

extension TableVersion {
    /// The rows whose own values may be others than in an older version, and those whose links are.
    func differences(from older: TableVersion) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        for (number, group) in older.groups.enumerated() where group !== groups[number] {
            for (index, cell) in group.cells.enumerated()
            where cell.identity != groups[number].cells[index].identity {
                let first = (number << ChunkGroup.shift + index) << Chunk.shift
                let count = min(Chunk.capacity, older.endRow - first)
                let differing = cell.chunk.place.offsets(
                    differingFrom: groups[number].cells[index].chunk.place, count: count)
                ranges += differing.map { (first + $0)..<(first + $0 + 1) }
            }
        }
        var linked: Set<UInt64> = []
        for (slot, links) in links.enumerated() where slot < plan.columns.count {
            linked.formUnion(links.owners(differingFrom: older.links[slot]))
        }
        if linked.isEmpty { return ranges }
        var rows = Set(ranges.map(\.lowerBound))
        for sequence in linked {
            if let row = older.row(ofSequence: sequence) { rows.insert(row) }
        }
        return rows.sorted().map { $0..<($0 + 1) }
    }
}

extension ChunkPlace {
    /// The rows whose bytes are others than in another chunk, which has the same rows. A longer value that was written
    /// again lies elsewhere and counts as another.
    func offsets(differingFrom other: ChunkPlace, count: Int) -> [Int] {
        guard capacity == other.capacity, columnCount == other.columnCount else { return Array(0..<count) }
        var marks = ContiguousArray<UInt64>(repeating: 0, count: (count + 63) / 64)
        for word in marks.indices { marks[word] = deadWord(word) ^ other.deadWord(word) }
        for slot in 0..<columnCount {
            let entry = entry(slot)
            guard entry.word == other.entry(slot).word else { return Array(0..<count) }
            let width = entry.form.width
            if width == 0 { continue }
            for word in marks.indices { marks[word] |= absentWord(entry, word) ^ other.absentWord(entry, word) }
            let mine = UnsafeRawBufferPointer(start: fixed + entry.offset, count: width * count)
            let others = UnsafeRawBufferPointer(start: other.fixed + entry.offset, count: width * count)
            for word in marks.indices {
                let rows = (word * 64)..<min(word * 64 + 64, count)
                let bytes = (rows.lowerBound * width)..<(rows.upperBound * width)
                if mine.hasSame(bytes, as: others) { continue }
                for row in rows where !mine.hasSame((row * width)..<(row * width + width), as: others) {
                    marks[word] |= 1 << UInt64(row - rows.lowerBound)
                }
            }
        }
        return (0..<count).filter { marks[$0 / 64] & (1 << UInt64($0 % 64)) != 0 }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether two pieces of memory have the same bytes in a range that both have.
    fileprivate func hasSame(_ range: Range<Int>, as other: UnsafeRawBufferPointer) -> Bool {
        var index = range.lowerBound
        // Four words at a time: they are compared in one register.
        while index + 32 <= range.upperBound {
            var difference: UInt64 = 0
            for place in stride(from: index, to: index + 32, by: 8) {
                difference |= word(at: place) ^ other.word(at: place)
            }
            if difference != 0 { return false }
            index += 32
        }
        while index + 8 <= range.upperBound {
            if word(at: index) != other.word(at: index) { return false }
            index += 8
        }
        while index < range.upperBound {
            if self[index] != other[index] { return false }
            index += 1
        }
        return true
    }

    @inline(__always)
    private func word(at index: Int) -> UInt64 { loadUnaligned(fromByteOffset: index, as: UInt64.self) }
}
