/// Rows in an order that others decide, each with a position: a tree whose nodes count what is below them.
///
/// A row is a handle, a number below `HandleTable`'s greatest, and is in the order once. Inserting, removing, the position
/// of a row and the row at a position take logarithmic time; no keys are kept. A snapshot is made at once, and shares all
/// nodes that do not change afterwards.
struct CountedOrder: Sendable {
    fileprivate static let leafCapacity = 128
    fileprivate static let fanOut = 64

    /// A leaf, with rows, or an inner node, with children.
    ///
    /// @unchecked Sendable: a node changes only while one order alone refers to it.
    fileprivate final class Node: @unchecked Sendable {
        var number: UInt32
        var rows: ContiguousArray<UInt32> = []
        var children: ContiguousArray<Node> = []
        /// The numbers of the children, and how many rows are below each.
        var numbers: ContiguousArray<UInt32> = []
        var counts: ContiguousArray<Int> = []

        init(_ number: UInt32) { self.number = number }

        var isLeaf: Bool { children.isEmpty }
        var size: Int { isLeaf ? rows.count : children.count }
        var count: Int { isLeaf ? rows.count : counts.reduce(0, +) }

        func copy() -> Node {
            let copy = Node(number)
            if isLeaf {
                copy.rows.reserveCapacity(CountedOrder.leafCapacity)
                copy.rows.append(contentsOf: rows)
            } else {
                copy.children = children
                copy.numbers = numbers
                copy.counts = counts
            }
            return copy
        }

        func insert(_ child: Node, at place: Int) {
            children.insert(child, at: place)
            numbers.insert(child.number, at: place)
            counts.insert(child.count, at: place)
        }

        func removeChild(at place: Int) {
            children.remove(at: place)
            numbers.remove(at: place)
            counts.remove(at: place)
        }

        /// The row at a position.
        func row(at position: Int) -> UInt32 {
            var (node, left) = (self, position)
            while !node.isLeaf {
                var place = 0
                while left >= node.counts[place] {
                    left -= node.counts[place]
                    place += 1
                }
                node = node.children[place]
            }
            return node.rows[left]
        }

        var first: UInt32? {
            var node = self
            while let child = node.children.first { node = child }
            return node.rows.first
        }
    }

    /// The rows in their order at one time.
    struct Snapshot: RandomAccessCollection, Sendable {
        fileprivate let root: Node
        let endIndex: Int
        var startIndex: Int { 0 }
        subscript(position: Int) -> UInt32 { root.row(at: position) }
    }

    private var root: Node
    private(set) var count = 0
    /// The leaf of each row.
    private var leaves = HandleTable()
    /// The number of the node above each node, by number; `top` for the root.
    private var parents: ContiguousArray<UInt32>
    private var free: ContiguousArray<UInt32> = []
    private static let top = UInt32.max

    /// Makes an order without rows.
    init() {
        root = Node(0)
        parents = [Self.top]
    }

    /// Makes an order of rows that are in order already, each once.
    init(_ rows: some Collection<UInt32>) {
        self.init()
        let total = rows.count
        if total == 0 { return }
        leaves.reserve(total, below: Int(rows.max() ?? 0) + 1)
        let perLeaf = Self.leafCapacity * 3 / 4
        let leafCount = (total + perLeaf - 1) / perLeaf
        var level: ContiguousArray<Node> = []
        level.reserveCapacity(leafCount)
        parents = []
        var iterator = rows.makeIterator()
        for index in 0..<leafCount {
            let node = Node(makeNumber())
            node.rows.reserveCapacity(Self.leafCapacity)
            for _ in (index * total / leafCount)..<((index + 1) * total / leafCount) {
                guard let row = iterator.next() else { break }
                node.rows.append(row)
                leaves.set(row, node.number)
            }
            level.append(node)
        }
        let perNode = Self.fanOut * 3 / 4
        while level.count > 1 {
            let nodeCount = (level.count + perNode - 1) / perNode
            var next: ContiguousArray<Node> = []
            for index in 0..<nodeCount {
                let node = Node(makeNumber())
                for child in level[(index * level.count / nodeCount)..<((index + 1) * level.count / nodeCount)] {
                    node.insert(child, at: node.children.count)
                    parents[Int(child.number)] = node.number
                }
                next.append(node)
            }
            level = next
        }
        root = level[0]
        count = total
    }

    /// The rows as they are now.
    var snapshot: Snapshot { Snapshot(root: root, endIndex: count) }

    /// The row at a position, which must exist.
    subscript(position: Int) -> UInt32 { root.row(at: position) }

    /// Whether a row is in the order.
    func contains(_ row: UInt32) -> Bool { leaves[row] != nil }

