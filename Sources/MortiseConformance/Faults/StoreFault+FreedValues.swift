import Foundation
import MortiseCore

extension StoreFault {
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
