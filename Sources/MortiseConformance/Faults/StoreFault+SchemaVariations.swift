import Foundation
import MortiseCore

extension StoreFault {
    /// A store that gives the records there are another value for a new property than its default.
    private static func defaulting(
        _ id: String, _ summary: String, _ value: @escaping @Sendable (RecordLayout.Slot) -> StoredValue?
    ) -> StoreFault {
        StoreFault(id, summary) { steps in
            let adopt = steps.adopt
            steps.adopt = { schema, layouts, state in
                let before = state.schema?.recordLayouts() ?? [:]
                try adopt(schema, layouts, &state)
                for (number, record) in state.records {
                    guard let old = before[record.persistentIdentifier.entityName] else { continue }
                    var values = record.values
                    for (place, slot) in record.layout.slots.enumerated()
                    where old.slot(named: slot.name) == nil && slot.property.attribute?.defaultValue != nil {
                        values[place] = value(slot) ?? values[place]
                    }
                    state.records[number] = DefaultSnapshot(
                        persistentIdentifier: record.persistentIdentifier, layout: record.layout, values: values)
                }
            }
        }
    }

    private static func defaulting(
        _ id: String, _ summary: String, _ kind: StorageKind, as value: StoredValue
    ) -> StoreFault {
        defaulting(id, summary) { slot in
            slot.property.attribute?.kind == kind && !slot.property.isOptional ? value : nil
        }
    }

    /// A store that takes a relationship to another entity for the same. `change` gives its values after that.
    private static func redirecting(
        _ id: String, _ summary: String,
        _ change: @escaping @Sendable (StoredValue, _ destination: String) -> StoredValue
    ) -> StoreFault {
        StoreFault(id, summary) { steps in
            steps.adopt = { schema, layouts, state in
                let before = state.schema?.recordLayouts() ?? [:]
                try ReferenceSteps.adopt(
                    schema, layouts, &state,
                    fits: { $0.role == $1.role && $0.property.attribute?.kind == $1.property.attribute?.kind })
                for (number, record) in state.records {
                    guard let old = before[record.persistentIdentifier.entityName] else { continue }
                    var values = record.values
                    for (place, slot) in record.layout.slots.enumerated() {
                        guard let was = old.slot(named: slot.name).map({ old.slots[$0] }),
                            !ReferenceSteps.fits(slot, was),
                            let destination = slot.property.relationship?.destination
                        else { continue }
                        values[place] = change(values[place], destination)
                    }
                    state.records[number] = DefaultSnapshot(
                        persistentIdentifier: record.persistentIdentifier, layout: record.layout, values: values)
                }
                state.original = nil
            }
        }
    }

    private static func target(_ old: PersistentIdentifier, in entity: String) -> PersistentIdentifier {
        // The numbers of the reference go on from one entity to the next.
        .numbered((old.sequenceNumber ?? 0) + 2, storeIdentifier: old.storeIdentifier ?? "", entityName: entity)
    }

