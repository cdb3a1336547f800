import MortiseCore

extension StoreFault {
    private static func migrating(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (inout ReferenceCopying) -> Void
    ) -> StoreFault {
        StoreFault(id, summary, in: .versioned) { change(&$0.copying) }
    }

    /// Stores that do one part of a migration wrongly.
    static let migrationFaults: [StoreFault] = [
        migrating("migrates-by-place", "takes the values of a property from the place that it has in the next version")
        {
            $0.origins = { layout, old in
                layout.slots.indices.map { place in
                    old.slots.indices.contains(place)
                        && old.slots[place].property.attribute?.kind == layout.slots[place].property.attribute?.kind
                        && old.slots[place].role == layout.slots[place].role ? place : nil
                }
            }
        },
        migrating("migrates-without-original-names", "takes a renamed property for a new one when it is migrated") {
            $0.origins = { layout, old in layout.slots.map { old.slot(named: $0.name) } }
            $0.first = { slot in
                slot.property.isOptional || slot.role.isToMany
                    ? .null : slot.property.attribute?.defaultValue ?? .string("")
            }
        },
        migrating("migrates-without-defaults", "has empty texts where a new property has a default") {
            $0.first = { slot in
                slot.property.attribute?.kind == .string && !slot.property.isOptional
                    ? .string("")
                    : slot.property.attribute?.defaultValue ?? (slot.role.isToMany ? .identifiers([]) : .null)
            }
        },
        migrating("tells-no-loss", "drops what the next version has no place for, and tells nobody") {
            $0.told = { SchemaLoss(stored: $0.stored, opened: $0.opened, entities: [], properties: []) }
        },
        migrating("tells-half-the-loss", "counts one value less than it drops") {
            $0.told = { loss in
                SchemaLoss(
                    stored: loss.stored, opened: loss.opened, entities: loss.entities,
                    properties: loss.properties.map {
                        SchemaLoss.Property(entity: $0.entity, name: $0.name, values: $0.values - 1)
                    })
            }
        },
        migrating("migrates-duplicates", "comes to a version whose constraint its records break") {
            $0.checksUniqueness = false
        },
        migrating("keeps-what-stages-delete", "keeps the records that a stage or a rule deletes") {
            $0.deletes = false
        },
        migrating("leaves-references-of-stages", "leaves references to the records that a stage deletes") {
            $0.clearsReferences = false
        },
        migrating("commits-each-stage", "stores what each stage comes to, before the last one has succeeded") {
            $0.writesAtOnce = true
        },
        migrating("switches-in-preparing", "replaces the records where it is to make them durable beside the old ones")
        {
            $0.switchesEarly = true
        },
        migrating(
            "prepares-nothing", "does all of the writing in the switch, where other stores may have switched before"
        ) {
            $0.preparesNothing = true
        },
        migrating("forgets-what-stages-save", "goes on from the last version, without what code has saved since") {
            $0.forgetsSaves = true
        },
        migrating("shows-the-working-records", "shows the records as they are to be where those before are asked for") {
            $0.thawsFrozen = true
        },
        migrating("migrates-what-is-open", "exchanges the records of a storage that is open") {
            $0.looksForOpenStores = false
        },
        migrating("opens-while-it-migrates", "can be opened while it is migrated") { $0.keepsOthersOut = false },
        migrating("stays-locked-after-migrations", "cannot be opened after a migration that failed") {
            $0.letsGo = false
        },
        migrating("carries-previews-out", "carries a migration out where a preview is asked for") {
            $0.carriesPreviewsOut = true
        },
        migrating("migrates-nothing", "reports a migration that it has not carried out") { $0.commits = false },
        migrating("swallows-failed-migrations", "takes a migration for done whose writing failed") {
            $0.swallowsFailedWrites = true
        },
        migrating(
            "tears-failed-migrations", "has a part of the next version after a crash, where the switch to it failed"
        ) {
            $0.tearsFailedWrites = true
        },
        migrating("keeps-the-old-version", "does not note the version that it was brought to") {
            $0.finish = { outcome, before in outcome.schema?.version = before.schema?.version ?? Schema.Version(1, 0, 0)
            }
        },
        migrating("numbers-migrated-records-anew", "gives the records new numbers when it is migrated") {
            $0.finish = { outcome, _ in renumber(&outcome) { $0.sorted { $0.key < $1.key } } }
        },
        migrating("migrates-backwards", "turns the order of the records around when it is migrated") {
            $0.finish = { outcome, _ in renumber(&outcome) { $0.sorted { $0.key > $1.key } } }
        },
        migrating(
            "counts-again-where-nothing-is-left", "begins with number 1 again if it holds nothing when it is migrated"
        ) {
            $0.finish = { outcome, _ in if outcome.records.isEmpty { outcome.nextNumber = 1 } }
        },
        migrating("counts-again-after-migrations", "gives numbers of deleted records again after it was migrated") {
            $0.finish = { outcome, _ in
                outcome.nextNumber = 1
                while outcome.records[outcome.nextNumber] != nil { outcome.nextNumber += 1 }
            }
        },
    ]

    /// Numbers from 1, in some order, with all references.
    private static func renumber(
        _ state: inout ReferenceStorage.State,
        _ order: ([UInt64: DefaultSnapshot]) -> [(key: UInt64, value: DefaultSnapshot)]
    ) {
        let records = order(state.records)
        var new: [PersistentIdentifier: PersistentIdentifier] = [:]
        for (place, (_, record)) in records.enumerated() {
            let old = record.persistentIdentifier
            new[old] = .numbered(
                UInt64(place) + 1, storeIdentifier: old.storeIdentifier ?? "", entityName: old.entityName)
        }
        state.records = [:]
        for (place, (_, record)) in records.enumerated() {
            let old = record.persistentIdentifier
            state.records[UInt64(place) + 1] = record.copy(
                persistentIdentifier: new[old] ?? old, remappedIdentifiers: new)
        }
        state.nextNumber = UInt64(records.count) + 1
    }
}
