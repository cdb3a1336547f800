import Foundation

/// The records of one entity as they were at an earlier time: those of a version, under what has been taken back since.
///
/// Rows of the version keep their numbers. Records that were deleted since have rows behind them.
///
/// @unchecked Sendable: nothing changes once it is made.
final class PastRows: RowSource, @unchecked Sendable {
    /// What makes the difference from the version.
    struct Difference {
        /// The values that rows of the version had, by slot.
        var values: [Int: [Int: StoredValue]] = [:]
        /// The rows of records that were inserted since.
        var hidden: Set<Int> = []
        /// The records that were deleted since, with the values of all slots.
        var returned: [(record: PersistentIdentifier, values: ContiguousArray<StoredValue>)] = []
        /// By row and slot of lists that follow from other records: who had left, and who had not come.
        var members: [Int: [Int: Members]] = [:]

        struct Members {
            var missing: Set<PersistentIdentifier> = []
            var surplus: Set<PersistentIdentifier> = []
        }

        var isEmpty: Bool { values.isEmpty && hidden.isEmpty && returned.isEmpty && members.isEmpty }
        /// How many records differ.
        var count: Int { Set(values.keys).union(members.keys).count + hidden.count + returned.count }
    }

    let base: RowSource
    private let difference: Difference
    private let roles: [RecordLayout.Role]
    private let places: [PersistentIdentifier: Int]
    private let end: Int

    init(_ base: RowSource, _ difference: Difference, _ layout: RecordLayout) {
        self.base = base
        self.difference = difference
        roles = layout.slots.map(\.role)
        end = base.endRow
        places = Dictionary(
            difference.returned.enumerated().map { [end = base.endRow] in ($1.record, end + $0) },
            uniquingKeysWith: { first, _ in first })
        super.init()
    }

    /// Whether rows do not ascend in identity order.
    var hasReturned: Bool { !difference.returned.isEmpty }
    /// Whether there is any difference from the version.
    var isTouched: Bool { !difference.isEmpty }

    /// The rows that differ from the version's, but for those that are gone.
    var touchedRows: Set<Int> {
        Set(difference.values.keys).union(difference.members.keys).subtracting(difference.hidden)
            .union(end..<(end + difference.returned.count))
    }

    /// Whether a row of the version shows what it has there.
    func isUntouched(_ row: Int) -> Bool {
        difference.values[row] == nil && difference.members[row] == nil && !difference.hidden.contains(row)
    }

    // MARK: Rows

    override var endRow: Int { end + difference.returned.count }
    override var count: Int { base.count - difference.hidden.count + difference.returned.count }

    override func contains(row: Int) -> Bool {
        if row >= end { return row < endRow }
        return base.contains(row: row) && !difference.hidden.contains(row)
    }

    override func identifier(ofRow row: Int) -> PersistentIdentifier {
        row >= end ? difference.returned[row - end].record : base.identifier(ofRow: row)
    }

    override func row(of identifier: PersistentIdentifier) -> Int? {
        if let place = places[identifier] { return place }
        return base.row(of: identifier).flatMap { difference.hidden.contains($0) ? nil : $0 }
    }

    override func row(of identifier: PersistentIdentifier, expectedAt row: Int) -> Int? {
        if let place = places[identifier] { return place }
        return base.row(of: identifier, expectedAt: row).flatMap { difference.hidden.contains($0) ? nil : $0 }
    }

    // MARK: Values

    /// What a slot had; nil where the version has it.
    private func past(_ row: Int, _ slot: Int) -> StoredValue? {
        if row < end, difference.values.isEmpty, difference.members.isEmpty { return nil }
        guard roles.indices.contains(slot) else { return nil }
        if roles[slot] == .toManyDerived {
            let changes = difference.members[row]?[slot]
            if row < end, changes == nil { return nil }
            var members = row < end ? base.identifiers(row: row, slot: slot) : []
            guard let changes else { return .identifiers(members) }
            members.removeAll { changes.surplus.contains($0) }
            members += changes.missing
            return .identifiers(members.sorted())
        }
        if row >= end {
            let values = difference.returned[row - end].values
            return slot < values.count ? values[slot] : .null
        }
        return difference.values[row]?[slot]
    }

