extension DueMigration {
    private static let mostExamples = 10

    /// Looks at all values of the working records that the types of the target's properties may not know: those of enums, coded and
    /// transformed ones. Others are right when their kind is.
    /// - Parameters:
    ///   - migration: what has brought the records to the target's schema.
    ///   - target: the schema with the classes; entities without one are passed over.
    ///   - advance: is told how many records come next; what it throws ends the look.
    /// - Throws: `MigrationError.valuesNotRepresentable` for the first property of which records have another value; why a record cannot
    ///   be read; what `advance` throws.
    static func verifyValues(
        of migration: any StoreMigration, under target: Schema, _ advance: (_ records: Int) throws -> Void
    ) throws {
        let due = target.layouts.values.filter { layout in layout.checks.contains { $0 != nil } }
        if due.isEmpty { return }
        let version = try migration.frozen(under: target).currentVersion
        for layout in due.sorted(by: { $0.entityName < $1.entityName }) {
            guard let table = version.rows(ofEntity: layout.entityName) else { continue }
            let checks = layout.checks.enumerated().compactMap { slot, check in check.map { (slot: slot, knows: $0) } }
            var found: [Int: (count: Int, examples: [PersistentIdentifier])] = [:]
            var parts = PartedRows(table)
            var left = table.count
            for number in 0..<table.endRow {
                let (rows, row) = parts.part(around: number)
                guard rows.contains(row: row) else { continue }
                if (table.count - left) % 1_000 == 0 { try advance(min(1_000, left)) }
                left -= 1
                for check in checks where try !check.knows(rows.readValue(row: row, slot: check.slot)) {
                    var refused = found[check.slot] ?? (0, [])
                    refused.count += 1
                    if refused.examples.count < mostExamples { refused.examples.append(rows.identifier(ofRow: row)) }
                    found[check.slot] = refused
                }
            }
            guard let (slot, refused) = found.min(by: { $0.key < $1.key }) else { continue }
            throw MigrationError.valuesNotRepresentable(
                entity: layout.entityName, property: layout.properties[slot].name, count: refused.count,
                examples: refused.examples)
        }
        try version.check()
    }
}

extension MigrationPath.Step {
    /// Whether a preview cannot say what values the stage leaves.
    var runsClosures: Bool {
        switch stage {
        case .custom(_, _, let before, let after)?: before != nil || after != nil
        case .transform(let transform)?: (transform as? CodedTransform)?.migrate != nil
        case .lightweight?, nil: false
        }
    }
}
