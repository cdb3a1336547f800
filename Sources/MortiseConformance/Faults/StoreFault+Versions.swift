import Foundation
import MortiseCore
import Synchronization

extension StoreFault {
    private static func versioned(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (inout ReferenceSteps) -> Void
    ) -> StoreFault {
        StoreFault(id, summary, in: .versioned, change: change)
    }

    static let versionFaults: [StoreFault] = [
        versioned("no-version-is-held", "shows the latest state in every version") { $0.readsLive = true },
        versioned("ignores-the-base-version", "takes a save on top of any version") { $0.checksBase = false },
        versioned("version-stays", "gives its versions the same number") { $0.nextVersion = { $0 } },
        versioned("refuses-after-two-saves", "takes no save on top of its third version") { steps in
            steps.accept = { request in
                if let base = request.baseVersion, base == 2 { throw ReferenceStoreError.refused }
                return request
            }
        },
        versioned("finds-by-one-unique-value", "looks at the first of several unique values") { steps in
            steps.uniqueMatch = { stored, value in
                if case .integer = value { true } else { stored == value }
            }
        },
        versioned("finds-no-unique-text", "finds nothing by a unique text") { steps in
            steps.uniqueMatch = { stored, value in
                if case .string(let text) = value, text.contains("@") { false } else { stored == value }
            }
        },
        versioned("null-is-unique", "finds records by a null") { steps in
            steps.findsNull = true
        },
        versioned("knows-every-entity", "has rows of entities that it does not hold") { $0.knowsEveryEntity = true },
        versioned("numbers-rows-anew", "numbers its rows again in every version") { $0.numbersRowsAnew = true },
        versioned("forgets-old-versions", "shows the latest state in versions that many saves have followed") {
            $0.forgetsAfter = 20
        },
        versioned("new-version-at-every-look", "has another version whenever it is asked") { steps in
            steps.countsLooks = true
            steps.checksBase = false
        },
        StoreFault("writes-whole-records", "writes every property of an updated record", in: .versioned) { steps in
            steps.merge = { old, new, _ in
                // The properties that did not change are null in the request.
                DefaultSnapshot(persistentIdentifier: old.persistentIdentifier, layout: old.layout, values: new.values)
            }
        },
        versioned("keeps-the-first", "keeps the first of two changes of a property") { steps in
            let merge = steps.merge
            steps.merge = { old, new, slots in
                if let rank = old[property: "rank"], !rank.isNull, rank != .integer(1),
                    old.persistentIdentifier.entityName == "Entry"
                {
                    return old
                }
                return merge(old, new, slots)
            }
        },
        StoreFault("inserts-what-is-gone", "inserts a record that an update does not find") {
            $0.insertsMissing = true
        },
        StoreFault("inserts-what-is-gone-versioned", "inserts a record that an update does not find", in: .versioned) {
            $0.insertsMissing = true
        },
        StoreFault("loses-updates-of-two", "leaves out an update of a record that was updated before") { steps in
            steps.merge = { old, new, _ in
                if case .integer(let rank) = old[property: "rank"], rank >= 10 { return old }
                return new
            }
        },
        versioned("loses-concurrent-saves", "reads before it waits for its lock") { steps in
            steps.readBeforeLocking = { storage in
                let state = storage.state.withLock { $0 }
                Thread.sleep(forTimeInterval: 0.002)
                return state
            }
        },
        StoreFault("writes-back-what-it-read", "writes the properties that an update leaves as they were first saved") {
            steps in
            let finish = steps.finish
            steps.finish = { before, state in
                try finish(before, &state)
                for (number, record) in state.records where state.debris.first[number] == nil {
                    state.debris.first[number] = record
                }
                for (number, record) in state.records {
                    // Under another schema the values are others.
                    guard let old = before.records[number], let first = state.debris.first[number],
                        old.values.count == record.values.count, first.values.count == record.values.count
                    else { continue }
                    var values = record.values
                    for place in values.indices where values[place] == old.values[place] {
                        if record.layout.slots[place].role == .attribute { values[place] = first.values[place] }
                    }
                    state.records[number] = DefaultSnapshot(
                        persistentIdentifier: record.persistentIdentifier, layout: record.layout, values: values)
                }
            }
        },
        versioned("refuses-changed-deletions", "refuses to delete a record that was changed since it was inserted") {
            steps in
            steps.finish = { before, state in
                for (number, record) in before.records where state.records[number] == nil {
                    if case .integer(10) = record[property: "rank"] { throw ReferenceStoreError.refused }
                }
            }
        },
    ]
}
