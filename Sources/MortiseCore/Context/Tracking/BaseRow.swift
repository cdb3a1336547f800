/// A record as it was when a context first changed it.
final class BaseRow {
    private let source: RowSource
    private let row: Int
    private var values: ContiguousArray<StoredValue>?

    /// The values are those of a source that does not keep what the row has now; nil for one that does.
    init(_ source: RowSource, row: Int, values: ContiguousArray<StoredValue>?) {
        self.source = source
        self.row = row
        self.values = values
    }

    /// Takes a list that the store had left out when the record was first changed, as it was when the list itself was.
    func complete(_ slot: Int, with list: StoredValue) {
        guard let known = values, slot < known.count, known[slot].isNull else { return }
        values?[slot] = list
    }

    /// - Throws: why the value cannot be read.
    func value(_ slot: Int) throws -> StoredValue {
        if let values { return slot < values.count ? values[slot] : .null }
        return try source.readValue(row: row, slot: slot)
    }

    private func storedForm(_ slot: Int) -> StoredValue {
        if let values { return slot < values.count ? values[slot] : .null }
        return source.storedForm(row: row, slot: slot)
    }

    /// The slots that differ in the current row, as far as this record stores them.
    func slotsChanged(in current: RowSource, row: Int, _ layout: RecordLayout) -> [Int] {
        if current === source, values == nil { return [] }
        let rows = current as? SessionRows
        return layout.slots.indices.filter { slot in
            if layout.slots[slot].role == .toManyDerived { return false }
            let base = storedForm(slot)
            if let rows, rows.mayDefer(slot) {
                // What was not known then cannot be said to differ.
                return !base.isNull && !base.isIdentical(to: rows.value(row: row, slot: slot))
            }
            return !base.isIdentical(to: current.storedForm(row: row, slot: slot))
        }
    }
}
