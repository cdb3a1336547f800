extension RowSource {
    /// Checks a row, and those that are checked with it, once.
    /// - Returns: rows around it that have only known values.
    /// - Throws: `ModelContextError.invalidStoredValue` if the row has another value.
    func verifyRows(around row: Int, _ layout: ModelLayout) throws -> Range<Int> {
        let (rows, isDone) = verification(ofRow: row, for: layout.propertyChecks)
        if isDone { return rows }
        do {
            for other in rows where contains(row: other) { try verify(row: other, layout) }
        } catch {
            // Another record's value is no reason to refuse this one.
            try verify(row: row, layout)
            return row..<(row + 1)
        }
        noteVerified(rows, for: layout.propertyChecks)
        return rows
    }

    /// - Throws: `ModelContextError.invalidStoredValue` for the first value of a row that its property's type does not know.
    func verify(row: Int, _ layout: ModelLayout) throws {
        for slot in layout.checks.indices {
            guard let check = layout.checks[slot], !check(value(row: row, slot: slot)) else { continue }
            throw ModelContextError.invalidStoredValue(
                entity: layout.entityName, property: layout.properties[slot].name, model: identifier(ofRow: row),
                found: CodedForm(value: value(row: row, slot: slot)).description)
        }
    }
}
