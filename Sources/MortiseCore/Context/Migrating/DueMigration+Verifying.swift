extension DueMigration {
    private static let mostExamples = 10

    /// Looks at all values of the working records that the types of the target's properties may not know: those of enums, coded and
    /// transformed ones. Others are right when their kind is.
    /// - Parameters:
    ///   - migration: what has brought the records to the target's schema.
    ///   - target: the schema with the classes; entities without one are passed over.
    ///   - properties: by entity, the only properties to look at; nil for all.
    ///   - advance: is told how many records come next; what it throws ends the look.
    /// - Throws: `MigrationError.valuesNotRepresentable` for the first property of which records have another value; why a record cannot
    ///   be read; what `advance` throws.
    static func verifyValues(
        of migration: any StoreMigration, under target: Schema, only properties: [String: Set<String>]? = nil,
        _ advance: (_ records: Int) throws -> Void
    ) throws {
        func checks(_ layout: ModelLayout) -> [(slot: Int, knows: (StoredValue) -> Bool)] {
            layout.checks.enumerated().compactMap { slot, check in
                let isWanted =
                    properties.map { $0[layout.entityName]?.contains(layout.properties[slot].name) == true } ?? true
                return isWanted ? check.map { (slot: slot, knows: $0) } : nil
            }
        }
        let due = target.layouts.values.filter { !checks($0).isEmpty }
        if due.isEmpty { return }
        let version = try migration.frozen(under: target).currentVersion
        for layout in due.sorted(by: { $0.entityName < $1.entityName }) {
            guard let table = version.rows(ofEntity: layout.entityName) else { continue }
            let checks = checks(layout)
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

extension MigrationPath {
    /// By entity of the last version, the properties whose values were written by another transformer than the one that is to read them.
    /// Stores do not know transformers: only versions with classes tell.
    var retransformed: [String: Set<String>] {
        var found: [String: Set<String>] = [:]
        for step in steps {
            let (old, new) = (step.source.stored, step.target.stored.named(by: step.stage))
            let (oldLayouts, entities) = (old.recordLayouts(), new.entityOrigins(in: old))
            var next: [String: Set<String>] = [:]
            for (name, layout) in new.recordLayouts() {
                guard let entity = entities[name], let before = oldLayouts[entity] else { continue }
                for (slot, origin) in zip(layout.slots, layout.origins(in: before)) {
                    guard let origin = origin.map({ before.slots[$0].name }) else { continue }
                    let isOther =
                        if let one = step.source.transformer(of: origin, in: entity),
                            let other = step.target.transformer(of: slot.name, in: name)
                        { one != other } else { false }
                    if isOther || found[entity]?.contains(origin) == true { next[name, default: []].insert(slot.name) }
                }
            }
            found = next
        }
        return found
    }
}

extension Schema {
    /// The name of the transformer that stores an attribute, empty if none does; nil if that is not known.
    fileprivate func transformer(of property: String, in entity: String) -> String? {
        guard let layout = layouts[entity],
            let attribute = layout.properties.first(where: { $0.name == property }) as? Schema.Attribute
        else { return nil }
        return attribute.valueTransformerName?.rawValue ?? ""
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