    /// The position of a row; nil if it is not in the order.
    func position(of row: UInt32) -> Int? {
        guard let leaf = leaves[row] else { return nil }
        var (node, position) = (root, 0)
        for number in path(to: leaf) {
            guard let place = node.numbers.firstIndex(of: number) else { return nil }
            for other in 0..<place { position += node.counts[other] }
            node = node.children[place]
        }
        return node.rows.firstIndex(of: row).map { position + $0 }
    }

    /// The numbers of the nodes from below the root to a leaf.
    private func path(to leaf: UInt32) -> ContiguousArray<UInt32> {
        var path: ContiguousArray<UInt32> = []
        var number = leaf
        while parents[Int(number)] != Self.top {
            path.append(number)
            number = parents[Int(number)]
        }
        path.reverse()
        return path
    }

    private mutating func makeNumber() -> UInt32 {
        if let number = free.popLast() {
            parents[Int(number)] = Self.top
            return number
        }
        parents.append(Self.top)
        return UInt32(parents.count - 1)
    }
}

// MARK: - Inserting

extension CountedOrder {
    /// Inserts a row that is not in the order yet, behind all for which the body says that they precede it. The order
    /// must agree: no row that does not precede it may stand before one that does.
    /// - Returns: its position.
    @discardableResult
    mutating func insert(_ row: UInt32, after precedes: (UInt32) throws -> Bool) rethrows -> Int {
        // Found first: what throws has changed nothing.
        var places: ContiguousArray<Int> = []
        var (node, position) = (root, 0)
        while !node.isLeaf {
            var (low, high) = (0, node.children.count)
            // The last child whose first row precedes; the first of all if there is no such child.
            while high - low > 1 {
                let middle = (low + high) / 2
                if let first = node.children[middle].first, try precedes(first) { low = middle } else { high = middle }
            }
            for other in 0..<low { position += node.counts[other] }
            places.append(low)
            node = node.children[low]
        }
        var (low, high) = (0, node.rows.count)
        while low < high {
            let middle = (low + high) / 2
            if try precedes(node.rows[middle]) { low = middle + 1 } else { high = middle }
        }
        insert(row, at: low, places)
        return position + low
    }

    /// Puts a row behind all others.
    mutating func append(_ row: UInt32) {
        var places: ContiguousArray<Int> = []
        var node = root
        while !node.isLeaf {
            places.append(node.children.count - 1)
            node = node.children[node.children.count - 1]
        }
        insert(row, at: node.rows.count, places)
    }

    private mutating func insert(_ row: UInt32, at place: Int, _ path: ContiguousArray<Int>) {
        if !isKnownUniquelyReferenced(&root) { root = root.copy() }
        if let sibling = insert(row, at: place, path[...], in: root) {
            let new = Node(makeNumber())
            new.insert(root, at: 0)
            new.insert(sibling, at: 1)
            parents[Int(root.number)] = new.number
            parents[Int(sibling.number)] = new.number
            root = new
        }
        count += 1
    }

    /// - Returns: the node that a split has put behind this one.
    private mutating func insert(
        _ row: UInt32, at place: Int, _ path: ContiguousArray<Int>.SubSequence, in node: Node
    ) -> Node? {
        guard let step = path.first else {
            node.rows.insert(row, at: place)
            leaves.set(row, node.number)
            return node.rows.count > Self.leafCapacity ? splitLeaf(node, insertedAt: place) : nil
        }
        if !isKnownUniquelyReferenced(&node.children[step]) { node.children[step] = node.children[step].copy() }
        let child = node.children[step]
        let sibling = insert(row, at: place, path.dropFirst(), in: child)
        node.counts[step] += 1
        guard let sibling else { return nil }
        node.counts[step] = child.count
        node.insert(sibling, at: step + 1)
        parents[Int(sibling.number)] = node.number
        return node.children.count > Self.fanOut ? splitInner(node) : nil
    }

    private mutating func splitLeaf(_ node: Node, insertedAt place: Int) -> Node {
        let new = Node(makeNumber())
        new.rows.reserveCapacity(Self.leafCapacity)
        // Rows that come in order fill their leaves.
        let cut = place == node.rows.count - 1 ? place : node.rows.count / 2
        new.rows.append(contentsOf: node.rows[cut...])
        node.rows.removeSubrange(cut...)
        for row in new.rows { leaves.set(row, new.number) }
        return new
    }

