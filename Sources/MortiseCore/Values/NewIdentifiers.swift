import Synchronization

/// The identifiers of a save's new records, in the order of its request: the temporary ones and the permanent ones that
/// replace them. If the temporary ones ascend, finding one by the other needs no table; they do unless a model's
/// identifier was read before it was inserted.
public final class NewIdentifiers: Sendable {
    /// The identifiers of the request's snapshots.
    public let temporary: ContiguousArray<PersistentIdentifier>
    /// The identifiers of the stored records, in the same order.
    public let permanent: ContiguousArray<PersistentIdentifier>
    private let isAscending: Bool
    private let table = Mutex<[PersistentIdentifier: PersistentIdentifier]?>(nil)

    /// Creates the mapping of temporary identifiers to permanent ones, from two arrays of one length. A temporary identifier
    /// beyond the end of the other array has no permanent one; the context reports that as the store's mistake.
    public init(
        temporary: ContiguousArray<PersistentIdentifier>, permanent: ContiguousArray<PersistentIdentifier>
    ) {
        self.temporary = temporary
        self.permanent = permanent
        var isAscending = true
        var last: UInt64 = 0
        for identifier in temporary {
            guard case .temporary(let number) = identifier.id.key, number > last else {
                isAscending = false
                break
            }
            last = number
        }
        self.isAscending = isAscending
    }

    /// True only if all records are new ones, whose identifiers were temporary; false also for some of these.
    package var isOfNewRecords: Bool { isAscending }

    /// The permanent identifier that replaces the temporary one; nil for all others.
    public subscript(identifier: PersistentIdentifier) -> PersistentIdentifier? {
        guard isAscending else { return pairs[identifier] }
        guard case .temporary(let number) = identifier.id.key, let place = place(of: number),
            temporary[place] == identifier
        else { return nil }
        return permanent[place]
    }

    private func number(_ place: Int) -> UInt64 {
        if case .temporary(let number) = temporary[place].id.key { number } else { 0 }
    }

    private func place(of wanted: UInt64) -> Int? {
        guard let last = temporary.indices.last, wanted >= number(0) else { return nil }
        // Numbers without gaps are the rule, and with gaps a record lies before its place without.
        var high = Int(min(wanted - number(0), UInt64(last)))
        if number(high) == wanted { return high }
        var low = 0
        while low < high {
            let middle = (low + high) / 2
            if number(middle) < wanted { low = middle + 1 } else { high = middle }
        }
        return number(low) == wanted ? low : nil
    }

    /// Each permanent identifier by the temporary one; computed when first used.
    public var pairs: [PersistentIdentifier: PersistentIdentifier] {
        table.withLock { table in
            if let table { return table }
            let made = Dictionary(zip(temporary, permanent), uniquingKeysWith: { $1 })
            table = made
            return made
        }
    }
}
