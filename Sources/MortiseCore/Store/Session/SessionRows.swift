import Synchronization

/// The rows of a store that hands out snapshots: what one session has read of an entity so far. Not shared with other
/// sessions, and changed only by its own.
final class SessionRows: RowSource, @unchecked Sendable {
    // @unchecked: belongs to one session and is used only where its context is.

    private struct Row {
        /// Nil for a row that was let go and waits for another record.
        var identifier: PersistentIdentifier?
        var values: ContiguousArray<StoredValue>
        /// The record's version, as the store has told it; 0 if it has not.
        var version: UInt64
        /// The to-many relationships that the store has left out, and whose values are what was known of them before.
        var unread = SlotSet()
        /// The number of the answer that the row was in.
        var answer = 0
        var isLive = true
        /// Whether the row was not live at the last sweep.
        var wasSweptOver = false
        var mark = Mark.none
        /// The number of the noting in which the mark was made; it counts in no other.
        var noting = 0
        /// What the values take, roughly.
        var bytes = 0
    }

    /// What has happened to a row while rows are noted. A cursor may hand out what its record was before.
    private enum Mark {
        case none
        /// A cursor has handed it out.
        case passed
        /// It was read by something else.
        case read
        /// This context has written it.
        case written
        /// The record was deleted.
        case gone
    }
    private var rows: [Row] = []
    private var index: [PersistentIdentifier: Int] = [:]
    private var liveCount = 0
    private var free: [Int] = []
    /// The number of rows with which sweeping is worth it.
    private var nextSweep = SessionRows.least
    /// What the values of all rows take, and with how much sweeping is worth it.
    private var bytes = 0
    private var nextSweepBytes = SessionRows.leastBytes
    /// The rows that were added since `beginNoting()` and have not been looked at yet; nil before that.
    private var added: [Int]?
    /// Those of them that were in use when they were looked at, and with how many they are looked at again.
    private var kept: [Int] = []
    private var nextLook = SessionRows.leastKept
    private var noting = 0
    /// Whether everything was discarded since `beginNoting()`, so that what a cursor hands out may be out of date.
    private(set) var isStale = false
    /// Whether the store has told the version of a record.
    private(set) var tellsVersions = false
    /// The relationships that the store may leave out.
    private let deferrable: SlotSet
    /// Whether rows are read for one list alone, so that others that were read stay so.
    var keepsLists = false
    private let read: Reading
    private let failed: (any Error) -> Void

    /// Reads a relationship of some rows that was left out, and sets it.
    typealias Reading = (_ rows: SessionRows, _ places: [Int], _ slot: Int) throws -> Void

    /// Makes an empty table.
    /// - Parameters:
    ///   - deferrable: the relationships that the store may leave out, with null in their slots.
    ///   - read: reads what was left out.
    ///   - failed: takes what `read` threw where nothing can be thrown.
    init(deferrable: SlotSet, read: @escaping Reading, failed: @escaping (any Error) -> Void) {
        self.deferrable = deferrable
        self.read = read
        self.failed = failed
        super.init()
    }

    override var endRow: Int { rows.count }
    override var count: Int { liveCount }
    override func contains(row: Int) -> Bool { row >= 0 && row < rows.count && rows[row].isLive }
    override func identifier(ofRow row: Int) -> PersistentIdentifier {
        rows[row].identifier ?? super.identifier(ofRow: row)
    }
    override func row(of identifier: PersistentIdentifier) -> Int? {
        index[identifier].flatMap { rows[$0].isLive ? $0 : nil }
    }
    /// The row that a record has or had.
    func lastRow(of identifier: PersistentIdentifier) -> Int? { index[identifier] }
    override func value(row: Int, slot: Int) -> StoredValue {
        do { return try readValue(row: row, slot: slot) } catch {
            failed(error)
            return storedForm(row: row, slot: slot)
        }
    }
    override func readValue(row: Int, slot: Int) throws -> StoredValue {
        if rows[row].unread.contains(slot) { try readDeferred(row, slot) }
        return storedForm(row: row, slot: slot)
    }
    /// What is known of the value, without asking the store.
    override func storedForm(row: Int, slot: Int) -> StoredValue {
        let values = rows[row].values
        return slot < values.count ? values[slot] : .null
    }
    func values(row: Int) -> ContiguousArray<StoredValue> { rows[row].values }
    /// The values as the store has them, with null for those that it has left out.
    func knownValues(row: Int) -> ContiguousArray<StoredValue> {
        var values = rows[row].values
        for slot in rows[row].unread.slots where slot < values.count { values[slot] = .null }
        return values
    }

    /// The version of a record that was read last; 0 if the store has told none, nil if the record was not read.
    func version(of identifier: PersistentIdentifier) -> UInt64? {
        index[identifier].flatMap { rows[$0].isLive ? rows[$0].version : nil }
    }