    private mutating func splitInner(_ node: Node) -> Node {
        let new = Node(makeNumber())
        let cut = node.children.count / 2
        new.children = ContiguousArray(node.children[cut...])
        new.numbers = ContiguousArray(node.numbers[cut...])
        new.counts = ContiguousArray(node.counts[cut...])
        node.children.removeSubrange(cut...)
        node.numbers.removeSubrange(cut...)
        node.counts.removeSubrange(cut...)
        for number in new.numbers { parents[Int(number)] = new.number }
        return new
    }
}

// MARK: - Removing

extension CountedOrder {
    /// Removes a row.
    /// - Returns: whether it was in the order.
    @discardableResult
    mutating func remove(_ row: UInt32) -> Bool {
        guard let leaf = leaves[row] else { return false }
        let path = path(to: leaf)
        if !isKnownUniquelyReferenced(&root) { root = root.copy() }
        remove(row, path[...], in: root)
        leaves.remove(row)
        count -= 1
        while root.children.count == 1 {
            free.append(root.number)
            root = root.children[0]
            parents[Int(root.number)] = Self.top
        }
        return true
    }

    /// Removes the last row, if there is one.
    mutating func removeLast() {
        if count > 0 { remove(self[count - 1]) }
    }

    private mutating func remove(_ row: UInt32, _ path: ContiguousArray<UInt32>.SubSequence, in node: Node) {
        guard let number = path.first else {
            if let place = node.rows.firstIndex(of: row) { node.rows.remove(at: place) }
            return
        }
        guard let place = node.numbers.firstIndex(of: number) else { return }
        if !isKnownUniquelyReferenced(&node.children[place]) { node.children[place] = node.children[place].copy() }
        let child = node.children[place]
        remove(row, path.dropFirst(), in: child)
        node.counts[place] -= 1
        let capacity = child.isLeaf ? Self.leafCapacity : Self.fanOut
        if child.size < capacity / 3, node.children.count > 1 { fill(place, of: node, capacity) }
    }

    /// Joins a child that has become small with a neighbour, or takes over some of what that has.
    private mutating func fill(_ place: Int, of node: Node, _ capacity: Int) {
        let (first, second) = place > 0 ? (place - 1, place) : (place, place + 1)
        for place in [first, second] where !isKnownUniquelyReferenced(&node.children[place]) {
            node.children[place] = node.children[place].copy()
        }
        let (left, right) = (node.children[first], node.children[second])
        let total = left.size + right.size
        if total <= capacity * 9 / 10 {
            move(right.size, from: right, atStart: true, to: left)
            free.append(right.number)
            node.removeChild(at: second)
            node.counts[first] = left.count
            return
        }
        let surplus = left.size - total / 2
        if surplus > 0 {
            move(surplus, from: left, atStart: false, to: right)
        } else if surplus < 0 {
            move(-surplus, from: right, atStart: true, to: left)
        }
        node.counts[first] = left.count
        node.counts[second] = right.count
    }

    /// Moves the first children or rows of a node behind those of the one before it, or the last before those of the one
    /// behind it.
    private mutating func move(_ amount: Int, from source: Node, atStart: Bool, to target: Node) {
        let range = atStart ? 0..<amount : (source.size - amount)..<source.size
        let place = atStart ? target.size : 0
        if source.isLeaf {
            target.rows.insert(contentsOf: source.rows[range], at: place)
            for row in source.rows[range] { leaves.set(row, target.number) }
            source.rows.removeSubrange(range)
        } else {
            target.children.insert(contentsOf: source.children[range], at: place)
            target.numbers.insert(contentsOf: source.numbers[range], at: place)
            target.counts.insert(contentsOf: source.counts[range], at: place)
            for number in source.numbers[range] { parents[Int(number)] = target.number }
            source.children.removeSubrange(range)
            source.numbers.removeSubrange(range)
            source.counts.removeSubrange(range)
        }
    }
}

extension CountedOrder {
    /// How full the leaves are on average, and whether counts, numbers and leaves agree; for tests.
    func check() -> (fill: Double, isSound: Bool) {
        var (leafCount, isSound) = (0, true)
        func visit(_ node: Node, above: UInt32) -> Int {
            if parents[Int(node.number)] != above { isSound = false }
            if node.isLeaf {
                leafCount += 1
                for row in node.rows where leaves[row] != node.number { isSound = false }
                return node.rows.count
            }
            if node.numbers != ContiguousArray(node.children.map(\.number)) { isSound = false }
            for (child, count) in zip(node.children, node.counts) where visit(child, above: node.number) != count {
                isSound = false
            }
            return node.counts.reduce(0, +)
        }
        if visit(root, above: Self.top) != count || leaves.count != count { isSound = false }
        return (Double(count) / Double(leafCount * Self.leafCapacity), isSound)
    }
}
