import Foundation
import MortiseCore

extension StoreFault {
    private typealias Request = DataStoreSaveChangesRequest<DefaultSnapshot>

    /// A store that goes wrong only where there is much of something.
    private static func large(
        _ id: String, _ summary: String, in kind: ReferenceKind = .plain,
        _ change: @escaping @Sendable (inout ReferenceSteps) -> Void
    ) -> StoreFault {
        StoreFault(id, summary, in: kind, isOfSize: true, change: change)
    }

    /// A store that carries out other changes than it is asked for.
    private static func accepting(
        _ id: String, _ summary: String, in kind: ReferenceKind = .plain,
        _ change:
            @escaping @Sendable (DataStoreSaveChangesRequest<DefaultSnapshot>) throws -> (
                updated: [DefaultSnapshot], deleted: [DefaultSnapshot]
            )
    ) -> StoreFault {
        large(id, summary, in: kind) { steps in
            steps.accept = { old in
                let changed = try change(old)
                // Updates are left out at the end only, so that each keeps its slots.
                return Request(
                    inserted: old.inserted, updated: changed.updated, deleted: changed.deleted,
                    editingState: old.editingState,
                    changedSlots: Array(old.changedSlots.prefix(changed.updated.count)))
            }
        }
    }

    /// A store that leaves out some of a save's new records, and says nothing of it.
    private static func losing(
        _ id: String, _ summary: String, _ isLost: @escaping @Sendable (_ place: Int, _ count: Int) -> Bool
    ) -> StoreFault {
        large(id, summary) { steps in
            steps.finish = { before, state in
                let new = state.records.keys.filter { before.records[$0] == nil }.sorted()
                for (place, number) in new.enumerated() where isLost(place, new.count) { state.records[number] = nil }
            }
        }
    }

    /// A store that understands the values of a long list otherwise.
    private static func listing(
        _ id: String, _ summary: String, beyond limit: Int,
        _ change: @escaping @Sendable ([QueryExpression], _ element: QueryExpression) -> QueryExpression?
    ) -> StoreFault {
        large(id, summary, in: .planning) { steps in
            steps.rewrite = { part in
                switch part {
                case .contains(.list(let values), let element) where values.count > limit: change(values, element)
                case .contains(.constant(.array(let values)), let element) where values.count > limit:
                    change(values.map { .constant($0) }, element)
                default: nil
                }
            }
        }
    }

    private static func among(_ limit: Int) -> StoreFault {
        listing("among-\(limit)", "looks among the first \(limit) values of a list", beyond: limit) { values, element in
            .contains(.list(Array(values.prefix(limit))), element)
        }
    }

    private static func refusing(_ limit: Int) -> StoreFault {
        listing("refuses-\(limit)-values", "throws for a list of more than \(limit) values", beyond: limit) {
            _, element in
            .compare(.equal, .unwrap(.constant(.null)), element)
        }
    }

    /// A store that keeps long values otherwise.
    private static func long(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (StoredValue, RecordLayout.Slot) -> StoredValue?
    ) -> StoreFault {
        large(id, summary) { steps in
            let keep = steps.keep
            steps.keep = { value, slot in change(value, slot) ?? keep(value, slot) }
        }
    }

    private static let megabyte = 1 << 20

    static let sizeFaults: [StoreFault] =
        saveSizeFaults + partSizeFaults + listSizeFaults + valueSizeFaults + numberSizeFaults

