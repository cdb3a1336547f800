/// Keys with rows in order: a B+-tree whose nodes are shared between versions. A value: changing a copy leaves the original
/// as it was, and copies only the nodes on the way to the change.
///
/// Several entries may have the same key; they are ordered by row.
struct IndexTree: Sendable {
    private(set) var root: IndexNode?
    private(set) var count = 0
    /// Whether nodes keep sixteen bytes of each key at hand instead of eight.
    let isWide: Bool

    init(isWide: Bool) { self.isWide = isWide }

    init(isWide: Bool, root: IndexNode?, count: Int) {
        self.isWide = isWide
        self.root = root
        self.count = count
    }

    // MARK: Looking up

    /// The lowest row with exactly that key.
    func firstRow(_ key: UnsafeRawBufferPointer) -> UInt64? { firstRow(IndexProbe(key, row: 0, isWide: isWide)) }

    /// The lowest row with exactly a probe's key, whatever the probe's row is.
    func firstRow(_ entry: IndexProbe) -> UInt64? {
        guard var node = root else { return nil }
        let probe = IndexProbe(head: entry.head, second: entry.second, tail: entry.tail, row: 0)
        var next: IndexChild?
        while !node.isLeaf {
            let child = node.child(for: probe)
            if child + 1 < node.count { next = node.cells[child + 1] }
            node = node.child(child)
        }
        let index = node.lowerBound(probe)
        if index < node.count { return node.hasKey(index, probe) ? node.row(index) : nil }
        guard var leaf = next?.node else { return nil }
        while !leaf.isLeaf { leaf = leaf.child(0) }
        // A node that cannot be read has no entries.
        return leaf.count > 0 && leaf.hasKey(0, probe) ? leaf.row(0) : nil
    }

    func contains(_ probe: IndexProbe) -> Bool {
        guard var node = root else { return false }
        while !node.isLeaf { node = node.child(node.child(for: probe)) }
        return node.place(of: probe) != nil
    }

    /// How many entries come before a position.
    func rank(_ probe: IndexProbe) -> Int {
        guard var node = root else { return 0 }
        var rank = 0
        while !node.isLeaf {
            let child = node.child(for: probe)
            for index in 0..<child { rank += node.counts[index] }
            node = node.child(child)
        }
        return rank + node.lowerBound(probe)
    }

    // MARK: Changing

    mutating func insert(_ key: UnsafeRawBufferPointer, row: UInt64, owner: UInt64) {
        insert(IndexProbe(key, row: row, isWide: isWide), owner: owner)
    }

    /// Adds an entry that is not there yet.
    mutating func insert(_ probe: IndexProbe, owner: UInt64) {
        let node: IndexNode
        if let root {
            node = root.owner == owner ? root : IndexNode(copying: root, owner: owner)
        } else {
            node = IndexNode(owner: owner, isWide: isWide)
        }
        root = node
        count += 1
        guard let right = Self.insert(probe, into: node) else { return }
        let above = IndexNode(owner: owner, isWide: isWide)
        above.insert(node, beneath: node.probe(0), at: 0)
        above.insert(right, beneath: right.probe(0), at: 1)
        root = above
    }

    /// - Returns: the right half, where the node had to be split.
    private static func insert(_ probe: IndexProbe, into node: IndexNode) -> IndexNode? {
        if node.isLeaf {
            let index = node.lowerBound(probe)
            if !node.isFull {
                node.insert(probe, at: index)
                return nil
            }
            // Ascending keys are common (numbers, dates): then the left half is left full.
            let right = node.split(at: index == node.count ? node.count - 8 : node.count / 2)
            if index > node.count { right.insert(probe, at: index - node.count) } else { node.insert(probe, at: index) }
            return right
        }
        let index = node.child(for: probe)
        let child = node.ownedChild(index)
        guard let made = insert(probe, into: child) else {
            node.add(1, toCountAt: index)
            return nil
        }
        node.setCount(child.total, at: index)
        if !node.isFull {
            node.insert(made, beneath: made.probe(0), at: index + 1)
            return nil
        }
        let right = node.split(at: index + 1 == node.count ? node.count - 8 : node.count / 2)
        if index + 1 > node.count {
            right.insert(made, beneath: made.probe(0), at: index + 1 - node.count)
        } else {
            node.insert(made, beneath: made.probe(0), at: index + 1)
        }
        return right
    }

    @discardableResult
    mutating func remove(_ key: UnsafeRawBufferPointer, row: UInt64, owner: UInt64) -> Bool {
        remove(IndexProbe(key, row: row, isWide: isWide), owner: owner)
    }

    /// Takes an entry out.
    /// - Returns: false where it was not there.
    @discardableResult
    mutating func remove(_ probe: IndexProbe, owner: UInt64) -> Bool {
        guard contains(probe), let root else { return false }
        var node = root.owner == owner ? root : IndexNode(copying: root, owner: owner)
        Self.remove(probe, from: node)
        count -= 1
        while !node.isLeaf, node.count == 1 { node = node.child(0) }
        self.root = node.count == 0 ? nil : node
        return true
    }

    private static func remove(_ probe: IndexProbe, from node: IndexNode) {
        if node.isLeaf {
            if let index = node.place(of: probe) { node.remove(at: index) }
            return
        }
        let index = node.child(for: probe)
        let child = node.ownedChild(index)
        remove(probe, from: child)
        node.add(-1, toCountAt: index)
        if child.count == 0 {
            node.remove(at: index)
        } else if child.count < IndexNode.capacity / 4 {
            if index + 1 < node.count, merge(node, index) { return }
            if index > 0 { _ = merge(node, index - 1) }
        }
    }

    /// Makes one child of two neighbors, where they fit.
    private static func merge(_ node: IndexNode, _ index: Int) -> Bool {
        let right = node.child(index + 1)
        // A branch that cannot be read appears as a leaf without entries.
        guard node.child(index).count + right.count <= IndexNode.capacity * 3 / 4,
            node.child(index).isLeaf == right.isLeaf
        else { return false }
        let left = node.ownedChild(index)
        let first = left.count
        left.append(right, 0..<right.count)
        if !right.isLeaf {
            // The first entry of a branch bounds nothing; in the middle it has to be its true lower bound.
            left.replaceEntry(at: first, with: node.probe(index + 1))
        }
        node.setCount(node.counts[index] + node.counts[index + 1], at: index)
        node.remove(at: index + 1)
        return true
    }
}
