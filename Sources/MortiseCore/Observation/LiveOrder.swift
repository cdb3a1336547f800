/// The rows of a live result in their order, and of a result with a limit a margin behind it, so that a row that leaves seldom
/// costs a query.
///
/// What is kept is the first part of all rows that match. Rows behind the last one that is kept are not known, unless the order is
/// complete.
struct LiveOrder: Sendable {
    /// What a change has done to one row: its handle in the old order, and in the new one if it matches there.
    struct Entry {
        var old: UInt32?
        var new: UInt32?
    }

    /// How one row's visible position has changed.
    struct Outcome {
        /// The place of the row's entry; nil for a row that the change of others has moved over an edge of the window.
        var entry: Int?
        /// The handle of a row without an entry.
        var row: UInt32
        var old: Int?
        var new: Int?
    }

    /// The first rows of the new order, asked for again.
    struct Refill {
        var rows: [UInt32]
        /// Whether these are all that match.
        var isComplete: Bool
    }

    private(set) var order: CountedOrder
    let offset: Int
    let limit: Int?
    /// Whether no row matches that is not kept.
    private(set) var isComplete: Bool
    /// How often rows had to be asked for again.
    private(set) var refills = 0

    /// - Parameters:
    ///   - rows: the first `needed(offset:limit:)` rows, or all.
    ///   - isComplete: whether these are all that match.
    ///   - offset: the first visible position.
    ///   - limit: how many rows are visible at most; nil for all.
    init(_ rows: some Collection<UInt32>, isComplete: Bool, offset: Int, limit: Int?) {
        order = CountedOrder(rows)
        self.offset = offset
        self.limit = limit
        self.isComplete = isComplete || limit == nil
    }

    private static func margin(_ limit: Int) -> Int { max(32, min(limit, 1024)) }

    /// How many rows to ask for; nil for all.
    static func needed(offset: Int, limit: Int?) -> Int? {
        guard let limit else { return nil }
        let (end, overflows) = offset.addingReportingOverflow(limit)
        let (total, overflowsToo) = end.addingReportingOverflow(margin(limit))
        return overflows || overflowsToo ? nil : total
    }

    /// How many rows to ask for; nil for all.
    var needed: Int? { Self.needed(offset: offset, limit: limit) }

    private var visibleEnd: Int? {
        guard let limit else { return nil }
        let (end, overflows) = offset.addingReportingOverflow(limit)
        return overflows ? nil : end
    }

    private func window(of count: Int) -> Range<Int> {
        let start = min(offset, count)
        return start..<max(start, min(visibleEnd ?? count, count))
    }

    /// The kept positions that are visible.
    var visible: Range<Int> { window(of: order.count) }

    /// The visible position of a row; nil if it is not visible.
    func visiblePosition(of row: UInt32) -> Int? {
        guard let position = order.position(of: row), visible.contains(position) else { return nil }
        return position - visible.lowerBound
    }

    /// Takes in what has changed.
    /// - Parameters:
    ///   - entries: the rows that may match now, or have another place: each once.
    ///   - precedes: whether the first row stands before the second in the new order.
    ///   - refill: asks for the first `needed` rows of the new order.
    /// - Returns: the rows whose visible position may have changed, and that are visible before or after.
    /// - Throws: what the closures throw. The order must not be used any more then.
    mutating func take(
        _ entries: [Entry], precedes: (UInt32, UInt32) throws -> Bool, refill: () throws -> Refill
    ) rethrows -> [Outcome] {
        let oldWindow = visible
        var outcomes: [Outcome] = []
        outcomes.reserveCapacity(entries.count)
        var oldIndexes: [Int] = []
        for (place, entry) in entries.enumerated() {
            let index = entry.old.flatMap { order.position(of: $0) }
            if let index { oldIndexes.append(index) }
            outcomes.append(Outcome(entry: place, row: entry.new ?? entry.old ?? 0, old: index))
        }
        // All leave before any enters: between rows whose keys are in motion nothing can be found.
        for entry in entries { if let old = entry.old { order.remove(old) } }
        let untouched = order.count
        let bound = isComplete || untouched == 0 ? nil : order[untouched - 1]
        for entry in entries {
            guard let new = entry.new else { continue }
            if !isComplete {
                guard let bound, try precedes(new, bound) else { continue }
            }
            try order.insert(new) { try precedes($0, new) }
        }
        if !isComplete, let visibleEnd, order.count < visibleEnd {
            let found = try refill()
            refills += 1
            for row in found.rows.dropFirst(order.count) where !order.contains(row) { order.append(row) }
            isComplete = found.isComplete
        }
        oldIndexes.sort()
        var newIndexes: [Int] = []
        for place in outcomes.indices {
            guard let new = entries[place].new, let index = order.position(of: new) else { continue }
            outcomes[place].new = index
            newIndexes.append(index)
        }
        newIndexes.sort()
        let newWindow = visible
        for place in outcomes.indices {
            outcomes[place].old = outcomes[place].old.flatMap { oldWindow.place(of: $0) }
            outcomes[place].new = outcomes[place].new.flatMap { newWindow.place(of: $0) }
        }
        outcomes.removeAll { $0.old == nil && $0.new == nil }
        addEdges(to: &outcomes, RankMap(touched: oldIndexes), oldWindow, RankMap(touched: newIndexes), newWindow)
        cut()
        return outcomes
    }

    /// Adds the untouched rows that are on this side of an edge now, and were on the other.
    private func addEdges(
        to outcomes: inout [Outcome], _ old: RankMap, _ oldWindow: Range<Int>, _ new: RankMap, _ newWindow: Range<Int>
    ) {
        let before = old.rank(below: oldWindow.lowerBound)..<old.rank(below: oldWindow.upperBound)
        let after = new.rank(below: newWindow.lowerBound)..<new.rank(below: newWindow.upperBound)
        for rank in before.without(after) {
            outcomes.append(
                Outcome(
                    row: order[new.position(ofRank: rank)],
                    old: old.position(ofRank: rank) - oldWindow.lowerBound))
        }
        for rank in after.without(before) {
            let index = new.position(ofRank: rank)
            outcomes.append(Outcome(row: order[index], new: index - newWindow.lowerBound))
        }
    }

    /// Lets go of what is far behind the window.
    private mutating func cut() {
        guard let limit, let needed, order.count > needed + Self.margin(limit) else { return }
        while order.count > needed { order.removeLast() }
        isComplete = false
    }
}

extension Range<Int> {
    /// The distance of a member from the start; nil for others.
    fileprivate func place(of index: Int) -> Int? { contains(index) ? index - lowerBound : nil }

    /// The members that another range does not have.
    fileprivate func without(_ other: Range<Int>) -> [Int] {
        if other.isEmpty { return Array(self) }
        let before = lowerBound..<Swift.max(lowerBound, Swift.min(upperBound, other.lowerBound))
        let after = Swift.min(upperBound, Swift.max(lowerBound, other.upperBound))..<upperBound
        return Array(before) + Array(after)
    }
}
