extension OrderedIndex {
    /// Calls the body with runs of entries in one leaf, from the lower position (included) to the upper (not included), in
    /// ascending or descending order of runs; within a run the entries ascend, and a descending reader turns them round.
    /// The body returns false to end the scan. A run's node is valid until the body returns, unless somebody keeps it.
    func forEachRun(
        from lower: IndexProbe?, to upper: IndexProbe?, descending: Bool = false,
        _ body: (IndexNode, Range<Int>) throws -> Bool
    ) rethrows { try scan(from: lower, to: upper, descending: descending, ahead: 1, body) }

    /// As `forEachRun`. Under an overlay `ahead` entries are looked at before the first are shown, and more with each run.
    private func scan(
        from lower: IndexProbe?, to upper: IndexProbe?, descending: Bool, ahead: Int,
        _ body: (IndexNode, Range<Int>) throws -> Bool
    ) rethrows {
        guard let overlay else { return try base.forEachRun(from: lower, to: upper, descending: descending, body) }
        var merger = IndexMerger(self, overlay, from: lower, to: upper, descending: descending, ahead: ahead)
        var goesOn = true
        try base.forEachRun(from: lower, to: upper, descending: descending) { node, run in
            goesOn = try merger.take(node, run, body)
            return goesOn
        }
        if goesOn { try merger.finish(body) }
    }

    /// Calls the body with the entries in ascending order. Keeps no node in memory that has to be read for that.
    /// - Throws: why a node cannot be read; what the body throws.
    func forEachEntry(_ body: (IndexProbe) throws -> Void) throws {
        func show(_ node: IndexNode, _ run: Range<Int>) throws -> Bool {
            for index in run { try body(node.probe(index)) }
            return true
        }
        guard let overlay else { return try base.forEachLeaf { _ = try show($0, 0..<$0.count) } }
        var merger = IndexMerger(self, overlay, from: nil, to: nil, descending: false)
        try base.forEachLeaf { if $0.count > 0 { _ = try merger.take($0, 0..<$0.count, show) } }
        try merger.finish(show)
    }

    /// Calls the body with rows in descending order of keys, those with equal keys in ascending order, until it returns
    /// false.
    func forEachRowDescending(
        from lower: IndexProbe, to upper: IndexProbe?, _ body: (Int) throws -> Bool
    ) rethrows {
        var end = upper
        // The position `end` points into it.
        var held: IndexNode?
        // The lowest key of a run is gone through by itself, so that runs must not stay short.
        var ahead = 1
        while true {
            var pending: (node: IndexNode, key: IndexProbe)?
            try withExtendedLifetime(held) {
                try scan(from: lower, to: end, descending: true, ahead: ahead) { node, run in
                    var last = run.upperBound - 1
                    while last >= run.lowerBound {
                        let key = node.probe(last)
                        var first = last
                        while first > run.lowerBound, node.hasKey(first - 1, key) { first -= 1 }
                        if first == run.lowerBound {
                            // Entries with this key may go on in the leaf before.
                            pending = (node, key)
                            return false
                        }
                        for index in first...last {
                            if try !body(Int(node.row(index))) { return false }
                        }
                        last = first - 1
                    }
                    return true
                }
            }
            guard let (node, key) = pending else { return }
            let start = IndexProbe(head: key.head, second: key.second, tail: key.tail, row: 0)
            let behind = IndexProbe(head: key.head, second: key.second, tail: key.tail, row: .max)
            var isEnded = false
            try withExtendedLifetime(node) {
                try forEachRun(from: start, to: behind) { node, run in
                    for index in run {
                        if try !body(Int(node.row(index))) {
                            isEnded = true
                            return false
                        }
                    }
                    return true
                }
            }
            if isEnded { return }
            (end, held) = (start, node)
            ahead = min(ahead * 2, IndexNode.capacity)
        }
    }

