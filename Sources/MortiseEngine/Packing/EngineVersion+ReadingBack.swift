import MortiseCore

extension EngineVersion {
    /// Reads every region of a packed version once, as readers will, and keeps none of them.
    ///
    /// Takes as long as reading the file and checking what its readers rely on, whatever the version has in memory. Values
    /// are not compared.
    /// - Parameters:
    ///   - packed: the version that was packed.
    ///   - isCancelled: asked now and then; if it returns true, a `CancellationError` is thrown.
    /// - Throws: the error of the first region that cannot be read, or that differs from the packed version.
    public func checkReadable(as packed: EngineVersion, isCancelled: () -> Bool = { false }) throws {
        guard tables.keys == packed.tables.keys else { throw fault("lacks tables that were written, or has more") }
        for (name, table) in tables {
            let expected = packed.tables[name]
            guard table.endRow == expected?.endRow, table.count == expected?.count else {
                throw fault("lacks records of \(name) that were written, or has more")
            }
            for dictionary in table.dictionaries { dictionary?.prepare() }
            var live = 0
            for group in table.groups {
                if isCancelled() { throw CancellationError() }
                for cell in group.cells {
                    guard case .packed(let chunk) = cell else { continue }
                    live += try chunk.read().liveCount(of: chunk.place.rows)
                }
            }
            guard live == table.count else { throw fault("has \(live) records of \(name), not \(table.count)") }
            for tree in table.indexes + table.links.map(\.pairs) {
                if isCancelled() { throw CancellationError() }
                guard try tree.base.isOrdered() else { throw fault("has an index or links of \(name) out of order") }
            }
        }
        try checkDamage()
    }

    private func fault(_ what: String) -> any Error {
        let fault = PackedFault(self.packed?.end ?? 0, what)
        return self.packed?.explaining(fault) ?? fault
    }
}

extension Chunk {
    /// How many of the first rows are there.
    fileprivate func liveCount(of rows: Int) -> Int {
        // A place does not hold its chunk.
        withExtendedLifetime(self) { (0..<rows).count { !place.isDead($0) } }
    }
}

extension IndexTree {
    /// Whether the entries ascend from leaf to leaf, and each search comes to where its entry is. Keeps no node.
    fileprivate func isOrdered() throws -> Bool {
        guard let root else { return true }
        var last: (node: IndexNode, index: Int)?
        var found = 0
        func check(_ node: IndexNode, from bound: (node: IndexNode, index: Int)?) throws -> Bool {
            if node.isLeaf {
                for index in 0..<node.count {
                    if index == 0, let bound, node.isBefore(0, bound.node.probe(bound.index)) { return false }
                    if let last, !last.node.isBefore(last.index, node.probe(index)) { return false }
                    last = (node, index)
                }
                found += node.count
                return true
            }
            for (index, cell) in node.cells.enumerated() {
                let child: IndexNode =
                    switch cell {
                    case .node(let node): node
                    case .packed(let packed): try packed.read()
                    }
                // What is before a child comes before its separator, and all in it does not.
                if index > 0, let last, !last.node.isBefore(last.index, node.probe(index)) { return false }
                if try !check(child, from: index > 0 ? (node, index) : bound) { return false }
            }
            return true
        }
        return try check(root, from: nil) && found == count
    }
}
