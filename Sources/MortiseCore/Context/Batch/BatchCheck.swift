/// What a batch has to leave behind, known before a store carries it out: for finding stores that change other records
/// than they were asked to, or otherwise.
struct BatchCheck<Model: PersistentModel> {
    private let run: BatchRun<Model>
    private let isDeletion: Bool
    private let matching: [PersistentIdentifier]
    /// For every record of the family that is to stay, what it is to hold in the slots that hold anything of its own.
    private var expected: [PersistentIdentifier: [StoredValue]] = [:]

    init(_ run: BatchRun<Model>, _ change: StoreBatch.Change) throws {
        self.run = run
        let found = try run.unaided()
        let records = run.matches(of: found)
        matching = records.map(found.reader.identifier)
        let matched = Set(records)
        let all = try QueryRun(
            FetchDescriptor<Model>(), purpose: .identifiers, in: run.state, isUnaided: true)
        isDeletion = change == .delete
        for record in all.records {
            let identifier = all.reader.identifier(record)
            var values = Self.values(of: record, all.reader)
            // Numbers of tables are each reader's own.
            let isMatched = found.reader.record(identifier).map(matched.contains) ?? false
            if isMatched {
                guard case .update(let assignments) = change else { continue }
                for assignment in assignments {
                    values[assignment.property.slot] = try assignment.value(for: record, in: all.reader)
                }
            }
            expected[identifier] = values
        }
    }

    private static func values(of record: RecordReference, _ reader: RecordReader) -> [StoredValue] {
        reader.tables[record.table].layout.slots.enumerated().map { slot, description in
            description.role.isToMany ? .null : reader.value(record, slot: slot)
        }
    }

    /// - Throws: `QueryPlanError.falseClaim` if the store holds something else.
    func verify(_ result: StoreBatchResult) throws {
        if result.count != matching.count {
            throw fault("\(matching.count) records", "a count of \(result.count)")
        }
        let all = try QueryRun(FetchDescriptor<Model>(), purpose: .identifiers, in: run.state, isUnaided: true)
        var found: [PersistentIdentifier: [StoredValue]] = [:]
        for record in all.records { found[all.reader.identifier(record)] = Self.values(of: record, all.reader) }
        for identifier in matching where isDeletion && found[identifier] != nil {
            throw fault("\(identifier) deleted", "the record")
        }
        let gone = Set(result.changes.deleted.map(\.record))
        for (identifier, values) in expected {
            guard let present = found[identifier] else {
                if isDeletion, run.cascadesIntoFamily, gone.contains(identifier) { continue }
                throw fault("\(identifier) untouched", "no record")
            }
            for (slot, pair) in zip(values, present).enumerated() where !pair.0.isIdentical(to: pair.1) {
                if isDeletion, pair.1.isNull { continue }
                throw fault(
                    "\(pair.0) in slot \(slot) of \(identifier)", "\(pair.1)")
            }
        }
    }

    private func fault(_ expected: String, _ found: String) -> QueryPlanError {
        .falseClaim(
            adapter: run.session.typeName, claim: isDeletion ? "a batch delete" : "a batch update",
            expected: expected, found: found)
    }
}
