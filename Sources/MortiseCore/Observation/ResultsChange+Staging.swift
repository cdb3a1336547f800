extension ResultsChange {
    /// The same change in steps that the batch updates of a list view accept: records that changed and stay, then structure, then
    /// records that changed and moved.
    ///
    /// Applied one after the other, the steps come to this change. Within a step no row is both moved and updated, and no row moves
    /// out of a section that goes or into one that comes: such a row is removed and inserted.
    /// - Returns: up to three changes; none for a change that is empty, and the change itself for a reset.
    public func stagedForLists() -> [ResultsChange] {
        if isReset { return [self] }
        var stages: [ResultsChange] = []
        if !updated.isEmpty {
            let inOld = updated.map {
                Change(old: $0.old, new: $0.old, identifier: $0.identifier, properties: $0.properties)
            }
            stages.append(
                ResultsChange(
                    updated: inOld.sorted { $0.new < $1.new },
                    sections: SectionDifference(old: oldSections, new: oldSections), oldCount: oldCount,
                    newCount: oldCount, versions: versions))
        }
        if !removed.isEmpty || !inserted.isEmpty || !moved.isEmpty || changesSections || !renamed.isEmpty {
            stages.append(structure())
        }
        let after = moved.filter(\.isChanged)
        if !after.isEmpty {
            let inNew = after.map {
                Change(old: $0.new, new: $0.new, identifier: $0.identifier, properties: $0.properties)
            }
            stages.append(
                ResultsChange(
                    updated: inNew, sections: SectionDifference(old: newSections, new: newSections),
                    oldCount: newCount, newCount: newCount, versions: versions))
        }
        return stages
    }

    private func structure() -> ResultsChange {
        let gone = Set(removedSections.map(\.index))
        let come = Set(insertedSections.map(\.index))
        var removed = removed
        var inserted = inserted
        var kept: [Change] = []
        for move in moved {
            let isSplit =
                gone.contains(oldSections?.section(of: move.old) ?? -1)
                || come.contains(newSections?.section(of: move.new) ?? -1)
            if isSplit {
                removed.append(Row(index: move.old, identifier: move.identifier))
                inserted.append(Row(index: move.new, identifier: move.identifier))
            } else {
                kept.append(Change(old: move.old, new: move.new, identifier: move.identifier, isChanged: false))
            }
        }
        return ResultsChange(
            removed: removed.sorted { $0.index < $1.index }, inserted: inserted.sorted { $0.index < $1.index },
            moved: kept,
            sections: SectionDifference(
                removed: removedSections, inserted: insertedSections, old: oldSections, new: newSections),
            renamed: renamed, oldCount: oldCount, newCount: newCount, versions: versions)
    }
}
