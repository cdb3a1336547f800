@testable import MortiseEngine

extension TableIndex {
    /// The row with the least or the greatest key in a range.
    func first(in range: IndexRange = .all, descending: Bool = false) -> Int? {
        var first: Int?
        forEachRow(in: range, descending: descending) { row in
            first = row
            return false
        }
        return first
    }
}

extension TableVersion {
    /// The indexes whose first properties are these, in this order; the shortest first.
    func indexes(leadingWith slots: [Int]) -> [TableIndex] {
        plan.indexes.indices
            .filter { plan.indexes[$0].slots.starts(with: slots) }
            .sorted { plan.indexes[$0].components.count < plan.indexes[$1].components.count }
            .map { TableIndex(self, $0) }
    }

    var allIndexes: [TableIndex] { plan.indexes.indices.map { TableIndex(self, $0) } }
}

extension IndexNode {
    /// All children, read if need be: for looking at a tree as a whole.
    var children: ContiguousArray<IndexNode> { ContiguousArray(cells.map(\.node)) }
}
