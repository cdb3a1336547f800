import Foundation
import MortiseCore
import Synchronization

extension StoreFault {
    private static func plans(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (inout FetchPlan) -> Void
    ) -> StoreFault {
        StoreFault(id, summary, in: .planning) { $0.changePlan = { plan, _ in change(&plan) } }
    }
    private static func finds(
        _ id: String, _ summary: String,
        _ change: @escaping @Sendable ([RecordReference], FetchPlan) -> [RecordReference]
    ) -> StoreFault {
        StoreFault(id, summary, in: .planning) { $0.found = change }
    }

    static let planningFaults: [StoreFault] = [
        plans("plans-another-query", "returns a plan for a simpler query") { $0.query.conjuncts = [] },
        StoreFault("plans-in-turns", "claims the order of every other query", in: .planning) { steps in
            let turn = TurnCounter()
            steps.changePlan = { plan, _ in if turn.advance() { plan.order = .none } }
        },
        StoreFault("deletes-while-planning", "deletes a record when a deletion is planned", in: .planning) { steps in
            steps.changePlan = { plan, storage in
                if plan.query.purpose != .delete { return }
                storage.state.withLock { state in
                    if let first = state.records.keys.min() { state.records[first] = nil }
                    state.version += 1
                }
            }
        },
        finds("loses-a-row", "leaves out the last row that a condition finds") { found, plan in
            plan.query.conjuncts.isEmpty ? found : found.dropLast()
        },
        finds("repeats-a-row", "hands out a row twice where a condition has several values") { found, plan in
            plan.query.conjuncts.isEmpty ? found : found + found.suffix(1)
        },
        StoreFault("loses-a-row-of-a-superset", "claims a superset and leaves out a row", in: .planning) { steps in
            steps.claim = { $0.expression.needsModels ? .residual : .superset }
            steps.found = { found, plan in plan.query.conjuncts.isEmpty ? found : found.dropLast() }
        },
        StoreFault("exact-though-superset", "claims exactly what it finds too much of", in: .planning) { steps in
            steps.conditions = { conditions, _ in conditions.map { .or([$0, .constant(.bool(true))]) } }
        },
        plans("window-under-a-residual", "takes the window of rows that are still to be filtered") { plan in
            plan.claims = [:]
            plan.order = .total
            plan.appliesLimit = true
        },
        plans("window-before-the-order", "takes the window of rows that are still to be sorted") { plan in
            plan.order = .none
            plan.appliesLimit = true
        },
        plans("claims-what-is-not-there", "claims a condition that the query does not have") { $0.claims[99] = .exact },
        plans("claims-too-many-keys", "claims an order of more keys than there are") { plan in
            plan.order = .prefix(plan.query.order.count + 1)
            plan.appliesLimit = false
        },
        StoreFault("claims-a-prefix", "claims an order of the first key and has none", in: .planning) { steps in
            steps.changePlan = { plan, _ in
                if plan.query.order.isEmpty { return }
                plan.order = .prefix(1)
                plan.appliesLimit = false
            }
        },
        plans("claims-every-order", "claims an order that only code can say") { $0.order = .total },
        StoreFault("ignores-its-limit", "claims a window and takes none", in: .planning) { steps in
            steps.cut = { _, count in 0..<count }
        },
        StoreFault("offset-one-too-far", "begins its window one row too late", in: .planning) { steps in
            steps.cut = { query, count in
                let window = query.window(of: count)
                return query.offset > 0 ? min(window.lowerBound + 1, window.upperBound)..<window.upperBound : window
            }
        },
        StoreFault("limit-zero-is-no-limit", "takes a limit of 0 for none in a query", in: .planning) { steps in
            steps.cut = { query, count in
                var query = query
                if query.limit == 0 { query.limit = nil }
                return query.window(of: count)
            }
        },
        StoreFault("counts-without-conditions", "counts every record whatever the conditions", in: .planning) { steps in
            steps.conditions = { conditions, query in query.purpose == .count ? [] : conditions }
        },
        StoreFault("deletes-without-conditions", "finds every record for a deletion", in: .planning) { steps in
            steps.conditions = { conditions, query in query.purpose == .delete ? [] : conditions }
        },
        finds("identifiers-from-an-index", "returns identifiers in the order of an index") { found, plan in
            plan.query.purpose == .identifiers ? found.reversed() : found
        },
        StoreFault("never-subentities", "leaves out subentities in every query", in: .planning) { steps in
            steps.queryFamily = { query, _ in [query.entity] }
        },
        StoreFault("always-subentities", "includes subentities in every query", in: .planning) { steps in
            steps.queryFamily = { query, schema in Set(schema.subtree(of: query.entity)) }
        },
        StoreFault("rows-of-another-entity", "reads the teams too when projects are asked for", in: .planning) {
            steps in
            let family = steps.queryFamily
            steps.queryFamily = { query, schema in
                query.entity == "Project" ? ["Project", "Team"] : family(query, schema)
            }
        },
        StoreFault("cuts-records", "hands out the properties that a query names and no others", in: .planning) {
            steps in
            steps.project = { snapshot, query in
                if query.projection.isEmpty { return snapshot }
                var values = snapshot.values
                for (place, slot) in snapshot.layout.slots.enumerated() where !query.projection.contains(slot.name) {
                    values[place] = slot.property.attribute?.kind == .string ? .string("") : values[place]
                }
                return DefaultSnapshot(
                    persistentIdentifier: snapshot.persistentIdentifier, layout: snapshot.layout, values: values)
            }
        },
        StoreFault("says-nothing-scanned", "says that it looked at no rows", in: .planning) {
            $0.scanned = { _, _ in 0 }
        },
        plans("hides-full-scans", "says that no plan is a full scan") { $0.isFullScan = false },
        StoreFault("scans-behind-the-plan", "plans full scans only for some purposes", in: .planning) { steps in
            let turn = TurnCounter()
            steps.changePlan = { plan, _ in
                if !plan.query.conjuncts.isEmpty { plan.isFullScan = turn.advance() }
            }
        },
        StoreFault("stale-index", "finds records by the values that they were inserted with", in: .planning) { steps in
            let finish = steps.finish
            steps.finish = { before, state in
                try finish(before, &state)
                for (number, record) in state.records where state.debris.first[number] == nil {
                    state.debris.first[number] = record
                }
            }
            steps.isIndexStale = true
            steps.indexed = { state in
                var state = state
                for number in state.records.keys { state.records[number] = state.debris.first[number] }
                return state
            }
        },
        StoreFault("index-keeps-deleted", "finds other records by the values of deleted ones", in: .planning) { steps in
            steps.isIndexStale = true
            let delete = steps.delete
            steps.delete = { number, state in
                if let record = state.records[number] { state.debris.gone.append(record) }
                delete(number, &state)
            }
            steps.indexed = { state in
                var state = state
                // The place of the last record still has the values of the last one that was deleted.
                guard let gone = state.debris.gone.last,
                    let last = state.records.filter({
                        $0.value.persistentIdentifier.entityName == gone.persistentIdentifier.entityName
                    }).max(by: { $0.key < $1.key })
                else { return state }
                state.records[last.key] = DefaultSnapshot(
                    persistentIdentifier: last.value.persistentIdentifier, layout: gone.layout, values: gone.values)
                return state
            }
        },
        StoreFault("fails-planned-when-empty", "takes a query of an empty entity for an error", in: .planning) {
            steps in
            steps.family = { entity, schema in Set(schema.subtree(of: entity)) }
            steps.answer = { records, _, _ in
                if records.isEmpty { throw ReferenceStoreError.refused }
                return records
            }
        },
    ]
}
