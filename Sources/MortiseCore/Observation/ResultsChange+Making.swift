/// A row that two results do not have in common without a change: its position in each, as far as it is in it.
struct TouchedRow {
    var identifier: PersistentIdentifier
    var old: Int?
    var new: Int?
    /// The names of the properties that have changed; empty if any may have.
    var properties: [String] = []
    /// Whether the record has changed. If not, the row may have moved all the same.
    var isChanged = true
}

extension ResultsChange {
    /// The change between two results of which all rows that are not given are the same, in the same order.
    init(
        _ rows: [TouchedRow], oldCount: Int, newCount: Int, sections: SectionDifference = SectionDifference(),
        renamed: [Renaming] = [], versions: [String: ClosedRange<UInt64>] = [:]
    ) {
        var removed: [Row] = []
        var inserted: [Row] = []
        var staying: [TouchedRow] = []
        var oldIndexes: [Int] = []
        var newIndexes: [Int] = []
        for row in rows {
            if let old = row.old { oldIndexes.append(old) }
            if let new = row.new { newIndexes.append(new) }
            switch (row.old, row.new) {
            case (let old?, nil): removed.append(Row(index: old, identifier: row.identifier))
            case (nil, let new?): inserted.append(Row(index: new, identifier: row.identifier))
            case (.some, .some): staying.append(row)
            case (nil, nil): break
            }
        }
        removed.sort { $0.index < $1.index }
        inserted.sort { $0.index < $1.index }
        oldIndexes.sort()
        newIndexes.sort()
        staying.sort { ($0.new ?? 0) < ($1.new ?? 0) }
        let isKept = Self.inPlace(staying, RankMap(touched: oldIndexes), RankMap(touched: newIndexes), sections)
        var moved: [Change] = []
        var updated: [Change] = []
        for (row, isKept) in zip(staying, isKept) {
            guard let old = row.old, let new = row.new, !isKept || row.isChanged else { continue }
            let change = Change(
                old: old, new: new, identifier: row.identifier, isChanged: row.isChanged,
                properties: row.isChanged ? row.properties : [])
            if isKept { updated.append(change) } else { moved.append(change) }
        }
        self.init(
            removed: removed, inserted: inserted, moved: moved, updated: updated, sections: sections, renamed: renamed,
            oldCount: oldCount, newCount: newCount, versions: versions)
    }

    /// Which of some rows, in their new order, need not move: between the same two untouched rows as before, and of those
    /// between the same two the longest run that is still in order. A row that changes its section has to move.
    private static func inPlace(
        _ rows: [TouchedRow], _ old: RankMap, _ new: RankMap, _ sections: SectionDifference
    ) -> [Bool] {
        var isKept = Array(repeating: false, count: rows.count)
        var first = 0
        while first < rows.count {
            let gap = new.rank(below: rows[first].new ?? 0)
            var end = first + 1
            while end < rows.count, new.rank(below: rows[end].new ?? 0) == gap { end += 1 }
            let candidates = (first..<end).filter { place in
                let row = rows[place]
                return old.rank(below: row.old ?? 0) == gap
                    && sections.old?.title(of: row.old ?? 0) == sections.new?.title(of: row.new ?? 0)
            }
            for place in longestRun(candidates.map { rows[$0].old ?? 0 }) { isKept[candidates[place]] = true }
            first = end
        }
        return isKept
    }

    /// The places of a longest ascending subsequence of different numbers.
    static func longestRun(_ numbers: [Int]) -> [Int] {
        if numbers.count <= 1 { return Array(numbers.indices) }
        // The place of the least last number of an ascending subsequence of each length.
        var ends: [Int] = []
        var before = Array(repeating: -1, count: numbers.count)
        for (place, number) in numbers.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
            }
            if low > 0 { before[place] = ends[low - 1] }
            if low == ends.count { ends.append(place) } else { ends[low] = place }
        }
        var run: [Int] = []
        var place = ends.last ?? -1
        while place >= 0 {
            run.append(place)
            place = before[place]
        }
        return run.reversed()
    }

    /// The change between two results as lists. `touched` are the records of which something may have changed, with the names of
    /// their properties; `names` are the new identifiers of the old result's rows, where they have others.
    init(
        from old: [PersistentIdentifier], to new: [PersistentIdentifier],
        touched: [PersistentIdentifier: [String]],
        renamed: [Renaming] = [], sections: SectionDifference = SectionDifference(),
        versions: [String: ClosedRange<UInt64>] = [:]
    ) {
        let names = Dictionary(renamed.map { ($0.temporary, $0.permanent) }, uniquingKeysWith: { first, _ in first })
        func name(_ identifier: PersistentIdentifier) -> PersistentIdentifier { names[identifier] ?? identifier }
        // What is the same at both ends is not looked at.
        var start = 0
        while start < old.count, start < new.count, name(old[start]) == new[start] { start += 1 }
        var end = 0
        while end < old.count - start, end < new.count - start,
            name(old[old.count - 1 - end]) == new[new.count - 1 - end]
        {
            end += 1
        }
        var places: [PersistentIdentifier: Int] = [:]
        for index in start..<(old.count - end) { places[name(old[index])] = index }
        var rows: [TouchedRow] = []
        // The rows that nothing says to have changed, as far as they keep their order.
        var quiet: [(old: Int, new: Int)] = []
        var seen: Set<PersistentIdentifier> = []
        func note(_ identifier: PersistentIdentifier, old: Int, new: Int) {
            if let properties = touched[identifier] {
                rows.append(TouchedRow(identifier: identifier, old: old, new: new, properties: properties))
            } else {
                quiet.append((old, new))
            }
        }
        if !touched.isEmpty { for index in 0..<start { note(new[index], old: index, new: index) } }
        for index in start..<(new.count - end) {
            if let place = places[new[index]] {
                seen.insert(new[index])
                note(new[index], old: place, new: index)
            } else {
                rows.append(TouchedRow(identifier: new[index], old: nil, new: index))
            }
        }
        for index in start..<(old.count - end) where !seen.contains(name(old[index])) {
            rows.append(TouchedRow(identifier: name(old[index]), old: index, new: nil))
        }
        if !touched.isEmpty {
            for index in (new.count - end)..<new.count {
                note(new[index], old: index - new.count + old.count, new: index)
            }
        }
        // A row may move because of a record that nobody has named.
        let stays = Set(Self.longestRun(quiet.map(\.old)).map { quiet[$0].new })
        for (old, index) in quiet where !stays.contains(index) {
            rows.append(TouchedRow(identifier: new[index], old: old, new: index, isChanged: false))
        }
        let kept = renamed.filter { touched[$0.permanent] != nil || places[$0.permanent] != nil || start + end > 0 }
        self.init(
            rows, oldCount: old.count, newCount: new.count, sections: sections, renamed: kept, versions: versions)
    }
}

/// Positions among the rows that are not touched.
struct RankMap {
    /// The positions of the touched rows, ascending.
    let touched: [Int]

    /// How many of the touched rows lie before a position.
    func count(below position: Int) -> Int {
        var (low, high) = (0, touched.count)
        while low < high {
            let middle = (low + high) / 2
            if touched[middle] < position { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// How many untouched rows lie before a position.
    func rank(below position: Int) -> Int { position - count(below: position) }

    /// The position of the untouched row of a rank.
    func position(ofRank rank: Int) -> Int {
        var (low, high) = (0, touched.count)
        while low < high {
            let middle = (low + high) / 2
            if touched[middle] - middle <= rank { low = middle + 1 } else { high = middle }
        }
        return rank + low
    }
}
