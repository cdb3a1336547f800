import Foundation
import MortiseCore

extension StoreFault {
    private static func batching(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (inout ReferenceSteps) -> Void
    ) -> StoreFault {
        StoreFault(id, summary, in: .batching, change: change)
    }

    /// Stores that keep states for contexts, and drop them too early.
    static let scopeFaults: [StoreFault] = [
        batching("keeps-eight-states", "keeps the states of the last eight contexts") { $0.statesKept = 8 },
        shared("keeps-sixteen-states", "keeps the states of the last sixteen contexts") { $0.statesKept = 16 },
        batching("batch-ends-states", "drops the states of all contexts when it carries out a batch") {
            $0.batchEndsStates = true
        },
        batching("erasure-ends-states", "drops the states of all contexts when it is erased") {
            $0.erasureEndsStates = true
        },
        shared("ends-every-state", "drops the states of all contexts when one of them ends") {
            $0.endsEveryState = true
        },
    ]

    /// Stores that carry out batches, and do not post all that these do.
    static let batchAnnouncementFaults: [StoreFault] = [
        batching("announces-no-batch-updates", "posts no batch that deletes nothing") {
            $0.announcesBatchUpdates = false
        },
        batching("announces-no-batches-at-all", "posts no batch") { $0.announcesBatches = false },
        batching("announces-one-update", "posts the first record of several that it has updated") { steps in
            steps.announce = { changes, feed in
                var told = changes
                told.updated = Array(told.updated.prefix(1))
                feed.post([told])
            }
        },
        batching("announces-ten-insertions", "posts the first ten of the records that it has inserted") { steps in
            steps.announce = { changes, feed in
                var told = changes
                told.inserted = .init(records: Array(told.inserted.records.prefix(10)))
                feed.post([told])
            }
        },
    ]

    // MARK: Unique values

    /// The values of a constraint that a record has; nil where one of them is missing.
    private static func values(_ record: DefaultSnapshot, _ slots: [Int]) -> [StoredValue]? {
        let values = slots.map { record.values[$0] }
        return values.contains(where: \.isNull) ? nil : values
    }

    /// A store that refuses new values which `isTaken` holds for taken.
    private static func comparing(
        _ id: String, _ summary: String,
        _ taken: @escaping @Sendable (_ before: DefaultSnapshot, _ after: DefaultSnapshot?, _ slots: [Int]) -> Bool
    ) -> StoreFault {
        StoreFault(id, summary, in: .planning) { steps in
            steps.finish = { before, state in
                for (number, record) in state.records where before.records[number]?.values != record.values {
                    for slots in record.layout.uniqueConstraints {
                        guard let wanted = values(record, slots) else { continue }
                        for (other, old) in before.records
                        where other != number && old.layout.entityName == record.layout.entityName {
                            if values(old, slots) == wanted, taken(old, state.records[other], slots) {
                                throw ReferenceStoreError.notUnique(
                                    entity: record.layout.entityName,
                                    properties: slots.map { record.layout.slots[$0].name })
                            }
                        }
                    }
                }
            }
        }
    }

    /// A store that compares tickets, which have no unique value, in its own way.
    private static func tickets(
        _ id: String, _ summary: String, _ key: @escaping @Sendable ([StoredValue]) -> String?
    ) -> StoreFault {
        StoreFault(id, summary, in: .planning) { steps in
            steps.finish = { _, state in
                var seen: Set<String> = []
                for record in state.records.values where record.layout.entityName == "Ticket" {
                    for (number, slots) in record.layout.uniqueConstraints.enumerated() {
                        guard let key = key(slots.map { record.values[$0] }) else { continue }
                        if !seen.insert("\(number) \(key)").inserted {
                            throw ReferenceStoreError.notUnique(
                                entity: "Ticket", properties: slots.map { record.layout.slots[$0].name })
                        }
                    }
                }
            }
        }
    }

    private static func joined(_ values: [StoredValue], by separator: String) -> String? {
        let texts = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
        return values.count > 1 && texts.count == values.count ? texts.joined(separator: separator) : nil
    }

    static let freedValueFaults: [StoreFault] = [
        comparing("unique-before-deletions", "looks at unique values before it deletes what the same save deletes") {
            _, after, _ in after == nil
        },
        comparing("unique-before-updates", "looks at unique values before it updates what the same save updates") {
            before, after, slots in
            after.map { values($0, slots) != values(before, slots) } ?? false
        },
        comparing("unique-compounds-before-deletions", "looks at compound constraints before it deletes anything") {
            _, after, slots in after == nil && slots.count > 1
        },
        tickets("one-nil-in-a-unique-property", "takes one record without a value of a unique property") { values in
            values.count == 1 && values[0].isNull ? "nil" : nil
        },
        tickets("one-record-without-both", "takes one record without any value of a compound constraint") { values in
            values.count > 1 && values.allSatisfy(\.isNull) ? "nil" : nil
        },
        tickets("nil-is-an-empty-unique-text", "takes nil for an empty text in a compound constraint") { values in
            values.count > 1
                ? values.map { if case .string(let text) = $0 { "\"\(text)\"" } else { "\"\"" } }.joined(
                    separator: ", ") : nil
        },
        tickets("joins-unique-texts", "compares the texts of a compound constraint joined") { joined($0, by: "") },
        tickets("joins-unique-texts-by-bars", "compares the texts of a compound constraint joined by a bar") {
            joined($0, by: "|")
        },
        tickets("joins-unique-texts-by-nul", "compares the texts of a compound constraint joined by a NUL") {
            joined($0, by: "\u{0}")
        },
    ]
}
