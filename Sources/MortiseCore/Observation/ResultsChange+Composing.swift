extension ResultsChange {
    /// The change from the old result of an earlier change to the new result of this one, which begins where the earlier one ends.
    ///
    /// It names no more rows than the two together, and none whose moves cancel each other. Of several changes it does not matter which
    /// are composed first, but for rows that have only changed places: either of the two may be named as moved.
    /// - Parameter earlier: the change before this one; its `newCount` is this one's `oldCount`.
    /// - Returns: both as one; a reset if one of them is.
    public func following(_ earlier: ResultsChange) -> ResultsChange {
        let versions = earlier.versions.merging(versions) {
            min($0.lowerBound, $1.lowerBound)...max($0.upperBound, $1.upperBound)
        }
        var sections = SectionDifference()
        (sections.old, sections.new) = (earlier.oldSections, newSections)
        if isReset || earlier.isReset {
            var contents = contents
            if contents == nil, let before = earlier.contents {
                let after = applied(to: Array(before)) { $0 }
                let names = Dictionary(
                    renamed.map { ($0.temporary, $0.permanent) }, uniquingKeysWith: { first, _ in first })
                contents = ResultsContents(count: after.count) { names[after[$0]] ?? after[$0] }
            }
            return ResultsChange(
                sections: sections, contents: contents, oldCount: earlier.oldCount, newCount: newCount,
                versions: versions)
        }
        (sections.removed, sections.inserted) = Self.composed(earlier, self)
        let middle = (
            before: RankMap(touched: earlier.touched(in: .new)), after: RankMap(touched: touched(in: .old))
        )
        let start = RankMap(touched: earlier.touched(in: .old))
        let end = RankMap(touched: touched(in: .new))
        // By the position between the two changes, where the row has one.
        var rows: [Int: TouchedRow] = [:]
        var others: [TouchedRow] = []
        for row in earlier.inserted { rows[row.index] = TouchedRow(identifier: row.identifier) }
        for change in earlier.staying {
            rows[change.new] = TouchedRow(
                identifier: change.identifier, old: change.old, properties: change.properties,
                isChanged: change.isChanged)
        }
        for row in earlier.removed { others.append(TouchedRow(identifier: row.identifier, old: row.index)) }
        func known(at index: Int, _ identifier: PersistentIdentifier) -> TouchedRow {
            rows.removeValue(forKey: index)
                ?? TouchedRow(
                    identifier: identifier, old: start.position(ofRank: middle.before.rank(below: index)),
                    isChanged: false)
        }
        for row in removed {
            let row = known(at: row.index, row.identifier)
            if row.old != nil { others.append(row) }
        }
        for change in staying {
            var row = known(at: change.old, change.identifier)
            row.identifier = change.identifier
            row.new = change.new
            row.take(change)
            others.append(row)
        }
        for row in inserted { others.append(TouchedRow(identifier: row.identifier, new: row.index)) }
        for (index, row) in rows {
            var row = row
            row.new = end.position(ofRank: middle.after.rank(below: index))
            others.append(row)
        }
        let (joined, renamed) = Self.rejoined(others, earlier.renamed, renamed)
        return ResultsChange(
            joined, oldCount: earlier.oldCount, newCount: newCount, sections: sections, renamed: renamed,
            versions: versions)
    }

    /// The positions of the rows that are named, ascending.
    private func touched(in side: Side) -> [Int] {
        let ends = (side == .old ? removed : inserted).map(\.index)
        return (ends + staying.map { side == .old ? $0.old : $0.new }).sorted()
    }

    private var staying: [Change] { updated + moved }

    /// Makes one row of what left in the first change and came back in the second, and joins the renamings.
    private static func rejoined(
        _ rows: [TouchedRow], _ first: [Renaming], _ second: [Renaming]
    ) -> ([TouchedRow], [Renaming]) {
        let names = Dictionary(second.map { ($0.temporary, $0.permanent) }, uniquingKeysWith: { first, _ in first })
        var joined: [TouchedRow] = []
        var gone: [PersistentIdentifier: Int] = [:]
        for var row in rows {
            if let name = names[row.identifier] { row.identifier = name }
            if let place = gone[row.identifier] {
                // Which is which decides the side that is missing.
                joined[place].old = joined[place].old ?? row.old
                joined[place].new = joined[place].new ?? row.new
                joined[place].isChanged = true
                joined[place].properties = []
                continue
            }
            if row.old == nil || row.new == nil { gone[row.identifier] = joined.count }
            joined.append(row)
        }
        return (joined, first + second)
    }

    /// The sections that came and went through two changes.
    private static func composed(
        _ earlier: ResultsChange, _ later: ResultsChange
    ) -> (removed: [SectionChange], inserted: [SectionChange]) {
        let cameBefore = RankMap(touched: earlier.insertedSections.map(\.index))
        let wentBefore = RankMap(touched: earlier.removedSections.map(\.index))
        let came = RankMap(touched: later.insertedSections.map(\.index))
        let went = RankMap(touched: later.removedSections.map(\.index))
        let reinserted = Set(later.insertedSections.map(\.title))
        let removedBefore = Set(earlier.removedSections.map(\.title))
        let insertedBefore = Set(earlier.insertedSections.map(\.title))
        let removedAfter = Set(later.removedSections.map(\.title))
        var removed = earlier.removedSections.filter { !reinserted.contains($0.title) }
        for section in later.removedSections where !insertedBefore.contains(section.title) {
            removed.append(
                SectionChange(
                    index: wentBefore.position(ofRank: cameBefore.rank(below: section.index)), title: section.title))
        }
        var inserted = later.insertedSections.filter { !removedBefore.contains($0.title) }
        for section in earlier.insertedSections where !removedAfter.contains(section.title) {
            inserted.append(
                SectionChange(index: came.position(ofRank: went.rank(below: section.index)), title: section.title))
        }
        return (removed.sorted { $0.index < $1.index }, inserted.sorted { $0.index < $1.index })
    }
}

extension TouchedRow {
    /// Adds what a later change says of the row.
    fileprivate mutating func take(_ change: ResultsChange.Change) {
        if !change.isChanged { return }
        if !isChanged {
            properties = change.properties
        } else if properties.isEmpty || change.properties.isEmpty {
            properties = []
        } else if properties != change.properties {
            properties = Set(properties).union(change.properties).sorted()
        }
        isChanged = true
    }
}
