import MortiseCore

/// How the rows of one table are found: decided before any of them is read, and told as it is done.
struct TableAccess {
    /// The rows in which the query's may be; nil for all.
    let candidates: RowCandidates?
    /// How the rows are found, in words; nil for the words of the plan.
    let detail: String?
    /// Whether all rows are looked at.
    let isFullScan: Bool
    /// How many rows were looked at on a way that was given up.
    var tried = 0

    init(_ candidates: RowCandidates?, detail: String? = nil) {
        self.candidates = candidates
        self.detail = detail
        isFullScan = candidates == nil
    }
}

extension EngineQuery {
    /// Chooses the access path to the rows of a table, which is number `place` among `entities`. A large part of a
    /// table is found faster by a scan than through an index; a query that avoids full scans uses the index all the
    /// same.
    func access(_ table: TableVersion, _ place: Int) -> TableAccess {
        if let identifiers {
            return TableAccess(.few(Set(identifiers.compactMap { table.row(of: $0) }).sorted()))
        }
        guard !paths.isEmpty, !paths[place].isEmpty else {
            return TableAccess(nil, detail: isFamily ? Self.scanText : nil)
        }
        let paths = paths[place]
        if paths.count == 1, paths[0].isPoint {
            // More than a few would have to be counted first.
            if let rows = paths[0].rows(in: TableIndex(table, paths[0].index), upTo: 64) {
                return TableAccess(.few(rows), detail: isFamily ? text(0, place) : nil)
            }
        }
        var best: (number: Int, index: TableIndex, ranges: [IndexRange], count: Int)?
        for (number, path) in paths.enumerated() {
            let index = TableIndex(table, path.index)
            let ranges = path.ranges(in: index)
            let count = ranges.reduce(0) { $0 + index.count(in: $1) }
            if count < best?.count ?? .max { best = (number, index, ranges, count) }
        }
        guard let best else { return TableAccess(nil) }
        if query.avoidsFullScan || best.count < 64 || best.count < table.count / 4 {
            let rows = best.index.candidates(in: best.ranges, count: best.count)
            return TableAccess(rows, detail: isFamily || paths.count > 1 ? text(best.number, place) : nil)
        }
        return TableAccess(
            nil, detail: Self.scanText(text(best.number, place), leadsTo: min(best.count, table.count), of: table))
    }

    static let scanText = "scan of all rows"

    /// The words for a scan beside which there was an index.
    static func scanText(_ way: String, leadsTo count: Int, of table: TableVersion) -> String {
        "\(scanText), since \(count) of \(table.count) would be read by \(way)"
    }
}

extension Sequence<TableAccess> {
    /// How the rows of all tables are found, in words; nil for the words of the plan.
    var detail: String? {
        var texts: [String] = []
        for case let text? in map(\.detail) where !texts.contains(text) { texts.append(text) }
        return texts.isEmpty ? nil : texts.joined(separator: "; ")
    }
}
