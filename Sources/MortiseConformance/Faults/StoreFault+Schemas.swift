import MortiseCore

extension StoreFault {
    /// A store that finds the properties of another schema in another way.
    private static func naming(
        _ id: String, _ summary: String,
        _ origins: @escaping @Sendable (_ layout: RecordLayout, _ old: RecordLayout) -> [Int?]
    ) -> StoreFault {
        StoreFault(id, summary) { steps in
            steps.adopt = { try ReferenceSteps.adopt($0, $1, &$2, origins: origins) }
        }
    }

    /// A store that says to take care of migration plans, and does not in one respect.
    private static func migrating(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (inout ReferenceMigration) -> Void
    ) -> StoreFault {
        StoreFault(id, summary, in: .oneWay) { change(&$0.migration) }
    }

    static let schemaFaults: [StoreFault] = [
        StoreFault(
            "forgets-original-names", "looks for properties by their present names alone, and has nil for others"
        ) {
            steps in
            steps.adopt = { schema, layouts, state in
                try ReferenceSteps.adopt(schema, layouts, &state) { layout, old in
                    layout.slots.map { slot in
                        old.slot(named: slot.name)
                            ?? old.slots.firstIndex { $0.role == slot.role && slot.property.originalName == $0.name }
                    }
                }
                // What was found by its original name is not handed over.
                for (number, record) in state.records {
                    var values = record.values
                    for (place, slot) in record.layout.slots.enumerated()
                    where slot.property.originalName != slot.name && slot.property.isOptional {
                        values[place] = .null
                    }
                    state.records[number] = DefaultSnapshot(
                        persistentIdentifier: record.persistentIdentifier, layout: record.layout, values: values)
                }
            }
        },
        StoreFault("forgets-defaults", "has an empty text or zero where a new property has a default") { steps in
            let adopt = steps.adopt
            steps.adopt = { schema, layouts, state in
                let before = state.schema?.recordLayouts() ?? [:]
                try adopt(schema, layouts, &state)
                for (number, record) in state.records {
                    guard let old = before[record.persistentIdentifier.entityName] else { continue }
                    var values = record.values
                    for (place, slot) in record.layout.slots.enumerated()
                    where old.slot(named: slot.name) == nil && slot.property.attribute?.defaultValue != nil {
                        values[place] = slot.property.attribute?.kind == .string ? .string("") : .integer(0)
                    }
                    state.records[number] = DefaultSnapshot(
                        persistentIdentifier: record.persistentIdentifier, layout: record.layout, values: values)
                }
            }
        },
        naming("present-name-first", "looks for a property by its present name before its original one") {
            layout, old in
            layout.slots.map { old.slot(named: $0.name) ?? old.slot(named: $0.property.originalName) }
        },
        naming("renames-at-every-opening", "looks for a property by its original name whenever that is there") {
            layout, old in
            layout.slots.map { old.slot(named: $0.property.originalName) ?? old.slot(named: $0.name) }
        },
        naming("renames-own-properties-only", "looks at the original names of an entity's own properties alone") {
            layout, old in
            zip(layout.slots, layout.origins(in: old)).map { slot, origin in
                slot.declaringEntity == layout.entityName || slot.property.originalName == slot.name ? origin : nil
            }
        },
        naming("renames-no-relationships", "finds no renamed relationships") { layout, old in
            zip(layout.slots, layout.origins(in: old)).map { slot, origin in
                slot.role == .attribute || slot.property.originalName == slot.name ? origin : nil
            }
        },
        naming("matches-by-place", "takes a property of an unknown name for the one in its place") { layout, old in
            zip(layout.slots.indices, layout.origins(in: old)).map { place, origin in
                if let origin { return origin }
                guard old.slots.indices.contains(place), layout.slots[place].role == old.slots[place].role else {
                    return nil
                }
                return layout.slot(named: old.slots[place].name) == nil ? place : nil
            }
        },
        naming("one-value-for-both", "hands the values of a renamed property to a new one of that name, too") {
            layout, old in
            zip(layout.slots, layout.origins(in: old)).map { slot, origin in origin ?? old.slot(named: slot.name) }
        },
        naming("forgets-earlier-renaming", "finds a property that is renamed again by its first name alone") {
            layout, old in
            zip(layout.slots, layout.origins(in: old)).map { slot, origin in
                guard let origin, old.slots[origin].name != slot.name else { return origin }
                return old.slots[origin].property.originalName == slot.property.originalName
                    && old.slots[origin].name != slot.property.originalName ? nil : origin
            }
        },
        StoreFault("adopts-other-entities", "takes records of an entity that is gone for those of a new one") { steps in
            let adopt = ReferenceSteps().adopt
            steps.adopt = { schema, layouts, state in
                let gone = state.schema.map { old in
                    old.entities.map(\.name).filter { schema.entity(named: $0) == nil }
                }
                let old = state.schema
                try adopt(schema, layouts, &state)
                guard let gone = gone?.first,
                    let new = schema.entities.first(where: { old?.entity(named: $0.name) == nil }),
                    let layout = layouts[new.name]
                else { return }
                for (number, record) in state.records where record.persistentIdentifier.entityName == gone {
                    state.records[number] = DefaultSnapshot(
                        persistentIdentifier: .numbered(
                            number, storeIdentifier: record.persistentIdentifier.storeIdentifier ?? "",
                            entityName: new.name), layout: layout,
                        values: ContiguousArray(
                            layout.slots.map { slot in
                                slot.property.attribute.map { $0.kind == .string ? .string("") : .null }
                                    ?? .identifiers([])
                            }))
                }
            }
        },
        StoreFault("older-drops-the-newer", "drops what an older schema does not name when that is opened") { steps in
            let adopt = ReferenceSteps().adopt
            steps.adopt = { schema, layouts, state in
                try adopt(schema, layouts, &state)
                state.original = nil
            }
        },
        StoreFault("older-shows-the-past", "shows the records as they were when an older schema is opened again") {
            steps in
            let adopt = ReferenceSteps().adopt
            steps.adopt = { schema, layouts, state in
                let before = state
                try adopt(schema, layouts, &state)
                if let old = before.schema, old != schema {
                    if let kept = state.debris.past[schema] {
                        state.records = kept
                    } else {
                        state.debris.past[old] = before.records
                    }
                }
            }
        },
        StoreFault("refuses-the-older-without-words", "refuses an older schema and does not say why", in: .oneWay) {
            steps in
            let adopt = steps.adopt
            steps.adopt = { schema, layouts, state in
                do { try adopt(schema, layouts, &state) } catch { throw ReferenceStoreError.refused }
            }
        },
        StoreFault("refuses-halfway", "drops records of a schema before it finds that it does not fit", in: .oneWay) {
            steps in
            let adopt = steps.adopt
            steps.adopt = { schema, layouts, state in
                let before = state.records
                do {
                    try adopt(schema, layouts, &state)
                } catch {
                    if let last = before.keys.max() { state.records[last] = nil }
                    throw error
                }
            }
        },
        migrating("ignores-plans", "says to run migration plans and runs nothing") { $0.due = { _, _, _ in [] } },
        migrating("runs-nothing-before", "runs no code before the change of a stage") { $0.runsBefore = false },
        migrating("runs-nothing-after", "runs no code after the change of a stage") { $0.runsAfter = false },
        migrating("runs-the-last-stage", "runs the last of the stages that are due") { migration in
            let due = migration.due
            migration.due = { Array(due($0, $1, $2).suffix(1)) }
        },
        migrating("runs-stages-backwards", "runs the stages that are due from the last to the first") { migration in
            let due = migration.due
            migration.due = { due($0, $1, $2).reversed() }
        },
        migrating("runs-stages-twice", "runs a stage again whenever the storage is opened with the plan") { migration in
            migration.due = { plan, _, asked in plan.stages.filter { $0.target.versionIdentifier <= asked } }
        },
        migrating("runs-every-stage", "runs the stages beyond the version that is asked for, too") { migration in
            migration.due = { plan, stored, _ in plan.stages.filter { stored < $0.target.versionIdentifier } }
        },
        migrating("shows-new-models-before", "has the code before a change see the models as they are after it") {
            $0.seesNewModelsBefore = true
        },
        migrating("migrates-new-storages", "runs the stages of a plan on a storage without records of any version") {
            $0.migratesNewStorages = true
        },
        migrating("keeps-failed-migrations", "keeps what a stage has done before it failed") { $0.keepsHalves = true },
        migrating("passes-over-failed-migrations", "opens as if a stage that failed had been run") {
            $0.swallowsErrors = true
        },
        StoreFault("starts-anew-with-a-plan", "is emptied when it is opened with a migration plan", in: .oneWay) {
            steps in
            steps.migration.erasesForPlans = true
        },
    ]
}