    override func value(row: Int, slot: Int) -> StoredValue { past(row, slot) ?? base.value(row: row, slot: slot) }
    override func readValue(row: Int, slot: Int) throws -> StoredValue {
        try past(row, slot) ?? base.readValue(row: row, slot: slot)
    }
    override func storedForm(row: Int, slot: Int) -> StoredValue {
        past(row, slot) ?? base.storedForm(row: row, slot: slot)
    }
    override func inlineData(row: Int, slot: Int) -> Data? {
        if let past = past(row, slot) { return Data(storedValue: past) }
        return base.inlineData(row: row, slot: slot)
    }
    override func isNull(row: Int, slot: Int) -> Bool {
        past(row, slot)?.isNull ?? base.isNull(row: row, slot: slot)
    }
    override func bool(row: Int, slot: Int) -> Bool? {
        if let past = past(row, slot) { return Bool(storedValue: past) }
        return base.bool(row: row, slot: slot)
    }
    override func int64(row: Int, slot: Int) -> Int64? {
        if let past = past(row, slot) { return Int64(storedValue: past) }
        return base.int64(row: row, slot: slot)
    }
    override func uint64(row: Int, slot: Int) -> UInt64? {
        if let past = past(row, slot) { return UInt64(storedValue: past) }
        return base.uint64(row: row, slot: slot)
    }
    override func float(row: Int, slot: Int) -> Float? {
        if let past = past(row, slot) { return Float(storedValue: past) }
        return base.float(row: row, slot: slot)
    }
    override func double(row: Int, slot: Int) -> Double? {
        if let past = past(row, slot) { return Double(storedValue: past) }
        return base.double(row: row, slot: slot)
    }
    override func decimal(row: Int, slot: Int) -> Decimal? {
        if let past = past(row, slot) { return Decimal(storedValue: past) }
        return base.decimal(row: row, slot: slot)
    }
    override func date(row: Int, slot: Int) -> Date? {
        if let past = past(row, slot) { return Date(storedValue: past) }
        return base.date(row: row, slot: slot)
    }
    override func string(row: Int, slot: Int) -> String? {
        if let past = past(row, slot) { return String(storedValue: past) }
        return base.string(row: row, slot: slot)
    }
    override func isText(_ text: TextToFind, row: Int, slot: Int) -> Bool {
        if let past = past(row, slot) { return String(storedValue: past) == text.string }
        return base.isText(text, row: row, slot: slot)
    }
    override func data(row: Int, slot: Int) -> Data? {
        if let past = past(row, slot) { return Data(storedValue: past) }
        return base.data(row: row, slot: slot)
    }
    override func uuid(row: Int, slot: Int) -> UUID? {
        if let past = past(row, slot) { return UUID(storedValue: past) }
        return base.uuid(row: row, slot: slot)
    }
    override func url(row: Int, slot: Int) -> URL? {
        if let past = past(row, slot) { return URL(storedValue: past) }
        return base.url(row: row, slot: slot)
    }
    override func identifier(row: Int, slot: Int) -> PersistentIdentifier? {
        guard let past = past(row, slot) else { return base.identifier(row: row, slot: slot) }
        if case .identifier(let target) = past { return target }
        return nil
    }
    override func identifiers(row: Int, slot: Int) -> [PersistentIdentifier] {
        guard let past = past(row, slot) else { return base.identifiers(row: row, slot: slot) }
        if case .identifiers(let members) = past { return members }
        return []
    }

    // MARK: Verification

    // What a history has was valid once, under the types of that time.
    override func needsVerification(for checks: PropertyChecks) -> Bool {
        isTouched || base.needsVerification(for: checks)
    }
}
