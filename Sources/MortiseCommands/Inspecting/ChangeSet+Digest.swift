#if Inspector
import MortiseCore

extension ChangeSet {
    /// A text that differs for other records, other properties or other values, before or after, whatever their order. It is
    /// valid as long as the process runs.
    var previewDigest: String {
        func digest(_ kind: String, _ record: PersistentIdentifier, _ values: [(String, StoredValue?)]) -> Int {
            var hasher = Hasher()
            // As bytes: texts are equal, and have the same hash, where they are written with other scalars.
            func add(_ text: String) { hasher.combine(Array(text.utf8)) }
            add(kind)
            add(ValueText.json(.identifier(record)))
            for (name, value) in values {
                add(name)
                add(value.map { ValueText.json($0) } ?? "")
            }
            return hasher.finalize()
        }
        let records =
            inserted.records.map { digest("inserted", $0, []) }
            + updated.map { update in
                digest(
                    "updated", update.record,
                    update.slots.slots.flatMap { slot in
                        let name = update.layout.slots[slot].name
                        return [(name, update.oldValue(at: slot)), (name, update.value(at: slot))]
                    })
            }
            + deleted.map { deletion in
                digest(
                    "deleted", deletion.record,
                    deletion.preserved.slots.map { (deletion.layout.slots[$0].name, deletion.values[$0]) })
            }
        var hasher = Hasher()
        for record in records.sorted() { hasher.combine(record) }
        hasher.combine(records.count)
        return String(UInt64(bitPattern: Int64(hasher.finalize())), radix: 36)
    }
}
#endif