    private static let saveSizeFaults: [StoreFault] = [
        accepting("deletes-500-at-once", "carries out the first 500 deletions of a save") {
            ($0.updated, Array($0.deleted.prefix(500)))
        },
        accepting("updates-999-at-once", "carries out the first 999 updates of a save") {
            (Array($0.updated.prefix(999)), $0.deleted)
        },
        accepting("forgets-the-remainder", "carries out updates and deletions by hundreds, and not what is left") {
            old in
            func whole(_ all: [DefaultSnapshot]) -> [DefaultSnapshot] {
                all.count > 1_000 ? Array(all.prefix(all.count / 500 * 500)) : all
            }
            return (whole(old.updated), whole(old.deleted))
        },
        accepting("refuses-a-thousand-deletions", "refuses more than 1,000 deletions in one save") { old in
            if old.deleted.count > 1_000 { throw ReferenceStoreError.refused }
            return (old.updated, old.deleted)
        },
        accepting("refuses-a-thousand-changes", "refuses more than 3,000 changes in one save") { old in
            if old.inserted.count + old.updated.count + old.deleted.count > 3_000 { throw ReferenceStoreError.refused }
            return (old.updated, old.deleted)
        },
        accepting("large-saves-only-insert", "leaves out the deletions of a save that inserts more than 1,000 records")
        {
            ($0.updated, $0.inserted.count > 1_000 ? [] : $0.deleted)
        },
        losing("inserts-five-thousand", "keeps the first 5,000 new records of a save") { place, _ in place >= 5_000 },
        losing("loses-one-between-portions", "loses the record between two portions of 1,000") { place, count in
            count > 1_000 && place == 1_000
        },
        large("large-saves-by-portions", "keeps the first records of a large save that is refused") { steps in
            (steps.keepsHalves, steps.keepsHalvesBeyond) = (true, 1_000)
        },
        large("fetches-five-thousand", "returns 5,000 records at most") { steps in
            steps.answer = { records, _, _ in Array(records.prefix(5_000)) }
        },
        large("counts-five-thousand", "counts 5,000 records at most") { steps in
            steps.count = { count, _, _ in min(count, 5_000) }
        },
        large("a-thousand-members", "returns 1,000 members of a relationship at most") { steps in
            steps.members = { Array($0.prefix(1_000)) }
        },
        long("keeps-a-thousand-members", "keeps 1,000 members of a relationship at most") { value, _ in
            guard case .identifiers(let members) = value, members.count > 1_000 else { return nil }
            return .identifiers(Array(members.sorted().prefix(1_000)))
        },
        large("batches-of-a-thousand", "carries out a batch for the first 1,000 records that match", in: .versioned) {
            $0.batchSelection = { Array($0.prefix(1_000)) }
        },
        large(
            "history-of-a-thousand-changes", "writes the first 1,000 changes of a save into its history", in: .planning
        ) {
            steps in
            let transaction = steps.transaction
            steps.transaction = { made in
                var short = transaction(made)
                if let all = short?.changes { short?.changes = Array(all.prefix(1_000)) }
                return short
            }
        },
    ]

    private static let listSizeFaults: [StoreFault] = [
        among(999), among(2_000), among(32_766), among(65_535), refusing(1_000), refusing(32_767),
        listing(
            "forgets-between-portions", "loses a value of a list where it begins another portion of 500", beyond: 1_000
        ) {
            values, element in
            .contains(
                .list(values.enumerated().filter { $0.offset % 500 != 0 || $0.offset == 0 }.map(\.element)), element)
        },
        listing("last-portion-only", "looks among the last values of a list that is longer than 32,766", beyond: 32_766)
        {
            values, element in
            .contains(.list(Array(values.suffix(values.count % 32_766))), element)
        },
        listing(
            "long-lists-are-anything", "takes the condition to be in a list of more than 50,000 values for true",
            beyond: 50_000
        ) {
            _, _ in .constant(.bool(true))
        },
        large("negates-each-portion", "finds what is missing in one portion of a long list", in: .planning) { steps in
            steps.rewrite = { part in
                guard case .not(.contains(.list(let values), let element)) = part, values.count > 1_000 else {
                    return nil
                }
                let (first, second) = (Array(values.prefix(1_000)), Array(values.dropFirst(1_000)))
                return .or([.not(.contains(.list(first), element)), .not(.contains(.list(second), element))])
            }
        },
    ]

    /// How many parts are within each other.
    private static func depth(_ condition: QueryExpression) -> Int {
        switch condition {
        case .not(let part): 1 + depth(part)
        case .and(let parts), .or(let parts): 1 + (parts.map(depth).max() ?? 0)
        default: 0
        }
    }

