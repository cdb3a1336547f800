import MortiseCore

extension ReferenceSteps {
    /// Gives the records that differ from an older state the version of the newer one.
    func numberRecords(of state: inout State, after older: State) {
        for (number, record) in state.records {
            if let before = older.records[number], !countsAsChange(before, record) { continue }
            state.recordVersions[number] = recordVersion(older.recordVersions[number], state.version)
        }
    }
}
