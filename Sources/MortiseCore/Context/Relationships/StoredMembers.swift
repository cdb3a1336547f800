/// The members of the records that were asked last, for those who ask it of each of many members: a list of them would be
/// made and gone through every time.
struct StoredMembers {
    private struct Entry {
        let table: ObjectIdentifier
        let row: Int
        let slot: Int
        /// Nil after the first question: a single one is not worth a set.
        var members: Set<PersistentIdentifier>?
    }
    /// As many as there may be relationships that share an inverse, on both sides of a move.
    private static let most = 8
    private var entries: [Entry] = []
    private var next = 0

    mutating func contains(
        _ member: PersistentIdentifier, of table: ObjectIdentifier, _ source: RowSource, _ row: Int, _ slot: Int
    ) -> Bool {
        let known = entries.firstIndex { $0.row == row && $0.slot == slot && $0.table == table }
        if let known, let members = entries[known].members { return members.contains(member) }
        guard case .identifiers(let identifiers) = source.value(row: row, slot: slot) else { return false }
        if let known {
            let members = Set(identifiers)
            entries[known].members = members
            return members.contains(member)
        }
        let entry = Entry(table: table, row: row, slot: slot)
        if entries.count < Self.most {
            entries.append(entry)
        } else {
            entries[next] = entry
            next = (next + 1) % Self.most
        }
        return identifiers.contains(member)
    }
}