    /// Stores a record's values, in a new row or in the one that the record has had. `isWritten` says that a save of this
    /// context has written them.
    @discardableResult
    func put(
        _ identifier: PersistentIdentifier, _ values: ContiguousArray<StoredValue>, version: UInt64, answer: Int = 0,
        isWritten: Bool = false
    ) -> Int {
        if version != 0 { tellsVersions = true }
        let row = place(identifier, values, version)
        rows[row].answer = answer
        if added != nil { note(isWritten ? .written : .read, row) }
        return row
    }

    /// The row of a record that a cursor hands out: the one that was read or written since the cursor was opened, which may be
    /// newer; nil if none of those is there.
    /// - Returns: nil within an optional if the record was deleted since.
    func newerRow(of identifier: PersistentIdentifier) -> Int?? {
        guard let row = index[identifier] else { return nil }
        switch mark(row) {
        case .gone: return .some(nil)
        case .read, .written: return rows[row].isLive ? .some(row) : nil
        case .none, .passed: return nil
        }
    }

    /// Notes that a cursor has handed out a row.
    func notePassed(_ row: Int) {
        if added != nil {
            rows[row].mark = .passed
            rows[row].noting = noting
        }
    }

    private func mark(_ row: Int) -> Mark { added != nil && rows[row].noting == noting ? rows[row].mark : .none }

    /// A cursor hands out no record twice, so that what it has passed needs no mark.
    private func note(_ new: Mark, _ row: Int) {
        let old = mark(row)
        if new != .gone, old == .passed || (old == .written && new == .read) { return }
        rows[row].mark = new
        rows[row].noting = noting
    }

    private func place(
        _ identifier: PersistentIdentifier, _ values: ContiguousArray<StoredValue>, _ version: UInt64
    ) -> Int {
        if let row = index[identifier] {
            take(values, row)
            rows[row].version = version
            if !rows[row].isLive {
                rows[row].isLive = true
                rows[row].wasSweptOver = false
                liveCount += 1
            }
            return row
        }
        let new = Row(identifier: identifier, values: [], version: version)
        let row = free.popLast() ?? rows.count
        if row < rows.count { rows[row] = new } else { rows.append(new) }
        take(values, row)
        index[identifier] = row
        liveCount += 1
        added?.append(row)
        return row
    }

    private func take(_ values: ContiguousArray<StoredValue>, _ row: Int) {
        defer { weigh(row) }
        if deferrable.isEmpty {
            rows[row].values = values
            return
        }
        let (known, unread) = (rows[row].values, rows[row].unread)
        rows[row].values = values
        rows[row].unread = SlotSet()
        for slot in deferrable.slots where slot < values.count && values[slot].isNull {
            let wasRead = slot < known.count && !known[slot].isNull && !unread.contains(slot)
            if !(keepsLists && wasRead) { rows[row].unread.insert(slot) }
            if slot < known.count { rows[row].values[slot] = known[slot] }
        }
    }

    private func weigh(_ row: Int) {
        let now = rows[row].values.reduce(0) { $0 + $1.approximateBytes }
        bytes += now - rows[row].bytes
        rows[row].bytes = now
    }

    // MARK: Relationships that the store has left out

    /// The relationships of a row that were left out again after they had been read.
    func outdatedSlots(row: Int) -> [Int] {
        rows[row].unread.slots.filter { !storedForm(row: row, slot: $0).isNull }
    }

    /// Whether the store may leave a relationship out.
    func mayDefer(_ slot: Int) -> Bool { deferrable.contains(slot) }

    func unreadSlots(row: Int) -> SlotSet { rows[row].unread }

    /// Whether a relationship was left out and has not been read since.
    func isUnread(row: Int, slot: Int) -> Bool { rows[row].unread.contains(slot) }

    /// Sets a relationship that was left out.
    func set(_ members: [PersistentIdentifier], row: Int, slot: Int) {
        guard slot < rows[row].values.count else { return }
        rows[row].values[slot] = .identifiers(members)
        weigh(row)
    }

    /// Reads a relationship that was left out of some rows.
    func readDeferred(_ places: [Int], slot: Int) throws {
        if places.isEmpty { return }
        try read(self, places, slot)
    }

    /// Notes whether a relationship of some rows is read.
    func note(isRead: Bool, _ places: [Int], slot: Int) {
        for row in places { if isRead { rows[row].unread.remove(slot) } else { rows[row].unread.insert(slot) } }
    }

    /// Reads a relationship of a row, and of other rows from the same answer of the store: code that follows it for one mostly
    /// follows it for all.
    private func readDeferred(_ row: Int, _ slot: Int) throws {
        let answer = rows[row].answer
        func isMate(_ other: Int) -> Bool { rows[other].answer == answer && isUnread(row: other, slot: slot) }
        var mates = [row]
        // Rows of one answer are mostly near each other.
        var (after, before) = (row + 1, row - 1)
        while mates.count < Self.mates, after < min(rows.count, row + Self.reach) {
            if isMate(after) { mates.append(after) }
            after += 1
        }
        while mates.count < Self.mates, before >= max(0, row - Self.reach) {
            if isMate(before) { mates.append(before) }
            before -= 1
        }
        try readDeferred(mates, slot: slot)
    }

    /// How many rows share one query, and how far from each other they are at most.
    private static let mates = 256
    private static let reach = 1_024