    private static let partSizeFaults: [StoreFault] = [
        large("decides-500-parts", "looks at the first 500 parts of a condition", in: .planning) { steps in
            steps.rewrite = { part in
                switch part {
                case .or(let parts) where parts.count > 500: .or(Array(parts.prefix(500)))
                case .and(let parts) where parts.count > 500: .and(Array(parts.prefix(500)))
                default: nil
                }
            }
        },
        large("parses-30-parentheses", "throws for a condition that is more than 30 deep", in: .planning) { steps in
            steps.rewrite = { part in
                depth(part) > 30 ? .compare(.equal, .unwrap(.constant(.null)), .constant(.integer(1))) : nil
            }
        },
    ]

    private static let valueSizeFaults: [StoreFault] = [
        long("cuts-data-at-a-megabyte", "keeps 1,048,576 bytes of data at most") { value, _ in
            guard case .data(let data) = value, data.count > megabyte else { return nil }
            return .data(data.prefix(megabyte))
        },
        long("cuts-text-at-a-megabyte", "keeps about 1,000,000 bytes of a text at most") { value, _ in
            guard case .string(let text) = value, text.utf8.count > megabyte else { return nil }
            return .string(String(decoding: text.utf8.prefix(1_000_000), as: UTF8.self))
        },
        long("length-of-20-bits", "keeps the length of data in 20 bits") { value, _ in
            guard case .data(let data) = value, data.count >= megabyte else { return nil }
            return .data(data.prefix(data.count & (megabyte - 1)))
        },
        long("decodes-by-portions", "decodes text by portions of 64 KiB, and breaks characters between them") {
            value, _ in
            guard case .string(let text) = value, text.utf8.count > megabyte else { return nil }
            let bytes = Array(text.utf8)
            return .string(
                stride(from: 0, to: bytes.count, by: 65_536).map {
                    String(decoding: bytes[$0..<min($0 + 65_536, bytes.count)], as: UTF8.self)
                }.joined())
        },
        large("long-values-stay", "does not update a value that is longer than 2 MiB", in: .plain) { steps in
            let merge = steps.merge
            steps.merge = { old, new, slots in
                let merged = merge(old, new, slots)
                var values = merged.values
                for place in values.indices {
                    switch old.values[place] {
                    case .string(let text) where text.utf8.count > 2 * megabyte: values[place] = old.values[place]
                    case .data(let data) where data.count > 2 * megabyte: values[place] = old.values[place]
                    default: break
                    }
                }
                return DefaultSnapshot(
                    persistentIdentifier: merged.persistentIdentifier, layout: merged.layout, values: values)
            }
        },
        long("arrays-of-4096", "keeps 4,096 elements of an array at most") { value, _ in
            guard case .array(let elements) = value, elements.count > 4_096 else { return nil }
            return .array(Array(elements.prefix(4_096)))
        },
        long("dictionaries-of-1024", "keeps 1,024 keys of a dictionary at most") { value, _ in
            guard case .object(let members) = value, members.count > 1_024 else { return nil }
            let kept = members.sorted { $0.key < $1.key }.prefix(1_024)
            return .object(Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) }))
        },
    ]

    private static let numberSizeFaults: [StoreFault] = [
        large("numbers-of-16-bits", "numbers records in 16 bits") { steps in
            steps.number = { _, state in
                defer { state.nextNumber += 1 }
                return state.nextNumber & 0xFFFF
            }
        },
        long("targets-of-16-bits", "keeps the numbers of to-one targets in 16 bits") { value, _ in
            guard case .identifier(let target) = value, let number = target.sequenceNumber, number > 0xFFFF,
                let store = target.storeIdentifier
            else { return nil }
            return .identifier(.numbered(number & 0xFFFF, storeIdentifier: store, entityName: target.entityName))
        },
        large("counts-in-16-bits", "counts records in 16 bits") { steps in
            steps.count = { count, _, _ in count & 0xFFFF }
        },
        large("rows-of-16-bits", "finds no record beyond the 65,535th", in: .planning) { steps in
            steps.found = { found, _ in found.filter { $0.row < 65_535 } }
        },
    ]
}
