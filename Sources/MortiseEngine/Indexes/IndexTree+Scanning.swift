extension IndexTree {
    /// Calls the body with runs of entries in one leaf, from the lower position (included) to the upper (not included), in
    /// ascending or descending order of runs; within a run the entries ascend, and a descending reader turns them round.
    /// The body returns false to end the scan.
    func forEachRun(
        from lower: IndexProbe?, to upper: IndexProbe?, descending: Bool = false,
        _ body: (IndexNode, Range<Int>) throws -> Bool
    ) rethrows {
        guard let root else { return }
        if descending {
            _ = try Self.descend(root, lower, upper, body)
        } else {
            _ = try Self.ascend(root, lower, upper, body)
        }
    }

    /// The entry of that rank, counted from 0; nil also if it cannot be read.
    func entry(at rank: Int) -> IndexProbe? { leaf(at: rank).map { $0.node.probe($0.index) } }

    /// The leaf with the entry of that rank, and its place there; nil also if it cannot be read.
    func leaf(at rank: Int) -> (node: IndexNode, index: Int)? {
        guard rank >= 0, rank < count, var node = root else { return nil }
        var rank = rank
        while !node.isLeaf {
            var child = 0
            while child < node.count, rank >= node.counts[child] {
                rank -= node.counts[child]
                child += 1
            }
            guard child < node.count else { return nil }
            node = node.child(child)
        }
        // A node that cannot be read has no entries.
        return rank < node.count ? (node, rank) : nil
    }

    /// Calls the body with the leaves in ascending order, none of which is kept that has to be read for that.
    /// - Throws: why a node cannot be read; what the body throws.
    func forEachLeaf(_ body: (IndexNode) throws -> Void) throws {
        func visit(_ node: IndexNode) throws {
            if node.isLeaf { return try body(node) }
            for cell in node.cells {
                switch cell {
                case .node(let child): try visit(child)
                case .packed(let packed): try visit(try packed.read())
                }
            }
        }
        if let root { try visit(root) }
    }

    private static func ascend(
        _ node: IndexNode, _ lower: IndexProbe?, _ upper: IndexProbe?, _ body: (IndexNode, Range<Int>) throws -> Bool
    ) rethrows -> Bool {
        if node.isLeaf {
            let first = lower.map { node.lowerBound($0) } ?? 0
            let end = upper.map { node.lowerBound($0) } ?? node.count
            if first < end, try !body(node, first..<end) { return false }
            return end == node.count
        }
        let first = lower.map { node.child(for: $0) } ?? 0
        let last = upper.map { node.child(for: $0) } ?? node.count - 1
        if first > last { return false }
        for index in first...last {
            let isMore = try ascend(
                node.child(index), index == first ? lower : nil, index == last ? upper : nil, body)
            if !isMore { return false }
        }
        return last == node.count - 1
    }

    private static func descend(
        _ node: IndexNode, _ lower: IndexProbe?, _ upper: IndexProbe?, _ body: (IndexNode, Range<Int>) throws -> Bool
    ) rethrows -> Bool {
        if node.isLeaf {
            let first = lower.map { node.lowerBound($0) } ?? 0
            let end = upper.map { node.lowerBound($0) } ?? node.count
            if first < end, try !body(node, first..<end) { return false }
            return first == 0
        }
        let first = lower.map { node.child(for: $0) } ?? 0
        let last = upper.map { node.child(for: $0) } ?? node.count - 1
        if first > last { return false }
        for index in (first...last).reversed() {
            let isMore = try descend(
                node.child(index), index == first ? lower : nil, index == last ? upper : nil, body)
            if !isMore { return false }
        }
        return first == 0
    }
}

/// Builds the part of an index that lies beneath one of its nodes, from entries that come in ascending order.
struct IndexSubtreeBuilder {
    private let isWide: Bool
    private var leaves: [IndexNode] = []
    private(set) var count = 0

    init(isWide: Bool) { self.isWide = isWide }

    mutating func append(_ probe: IndexProbe) {
        if leaves.last?.isFull ?? true { leaves.append(IndexNode(owner: 0, isWide: isWide)) }
        if let leaf = leaves.last { leaf.insert(probe, at: leaf.count) }
        count += 1
    }

    /// - Returns: a node with `level` levels beneath it; nil if the entries are too many for that.
    func finish(level: Int) -> IndexNode? {
        var nodes = leaves
        for _ in 0..<level {
            var above: [IndexNode] = []
            for node in nodes {
                if above.last?.isFull ?? true { above.append(IndexNode(owner: 0, isWide: isWide)) }
                if let branch = above.last { branch.insert(node, beneath: node.probe(0), at: branch.count) }
            }
            nodes = above
        }
        return nodes.count == 1 ? nodes[0] : nil
    }
}

/// Builds an index from entries that come in ascending order.
struct OrderedIndexBuilder {
    private let owner: UInt64
    private let isWide: Bool
    private var leaves: [IndexNode] = []
    private var leaf: IndexNode?
    private var count = 0
    // Room for insertions without splits.
    private static let fill = IndexNode.capacity * 9 / 10

    init(isWide: Bool, owner: UInt64) {
        self.isWide = isWide
        self.owner = owner
    }

    /// Adds an entry that comes after all before it.
    mutating func append(_ key: UnsafeRawBufferPointer, row: UInt64) {
        append(IndexProbe(key, row: row, isWide: isWide))
    }

    mutating func append(_ probe: IndexProbe) {
        count += 1
        if let leaf, leaf.count < Self.fill {
            leaf.insert(probe, at: leaf.count)
            return
        }
        let leaf = IndexNode(owner: owner, isWide: isWide)
        leaf.insert(probe, at: 0)
        leaves.append(leaf)
        self.leaf = leaf
    }

    func finish() -> OrderedIndex {
        var level = leaves
        while level.count > 1 {
            var above: [IndexNode] = []
            for node in level {
                if above.last.map({ $0.count >= Self.fill }) ?? true {
                    above.append(IndexNode(owner: owner, isWide: isWide))
                }
                if let branch = above.last { branch.insert(node, beneath: node.probe(0), at: branch.count) }
            }
            level = above
        }
        return OrderedIndex(IndexTree(isWide: isWide, root: level.first, count: count))
    }
}
