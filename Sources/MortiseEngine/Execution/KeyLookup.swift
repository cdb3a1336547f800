public import MortiseCore

extension EngineDataStore {
    /// The rows that an index has for one value of its first attribute.
    /// - Throws: the error of a damaged region; once, why what another process has written cannot be taken in.
    public func rows(
        ofEntity entity: String, having value: StoredValue, at slot: Int, upTo limit: Int, in version: any StoreVersion
    ) throws -> [Int]? {
        try engine.throwUntold()
        guard let plan = engine.catalog.plan(entity), plan.indexOfSlot.indices.contains(slot),
            let number = plan.indexOfSlot[slot]
        else { return nil }
        // A table that nothing was ever written to is in no version.
        guard let rows = version.rows(ofEntity: entity) else { return [] }
        guard let table = rows as? TableVersion, table.plan === plan else { return nil }
        let index = TableIndex(table, number)
        let found =
            index.definition.components.count == 1
            ? index.rows(equalTo: [value], upTo: limit)
            : index.rows(in: index.equal(to: [value]).map { [$0] } ?? [], upTo: limit)
        guard var found else { return nil }
        // Equal values have equal keys; the other way round it need not be.
        if case .string(let text) = value {
            found.removeAll { table.string(row: $0, slot: slot) != text }
        } else {
            found.removeAll { !ValueSemantics.areEqual(table.value(row: $0, slot: slot), value) }
        }
        // An incomplete answer must not be returned.
        try version.check()
        return found
    }
}
