import Foundation
import MortiseCore

/// An error without anything in it.
private enum Mute: Error { case failed }

extension StoreFault {
    static let errorFaults: [StoreFault] = [
        StoreFault("mute-errors", "throws errors that name nothing", in: .planning) {
            $0.explain = { _ in Mute.failed }
        },
        StoreFault("foreign-errors", "throws what the system gave it", in: .planning) { steps in
            steps.explain = { _ in NSError(domain: NSCocoaErrorDomain, code: 4) }
        },
        StoreFault("other-error-second-time", "throws another error when it fails again", in: .planning) { steps in
            let turn = TurnCounter()
            steps.explain = { error in turn.advance() ? ReferenceStoreError.refused : error }
        },
        StoreFault("works-when-closed", "keeps working after it was closed", in: .planning) {
            $0.worksWhenClosed = true
        },
        StoreFault("reads-by-place", "reads records of another schema by the place of their properties") { steps in
            steps.adopt = { _, layouts, state in
                for (number, record) in state.records {
                    guard let layout = layouts[record.persistentIdentifier.entityName] else { continue }
                    var values = record.values
                    while values.count < layout.slots.count { values.append(.string("")) }
                    state.records[number] = DefaultSnapshot(
                        persistentIdentifier: record.persistentIdentifier, layout: layout, values: values)
                }
            }
        },
        StoreFault("converts-in-silence", "hands out zero or empty for values of another schema") { steps in
            steps.adopt = { _, layouts, state in
                for (number, record) in state.records {
                    guard let layout = layouts[record.persistentIdentifier.entityName] else { continue }
                    state.records[number] = DefaultSnapshot(
                        persistentIdentifier: record.persistentIdentifier, layout: layout,
                        values: ContiguousArray(
                            layout.slots.map { slot in
                                let old = record[property: slot.name]
                                if slot.property.attribute?.kind == .string, !slot.property.isOptional {
                                    if case .string? = old { return old ?? .null }
                                    return .string("")
                                }
                                return old ?? (slot.role.isToMany ? .identifiers([]) : .null)
                            }))
                }
            }
        },
        StoreFault("drops-what-it-cannot-read", "drops the records of another schema") { steps in
            let adopt = steps.adopt
            steps.adopt = { schema, layouts, state in
                if let old = state.schema, old != schema {
                    state.records = state.records.filter { record in
                        let entity = record.value.persistentIdentifier.entityName
                        return old.entity(named: entity) == schema.entity(named: entity)
                    }
                }
                try adopt(schema, layouts, &state)
            }
        },
        StoreFault("drops-everything-of-another-schema", "is emptied when it is opened with another schema") { steps in
            steps.adopt = { schema, _, state in
                if let old = state.schema, old.entities.count != schema.entities.count { state.records = [:] }
                state.schema = schema
            }
        },
        StoreFault("refuses-its-own-schema", "takes its own schema for another one when it is opened again") { steps in
            steps.adopt = { schema, _, state in
                if let old = state.schema, old == schema, !state.records.isEmpty { throw ReferenceStoreError.refused }
                state.schema = schema
            }
        },
        StoreFault("refuses-without-words", "refuses another schema without saying what does not fit") { steps in
            let adopt = steps.adopt
            steps.adopt = { schema, layouts, state in
                do { try adopt(schema, layouts, &state) } catch { throw ReferenceStoreError.refused }
            }
        },
        StoreFault("fails-at-unknown-entities", "cannot read past a record of an entity that is gone", in: .planning) {
            steps in
            let adopt = steps.adopt
            steps.adopt = { schema, layouts, state in
                try adopt(schema, layouts, &state)
                let known = Set(schema.entities.map(\.name))
                var gone: Set<UInt64> = []
                for (number, record) in state.records where !known.contains(record.persistentIdentifier.entityName) {
                    gone.insert(number)
                }
                if let first = gone.min() { state.records = state.records.filter { $0.key < first && $0.key > 1 } }
            }
        },
    ]
}