    /// The entry of that rank, counted from 0; nil also if it cannot be read.
    func entry(at rank: Int) -> IndexProbe? {
        guard let overlay else { return base.entry(at: rank) }
        guard rank >= 0 else { return nil }
        let (hidden, added) = (overlay.hidden(in: base), added)
        func place(_ number: Int) -> (entry: IndexProbe, rank: Int)? {
            guard let entry = added.entry(at: number).flatMap(overlay.placed) else { return nil }
            return (entry, number + base.rank(entry) - hidden.rank(entry))
        }
        // The first of the added entries that does not come before.
        var (low, high) = (0, added.count)
        while low < high {
            let middle = (low + high) / 2
            guard let found = place(middle) else { return nil }
            if found.rank < rank { low = middle + 1 } else { high = middle }
        }
        if low < added.count, let found = place(low), found.rank == rank { return found.entry }
        let left = rank - low
        // As many hidden ones come before.
        var (least, most) = (0, hidden.count)
        while least < most {
            let middle = (least + most) / 2
            guard let entry = hidden.entry(at: middle) else { return nil }
            if base.rank(entry) - middle <= left { least = middle + 1 } else { most = middle }
        }
        return base.entry(at: left + least)
    }
}

/// Puts the entries of a checkpoint's tree and those beside it into one order.
private struct IndexMerger {
    private let overlay: IndexOverlay
    private let isDescending: Bool
    private let lower: IndexProbe?
    private let upper: IndexProbe?
    private let isWide: Bool
    private var cursor: IndexCursor
    private var next: IndexProbe?
    /// How many entries are looked at before the next are shown.
    private var step: Int
    /// The entry that came last, where no two may have one key.
    private var last: (node: IndexNode, index: Int, isAdded: Bool)?

    init(
        _ index: OrderedIndex, _ overlay: IndexOverlay, from lower: IndexProbe?, to upper: IndexProbe?,
        descending: Bool, ahead: Int = 1
    ) {
        self.overlay = overlay
        step = ahead
        (self.lower, self.upper) = (lower, upper)
        (isDescending, isWide) = (descending, index.isWide)
        let added = index.added
        let isOfRows = overlay.rows != nil
        // Rows of entries beside the checkpoint's are looked up one by one, so that a bound goes by its key first.
        func rank(_ probe: IndexProbe, _ row: UInt64) -> Int {
            added.rank(IndexProbe(head: probe.head, second: probe.second, tail: probe.tail, row: row))
        }
        let place: Int
        if added.count == 0 {
            place = 0
        } else if descending {
            place = upper.map { isOfRows && $0.row > 0 ? rank($0, .max) : rank($0, $0.row) } ?? added.count
        } else {
            place = lower.map { isOfRows ? rank($0, 0) : rank($0, $0.row) } ?? 0
        }
        cursor = IndexCursor(added, overlay, from: place, descending: descending)
        advance()
        while let entry = next, isDescending ? upper.map({ !entry.precedes($0) }) ?? false : isBelow(entry) {
            advance()
        }
    }

    private func isBelow(_ entry: IndexProbe) -> Bool { lower.map { entry.precedes($0) } ?? false }

    private mutating func advance() {
        next = cursor.next()
        guard let entry = next else { return }
        let isBehind = isDescending ? isBelow(entry) : upper.map { !entry.precedes($0) } ?? false
        if isBehind { next = nil }
    }

    /// Shows the entries of a run of the checkpoint's tree, with those that come before and between them.
    mutating func take(
        _ node: IndexNode, _ run: Range<Int>, _ body: (IndexNode, Range<Int>) throws -> Bool
    ) rethrows -> Bool {
        var (start, end) = (run.lowerBound, run.upperBound)
        while start < end, let entry = next {
            if isDescending {
                // Up to the first entry of the run the next run may have some in between.
                guard node.isBefore(start, entry) else { break }
                let place = max(start, min(end, node.lowerBound(entry, from: start)))
                if try !show(node, place..<end, body) { return false }
                end = place
                if try !showAdded(body, while: { node.isBefore(end - 1, $0) }) { return false }
            } else {
                guard node.isBefore(end - 1, entry) == false else { break }
                let place = max(start, min(end, node.lowerBound(entry, from: start)))
                if try !show(node, start..<place, body) { return false }
                start = place
                if try !showAdded(body, while: { place < end && !node.isBefore(place, $0) }) { return false }
            }
        }
        return try show(node, start..<end, body)
    }

