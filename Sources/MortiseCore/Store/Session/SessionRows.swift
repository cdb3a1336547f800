/// The rows of a store that hands out snapshots: what one session has read of an entity so far. Not shared with other
/// sessions, and changed only by its own.
final class SessionRows: RowSource, @unchecked Sendable {
    // @unchecked: belongs to one session and is used only where its context is.

    private struct Row {
        var identifier: PersistentIdentifier
        var values: ContiguousArray<StoredValue>
        /// The record's version, as the store has told it; 0 if it has not.
        var version: UInt64
        var isLive = true
    }
    private var rows: [Row] = []
    private var index: [PersistentIdentifier: Int] = [:]
    private var liveCount = 0

    override var endRow: Int { rows.count }
    override var count: Int { liveCount }
    override func contains(row: Int) -> Bool { row >= 0 && row < rows.count && rows[row].isLive }
    override func identifier(ofRow row: Int) -> PersistentIdentifier { rows[row].identifier }
    override func row(of identifier: PersistentIdentifier) -> Int? {
        index[identifier].flatMap { rows[$0].isLive ? $0 : nil }
    }
    /// The row that a record has or had.
    func lastRow(of identifier: PersistentIdentifier) -> Int? { index[identifier] }
    override func value(row: Int, slot: Int) -> StoredValue {
        let values = rows[row].values
        return slot < values.count ? values[slot] : .null
    }
    func values(row: Int) -> ContiguousArray<StoredValue> { rows[row].values }

    /// The version of a record that was read last; 0 if the store has told none, nil if the record was not read.
    func version(of identifier: PersistentIdentifier) -> UInt64? {
        index[identifier].flatMap { rows[$0].isLive ? rows[$0].version : nil }
    }

    /// Stores a record's values, in a new row or in the one that the record has had.
    @discardableResult
    func put(_ identifier: PersistentIdentifier, _ values: ContiguousArray<StoredValue>, version: UInt64) -> Int {
        if let row = index[identifier] {
            rows[row].values = values
            rows[row].version = version
            if !rows[row].isLive {
                rows[row].isLive = true
                liveCount += 1
            }
            return row
        }
        rows.append(Row(identifier: identifier, values: values, version: version))
        index[identifier] = rows.count - 1
        liveCount += 1
        return rows.count - 1
    }

    /// Discards everything that was read; the values stay readable for the models of their rows.
    func removeAll() {
        for row in rows.indices { rows[row].isLive = false }
        liveCount = 0
    }

    /// Notes that the record is gone from the store; its values stay readable for the model of its row.
    func remove(_ identifier: PersistentIdentifier) {
        guard let row = index[identifier], rows[row].isLive else { return }
        rows[row].isLive = false
        liveCount -= 1
    }
}
