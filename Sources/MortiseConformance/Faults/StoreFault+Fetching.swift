import Foundation
import MortiseCore
import Synchronization

extension StoreFault {
    static let fetchingFaults: [StoreFault] = [
        StoreFault("counts-deleted", "keeps deleted records in its count") { steps in
            let delete = steps.delete
            steps.delete = { number, state in
                if let entity = state.records[number]?.persistentIdentifier.entityName {
                    state.debris.deletedByEntity[entity, default: 0] += 1
                }
                delete(number, &state)
            }
            steps.count = { count, debris, entity in count + (debris.deletedByEntity[entity] ?? 0) }
        },
        StoreFault("offset-off-by-one", "leaves out one record too many at an offset") { steps in
            let window = steps.window
            steps.window = { offset, limit, count in window(offset.map { $0 > 0 ? $0 &+ 1 : $0 }, limit, count) }
        },
        StoreFault("limit-off-by-one", "returns one record more than the limit") { steps in
            let window = steps.window
            steps.window = { offset, limit, count in
                window(offset, limit.map { $0 > 0 && $0 < .max ? $0 + 1 : $0 }, count)
            }
        },
        StoreFault("limit-before-offset", "takes the limit from the start and then the offset from that") { steps in
            steps.window = { offset, limit, count in
                let end = min(max(limit ?? count, 0), count)
                return min(max(offset ?? 0, 0), end)..<end
            }
        },
        StoreFault("limit-zero-is-none", "takes a limit of 0 for no limit") { steps in
            let window = steps.window
            steps.window = { offset, limit, count in window(offset, limit == 0 ? nil : limit, count) }
        },
        StoreFault("ignores-offset", "starts at the first record whatever the offset") { steps in
            let window = steps.window
            steps.window = { _, limit, count in window(nil, limit, count) }
        },
        StoreFault("hands-out-other-entities", "returns the teams when asked for projects") { steps in
            let family = steps.family
            steps.family = { entity, schema in
                entity == "Project" ? family(entity, schema).union(["Team"]) : family(entity, schema)
            }
        },
        StoreFault("forgets-subentities", "returns a superclass's own records only") { steps in
            steps.family = { entity, _ in [entity] }
        },
        StoreFault("stale-after-update", "answers from a cache that only insertions and deletions empty") { steps in
            steps.answer = { records, storage, entity in
                storage.state.withLock { state in
                    if let cached = state.debris.answers[entity],
                        cached.map(\.persistentIdentifier) == records.map(\.persistentIdentifier)
                    {
                        return cached
                    }
                    state.debris.answers[entity] = records
                    return records
                }
            }
        },
        StoreFault("stale-after-deletion", "answers from a cache that deletions do not empty") { steps in
            steps.answer = { records, storage, entity in
                storage.state.withLock { state in
                    let here = Set(records.map(\.persistentIdentifier))
                    let gone = (state.debris.answers[entity] ?? []).filter { !here.contains($0.persistentIdentifier) }
                    state.debris.answers[entity] = records + gone
                    return records + gone
                }
            }
        },
        StoreFault("ties-turned-around", "sorts downwards by reversing, and turns ties around") { steps in
            steps.sort = { records, keys in
                if keys.first?.isAscending ?? true { return ReferenceSteps.sorted(records, keys) }
                let upwards = keys.map { SortKey(property: $0.property, isAscending: !$0.isAscending) }
                return ReferenceSteps.sorted(records, upwards).reversed()
            }
        },
        StoreFault("unstable-sort", "leaves ties in no order of theirs") { steps in
            steps.sort = { records, keys in
                let mixed = records.sorted { ReferenceSteps.mix($0) < ReferenceSteps.mix($1) }
                return ReferenceSteps.sorted(mixed, keys)
            }
        },
        StoreFault("nil-last", "sorts nil after every value") { steps in
            steps.sort = { records, keys in
                ReferenceSteps.sorted(records, keys) { left, right in
                    left.isNull || right.isNull ? -left.placed(against: right) : left.placed(against: right)
                }
            }
        },
        StoreFault("sorts-ignoring-case", "sorts text without regard to case") { steps in
            steps.sort = { records, keys in
                ReferenceSteps.sorted(records, keys) { left, right in
                    left.mappingText { $0.lowercased() }.placed(against: right.mappingText { $0.lowercased() })
                }
            }
        },
        StoreFault("first-key-only", "sorts by the first of several keys") { steps in
            steps.sort = { records, keys in ReferenceSteps.sorted(records, Array(keys.prefix(1))) }
        },
        StoreFault("never-descending", "sorts upwards whatever the order asked for") { steps in
            steps.sort = { records, keys in
                ReferenceSteps.sorted(records, keys.map { SortKey(property: $0.property, isAscending: true) })
            }
        },
        StoreFault("order-of-a-hash-table", "returns records in no order") { steps in
            steps.order = { $0.records.values.sorted { ReferenceSteps.mix($0) < ReferenceSteps.mix($1) } }
        },
        StoreFault("order-of-last-change", "returns the records last that were changed last") { steps in
            steps.finish = { before, state in
                let changed = state.records.filter { number, record in
                    before.records[number].map { $0.values != record.values } ?? false
                }
                let tick = (state.debris.changes.values.max() ?? 0) + 1
                for number in changed.keys { state.debris.changes[number] = tick }
            }
            steps.order = { state in
                let keyed = state.records.map { (state.debris.changes[$0.key] ?? 0, $0.key, $0.value) }
                return keyed.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
            }
        },
        StoreFault("fails-when-empty", "takes an entity without records for an error") { steps in
            steps.answer = { records, _, _ in
                if records.isEmpty { throw ReferenceStoreError.refused }
                return records
            }
        },
        StoreFault("hides-its-first-record", "begins at the second record") { steps in
            steps.answer = { records, _, _ in Array(records.dropFirst()) }
        },
        StoreFault("claims-to-filter", "takes a predicate and returns everything") { steps in
            steps.ignoresPredicates = true
        },
        StoreFault("loses-a-member", "leaves the last record out of a to-many relationship of several") { steps in
            steps.members = { members in members.count > 1 ? Array(members.dropLast()) : members }
        },
        StoreFault("members-backwards", "returns a to-many relationship in the opposite order") { steps in
            steps.members = { $0.reversed() }
        },
        StoreFault("identifiers-backwards", "returns fetched identifiers in another order than records") { steps in
            steps.identifiers = { $0.reversed() }
        },
    ]
}

extension ReferenceSteps {
    /// A number for each record that has nothing to do with its place.
    static func mix(_ record: DefaultSnapshot) -> UInt64 {
        (record.persistentIdentifier.sequenceNumber ?? 0) &* 0x9E37_79B9_7F4A_7C15
    }
}