    /// Shows what comes behind the last run.
    mutating func finish(_ body: (IndexNode, Range<Int>) throws -> Bool) rethrows {
        while next != nil {
            if try !showAdded(body, while: { _ in true }) { return }
        }
    }

    /// Shows at least the next of the entries beside the checkpoint's, and more while they meet the condition.
    private mutating func showAdded(
        _ body: (IndexNode, Range<Int>) throws -> Bool, while isDue: (IndexProbe) -> Bool
    ) rethrows -> Bool {
        guard let first = next else { return true }
        let node = IndexNode(owner: 0, isWide: isWide)
        node.insert(first, at: 0)
        advance()
        // Where the next one lies may have to be read, too.
        while let entry = next, node.count < step, isDue(entry) {
            node.insert(entry, at: isDescending ? 0 : node.count)
            advance()
        }
        step = min(step * 2, IndexNode.capacity)
        check(node, 0..<node.count, isAdded: true)
        return try body(node, 0..<node.count)
    }

    /// Shows those of the entries that count. Whether one does may have to be read: a body that wants only the first few gets these
    /// before others are looked at.
    private mutating func show(
        _ node: IndexNode, _ range: Range<Int>, _ body: (IndexNode, Range<Int>) throws -> Bool
    ) rethrows -> Bool {
        var rest = range
        while !rest.isEmpty {
            let piece = isDescending ? rest.suffix(step) : rest.prefix(step)
            step = min(step * 2, IndexNode.capacity)
            rest = isDescending ? rest.lowerBound..<piece.lowerBound : piece.upperBound..<rest.upperBound
            if try !showPiece(node, piece, body) { return false }
        }
        return true
    }

    private mutating func showPiece(
        _ node: IndexNode, _ range: Range<Int>, _ body: (IndexNode, Range<Int>) throws -> Bool
    ) rethrows -> Bool {
        var (start, end) = (range.lowerBound, range.upperBound)
        if isDescending {
            var index = end
            while index > start {
                index -= 1
                guard overlay.hides(node, index) else { continue }
                if try !showWhole(node, (index + 1)..<end, body) { return false }
                end = index
            }
        } else {
            for index in range where overlay.hides(node, index) {
                if try !showWhole(node, start..<index, body) { return false }
                start = index + 1
            }
        }
        return try showWhole(node, start..<end, body)
    }

    private mutating func showWhole(
        _ node: IndexNode, _ range: Range<Int>, _ body: (IndexNode, Range<Int>) throws -> Bool
    ) rethrows -> Bool {
        if range.isEmpty { return true }
        check(node, range, isAdded: false)
        return try body(node, range)
    }

    /// Where entries of the tail meet others with the same key, that may break uniqueness.
    private mutating func check(_ node: IndexNode, _ range: Range<Int>, isAdded: Bool) {
        guard overlay.isUnique else { return }
        if isAdded, range.count > 1 {
            for index in range.dropFirst() where node.hasKey(index, node.probe(index - 1)) {
                overlay.checkUnique(node.probe(index - 1), node.probe(index))
            }
        }
        let near = isDescending ? range.upperBound - 1 : range.lowerBound
        if let last, last.isAdded || isAdded, node.hasKey(near, last.node.probe(last.index)) {
            overlay.checkUnique(last.node.probe(last.index), node.probe(near))
        }
        last = (node, isDescending ? range.lowerBound : range.upperBound - 1, isAdded)
    }
}