    /// Discards everything that was read; the values stay readable for the models of their rows.
    func removeAll() {
        for row in rows.indices { rows[row].isLive = false }
        liveCount = 0
        if added != nil { isStale = true }
    }

    /// Discards what was read of a record, which was changed since; the values stay readable for the model of its row, and for
    /// models of deleted records that refer to it.
    func discard(row: Int) {
        guard contains(row: row) else { return }
        rows[row].isLive = false
        liveCount -= 1
    }

    /// Notes that the record is gone from the store; its values stay readable for the model of its row.
    func remove(_ identifier: PersistentIdentifier) {
        guard let row = index[identifier], rows[row].isLive else { return }
        rows[row].isLive = false
        liveCount -= 1
        if added != nil { note(.gone, row) }
    }

    // MARK: Letting go

    /// Begins to note which rows are added.
    func beginNoting() {
        guard added == nil else { return }
        added = []
        (kept, nextLook) = ([], Self.leastKept)
        noting += 1
        isStale = false
    }

    /// Lets go of the rows that were noted and that nothing uses. Their numbers are given to other records. Deleted records stay,
    /// and until `isLast` what the cursor may still hand out as it was before. Rows that were in use the last time are looked at
    /// again when there are twice as many, and at last.
    func letGo(isLast: Bool, unless isUsed: (Int) -> Bool) {
        guard let noted = added else { return }
        func stays(_ row: Int) -> Bool {
            if rows[row].identifier == nil { return false }
            let mark = mark(row)
            // Deleted models still lead to deleted records.
            if isUsed(row) || mark == .gone || (!isLast && mark == .written) { return true }
            free(row)
            return false
        }
        added = []
        kept += noted.filter(stays)
        guard isLast || kept.count >= nextLook else { return }
        kept = kept.filter(stays)
        nextLook = max(Self.leastKept, 2 * kept.count)
    }

    /// So few rows in use are looked at again each time.
    private static let leastKept = 256

    private func free(_ row: Int) {
        if rows[row].identifier == nil { return }
        if rows[row].isLive { liveCount -= 1 }
        if let identifier = rows[row].identifier { index[identifier] = nil }
        bytes -= rows[row].bytes
        rows[row] = Row(identifier: nil, values: [], version: 0, isLive: false)
        free.append(row)
    }

    /// Lets go of the rows that nothing uses, if there are many more than after the last time. To be called while nobody refers to
    /// rows by number and nothing is noted.
    func sweep(unless isUsed: (Int) -> Bool) {
        guard rows.count - free.count >= nextSweep || bytes >= nextSweepBytes, added == nil else { return }
        for row in rows.indices where rows[row].identifier != nil && !isUsed(row) {
            // Models of deleted records may still lead to other deleted ones.
            if rows[row].isLive || rows[row].wasSweptOver { free(row) } else { rows[row].wasSweptOver = true }
        }
        nextSweep = max(Self.least, 2 * (rows.count - free.count))
        nextSweepBytes = max(Self.leastBytes, 2 * bytes)
    }

    /// How many rows are kept for no model, and how many bytes of values: what was prefetched, or read by other fetches, is mostly
    /// needed soon.
    private static let least = 65_536
    private static let leastBytes = 64 << 20

    /// Ends noting. What was not let go stays.
    func endNoting() {
        added = nil
        kept = []
    }
}

/// The values of a record that was read from a store without versions, apart from the session's rows.
final class RetainedRow: RowSource, @unchecked Sendable {
    // @unchecked: immutable; one with `rows` is used only on its context's thread.
    private let record: PersistentIdentifier
    private let values: ContiguousArray<StoredValue>
    /// Where lists are read that the store has left out; nil for a record that is shown as it was last known.
    private let rows: SessionRows?
    private let unread: SlotSet

    /// Retains a row. With `readsLists`, lists that the store has left out are read when they are asked for, as long as the
    /// record is there.
    init(_ rows: SessionRows, row: Int, readsLists: Bool) {
        record = rows.identifier(ofRow: row)
        values = rows.values(row: row)
        unread = readsLists ? rows.unreadSlots(row: row) : SlotSet()
        self.rows = unread.isEmpty ? nil : rows
    }

    private func unreadRow(_ slot: Int) -> Int? {
        unread.contains(slot) ? rows?.row(of: record) : nil
    }

    override var endRow: Int { 1 }
    override var count: Int { 1 }
    override func contains(row: Int) -> Bool { row == 0 }
    override func identifier(ofRow row: Int) -> PersistentIdentifier { record }
    override func row(of identifier: PersistentIdentifier) -> Int? { identifier == record ? 0 : nil }
    override func value(row: Int, slot: Int) -> StoredValue {
        if let rows, let row = unreadRow(slot) { return rows.value(row: row, slot: slot) }
        return slot < values.count ? values[slot] : .null
    }
    override func readValue(row: Int, slot: Int) throws -> StoredValue {
        if let rows, let row = unreadRow(slot) { return try rows.readValue(row: row, slot: slot) }
        return slot < values.count ? values[slot] : .null
    }
}
