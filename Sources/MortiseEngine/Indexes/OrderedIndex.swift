/// An ordered index from keys to rows. A value: changing a copy leaves the original as it was.
///
/// It is one tree, or the tree of a checkpoint with what a log's tail has changed since: an overlay says which entries of the
/// checkpoint do not count, and a second tree has those that the tail has brought. Everything is answered as of one tree. What is
/// saved later goes into the checkpoint's tree, unless it has to do with what the overlay hides.
///
/// Several entries may have the same key; they are ordered by row.
struct OrderedIndex: Sendable {
    /// The only tree, or the checkpoint's.
    private(set) var base: IndexTree
    let overlay: IndexOverlay?
    private var brought: IndexTree
    /// Whether `brought` has all entries that the tail has brought.
    private var isComplete: Bool

    init(isWide: Bool) { self.init(IndexTree(isWide: isWide)) }

    init(isWide: Bool, root: IndexNode?, count: Int) {
        self.init(IndexTree(isWide: isWide, root: root, count: count))
    }

    init(_ tree: IndexTree) {
        base = tree
        overlay = nil
        brought = IndexTree(isWide: tree.isWide)
        isComplete = true
    }

    /// The tree of a checkpoint with an overlay.
    init(_ tree: IndexTree, under overlay: IndexOverlay) {
        base = tree
        self.overlay = overlay
        brought = IndexTree(isWide: tree.isWide)
        isComplete = overlay.rows?.late.isEmpty ?? true
    }

    var root: IndexNode? { base.root }
    var isWide: Bool { base.isWide }

    /// The entries beside the checkpoint's.
    var added: IndexTree {
        guard !isComplete, let overlay else { return brought }
        return overlay.completed(brought)
    }

    /// How many entries there are. For links under an overlay all of the checkpoint's are looked at once.
    var count: Int {
        guard let overlay else { return base.count }
        guard let rows = overlay.rows else { return base.count - overlay.hidden(in: base).count + brought.count }
        return base.count - rows.hiddenCount + brought.count + (isComplete ? 0 : rows.late.count)
    }

    /// Whether there is nothing in it; takes no counting. False also where all that is in the checkpoint is hidden.
    var isEmpty: Bool { base.count == 0 && brought.count == 0 && isComplete }

    // MARK: Looking up

    /// The lowest row with exactly that key.
    func firstRow(_ key: UnsafeRawBufferPointer) -> UInt64? { firstRow(IndexProbe(key, row: 0, isWide: isWide)) }

    /// The lowest row with exactly a probe's key, whatever the probe's row is.
    func firstRow(_ entry: IndexProbe) -> UInt64? {
        guard let overlay else { return base.firstRow(entry) }
        var known: UInt64?
        base.forEachRun(from: IndexProbe(head: entry.head, second: entry.second, tail: entry.tail, row: 0), to: nil) {
            node, run in
            for index in run {
                if !node.hasKey(index, entry) { return false }
                if overlay.hides(node, index) { continue }
                known = node.row(index)
                return false
            }
            return true
        }
        guard let number = added.firstRow(entry) else { return known }
        let place = IndexProbe(head: entry.head, second: entry.second, tail: entry.tail, row: number)
        guard let found = overlay.placed(place) else { return known }
        guard let known else { return found.row }
        overlay.checkUnique(
            IndexProbe(head: entry.head, second: entry.second, tail: entry.tail, row: known), found)
        return min(known, found.row)
    }

    func contains(_ probe: IndexProbe) -> Bool {
        guard let overlay else { return base.contains(probe) }
        if let place = overlay.numbered(probe), added.contains(place) { return true }
        return base.contains(probe) && !overlay.hides(probe)
    }

    /// How many entries come before a position.
    func rank(_ probe: IndexProbe) -> Int {
        guard let overlay else { return base.rank(probe) }
        return base.rank(probe) - overlay.hidden(in: base).rank(probe) + addedRank(probe, overlay)
    }

    /// How many of the entries beside the checkpoint's come before a position.
    private func addedRank(_ probe: IndexProbe, _ overlay: IndexOverlay) -> Int {
        let added = added
        if probe.row == 0 || overlay.rows == nil { return added.rank(probe) }
        // Few have one key, and their rows are looked up one by one.
        var rank = added.rank(IndexProbe(head: probe.head, second: probe.second, tail: probe.tail, row: 0))
        var cursor = IndexCursor(added, overlay, from: rank)
        while let entry = cursor.next(), entry.precedes(probe) { rank += 1 }
        return rank
    }

    /// How many entries lie between two positions, of which the second may be the end.
    func count(from lower: IndexProbe, to upper: IndexProbe?) -> Int {
        let (first, end) = (base.rank(lower), upper.map(base.rank) ?? base.count)
        guard let overlay else { return max(0, end - first) }
        var count = max(0, end - first)
        if overlay.hidesNothing {
            // Nothing to subtract.
        } else if count > Self.fewEntries || overlay.knowsHidden {
            let hidden = overlay.hidden(in: base)
            count -= max(0, (upper.map(hidden.rank) ?? hidden.count) - hidden.rank(lower))
        } else if count > 0 {
            base.forEachRun(from: lower, to: upper) { node, run in
                for index in run where overlay.hides(node, index) { count -= 1 }
                return true
            }
        }
        let added = added
        if added.count == 0 { return count }
        return count + max(0, (upper.map { addedRank($0, overlay) } ?? added.count) - addedRank(lower, overlay))
    }

    /// So many are gone through rather than looking for all that the overlay hides.
    private static let fewEntries = 1_024

    // MARK: Changing

    mutating func insert(_ key: UnsafeRawBufferPointer, row: UInt64, owner: UInt64) {
        insert(IndexProbe(key, row: row, isWide: isWide), owner: owner)
    }

    /// Adds an entry that is not there yet.
    mutating func insert(_ probe: IndexProbe, owner: UInt64) {
        guard let overlay, overlay.hides(probe), let place = overlay.numbered(probe) else {
            return base.insert(probe, owner: owner)
        }
        makeComplete()
        brought.insert(place, owner: owner)
    }

    @discardableResult
    mutating func remove(_ key: UnsafeRawBufferPointer, row: UInt64, owner: UInt64) -> Bool {
        remove(IndexProbe(key, row: row, isWide: isWide), owner: owner)
    }

    /// Takes an entry out.
    /// - Returns: false where it was not there.
    @discardableResult
    mutating func remove(_ probe: IndexProbe, owner: UInt64) -> Bool {
        guard let overlay else { return base.remove(probe, owner: owner) }
        if let place = overlay.numbered(probe) {
            makeComplete()
            if brought.remove(place, owner: owner) { return true }
        }
        return !overlay.hides(probe) && base.remove(probe, owner: owner)
    }

    /// Adds an entry of the tail: with the number of its record in place of a row, where entries lead to rows.
    mutating func bring(_ entry: IndexProbe, owner: UInt64) { brought.insert(entry, owner: owner) }

    /// Whether the tail has brought an entry, as `bring` takes it.
    func hasBrought(_ entry: IndexProbe) -> Bool { brought.contains(entry) }

    /// What `bring` has taken under a key; nil if nothing.
    func firstBrought(_ key: UnsafeRawBufferPointer) -> UInt64? { brought.firstRow(key) }

    /// What the tail has brought is complete, but for what needs old values.
    func seal() { overlay?.setBrought(brought) }

    private mutating func makeComplete() {
        if isComplete { return }
        brought = added
        isComplete = true
    }
}
