/// Goes through the entries beside a checkpoint's, one after the other, with their rows.
struct IndexCursor {
    private let tree: IndexTree
    private let overlay: IndexOverlay
    private let isDescending: Bool
    private var place: Int
    // The leaf with the next entries, so that each is found once and not from the root.
    private var node: IndexNode?
    private var index = 0

    /// `place` is the first entry to come, counted from 0; for a descending cursor the one behind it.
    init(_ tree: IndexTree, _ overlay: IndexOverlay, from place: Int, descending: Bool = false) {
        (self.tree, self.overlay, self.place) = (tree, overlay, place)
        isDescending = descending
    }

    /// The next entry; those of records that the checkpoint lacks are left out. Valid as long as the tree is kept.
    mutating func next() -> IndexProbe? {
        while let entry = nextNumbered() {
            if let placed = overlay.placed(entry) { return placed }
        }
        return nil
    }

    private mutating func nextNumbered() -> IndexProbe? {
        if isDescending {
            if place <= 0 { return nil }
            place -= 1
            index -= 1
        } else {
            if place >= tree.count { return nil }
            place += 1
            index += 1
        }
        if let node, index >= 0, index < node.count { return node.probe(index) }
        guard let found = tree.leaf(at: isDescending ? place : place - 1) else { return nil }
        (node, index) = (found.node, found.index)
        return found.node.probe(index)
    }
}