    static let schemaVariationFaults: [StoreFault] = [
        defaulting("new-bools-are-false", "has false where a new Bool has another default", .bool, as: .bool(false)),
        defaulting("new-reals-are-zero", "has zero where a new real number has a default", .double, as: .double(0)),
        defaulting("new-decimals-are-zero", "has zero where a new decimal has a default", .decimal, as: .decimal(0)),
        defaulting(
            "new-dates-are-the-first", "has the reference date where a new date has a default", .date,
            as: .date(Date(timeIntervalSinceReferenceDate: 0))),
        defaulting("new-data-is-empty", "has no bytes where new data has a default", .data, as: .data(Data())),
        defaulting("new-texts-are-trimmed", "has the default of a new text without its quotation marks") { slot in
            guard case .string(let text)? = slot.property.attribute?.defaultValue else { return nil }
            return .string(text.replacing("'", with: ""))
        },
        defaulting("new-optionals-are-nil", "has nil where a new property has a default and may be nil") { slot in
            slot.property.isOptional ? .null : nil
        },
        StoreFault("nil-is-the-default", "hands out the default of a property in place of nil") { steps in
            steps.handOut = { record in
                let values = zip(record.layout.slots, record.values).map { slot, value in
                    value.isNull ? slot.property.attribute?.defaultValue ?? value : value
                }
                return DefaultSnapshot(
                    persistentIdentifier: record.persistentIdentifier, layout: record.layout,
                    values: ContiguousArray(values))
            }
        },
        redirecting(
            "finds-others-by-number", "takes a reference to another entity for one to its record of some number"
        ) {
            value, destination in
            switch value {
            case .identifier(let target): .identifier(Self.target(target, in: destination))
            case .identifiers(let targets): .identifiers(targets.map { Self.target($0, in: destination) })
            default: value
            }
        },
        redirecting("forgets-redirected-references", "drops the references of a relationship to another entity") {
            value, _ in
            if case .identifiers = value { .identifiers([]) } else { .null }
        },
        StoreFault("drops-absent-entities", "drops records of entities that its schema lacks at the next save") {
            steps in
            let adopt = steps.adopt
            steps.adopt = { schema, layouts, state in
                try adopt(schema, layouts, &state)
                // Until something is saved, the next opening finds what was there.
                state.records = state.records.filter {
                    schema.entity(named: $0.value.persistentIdentifier.entityName) != nil
                }
            }
        },
        StoreFault("takes-older-programs", "opens a storage of a newer version for an older one", in: .oneWay) {
            steps in
            steps.adopt = { schema, layouts, state in
                let (old, kept) = (state.schema, state.records)
                try ReferenceSteps.adopt(schema, layouts, &state, checksVersion: false)
                guard let old, let now = state.schema else { return }
                state.original = nil
                if old.version > schema.version { state.debris.past[now] = kept }
                // What the older one lacks comes back with the newer one.
                guard let past = state.debris.past[old] else { return }
                for (number, record) in state.records {
                    guard let was = past[number], was.values.count == record.values.count else { continue }
                    let values = zip(record.values, was.values).map { $0.isNull ? $1 : $0 }
                    state.records[number] = DefaultSnapshot(
                        persistentIdentifier: record.persistentIdentifier, layout: record.layout,
                        values: ContiguousArray(values))
                }
            }
        },
        StoreFault("older-programs-cut", "drops what an older version of the schema lacks when that saves") { steps in
            steps.adopt = { try ReferenceSteps.adopt($0, $1, &$2, checksVersion: false) }
        },
        StoreFault("properties-without-case", "takes properties whose names differ in case for one") { steps in
            steps.finish = { _, next in
                for (number, record) in next.records {
                    var values = record.values
                    var first: [String: Int] = [:]
                    for (place, slot) in record.layout.slots.enumerated() where slot.role == .attribute {
                        let name = slot.name.lowercased()
                        if let first = first[name] { values[place] = values[first] } else { first[name] = place }
                    }
                    if first.count == values.count { continue }
                    next.records[number] = DefaultSnapshot(
                        persistentIdentifier: record.persistentIdentifier, layout: record.layout, values: values)
                }
            }
        },
        StoreFault("entities-without-case", "takes entities whose names differ in case for one") { steps in
            let family = steps.family
            steps.family = { entity, schema in
                let alike = schema.entities.map(\.name).filter { $0.lowercased() == entity.lowercased() }
                return alike.reduce(into: []) { $0.formUnion(family($1, schema)) }
            }
        },
        StoreFault("has-a-column-rowid", "keeps a record's number under a name that a property may have") { steps in
            steps.finish = { before, next in
                for (number, record) in next.records where before.records[number] == nil {
                    guard let place = record.layout.slot(named: "rowid") else { continue }
                    var values = record.values
                    values[place] = .integer(Int64(number))
                    next.records[number] = DefaultSnapshot(
                        persistentIdentifier: record.persistentIdentifier, layout: record.layout, values: values)
                }
            }
        },
    ]
}
